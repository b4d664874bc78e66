//! The process that the copies live in: its libraries and their symbols.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;

/// Libraries of this process. They stay for good: copies have their addresses.
#[derive(Default)]
pub struct Host {
    handles: Vec<*mut c_void>,
}

impl Host {
    /// Makes a library available; says what the dynamic linker says if that fails.
    pub fn open(&mut self, library: &str) -> Result<(), String> {
        let name = CString::new(library).map_err(|_| "its name has a zero byte".to_string())?;
        // SAFETY: the name is a C string. Initialisers of the library run, as they do in any program that uses it.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() {
            // SAFETY: after a failure there is a text, valid until the next call.
            let error = unsafe { libc::dlerror() };
            // SAFETY: checked to be there.
            let text = (!error.is_null()).then(|| unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned());
            return Err(text.unwrap_or_else(|| "for an unknown reason".into()));
        }
        self.handles.push(handle);
        Ok(())
    }

    /// Address of a symbol, in the version that is asked for if there is one.
    pub fn symbol(&self, name: &str, version: Option<&str>) -> Option<usize> {
        let name = CString::new(name).ok()?;
        let scopes = || self.handles.iter().copied().chain([libc::RTLD_DEFAULT]);
        let mut found = ptr::null_mut();
        if let Some(version) = version.and_then(|version| CString::new(version).ok()) {
            // SAFETY: handles are open, names are C strings.
            let find = |scope| unsafe { dlvsym(scope, name.as_ptr(), version.as_ptr()) };
            found = scopes().map(find).find(|found| !found.is_null()).unwrap_or(found);
        }
        if found.is_null() {
            // SAFETY: as above.
            let find = |scope| unsafe { libc::dlsym(scope, name.as_ptr()) };
            found = scopes().map(find).find(|found| !found.is_null()).unwrap_or(found);
        }
        (!found.is_null()).then_some(found as usize)
    }
}

/// Size of the object at an address of a library of the process; 0 if it is not known.
pub fn size_at(address: usize) -> usize {
    const RTLD_DL_SYMENT: libc::c_int = 1;
    // SAFETY: plain numbers and pointers, for which zeros are values.
    let mut information: libc::Dl_info = unsafe { std::mem::zeroed() };
    let mut symbol: *const libc::Elf64_Sym = ptr::null();
    let place = (&raw mut symbol).cast::<*mut c_void>();
    // SAFETY: any address may be asked for, and both results are places that can be written to.
    let found = unsafe { dladdr1(address as *const c_void, &mut information, place, RTLD_DL_SYMENT) };
    if found == 0 || symbol.is_null() {
        return 0;
    }
    // SAFETY: an entry of the library's table of symbols, which stays as long as the library.
    unsafe { (*symbol).st_size as usize }
}

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        information: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: libc::c_int,
    ) -> libc::c_int;
    fn dlvsym(handle: *mut c_void, symbol: *const libc::c_char, version: *const libc::c_char) -> *mut c_void;
}

/// The thread pointer of this thread: thread-local data at fixed places lies below it.
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: the first word behind the thread pointer holds the pointer itself (System V ABI, x86-64 supplement).
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags)) };
    pointer
}

/// A file, mapped to be read.
pub struct Mapped {
    start: *mut c_void,
    len: usize,
}

// SAFETY: the memory is only read.
unsafe impl Send for Mapped {}
// SAFETY: the memory is only read.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps a whole file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let len = usize::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if len == 0 {
            return Ok(Self { start: ptr::null_mut(), len });
        }
        // SAFETY: a new mapping at a place that the kernel chooses.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { start, len })
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: mapped until `self` is dropped. A file that is overwritten meanwhile would change it; what is read from it has
        // its bounds checked each time, and linkers write new files.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.len) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: mapped by `open`, and nobody has a reference any more.
            unsafe { libc::munmap(self.start, self.len) };
        }
    }
}
