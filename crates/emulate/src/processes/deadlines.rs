//! Waits of the C library that end at a given time.
//!
//! The program reads the time from clocks of the simulation, but its C library waits by those of the kernel: the deadline becomes
//! one of these, as far from now. Who has waited in vain finds that the time has come.

use std::ffi::c_int;

use hpcast_units::Time;

use super::gate;
use crate::libc_functions::{beginning, now, pause};
use crate::process::Process;

/// Functions, and the place of the argument that is a deadline.
const WAITS: [(&str, usize); 9] = [
    ("sem_timedwait", 1),
    ("pthread_mutex_timedlock", 1),
    ("pthread_rwlock_timedrdlock", 1),
    ("pthread_rwlock_timedwrlock", 1),
    ("pthread_cond_timedwait", 2),
    ("pthread_timedjoin_np", 2),
    ("sem_clockwait", 2),
    ("pthread_mutex_clocklock", 2),
    ("pthread_cond_clockwait", 3),
];

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    WAITS.iter().map(|(name, _)| *name)
}

/// Where a function has its deadline, if it has one.
pub fn place(name: &str) -> Option<usize> {
    WAITS.iter().find(|(known, _)| *known == name).map(|(_, place)| *place)
}

/// The clock that a deadline is a time of: those of the simulation are far from each other.
fn clock(deadline: &libc::timespec) -> libc::clockid_t {
    if deadline.tv_sec < beginning(libc::CLOCK_REALTIME) { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME }
}

/// How long it is until then.
fn left(deadline: &libc::timespec) -> Time {
    let seconds = (deadline.tv_sec - beginning(clock(deadline))) as f64 + deadline.tv_nsec as f64 * 1e-9;
    Time::from_secs((seconds - now().as_secs()).max(0.0))
}

/// The time of the kernel that a deadline stands for; `room` is for it.
pub unsafe extern "C" fn real(deadline: *const libc::timespec, room: *mut libc::timespec) -> *const libc::timespec {
    const SECOND: i64 = 1_000_000_000;
    // SAFETY: the program passes a time, or nothing.
    let Some(time) = (unsafe { deadline.as_ref() }) else { return deadline };
    if time.tv_sec < 0 || !(0..SECOND).contains(&time.tv_nsec) {
        return deadline;
    }
    let left = left(time);
    let me = Process::current();
    if let Some(threads) = me.threads.get().filter(|_| me.has_threads.get()) {
        threads.wait_until(me, me.rank.now() + left);
    }
    let nanoseconds = (left.as_ps() / 1000) as i64;
    // SAFETY: there is room for a time.
    unsafe {
        libc::clock_gettime(clock(time), room);
        let sum = (*room).tv_nsec + nanoseconds % SECOND;
        (*room).tv_sec += nanoseconds / SECOND + sum / SECOND;
        (*room).tv_nsec = sum % SECOND;
    }
    room
}

/// The program has waited, with that result, which it gets. Time passes for the rank where its own thread waits, not where
/// others do, unless each has its own clock.
pub unsafe extern "C" fn waited(result: c_int, deadline: *const libc::timespec) -> c_int {
    let me = Process::current();
    if let Some(threads) = me.threads.get() {
        threads.has_waited();
    }
    let is_late = result == libc::ETIMEDOUT || result == -1 && errno() == Some(libc::ETIMEDOUT);
    // SAFETY: what the program has passed before.
    if let Some(deadline) = unsafe { deadline.as_ref() }
        && is_late
        && (me.has_threads.get() || gate::here().is_some_and(|here| here.first == gate::thread()))
    {
        pause(left(deadline));
    }
    result
}

/// The program's `errno`.
fn errno() -> Option<c_int> {
    let place = gate::here().map(|here| here.errno).filter(|&place| place != 0)?;
    // SAFETY: the program's own function, which gives an address.
    Some(unsafe { *(gate::call_program(place, &[]) as *const c_int) })
}
