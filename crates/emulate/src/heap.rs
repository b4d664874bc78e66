//! The memory of this program, once it runs another: one range of addresses apart from what the C library gives to that program. A program
//! that writes beyond its own blocks damages its own, and not ours. Its pages are large where the kernel has such: with thousands of
//! ranks, finding the pages takes as long as the work.
//!
//! Where ranks are processes, all of them see that range.
//!
//! Until then memory comes from the C library. Where ranks are processes, what was allocated there and is freed later is left alone: it is
//! little, and the C library of one process must not give away what others use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::processes::share::{Region, replace};

/// The allocator of programs that run others.
pub struct OwnHeap;

/// Sizes are powers of two in four steps each.
const STEPS: usize = 4;
const CLASSES: usize = 64 * STEPS;
const SMALLEST: usize = 16;
/// Blocks from here on give their memory back when they are freed.
const LARGE: usize = 1 << 20;
const PAGE: usize = 4096;
/// Addresses to ask for, in GiB: as many as there are.
const RANGES: [usize; 4] = [512, 64, 16, 4];

static IS_ON: AtomicBool = AtomicBool::new(false);
static IS_SHARED: AtomicBool = AtomicBool::new(false);
static LOCKED: AtomicBool = AtomicBool::new(false);
static BEGIN: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
static STATE: State = State(UnsafeCell::new(Blocks { next: 0, free: [0; CLASSES] }));

struct State(UnsafeCell<Blocks>);

// SAFETY: only whoever has the lock uses it.
unsafe impl Sync for State {}

struct Blocks {
    /// Where nobody has been yet.
    next: usize,
    /// First of the free blocks of each class; each holds the address of the next.
    free: [usize; CLASSES],
}

/// Memory comes from a range of its own from now on, if there is one.
pub fn begin() {
    if !IS_ON.load(Ordering::Relaxed) && reserve(libc::MAP_PRIVATE).is_ok() {
        // SAFETY: a hint for memory of our own.
        unsafe { libc::madvise(BEGIN.load(Ordering::Relaxed) as *mut c_void, size(), libc::MADV_HUGEPAGE) };
        IS_ON.store(true, Ordering::Release);
    }
}

/// Memory is shared from now on, also what was allocated in the range before.
pub fn share() -> io::Result<()> {
    if IS_SHARED.load(Ordering::Relaxed) {
        return Ok(());
    }
    if IS_ON.load(Ordering::Relaxed) {
        with_blocks(|blocks| {
            let begin = BEGIN.load(Ordering::Relaxed);
            let used = (blocks.next - begin).next_multiple_of(PAGE);
            replace(&Region { begin, end: begin + used })?;
            let (rest, length) = ((begin + used) as *mut c_void, size() - used);
            // SAFETY: the part of our own range that nobody uses yet.
            let mapped = unsafe { libc::mmap(rest, length, RIGHTS, SHARED | libc::MAP_FIXED, -1, 0) };
            if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
        })?;
    } else {
        reserve(libc::MAP_SHARED)?;
    }
    IS_SHARED.store(true, Ordering::Release);
    IS_ON.store(true, Ordering::Release);
    Ok(())
}

const RIGHTS: i32 = libc::PROT_READ | libc::PROT_WRITE;
const SHARED: i32 = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Takes a range of addresses.
fn reserve(kind: i32) -> io::Result<()> {
    let flags = kind | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    for gibibytes in RANGES {
        let size = gibibytes << 30;
        // SAFETY: new memory at an address that the kernel chooses.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), size, RIGHTS, flags, -1, 0) };
        if address != libc::MAP_FAILED {
            BEGIN.store(address as usize, Ordering::Relaxed);
            END.store(address as usize + size, Ordering::Relaxed);
            with_blocks(|blocks| blocks.next = address as usize);
            return Ok(());
        }
    }
    Err(io::Error::last_os_error())
}

fn size() -> usize {
    END.load(Ordering::Relaxed) - BEGIN.load(Ordering::Relaxed)
}

/// Whether this program has this allocator, and it is on.
pub fn is_in_use() -> bool {
    let probe = Box::new(0u64);
    contains(&raw const *probe as usize)
}

/// Whether an address is of that range.
pub fn contains(address: usize) -> bool {
    (BEGIN.load(Ordering::Relaxed)..END.load(Ordering::Relaxed)).contains(&address)
}

fn with_blocks<T>(act: impl FnOnce(&mut Blocks) -> T) -> T {
    while LOCKED.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: the lock is ours.
    let result = act(unsafe { &mut *STATE.0.get() });
    LOCKED.store(false, Ordering::Release);
    result
}

