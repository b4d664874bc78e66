//! Memory that nobody reads costs nothing.
//!
//! Where kernels are modelled, the numbers in a program's big arrays are never computed, and mean nothing. So big allocations are not
//! given memory of their own:
//!
//! - The largest ones are *folded*: all ranks get addresses from one range, and all of that range is the same few megabytes.
//! - Those that are smaller than a quarter of the largest may hold data that the program steers by beside its numbers, as the
//!   panels of HPL do. They are *private*, and only the pages that the program itself writes are ever there.
//!
//! Messages leave out what is folded, and the pages of private allocations that were never written. Allocations below the
//! threshold are ordinary memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

const PAGE: usize = 4096;
/// Address space for folded memory, of which only what is used is mapped.
const RANGE: usize = 1 << 43;
/// The memory behind it.
const LARGEST_BLOCK: usize = 64 << 20;
const SMALLEST_BLOCK: usize = 4 << 20;
/// Shorter messages are simply copied.
const WORTH_LOOKING: usize = 64 << 10;

thread_local! {
    /// Folded addresses: from, to.
    static FOLDED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

/// Big allocations of all ranks.
struct Memory {
    threshold: usize,
    arena: Arena,
    /// Private allocations: address and size.
    private: BTreeMap<usize, usize>,
}

/// The range of folded addresses.
struct Arena {
    base: usize,
    mapped: usize,
    block: i32,
}

/// Folded allocations of one rank.
#[derive(Default)]
pub struct Share {
    /// Address and size of each, in the order of addresses.
    taken: RefCell<Vec<(usize, usize)>>,
    /// The largest so far.
    largest: Cell<usize>,
}

/// Folds allocations from that size on, from now on.
pub fn fold(threshold: usize) -> std::io::Result<()> {
    let arena = Arena::new()?;
    FOLDED.set((arena.base, arena.base + RANGE));
    MEMORY.set(Some(Memory { threshold: threshold.max(PAGE), arena, private: BTreeMap::new() }));
    Ok(())
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
        if size >= share.largest.get() / 4 {
            let address = share.place(memory.arena.base, size);
            memory.arena.map_until(address + size)?;
            share.take(address, size);
            Some(address as *mut u8)
        } else {
            let address = map_private(size)?;
            memory.private.insert(address, size);
            Some(address as *mut u8)
        }
    })
}

/// Gives memory back; false if it is not ours.
pub fn free(share: &Share, address: *mut u8) -> bool {
    if is_folded(address) {
        share.taken.borrow_mut().retain(|&(taken, _)| taken != address as usize);
        return true;
    }
    MEMORY.with_borrow_mut(|memory| {
        let Some(size) = memory.as_mut().and_then(|memory| memory.private.remove(&(address as usize))) else {
            return false;
        };
        // SAFETY: mapped by `allocate`, and the program gives it back.
        unsafe { libc::munmap(address.cast(), size) };
        true
    })
}

/// How big an allocation is that is ours.
pub fn size_of(share: &Share, address: *mut u8) -> Option<usize> {
    if is_folded(address) {
        return share.taken.borrow().iter().find(|&&(taken, _)| taken == address as usize).map(|&(_, size)| size);
    }
    MEMORY.with_borrow(|memory| memory.as_ref()?.private.get(&(address as usize)).copied())
}

/// Copies bytes of a message, but not what nobody has written.
///
/// # Safety
/// There must be so many bytes at both addresses.
#[inline]
pub unsafe fn copy(source: *const u8, target: *mut u8, bytes: usize) {
    if is_folded(source) || is_folded(target) {
        return;
    }
    if bytes < WORTH_LOOKING || FOLDED.get() == (0, 0) || !is_private(source, bytes) {
        // SAFETY: as above.
        return unsafe { target.copy_from(source, bytes) };
    }
    // SAFETY: as above.
    unsafe { copy_written(source, target, bytes) };
}

/// Whether these bytes are of one private allocation.
fn is_private(address: *const u8, bytes: usize) -> bool {
    MEMORY.with_borrow(|memory| {
        let before = memory.as_ref().and_then(|memory| memory.private.range(..=address as usize).next_back());
        before.is_some_and(|(&start, &size)| address as usize + bytes <= start + size)
    })
}

/// Copies the pages that are there.
///
/// # Safety
/// There must be so many bytes at both addresses.
unsafe fn copy_written(source: *const u8, target: *mut u8, bytes: usize) {
    let (start, end) = (source as usize, source as usize + bytes);
    let first = start / PAGE * PAGE;
    let pages = (end - first).div_ceil(PAGE);
    let mut present = vec![0u8; pages];
    // SAFETY: the range is mapped, and there is a byte for each page.
    if unsafe { libc::mincore(first as *mut libc::c_void, pages * PAGE, present.as_mut_ptr()) } != 0 {
        present.fill(1);
    }
    let mut page = 0;
    for run in present.chunk_by(|a, b| a & 1 == b & 1) {
        let from = (first + page * PAGE).max(start);
        page += run.len();
        let to = (first + page * PAGE).min(end);
        if run[0] & 1 == 1 {
            // SAFETY: within the bytes of the caller.
            unsafe { target.add(from - start).copy_from(from as *const u8, to - from) };
        }
    }
}

fn map_private(size: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new memory at an address that the kernel chooses.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    (address != libc::MAP_FAILED).then_some(address as usize)
}

impl Share {
    /// The first gap of that size.
    fn place(&self, base: usize, size: usize) -> usize {
        let mut free = base;
        for &(address, length) in self.taken.borrow().iter() {
            if address - free >= size {
                break;
            }
            free = address + length;
        }
        free
    }

    fn take(&self, address: usize, size: usize) {
        let mut taken = self.taken.borrow_mut();
        let place = taken.partition_point(|&(other, _)| other < address);
        taken.insert(place, (address, size));
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
        fold(1 << 20).expect("address space");
        let (one, other) = (Share::default(), Share::default());
        assert_eq!(allocate(&one, 1000, 16), None);
        let (a, b) = (allocate(&one, 100 << 20, 16).unwrap(), allocate(&other, 100 << 20, 16).unwrap());
        assert_eq!(a, b, "ranks share folded addresses");
        assert!(is_folded(a) && is_folded(a.wrapping_add((100 << 20) - 1)));
        let second = allocate(&one, 100 << 20, 16).unwrap();
        assert!(second >= a.wrapping_add(100 << 20));
        let panel = allocate(&one, 2 << 20, 16).unwrap();
        assert!(!is_folded(panel));
        // SAFETY: allocated above, so long.
        unsafe {
            panel.add(5000).write(7);
            let received = allocate(&other, 2 << 20, 16).unwrap();
            copy(panel, received, 2 << 20);
            assert_eq!(received.add(5000).read(), 7);
            let mut present = vec![0u8; 512];
            libc::mincore(received.cast(), 2 << 20, present.as_mut_ptr());
            assert_eq!(present.iter().filter(|&&page| page & 1 == 1).count(), 1, "only what was written is copied");
            copy(a, received, 2 << 20);
            assert_eq!(received.add(5000).read(), 7, "what is folded is not copied");
        }
        assert!(free(&one, panel) && free(&one, a) && !free(&one, panel));
        assert_eq!(allocate(&one, 50 << 20, 16), Some(a), "free addresses are used again");
    }
}
