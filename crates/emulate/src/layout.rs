//! How data lies in a program's buffer: a run of bytes as a rule, or some items of a datatype.

use hpcast_objects::Datatype;

use crate::memory;

/// So many bytes, or items.
#[derive(Clone, Debug)]
pub enum Layout {
    /// A run of bytes from the beginning of the buffer.
    Bytes(u64),
    /// Items of a datatype.
    Items(Datatype, i64),
}

impl Layout {
    /// Items of a datatype; those that are one run of bytes become one.
    pub fn new(datatype: &Datatype, count: i64) -> Layout {
        if datatype.is_contiguous() && (datatype.true_lb() == 0 || count == 0) {
            return Layout::Bytes((datatype.size() * count) as u64);
        }
        Layout::Items(datatype.clone(), count)
    }

    /// Bytes of data.
    pub fn bytes(&self) -> u64 {
        match self {
            Layout::Bytes(bytes) => *bytes,
            Layout::Items(datatype, count) => (datatype.size() * count) as u64,
        }
    }

    /// From where to where a buffer of this layout goes that begins at `address`.
    pub fn span(&self, address: usize) -> (usize, usize) {
        match self {
            Layout::Bytes(bytes) => (address, address.saturating_add(*bytes as usize)),
            Layout::Items(_, 0) => (address, address),
            Layout::Items(datatype, count) => {
                let first = (address as i64).wrapping_add(datatype.true_lb());
                let last = first.saturating_add((count - 1).saturating_mul(datatype.extent()));
                let end = first.max(last).saturating_add(datatype.true_extent());
                (first.min(last) as usize, end as usize)
            }
        }
    }

    /// The data, one byte after the other.
    ///
    /// # Safety
    /// A buffer of this layout must begin at `address`.
    pub unsafe fn pack(&self, address: *const u8) -> Vec<u8> {
        let mut data = Vec::with_capacity(self.bytes() as usize);
        // SAFETY: as above.
        unsafe { self.pack_onto(address, &mut data) };
        data
    }

    /// The data, one byte after the other, or nothing where nobody has written any of it.
    ///
    /// # Safety
    /// A buffer of this layout must begin at `address`.
    pub unsafe fn pack_written(&self, address: *const u8) -> Vec<u8> {
        // SAFETY: as above.
        if self.is_blank(address) { Vec::new() } else { unsafe { self.pack(address) } }
    }

    /// Whether nobody has written any of the data in a buffer.
    pub fn is_blank(&self, address: *const u8) -> bool {
        let is_blank = |(offset, length)| memory::is_blank(address.wrapping_offset(offset as isize), length as usize);
        match self {
            _ if !memory::is_folding() => false,
            Layout::Bytes(bytes) => is_blank((0, *bytes as i64)),
            Layout::Items(datatype, count) => datatype.ranges(*count).all(is_blank),
        }
    }

