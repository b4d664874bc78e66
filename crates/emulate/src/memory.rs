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
//! Which allocations these are is said by their size, by the functions that ask for them, by need, or by the program itself ([`Folding`],
//! `extensions.rs`).
//!
//! Messages leave out what is folded, and the pages of private allocations that were never written. Allocations below the
//! threshold are ordinary memory.

mod arena;
mod folding;
mod private;

use std::cell::{Cell, RefCell};

use arena::Arena;
pub use folding::Folding;
use folding::Kind;
use private::Privates;

const PAGE: usize = 4096;

thread_local! {
    /// Folded addresses: from, to.
    static FOLDED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Where private allocations are: from, to.
    static PRIVATE: Cell<(usize, usize)> = const { Cell::new((usize::MAX, 0)) };
    static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

/// Big allocations of all ranks.
struct Memory {
    choice: folding::Choice,
    arena: Arena,
    private: Privates,
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
    let (arena, private) = (Arena::new()?, Privates::new()?);
    FOLDED.set(arena.addresses());
    MEMORY.set(Some(Memory { choice: folding.into(), arena, private }));
    Ok(())
}

/// Memory is no longer folded. All that was given is gone. Says whether anything was folded for lack of memory.
pub fn unfold() -> bool {
    let memory = MEMORY.take();
    memory.is_some_and(|memory| memory.choice.is_by_need() && memory.arena.is_used())
}

/// Whether any memory may be folded or private.
#[inline]
pub fn is_folding() -> bool {
    FOLDED.get() != (0, 0)
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
        let is_folded = match memory.choice.kind(size, alignment, site) {
            Kind::Ordinary => return None,
            Kind::Folded => true,
            Kind::BySize => {
                share.largest.set(share.largest.get().max(size));
                memory.choice.folds_largest() && size >= share.largest.get() / 4
            }
        };
        let size = size.next_multiple_of(PAGE);
        let address = if is_folded {
            memory.arena.give(share, size)?
        } else if let Some(address) = share.reuse(size) {
            memory.private.reuse(address);
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
    if !is_folding() {
        return false;
    }
    if is_folded(address) {
        share.folded.borrow_mut().retain(|&(taken, _)| taken != address as usize);
        return true;
    }
    let size = MEMORY.with_borrow_mut(|memory| memory.as_mut()?.private.free(address as usize));
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
    MEMORY.with_borrow_mut(|memory| memory.as_mut().is_some_and(|memory| memory.private.write(address)))
}

/// Whether nobody has written these bytes: they are folded, or of private pages that were never touched.
#[inline]
pub fn is_blank(address: *const u8, bytes: usize) -> bool {
    if !is_folding() {
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
    if !is_folding() {
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
    let Some((start, inside)) = private_part(source as usize, bytes) else {
        // SAFETY: as above.
        return unsafe { write(source, target, bytes) };
    };
    let (first, end) = (source as usize, source as usize + inside);
    let mut place = first;
    while let Some(page) = next_written(place, end) {
        let from = (start + page * PAGE).max(first);
        let to = (start + (page + 1) * PAGE).min(end);
        // SAFETY: within the bytes of the caller.
        unsafe { write(from as *const u8, target.add(from - first), to - from) };
        place = to;
    }
    // SAFETY: what lies behind the allocation is not ours to judge.
    unsafe { write(source.add(inside), target.add(inside), bytes - inside) };
}

/// Adds bytes of a message to others. What nobody has written is not looked at: it is zeros.
///
/// # Safety
/// There must be so many bytes at the address.
#[inline]
pub unsafe fn append(source: *const u8, bytes: usize, data: &mut Vec<u8>) {
    let first = source as usize;
    if !may_be_private(first) || private_part(first, bytes).is_none_or(|(_, inside)| inside < bytes) {
        // SAFETY: as above.
        return data.extend_from_slice(unsafe { std::slice::from_raw_parts(source, bytes) });
    }
    let before = data.len();
    data.resize(before + bytes, 0);
    // SAFETY: there is room for so many now, and what lies at the source is as long.
    unsafe { copy(source, data.as_mut_ptr().add(before), bytes) };
}

/// Where the private allocation of an address begins, and how many of the bytes from there on are in it.
fn private_part(address: usize, bytes: usize) -> Option<(usize, usize)> {
    MEMORY.with_borrow(|memory| {
        let private = memory.as_ref()?.private.at(address)?;
        Some((private.start, bytes.min(private.start + private.size - address)))
    })
}

/// The first written page of a private allocation that has bytes from one address on, but before another.
fn next_written(from: usize, to: usize) -> Option<usize> {
    MEMORY.with_borrow(|memory| {
        let private = memory.as_ref()?.private.at(from).filter(|_| from < to)?;
        private.next_written((from - private.start) / PAGE, (to - private.start).div_ceil(PAGE))
    })
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
    // In groups, within which nothing waits for a decision.
    before.iter().chain(after).all(|&byte| byte == 0)
        && words.chunks(32).all(|group| group.iter().fold(0, |any, word| any | word) == 0)
}

/// Whether it is worth looking for an address among private allocations.
#[inline]
fn may_be_private(address: usize) -> bool {
    let (from, to) = PRIVATE.get();
    address >= from && address < to
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

    /// The smallest that was given back and is large enough, but not far too large. Allocations that shrink, as HPL's panels do, would
    /// leave pages and mappings behind at each halving if they did not take larger ones.
    fn reuse(&self, size: usize) -> Option<usize> {
        const TOO_LARGE: usize = 16;
        let mut free = self.free.borrow_mut();
        let fits = |&(_, &(_, length)): &(usize, &(usize, usize))| length >= size && length / TOO_LARGE <= size;
        let (place, _) = free.iter().enumerate().filter(fits).min_by_key(|&(_, &(_, length))| length)?;
        Some(free.swap_remove(place).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(share: &Share, size: usize) -> Option<*mut u8> {
        allocate(share, size, 16, |_| None)
    }

    #[test]
    fn the_largest_are_folded_and_smaller_ones_private() {
        crate::signals::install();
        fold(Folding { threshold: Some(1 << 20), largest: true, ..Folding::default() }).expect("address space");
        let (one, other) = (Share::default(), Share::default());
        assert_eq!(given(&one, 1000), None);
        let (a, b) = (given(&one, 100 << 20).unwrap(), given(&other, 100 << 20).unwrap());
        assert_eq!(a, b, "ranks share folded addresses");
        assert!(is_folded(a) && is_folded(a.wrapping_add((100 << 20) - 1)));
        let second = given(&one, 100 << 20).unwrap();
        assert!(second >= a.wrapping_add(100 << 20));
        let panel = given(&one, 2 << 20).unwrap();
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
            let received = given(&other, 2 << 20).unwrap();
            copy(panel, received, 2 << 20);
            assert_eq!(received.add(5000).read(), 7);
            assert_eq!(pages(received), [1], "only what was written is copied");
            let mut packed = vec![9];
            append(panel.add(4990), 2 << 12, &mut packed);
            assert_eq!((packed.len(), packed[0], packed[11]), (1 + (2 << 12), 9, 7));
            assert!(packed[12..].iter().all(|&byte| byte == 0), "and packed");
            append(panel.add((2 << 20) - 2), 2, &mut packed);
            assert_eq!(packed.len(), 3 + (2 << 12));
            copy(a, received, 2 << 20);
            assert_eq!(received.add(5000).read(), 7, "what is folded is not copied");
        }
        assert!(free(&one, panel) && free(&one, a));
        assert_eq!(given(&one, 50 << 20), Some(a), "free addresses are used again");
        assert_eq!(given(&one, 1 << 20), Some(panel), "and free pages");
        unfold();
    }

    #[test]
    fn only_what_is_asked_for_is_folded() {
        fold(Folding { threshold: Some(1 << 20), ..Folding::default() }).expect("address space");
        let share = Share::default();
        let matrix = allocate_folded(&share, 1000).unwrap();
        let panel = given(&share, 100 << 20).unwrap();
        assert!(is_folded(matrix) && !is_folded(panel));
        assert!(free(&share, matrix) && free(&share, panel));
        unfold();
        assert_eq!(allocate_folded(&share, 1000), None);
    }
}
