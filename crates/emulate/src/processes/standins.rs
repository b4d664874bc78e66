//! Functions in place of the C library's in the process of a rank: clocks tell virtual time, and a rank that executes another
//! program stays a rank.

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::elf::{self, Elf};
use super::start::{self, Libraries, Start, StartError};
use super::{deadlines, gate, threads};
use crate::libc_functions;
use crate::libc_names::{copy_link, own_file};
use crate::process::Process;

/// Functions that tell time or let it pass.
const CLOCKS: [&str; 9] = [
    "clock_gettime",
    "timespec_get",
    "gettimeofday",
    "time",
    "clock",
    "sleep",
    "usleep",
    "nanosleep",
    "clock_nanosleep",
];

/// Names and addresses.
pub fn functions() -> Vec<(&'static str, usize)> {
    let clocks = libc_functions::functions().into_iter().filter(|(name, _)| CLOCKS.contains(name));
    let mut all: Vec<(&str, usize)> = clocks.map(|(name, address)| (name, address as usize)).collect();
    all.extend([
        ("dlopen", library_to_open as *const () as usize),
        ("pthread_create", threads::started as *const () as usize),
        ("readlink", readlink as *const () as usize),
        ("__readlink_chk", readlink as *const () as usize),
        ("execv", execv as *const () as usize),
        ("execve", execve as *const () as usize),
        ("execvp", execvp as *const () as usize),
        ("execvpe", execvpe as *const () as usize),
    ]);
    all.extend(deadlines::names().map(|name| (name, deadlines::real as *const () as usize)));
    all
}

thread_local! {
    /// What a rank needs to execute another program.
    static BASIS: RefCell<Basis> = RefCell::default();
}

/// What was there before the program.
#[derive(Default)]
struct Basis {
    libraries: Libraries,
    /// Memory that is ours.
    memory: Vec<(usize, usize)>,
    /// Open files that are ours.
    files: Vec<c_int>,
}

/// Notes what is there before programs begin.
pub fn note(libraries: &Libraries) -> io::Result<()> {
    let basis = Basis { libraries: libraries.clone(), memory: memory()?, files: files()? };
    BASIS.with_borrow_mut(|noted| *noted = basis);
    Ok(())
}

/// Ranges of memory, but for the stack and the kernel's own.
fn memory() -> io::Result<Vec<(usize, usize)>> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let range = |line: &str| {
        let (begin, end) = line.split_once(' ')?.0.split_once('-')?;
        let is_kernels = ["[stack", "[vvar", "[vdso", "[vsyscall"].iter().any(|name| line.contains(name));
        let number = |text| usize::from_str_radix(text, 16).ok();
        if is_kernels { None } else { Some((number(begin)?, number(end)?)) }
    };
    Ok(maps.lines().filter_map(range).collect())
}

