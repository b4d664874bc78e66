//! A message that is ready before a report is tried: a faulty program may have damaged what the report needs.
//!
//! Nothing here allocates or locks, so that it works in handlers of signals.

use std::cell::UnsafeCell;
use std::fmt::Write;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

const MOST: usize = 1024;

struct Text(UnsafeCell<[u8; MOST]>);

// SAFETY: it is written by handlers of signals of one thread, and read by them.
unsafe impl Sync for Text {}

static TEXT: Text = Text(UnsafeCell::new([0; MOST]));
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static CODE: AtomicI32 = AtomicI32::new(1);

struct Filling(usize);

impl Write for Filling {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let length = text.len().min(MOST - self.0);
        // SAFETY: only this thread writes, and there is room.
        unsafe { TEXT.0.get().cast::<u8>().add(self.0).copy_from(text.as_ptr(), length) };
        self.0 += length;
        Ok(())
    }
}

/// To be said if nothing better can be, with the exit code.
pub fn prepare(words: std::fmt::Arguments<'_>, code: i32) {
    let mut filling = Filling(0);
    let _ = filling.write_fmt(words);
    LENGTH.store(filling.0, Ordering::Relaxed);
    CODE.store(code, Ordering::Relaxed);
}

/// Whether something is prepared: a fault has been seen.
pub fn are_prepared() -> bool {
    LENGTH.load(Ordering::Relaxed) > 0
}

/// Says them and ends the process at once.
pub fn say() -> ! {
    let length = LENGTH.load(Ordering::Relaxed);
    // SAFETY: so much of the text is written; both functions may be called anywhere.
    unsafe {
        libc::write(libc::STDERR_FILENO, TEXT.0.get().cast(), length);
        libc::_exit(CODE.load(Ordering::Relaxed))
    }
}
