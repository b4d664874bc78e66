//! Memory for copies: addresses for many at once, side by side, and one file in memory with the pages that they share.
//!
//! Code that cannot be written to and data that cannot be executed take two mappings an object, and the kernel limits the mappings
//! of a process. When half of them are used, further copies are one mapping each in which both is allowed.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::LoadError;
use crate::layout::Layout;
use crate::registry::{self, Catalogue};

/// Copies whose addresses are reserved together, at most.
const MANY: usize = 4096;

/// Memory for copies of one layout.
pub struct Space {
    /// Pages that all share, laid out as a copy is.
    file: fs::File,
    /// Ranges of it that are mapped into every copy.
    shared: Vec<(usize, usize)>,
    size: usize,
    align: usize,
    mappings: usize,
    /// Mappings that the kernel allows.
    limit: usize,
    catalogue: Arc<Catalogue>,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    free: Vec<usize>,
    /// Reserved at one time.
    reserved: usize,
    used: usize,
    chunks: Vec<(usize, usize)>,
}

impl Space {
    /// Space for copies of a layout, none of them mapped yet.
    pub fn new(name: &str, layout: &Layout, catalogue: Arc<Catalogue>) -> Result<Self, LoadError> {
        let size = layout.size as usize;
        let failed = |error| LoadError::Memory { bytes: size, error };
        let file = memory_file(name).map_err(failed)?;
        file.set_len(layout.size).map_err(failed)?;
        // The spare pages before an object belong to its first run, if that is shared.
        let mut shared = Vec::new();
        for place in &layout.places {
            for (number, run) in place.runs.iter().enumerate().filter(|(_, run)| !run.is_private) {
                let start = if number == 0 { place.extent.start } else { run.pages.start };
                shared.push((start as usize, (run.pages.end - start) as usize));
            }
        }
        let (align, mappings) = (layout.align as usize, layout.mappings());
        let limit = fs::read_to_string("/proc/sys/vm/max_map_count").ok().and_then(|text| text.trim().parse().ok());
        let limit = limit.unwrap_or(usize::MAX);
        Ok(Self { file, shared, size, align, mappings, limit, catalogue, slots: Mutex::default() })
    }

    /// Changes what all copies share, also those that exist.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), LoadError> {
        self.file.write_all_at(bytes, offset).map_err(|error| LoadError::Memory { bytes: bytes.len(), error })
    }

    /// What all copies share.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), LoadError> {
        self.file.read_exact_at(bytes, offset).map_err(|error| LoadError::Memory { bytes: bytes.len(), error })
    }

    /// Memory for one more copy: the shared pages, and zeros.
    pub fn take(&self) -> Result<usize, LoadError> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.free.is_empty() {
            self.reserve(&mut slots)?;
        }
        let base = slots.free.pop().expect("just reserved");
        if let Err(error) = self.map(base, (slots.used + 1) * self.mappings > self.limit / 2) {
            slots.free.push(base);
            return Err(self.failure(slots.used, error));
        }
        slots.used += 1;
        registry::set_alive(base, true);
        Ok(base)
    }

    /// Maps the shared pages of a copy, or the whole file at once.
    fn map(&self, base: usize, at_once: bool) -> io::Result<()> {
        let map = |offset: usize, len, more| {
            // SAFETY: this place is reserved for this copy and not used by anybody.
            let mapped = unsafe {
                libc::mmap(
                    (base + offset) as *mut _,
                    len,
                    libc::PROT_READ | libc::PROT_EXEC | more,
                    libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE,
                    self.file.as_raw_fd(),
                    offset as libc::off_t,
                )
            };
            if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
        };
        // Some systems forbid that.
        if at_once && map(0, self.size, libc::PROT_WRITE).is_ok() {
            return Ok(());
        }
        self.shared.iter().try_for_each(|&(offset, len)| map(offset, len, 0))
    }

    /// Beginning of the copy that an address belongs to.
    pub fn copy_at(&self, address: usize) -> Option<usize> {
        let base = registry::copy_at(address)?;
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.chunks.iter().any(|&(start, len)| (start..start + len).contains(&base)).then_some(base)
    }

    /// Takes a copy's memory back.
    ///
    /// # Safety
    /// `base` came from [`Space::take`], and nothing of that copy is used any more.
    pub unsafe fn give(&self, base: usize) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        registry::set_alive(base, false);
        slots.used -= 1;
        // SAFETY: nobody uses it, as the caller promises.
        if unsafe { anonymous(base, self.size, libc::MAP_FIXED) }.is_ok() {
            slots.free.push(base);
        }
    }

    /// Reserves addresses: as many as before, so that there are few reservations, but not more than are likely to be used.
    fn reserve(&self, slots: &mut Slots) -> Result<(), LoadError> {
        let mut count = if self.catalogue.is_shared { 1 } else { slots.reserved.clamp(4, MANY) };
        loop {
            let len = self.size.checked_mul(count).and_then(|len| len.checked_add(self.align));
            let found = match len {
                // SAFETY: a new mapping at a place that the kernel chooses.
                Some(len) => unsafe { anonymous(0, len, 0) }.map(|start| (start, len)),
                None => Err(io::ErrorKind::OutOfMemory.into()),
            };
            match found {
                Ok((start, len)) => {
                    let first = start.next_multiple_of(self.align);
                    slots.chunks.push((start, len));
                    slots.reserved += count;
                    slots.free.extend((0..count).rev().map(|number| first + number * self.size));
                    registry::add(first, self.size, count, self.catalogue.clone());
                    return Ok(());
                }
                Err(_) if count > 1 => count /= 2,
                Err(error) => return Err(self.failure(slots.used, error)),
            }
        }
    }

    /// Tells too many mappings from too little memory.
    fn failure(&self, copy: usize, error: io::Error) -> LoadError {
        let used = fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count());
        match self.limit {
            limit if used + self.mappings + 2 >= limit => {
                LoadError::TooManyMappings { copy, each: self.mappings, limit }
            }
            _ => LoadError::Memory { bytes: self.size, error },
        }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let slots = self.slots.get_mut().unwrap_or_else(PoisonError::into_inner);
        for &(start, len) in &slots.chunks {
            registry::remove(start, start + len);
            // SAFETY: reserved by `reserve`; copies keep the space alive, so there are none any more.
            unsafe { libc::munmap(start as *mut _, len) };
        }
    }
}

/// Zeros to be written to, of which only those that are used take memory.
///
/// # Safety
/// With `MAP_FIXED`, nobody uses what is there.
unsafe fn anonymous(place: usize, len: usize, flags: libc::c_int) -> io::Result<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | flags;
    // SAFETY: as the caller promises.
    let start = unsafe { libc::mmap(place as *mut _, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(start as usize) }
}

/// A file that is only in memory, and may be executed.
fn memory_file(name: &str) -> io::Result<fs::File> {
    const MFD_EXEC: libc::c_uint = 0x10;
    let name = CString::new(name).unwrap_or_default();
    // Kernels before 6.3 do not know the flag, and need none.
    for flags in [libc::MFD_CLOEXEC | MFD_EXEC, libc::MFD_CLOEXEC] {
        // SAFETY: the name is a C string.
        let file = unsafe { libc::memfd_create(name.as_ptr(), flags) };
        if file >= 0 {
            // SAFETY: just opened, and nobody else has it.
            return Ok(unsafe { OwnedFd::from_raw_fd(file) }.into());
        }
    }
    Err(io::Error::last_os_error())
}
