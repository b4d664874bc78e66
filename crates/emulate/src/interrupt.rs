//! Stops a run when the user asks for it (Ctrl-C, SIGTERM), also while a rank computes and calls nothing.
//!
//! The simulation looks at a flag now and then. A rank that computes must be taken away from its code, which can be done
//! wherever it is in code of its own: the C library, which the simulation needs too, is left in order. If it is elsewhere, we
//! look again soon.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::process::{Ending, Process};
use crate::processes::baton;
use crate::signals::{go_on_in, handle_by};
use crate::{last_words, signals};

/// Microseconds between two looks.
const AGAIN: i64 = 10_000;
/// After so many looks the rank is stopped wherever it is.
const PATIENCE: u32 = 100;
/// Signals that come within so many milliseconds are one: `timeout` and batch systems send them to a process and to its group.
const ONE_INTERRUPT: u64 = 300;

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static FIRST: AtomicU64 = AtomicU64::new(0);
static LOOKS: AtomicU32 = AtomicU32::new(0);

/// A flag that SIGINT and SIGTERM set from now on. A second signal ends the process.
pub fn stop_on_signals() -> Arc<AtomicBool> {
    signals::install();
    let flag = STOP.get_or_init(Arc::default).clone();
    for signal in [libc::SIGINT, libc::SIGTERM] {
        handle_by(signal, asked);
    }
    handle_by(libc::SIGALRM, look_again);
    flag
}

/// The signal that has asked the run to stop.
pub fn stopped_by() -> Option<i32> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

/// What is under way must end within so many microseconds, or the last words are said.
pub(crate) fn end_within(microseconds: i64) {
    LOOKS.store(u32::MAX, Ordering::Relaxed);
    handle_by(libc::SIGALRM, look_again);
    alarm_in(microseconds);
}

/// It has ended.
pub(crate) fn has_ended() {
    alarm_in(0);
}

fn alarm_in(microseconds: i64) {
    let value = libc::timeval { tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000 };
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: a timer of this process.
    unsafe {
        libc::setitimer(
            libc::ITIMER_REAL,
            &libc::itimerval { it_interval: never, it_value: value },
            std::ptr::null_mut(),
        )
    };
}

fn milliseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

unsafe extern "C" fn asked(signal: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let now = milliseconds();
    if let Err(first) = FIRST.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        if now - first > ONE_INTERRUPT {
            // SAFETY: may be called anywhere.
            unsafe { libc::_exit(128 + signal) };
        }
        return;
    }
    SIGNAL.store(signal, Ordering::Relaxed);
    if let Some(flag) = STOP.get() {
        flag.store(true, Ordering::Relaxed);
    }
    // SAFETY: the kernel passes what the manual page says.
    stop_here(unsafe { &mut *context.cast() });
}

unsafe extern "C" fn look_again(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    if LOOKS.load(Ordering::Relaxed) == u32::MAX {
        if last_words::are_prepared() {
            last_words::say();
        }
        return;
    }
    // SAFETY: as above.
    stop_here(unsafe { &mut *context.cast() });
}

/// Takes the rank that runs away from its code, or sees to it that this is tried again.
fn stop_here(context: &mut libc::ucontext_t) {
    // Without one, the simulation sees the flag, and lets none run; and so does who waits for a rank that is a process.
    let Some(process) = Process::running().filter(|_| baton::ranks().is_none()) else { return };
    let at = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    let in_its_code = process.calling().is_none() && hpcast_loader::copy_at(at).is_some();
    let looks = LOOKS.fetch_add(1, Ordering::Relaxed);
    if in_its_code || looks > PATIENCE && process.rank.is_at_rest() {
        let (rank, code) = (process.number(), 128 + SIGNAL.load(Ordering::Relaxed));
        last_words::prepare(format_args!("interrupted while rank {rank} computed; no more can be said\n"), code);
        end_within(1_000_000);
        go_on_in(stopped, process, context);
    } else {
        alarm_in(AGAIN);
    }
}

/// Where a rank goes on that was stopped.
extern "C" fn stopped() -> ! {
    Process::current().end(Ending::Stopped)
}
