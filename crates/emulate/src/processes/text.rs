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
    streams: [Pipe; 2],
}

/// One of the two.
struct Pipe {
    file: RefCell<File>,
    written: Rc<Written>,
    /// What has come while the rank runs.
    new: RefCell<Vec<u8>>,
}

/// The ends of the pipes that the process writes to.
pub struct Ends {
    ends: [File; 2],
}

impl Text {
    /// The pipes of a rank.
    pub fn new(rank: u32, output: &Output, held: Rc<Held>) -> io::Result<(Text, Ends)> {
        let ([out, out_end], [err, err_end]) = (pipe()?, pipe()?);
        let pipe = |file, stream| Pipe {
            file: RefCell::new(file),
            written: Rc::new(output.stream(rank, stream)),
            new: RefCell::default(),
        };
        let streams = [pipe(out, Stream::Out), pipe(err, Stream::Err)];
        Ok((Text { held, streams }, Ends { ends: [out_end, err_end] }))
    }

    /// Takes what was written, so that there is room in the pipes.
    pub fn take(&self) {
        let mut buffer = [0; 4096];
        for Pipe { file, new, .. } in &self.streams {
            while let Ok(count @ 1..) = file.borrow_mut().read(&mut buffer) {
                new.borrow_mut().extend_from_slice(&buffer[..count]);
            }
        }
    }

    /// The rank waits at that time: what it has written so far is of then.
    pub fn hold(&self, at: Time) {
        self.take();
        for Pipe { written, new, .. } in &self.streams {
            if let Some(lines) =
                Some(new.take()).filter(|new| !new.is_empty()).and_then(|new| written.whole_lines(&new))
            {
                self.held.add(at, written, lines);
            }
        }
    }

    /// The rank has ended at that time.
    pub fn finish(&self, at: Time) {
        self.hold(at);
        for Pipe { written, .. } in &self.streams {
            self.held.add(at, written, written.rest());
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
