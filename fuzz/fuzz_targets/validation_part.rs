//! Any text is a part of the validation or a list of errors that can be printed; whatever a part names stands in its file.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::validation_part::check(text);
});
