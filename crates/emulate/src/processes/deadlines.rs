//! Waits of the C library that end at a given time.
//!
//! The program reads the time from clocks of the simulation, but its C library waits by those of the kernel: the deadline becomes
//! one of these, as far from now. Who has waited in vain finds that the time has come.
//!
//! Where several threads may be in MPI (`threads.rs`), the simulation goes on while one waits like this. When it comes to the deadline, it stands
//! still until the thread has woken up. One that wakes up before waits again.

use std::ffi::c_int;

use hpcast_mpi::Activity;
use hpcast_units::Time;

use super::gate;
use super::threads::Vain;
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

/// Nanoseconds that a thread sleeps at least where others go on meanwhile: so long that it is seen to sleep.
const SHORTEST: i64 = 2_000_000;

/// Says that the program must wait again: no function gives that.
pub const AGAIN: c_int = c_int::MIN;

/// Our function that is called when one of these has waited.
pub fn after(name: &str) -> usize {
    if name.starts_with("pthread_cond") { woken as *const () as usize } else { waited as *const () as usize }
}

/// Where a function has its deadline, if it has one.
pub fn place(name: &str) -> Option<usize> {
    WAITS.iter().find(|(known, _)| *known == name).map(|(_, place)| *place)
}

/// The clock that a deadline is a time of: those of the simulation are far from each other.
fn clock(deadline: &libc::timespec) -> libc::clockid_t {
    if deadline.tv_sec < beginning(libc::CLOCK_REALTIME) { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME }
}

/// The time of the rank. Where each thread has its own clock, it may be looked at often, and looking takes no time.
fn time() -> Time {
    let me = Process::current();
    if me.has_threads.get() { me.rank.now() } else { now() }
}

/// How long it is until then.
fn left(deadline: &libc::timespec) -> Time {
    let seconds = (deadline.tv_sec - beginning(clock(deadline))) as f64 + deadline.tv_nsec as f64 * 1e-9;
    Time::from_secs((seconds - time().as_secs()).max(0.0))
}

/// The time of the kernel that a deadline stands for; `room` is for it.
pub unsafe extern "C" fn real(deadline: *const libc::timespec, room: *mut libc::timespec) -> *const libc::timespec {
    const SECOND: i64 = 1_000_000_000;
    // SAFETY: the program passes a time, or nothing.
    let Some(time) = (unsafe { deadline.as_ref() }) else { return deadline };
    if time.tv_sec < 0 || !(0..SECOND).contains(&time.tv_nsec) {
        return deadline;
    }
    let (me, left) = (Process::current(), left(time));
    let mut nanoseconds = (left.as_ps() / 1000) as i64;
    if me.has_threads.get() {
        me.threads().wait_until(me, me.rank.now() + left);
        if nanoseconds > 0 && me.threads().somebody_waits() {
            nanoseconds = nanoseconds.max(SHORTEST);
        }
    }
    // SAFETY: there is room for a time.
    unsafe {
        libc::clock_gettime(clock(time), room);
        let sum = (*room).tv_nsec + nanoseconds % SECOND;
        (*room).tv_sec += nanoseconds / SECOND + sum / SECOND;
        (*room).tv_nsec = sum % SECOND;
    }
    room
}

/// What has come of a wait.
enum Outcome {
    /// This is what the program gets.
    Is(c_int),
    /// The kernel's time has come, but not that of the simulation.
    TooEarly,
}

/// The thread has waited, with that result.
///
/// # Safety
/// The deadline must be a time, or null.
unsafe fn outcome(result: c_int, deadline: *const libc::timespec) -> Outcome {
    let me = Process::current();
    if me.has_threads.get() {
        me.threads().has_waited();
    }
    let is_late = result == libc::ETIMEDOUT || result == -1 && errno() == Some(libc::ETIMEDOUT);
    // SAFETY: as the caller says.
    let Some(deadline) = unsafe { deadline.as_ref() }.filter(|_| is_late) else { return Outcome::Is(result) };
    if me.has_threads.get() {
        // Deadlines are nanoseconds, and clocks finer.
        let left = left(deadline);
        if left >= Time::from_ps(1000) {
            match me.threads().wait_in_vain() {
                // The simulation can only go on if somebody waits for it.
                Vain::Alone => pause(left),
                Vain::TooLong => {
                    me.rank.spend(Activity::Wait, left);
                    return Outcome::Is(result);
                }
                Vain::TooEarly => {}
            }
            return Outcome::TooEarly;
        }
    } else if gate::here().is_some_and(|here| here.first == gate::thread()) {
        pause(left(deadline));
    }
    Outcome::Is(result)
}

/// The program has waited, with that result, which it gets; or it must wait again ([`AGAIN`]). Time passes for the rank where its own thread
/// waits, not where others do, unless each has its own clock.
pub unsafe extern "C" fn waited(result: c_int, deadline: *const libc::timespec) -> c_int {
    // SAFETY: what the program has passed before.
    match unsafe { outcome(result, deadline) } {
        Outcome::Is(result) => result,
        Outcome::TooEarly => AGAIN,
    }
}

/// The same for a condition: who waits for one may find himself woken for no reason, and looks himself whether to wait again.
pub unsafe extern "C" fn woken(result: c_int, deadline: *const libc::timespec) -> c_int {
    // SAFETY: what the program has passed before.
    match unsafe { outcome(result, deadline) } {
        Outcome::Is(result) => result,
        Outcome::TooEarly => 0,
    }
}

/// The program's `errno`.
fn errno() -> Option<c_int> {
    let place = gate::here().map(|here| here.errno).filter(|&place| place != 0)?;
    // SAFETY: the program's own function, which gives an address.
    Some(unsafe { *(gate::call_program(place, &[]) as *const c_int) })
}
