//! Fetching memory before it is needed: with millions of ranks a simulation would mostly wait for it.

const LINE: usize = 64;
/// Large values are fetched up to here.
const MOST: usize = 4 * LINE;

/// Starts to bring a value into the cache. Does nothing on processors where Rust knows no such instruction.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of::<T>().min(MOST)).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = std::ptr::from_ref(value).cast::<i8>().wrapping_add(offset);
        // SAFETY: a prefetch is a hint: it reads nothing and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
