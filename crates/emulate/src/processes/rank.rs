//! A rank that is a process, as a task of the simulation.

use std::ffi::{CString, c_int};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use super::baton::{Look, Ranks, Turn};
use super::gate;
use super::start::{self, Start};
use super::text::{Ends, Held, Text};
use super::threads::{Door, Seat};
use crate::last_words;
use crate::process::{Ending, Process};
use crate::watch::ProcessWatch;

/// Below what this program has on the first stack comes the one of the rank's program.
const DISTANCE: usize = 64 << 10;

/// A rank that is a process: the task of its first thread.
pub struct RankProcess(Rc<Body>);

/// What is there once for all threads of the rank.
pub struct Body {
    process: Rc<Process>,
    ranks: Rc<Ranks>,
    text: Text,
    held: Rc<Held>,
    watch: ProcessWatch,
}

impl RankProcess {
    /// Forks the process of a rank. It waits for its turn to begin the program.
    pub fn new(
        process: Rc<Process>,
        ranks: Rc<Ranks>,
        start: &Start,
        held: Rc<Held>,
        patience: Option<Duration>,
    ) -> io::Result<RankProcess> {
        let (text, ends) = Text::new(process.number(), &process.world.output, held.clone())?;
        let body = Rc::new(Body { process, ranks, text, held, watch: ProcessWatch::new(patience) });
        let Body { process, ranks, .. } = &*body;
        process.threads().belong_to(&body);
        let simulation = std::process::id();
        // SAFETY: this thread goes on in the new process. The C library does not learn of it: its data is shared.
        match unsafe { libc::syscall(libc::SYS_fork) } as i32 {
            -1 => return Err(io::Error::last_os_error()),
            0 => begin(process, ranks, start, &ends, simulation),
            pid => ranks.set_pid(process.number() as usize, pid),
        }
        Ok(RankProcess(body))
    }
}

impl Future for RankProcess {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0.go_on(&self.0.process.threads().first)
    }
}

impl Drop for RankProcess {
    fn drop(&mut self) {
        self.0.text.finish(self.0.process.threads().first.rank.now());
    }
}

impl Body {
    /// The task of another thread of a rank.
    pub fn thread(body: Weak<Body>, seat: Rc<Seat>) -> impl Future<Output = ()> {
        // It is polled for the first time because it is new.
        let mut is_new = true;
        poll_fn(move |_| match body.upgrade() {
            Some(body) if !std::mem::take(&mut is_new) => body.go_on(&seat),
            _ => Poll::Pending,
        })
    }

    /// A thread that waits for the simulation goes on.
    fn go_on(&self, seat: &Seat) -> Poll<()> {
        let process = &self.process;
        if process.has_ended() {
            return Poll::Ready(());
        }
        if self.is_stopped() || self.door().has_several() && !seat.waits() {
            return Poll::Pending;
        }
        self.resume(Some(&seat.turn));
        if !process.has_ended() {
            return Poll::Pending;
        }
        let first = &process.threads().first;
        if !std::ptr::eq(seat, &raw const **first) {
            // The rank's own task has not ended yet.
            first.rank.keep_up();
            first.rank.wake();
        }
        Poll::Ready(())
    }

    /// The time has come for a thread that waits in the C library: the rank has the baton until that thread has come in.
    pub fn let_in(&self, seat: &Seat) {
        if !self.process.has_ended() && !self.is_stopped() {
            self.process.threads().expect(seat);
            self.resume(None);
        }
    }

    /// Waits for threads that the simulation has gone on without.
    pub fn wait_for_threads(&self) {
        if !self.process.has_ended() && !self.is_stopped() {
            self.resume(None);
        }
    }

