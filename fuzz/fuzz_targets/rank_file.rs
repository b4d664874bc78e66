//! Any text is a file of places or an error that can be printed; places are nodes of the machine, and read back.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::rank_file::check(text);
});
