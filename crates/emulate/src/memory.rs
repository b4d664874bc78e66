//! Memory that nobody reads costs nothing.
//!
//! Where kernels are modelled, the numbers in a program's big arrays are never computed, and mean nothing. So big allocations are not
//! given memory of their own:
//!
//! - The largest ones are *folded*: all ranks get addresses from one range, and all of that range is the same few megabytes.
//! - Those that are smaller than a quarter of the largest may hold data that the program steers by beside its numbers, as the
//!   panels of HPL do. They are *private*: protected from writing at first, so that we know which pages the program itself writes.
//!   Only these are ever there.
//!
//! A program may also say itself what is to be folded (`extensions.rs`); then no size decides, and all others are private.
//!
//! Messages leave out what is folded, and the pages of private allocations that were never written. Allocations below the
//! threshold are ordinary memory.

use std::cell::{Cell, RefCell};

const PAGE: usize = 4096;
/// Address space for folded memory, of which only what is used is mapped.
const RANGE: usize = 1 << 43;
/// The memory behind it.
const LARGEST_BLOCK: usize = 64 << 20;
const SMALLEST_BLOCK: usize = 4 << 20;
/// Address space for private allocations.
const PRIVATE_RANGE: usize = 1 << 42;
/// Private allocations begin at multiples of this.
const GRANULE: usize = 2 << 20;
/// A private allocation that was given back keeps so many pages for the next: to fetch and protect them anew takes longer than
/// to clear them.
const KEPT: usize = 8;

thread_local! {
    /// Folded addresses: from, to.
    static FOLDED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Where private allocations are: from, to.
    static PRIVATE: Cell<(usize, usize)> = const { Cell::new((usize::MAX, 0)) };
    static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

/// What is done with big allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Those from that size on: the largest are folded.
    Largest(usize),
    /// Those from that size on are private; folded is what the program asks to be.
    Asked(usize),
}

/// Big allocations of all ranks.
struct Memory {
    threshold: usize,
    /// Whether those are folded that are large beside others.
    folds_largest: bool,
    arena: Arena,
    private: Privates,
}

/// Private allocations, also those that are free.
struct Privates {
    base: usize,
    blocks: Vec<Private>,
    /// Number of the block that a granule of addresses belongs to.
    by_granule: Vec<u32>,
}

/// A private allocation.
struct Private {
    start: usize,
    size: usize,
    /// Pages that were written, a bit each.
    written: Vec<u64>,
}

/// The range of folded addresses.
struct Arena {
    base: usize,
    mapped: usize,
    block: i32,
}

/// Big allocations of one rank.
#[derive(Default)]
pub struct Share {
    /// Folded ones: address and size, in the order of addresses.
    folded: RefCell<Vec<(usize, usize)>>,
    /// The largest so far.
    largest: Cell<usize>,
    /// Private ones that were given back, for the next of about that size.
    free: RefCell<Vec<(usize, usize)>>,
}

/// Folds allocations from now on.
pub fn fold(what: Fold) -> std::io::Result<()> {
    let (threshold, folds_largest) = match what {
        Fold::Largest(threshold) => (threshold, true),
        Fold::Asked(threshold) => (threshold, false),
    };
    let (arena, private) = (Arena::new()?, Privates::new()?);
    FOLDED.set((arena.base, arena.base + RANGE));
    MEMORY.set(Some(Memory { threshold: threshold.max(PAGE), folds_largest, arena, private }));
    Ok(())
}

/// Memory is no longer folded. All that was given is gone.
pub fn unfold() {
    MEMORY.set(None);
}

/// Whether an address is folded.
#[inline]
pub fn is_folded(address: *const u8) -> bool {
    let (from, to) = FOLDED.get();
    (address as usize).wrapping_sub(from) < to - from
}

