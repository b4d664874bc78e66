//! A rank that is a process, as a task of the simulation.

use std::ffi::{CString, c_int};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use super::baton::Ranks;
use super::gate;
use super::start::{self, Start};
use super::text::{Ends, Held, Text};
use crate::process::{Ending, Process};
use crate::watch::ProcessWatch;

/// Below what this program has on the first stack comes the one of the rank's program.
const DISTANCE: usize = 64 << 10;

/// A rank that is a process.
pub struct RankProcess {
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
        let simulation = std::process::id();
        // SAFETY: this thread goes on in the new process. The C library does not learn of it: its data is shared.
        match unsafe { libc::syscall(libc::SYS_fork) } as i32 {
            -1 => return Err(io::Error::last_os_error()),
            0 => begin(&process, &ranks, start, &ends, simulation),
            pid => ranks.set_pid(process.number() as usize, pid),
        }
        Ok(RankProcess { process, ranks, text, held, watch: ProcessWatch::new(patience) })
    }
}

impl Future for RankProcess {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let process = &self.process;
        if process.has_ended() {
            return Poll::Ready(());
        }
        let is_stopped = || process.world.stop.load(Ordering::Relaxed);
        if is_stopped() {
            return Poll::Pending;
        }
        self.held.print_until(process.rank.simulated());
        process.switch_to();
        let status = self.ranks.resume(process.number() as usize, || {
            self.text.take();
            self.watch.look(process, self.ranks.pid(process.number() as usize));
            !is_stopped()
        });
        self.text.hold(process.rank.now());
        Process::switch_away();
        if let Some(status) = status {
            process.has_gone(if is_stopped() { Ending::Stopped } else { ending(status) });
        }
        if process.has_ended() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for RankProcess {
    fn drop(&mut self) {
        self.text.finish(self.process.rank.now());
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

/// The process of a rank begins.
fn begin(process: &Process, ranks: &Ranks, start: &Start, ends: &Ends, simulation: u32) -> ! {
    let number = process.number() as usize;
    // SAFETY: the kernel's functions, on what belongs to this process only.
    unsafe {
        gate::become_rank(number, libc::getpid());
        // Whoever ends the simulation ends its ranks.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != simulation {
            libc::_exit(1);
        }
        reset_signals();
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
    ranks.wait_for_turn(number);
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
