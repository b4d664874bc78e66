//! Any bytes are a request, the beginning of one, or refused; and it does not matter in which pieces they come.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hpcast_checks::http_request::check(bytes);
});
