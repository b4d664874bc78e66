//! Where the text of the program goes, and where it comes from: each rank has its own standard streams.
//!
//! Ranks run ahead of the simulation, so that the order in which they write is not that of time. Whole lines are kept with
//! the time at which they were written, and given on when the simulation has come there: then nobody can write earlier ones.

mod descriptors;

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::{c_char, c_int, c_void};
use std::io::Write;
use std::rc::Rc;

use hpcast_units::Time;

use crate::process::Process;

pub use descriptors::functions;

unsafe extern "C" {
    static mut stdin: *mut libc::FILE;
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

/// One of the two streams that a rank writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What lines begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// Nothing.
    #[default]
    None,
    /// The rank.
    Rank,
    /// The rank and the virtual time.
    Time,
}

/// Prints whole lines, or what is left of one at the end.
pub type Print = dyn Fn(Stream, &[u8]);

/// A rank's FILEs in the place of stdin, stdout and stderr.
#[derive(Clone, Copy, Debug, Default)]
pub struct Streams {
    /// Standard input: only rank 0 has any.
    pub input: usize,
    /// Standard output.
    pub out: usize,
    /// Standard error.
    pub err: usize,
}

/// Text that a rank has written and that is no whole line yet.
struct Written {
    rank: u32,
    stream: Stream,
    queue: Rc<Queue>,
    rest: Vec<u8>,
}

/// Lines that wait for their time: when they were written, how many were before them, where to, and the line.
type Waiting = BinaryHeap<Reverse<(Time, u64, Stream, Vec<u8>)>>;

struct Queue {
    prefix: Prefix,
    print: Rc<Print>,
    waiting: RefCell<Waiting>,
    lines: Cell<u64>,
}

/// All text of a run.
pub struct Output {
    queue: Rc<Queue>,
    written: RefCell<Vec<*mut Written>>,
    /// Standard input of all ranks but the first.
    nothing: usize,
    /// Whose streams are in place.
    current: Cell<Option<u32>>,
}

impl Output {
    /// Nothing is written yet.
    pub fn new(prefix: Prefix, print: Rc<Print>) -> Output {
        let queue = Queue { prefix, print, waiting: RefCell::default(), lines: Cell::new(0) };
        // SAFETY: both are texts.
        let nothing = unsafe { libc::fopen(c"/dev/null".as_ptr(), c"r".as_ptr()) } as usize;
        Output { queue: Rc::new(queue), written: RefCell::default(), nothing, current: Cell::default() }
    }

    /// Makes the streams of a rank.
    pub fn open(&self, rank: u32) -> Streams {
        let [out, err] = [(Stream::Out, libc::_IOLBF), (Stream::Err, libc::_IONBF)].map(|(stream, buffering)| {
            let written = Written { rank, stream, queue: self.queue.clone(), rest: Vec::new() };
            let written = Box::into_raw(Box::new(written));
            self.written.borrow_mut().push(written);
            let functions = CookieFunctions { read: std::ptr::null(), write, seek: std::ptr::null(), close: None };
            // SAFETY: the cookie lives as long as the program.
            unsafe {
                let file = fopencookie(written.cast(), c"w".as_ptr(), functions);
                if !file.is_null() {
                    libc::setvbuf(file, std::ptr::null_mut(), buffering, 0);
                }
                file as usize
            }
        });
        // SAFETY: ranks are made before any runs, so this is the C library's own.
        let input = if rank == 0 { unsafe { stdin as usize } } else { self.nothing };
        Streams { input, out, err }
    }

    /// The streams of this rank are those of the C library from now on.
    #[inline]
    pub fn switch_to(&self, process: &Process) {
        if self.current.replace(Some(process.number())) == Some(process.number()) {
            return;
        }
        let Streams { input, out, err } = process.streams.get();
        if out != 0 {
            // SAFETY: one thread runs all ranks, and nobody else here uses the C library's streams.
            unsafe {
                stdin = input as *mut libc::FILE;
                stdout = out as *mut libc::FILE;
                stderr = err as *mut libc::FILE;
            }
        }
    }

    /// A rank writes past the C library's streams.
    fn write_directly(&self, rank: u32, stream: Stream, text: &[u8]) {
        let place = 2 * rank as usize + usize::from(stream == Stream::Err);
        let written = self.written.borrow()[place];
        // SAFETY: made by `open`, for two streams a rank; nobody has a reference.
        unsafe { (*written).add(text) };
    }

    /// Gives on the lines that were written up to a time.
    pub fn give_on(&self, until: Time) {
        self.queue.give_on(until);
    }

    /// Writes all that is left, also lines without an end.
    pub fn finish(&self) {
        self.give_on(Time::NEVER);
        for &written in self.written.borrow().iter() {
            // SAFETY: made by `open`, and nobody writes any more.
            let written = unsafe { &mut *written };
            if !written.rest.is_empty() {
                let rest = std::mem::take(&mut written.rest);
                (self.queue.print)(written.stream, &written.prefixed(Time::ZERO, &rest));
            }
        }
    }
}

impl Queue {
    fn add(&self, at: Time, stream: Stream, text: Vec<u8>) {
        let number = self.lines.get();
        self.lines.set(number + 1);
        self.waiting.borrow_mut().push(Reverse((at, number, stream, text)));
    }

    fn give_on(&self, until: Time) {
        while let Some((stream, text)) = self.next(until) {
            (self.print)(stream, &text);
        }
    }

    /// The first line that was written up to a time.
    fn next(&self, until: Time) -> Option<(Stream, Vec<u8>)> {
        let mut waiting = self.waiting.borrow_mut();
        waiting.peek().filter(|Reverse((at, ..))| *at <= until)?;
        waiting.pop().map(|Reverse((_, _, stream, text))| (stream, text))
    }
}

impl Written {
    /// Takes text; whole lines are as old as the simulated rank is now.
    fn add(&mut self, text: &[u8]) {
        self.rest.extend_from_slice(text);
        let Some(end) = self.rest.iter().rposition(|&byte| byte == b'\n') else { return };
        let rest = self.rest.split_off(end + 1);
        let lines = std::mem::replace(&mut self.rest, rest);
        let Some(process) = Process::running() else {
            return (self.queue.print)(self.stream, &self.prefixed(Time::ZERO, &lines));
        };
        let outer = process.begin_call("write");
        let (at, simulated) = (process.rank.now(), process.rank.simulated());
        self.queue.add(at, self.stream, self.prefixed(at, &lines));
        self.queue.give_on(simulated);
        process.end_call(outer);
    }

    fn prefixed(&self, at: Time, text: &[u8]) -> Vec<u8> {
        let prefix = match self.queue.prefix {
            Prefix::None => return text.to_vec(),
            Prefix::Rank => format!("[{}] ", self.rank),
            Prefix::Time => format!("[{} {:.9}] ", self.rank, at.as_secs()),
        };
        let mut lines = Vec::with_capacity(text.len() + prefix.len());
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let _ = lines.write_all(prefix.as_bytes());
            lines.extend_from_slice(line);
        }
        lines
    }
}

/// The C library calls this with what a rank has written.
unsafe extern "C" fn write(cookie: *mut c_void, text: *const c_char, length: usize) -> isize {
    // SAFETY: the cookie is that of `open`, and the text is so long.
    unsafe { (*cookie.cast::<Written>()).add(std::slice::from_raw_parts(text.cast::<u8>(), length)) };
    length as isize
}
