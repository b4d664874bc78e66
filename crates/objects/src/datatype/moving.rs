//! Packing, unpacking and copying.

use super::Datatype;
use super::cursor::{BlockIter, Ranges};
use super::layout::{Blocks, Layout, repeated_blocks};
use super::packing::{Pack, Unpack, Way, move_all};
use super::transfer::{copy_block, copy_blocks, transfer};

impl Datatype {
    /// The blocks of `count` items, in the order of the type map, from the address of the buffer.
    pub fn blocks(&self, count: i64) -> BlockIter<'_> {
        BlockIter::new(&self.map().bytes, 0, count, self.extent())
    }

    /// The contiguous byte ranges (offset from the address of the buffer, length) of `count` items, in the order of the
    /// type map.
    pub fn ranges(&self, count: i64) -> Ranges<'_> {
        Ranges::new(self.blocks(count))
    }

    /// The contiguous byte ranges of `count` items after their first `skip` bytes; whole items are skipped at once, as file
    /// views need it. Items that touch are one range: ask for no more than needed, since all of them are looked at.
    pub fn ranges_from(&self, skip: i64, count: i64) -> Ranges<'_> {
        let items = if self.size() == 0 { 0 } else { (skip / self.size()).min(count) };
        let base = items.wrapping_mul(self.extent());
        let blocks = BlockIter::new(&self.map().bytes, base, count - items, self.extent());
        Ranges::new(blocks).without(skip - items * self.size())
    }

    /// Offset and length of the data of `count` items, if they are one block.
    #[inline]
    pub fn run(&self, count: i64) -> Option<(i64, i64)> {
        let blocks = self.regular(count)?;
        (blocks.count == 1).then_some((blocks.offset, blocks.length))
    }

    /// The data of `count` items, if they are blocks at equal distances; of no data, one empty block.
    #[inline]
    fn regular(&self, count: i64) -> Option<Blocks> {
        match &self.map().bytes {
            Layout::Blocks(blocks) if count > 0 => repeated_blocks(*blocks, count, self.extent()),
            _ if self.size() == 0 || count == 0 => Some(Blocks::run(0, 0)),
            _ => None,
        }
    }

    /// Copies `count` items to contiguous memory; answers how many bytes these were.
    ///
    /// # Safety
    /// The data of all items must be readable from `from`, and `count` times [`Datatype::size`] bytes writable at `to`.
    #[inline]
    pub unsafe fn pack(&self, count: i64, from: *const u8, to: *mut u8) -> i64 {
        let bytes = self.size() * count;
        // SAFETY: the caller's.
        unsafe {
            match self.regular(count) {
                Some(Blocks { offset, length, count, stride }) => {
                    copy_blocks(from.wrapping_offset(offset as isize), stride, to, length, length, count);
                }
                None => self.move_items::<Pack>(count, from.cast_mut(), to),
            }
        }
        bytes
    }

    /// Moves all data of `count` items between their places and contiguous memory.
    ///
    /// # Safety
    /// As of packing and unpacking.
    unsafe fn move_items<W: Way>(&self, count: i64, places: *mut u8, packed: *mut u8) {
        let (mut place, mut packed) = (places, packed);
        for _ in 0..count {
            // SAFETY: the caller's.
            packed = unsafe { move_all::<W>(&self.map().bytes, place, packed) };
            place = place.wrapping_offset(self.extent() as isize);
        }
    }

    /// Appends `count` items to a vector.
    ///
    /// # Safety
    /// The data of all items must be readable from `from`.
    pub unsafe fn pack_to(&self, count: i64, from: *const u8, out: &mut Vec<u8>) {
        let bytes = (self.size() * count) as usize;
        out.reserve(bytes);
        // SAFETY: there is room for the bytes, and all of them are written.
        unsafe {
            self.pack(count, from, out.as_mut_ptr().add(out.len()));
            out.set_len(out.len() + bytes);
        }
    }

    /// Fills up to `count` items from `bytes` contiguous bytes, which may be fewer than the items hold; answers how many
    /// bytes were used.
    ///
    /// # Safety
    /// `bytes` must be readable at `from`, and the data of the items that they fill writable from `to`.
    #[inline]
    pub unsafe fn unpack(&self, count: i64, from: *const u8, bytes: i64, to: *mut u8) -> i64 {
        let all = self.size() * count;
        let bytes = bytes.min(all).max(0);
        // SAFETY: the caller's.
        unsafe {
            match self.regular(count) {
                Some(Blocks { offset, count: 1, .. }) => {
                    copy_block(from, to.wrapping_offset(offset as isize), bytes as usize);
                }
                Some(Blocks { offset, length, count, stride }) if bytes == all => {
                    copy_blocks(from, length, to.wrapping_offset(offset as isize), stride, length, count);
                }
                None if bytes == all => self.move_items::<Unpack>(count, to, from.cast_mut()),
                _ => {
                    transfer(once(bytes), from, self.blocks(count), to, bytes);
                }
            }
        }
        bytes
    }

    /// Copies `count` items to `to_count` items of another datatype, at most `limit` bytes; answers how many bytes were
    /// copied: no more than either side holds.
    ///
    /// # Safety
    /// The data of the items must be readable from `from` and writable from `to`, as far as bytes are copied.
    #[inline]
    pub unsafe fn copy(
        &self,
        count: i64,
        from: *const u8,
        to_type: &Datatype,
        to_count: i64,
        to: *mut u8,
        limit: i64,
    ) -> i64 {
        let bytes = (self.size() * count).min(to_type.size() * to_count).min(limit).max(0);
        // SAFETY: the caller's.
        unsafe {
            match (self.run(count), to_type.run(to_count)) {
                (Some((src, _)), Some((dst, _))) => {
                    let (from, to) = (from.wrapping_offset(src as isize), to.wrapping_offset(dst as isize));
                    copy_block(from, to, bytes as usize);
                }
                (Some((src, _)), None) => {
                    to_type.unpack(to_count, from.wrapping_offset(src as isize), bytes, to);
                }
                (None, Some((dst, _))) if bytes == self.size() * count => {
                    self.pack(count, from, to.wrapping_offset(dst as isize));
                }
                (None, _) => {
                    transfer(self.blocks(count), from, to_type.blocks(to_count), to, bytes);
                }
            }
        }
        bytes
    }
}

/// Contiguous memory as a layout.
fn once(bytes: i64) -> impl Iterator<Item = Blocks> {
    (bytes > 0).then(|| Blocks::run(0, bytes)).into_iter()
}
