//! The addresses of folded memory, and the few megabytes behind them.

use super::{FOLDED, Share};

/// Address space for folded memory, of which only what is used is mapped.
const RANGE: usize = 1 << 43;
/// The memory behind it.
const LARGEST_BLOCK: usize = 64 << 20;
const SMALLEST_BLOCK: usize = 2 << 20;

/// The range of folded addresses.
pub(super) struct Arena {
    base: usize,
    mapped: usize,
    block: i32,
}

impl Arena {
    pub fn new() -> std::io::Result<Arena> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: address space that nobody may use yet, and a file in memory.
        unsafe {
            let base = libc::mmap(std::ptr::null_mut(), RANGE, libc::PROT_NONE, flags, -1, 0);
            if base == libc::MAP_FAILED {
                return Err(std::io::Error::last_os_error());
            }
            let block = libc::memfd_create(c"folded".as_ptr(), libc::MFD_CLOEXEC);
            if block < 0 || libc::ftruncate(block, LARGEST_BLOCK as i64) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(Arena { base: base as usize, mapped: 0, block })
        }
    }

    /// From where to where it goes.
    pub fn addresses(&self) -> (usize, usize) {
        (self.base, self.base + RANGE)
    }

    /// Whether anything was folded.
    pub fn is_used(&self) -> bool {
        self.mapped > 0
    }

    /// Folded memory for a rank.
    pub fn give(&mut self, share: &Share, size: usize) -> Option<usize> {
        let address = share.place(self.base, size);
        self.map_until(address + size)?;
        share.fold(address, size);
        Some(address)
    }

    /// Makes addresses usable up to there. The more there is, the larger the pieces: mappings are limited.
    fn map_until(&mut self, end: usize) -> Option<()> {
        if end > self.base + RANGE {
            return None;
        }
        while self.base + self.mapped < end {
            let piece = (self.mapped / 64).next_multiple_of(SMALLEST_BLOCK).clamp(SMALLEST_BLOCK, LARGEST_BLOCK);
            let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let at = (self.base + self.mapped) as *mut libc::c_void;
            // SAFETY: a piece of our own range that nobody uses yet.
            if unsafe { libc::mmap(at, piece, protection, flags, self.block, 0) } == libc::MAP_FAILED {
                return None;
            }
            self.mapped += piece;
        }
        Some(())
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        FOLDED.set((0, 0));
        // SAFETY: programs have ended.
        unsafe {
            libc::munmap(self.base as *mut libc::c_void, RANGE);
            libc::close(self.block);
        }
    }
}
