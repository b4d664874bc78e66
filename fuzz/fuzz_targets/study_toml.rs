//! Any text is a study or an error that can be printed; how many runs it has can be said without making them.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::study_toml::check(text);
});
