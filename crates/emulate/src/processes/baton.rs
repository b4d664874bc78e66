//! One process runs at a time: the baton goes from the simulation to a rank and back.
//!
//! Each rank has a word in shared memory. Whoever gives the baton to the rank sets the word and waits until the rank has set it
//! back. While a rank waits, others cannot reach its memory. What is written there is done by the rank itself, when it goes on
//! ([`later`]): it cannot look before. What is read is read by the rank on behalf of the other ([`now`]).

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::gate;
use crate::heap;

/// The rank waits.
const WAITS: u32 = 0;
/// The rank has the baton.
const RUNS: u32 = 1;
/// The rank has the baton, and some process has ended: perhaps its.
const PERHAPS_ENDED: u32 = 2;

/// A signal may come before its process can be waited for: one looks again after that time.
const LOOK_AGAIN: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Something to be done in a rank's memory.
pub type Letter = Box<dyn FnOnce()>;
/// Something to be looked up in a rank's memory.
pub type Question = Box<dyn FnOnce() -> Vec<u8>>;

/// What the simulation and a rank share.
#[derive(Default)]
struct Channel {
    word: AtomicU32,
    pid: Cell<i32>,
    /// How its process ended, in the words of waitpid.
    ended: Cell<Option<i32>>,
    letters: RefCell<Vec<Letter>>,
    question: RefCell<Option<Question>>,
    answer: RefCell<Vec<u8>>,
}

/// The processes of all ranks.
pub struct Ranks {
    channels: Vec<Channel>,
}

thread_local! {
    /// Those of this run: thread-local data is the same in all processes.
    static RANKS: Cell<*const Ranks> = const { Cell::new(std::ptr::null()) };
}

/// The word that is waited for, for the handler of signals.
static AWAITED: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

impl Ranks {
    /// So many, none of which has a process.
    pub fn new(count: usize) -> Ranks {
        Ranks { channels: (0..count).map(|_| Channel::default()).collect() }
    }

    /// They are those of this run from now on.
    pub fn install(&self) {
        RANKS.set(self);
        // SAFETY: the handler only changes a word.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ended as *const () as usize;
            libc::sigaction(libc::SIGCHLD, &action, std::ptr::null_mut());
        }
    }

    /// A rank has that process.
    pub fn set_pid(&self, rank: usize, pid: i32) {
        self.channels[rank].pid.set(pid);
    }

    /// The process of a rank.
    pub fn pid(&self, rank: usize) -> i32 {
        self.channels[rank].pid.get()
    }

    /// Lets a rank run until it waits. Gives how it ended, if it did. `goes_on` is asked now and then: if not, the rank is killed.
    pub fn resume(&self, rank: usize, goes_on: impl Fn() -> bool) -> Option<i32> {
        let channel = &self.channels[rank];
        let word = &channel.word;
        AWAITED.store(std::ptr::from_ref(word).cast_mut(), Ordering::Relaxed);
        word.store(RUNS, Ordering::Release);
        wake(word);
        loop {
            match word.load(Ordering::Acquire) {
                WAITS => break,
                RUNS if wait(word, RUNS) => {}
                _ => {
                    let pid = channel.pid.get();
                    let status = if goes_on() { look_after(pid, libc::WNOHANG) } else { kill(pid) };
                    if status.is_some() {
                        channel.ended.set(status);
                        break;
                    }
                    let _ = word.compare_exchange(PERHAPS_ENDED, RUNS, Ordering::Relaxed, Ordering::Relaxed);
                }
            }
        }
        AWAITED.store(std::ptr::null_mut(), Ordering::Relaxed);
        channel.ended.get()
    }

    /// Gives the baton back and waits for it, in the process of that rank.
    pub fn suspend(&self, rank: usize) {
        let word = &self.channels[rank].word;
        word.store(WAITS, Ordering::Release);
        wake(word);
        self.wait_for_turn(rank);
    }

    /// Waits for the baton, in the process of that rank. Does meanwhile what others ask.
    pub fn wait_for_turn(&self, rank: usize) {
        let channel = &self.channels[rank];
        loop {
            while channel.word.load(Ordering::Acquire) == WAITS {
                wait(&channel.word, WAITS);
            }
            for letter in channel.letters.take() {
                letter();
            }
            let Some(question) = channel.question.take() else { return };
            channel.answer.replace(question());
            channel.word.store(WAITS, Ordering::Release);
            wake(&channel.word);
        }
    }

    /// Lets a rank that waits look something up.
    fn ask(&self, rank: usize, question: Question) -> Vec<u8> {
        let channel = &self.channels[rank];
        if channel.ended.get().is_some() {
            return Vec::new();
        }
        channel.question.replace(Some(question));
        let outer = AWAITED.load(Ordering::Relaxed);
        self.resume(rank, || true);
        AWAITED.store(outer, Ordering::Relaxed);
        channel.answer.take()
    }

    /// Ends all processes that are left.
    pub fn end(&self) {
        RANKS.set(std::ptr::null());
        // SAFETY: children of this process, that have not been waited for.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            let left = self.channels.iter().filter(|channel| channel.ended.get().is_none() && channel.pid.get() > 0);
            for channel in left.clone() {
                libc::kill(channel.pid.get(), libc::SIGKILL);
            }
            for channel in left {
                libc::waitpid(channel.pid.get(), std::ptr::null_mut(), 0);
            }
        }
    }
}

