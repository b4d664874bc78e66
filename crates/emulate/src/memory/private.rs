//! Allocations that are kept for each rank, as far as the program writes them.

use super::{PAGE, PRIVATE};

/// Address space for private allocations.
const RANGE: usize = 1 << 42;
/// They begin at multiples of this, the size of a large page: then the kernel maps a whole granule of zeros when any of it is read for
/// the first time, and not page by page.
const GRANULE: usize = 2 << 20;
/// One that was given back keeps so many pages for the next: to fetch and protect them anew takes longer than to clear
/// them.
const KEPT: u32 = 8;
/// Mappings that a process may have, where the kernel does not say.
const USUAL_MAPPINGS: usize = 65_530;

/// Private allocations, also those that are free.
pub(super) struct Privates {
    /// Where the address space begins.
    range: usize,
    /// Where the first allocation begins.
    base: usize,
    blocks: Vec<Private>,
    /// Number of the block that a granule of addresses belongs to.
    by_granule: Vec<u32>,
    /// Runs of written pages, in all: the kernel needs two mappings for each, and there is a limit to those.
    runs: usize,
    /// With so many of them, pages are no longer kept.
    most_kept: usize,
}

/// A private allocation.
pub(super) struct Private {
    /// Its address.
    pub start: usize,
    /// Whole pages.
    pub size: usize,
    /// Pages that were written, a bit each.
    written: Vec<u64>,
    /// Given back, and not yet given again.
    is_free: bool,
}

impl Privates {
    /// Address space for them, all of it zeros that can be read.
    pub fn new() -> std::io::Result<Privates> {
        let range = map(0, RANGE)?;
        let base = range.next_multiple_of(GRANULE);
        let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
        let most_kept = text.trim().parse().unwrap_or(USUAL_MAPPINGS) / 4;
        Ok(Privates { range, base, blocks: Vec::new(), by_granule: Vec::new(), runs: 0, most_kept })
    }

    /// A new one; gives its address.
    pub fn add(&mut self, size: usize) -> Option<usize> {
        let start = self.base + self.by_granule.len() * GRANULE;
        let granules = self.by_granule.len() + size.div_ceil(GRANULE);
        // The base need not be where the range begins.
        if (granules + 1) * GRANULE > RANGE {
            return None;
        }
        self.by_granule.resize(granules, self.blocks.len() as u32);
        self.blocks.push(Private { start, size, written: vec![0; size.div_ceil(64 * PAGE)], is_free: false });
        PRIVATE.set((self.base, start + size));
        Some(start)
    }

    /// The one that an address is in.
    #[inline]
    pub fn at(&self, address: usize) -> Option<&Private> {
        self.number_at(address).map(|number| &self.blocks[number])
    }

    #[inline]
    fn number_at(&self, address: usize) -> Option<usize> {
        let number = *self.by_granule.get(address.wrapping_sub(self.base) / GRANULE)? as usize;
        let private = &self.blocks[number];
        (address < private.start + private.size).then_some(number)
    }

    /// The one that begins there is given back: all of it is zeros again. A few pages stay; if there are more, they go, and all of it
    /// is one mapping again. Says how big it is.
    pub fn free(&mut self, address: usize) -> Option<usize> {
        let number = self.number_at(address).filter(|&number| self.blocks[number].start == address)?;
        let private = &mut self.blocks[number];
        private.is_free = true;
        if private.pages() <= KEPT && self.runs <= self.most_kept {
            private.clear();
        } else {
            self.runs -= private.runs();
            private.wipe();
        }
        Some(private.size)
    }

    /// The one that begins there is used again.
    pub fn reuse(&mut self, address: usize) {
        if let Some(number) = self.number_at(address) {
            self.blocks[number].is_free = false;
        }
    }

