//! Any bytes are a program to start in a process, a script, or neither.

// This file stands alone.
#[path = "../../crates/emulate/src/processes/elf.rs"]
#[allow(dead_code, reason = "nothing is started here")]
mod elf;

/// Panics if that does not hold; tells whether something was read.
pub fn check(bytes: &[u8]) -> bool {
    let (script, elf) = (elf::script(bytes), elf::Elf::parse(bytes.to_vec()));
    if let Some(words) = &script {
        assert!((1..=2).contains(&words.len()));
    }
    if let Some(elf) = &elf {
        let _ = (elf.interpreter(), elf.needed(), elf.soname(), elf.undefined(), elf.loaded().count());
    }
    script.is_some() || elf.is_some()
}