/// Memory for a rank; none if it is not big, or big allocations are not treated apart.
pub fn allocate(share: &Share, size: usize, alignment: usize) -> Option<*mut u8> {
    MEMORY.with_borrow_mut(|memory| {
        let memory = memory.as_mut().filter(|memory| size >= memory.threshold && alignment <= PAGE)?;
        share.largest.set(share.largest.get().max(size));
        let size = size.next_multiple_of(PAGE);
        let address = if memory.folds_largest && size >= share.largest.get() / 4 {
            memory.arena.give(share, size)?
        } else if let Some(address) = share.reuse(size) {
            address
        } else {
            memory.private.add(size)?
        };
        Some(address as *mut u8)
    })
}

/// Memory that is folded whatever its size; none if nothing is folded.
pub fn allocate_folded(share: &Share, size: usize) -> Option<*mut u8> {
    MEMORY.with_borrow_mut(|memory| {
        let size = size.max(1).next_multiple_of(PAGE);
        Some(memory.as_mut()?.arena.give(share, size)? as *mut u8)
    })
}

/// Gives memory back; false if it is not ours.
pub fn free(share: &Share, address: *mut u8) -> bool {
    if FOLDED.get() == (0, 0) {
        return false;
    }
    if is_folded(address) {
        share.folded.borrow_mut().retain(|&(taken, _)| taken != address as usize);
        return true;
    }
    let size = MEMORY.with_borrow_mut(|memory| {
        let private = memory.as_mut()?.private.at(address as usize)?;
        if private.start != address as usize {
            return None;
        }
        private.clear();
        Some(private.size)
    });
    let Some(size) = size else { return false };
    share.free.borrow_mut().push((address as usize, size));
    true
}

/// How big an allocation is that is ours.
pub fn size_of(share: &Share, address: *mut u8) -> Option<usize> {
    if is_folded(address) {
        return share.folded.borrow().iter().find(|&&(taken, _)| taken == address as usize).map(|&(_, size)| size);
    }
    MEMORY.with_borrow_mut(|memory| {
        let private = memory.as_mut()?.private.at(address as usize)?;
        (private.start == address as usize).then_some(private.size)
    })
}

/// A page that must not be written was: if it is one of ours, it may be from now on.
pub fn written(address: usize) -> bool {
    MEMORY.with_borrow_mut(|memory| {
        let Some(private) = memory.as_mut().and_then(|memory| memory.private.at(address)) else {
            return false;
        };
        let start = private.start;
        let page = (address - start) / PAGE;
        let (word, bit) = (page / 64, 1 << (page % 64));
        if private.written[word] & bit != 0 {
            return false;
        }
        private.written[word] |= bit;
        if protect(start + page * PAGE, PAGE, libc::PROT_READ | libc::PROT_WRITE) {
            return true;
        }
        // There are too many mappings: then the whole allocation may be written, and nobody knows what was.
        private.written.fill(u64::MAX);
        protect(start, private.size, libc::PROT_READ | libc::PROT_WRITE)
    })
}

/// Says what may be done with memory of ours.
fn protect(address: usize, size: usize, protection: i32) -> bool {
    // SAFETY: memory of our own.
    unsafe { libc::mprotect(address as *mut libc::c_void, size, protection) == 0 }
}

/// Whether nobody has written these bytes: they are folded, or of private pages that were never touched.
#[inline]
pub fn is_blank(address: *const u8, bytes: usize) -> bool {
    if FOLDED.get() == (0, 0) {
        return false;
    }
    is_folded(address)
        || may_be_private(address as usize)
            && MEMORY.with_borrow_mut(|memory| {
                let found = memory.as_mut().and_then(|memory| memory.private.at(address as usize));
                let Some(private) = found else { return false };
                let offset = address as usize - private.start;
                offset + bytes <= private.size && private.written_pages(offset, bytes).next().is_none()
            })
}

