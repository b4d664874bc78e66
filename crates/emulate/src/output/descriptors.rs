//! Programs that read and write past the C library's streams, as Fortran's library does.

use std::ffi::{c_int, c_void};

use crate::output::Stream;
use crate::process::Process;

/// The stand-ins, by name.
pub fn functions() -> [(&'static str, *const ()); 5] {
    [
        ("write", write as *const ()),
        ("writev", writev as *const ()),
        ("read", read as *const ()),
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