    /// A page is written; false if it is none of ours, or was before. If there are too many mappings, free allocations keep no pages, and
    /// if that does not help, all of the allocation may be written from now on, and nobody knows what was.
    pub fn write(&mut self, address: usize) -> bool {
        let Some(number) = self.number_at(address) else { return false };
        let private = &mut self.blocks[number];
        let before = private.runs();
        if private.is_written(address) {
            return false;
        }
        if !private.write(address) {
            for private in self.blocks.iter_mut().filter(|private| private.is_free) {
                private.wipe();
            }
            self.runs = self.blocks.iter().map(Private::runs).sum();
            let private = &mut self.blocks[number];
            return private.write(address) || private.write_all();
        }
        self.runs += private.runs();
        self.runs -= before;
        true
    }
}

impl Drop for Privates {
    fn drop(&mut self) {
        PRIVATE.set((usize::MAX, 0));
        // SAFETY: programs have ended.
        unsafe { libc::munmap(self.range as *mut libc::c_void, RANGE) };
    }
}

impl Private {
    fn pages(&self) -> u32 {
        self.written.iter().map(|word| word.count_ones()).sum()
    }

    /// Runs of pages that were written, as far as they are in one word.
    fn runs(&self) -> usize {
        self.written.iter().map(|word| (word & !(word << 1)).count_ones() as usize).sum()
    }

    /// The written pages become zeros.
    fn clear(&self) {
        for page in self.written_pages(0, self.size) {
            // SAFETY: a page of our own that the program has given back, and may be written.
            unsafe { std::ptr::write_bytes((self.start + page * PAGE) as *mut u8, 0, PAGE) };
        }
    }

    /// The written pages go.
    fn wipe(&mut self) {
        self.written.fill(0);
        // Mapped anew, and not only emptied: beside what is left of a written page the kernel would map single pages.
        if map(self.start, self.size.next_multiple_of(GRANULE)).is_err() {
            // SAFETY: memory of our own that the program has given back.
            unsafe { libc::madvise(self.start as *mut libc::c_void, self.size, libc::MADV_DONTNEED) };
            protect(self.start, self.size, libc::PROT_READ);
        }
    }

    fn is_written(&self, address: usize) -> bool {
        let page = (address - self.start) / PAGE;
        self.written[page / 64] >> (page % 64) & 1 == 1
    }

    /// A page may be written from now on; false if the kernel will not have it.
    fn write(&mut self, address: usize) -> bool {
        let page = (address - self.start) / PAGE;
        // The zeros around it are mapped before, as long as they can be in one piece. Not earlier: where nothing is written or read,
        // the kernel needs no tables of pages.
        // SAFETY: memory of our own that can be read.
        unsafe { ((self.start + page * PAGE) as *const u8).read_volatile() };
        let may = protect(self.start + page * PAGE, PAGE, libc::PROT_READ | libc::PROT_WRITE);
        if may {
            self.written[page / 64] |= 1 << (page % 64);
        }
        may
    }

    /// All of it may be written from now on.
    fn write_all(&mut self) -> bool {
        self.written.fill(u64::MAX);
        let may = protect(self.start, self.size, libc::PROT_READ | libc::PROT_WRITE);
        // Whoever writes a byte here and there should not get a large page for each.
        // SAFETY: a hint for memory of our own.
        unsafe { libc::madvise(self.start as *mut libc::c_void, self.size, libc::MADV_NOHUGEPAGE) };
        may
    }

    /// Pages that were written, of those that hold these bytes.
    pub fn written_pages(&self, offset: usize, bytes: usize) -> impl Iterator<Item = usize> {
        let (first, end) = (offset / PAGE, (offset + bytes).div_ceil(PAGE));
        std::iter::successors(self.next_written(first, end), move |&page| self.next_written(page + 1, end))
    }

    /// The first page from `page` on, but before `end`, that was written.
    #[inline]
    pub fn next_written(&self, page: usize, end: usize) -> Option<usize> {
        let mut word = page / 64;
        let mut bits = self.written.get(word)? & (u64::MAX << (page % 64));
        while bits == 0 {
            word += 1;
            if word * 64 >= end {
                return None;
            }
            bits = *self.written.get(word)?;
        }
        let found = word * 64 + bits.trailing_zeros() as usize;
        (found < end).then_some(found)
    }
}

