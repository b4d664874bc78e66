//! Where the text of the program goes: each rank has its own stdout and stderr, which give whole lines.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};
use std::io::Write;

use crate::process::Process;

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
    static mut stderr: *mut libc::FILE;
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: CookieFunctions) -> *mut libc::FILE;
}

/// What glibc's fopencookie calls (its manual page).
#[repr(C)]
struct CookieFunctions {
    read: *const c_void,
    write: unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize,
    seek: *const c_void,
    close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

/// One of the two streams of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Text that a rank has written and that is no whole line yet.
pub struct Written {
    rank: u32,
    stream: Stream,
    prefix: bool,
    rest: Vec<u8>,
    /// Whether some of it was printed.
    is_printed: bool,
}

/// All text of a run.
#[derive(Default)]
pub struct Output {
    /// Lines begin with the rank.
    pub prefix: bool,
    streams: RefCell<Vec<*mut Written>>,
    /// Whose streams are in place.
    current: Cell<Option<u32>>,
}

impl Output {
    /// Lines begin with the rank if asked.
    pub fn new(prefix: bool) -> Output {
        Output { prefix, ..Output::default() }
    }

    /// Makes the streams of a rank.
    pub fn open(&self, rank: u32) -> [usize; 2] {
        [Stream::Out, Stream::Err].map(|stream| {
            let written = Box::into_raw(Box::new(Written::new(rank, stream, self.prefix)));
            self.streams.borrow_mut().push(written);
            let functions = CookieFunctions { read: std::ptr::null(), write, seek: std::ptr::null(), close: None };
            // SAFETY: the cookie lives as long as the output, which lives as long as the program.
            unsafe {
                let file = fopencookie(written.cast(), c"w".as_ptr(), functions);
                if stream == Stream::Err && !file.is_null() {
                    libc::setvbuf(file, std::ptr::null_mut(), libc::_IONBF, 0);
                }
                file as usize
            }
        })
    }

    /// The streams of this rank are those of the C library from now on.
    #[inline]
    pub fn switch_to(&self, process: &Process) {
        if self.current.replace(Some(process.number())) == Some(process.number()) {
            return;
        }
        let [out, err] = process.streams.get();
        if out != 0 {
            // SAFETY: one thread runs all ranks, and nobody else here uses the C library's streams.
            unsafe {
                stdout = out as *mut libc::FILE;
                stderr = err as *mut libc::FILE;
            }
        }
    }

    /// Whether nobody has seen anything yet.
    pub fn is_silent(&self) -> bool {
        // SAFETY: made by `open`, and nobody writes now.
        self.streams.borrow().iter().all(|&written| unsafe { !(*written).is_printed })
    }

    /// Writes what is left, without the end of its line.
    pub fn finish(&self) {
        for &written in self.streams.borrow().iter() {
            // SAFETY: made by `open`, and nobody writes any more.
            unsafe { (*written).finish() };
        }
        let _ = std::io::stdout().flush();
    }
}

impl Written {
    /// Nothing yet.
    pub fn new(rank: u32, stream: Stream, prefix: bool) -> Written {
        Written { rank, stream, prefix, rest: Vec::new(), is_printed: false }
    }

    /// The rank has written more: whole lines are printed.
    pub fn add(&mut self, text: &[u8]) {
        self.rest.extend_from_slice(text);
        if let Some(end) = self.rest.iter().rposition(|&byte| byte == b'\n') {
            let rest = self.rest.split_off(end + 1);
            let lines = std::mem::replace(&mut self.rest, rest);
            self.print(&lines);
        }
    }

    /// Prints what is left, without the end of its line.
    pub fn finish(&mut self) {
        if !self.rest.is_empty() {
            let rest = std::mem::take(&mut self.rest);
            self.print(&rest);
        }
    }

    fn print(&mut self, text: &[u8]) {
        self.is_printed = true;
        let mut line = Vec::new();
        let text = if self.prefix {
            for piece in text.split_inclusive(|&byte| byte == b'\n') {
                let _ = write!(line, "[{}] ", self.rank);
                line.extend_from_slice(piece);
            }
            &line
        } else {
            text
        };
        // Somebody who has closed the pipe does not want to know.
        let _ = match self.stream {
            Stream::Out => std::io::stdout().write_all(text),
            Stream::Err => std::io::stderr().write_all(text),
        };
    }
}

/// The C library calls this with what a rank has written.
unsafe extern "C" fn write(cookie: *mut c_void, text: *const c_char, length: usize) -> isize {
    // SAFETY: the cookie is that of `open`, and the text is so long.
    let (written, text) =
        unsafe { (&mut *cookie.cast::<Written>(), std::slice::from_raw_parts(text.cast::<u8>(), length)) };
    written.add(text);
    length as isize
}
