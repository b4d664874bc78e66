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

    /// Adds the data to what there is.
    ///
    /// # Safety
    /// A buffer of this layout must begin at `address`.
    pub unsafe fn pack_onto(&self, address: *const u8, data: &mut Vec<u8>) {
        // SAFETY: as above.
        unsafe {
            match self {
                Layout::Bytes(0) => {}
                Layout::Bytes(bytes) => data.extend_from_slice(std::slice::from_raw_parts(address, *bytes as usize)),
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
                (Layout::Bytes(sent), Layout::Items(..)) if *sent > 0 => {
                    to.unpack(std::slice::from_raw_parts(source, *sent as usize), target);
                }
                _ => to.unpack(&from.pack(source), target),
            }
        }
    }
}