/// Numbers of open files.
fn files() -> io::Result<Vec<c_int>> {
    let entries = fs::read_dir("/proc/self/fd")?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// In a process that a rank has forked.
pub extern "C" fn forbidden() -> ! {
    let message = b"a process that a rank has forked called MPI, which only the rank may\n";
    // SAFETY: the kernel's own functions.
    unsafe {
        libc::write(2, message.as_ptr().cast(), message.len());
        libc::_exit(1)
    }
}

/// Where nothing is to be done.
pub extern "C" fn nothing() {}

/// What the dynamic linker finds for us in the program and its C library.
pub const FOUND: [&str; 8] = ["__errno_location", "environ", "dlmopen", "dlsym", "stdout", "setvbuf", "malloc", "free"];

/// The library of these functions has been loaded: finds those of the C library.
pub unsafe extern "C" fn loaded(table: &[usize; FOUND.len()]) {
    const NOW_IF_LOADED: usize = (libc::RTLD_NOW | libc::RTLD_NOLOAD) as usize;
    let [errno, environ, dlmopen, dlsym, stdout, setvbuf, malloc, free] = *table;
    if let Some(here) = gate::here() {
        (here.malloc, here.free) = (malloc, free);
        (here.errno, here.environ, here.first) = (errno, environ, gate::thread());
    }
    // SAFETY: functions of the program's C library, called as it declares them; the page has room for their addresses.
    unsafe {
        // Finds what libdl.so.2 has, and what the C library has, which that needs.
        let library = gate::call_program(dlmopen, &[0, c"libdl.so.2".as_ptr() as usize, NOW_IF_LOADED]);
        for (number, (name, _)) in functions().into_iter().enumerate() {
            let name = CString::new(name).unwrap_or_default();
            let address = gate::call_program(dlsym, &[library, name.as_ptr() as usize]);
            *(gate::kept(number) as *mut usize) = address;
        }
    }
    // Lines are passed on as they come, although they go into a pipe.
    // SAFETY: as above; the C library's variable holds a stream.
    unsafe { gate::call_program(setvbuf, &[*(stdout as *const usize), 0, libc::_IOLBF as usize, 0]) };
    // What it takes to load a program is not the program's.
    Process::current().meter.resume();
}

/// The library that is opened where the program asks for one: ours in place of an MPI library, wherever that is.
unsafe extern "C" fn library_to_open(path: *const c_char) -> *const c_char {
    if path.is_null() {
        return path;
    }
    // SAFETY: the program passes a string.
    let name = OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes());
    let file = std::path::Path::new(name);
    if !file.file_name().is_some_and(|name| name.as_bytes().starts_with(b"libmpi")) {
        return path;
    }
    let file = if file.is_absolute() { Some(file.into()) } else { hpcast_loader::find_usual(&file.to_string_lossy()) };
    let soname = file.and_then(|file| Elf::read(&file).ok()??.soname());
    soname.and_then(|soname| super::names::ours(&soname)).map_or(path, |ours| ours.as_ptr())
}

/// The program exits.
pub extern "C" fn leaving() {
    let me = Process::current();
    let outer = me.begin_call("exit");
    me.end_call(outer);
}

/// The program's own place of `errno` gets a number.
fn fail(number: c_int) -> c_int {
    if let Some(errno) = gate::here().map(|here| here.errno).filter(|&errno| errno != 0) {
        // SAFETY: the program's own function, which gives an address.
        unsafe { *(gate::call_program(errno, &[]) as *mut c_int) = number };
    }
    -1
}

unsafe extern "C" fn readlink(path: *const c_char, text: *mut c_char, room: usize) -> isize {
    // SAFETY: as the program calls it.
    let length = unsafe {
        match own_file(path) {
            Some(file) => copy_link(file, text, room),
            None => libc::readlink(path, text, room),
        }
    };
    if length < 0 {
        fail(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL));
    }
    length
}

unsafe extern "C" fn execv(path: *const c_char, words: *const *const c_char) -> c_int {
    // SAFETY: as the program calls it.
    unsafe { execute("execv", path, words, None) }
}

unsafe extern "C" fn execve(
    path: *const c_char,
    words: *const *const c_char,
    variables: *const *const c_char,
) -> c_int {
    // SAFETY: as the program calls it.
    unsafe { execute("execve", path, words, Some(variables)) }
}

unsafe extern "C" fn execvp(path: *const c_char, words: *const *const c_char) -> c_int {
    // SAFETY: as the program calls it.
    unsafe { execute("execvp", path, words, None) }
}

unsafe extern "C" fn execvpe(
    path: *const c_char,
    words: *const *const c_char,
    variables: *const *const c_char,
) -> c_int {
    // SAFETY: as the program calls it.
    unsafe { execute("execvpe", path, words, Some(variables)) }
}

