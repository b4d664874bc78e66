//! Any text is a table of models or an error that can be printed; what is read makes a model file that can be read.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::model_csv::check(text);
});
