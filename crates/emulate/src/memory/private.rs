//! Allocations that are kept for each rank, as far as the program writes them.

use super::{PAGE, PRIVATE};

/// Address space for private allocations.
const RANGE: usize = 1 << 42;
/// They begin at multiples of this.
const GRANULE: usize = 2 << 20;
/// One that was given back keeps so many pages for the next: to fetch and protect them anew takes longer than to clear
/// them.
const KEPT: usize = 8;

/// Private allocations, also those that are free.
pub(super) struct Privates {
    base: usize,
    blocks: Vec<Private>,
    /// Number of the block that a granule of addresses belongs to.
    by_granule: Vec<u32>,
}

/// A private allocation.
pub(super) struct Private {
    /// Its address.
    pub start: usize,
    /// Whole pages.
    pub size: usize,
    /// Pages that were written, a bit each.
    written: Vec<u64>,
}

impl Privates {
    /// Address space for them, all of it zeros that can be read.
    pub fn new() -> std::io::Result<Privates> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: new memory at an address that the kernel chooses.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), RANGE, libc::PROT_READ, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Privates { base: base as usize, blocks: Vec::new(), by_granule: Vec::new() })
    }

    /// A new one; gives its address.
    pub fn add(&mut self, size: usize) -> Option<usize> {
        let start = self.base + self.by_granule.len() * GRANULE;
        let granules = self.by_granule.len() + size.div_ceil(GRANULE);
        if granules * GRANULE > RANGE {
            return None;
        }
        self.by_granule.resize(granules, self.blocks.len() as u32);
        self.blocks.push(Private { start, size, written: vec![0; size.div_ceil(64 * PAGE)] });
        PRIVATE.set((self.base, start + size));
        Some(start)
    }

    /// The one that an address is in.
    #[inline]
    pub fn at(&mut self, address: usize) -> Option<&mut Private> {
        let number = *self.by_granule.get(address.wrapping_sub(self.base) / GRANULE)?;
        let private = &mut self.blocks[number as usize];
        (address < private.start + private.size).then_some(private)
    }
}

impl Drop for Privates {
    fn drop(&mut self) {
        PRIVATE.set((usize::MAX, 0));
        // SAFETY: programs have ended.
        unsafe { libc::munmap(self.base as *mut libc::c_void, RANGE) };
    }
}

impl Private {
    /// All of it is zeros again. A few pages stay; if there are more, they go, and all of it is one mapping again.
    pub fn clear(&mut self) {
        let pages: u32 = self.written.iter().map(|word| word.count_ones()).sum();
        if pages as usize <= KEPT {
            for page in self.written_pages(0, self.size) {
                // SAFETY: a page of our own that the program has given back, and may be written.
                unsafe { std::ptr::write_bytes((self.start + page * PAGE) as *mut u8, 0, PAGE) };
            }
            return;
        }
        self.written.fill(0);
        // SAFETY: memory of our own that the program has given back.
        unsafe { libc::madvise(self.start as *mut libc::c_void, self.size, libc::MADV_DONTNEED) };
        protect(self.start, self.size, libc::PROT_READ);
    }

    /// A page is written; false if it was before. If there are too many mappings, the whole allocation may be written from now on,
    /// and nobody knows what was.
    pub fn write(&mut self, address: usize) -> bool {
        let page = (address - self.start) / PAGE;
        let (word, bit) = (page / 64, 1 << (page % 64));
        if self.written[word] & bit != 0 {
            return false;
        }
        self.written[word] |= bit;
        if protect(self.start + page * PAGE, PAGE, libc::PROT_READ | libc::PROT_WRITE) {
            return true;
        }
        self.written.fill(u64::MAX);
        protect(self.start, self.size, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// Pages that were written, of those that hold these bytes.
    pub fn written_pages(&self, offset: usize, bytes: usize) -> impl Iterator<Item = usize> {
        let (first, end) = (offset / PAGE, (offset + bytes).div_ceil(PAGE));
        (first / 64..end.div_ceil(64))
            .flat_map(move |word| {
                let bits = self.written.get(word).copied().unwrap_or(0);
                let places = if bits == 0 { 0..0 } else { 0..64 };
                places.filter(move |place| bits >> place & 1 == 1).map(move |place| word * 64 + place)
            })
            .filter(move |&page| page >= first && page < end)
    }
}

/// Says what may be done with memory of ours.
fn protect(address: usize, size: usize, protection: i32) -> bool {
    // SAFETY: memory of our own.
    unsafe { libc::mprotect(address as *mut libc::c_void, size, protection) == 0 }
}
