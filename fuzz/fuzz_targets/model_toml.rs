//! Any text is a model file or a list of errors that can be printed; what is read is written out to the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::model_toml::check(text);
});
