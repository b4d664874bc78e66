//! Thread-local data of copies.
//!
//! Code reaches thread-local data in two ways. Libraries usually ask `__tls_get_addr` with two words of their own data. Every
//! copy has its own data, so the words say where the copy's block is: nothing needs to be known about who runs. Programs, and
//! some libraries, instead use fixed distances below the thread pointer, where this process has its own thread-local data. So
//! the process keeps a zone there for them (zone/zone.rs, linked last: what comes last lies highest), and whoever switches from one
//! copy to another exchanges its contents.

use std::arch::{global_asm, naked_asm};
use std::ptr;

use crate::host::thread_pointer;

/// First word: the second one is an address.
pub const AT_ADDRESS: u64 = 0;
/// First word: the second one is a distance from the thread pointer.
pub const FROM_THREAD_POINTER: u64 = 1;

/// Replaces `__tls_get_addr`: gets the address of two words, returns where the data is. In assembly because code that calls it
/// does not always align the stack.
#[unsafe(naked)]
pub unsafe extern "C" fn get_address(index: *const [u64; 2]) -> usize {
    naked_asm!("mov rax, [rdi + 8]", "cmp qword ptr [rdi], 0", "je 2f", "add rax, fs:0", "2:", "ret")
}

/// A function for TLS descriptors: gets the descriptor in rax, returns the distance from the thread pointer there, and leaves
/// all other registers alone.
pub fn descriptor(way: u64) -> usize {
    if way == AT_ADDRESS { at_address as *const () as usize } else { from_thread_pointer as *const () as usize }
}

#[unsafe(naked)]
extern "C" fn at_address() {
    naked_asm!("mov rax, [rax + 8]", "sub rax, fs:0", "ret")
}

#[unsafe(naked)]
extern "C" fn from_thread_pointer() {
    naked_asm!("mov rax, [rax + 8]", "ret")
}

// Weak: programs that do not link the zone have none.
global_asm!(
    ".weak hpcast_tls_zone_place",
    ".hidden hpcast_find_tls_zone",
    ".globl hpcast_find_tls_zone",
    "hpcast_find_tls_zone:",
    "mov rax, [rip + hpcast_tls_zone_place@GOTPCREL]",
    "ret",
);

unsafe extern "C" {
    fn hpcast_find_tls_zone() -> *const [i64; 2];
}

/// Bytes directly below the thread pointer that are set aside for copies: 0 if this process was not linked with them, or
/// if something else came to lie there.
pub fn zone_size() -> usize {
    // SAFETY: takes nothing and returns an address or null.
    let place = unsafe { hpcast_find_tls_zone() };
    if place.is_null() {
        return 0;
    }
    // SAFETY: two words in zone/zone.rs.
    let [distance, size] = unsafe { place.read() };
    if distance.checked_add(size) == Some(0) { size as usize } else { 0 }
}

/// Copies the upper end of the zone to where a copy keeps it.
///
/// # Safety
/// There are `len` bytes at `to`, and the zone has as many.
#[inline]
pub unsafe fn save(to: *mut u8, len: usize) {
    // SAFETY: the zone lies below the thread pointer, and is apart from any copy.
    unsafe { ptr::copy_nonoverlapping((thread_pointer() - len) as *const u8, to, len) }
}

/// Copies what a copy has kept to the upper end of the zone.
///
/// # Safety
/// As for [`save`]; what is in the zone has been saved.
#[inline]
pub unsafe fn restore(from: *const u8, len: usize) {
    // SAFETY: as above.
    unsafe { ptr::copy_nonoverlapping(from, (thread_pointer() - len) as *mut u8, len) }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(7) };
        static TEXT: RefCell<String> = RefCell::new("text".into());
    }

    #[test]
    fn the_zone_lies_below_the_thread_pointer() {
        assert_eq!(zone_size(), 65_536);
        let thread = std::thread::spawn(|| {
            let mut bytes = vec![1u8; 65_536];
            // SAFETY: the zone is as large.
            unsafe { save(bytes.as_mut_ptr(), bytes.len()) };
            assert!(bytes.iter().all(|&byte| byte == 0), "nobody else uses it");
            bytes.fill(0xa5);
            // SAFETY: as above.
            unsafe { restore(bytes.as_ptr(), bytes.len()) };
            assert_eq!((NUMBER.get(), TEXT.take().as_str()), (7, "text"));
            // What the C library keeps for a thread.
            assert_eq!(std::fs::read("/").map_err(|error| error.kind()), Err(std::io::ErrorKind::IsADirectory));
        });
        thread.join().expect("the thread's own data is untouched");
    }
}
