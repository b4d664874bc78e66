//! Where the text of the program goes, and where it comes from: each rank has its own standard streams.
//!
//! Ranks run ahead of the simulation, so that the order in which they write would not be that of time. A rank that has written a whole
//! line waits until the simulation has come to its time, and then the line is printed.

mod descriptors;
mod withheld;

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use hpcast_units::Time;

use crate::fiber::block_on;
use crate::process::Process;

pub use descriptors::functions;
use withheld::Withheld;

unsafe extern "C" {
    static mut stdin: *mut libc::FILE;
    static mut stdout: *mut libc::FILE;
    static mut stderr: *mut libc::FILE;
    fn __fbufsize(file: *mut libc::FILE) -> usize;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// What a rank has written to a stream.
pub struct Written {
    rank: u32,
    stream: Stream,
    prefix: Prefix,
    print: Rc<Withheld>,
    /// No whole line yet.
    rest: RefCell<Vec<u8>>,
    /// Lines that wait for their time.
    held: RefCell<Option<(Time, Vec<u8>)>>,
    /// When the rank wrote last.
    last: Cell<Time>,
}

/// All text of a run.
pub struct Output {
    prefix: Prefix,
    print: Rc<Withheld>,
    written: RefCell<Vec<&'static Written>>,
    /// Standard input of the first rank.
    input: usize,
    /// Standard input of all others.
    nothing: usize,
    /// Where standard input was when the program began, if it is a file.
    beginning: Option<i64>,
    /// Whether some of it was read past the C library's stream.
    is_read: Cell<bool>,
    /// Whose streams are in place.
    current: Cell<Option<u32>>,
}

impl Output {
    /// Nothing is written yet. The text of a program that may be begun anew is kept back for a moment.
    pub fn new(prefix: Prefix, print: Rc<Print>, may_begin_anew: bool) -> Output {
        let print = Rc::new(Withheld::new(print, may_begin_anew));
        // SAFETY: no rank runs yet, so the first is the C library's own; the second gets two texts.
        let (input, nothing) = unsafe { (stdin as usize, libc::fopen(c"/dev/null".as_ptr(), c"r".as_ptr()) as usize) };
        // SAFETY: asks the kernel.
        let beginning = Some(unsafe { libc::lseek(libc::STDIN_FILENO, 0, libc::SEEK_CUR) }).filter(|&at| at >= 0);
        let (written, current, is_read) = Default::default();
        Output { prefix, print, written, input, nothing, beginning, is_read, current }
    }

    /// Prints words of the simulator among the program's.
    pub fn note(&self, text: &str) {
        self.print.note(Stream::Err, text.as_bytes());
    }

    /// What was written so far can be seen from now on. If there is something, the program cannot begin anew any more.
    pub fn release(&self) {
        self.print.release();
    }

    /// The program may compute for ever, or call what never waits: what it has written so far is shown if it is time. To be called in a
    /// handler of signals.
    pub fn look_in_handler(&self) {
        self.print.look_in_handler();
    }

    /// A stream of a rank.
    pub fn stream(&self, rank: u32, stream: Stream) -> Written {
        Written {
            rank,
            stream,
            prefix: self.prefix,
            print: self.print.clone(),
            rest: RefCell::default(),
            held: RefCell::default(),
            last: Cell::default(),
        }
    }

    /// A rank's FILE in the place of stdin: only rank 0 has something to read.
    pub fn input(&self, rank: u32) -> usize {
        if rank == 0 { self.input } else { self.nothing }
    }

    /// Makes a rank's FILEs in the place of stdout and stderr.
    pub fn open(&self, rank: u32) -> [usize; 2] {
        [(Stream::Out, libc::_IOLBF), (Stream::Err, libc::_IONBF)].map(|(stream, buffering)| {
            // The program may write as long as it runs, which is as long as we do.
            let written: &'static Written = Box::leak(Box::new(self.stream(rank, stream)));
            self.written.borrow_mut().push(written);
            let functions = CookieFunctions { read: std::ptr::null(), write, seek: std::ptr::null(), close: None };
            // SAFETY: the cookie is never changed but through its cells.
            unsafe {
                let cookie = (&raw const *written).cast_mut().cast();
                let file = fopencookie(cookie, c"w".as_ptr(), functions);
                if !file.is_null() {
                    libc::setvbuf(file, std::ptr::null_mut(), buffering, 0);
                }
                file as usize
            }
        })
    }

    /// The streams of this rank are those of the C library from now on.
    #[inline]
    pub fn switch_to(&self, process: &Process) {
        self.print.look();
        if self.current.replace(Some(process.number())) == Some(process.number()) {
            return;
        }
        let [out, err] = process.streams.get();
        if out != 0 {
            // SAFETY: one thread runs all ranks, and nobody else here uses the C library's streams.
            unsafe {
                stdin = self.input(process.number()) as *mut libc::FILE;
                stdout = out as *mut libc::FILE;
                stderr = err as *mut libc::FILE;
            }
        }
    }

    /// A rank writes past the C library's streams.
    fn write_directly(&self, rank: u32, stream: Stream, text: &[u8]) {
        let place = 2 * rank as usize + usize::from(stream == Stream::Err);
        let written = self.written.borrow()[place];
        written.add(text);
    }

    /// Whether nobody has seen anything yet.
    pub fn is_silent(&self) -> bool {
        self.print.is_silent()
    }

    /// Goes back to where standard input was; false if something of it was read that cannot be read again.
    pub fn rewind(&self) -> bool {
        match self.beginning {
            // SAFETY: changes nothing but the place in the file.
            Some(at) => unsafe { libc::lseek(libc::STDIN_FILENO, at, libc::SEEK_SET) == at },
            // SAFETY: the C library's own stream; it has a buffer from when it is first read.
            None => !self.is_read.get() && unsafe { __fbufsize(self.input as *mut libc::FILE) } == 0,
        }
    }

    /// Standard input is read past the C library's stream.
    fn note_reading(&self) {
        self.is_read.set(true);
    }

    /// Writes all that is left: lines whose time has not come, and those without an end.
    pub fn finish(&self) {
        let written = self.written.borrow();
        let mut held: Vec<(Time, &Written, Vec<u8>)> = Vec::new();
        for written in written.iter() {
            held.extend(written.held.take().map(|(at, lines)| (at, *written, lines)));
        }
        held.sort_by_key(|(at, ..)| *at);
        for (at, written, lines) in held {
            written.print(at, &lines);
        }
        for written in written.iter() {
            written.print(written.last.get(), &written.rest.take());
        }
        self.print.release();
    }
}

impl Written {
    /// Takes text, and prints whole lines when their time has come.
    fn add(&self, text: &[u8]) {
        let running = Process::running();
        let is_mine = running.is_some_and(|process| process.number() == self.rank);
        // Who writes in the middle of something else cannot wait.
        let waiting = running.filter(|process| is_mine && process.rank.is_at_rest());
        if let Some(process) = waiting {
            self.last.set(process.rank.now());
        }
        // Another rank flushes all streams of the C library, also this one, whose text is on its way.
        if !is_mine && self.held.borrow().is_some() {
            return;
        }
        let Some(lines) = self.whole_lines(text) else { return };
        match waiting {
            Some(process) => self.wait_and_print(process, lines),
            None => self.print(self.last.get(), &lines),
        }
    }

    /// Takes text, and gives what are whole lines now.
    pub fn whole_lines(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut rest = self.rest.borrow_mut();
        rest.extend_from_slice(text);
        let end = rest.iter().rposition(|&byte| byte == b'\n')?;
        let left = rest.split_off(end + 1);
        Some(std::mem::replace(&mut *rest, left))
    }

    /// The beginning of a line whose end has not come.
    pub fn rest(&self) -> Vec<u8> {
        self.rest.take()
    }

    fn wait_and_print(&self, process: &Process, lines: Vec<u8>) {
        let outer = process.begin_call("write");
        self.held.replace(Some((process.rank.now(), lines)));
        block_on(process.rank.catch_up());
        if let Some((at, lines)) = self.held.take() {
            self.print(at, &lines);
        }
        process.end_call(outer);
    }

    /// Prints lines of that time.
    pub fn print(&self, at: Time, text: &[u8]) {
        let prefix = match self.prefix {
            _ if text.is_empty() => return,
            Prefix::None => return self.print.print(self.stream, text),
            Prefix::Rank => format!("[{}] ", self.rank),
            Prefix::Time => format!("[{} {:.9}] ", self.rank, at.as_secs()),
        };
        let mut lines = Vec::with_capacity(text.len() + prefix.len());
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            lines.extend_from_slice(prefix.as_bytes());
            lines.extend_from_slice(line);
        }
        self.print.print(self.stream, &lines);
    }
}

/// The C library calls this with what a rank has written.
unsafe extern "C" fn write(cookie: *mut c_void, text: *const c_char, length: usize) -> isize {
    // SAFETY: the cookie is that of `open`, and the text is so long.
    unsafe { (*cookie.cast::<Written>()).add(std::slice::from_raw_parts(text.cast::<u8>(), length)) };
    length as isize
}
