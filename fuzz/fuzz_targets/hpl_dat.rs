//! Any text is an HPL.dat or an error that can be printed; what is read is written out to the same, and can be run.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::hpl_dat::check(text);
});