/// Zeros that can be read: at that address, whatever is there, or at one that the kernel chooses. Gives the address.
fn map(address: usize, size: usize) -> std::io::Result<usize> {
    let place = if address == 0 { 0 } else { libc::MAP_FIXED };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | place;
    // SAFETY: new memory, or memory of our own that nobody uses any more.
    let mapped = unsafe { libc::mmap(address as *mut libc::c_void, size, libc::PROT_READ, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: a hint for that memory.
    unsafe { libc::madvise(mapped, size, libc::MADV_HUGEPAGE) };
    Ok(mapped as usize)
}

/// Says what may be done with memory of ours.
fn protect(address: usize, size: usize, protection: i32) -> bool {
    // SAFETY: memory of our own.
    unsafe { libc::mprotect(address as *mut libc::c_void, size, protection) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_pages_are_found() {
        let mut private = Private { start: 0, size: 200 * PAGE, written: vec![0; 4], is_free: false };
        let written = [0, 3, 63, 64, 130, 191, 199];
        for page in written {
            private.written[page / 64] |= 1 << (page % 64);
        }
        for (first, end) in
            [(0, 200), (1, 199), (3, 4), (4, 63), (64, 65), (65, 130), (131, 192), (192, 200), (199, 256)]
        {
            let found: Vec<usize> = private.written_pages(first * PAGE + 7, (end - first) * PAGE - 7).collect();
            let expected: Vec<usize> = written.into_iter().filter(|&page| page >= first && page < end).collect();
            assert_eq!(found, expected, "from {first} to {end}");
        }
        assert_eq!(private.written_pages(0, 0).next(), None);
    }

    #[test]
    fn pages_are_kept_while_mappings_are_few() {
        let mut privates = Privates::new().expect("address space");
        privates.most_kept = 3;
        let blocks: Vec<usize> = (0..4).map(|_| privates.add(1 << 20).expect("a block")).collect();
        for &block in &blocks {
            assert!(privates.write(block + 5 * PAGE) && !privates.write(block + 5 * PAGE + 8));
            assert!(privates.write(block + 6 * PAGE), "no run of its own");
        }
        assert_eq!(privates.runs, 4);
        let pages = |privates: &Privates, block| privates.at(block).unwrap().pages();
        assert_eq!(privates.free(blocks[0]), Some(1 << 20));
        assert_eq!((privates.runs, pages(&privates, blocks[0])), (3, 0), "too many mappings: nothing is kept");
        // SAFETY: a page of ours that may be written.
        unsafe { ((blocks[1] + 5 * PAGE) as *mut u8).write(7) };
        privates.free(blocks[1]);
        assert_eq!((privates.runs, pages(&privates, blocks[1])), (3, 2));
        // SAFETY: memory of ours that may be read.
        assert_eq!(unsafe { ((blocks[1] + 5 * PAGE) as *const u8).read() }, 0);
        assert_eq!(privates.free(blocks[2] + PAGE), None, "no block begins there");
        assert!(!privates.write(blocks[3] + (1 << 20)), "behind the last");
    }

    /// Kilobytes that the kernel says of this process.
    fn kilobytes(what: &str) -> usize {
        let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(what)).unwrap_or_default();
        line.trim_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap_or(0)
    }

    #[test]
    fn what_nobody_touches_costs_nothing() {
        let mut privates = Privates::new().expect("address space");
        let before = kilobytes("VmPTE");
        let block = privates.add(64 << 30).expect("a block");
        assert!(privates.write(block + (32 << 30)));
        privates.free(block);
        privates.reuse(block);
        let more = kilobytes("VmPTE").saturating_sub(before);
        assert!(more < 16 << 10, "{more} KiB of tables of pages");
    }
}
