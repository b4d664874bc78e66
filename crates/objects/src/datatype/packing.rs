//! Moving all bytes between a layout and contiguous memory: the layout is run through by recursion, which costs less than
//! a cursor.

use super::layout::Layout;
use super::transfer::{copy_block, copy_blocks};

/// Which way the bytes go.
pub(super) trait Way {
    /// One block between its place and contiguous memory.
    ///
    /// # Safety
    /// Both must be readable and writable as the way demands.
    unsafe fn block(place: *mut u8, packed: *mut u8, length: i64);

    /// Blocks at equal distances.
    ///
    /// # Safety
    /// As of a block.
    unsafe fn blocks(place: *mut u8, stride: i64, packed: *mut u8, length: i64, count: i64);
}

/// From the layout to contiguous memory.
pub(super) struct Pack;

/// From contiguous memory to the layout.
pub(super) struct Unpack;

impl Way for Pack {
    #[inline]
    unsafe fn block(place: *mut u8, packed: *mut u8, length: i64) {
        // SAFETY: the caller's.
        unsafe { copy_block(place, packed, length as usize) };
    }

    #[inline]
    unsafe fn blocks(place: *mut u8, stride: i64, packed: *mut u8, length: i64, count: i64) {
        // SAFETY: the caller's.
        unsafe { copy_blocks(place, stride, packed, length, length, count) };
    }
}

impl Way for Unpack {
    #[inline]
    unsafe fn block(place: *mut u8, packed: *mut u8, length: i64) {
        // SAFETY: the caller's.
        unsafe { copy_block(packed, place, length as usize) };
    }

    #[inline]
    unsafe fn blocks(place: *mut u8, stride: i64, packed: *mut u8, length: i64, count: i64) {
        // SAFETY: the caller's.
        unsafe { copy_blocks(packed, length, place, stride, length, count) };
    }
}

/// Moves all bytes of a layout whose address is `base`; answers where the contiguous ones end.
///
/// # Safety
/// Every block must be readable or writable, as the way demands, and so must as many contiguous bytes.
pub(super) unsafe fn move_all<W: Way>(layout: &Layout, base: *mut u8, mut packed: *mut u8) -> *mut u8 {
    // SAFETY: the caller's; all blocks are parts of the layout.
    unsafe {
        match layout {
            Layout::Nothing => packed,
            Layout::Blocks(blocks) => {
                let place = base.wrapping_offset(blocks.offset as isize);
                W::blocks(place, blocks.stride, packed, blocks.length, blocks.count);
                packed.wrapping_offset(blocks.bytes() as isize)
            }
            Layout::Runs { offset, runs } => {
                let base = base.wrapping_offset(*offset as isize);
                for run in runs.iter() {
                    W::block(base.wrapping_offset(run.offset as isize), packed, run.length);
                    packed = packed.wrapping_offset(run.length as isize);
                }
                packed
            }
            Layout::Loop { offset, count, stride, body } => {
                let mut base = base.wrapping_offset(*offset as isize);
                for _ in 0..*count {
                    packed = move_all::<W>(body, base, packed);
                    base = base.wrapping_offset(*stride as isize);
                }
                packed
            }
            Layout::Parts { offset, parts } => {
                let base = base.wrapping_offset(*offset as isize);
                for part in parts.iter() {
                    packed = move_all::<W>(part, base, packed);
                }
                packed
            }
            Layout::Elements { offset, body, .. } => {
                move_all::<W>(body, base.wrapping_offset(*offset as isize), packed)
            }
        }
    }
}