/// The processes of this run, if ranks are processes.
pub fn ranks() -> Option<&'static Ranks> {
    // SAFETY: they are there from `install` to `end`.
    unsafe { RANKS.get().as_ref() }
}

/// The rank whose memory is at hand: where ranks are processes, that whose process this is.
pub fn own() -> Option<u32> {
    ranks().and_then(|_| gate::here()).map(|here| here.rank as u32)
}

/// Whether memory at that address of a rank can be reached from here.
fn is_at_hand(rank: u32, address: usize) -> bool {
    ranks().is_none() || own() == Some(rank) || heap::contains(address)
}

/// Changes memory of a rank, before the rank can look at it.
pub fn later(rank: u32, address: usize, act: impl FnOnce() + 'static) {
    match ranks() {
        Some(ranks) if !is_at_hand(rank, address) => {
            ranks.channels[rank as usize].letters.borrow_mut().push(Box::new(act));
        }
        _ => act(),
    }
}

/// Looks up or changes memory of a rank at once.
pub fn now(rank: u32, address: usize, act: Question) -> Vec<u8> {
    match ranks() {
        Some(ranks) if !is_at_hand(rank, address) => ranks.ask(rank as usize, act),
        _ => act(),
    }
}

/// Waits as long as the word has that value; false if that was interrupted or took long.
fn wait(word: &AtomicU32, value: u32) -> bool {
    // SAFETY: the word lives as long as the run.
    let result = unsafe {
        let time: *const libc::timespec = if value == RUNS { &LOOK_AGAIN } else { std::ptr::null() };
        libc::syscall(libc::SYS_futex, std::ptr::from_ref(word), libc::FUTEX_WAIT, value, time)
    };
    result == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

fn wake(word: &AtomicU32) {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_futex, std::ptr::from_ref(word), libc::FUTEX_WAKE, 1) };
}

/// Ends a process, wherever it is.
fn kill(pid: i32) -> Option<i32> {
    // SAFETY: a child of this process that has not been waited for.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    let status = look_after(pid, 0);
    heap::unlock();
    status
}

/// How a process ended, if it has.
fn look_after(pid: i32, options: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: a place for the status.
    let found = unsafe { libc::waitpid(pid, &mut status, options) };
    (found == pid).then_some(status)
}

/// A process has ended: whoever waits for it looks.
extern "C" fn ended() {
    // SAFETY: the word of a rank lives as long as the run.
    if let Some(word) = unsafe { AWAITED.load(Ordering::Relaxed).as_ref() } {
        let _ = word.compare_exchange(RUNS, PERHAPS_ENDED, Ordering::Relaxed, Ordering::Relaxed);
    }
}