    fn resume(&self, turn: Option<&Turn>) {
        let (process, number) = (&self.process, self.process.number() as usize);
        self.held.print_until(process.rank.simulated());
        process.threads().put_aside(process);
        process.threads().go_on();
        process.switch_to();
        let status = self.ranks.resume(number, turn, || self.look());
        if let Some(status) = status.filter(|_| !process.rank.is_at_rest()) {
            lost(process, status);
        }
        self.text.hold(process.rank.now());
        Process::switch_away();
        if let Some(status) = status {
            process.has_gone(if self.is_stopped() { Ending::Stopped } else { ending(status) });
        }
    }

    /// What becomes of the process.
    fn look(&self) -> Look {
        let (process, number) = (&self.process, self.process.number() as usize);
        self.text.take();
        self.watch.look(process, self.ranks.pid(number));
        if self.is_stopped() {
            Look::Stopped
        } else if self.door().has_several() && process.threads().rest(process, &self.ranks) {
            Look::Rests
        } else {
            Look::Runs
        }
    }

    fn is_stopped(&self) -> bool {
        self.process.world.stop.load(Ordering::Relaxed)
    }

    fn door(&self) -> &Door {
        self.ranks.door(self.process.number() as usize)
    }
}

/// How a process ended, from what waitpid says.
fn ending(status: c_int) -> Ending {
    if libc::WIFEXITED(status) {
        return Ending::Exit(libc::WEXITSTATUS(status));
    }
    let number = libc::WTERMSIG(status);
    Ending::Signal { number, what: crate::signals::name(number), call: None, place: (0, 0) }
}

/// A process has ended while it was changing the simulation, which cannot go on.
fn lost(process: &Process, status: c_int) -> ! {
    let (rank, place) = (process.number(), process.calling().unwrap_or("its own code"));
    let (what, code) = match ending(status) {
        Ending::Signal { number, what, .. } => (format!("got {what}"), 128 + number),
        _ => ("ended".to_owned(), 1),
    };
    last_words::prepare(format_args!("error: rank {rank} {what} in {place}; no more can be said\n"), code);
    last_words::say()
}

/// The process of a rank begins.
fn begin(process: &Process, ranks: &Ranks, start: &Start, ends: &Ends, simulation: u32) -> ! {
    let number = process.number() as usize;
    // SAFETY: the kernel's functions, on what belongs to this process only.
    unsafe {
        gate::become_rank(number, libc::getpid(), ranks.door(number));
        // Whoever ends the simulation ends its ranks.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != simulation {
            libc::_exit(1);
        }
        reset_signals();
        // What is sent to the group of the simulation, as `timeout` does, is for the simulation. Whoever reads from a terminal must stay.
        if number > 0 || libc::isatty(0) == 0 {
            libc::setpgid(0, 0);
        }
        if number > 0 {
            let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
            libc::dup2(nothing, 0);
            libc::close(nothing);
        }
        for (number, end) in (1..).zip(ends.numbers()) {
            libc::dup2(end, number);
            libc::close(end);
        }
    }
    ranks.wait_for_turn(number, &process.threads().first.turn);
    let start = &start.with(crate::launcher::variables(&process.world, process.number()));
    let mark = 0u8;
    let stack = (&raw const mark as usize - DISTANCE) & !15;
    if let Some(here) = gate::here() {
        here.stack = stack;
    }
    // SAFETY: nothing on this stack is needed by the program.
    let error = unsafe { start::enter(start, stack) };
    let message = CString::new(format!("cannot start the program: {error:?}\n")).unwrap_or_default();
    // SAFETY: there is nothing to go back to.
    unsafe {
        libc::write(2, message.as_ptr().cast(), message.as_bytes().len());
        libc::_exit(127)
    }
}

/// Signals mean what they mean to a new program; those of the terminal are for the simulation.
///
/// # Safety
/// To be called in the process of a rank.
unsafe fn reset_signals() {
    // SAFETY: no handler of ours can be called any more.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        let mut stack: libc::stack_t = std::mem::zeroed();
        stack.ss_flags = libc::SS_DISABLE;
        libc::sigaltstack(&stack, std::ptr::null_mut());
    }
}
