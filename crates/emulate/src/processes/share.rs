//! Makes the memory of this process one that the processes of the ranks see too, at the same addresses.
//!
//! What the program allocates from now on is shared (`../heap.rs`). What it has so far (variables, thread-local data, the C library's
//! heap) is copied to shared memory, which then takes its place. Only the stack stays as it is.

use std::fs;
use std::io;

use crate::heap;

/// Room that the C library's heap gets beforehand, for what it allocates by itself: later it could not grow.
const SLACK: i32 = 16 << 20;

const PAGE: usize = 4096;

/// Private memory that can be written.
pub(crate) struct Region {
    pub begin: usize,
    pub end: usize,
}

/// All memory but the stack is shared with processes that are forked from now on.
pub fn memory() -> io::Result<()> {
    // SAFETY: the C library may be told how to allocate.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, i32::MAX);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        libc::mallopt(libc::M_TOP_PAD, SLACK);
        libc::free(libc::malloc(SLACK as usize / 2));
    }
    heap::share()?;
    let maps = fs::read_to_string("/proc/self/maps")?;
    let regions: Vec<Region> = maps.lines().filter_map(private).collect();
    for region in &regions {
        replace(region)?;
    }
    Ok(())
}

/// A line of the kernel's list, if it is private memory that can be written, and not a stack.
fn private(line: &str) -> Option<Region> {
    let mut words = line.split_ascii_whitespace();
    let (range, rights) = (words.next()?, words.next()?);
    let (begin, end) = range.split_once('-')?;
    let is_stack = words.last().is_some_and(|name| name.starts_with("[stack"));
    let region = Region { begin: usize::from_str_radix(begin, 16).ok()?, end: usize::from_str_radix(end, 16).ok()? };
    (rights == "rw-p" && !is_stack).then_some(region)
}

/// Puts shared memory with the same content in the place of a region. Nothing here may change anything in the region meanwhile, so
/// it allocates nothing.
pub(crate) fn replace(region: &Region) -> io::Result<()> {
    let size = region.end - region.begin;
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new memory, as long as the region, takes its place with the same content.
    unsafe {
        let copy = libc::mmap(std::ptr::null_mut(), size, rights, flags, -1, 0);
        if copy == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        for offset in (0..size).step_by(PAGE) {
            let page = std::slice::from_raw_parts((region.begin + offset) as *const u64, PAGE / 8);
            if page.iter().any(|&word| word != 0) {
                copy.byte_add(offset).cast::<u64>().copy_from_nonoverlapping(page.as_ptr(), PAGE / 8);
            }
        }
        let moved = libc::mremap(
            copy,
            size,
            size,
            libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
            region.begin as *mut libc::c_void,
        );
        if moved == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_memory_is_replaced() {
        let found = |line| private(line).map(|region| (region.begin, region.end));
        assert_eq!(found("7f00-7f10 rw-p 00000000 00:00 0"), Some((0x7f00, 0x7f10)));
        assert_eq!(found("7f00-7f10 rw-p 00000000 00:00 0                          [heap]"), Some((0x7f00, 0x7f10)));
        assert_eq!(found("7f00-7f10 rw-p 00000000 00:00 0                          [stack]"), None);
        assert_eq!(found("7f00-7f10 rw-s 00000000 00:00 0"), None);
        assert_eq!(found("7f00-7f10 r-xp 00000000 08:01 77 /usr/lib/libc.so.6"), None);
    }
}
