//! Programs that read and write past the C library's streams, as Fortran's library does.

use std::ffi::{c_char, c_int, c_void};

use crate::output::Stream;
use crate::process::{Ending, Process};

/// The stand-ins, by name.
pub fn functions() -> [(&'static str, *const ()); 15] {
    [
        ("dup2", dup2 as *const ()),
        ("dup3", dup3 as *const ()),
        ("close", close as *const ()),
        ("freopen", freopen as *const ()),
        ("freopen64", freopen as *const ()),
        ("fclose", fclose as *const ()),
        ("setvbuf", setvbuf as *const ()),
        ("setbuffer", setbuffer as *const ()),
        ("setbuf", setbuf as *const ()),
        ("write", write as *const ()),
        ("writev", writev as *const ()),
        ("read", read as *const ()),
        ("__read_chk", read as *const ()),
        ("fileno", fileno as *const ()),
        ("fileno_unlocked", fileno as *const ()),
    ]
}

fn stream(descriptor: c_int) -> Option<Stream> {
    match descriptor {
        libc::STDOUT_FILENO => Some(Stream::Out),
        libc::STDERR_FILENO => Some(Stream::Err),
        _ => None,
    }
}

unsafe extern "C" fn write(descriptor: c_int, text: *const c_void, length: usize) -> isize {
    let Some(stream) = stream(descriptor) else {
        // SAFETY: as the program calls it.
        return unsafe { libc::write(descriptor, text, length) };
    };
    if length == 0 {
        return 0;
    }
    let me = Process::current();
    // SAFETY: the program passes a text of that length.
    let text = unsafe { std::slice::from_raw_parts(text.cast(), length) };
    me.world.output.write_directly(me.number(), stream, text);
    length as isize
}

unsafe extern "C" fn writev(descriptor: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    if stream(descriptor).is_none() {
        // SAFETY: as the program calls it.
        return unsafe { libc::writev(descriptor, parts, count) };
    }
    // SAFETY: the program passes so many parts.
    let parts = unsafe { std::slice::from_raw_parts(parts, count.max(0) as usize) };
    // SAFETY: each of them is such a text.
    parts.iter().map(|part| unsafe { write(descriptor, part.iov_base, part.iov_len) }).sum()
}

/// Standard input is rank 0's; for others it is at its end.
unsafe extern "C" fn read(descriptor: c_int, text: *mut c_void, length: usize) -> isize {
    if descriptor == libc::STDIN_FILENO {
        let me = Process::current();
        if me.number() != 0 {
            return 0;
        }
        me.world.output.note_reading();
    }
    // SAFETY: as the program calls it.
    unsafe { libc::read(descriptor, text, length) }
}

/// The ranks' own streams have no descriptors, but programs expect the usual ones.
unsafe extern "C" fn fileno(file: *mut libc::FILE) -> c_int {
    let [out, err] = Process::current().streams.get();
    match file as usize {
        file if file == out => libc::STDOUT_FILENO,
        file if file == err => libc::STDERR_FILENO,
        // SAFETY: as the program calls it.
        _ => unsafe { libc::fileno(file) },
    }
}

/// Whether a descriptor is one of the three that all copies share, with each other and with hpcast.
fn is_shared(descriptor: c_int) -> bool {
    (libc::STDIN_FILENO..=libc::STDERR_FILENO).contains(&descriptor)
}

/// Only a process can have another file in the place of one of its first three: here it would be that of all ranks, and of the report.
fn beyond_copies(function: &str) -> ! {
    Process::current().end(Ending::Unsupported(function.to_owned()))
}

extern "C" fn dup2(descriptor: c_int, place: c_int) -> c_int {
    if is_shared(place) && descriptor != place {
        beyond_copies("dup2");
    }
    // SAFETY: as the program calls it.
    unsafe { libc::dup2(descriptor, place) }
}

extern "C" fn dup3(descriptor: c_int, place: c_int, flags: c_int) -> c_int {
    if is_shared(place) && descriptor != place {
        beyond_copies("dup3");
    }
    // SAFETY: as the program calls it.
    unsafe { libc::dup3(descriptor, place, flags) }
}

extern "C" fn close(descriptor: c_int) -> c_int {
    if is_shared(descriptor) {
        beyond_copies("close");
    }
    // SAFETY: as the program calls it.
    unsafe { libc::close(descriptor) }
}

/// Whether a stream is one of the rank's own three.
fn is_own(file: *mut libc::FILE) -> bool {
    let me = Process::current();
    me.streams.get().contains(&(file as usize)) || me.world.output.input(me.number()) == file as usize
}

unsafe extern "C" fn freopen(path: *const c_char, mode: *const c_char, file: *mut libc::FILE) -> *mut libc::FILE {
    if is_own(file) {
        beyond_copies("freopen");
    }
    // SAFETY: as the program calls it.
    unsafe { libc::freopen(path, mode, file) }
}

/// The rank's own streams stay, since there are messages of the C library to come; programs that close them want to know whether
/// everything was written.
unsafe extern "C" fn fclose(file: *mut libc::FILE) -> c_int {
    // SAFETY: as the program calls it.
    unsafe { if is_own(file) { libc::fflush(file) } else { libc::fclose(file) } }
}

/// Any rank may flush all streams, also those of ranks whose stack is elsewhere at that moment. In the place of a buffer on the stack that
/// all share the C library takes one of its own.
unsafe extern "C" fn setvbuf(file: *mut libc::FILE, buffer: *mut c_char, mode: c_int, size: usize) -> c_int {
    let is_shared = Process::current().world.sleepers.has(buffer as usize);
    // SAFETY: as the program calls it.
    unsafe { libc::setvbuf(file, if is_shared { std::ptr::null_mut() } else { buffer }, mode, size) }
}

unsafe extern "C" fn setbuffer(file: *mut libc::FILE, buffer: *mut c_char, size: usize) {
    let mode = if buffer.is_null() { libc::_IONBF } else { libc::_IOFBF };
    // SAFETY: as the program calls it.
    unsafe { setvbuf(file, buffer, mode, size) };
}

unsafe extern "C" fn setbuf(file: *mut libc::FILE, buffer: *mut c_char) {
    // SAFETY: as the program calls it.
    unsafe { setbuffer(file, buffer, libc::BUFSIZ as usize) };
}
