//! Any text is a file of functions or an error that can be printed; what is read can be made ready to be called, or says why not.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::functions_toml::check(text);
});
