//! Any bytes are a program to start in a process, a script, or neither.
#![no_main]

// This file stands alone.
#[path = "../../crates/emulate/src/processes/elf.rs"]
#[allow(dead_code, reason = "nothing is started here")]
mod elf;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(words) = elf::script(bytes) {
        assert!((1..=2).contains(&words.len()));
    }
    if let Some(elf) = elf::Elf::parse(bytes.to_vec()) {
        let _ = (elf.interpreter(), elf.needed(), elf.soname(), elf.undefined(), elf.loaded().count());
    }
});
