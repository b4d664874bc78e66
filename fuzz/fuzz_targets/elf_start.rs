//! Any bytes are a program to start in a process, a script, or neither.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hpcast_checks::elf_start::check(bytes);
});
