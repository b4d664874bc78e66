//! A status, as the libraries lay it out.

use super::{Abi, Library};

/// What became of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// In the program's words, such as MPI_ANY_SOURCE.
    pub source: i32,
    /// In the program's words.
    pub tag: i32,
    /// The error code.
    pub error: i32,
    /// Bytes that came.
    pub bytes: u64,
    /// Whether it was cancelled.
    pub cancelled: bool,
}

impl Abi {
    /// Bytes of a status.
    pub fn status_size(&self) -> usize {
        match self.library {
            Library::Standard => 32,
            Library::Mpich => 20,
            Library::OpenMpi => 24,
        }
    }

    /// An empty status: what a wait for nothing gives.
    pub fn empty_status(&self) -> Status {
        Status { source: self.any_source, tag: self.any_tag, ..Status::default() }
    }

    /// Fills a status in; its error only if asked, as calls that complete one operation leave it alone.
    ///
    /// # Safety
    /// `at` must be the address of a status.
    #[inline]
    pub unsafe fn write_status(&self, at: *mut i32, status: &Status, with_error: bool) {
        let Status { source, tag, error, bytes, cancelled } = *status;
        let (low, high) = (bytes as i32, (bytes >> 32) as i32);
        // SAFETY: all places are within a status.
        let set = |place: usize, value: i32| unsafe { at.add(place).write_unaligned(value) };
        match self.library {
            Library::Standard => {
                set(0, source);
                set(1, tag);
                set(3, low);
                set(4, high);
                set(5, i32::from(cancelled));
            }
            Library::Mpich => {
                set(0, low);
                set(1, high << 1 | i32::from(cancelled));
                set(2, source);
                set(3, tag);
            }
            Library::OpenMpi => {
                set(0, source);
                set(1, tag);
                set(3, i32::from(cancelled));
                set(4, low);
                set(5, high);
            }
        }
        if with_error {
            set(self.error_place(), error);
        }
    }

    /// What a status says.
    ///
    /// # Safety
    /// `at` must be the address of a status.
    pub unsafe fn read_status(&self, at: *const i32) -> Status {
        // SAFETY: all places are within a status.
        let field = |place: usize| unsafe { at.add(place).read_unaligned() };
        let wide = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
        let error = field(self.error_place());
        match self.library {
            Library::Standard => Status {
                source: field(0),
                tag: field(1),
                error,
                bytes: wide(field(3), field(4)),
                cancelled: field(5) != 0,
            },
            Library::Mpich => Status {
                source: field(2),
                tag: field(3),
                error,
                bytes: wide(field(0), (field(1) as u32 >> 1) as i32),
                cancelled: field(1) & 1 != 0,
            },
            Library::OpenMpi => Status {
                source: field(0),
                tag: field(1),
                error,
                bytes: wide(field(4), field(5)),
                cancelled: field(3) != 0,
            },
        }
    }

    fn error_place(&self) -> usize {
        if self.library == Library::Mpich { 4 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_can_be_read_back() {
        let status = Status { source: 3, tag: 77, error: 15, bytes: 5_000_000_001, cancelled: true };
        for library in [Library::Standard, Library::Mpich, Library::OpenMpi] {
            let abi = Abi::new(library);
            let mut memory = [0i32; 8];
            // SAFETY: no status is longer than that.
            let back = unsafe {
                abi.write_status(memory.as_mut_ptr(), &status, true);
                abi.read_status(memory.as_ptr())
            };
            assert_eq!(back, status, "{library:?}");
            assert!(memory[abi.status_size() / 4..].iter().all(|&word| word == 0));
        }
    }
}
