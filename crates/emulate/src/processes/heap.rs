//! The memory of this program, once ranks are processes: one range of addresses that all of them see.
//!
//! Until then memory comes from the C library. What was allocated there and is freed later is left alone: it is little, and the C
//! library of one process must not give away what others use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The allocator of programs that run ranks as processes.
pub struct SharedHeap;

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

/// Memory is shared from now on.
pub fn begin() -> io::Result<()> {
    if IS_ON.load(Ordering::Relaxed) {
        return Ok(());
    }
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    for gibibytes in RANGES {
        let size = gibibytes << 30;
        // SAFETY: new memory at an address that the kernel chooses.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if address != libc::MAP_FAILED {
            BEGIN.store(address as usize, Ordering::Relaxed);
            END.store(address as usize + size, Ordering::Relaxed);
            with_blocks(|blocks| blocks.next = address as usize);
            IS_ON.store(true, Ordering::Release);
            return Ok(());
        }
    }
    Err(io::Error::last_os_error())
}

/// Whether this program has this allocator, and it is on.
pub fn is_in_use() -> bool {
    let probe = Box::new(0u64);
    contains(&raw const *probe as usize)
}

/// Whether all processes see that address.
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
    if layout.align() > SMALLEST {
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
            // SAFETY: whole pages of a block that nobody uses.
            unsafe { libc::madvise(begin as *mut c_void, end - begin, libc::MADV_REMOVE) };
        }
        // SAFETY: the block is ours, and has room for an address.
        unsafe { *block.cast::<usize>() = self.free[class] };
        self.free[class] = block as usize;
    }
}

// SAFETY: blocks are of the class of their layout, so large enough and aligned, and each is given to one at a time.
unsafe impl GlobalAlloc for SharedHeap {
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
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !IS_ON.load(Ordering::Relaxed) {
            // SAFETY: as the caller says.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: the block is that large.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
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
            for size in [1, 48, 5000] {
                let (_, block) = class(Layout::from_size_align(size, align).unwrap());
                assert!(block >= size && block.is_multiple_of(align));
            }
        }
    }
}
