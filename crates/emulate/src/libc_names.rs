//! What a program asks of its surroundings by name: its node, its own file, and symbols.

use std::ffi::{CStr, CString, c_char, c_int, c_ulong, c_void};
use std::path::Path;

use crate::process::{Ending, Process};
use crate::symbols::Symbols;

thread_local! {
    /// What the program finds here in place of its libraries'; made when it is first asked for.
    static OURS: Symbols = Symbols::new();
}

/// The stand-ins, by name.
pub fn functions() -> Vec<(&'static str, *const ())> {
    vec![
        ("gethostname", gethostname as *const ()),
        ("__gethostname_chk", gethostname as *const ()),
        ("uname", uname as *const ()),
        ("readlink", readlink as *const ()),
        ("__readlink_chk", readlink as *const ()),
        ("realpath", realpath as *const ()),
        ("__realpath_chk", realpath as *const ()),
        ("getauxval", getauxval as *const ()),
        ("dlopen", dlopen as *const ()),
        ("dlsym", dlsym as *const ()),
    ]
}

/// The simulated node has the name that MPI_Get_processor_name gives.
fn node() -> String {
    let me = Process::current();
    format!("node{}", me.world.processor(me.number()).0)
}

/// Writes text and the zero into `room` characters; tells whether there was enough.
///
/// # Safety
/// There must be so many at `at`.
unsafe fn write(text: &str, at: *mut c_char, room: usize) -> bool {
    let count = text.len().min(room.saturating_sub(1));
    // SAFETY: the caller says that there is room.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), at, count);
        if room > 0 {
            *at.add(count) = 0;
        }
    }
    count == text.len()
}

unsafe extern "C" fn gethostname(name: *mut c_char, room: usize) -> c_int {
    // SAFETY: the program says how much room there is.
    if unsafe { write(&node(), name, room) } {
        return 0;
    }
    // SAFETY: errno is there in every thread.
    unsafe { *libc::__errno_location() = libc::ENAMETOOLONG };
    -1
}

unsafe extern "C" fn uname(system: *mut libc::utsname) -> c_int {
    // SAFETY: the program passes a place for it.
    unsafe {
        let code = libc::uname(system);
        if code == 0 {
            let name = &mut (*system).nodename;
            write(&node(), name.as_mut_ptr(), name.len());
        }
        code
    }
}

/// The program's file, where a path asks for that of this process.
///
/// # Safety
/// The path is a string.
pub unsafe fn own_file(path: *const c_char) -> Option<&'static CStr> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller says so; the number is there.
    let (path, number) = unsafe { (CStr::from_ptr(path).to_bytes(), libc::getpid()) };
    let is_own = path == b"/proc/self/exe" || path == format!("/proc/{number}/exe").as_bytes();
    is_own.then(|| {
        let file: *const CStr = Process::current().world.file.as_c_str();
        // SAFETY: it stays as long as the ranks.
        unsafe { &*file }
    })
}

unsafe extern "C" fn readlink(path: *const c_char, text: *mut c_char, room: usize) -> isize {
    // SAFETY: as the program calls it.
    unsafe {
        match own_file(path) {
            Some(file) => copy_link(file, text, room),
            None => libc::readlink(path, text, room),
        }
    }
}

/// What readlink(2) gives: as much as there is room for, without a zero.
///
/// # Safety
/// There is so much room.
pub unsafe fn copy_link(file: &CStr, text: *mut c_char, room: usize) -> isize {
    let length = file.to_bytes().len().min(room);
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(file.as_ptr(), text, length) };
    length as isize
}

unsafe extern "C" fn realpath(path: *const c_char, text: *mut c_char) -> *mut c_char {
    // SAFETY: as the program calls it.
    unsafe { libc::realpath(own_file(path).map_or(path, CStr::as_ptr), text) }
}

extern "C" fn getauxval(kind: c_ulong) -> c_ulong {
    if kind == libc::AT_EXECFN {
        return Process::current().world.file.as_ptr() as c_ulong;
    }
    // SAFETY: a question to the C library.
    unsafe { libc::getauxval(kind) }
}

/// The file of a program, as the kernel names it.
pub fn file_of(program: &CStr) -> CString {
    use std::ffi::OsStr;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let found = crate::processes::find(OsStr::from_bytes(program.to_bytes()));
    let whole = std::fs::canonicalize(found.unwrap_or_default());
    whole
        .ok()
        .and_then(|file| CString::new(file.into_os_string().into_vec()).ok())
        .unwrap_or_else(|| program.to_owned())
}

/// A library that is loaded while the program runs would be loaded once for all copies, with libraries of its own, the real MPI
/// among them: only a process can do that. What all copies share anyway is not meant, nor what is not there.
unsafe extern "C" fn dlopen(library: *const c_char, flags: c_int) -> *mut c_void {
    if !library.is_null() {
        // SAFETY: the program passes a string of C.
        let name = unsafe { CStr::from_ptr(library) }.to_string_lossy();
        let file = Path::new(&*name);
        let soname = file.file_name().unwrap_or_default().to_string_lossy();
        let is_there = if name.contains('/') { file.is_file() } else { hpcast_loader::find_usual(&name).is_some() };
        if is_there && !crate::launch::is_shared(&soname) {
            Process::current().end(Ending::Unsupported("dlopen".to_owned()));
        }
    }
    // SAFETY: what the program passes.
    unsafe { libc::dlopen(library, flags) }
}

/// Symbols of the program are those of this copy, and what has a stand-in is found there: memory that the C library
/// itself had given could not be freed.
unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the program passes a string of C. Opening nothing gives the handle of the program.
    let (symbol, program) = unsafe { (CStr::from_ptr(name), libc::dlopen(std::ptr::null(), libc::RTLD_LAZY)) };
    let symbol = symbol.to_string_lossy();
    let own = || Process::current().copy().instance.symbol(&symbol);
    let ours = || OURS.with(|ours| ours.get(&symbol));
    // Handles of Open MPI are addresses of variables, which the program may ask for by name instead of naming them.
    let handle_of_mpi = || Some(Process::current().world.abi().handles().cells().object(&symbol)?.0);
    let found = match handle {
        libc::RTLD_NEXT => ours(),
        handle if handle == libc::RTLD_DEFAULT || handle == program => own().or_else(ours).or_else(handle_of_mpi),
        _ => None,
    };
    // SAFETY: what the program passes.
    found.map_or_else(|| unsafe { libc::dlsym(handle, name) }, |address| address as *mut c_void)
}
