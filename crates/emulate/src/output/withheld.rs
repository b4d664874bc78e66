//! Text that is kept back for a moment.
//!
//! A program that turns out to need processes is begun anew, which nobody may notice. Most find that out in their first
//! moments, but not before they have greeted the user: so that what was printed so far can still be thrown away, it is kept
//! until it is large enough or old enough.

use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::{Print, Stream};

/// How long text is kept from somebody who looks at a terminal, and from a file or another program, which can wait longer.
const MOMENT: Duration = Duration::from_secs(1);
const LONGER: Duration = Duration::from_secs(3);
/// How much of it.
const ROOM: usize = 256 << 10;

/// Prints text, but not at first.
pub struct Withheld {
    print: Rc<Print>,
    /// What is kept, in the order in which it came.
    kept: RefCell<Vec<(Stream, Vec<u8>)>>,
    bytes: Cell<usize>,
    /// How long it is kept.
    moment: Duration,
    /// When the program began; none if nothing is kept any more.
    since: Cell<Option<Instant>>,
}

impl Withheld {
    /// Keeps text for a moment if the program may be begun anew.
    pub fn new(print: Rc<Print>, may_begin_anew: bool) -> Withheld {
        let since = Cell::new(may_begin_anew.then(Instant::now));
        let moment = if io::stdout().is_terminal() { MOMENT } else { LONGER };
        Withheld { print, kept: RefCell::default(), bytes: Cell::default(), moment, since }
    }

    /// Prints text, or keeps it.
    pub fn print(&self, stream: Stream, text: &[u8]) {
        if self.since.get().is_some() {
            self.bytes.set(self.bytes.get() + text.len());
            self.kept.borrow_mut().push((stream, text.to_vec()));
            return self.look();
        }
        (self.print)(stream, text);
    }

    /// Whether nobody has seen anything yet.
    pub fn is_silent(&self) -> bool {
        self.since.get().is_some()
    }

    /// Prints what is kept if it is time.
    #[inline]
    pub fn look(&self) {
        if self.bytes.get() > 0 {
            let is_old = self.since.get().is_none_or(|since| since.elapsed() > self.moment);
            if is_old || self.bytes.get() > ROOM {
                self.release();
            }
        }
    }

    /// Prints words that are not the program's, after what is kept.
    pub fn note(&self, stream: Stream, text: &[u8]) {
        self.release();
        (self.print)(stream, text);
    }

    /// The same as [`Withheld::look`] in a handler of signals, wherever the rank is: takes no memory, and waits for nobody.
    pub fn look_in_handler(&self) {
        // Who is about to keep more will look by itself whether it is time.
        let Ok(kept) = self.kept.try_borrow() else { return };
        if self.bytes.get() == 0 || self.since.get().is_none_or(|since| since.elapsed() <= self.moment) {
            return;
        }
        self.bytes.set(0);
        self.since.set(None);
        for (stream, text) in kept.iter() {
            let file = if *stream == Stream::Out { libc::STDOUT_FILENO } else { libc::STDERR_FILENO };
            let mut rest = text.as_slice();
            while !rest.is_empty() {
                // SAFETY: so much text is there; the function may be called anywhere.
                let written = unsafe { libc::write(file, rest.as_ptr().cast(), rest.len()) };
                // Somebody who has closed the pipe does not want to know.
                let Ok(written @ 1..) = usize::try_from(written) else { break };
                rest = &rest[written..];
            }
        }
    }

    /// Prints what is kept, if there is something; then text is printed when it comes.
    pub fn release(&self) {
        if self.bytes.get() == 0 {
            return;
        }
        self.since.set(None);
        self.bytes.set(0);
        for (stream, text) in self.kept.take() {
            (self.print)(stream, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = Rc<RefCell<Vec<u8>>>;

    fn withheld(may_begin_anew: bool) -> (Withheld, Seen) {
        let seen = Seen::default();
        let print = seen.clone();
        let print = Rc::new(move |_, text: &[u8]| print.borrow_mut().extend_from_slice(text));
        (Withheld::new(print, may_begin_anew), seen)
    }

    #[test]
    fn text_is_kept_until_it_is_released() {
        let (withheld, seen) = withheld(true);
        withheld.release();
        withheld.print(Stream::Out, b"one ");
        withheld.print(Stream::Err, b"two ");
        assert!(withheld.is_silent() && seen.borrow().is_empty());
        withheld.release();
        withheld.print(Stream::Out, b"three");
        assert!(!withheld.is_silent());
        assert_eq!(*seen.borrow(), b"one two three");
    }

    #[test]
    fn much_text_is_not_kept() {
        let (withheld, seen) = withheld(true);
        withheld.print(Stream::Out, &vec![b'x'; ROOM + 1]);
        assert!(!withheld.is_silent());
        assert_eq!(seen.borrow().len(), ROOM + 1);
    }

    #[test]
    fn nothing_is_kept_of_a_program_that_cannot_begin_anew() {
        let (withheld, seen) = withheld(false);
        withheld.print(Stream::Out, b"one");
        assert_eq!(*seen.borrow(), b"one");
    }
}
