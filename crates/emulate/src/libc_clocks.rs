//! Further clocks and pauses of the C library: time is that of the simulation.

use std::ffi::{c_int, c_long, c_void};

use hpcast_units::Time;

use crate::libc_functions::{now, pause};

/// The stand-ins, by name.
pub fn functions() -> Vec<(&'static str, *const ())> {
    vec![
        ("getrusage", getrusage as *const ()),
        ("times", times as *const ()),
        ("clock_nanosleep", clock_nanosleep as *const ()),
        ("select", select as *const ()),
        ("poll", poll as *const ()),
        ("__poll_chk", poll as *const ()),
    ]
}

/// CPU time is taken for virtual time: ranks do not share processors. Of the rest a rank has used what the process has.
unsafe extern "C" fn getrusage(who: c_int, usage: *mut libc::rusage) -> c_int {
    // SAFETY: the program passes a place for it.
    let code = unsafe { libc::getrusage(who, usage) };
    if code == 0 && who != libc::RUSAGE_CHILDREN {
        let microseconds = (now().as_ps() / 1_000_000) as i64;
        let user = libc::timeval { tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000 };
        // SAFETY: as above.
        unsafe {
            (*usage).ru_utime = user;
            (*usage).ru_stime = libc::timeval { tv_sec: 0, tv_usec: 0 };
        }
    }
    code
}

unsafe extern "C" fn times(usage: *mut libc::tms) -> c_long {
    // SAFETY: a question to the C library.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let now = (now().as_secs() * ticks as f64) as c_long;
    if !usage.is_null() {
        // SAFETY: the program passes a place for it.
        unsafe { *usage = libc::tms { tms_utime: now, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 } };
    }
    now
}

unsafe extern "C" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: c_int,
    length: *const libc::timespec,
    _rest: *mut libc::timespec,
) -> c_int {
    // SAFETY: the program passes a time.
    let length = unsafe { *length };
    let mut seconds = length.tv_sec as f64 + length.tv_nsec as f64 * 1e-9;
    if flags & libc::TIMER_ABSTIME != 0 {
        seconds -= crate::libc_functions::beginning(clock) as f64 + now().as_secs();
    }
    pause(Time::from_secs(seconds.max(0.0)));
    0
}

/// With no files to look at, a pause.
unsafe extern "C" fn select(
    files: c_int,
    reading: *mut libc::fd_set,
    writing: *mut libc::fd_set,
    failing: *mut libc::fd_set,
    limit: *mut libc::timeval,
) -> c_int {
    if files == 0 && !limit.is_null() {
        // SAFETY: the program passes a time.
        let limit = unsafe { *limit };
        pause(Time::from_secs(limit.tv_sec as f64 + limit.tv_usec as f64 * 1e-6));
        return 0;
    }
    // SAFETY: what the program passes.
    unsafe { libc::select(files, reading, writing, failing, limit) }
}

/// As `select`.
unsafe extern "C" fn poll(files: *mut c_void, count: libc::nfds_t, limit: c_int) -> c_int {
    if count == 0 && limit >= 0 {
        pause(Time::from_secs(f64::from(limit) * 1e-3));
        return 0;
    }
    // SAFETY: what the program passes.
    unsafe { libc::poll(files.cast(), count, limit) }
}
