//! Calls of functions that all copies share, without the table of each copy.
//!
//! A call of a function in another object goes through a stub in the code (the procedure linkage table), which jumps to the address
//! in a word of the copy's own data. For a function of ours or of the C library that word is the same in all copies. The stub is made
//! to look in one table for all of them, which stays in the processor's caches: with thousands of copies, the word of the copy and its page
//! would be fetched from memory at every call.

use std::collections::HashSet;

use crate::elf::Elf;
use crate::layout::Place;
use crate::link::Choice;
use crate::template::Template;

/// `jmp *address`, with an absolute address of 31 bits: as long as the shortest stubs allow.
const JUMP: [u8; 3] = [0xFF, 0x24, 0x25];
const JUMP_LENGTH: usize = 7;

/// A stub whose function is the same in all copies.
struct Stub {
    /// Where it is in a copy.
    place: u64,
    /// The function.
    function: u64,
}

/// The table for all copies.
pub struct Shortcuts {
    table: *mut u64,
    bytes: usize,
}

// SAFETY: the table is written once, before others can know of it.
unsafe impl Send for Shortcuts {}
// SAFETY: as above.
unsafe impl Sync for Shortcuts {}

impl Shortcuts {
    /// Finds the stubs that can be shortened, and gives the code to write in their places. Without room at low addresses
    /// there are none.
    pub fn new<'a>(
        objects: impl Iterator<Item = (&'a Elf, &'a Place)>,
        template: &Template,
        choices: &[Choice],
    ) -> (Option<Self>, Vec<(u64, [u8; JUMP_LENGTH])>) {
        let chosen: HashSet<u64> = choices.iter().map(|choice| choice.place).collect();
        let stubs: Vec<Stub> = objects.flat_map(|(elf, place)| stubs(elf, place, template, &chosen)).collect();
        let bytes = stubs.len() * size_of::<u64>();
        let Some(table) = (bytes > 0).then(|| low_memory(bytes)).flatten() else { return (None, Vec::new()) };
        let code = stubs.iter().enumerate().map(|(number, stub)| {
            // SAFETY: the table has a word for each stub.
            let word = unsafe {
                table.add(number).write(stub.function);
                table.add(number) as usize as u32
            };
            let mut code = [0; JUMP_LENGTH];
            code[..3].copy_from_slice(&JUMP);
            code[3..].copy_from_slice(&word.to_le_bytes());
            (stub.place, code)
        });
        let code = code.collect();
        (Some(Self { table, bytes }), code)
    }
}

impl Drop for Shortcuts {
    fn drop(&mut self) {
        // SAFETY: mapped by `low_memory`; the image that has the table goes after its copies.
        unsafe { libc::munmap(self.table.cast(), self.bytes) };
    }
}

/// The stubs of an object whose functions are the same in all copies.
fn stubs(elf: &Elf, place: &Place, template: &Template, chosen: &HashSet<u64>) -> Vec<Stub> {
    let mut found = Vec::new();
    for section in &elf.stubs {
        for address in section.clone().step_by(8) {
            let code = elf.contents(address, section.end - address);
            let Some((distance, length)) = indirect_jump(code) else { continue };
            let word = address.wrapping_add(length as u64).wrapping_add_signed(distance.into());
            let (Some(word), Some(at)) = (place.find(word, 8, true), place.find(address, JUMP_LENGTH as u64, false))
            else {
                continue;
            };
            match template.constant(word) {
                Some(function) if function != 0 && !chosen.contains(&word) => found.push(Stub { place: at, function }),
                _ => {}
            }
        }
    }
    found
}

/// The distance to the word that a stub jumps by, and where the jump ends: `jmp *distance(%rip)`, perhaps behind `endbr64`, perhaps
/// with a prefix.
fn indirect_jump(code: &[u8]) -> Option<(i32, usize)> {
    let mut at = 0;
    if code.starts_with(&[0xF3, 0x0F, 0x1E, 0xFA]) {
        at += 4;
    }
    if code.get(at) == Some(&0xF2) {
        at += 1;
    }
    let jump = code.get(at..at + 6)?.strip_prefix(&[0xFF, 0x25])?;
    Some((i32::from_le_bytes(jump.try_into().ok()?), at + 6))
}

/// Memory whose addresses have 31 bits.
fn low_memory(bytes: usize) -> Option<*mut u64> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT;
    // SAFETY: new memory at a place that the kernel chooses.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    if start as usize + bytes > i32::MAX as usize {
        // SAFETY: just mapped, and nobody knows of it.
        unsafe { libc::munmap(start, bytes) };
        return None;
    }
    Some(start.cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_of_all_kinds_are_recognised() {
        // .plt, .plt.got; .plt.sec of programs for processors with CET, older ones with a prefix; a direct jump.
        assert_eq!(indirect_jump(&[0xFF, 0x25, 0x10, 0, 0, 0, 0x68, 0, 0, 0, 0]), Some((16, 6)));
        assert_eq!(indirect_jump(&[0xFF, 0x25, 0xF0, 0xFF, 0xFF, 0xFF, 0x66, 0x90]), Some((-16, 6)));
        assert_eq!(indirect_jump(&[0xF3, 0x0F, 0x1E, 0xFA, 0xFF, 0x25, 1, 0, 0, 0]), Some((1, 10)));
        assert_eq!(indirect_jump(&[0xF3, 0x0F, 0x1E, 0xFA, 0xF2, 0xFF, 0x25, 1, 0, 0, 0]), Some((1, 11)));
        assert_eq!(indirect_jump(&[0xE9, 0x25, 0x10, 0, 0, 0]), None);
        assert_eq!(indirect_jump(&[0xFF, 0x25, 0x10]), None);
    }

    #[test]
    fn low_memory_is_low() {
        let memory = low_memory(8192).expect("there is room");
        assert!((memory as usize) < i32::MAX as usize);
        drop(Shortcuts { table: memory, bytes: 8192 });
    }
}
