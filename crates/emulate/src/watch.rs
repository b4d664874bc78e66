//! Tells the user of a rank that computes for long without a call of MPI, and holds up all others meanwhile.
//!
//! A timer that counts the CPU time of this thread looks at the rank that runs. Where that is in code of its own, as for Ctrl-C
//! (`interrupt.rs`), the C library is in order and the line can say where. If it stays elsewhere, the line does without.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fmt::Write;
use std::time::Duration;

use crate::meter::cpu_time;
use crate::process::Process;
use crate::processes::baton;
use crate::signals::handle_by;
use crate::{interrupt, last_words};

/// The signal of the timer: one that programs hardly use.
const SIGNAL: c_int = libc::SIGVTALRM;
/// So many looks, before a rank that is always somewhere else than in its own code is named without a place.
const LOOKS: u32 = 5;
/// So many functions that are under way are named.
const LINES: usize = 5;

/// What the rank was doing when the timer came last.
#[derive(Clone, Copy)]
struct Seen {
    rank: u32,
    /// How often it has called MPI or gone on.
    steps: u32,
    /// CPU time of this thread then, in nanoseconds.
    since: u64,
    /// After so many nanoseconds it is named.
    due: u64,
    /// How often it should have been named and was not in its own code.
    looks: u32,
}

thread_local! {
    static SEEN: Cell<Option<Seen>> = const { Cell::new(None) };
    static PATIENCE: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Watches the ranks of this thread as long as it lives.
pub struct Watch {
    timer: libc::timer_t,
}

impl Watch {
    /// Names ranks that compute for longer than that; none if there is no timer, which is no reason not to run.
    pub fn new(patience: Option<Duration>) -> Option<Watch> {
        let patience = patience?;
        PATIENCE.set(patience.as_nanos() as u64);
        SEEN.set(None);
        handle_by(SIGNAL, tick);
        let every = (patience / 10).clamp(Duration::from_millis(10), Duration::from_secs(1));
        let every = libc::timespec { tv_sec: every.as_secs() as i64, tv_nsec: every.subsec_nanos().into() };
        let mut timer = std::ptr::null_mut();
        // SAFETY: a timer of this process that signals this thread; zero is a value of what is not set.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            (event.sigev_notify, event.sigev_signo) = (libc::SIGEV_THREAD_ID, SIGNAL);
            event.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as i32;
            if libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut event, &mut timer) != 0 {
                return None;
            }
            let times = libc::itimerspec { it_interval: every, it_value: every };
            libc::timer_settime(timer, 0, &times, std::ptr::null_mut());
        }
        Some(Watch { timer })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: the timer is ours, and deleted once. A signal that is under way finds no rank.
        unsafe { libc::timer_delete(self.timer) };
    }
}

unsafe extern "C" fn tick(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes what the manual page says; errno is the program's, which goes on.
    unsafe {
        let errno = *libc::__errno_location();
        look(&*context.cast());
        *libc::__errno_location() = errno;
    }
}

fn look(context: &libc::ucontext_t) {
    if let Some(process) = Process::running() {
        process.world.output.look_in_handler();
    }
    let computing = Process::running().filter(|process| baton::ranks().is_none() && process.calling().is_none());
    // Who is asked to stop, or has come to a fault, is told about anyway.
    let Some(process) = computing.filter(|_| interrupt::stopped_by().is_none() && !last_words::are_prepared()) else {
        return SEEN.set(None);
    };
    let (rank, steps, now) = (process.number(), process.steps(), cpu_time());
    let Some(seen) = SEEN.get().filter(|seen| (seen.rank, seen.steps) == (rank, steps)) else {
        return SEEN.set(Some(Seen { rank, steps, since: now, due: PATIENCE.get(), looks: 0 }));
    };
    let computed = now - seen.since;
    if computed < seen.due {
        return;
    }
    let registers = &context.uc_mcontext.gregs;
    let (at, stack) = (registers[libc::REG_RIP as usize] as usize, registers[libc::REG_RSP as usize] as usize);
    if hpcast_loader::copy_at(at).is_some() {
        let places = process.backtrace(at, stack);
        let mut text = String::new();
        let _ = words(&mut text, process, computed);
        places.iter().take(LINES).for_each(|place| text += &format!("  {place}\n"));
        process.world.output.note(&text);
    } else if seen.looks < LOOKS {
        return SEEN.set(Some(Seen { looks: seen.looks + 1, ..seen }));
    } else {
        let mut line = Line { bytes: [0; 512], length: 0 };
        let _ = words(&mut line, process, computed);
        // SAFETY: so much of the line is written; the function may be called anywhere.
        unsafe { libc::write(libc::STDERR_FILENO, line.bytes.as_ptr().cast(), line.length) };
    }
    // The next time it has to be twice as long.
    SEEN.set(Some(Seen { due: 2 * seen.due, looks: 0, ..seen }));
}

/// Which rank, for how long, and when.
fn words(to: &mut impl Write, process: &Process, nanoseconds: u64) -> std::fmt::Result {
    write!(
        to,
        "note: rank {} has computed for {:.1} s without a call of MPI",
        process.number(),
        nanoseconds as f64 * 1e-9
    )?;
    // The simulation can be asked unless it is being changed.
    if process.rank.is_at_rest() {
        write!(to, ", at {:.9} s of virtual time", process.rank.now().as_secs())?;
    }
    writeln!(to, ", while all others wait; Ctrl-C stops the run")
}

/// A line that takes no memory from the C library, which the rank may be in.
struct Line {
    bytes: [u8; 512],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.length..];
        let length = text.len().min(room.len());
        room[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.length += length;
        Ok(())
    }
}

/// Watches a rank that is a process while it has the baton.
pub struct ProcessWatch {
    patience: Option<Duration>,
    seen: Cell<Option<Seen>>,
}

impl ProcessWatch {
    /// Names a rank that computes for longer than that.
    pub fn new(patience: Option<Duration>) -> ProcessWatch {
        ProcessWatch { patience, seen: Cell::new(None) }
    }

    /// Looks at the rank, whose process has that number.
    pub fn look(&self, process: &Process, pid: i32) {
        let Some(patience) = self.patience else { return };
        let (rank, steps) = (process.number(), process.steps());
        let Some(now) = cpu_time_of(pid).filter(|_| process.calling().is_none()) else { return self.seen.set(None) };
        let Some(seen) = self.seen.get().filter(|seen| seen.steps == steps) else {
            let due = patience.as_nanos() as u64;
            return self.seen.set(Some(Seen { rank, steps, since: now, due, looks: 0 }));
        };
        let computed = now - seen.since;
        if computed >= seen.due {
            let mut text = String::new();
            let _ = words(&mut text, process, computed);
            text += &format!("  its process is {pid}: gdb -p {pid} tells where it is\n");
            process.world.output.note(&text);
            self.seen.set(Some(Seen { due: 2 * seen.due, ..seen }));
        }
    }
}

/// CPU time of a process, in nanoseconds.
fn cpu_time_of(pid: i32) -> Option<u64> {
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: places for the clock and its time.
    let is_known =
        unsafe { libc::clock_getcpuclockid(pid, &mut clock) == 0 && libc::clock_gettime(clock, &mut time) == 0 };
    is_known.then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
