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
//! Which allocations these are is said by their size, by the functions that ask for them, or by need (`folding.rs`).
//! Messages leave out what is folded, and the pages of private allocations that were never written. Allocations below the
//! threshold are ordinary memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::folding::{Folding, Kind};

pub const PAGE: usize = 4096;
/// Address space for folded memory, of which only what is used is mapped.
const RANGE: usize = 1 << 43;
/// The memory behind it.
const LARGEST_BLOCK: usize = 64 << 20;
const SMALLEST_BLOCK: usize = 4 << 20;

thread_local! {
    /// Folded addresses: from, to.
    static FOLDED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Where private allocations are: from, to.
    static PRIVATE: Cell<(usize, usize)> = const { Cell::new((usize::MAX, 0)) };
    static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

/// Big allocations of all ranks.
struct Memory {
    folding: Folding,
    arena: Arena,
    /// Private allocations by address, also those that are free.
    private: BTreeMap<usize, Private>,
}

/// A private allocation.
struct Private {
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
pub fn fold(folding: Folding) -> std::io::Result<()> {
    let arena = Arena::new()?;
    FOLDED.set((arena.base, arena.base + RANGE));
    MEMORY.set(Some(Memory { folding, arena, private: BTreeMap::new() }));
    Ok(())
}

/// Memory is no longer folded. All that was given is gone. Says whether anything was folded for lack of memory.
pub fn unfold() -> bool {
    let memory = MEMORY.take();
    memory.is_some_and(|memory| memory.folding.limit.is_some() && memory.arena.mapped > 0)
}

/// Whether an address is folded.
#[inline]
pub fn is_folded(address: *const u8) -> bool {
    let (from, to) = FOLDED.get();
    (address as usize).wrapping_sub(from) < to - from
}

/// Memory for a rank; none if it is ordinary. `site` says what was said about those who ask for it.
pub fn allocate(
    share: &Share,
    size: usize,
    alignment: usize,
    site: impl FnOnce(&[(String, bool)]) -> Option<bool>,
) -> Option<*mut u8> {
    MEMORY.with_borrow_mut(|memory| {
        let memory = memory.as_mut()?;
        let is_folded = match memory.folding.kind(size, alignment, site) {
            Kind::Ordinary => return None,
            Kind::Folded => true,
            Kind::BySize => {
                share.largest.set(share.largest.get().max(size));
                size >= share.largest.get() / 4
            }
        };
        let size = size.next_multiple_of(PAGE);
        let address = if is_folded {
            let address = share.place(memory.arena.base, size);
            memory.arena.map_until(address + size)?;
            share.fold(address, size);
            address
        } else if let Some(address) = share.reuse(size) {
            address
        } else {
            let address = map_private(size)?;
            let (from, to) = PRIVATE.get();
            PRIVATE.set((from.min(address), to.max(address + size)));
            memory.private.insert(address, Private { size, written: vec![0; size.div_ceil(64 * PAGE)] });
            address
        };
        Some(address as *mut u8)
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
        let private = memory.as_mut()?.private.get_mut(&(address as usize))?;
        private.clear(address as usize);
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
    MEMORY.with_borrow(|memory| Some(memory.as_ref()?.private.get(&(address as usize))?.size))
}

/// A page that must not be written was: if it is one of ours, it may be from now on.
pub fn written(address: usize) -> bool {
    MEMORY.with_borrow_mut(|memory| {
        let Some((start, private)) = memory.as_mut().and_then(|memory| memory.private_at(address)) else {
            return false;
        };
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
                let found = memory.as_mut().and_then(|memory| memory.private_at(address as usize));
                let Some((start, private)) = found else { return false };
                let offset = address as usize - start;
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
        let (start, private) = memory.as_mut()?.private_at(source as usize)?;
        let offset = source as usize - start;
        let inside = bytes.min(private.size - offset);
        Some((start, private.written_pages(offset, inside).collect::<Vec<usize>>(), inside))
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
            memory.as_mut().is_some_and(|memory| memory.private_at(address as usize).is_some())
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

fn map_private(size: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new memory at an address that the kernel chooses.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ, flags, -1, 0) };
    (address != libc::MAP_FAILED).then_some(address as usize)
}

impl Memory {
    /// The private allocation that an address is in, and where it begins.
    fn private_at(&mut self, address: usize) -> Option<(usize, &mut Private)> {
        let (&start, private) = self.private.range_mut(..=address).next_back()?;
        (address < start + private.size).then_some((start, private))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for (&address, private) in &self.private {
            // SAFETY: programs have ended.
            unsafe { libc::munmap(address as *mut libc::c_void, private.size) };
        }
    }
}

impl Private {
    /// Nothing is written any more: the pages go, and all of it is one mapping again.
    fn clear(&mut self, address: usize) {
        if self.written.iter().all(|&word| word == 0) {
            return;
        }
        self.written.fill(0);
        // SAFETY: memory of our own that the program has given back.
        unsafe { libc::madvise(address as *mut libc::c_void, self.size, libc::MADV_DONTNEED) };
        protect(address, self.size, libc::PROT_READ);
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
        fold(Folding::from(1 << 20)).expect("address space");
        let allocate = |share: &Share, size: usize, alignment: usize| allocate(share, size, alignment, |_| None);
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
            MEMORY.with_borrow(|memory| {
                let private = &memory.as_ref().unwrap().private[&(address as usize)];
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
}