/// Whoever had the lock is no more.
pub fn unlock() {
    LOCKED.store(false, Ordering::Release);
}

/// Class and size of the blocks for a layout. Blocks are aligned to the largest power of two in their size, up to a page.
fn class(layout: Layout) -> (usize, usize) {
    let wanted = layout.size().max(SMALLEST);
    // Sizes from four times the alignment on are multiples of it.
    if layout.align() > SMALLEST && wanted < STEPS * layout.align() {
        let size = wanted.max(layout.align()).next_power_of_two();
        return (size.trailing_zeros() as usize * STEPS, size);
    }
    let power = wanted.ilog2() as usize;
    let step = ((1usize << power) / STEPS).max(SMALLEST);
    let size = wanted.next_multiple_of(step);
    let power = size.ilog2() as usize;
    (power * STEPS + (size - (1 << power)) * STEPS / (1 << power), size)
}

impl Blocks {
    fn take(&mut self, layout: Layout) -> *mut u8 {
        let (class, size) = class(layout);
        let block = self.free[class];
        if block != 0 {
            // SAFETY: a free block holds the address of the next.
            self.free[class] = unsafe { *(block as *const usize) };
            return block as *mut u8;
        }
        let alignment = (1 << size.trailing_zeros()).min(PAGE);
        let begin = self.next.next_multiple_of(alignment);
        if layout.align() > PAGE || size > END.load(Ordering::Relaxed).saturating_sub(begin) {
            return std::ptr::null_mut();
        }
        self.next = begin + size;
        begin as *mut u8
    }

    fn give(&mut self, block: *mut u8, layout: Layout) {
        let (class, size) = class(layout);
        if size >= LARGE {
            let begin = (block as usize).next_multiple_of(PAGE);
            let end = (block as usize + size) / PAGE * PAGE;
            let advice = if IS_SHARED.load(Ordering::Relaxed) { libc::MADV_REMOVE } else { libc::MADV_DONTNEED };
            // SAFETY: whole pages of a block that nobody uses.
            unsafe { libc::madvise(begin as *mut c_void, end - begin, advice) };
        }
        // SAFETY: the block is ours, and has room for an address.
        unsafe { *block.cast::<usize>() = self.free[class] };
        self.free[class] = block as usize;
    }
}

// SAFETY: blocks are of the class of their layout, so large enough and aligned, and each is given to one at a time.
unsafe impl GlobalAlloc for OwnHeap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_ON.load(Ordering::Relaxed) {
            return with_blocks(|blocks| blocks.take(layout));
        }
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !IS_ON.load(Ordering::Relaxed) {
            // SAFETY: it was allocated there.
            return unsafe { System.dealloc(block, layout) };
        }
        if contains(block as usize) {
            with_blocks(|blocks| blocks.give(block, layout));
        } else if !IS_SHARED.load(Ordering::Relaxed) {
            // SAFETY: it was allocated there.
            unsafe { System.dealloc(block, layout) };
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !IS_ON.load(Ordering::Relaxed) {
            // SAFETY: as the caller says.
            return unsafe { System.alloc_zeroed(layout) };
        }
        let (block, is_new) = with_blocks(|blocks| {
            let before = blocks.next;
            (blocks.take(layout), blocks.next > before)
        });
        // What nobody has had yet is zeros, and is not touched: there may be much of it.
        if !block.is_null() && !is_new {
            // SAFETY: the block is that large.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !IS_ON.load(Ordering::Relaxed) {
            // SAFETY: as the caller says.
            return unsafe { System.realloc(block, layout, size) };
        }
        // SAFETY: as the caller says; both blocks hold the smaller of the sizes.
        unsafe {
            let new = Layout::from_size_align_unchecked(size, layout.align());
            if contains(block as usize) && class(new) == class(layout) {
                return block;
            }
            let moved = self.alloc(new);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_large_enough_and_not_much_larger() {
        let mut last = (0, 0);
        for size in 1..100_000 {
            let (class, block) = class(Layout::from_size_align(size, 8).unwrap());
            assert!(block >= size && block <= (size + 16).max(size + size / 4), "{size}: {block}");
            assert!(class < CLASSES && block.is_multiple_of(16));
            // Another size is another class.
            assert_eq!(class == last.0, block == last.1, "{size}");
            last = (class, block);
        }
    }

    #[test]
    fn blocks_are_aligned_as_asked() {
        for align in [32, 64, 4096] {
            for size in [1, 48, 300, 1000, 5000, 20_000] {
                let (_, block) = class(Layout::from_size_align(size, align).unwrap());
                assert!(block >= size && block.is_multiple_of(align));
            }
        }
    }
}