    /// Offset and length of what lies in one piece, in the order of the data.
    fn ranges(&self) -> Box<dyn Iterator<Item = (i64, i64)> + '_> {
        match self {
            Layout::Bytes(bytes) => Box::new(std::iter::once((0, *bytes as i64))),
            Layout::Items(datatype, count) => Box::new(datatype.ranges(*count)),
        }
    }

    /// Adds the data to what there is.
    ///
    /// # Safety
    /// A buffer of this layout must begin at `address`.
    pub unsafe fn pack_onto(&self, address: *const u8, data: &mut Vec<u8>) {
        // SAFETY: as above.
        unsafe {
            match self {
                Layout::Bytes(0) => {}
                Layout::Bytes(bytes) => memory::append(address, *bytes as usize, data),
                Layout::Items(datatype, count) => datatype.pack_to(*count, address, data),
            }
        }
    }

    /// Puts data where it belongs: as much as there is, and as there is room for.
    ///
    /// # Safety
    /// A buffer of this layout must begin at `address`.
    pub unsafe fn unpack(&self, data: &[u8], address: *mut u8) {
        // SAFETY: as above.
        unsafe {
            match self {
                Layout::Bytes(bytes) => {
                    let count = data.len().min(*bytes as usize);
                    if count > 0 {
                        memory::write(data.as_ptr(), address, count);
                    }
                }
                Layout::Items(..) if memory::is_folding() => {
                    let sent = Layout::Bytes(data.len() as u64);
                    Layout::copy_written(&sent, data.as_ptr(), self, address);
                }
                Layout::Items(datatype, count) => {
                    datatype.unpack(*count, data.as_ptr(), data.len() as i64, address);
                }
            }
        }
    }

    /// Copies as much from one buffer as there is room for in the other.
    ///
    /// # Safety
    /// Buffers of these layouts must begin at the addresses.
    pub unsafe fn copy(from: &Layout, source: *const u8, to: &Layout, target: *mut u8) {
        // SAFETY: as above.
        unsafe {
            match (from, to) {
                (Layout::Bytes(sent), Layout::Bytes(room)) => {
                    let count = (*sent).min(*room) as usize;
                    if count > 0 {
                        memory::copy(source, target, count);
                    }
                }
                _ if memory::is_folding() => Layout::copy_written(from, source, to, target),
                (Layout::Bytes(sent), Layout::Items(datatype, count)) => {
                    datatype.unpack(*count, source, *sent as i64, target);
                }
                (Layout::Items(datatype, count), Layout::Bytes(room)) if from.bytes() <= *room => {
                    datatype.pack(*count, source, target);
                }
                (Layout::Items(datatype, count), Layout::Items(to_datatype, to_count)) => {
                    datatype.copy(*count, source, to_datatype, *to_count, target, i64::MAX);
                }
                _ => to.unpack(&from.pack(source), target),
            }
        }
    }

    /// Copies piece by piece, and leaves out what nobody has written.
    ///
    /// # Safety
    /// Buffers of these layouts must begin at the addresses.
    unsafe fn copy_written(from: &Layout, source: *const u8, to: &Layout, target: *mut u8) {
        let mut room = to.ranges();
        let (mut place, mut left) = (0, 0);
        for (mut offset, mut length) in from.ranges() {
            while length > 0 {
                while left == 0 {
                    let Some(next) = room.next() else { return };
                    (place, left) = next;
                }
                let bytes = length.min(left);
                // SAFETY: as above: a part of a range of both.
                unsafe {
                    let (source, target) =
                        (source.wrapping_offset(offset as isize), target.wrapping_offset(place as isize));
                    memory::copy(source, target, bytes as usize);
                }
                (offset, length) = (offset + bytes, length - bytes);
                (place, left) = (place + bytes, left - bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Folding, Share};
    use hpcast_objects::Basic;

    /// Columns of a matrix, and what follows them elsewhere: as HPL sends its panels.
    fn columns(rows: i64, stride: i64, count: i64) -> Datatype {
        Datatype::vector(count, rows, stride, &Datatype::basic(Basic::Byte)).expect("a vector")
    }

    #[test]
    fn items_are_copied_in_any_layout() {
        let source: Vec<u8> = (0..100).collect();
        let items = Layout::new(&columns(3, 10, 4), 1);
        let other = Layout::new(&columns(2, 5, 6), 1);
        let packed = [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32];
        // SAFETY: all buffers are longer than their layouts.
        unsafe {
            let mut bytes = [0u8; 12];
            Layout::copy(&items, source.as_ptr(), &Layout::Bytes(12), bytes.as_mut_ptr());
            assert_eq!(bytes, packed);
            let mut few = [99u8; 12];
            Layout::copy(&items, source.as_ptr(), &Layout::Bytes(5), few.as_mut_ptr());
            assert_eq!(few[..6], [0, 1, 2, 10, 11, 99]);
            let mut there = [99u8; 30];
            Layout::copy(&items, source.as_ptr(), &other, there.as_mut_ptr());
            assert_eq!(there[..8], [0, 1, 99, 99, 99, 2, 10, 99]);
            assert_eq!(other.pack(there.as_ptr()), packed);
            let mut again = [99u8; 30];
            Layout::copy(&Layout::Bytes(12), packed.as_ptr(), &other, again.as_mut_ptr());
            assert_eq!(again, there);
        }
    }

    #[test]
    fn what_is_folded_is_left_out_of_items_too() {
        crate::signals::install();
        memory::fold(Folding { threshold: Some(1 << 20), largest: true, ..Folding::default() }).expect("address space");
        let share = Share::default();
        let given = |size| memory::allocate(&share, size, 16, |_| None).expect("memory of ours");
        let (matrix, panel, received) = (given(64 << 20), given(4 << 20), given(4 << 20));
        let items = Layout::new(&columns(100_000, 200_000, 20), 1);
        // SAFETY: the matrix and the panels are larger than their layouts.
        unsafe {
            matrix.write_bytes(7, 64 << 20);
            assert!(items.is_blank(matrix) && items.pack_written(matrix).is_empty());
            Layout::copy(&items, matrix, &Layout::Bytes(2_000_000), panel);
            assert!(memory::is_blank(panel, 4 << 20), "nothing was copied");
            panel.add(1_500_000).write(5);
            let twice = Layout::new(&columns(50_000, 80_000, 40), 1);
            Layout::copy(&Layout::Bytes(2_000_000), panel, &twice, received);
            assert_eq!(received.add(30 * 80_000).read(), 5);
            assert!(memory::is_blank(received, 30 * 80_000 - 4096), "only what was written is copied");
            let mut ordinary = vec![1u8; 4 << 20];
            Layout::copy(&Layout::Bytes(2_000_000), panel, &twice, ordinary.as_mut_ptr());
            assert_eq!((ordinary[30 * 80_000], ordinary[0]), (5, 1));
        }
        memory::unfold();
    }
}