/// Copies bytes of a message, but not what nobody has written.
///
/// # Safety
/// There must be so many bytes at both addresses.
#[inline]
pub unsafe fn copy(source: *const u8, target: *mut u8, bytes: usize) {
    if FOLDED.get() == (0, 0) {
        // SAFETY: as above.
        return unsafe { target.copy_from(source, bytes) };
    }
    if is_folded(source) || is_folded(target) {
        return;
    }
    if !may_be_private(source as usize) {
        // SAFETY: as above.
        return unsafe { write(source, target, bytes) };
    }
    let pages = MEMORY.with_borrow_mut(|memory| {
        let private = memory.as_mut()?.private.at(source as usize)?;
        let offset = source as usize - private.start;
        let inside = bytes.min(private.size - offset);
        Some((private.start, private.written_pages(offset, inside).collect::<Vec<usize>>(), inside))
    });
    let Some((start, pages, inside)) = pages else {
        // SAFETY: as above.
        return unsafe { write(source, target, bytes) };
    };
    let (first, end) = (source as usize, source as usize + inside);
    for page in pages {
        let from = (start + page * PAGE).max(first);
        let to = (start + (page + 1) * PAGE).min(end);
        // SAFETY: within the bytes of the caller.
        unsafe { write(from as *const u8, target.add(from - first), to - from) };
    }
    // SAFETY: what lies behind the allocation is not ours to judge.
    unsafe { write(source.add(inside), target.add(inside), bytes - inside) };
}

/// Writes bytes of a message. Where there are only zeros, pages that were never written stay so: they are zeros already.
///
/// # Safety
/// There must be so many bytes at both addresses.
pub unsafe fn write(source: *const u8, target: *mut u8, bytes: usize) {
    if is_folded(target) {
        return;
    }
    if !is_private(target) {
        // SAFETY: as above.
        return unsafe { target.copy_from(source, bytes) };
    }
    let mut done = 0;
    while done < bytes {
        let length = (PAGE - (target as usize + done) % PAGE).min(bytes - done);
        // SAFETY: within the bytes of the caller; a page that must not be written yet becomes one that may by `written`.
        unsafe {
            let (from, to) = (source.add(done), target.add(done));
            if !(is_blank(to, 1) && is_zero(std::slice::from_raw_parts(from, length))) {
                to.copy_from(from, length);
            }
        }
        done += length;
    }
}

/// Whether an address is of a private allocation.
fn is_private(address: *const u8) -> bool {
    may_be_private(address as usize)
        && MEMORY.with_borrow_mut(|memory| {
            memory.as_mut().is_some_and(|memory| memory.private.at(address as usize).is_some())
        })
}

fn is_zero(data: &[u8]) -> bool {
    // SAFETY: any bits are words.
    let (before, words, after) = unsafe { data.align_to::<u64>() };
    before.iter().chain(after).all(|&byte| byte == 0) && words.iter().all(|&word| word == 0)
}

/// Whether it is worth looking for an address among private allocations.
#[inline]
fn may_be_private(address: usize) -> bool {
    let (from, to) = PRIVATE.get();
    address >= from && address < to
}

impl Privates {
    /// Address space for them, all of it zeros that can be read.
    fn new() -> std::io::Result<Privates> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: new memory at an address that the kernel chooses.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), PRIVATE_RANGE, libc::PROT_READ, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Privates { base: base as usize, blocks: Vec::new(), by_granule: Vec::new() })
    }

    /// A new one; gives its address.
    fn add(&mut self, size: usize) -> Option<usize> {
        let start = self.base + self.by_granule.len() * GRANULE;
        let granules = self.by_granule.len() + size.div_ceil(GRANULE);
        if granules * GRANULE > PRIVATE_RANGE {
            return None;
        }
        self.by_granule.resize(granules, self.blocks.len() as u32);
        self.blocks.push(Private { start, size, written: vec![0; size.div_ceil(64 * PAGE)] });
        PRIVATE.set((self.base, start + size));
        Some(start)
    }

    /// The one that an address is in.
    #[inline]
    fn at(&mut self, address: usize) -> Option<&mut Private> {
        let number = *self.by_granule.get(address.wrapping_sub(self.base) / GRANULE)?;
        let private = &mut self.blocks[number as usize];
        (address < private.start + private.size).then_some(private)
    }
}

impl Drop for Privates {
    fn drop(&mut self) {
        PRIVATE.set((usize::MAX, 0));
        // SAFETY: programs have ended.
        unsafe { libc::munmap(self.base as *mut libc::c_void, PRIVATE_RANGE) };
    }
}

