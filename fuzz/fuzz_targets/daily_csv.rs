//! Any text is a table of daily fits or an error that can be printed; what is fitted makes a model file that can be read.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::daily_csv::check(text);
});
