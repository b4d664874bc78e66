//! What processes write, on its way to us.
//!
//! Ranks run ahead of the simulation: lines are held until it has come to the time at which the rank has waited next, so that
//! they appear in the order of time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::rc::Rc;

use hpcast_units::Time;

use crate::output::{Output, Stream, Written};

/// Lines of a rank.
type Lines = (Rc<Written>, Vec<u8>);

/// Lines of all ranks that wait for their time.
#[derive(Default)]
pub struct Held {
    lines: RefCell<BTreeMap<(Time, u64), Lines>>,
    count: Cell<u64>,
}

impl Held {
    fn add(&self, at: Time, written: &Rc<Written>, lines: Vec<u8>) {
        let number = self.count.replace(self.count.get() + 1);
        self.lines.borrow_mut().insert((at, number), (written.clone(), lines));
    }

    /// The simulation has come to that time.
    pub fn print_until(&self, now: Time) {
        let mut lines = self.lines.borrow_mut();
        while let Some(entry) = lines.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), (written, lines)) = entry.remove_entry();
            written.print(at, &lines);
        }
    }
}

/// Standard output and standard error of a process.
pub struct Text {
    held: Rc<Held>,
    streams: [(RefCell<File>, Rc<Written>); 2],
    /// When the rank has waited last.
    at: Cell<Time>,
}

/// The ends of the pipes that the process writes to.
pub struct Ends {
    ends: [File; 2],
}

impl Text {
    /// The pipes of a rank.
    pub fn new(rank: u32, output: &Output, held: Rc<Held>) -> io::Result<(Text, Ends)> {
        let ([out, out_end], [err, err_end]) = (pipe()?, pipe()?);
        let stream = |file, stream| (RefCell::new(file), Rc::new(output.stream(rank, stream)));
        let streams = [stream(out, Stream::Out), stream(err, Stream::Err)];
        Ok((Text { held, streams, at: Cell::default() }, Ends { ends: [out_end, err_end] }))
    }

    /// The rank waits, or has ended, at that time.
    pub fn set_time(&self, at: Time) {
        self.at.set(at);
    }

    /// Takes what was written.
    pub fn take(&self) {
        let mut buffer = [0; 4096];
        for (pipe, written) in &self.streams {
            while let Ok(count @ 1..) = pipe.borrow_mut().read(&mut buffer) {
                if let Some(lines) = written.whole_lines(&buffer[..count]) {
                    self.held.add(self.at.get(), written, lines);
                }
            }
        }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.take();
        for (_, written) in &self.streams {
            self.held.add(self.at.get(), written, written.rest());
        }
    }
}

impl Ends {
    /// Numbers of the files.
    pub fn numbers(&self) -> [RawFd; 2] {
        [self.ends[0].as_raw_fd(), self.ends[1].as_raw_fd()]
    }
}

/// A pipe from which nobody waits to read.
fn pipe() -> io::Result<[File; 2]> {
    let mut ends = [0; 2];
    // SAFETY: a place for two numbers; the files are ours then.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::fcntl(ends[0], libc::F_SETFL, libc::O_NONBLOCK);
        Ok(ends.map(|end| File::from_raw_fd(end)))
    }
}
