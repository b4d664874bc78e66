//! How long a rank computes: the time that its code takes here, times how much faster or slower the simulated machine is.

use std::cell::Cell;

use hpcast_mpi::Rank;
use hpcast_units::Time;

use crate::processes::gate;

/// What is charged for the program's own code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Charging {
    /// Nothing: only what is modelled takes time.
    Nothing,
    /// The CPU time that it takes here, times this.
    Measured(f64),
}

impl Charging {
    /// By how much measured times are multiplied.
    pub fn factor(self) -> f64 {
        match self {
            Charging::Nothing => 1.0,
            Charging::Measured(factor) => factor,
        }
    }
}

/// Measures what a rank computes between two calls.
pub struct Meter {
    charging: Cell<Charging>,
    /// CPU time of this thread when the program's own code went on, in nanoseconds.
    since: Cell<u64>,
    /// Somebody else measures.
    is_paused: Cell<bool>,
    /// The thread that went on: others' time cannot be compared with its.
    thread: Cell<usize>,
}

impl Meter {
    /// A meter at rest.
    pub fn new(charging: Charging) -> Meter {
        Meter { charging: Cell::new(charging), since: Cell::new(0), is_paused: Cell::new(false), thread: Cell::new(0) }
    }

    /// What is charged from now on.
    pub fn set_charging(&self, charging: Charging) {
        self.charging.set(charging);
    }

    /// What is charged.
    pub fn charging(&self) -> Charging {
        self.charging.get()
    }

    /// Somebody else measures and charges, or no longer does.
    pub fn pause(&self, is_paused: bool) {
        self.is_paused.set(is_paused);
    }

    /// When the code of the thread that went on last did, and which it is: that is set aside for another thread.
    pub(crate) fn exchange(&self, (since, thread): (u64, usize)) -> (u64, usize) {
        (self.since.replace(since), self.thread.replace(thread))
    }

    /// The program's own code goes on.
    #[inline]
    pub fn resume(&self) {
        if let (Charging::Measured(_), false) = (self.charging.get(), self.is_paused.get()) {
            self.since.set(cpu_time());
            self.thread.set(gate::thread());
        }
    }

    /// The program's own code stops: it calls one of our functions.
    #[inline]
    pub fn stop(&self, rank: &Rank) {
        if let (Charging::Measured(factor), false) = (self.charging.get(), self.is_paused.get()) {
            if self.thread.get() != gate::thread() {
                return;
            }
            let nanoseconds = elapsed(self.since.get());
            rank.compute(Time::from_secs(nanoseconds as f64 * 1e-9 * factor));
        }
    }
}

/// CPU time of this thread since then, in nanoseconds, without what it takes to read the clock.
pub(crate) fn elapsed(since: u64) -> u64 {
    thread_local! {
        static READING: u64 = (0..100).map(|_| cpu_time().abs_diff(cpu_time())).min().unwrap_or(0);
    }
    cpu_time().saturating_sub(since + READING.with(|reading| *reading))
}

/// CPU time of this thread, in nanoseconds.
pub(crate) fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and the time is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
