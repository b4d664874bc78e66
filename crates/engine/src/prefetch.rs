//! Fetching memory before it is needed: with millions of ranks a simulation would mostly wait for it.

const LINE: usize = 64;
/// Large values are fetched up to here.
const MOST: usize = 4 * LINE;

/// Starts to bring a value into the cache. Does nothing on processors where Rust knows no such instruction.
#[inline]
pub fn prefetch<T>(value: &T) {
    for offset in (0..size_of::<T>().min(MOST)).step_by(LINE) {
        prefetch_line(std::ptr::from_ref(value).cast::<u8>().wrapping_add(offset));
    }
}

/// Starts to bring the line of that address into the cache, to be written; there need not be anything.
#[inline]
pub fn prefetch_line_to_write(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: as below.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Starts to bring the line of that address into the cache; there need not be anything.
#[inline]
pub fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it reads nothing and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
