//! Moving bytes from one layout to another, without a buffer in between.
//!
//! All copies may overlap: an erroneous program must not make ours misbehave, and ranks may share memory that nobody reads.

use std::ptr;

use super::layout::Blocks;

/// One side of a transfer: blocks one after the other, and how far the present one has got.
struct Side<I> {
    blocks: I,
    /// The present blocks; `offset` is that of the block being worked on.
    now: Blocks,
    /// Bytes of the first present block that are done.
    part: i64,
}

impl<I: Iterator<Item = Blocks>> Side<I> {
    fn new(blocks: I) -> Side<I> {
        Side { blocks, now: Blocks { offset: 0, length: 0, count: 0, stride: 0 }, part: 0 }
    }

    /// Makes sure that there is something to work on.
    #[inline]
    fn ready(&mut self) -> bool {
        while self.now.count == 0 {
            match self.blocks.next() {
                Some(blocks) => self.now = blocks,
                None => return false,
            }
        }
        true
    }

    /// Whole blocks are done.
    #[inline]
    fn advance_blocks(&mut self, count: i64) {
        self.now.count -= count;
        self.now.offset = self.now.offset.wrapping_add(self.now.stride.wrapping_mul(count));
    }

    /// Bytes of the present block are done.
    #[inline]
    fn advance_bytes(&mut self, bytes: i64) {
        self.part += bytes;
        if self.part == self.now.length {
            self.part = 0;
            self.advance_blocks(1);
        }
    }

    #[inline]
    fn left_in_block(&self) -> i64 {
        self.now.length - self.part
    }
}

/// Copies up to `limit` bytes; answers how many there were.
///
/// # Safety
/// Every block of `source`, taken from `from`, must be readable, and every block of `target`, taken from `to`, writable, as
/// far as the first `limit` bytes go.
pub(super) unsafe fn transfer(
    source: impl Iterator<Item = Blocks>,
    from: *const u8,
    target: impl Iterator<Item = Blocks>,
    to: *mut u8,
    limit: i64,
) -> i64 {
    let (mut source, mut target) = (Side::new(source), Side::new(target));
    let mut left = limit;
    while left > 0 && source.ready() && target.ready() {
        let (src, dst) = (source.now, target.now);
        let src_at = from.wrapping_offset((src.offset + source.part) as isize);
        let dst_at = to.wrapping_offset((dst.offset + target.part) as isize);
        let (src_room, dst_room) = (source.left_in_block().min(left), target.left_in_block().min(left));
        // SAFETY: in all cases the bytes lie in blocks of both sides, which the caller vouches for.
        unsafe {
            if source.part == 0 && target.part == 0 && src.length == dst.length && left >= src.length {
                let count = fitting(src.length, src.count.min(dst.count), left);
                copy_blocks(src_at, src.stride, dst_at, dst.stride, src.length, count);
                source.advance_blocks(count);
                target.advance_blocks(count);
                left -= count * src.length;
            } else if source.part == 0 && src.length <= dst_room {
                let count = fitting(src.length, src.count, dst_room);
                copy_blocks(src_at, src.stride, dst_at, src.length, src.length, count);
                source.advance_blocks(count);
                target.advance_bytes(count * src.length);
                left -= count * src.length;
            } else if target.part == 0 && dst.length <= src_room {
                let count = fitting(dst.length, dst.count, src_room);
                copy_blocks(src_at, dst.length, dst_at, dst.stride, dst.length, count);
                source.advance_bytes(count * dst.length);
                target.advance_blocks(count);
                left -= count * dst.length;
            } else {
                let bytes = src_room.min(dst_room);
                copy_block(src_at, dst_at, bytes as usize);
                source.advance_bytes(bytes);
                target.advance_bytes(bytes);
                left -= bytes;
            }
        }
    }
    limit - left
}

/// How many of `count` blocks fit into `room`, where one does; divides only if it must.
#[inline]
fn fitting(length: i64, count: i64, room: i64) -> i64 {
    if count == 1 || length * count <= room { count } else { room / length }
}

/// Copies `count` blocks of `length` bytes, at distances of their own on both sides.
///
/// # Safety
/// All blocks must be readable or writable.
#[inline]
pub(super) unsafe fn copy_blocks(
    from: *const u8,
    from_stride: i64,
    to: *mut u8,
    to_stride: i64,
    length: i64,
    count: i64,
) {
    let (from_stride, to_stride) = (from_stride as isize, to_stride as isize);
    // SAFETY: the caller's.
    unsafe {
        match length {
            _ if count == 1 => copy_block(from, to, length as usize),
            4 => words::<u32>(from, from_stride, to, to_stride, count),
            8 => words::<u64>(from, from_stride, to, to_stride, count),
            16 => words::<u128>(from, from_stride, to, to_stride, count),
            24 => words::<[u64; 3]>(from, from_stride, to, to_stride, count),
            32 => words::<[u64; 4]>(from, from_stride, to, to_stride, count),
            2 => words::<u16>(from, from_stride, to, to_stride, count),
            1 => words::<u8>(from, from_stride, to, to_stride, count),
            _ => {
                for i in 0..count as isize {
                    let (src, dst) = (from.wrapping_offset(i * from_stride), to.wrapping_offset(i * to_stride));
                    copy_block(src, dst, length as usize);
                }
            }
        }
    }
}

/// One block; short ones as two words that may overlap, without a call.
///
/// # Safety
/// As of `ptr::copy`.
#[inline]
pub(super) unsafe fn copy_block(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's; the words lie within the block.
    unsafe {
        match length {
            2..=3 => ends::<u16>(from, to, length),
            4..=7 => ends::<u32>(from, to, length),
            8..=15 => ends::<u64>(from, to, length),
            16..=32 => ends::<u128>(from, to, length),
            _ => ptr::copy(from, to, length),
        }
    }
}

/// The first and the last word of a block that is not longer than two.
///
/// # Safety
/// The block must be readable or writable, and not shorter than a word.
#[inline]
unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, length: usize) {
    let last = length - size_of::<T>();
    // SAFETY: the caller's.
    unsafe {
        let words = (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
        to.cast::<T>().write_unaligned(words.0);
        to.add(last).cast::<T>().write_unaligned(words.1);
    }
}

/// Blocks that are as long as a `T`; unrolled, since the loads do not depend on each other.
///
/// # Safety
/// All must be readable or writable.
#[inline]
unsafe fn words<T: Copy>(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, count: i64) {
    let (mut src, mut dst) = (from, to);
    let mut left = count;
    // SAFETY: the caller's; the pointers after the last block are not used.
    unsafe {
        while left >= 4 {
            let a = src.cast::<T>().read_unaligned();
            let b = src.wrapping_offset(from_stride).cast::<T>().read_unaligned();
            let c = src.wrapping_offset(2 * from_stride).cast::<T>().read_unaligned();
            let d = src.wrapping_offset(3 * from_stride).cast::<T>().read_unaligned();
            dst.cast::<T>().write_unaligned(a);
            dst.wrapping_offset(to_stride).cast::<T>().write_unaligned(b);
            dst.wrapping_offset(2 * to_stride).cast::<T>().write_unaligned(c);
            dst.wrapping_offset(3 * to_stride).cast::<T>().write_unaligned(d);
            src = src.wrapping_offset(4 * from_stride);
            dst = dst.wrapping_offset(4 * to_stride);
            left -= 4;
        }
        while left > 0 {
            dst.cast::<T>().write_unaligned(src.cast::<T>().read_unaligned());
            src = src.wrapping_offset(from_stride);
            dst = dst.wrapping_offset(to_stride);
            left -= 1;
        }
    }
}
