//! Any bytes are a program that could be loaded, or an error that can be printed.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hpcast_checks::elf_program::check(bytes);
});
