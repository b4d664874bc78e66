//! Any text is a machine file or a list of errors that can be printed; what is read can be built, and written out it
//! reads back to the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::machine_toml::check(text);
});
