//! Any text is a table of measured messages or an error that can be printed; what is fitted makes a model file that can be read.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::messages_csv::check(text);
});