impl Private {
    /// All of it is zeros again. A few pages stay; if there are more, they go, and all of it is one mapping again.
    fn clear(&mut self) {
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

    /// Pages that were written, of those that hold these bytes.
    fn written_pages(&self, offset: usize, bytes: usize) -> impl Iterator<Item = usize> {
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

impl Share {
    /// The first gap of that size.
    fn place(&self, base: usize, size: usize) -> usize {
        let mut free = base;
        for &(address, length) in self.folded.borrow().iter() {
            if address - free >= size {
                break;
            }
            free = address + length;
        }
        free
    }

    fn fold(&self, address: usize, size: usize) {
        let mut folded = self.folded.borrow_mut();
        let place = folded.partition_point(|&(other, _)| other < address);
        folded.insert(place, (address, size));
    }

    /// The smallest that was given back and is large enough, but not much too large.
    fn reuse(&self, size: usize) -> Option<usize> {
        let mut free = self.free.borrow_mut();
        let fits = |&(_, &(_, length)): &(usize, &(usize, usize))| length >= size && length <= 2 * size;
        let (place, _) = free.iter().enumerate().filter(fits).min_by_key(|&(_, &(_, length))| length)?;
        Some(free.swap_remove(place).0)
    }
}

impl Arena {
    fn new() -> std::io::Result<Arena> {
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

    /// Folded memory for a rank.
    fn give(&mut self, share: &Share, size: usize) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_folded_and_smaller_ones_private() {
        crate::signals::install();
        fold(Fold::Largest(1 << 20)).expect("address space");
        let (one, other) = (Share::default(), Share::default());
        assert_eq!(allocate(&one, 1000, 16), None);
        let (a, b) = (allocate(&one, 100 << 20, 16).unwrap(), allocate(&other, 100 << 20, 16).unwrap());
        assert_eq!(a, b, "ranks share folded addresses");
        assert!(is_folded(a) && is_folded(a.wrapping_add((100 << 20) - 1)));
        let second = allocate(&one, 100 << 20, 16).unwrap();
        assert!(second >= a.wrapping_add(100 << 20));
        let panel = allocate(&one, 2 << 20, 16).unwrap();
        assert!(!is_folded(panel) && is_blank(panel, 2 << 20));
        let pages = |address: *mut u8| {
            MEMORY.with_borrow_mut(|memory| {
                let private = memory.as_mut().unwrap().private.at(address as usize).unwrap();
                private.written_pages(0, private.size).collect::<Vec<_>>()
            })
        };
        // SAFETY: allocated above, so long.
        unsafe {
            panel.add(5000).write(7);
            assert_eq!(panel.add(100_000).read(), 0);
            assert_eq!(pages(panel), [1]);
            assert!(!is_blank(panel, 2 << 20) && is_blank(panel.add(8192), 4096));
            let received = allocate(&other, 2 << 20, 16).unwrap();
            copy(panel, received, 2 << 20);
            assert_eq!(received.add(5000).read(), 7);
            assert_eq!(pages(received), [1], "only what was written is copied");
            copy(a, received, 2 << 20);
            assert_eq!(received.add(5000).read(), 7, "what is folded is not copied");
        }
        assert!(free(&one, panel) && free(&one, a));
        assert_eq!(allocate(&one, 50 << 20, 16), Some(a), "free addresses are used again");
        assert_eq!(allocate(&one, 1 << 20, 16), Some(panel), "and free pages");
        unfold();
    }

    #[test]
    fn only_what_is_asked_for_is_folded() {
        fold(Fold::Asked(1 << 20)).expect("address space");
        let share = Share::default();
        let matrix = allocate_folded(&share, 1000).unwrap();
        let panel = allocate(&share, 100 << 20, 16).unwrap();
        assert!(is_folded(matrix) && !is_folded(panel));
        assert!(free(&share, matrix) && free(&share, panel));
        unfold();
        assert_eq!(allocate_folded(&share, 1000), None);
    }
}
