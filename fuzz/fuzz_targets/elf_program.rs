//! Any bytes are a program that could be loaded, or an error that can be printed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = hpcast_loader::plan(bytes.to_vec()) {
        assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
    }
});
