//! Any text is a published network model or an error that can be printed; what is read makes a model file that can be read.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::network_import::check(text);
});
