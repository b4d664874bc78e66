//! A rank that is a process, as a task of the simulation.

use std::cell::RefCell;
use std::ffi::{CString, c_int};
use std::fs::File;
use std::future::Future;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use super::baton::Ranks;
use super::gate;
use super::start::{self, Start};
use crate::output::{Stream, Written};
use crate::process::{Ending, Process};

/// Below what this program has on the first stack comes the one of the rank's program.
const DISTANCE: usize = 64 << 10;

/// A rank that is a process.
pub struct RankProcess {
    process: Rc<Process>,
    ranks: Rc<Ranks>,
    text: Text,
}

/// What the process writes, on its way to us.
pub struct Text {
    streams: Vec<(RefCell<File>, RefCell<Written>)>,
}

impl RankProcess {
    /// Forks the process of a rank. It waits for its turn to begin the program.
    pub fn new(process: Rc<Process>, ranks: Rc<Ranks>, start: &Start, prefix: bool) -> io::Result<RankProcess> {
        let number = process.number();
        let pipes = [pipe()?, pipe()?];
        let simulation = std::process::id();
        // SAFETY: this thread goes on in the new process. The C library does not learn of it: its data is shared.
        let pid = unsafe { libc::syscall(libc::SYS_fork) } as i32;
        match pid {
            -1 => return Err(io::Error::last_os_error()),
            0 => begin(&process, &ranks, start, &pipes, simulation),
            pid => ranks.set_pid(number as usize, pid),
        }
        let stream =
            |stream, [from, _]: [File; 2]| (RefCell::new(from), RefCell::new(Written::new(number, stream, prefix)));
        let [out, err] = pipes;
        let streams = vec![stream(Stream::Out, out), stream(Stream::Err, err)];
        Ok(RankProcess { process, ranks, text: Text { streams } })
    }
}

/// A pipe from which nobody waits to read.
fn pipe() -> io::Result<[File; 2]> {
    let mut ends = [0; 2];
    // SAFETY: a place for two numbers; the files are ours then.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::fcntl(ends[0], libc::F_SETFL, libc::O_NONBLOCK);
        Ok(ends.map(|end| File::from_raw_fd(end)))
    }
}

impl Text {
    /// Passes on what was written.
    fn pass_on(&self) {
        let mut buffer = [0; 4096];
        for (pipe, written) in &self.streams {
            while let Ok(count @ 1..) = pipe.borrow_mut().read(&mut buffer) {
                written.borrow_mut().add(&buffer[..count]);
            }
        }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.pass_on();
        for (_, written) in &self.streams {
            written.borrow_mut().finish();
        }
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
        process.switch_to();
        let status = self.ranks.resume(process.number() as usize, || {
            self.text.pass_on();
            !is_stopped()
        });
        self.text.pass_on();
        Process::switch_away();
        if let Some(status) = status {
            // Whoever is stopped has not ended by itself.
            process.has_gone(Some(ending(status)).filter(|_| !is_stopped()));
        }
        if process.has_ended() { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// How a process ended, from what waitpid says.
fn ending(status: c_int) -> Ending {
    if libc::WIFEXITED(status) {
        return Ending::Exit(libc::WEXITSTATUS(status));
    }
    match libc::WTERMSIG(status) {
        libc::SIGABRT => Ending::Aborted("abort() was called".to_owned()),
        signal => Ending::Signal { signal: crate::signals::name(signal), backtrace: Vec::new() },
    }
}

/// The process of a rank begins.
fn begin(process: &Process, ranks: &Ranks, start: &Start, pipes: &[[File; 2]; 2], simulation: u32) -> ! {
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
        libc::dup2(pipes[0][1].as_raw_fd(), 1);
        libc::dup2(pipes[1][1].as_raw_fd(), 2);
        for end in pipes.iter().flatten() {
            libc::close(end.as_raw_fd());
        }
    }
    ranks.wait_for_turn(number);
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
