//! Any text is a table of traffic or an error that can be printed; what is read can be written and read again.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::traffic_csv::check(text);
});
