//! Stacks for the fibers: address space that costs nothing until it is touched.

use std::num::NonZeroUsize;

use corosensei::stack::StackPointer;

/// Linux 6.13: a guard that costs no mapping of its own.
const MADV_GUARD_INSTALL: i32 = 102;

const PAGE: usize = 4096;

/// Bytes below each stack that nobody may touch: also functions with large arrays should end here, and not on another's stack.
const GUARD: usize = 64 * PAGE;

/// Stacks at distances of many pages would have their entries in the tables of pages at the same few places, too, and share the lines
/// of the caches for these: so many pages more let the places change by a line and a bit.
const BETWEEN: usize = 9 * PAGE;

/// Tops of stacks that lie at equal distances would share the same few lines of the processor's caches.
const STAGGER: usize = 128;
const STAGGERED: usize = 16;

/// The stacks of a run, side by side.
pub struct Stacks {
    address: usize,
    size: usize,
    count: usize,
}

/// There is no address space for the stacks.
#[derive(Debug, thiserror::Error)]
#[error("no address space for {count} stacks of {size} bytes: {error}; ask for smaller ones with --stack")]
pub struct NoStacks {
    count: usize,
    size: usize,
    error: std::io::Error,
}

impl Stacks {
    /// So many stacks of that many bytes.
    pub fn new(count: usize, size: usize) -> Result<Stacks, NoStacks> {
        let size = size.next_multiple_of(PAGE).max(4 * PAGE) + GUARD + BETWEEN;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: new memory at an address that the kernel chooses.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), count * size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(NoStacks { count, size, error: std::io::Error::last_os_error() });
        }
        let stacks = Stacks { address: address as usize, size, count };
        for number in 0..count {
            stacks.guard(number);
        }
        Ok(stacks)
    }

    /// Makes the lowest pages of a stack ones that nobody may touch.
    fn guard(&self, number: usize) {
        let page = (self.address + number * self.size) as *mut libc::c_void;
        // SAFETY: the pages are ours, and nobody has them yet. Where the kernel knows no such guards, they are protected, at the
        // price of mappings; where there are too many of those, stacks go without.
        unsafe {
            if libc::madvise(page, GUARD, MADV_GUARD_INSTALL) != 0 {
                libc::mprotect(page, GUARD, libc::PROT_NONE);
            }
        }
    }

    /// The stack with that number. Two fibers may have the same, if one of them at a time is on it.
    pub fn stack(&self, number: usize) -> Stack {
        assert!(number < self.count, "there are {} stacks", self.count);
        let limit = self.address + number * self.size;
        Stack { bounds: Bounds { limit, base: limit + self.size - number % STAGGERED * STAGGER } }
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // SAFETY: the memory is ours; fibers are dropped before their stacks.
        unsafe { libc::munmap(self.address as *mut libc::c_void, self.count * self.size) };
    }
}

/// From where to where a stack goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The top, where it begins.
    pub base: usize,
    /// The lowest address, which belongs to the guard.
    pub limit: usize,
}

impl Bounds {
    /// Whether an address is of it.
    #[inline]
    pub fn holds(&self, address: usize) -> bool {
        address.wrapping_sub(self.limit) < self.base - self.limit
    }

    /// The lowest address that somebody may have written to since there is this stack.
    pub fn lowest_touched(&self) -> usize {
        let lowest = self.lowest();
        let mut pages = vec![0u8; (self.base - lowest).div_ceil(PAGE)];
        // SAFETY: a byte for each page of the stack, which is mapped.
        let is_known =
            unsafe { libc::mincore(lowest as *mut libc::c_void, self.base - lowest, pages.as_mut_ptr()) } == 0;
        let untouched = if is_known { pages.iter().take_while(|&page| page & 1 == 0).count() } else { 0 };
        lowest + untouched * PAGE
    }

    /// Whether an address lies in the guard at its end.
    pub fn overflowed(&self, address: usize) -> bool {
        address.wrapping_sub(self.limit) < GUARD
    }

    /// The lowest address that may be used.
    pub fn lowest(&self) -> usize {
        self.limit + GUARD
    }

    /// The middle of it.
    pub fn middle(&self) -> usize {
        self.lowest() + (self.base - self.lowest()) / 2
    }
}

/// The stack pointer.
#[inline(always)]
pub fn pointer() -> usize {
    let pointer: usize;
    // SAFETY: a register is read.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// A stack of the slab.
pub struct Stack {
    /// From where to where it goes.
    pub bounds: Bounds,
}

// SAFETY: base and limit enclose memory that can be read and written, is used by nobody else, and has a guard at the limit;
// both are multiples of 16.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        NonZeroUsize::new(self.bounds.base).expect("memory is never at address zero")
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.bounds.limit).expect("memory is never at address zero")
    }
}