/// Executes another program in the process of the rank, or the C library's function in a process that shares its memory (vfork).
///
/// # Safety
/// The words and variables must be lists of strings, as for execve.
unsafe fn execute(
    name: &str,
    path: *const c_char,
    words: *const *const c_char,
    variables: Option<*const *const c_char>,
) -> c_int {
    // SAFETY: gives a number.
    if gate::here().is_none_or(|here| here.pid != unsafe { libc::getpid() }) {
        let number = functions().iter().position(|(known, _)| *known == name).unwrap_or_default();
        let arguments = [path as usize, words as usize, variables.unwrap_or(std::ptr::null()) as usize];
        // SAFETY: the C library's function.
        return unsafe { gate::call_and_leave(*(gate::kept(number) as *const usize), &arguments) as c_int };
    }
    // SAFETY: as the caller says.
    let (path, words, variables) = unsafe {
        let environ = || gate::here().map_or(std::ptr::null(), |here| *(here.environ as *const *const *const c_char));
        (CStr::from_ptr(path).to_owned(), strings(words), strings(variables.unwrap_or_else(environ)))
    };
    let file = if name.ends_with('e') && name != "execvpe" || name == "execv" {
        Some(OsStr::from_bytes(path.to_bytes()).into())
    } else {
        elf::find(OsStr::from_bytes(path.to_bytes()))
    };
    let Some(file) = file.filter(|file: &std::path::PathBuf| file.exists()) else { return fail(libc::ENOENT) };
    if !elf::is_executable(&file) {
        return fail(libc::EACCES);
    }
    let libraries = BASIS.with_borrow(|basis| basis.libraries.clone());
    match Start::new(&file, words, variables, &libraries) {
        Ok(start) => become_program(&start),
        Err(StartError::Unreadable(_, error)) => fail(error.raw_os_error().unwrap_or(libc::EIO)),
        Err(_) => fail(libc::ENOEXEC),
    }
}

/// A list of strings that ends with null.
///
/// # Safety
/// It must be one.
unsafe fn strings(list: *const *const c_char) -> Vec<CString> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: as the caller says.
    let at = |place: usize| unsafe { (*list.add(place)).as_ref().map(|text| CStr::from_ptr(text).to_owned()) };
    (0..).map_while(at).collect()
}

/// The process forgets the program, and becomes another.
fn become_program(start: &Start) -> ! {
    BASIS.with_borrow(|basis| {
        for file in files().unwrap_or_default() {
            // SAFETY: files that the program has opened, and that it says are to be closed.
            unsafe {
                if !basis.files.contains(&file) && libc::fcntl(file, libc::F_GETFD) & libc::FD_CLOEXEC > 0 {
                    libc::close(file);
                }
            }
        }
        for (begin, end) in without(&memory().unwrap_or_default(), &basis.memory) {
            // SAFETY: memory of the program, which is not needed any more; we are on the first stack.
            unsafe { libc::munmap(begin as *mut c_void, end - begin) };
        }
    });
    gate::leave_all();
    let stack = gate::here().map_or(0, |here| here.stack);
    // SAFETY: nothing on the stack is needed.
    let error = unsafe { start::enter(start, stack) };
    let message = format!("cannot start the program: {error:?}\n");
    // SAFETY: there is no program to go back to.
    unsafe {
        libc::write(2, message.as_ptr().cast(), message.len());
        libc::_exit(127)
    }
}

/// Ranges without those of another list.
fn without(ranges: &[(usize, usize)], others: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut left = Vec::new();
    for &(first, end) in ranges {
        let mut begin = first;
        for &(from, to) in others.iter().filter(|(from, to)| *from < end && *to > first) {
            if begin < from {
                left.push((begin, from));
            }
            begin = begin.max(to);
        }
        if begin < end {
            left.push((begin, end));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_stays() {
        let ours = [(10, 20), (30, 40)];
        assert_eq!(without(&[(0, 50)], &ours), [(0, 10), (20, 30), (40, 50)]);
        assert_eq!(without(&[(10, 20), (20, 25), (35, 38)], &ours), [(20, 25)]);
        assert!(without(&[(12, 15)], &ours).is_empty());
    }
}
