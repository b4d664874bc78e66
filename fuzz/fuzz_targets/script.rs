//! Any text is a script or an error that can be printed.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::script::check(text);
});
