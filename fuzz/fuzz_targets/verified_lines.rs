//! Any two texts can be compared, and a text is the same as itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|texts: (&str, &str)| {
    hpcast_checks::verified_lines::check(texts);
});
