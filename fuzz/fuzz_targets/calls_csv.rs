//! Any text is a table of measured calls or an error that can be printed; what is fitted makes a model file that can be read.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::calls_csv::check(text);
});
