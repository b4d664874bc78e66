//! One process runs at a time: the baton goes from the simulation to a rank and back.
//!
//! Each rank has a word in shared memory. Whoever gives the baton to the rank sets the word and waits until the rank has set it
//! back. In the rank, each thread that waits has a [`Turn`] of its own. While a rank waits, others cannot reach its memory. What is written there is done by the rank itself, when it goes on
//! ([`later`]): it cannot look before. What is read is read by the rank on behalf of the other ([`now`]).

use std::arch::asm;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::gate;
use super::threads::Door;
use crate::heap;

/// The rank waits.
const WAITS: u32 = 0;
/// The rank has the baton.
const RUNS: u32 = 1;
/// The rank has the baton, and whoever waits for it should look what has become of it: some process has ended, perhaps its, or one
/// of its threads has begun to wait.
const LOOKS: u32 = 2;

/// A signal may come before its process can be waited for: one looks again after that time, in microseconds.
const LOOK_AGAIN: u32 = 20_000;
/// Where nobody tells that the last of several threads has come to rest, one looks after that time, and then less and less often.
const FIRST_LOOK: u32 = 20;
const LAST_LOOK: u32 = 1000;
/// A rank that is to be killed and is among our functions leaves them first, if it is found outside in so many looks, each after so many
/// microseconds. One that does nothing but call us is outside in a look of some hundred.
const LOOKS_INSIDE: u32 = 20_000;
const LOOK_INSIDE: u32 = 100;

/// Something to be done in a rank's memory.
pub type Letter = Box<dyn FnOnce()>;
/// Something to be looked up in a rank's memory.
pub type Question = Box<dyn FnOnce() -> Vec<u8>>;

/// What a thread of a rank waits for.
#[derive(Default)]
pub struct Turn(AtomicU32);

impl Turn {
    fn come(&self) {
        self.0.store(1, Ordering::Release);
        wake(&self.0);
    }

    fn wait(&self) {
        while self.0.swap(0, Ordering::Acquire) == 0 {
            wait(&self.0, 0, None);
        }
    }
}

/// What the simulation and a rank share.
#[derive(Default)]
struct Channel {
    word: AtomicU32,
    /// Who may be among our functions, of the rank's threads.
    door: Door,
    /// That of a thread which waits, and does what others ask.
    answers: Cell<*const Turn>,
    pid: Cell<i32>,
    /// How its process ended, in the words of waitpid.
    ended: Cell<Option<i32>>,
    letters: RefCell<Vec<Letter>>,
    question: RefCell<Option<Question>>,
    answer: RefCell<Vec<u8>>,
}

impl Channel {
    /// Ends the process, though not while it changes the simulation; nothing if it has given the baton back.
    fn kill(&self) -> Option<i32> {
        let pid = self.pid.get();
        for _ in 0..LOOKS_INSIDE {
            // SAFETY: a child of this process that has not been waited for.
            unsafe { libc::kill(pid, libc::SIGSTOP) };
            let status = look_after(pid, libc::WUNTRACED);
            if !status.is_some_and(|status| libc::WIFSTOPPED(status)) {
                return status;
            }
            if self.door.inside() == 0 {
                break;
            }
            // SAFETY: as above.
            unsafe { libc::kill(pid, libc::SIGCONT) };
            match self.word.load(Ordering::Acquire) {
                WAITS => return None,
                word => wait(&self.word, word, Some(LOOK_INSIDE)),
            };
        }
        kill(pid)
    }
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
            action.sa_flags = libc::SA_NOCLDSTOP;
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

    /// Lets a rank run until it waits. Gives how it ended, if it did. `turn` is that of the thread which goes on; without one, the
    /// thread comes by itself. `look` is asked now and then what becomes of it.
    pub fn resume(&self, rank: usize, turn: Option<&Turn>, look: impl Fn() -> Look) -> Option<i32> {
        let channel = &self.channels[rank];
        let word = &channel.word;
        AWAITED.store(std::ptr::from_ref(word).cast_mut(), Ordering::Relaxed);
        word.store(RUNS, Ordering::Release);
        match turn {
            Some(turn) => turn.come(),
            None => channel.door.open(),
        }
        let mut pause = FIRST_LOOK;
        loop {
            let length = if channel.door.has_several() { pause } else { LOOK_AGAIN };
            match word.load(Ordering::Acquire) {
                WAITS => break,
                RUNS if wait(word, RUNS, Some(length)) => {}
                state => {
                    let _ = word.compare_exchange(LOOKS, RUNS, Ordering::Relaxed, Ordering::Relaxed);
                    pause = if state == LOOKS { FIRST_LOOK } else { LAST_LOOK.min(2 * pause) };
                    let pid = channel.pid.get();
                    let looked = look();
                    let status = if looked == Look::Stopped { channel.kill() } else { look_after(pid, libc::WNOHANG) };
                    if status.is_some() {
                        channel.ended.set(status);
                        break;
                    }
                    if looked == Look::Rests {
                        word.store(WAITS, Ordering::Relaxed);
                        break;
                    }
                }
            }
        }
        AWAITED.store(std::ptr::null_mut(), Ordering::Relaxed);
        channel.ended.get()
    }

    /// Gives the baton back and waits for it, in the process of that rank.
    pub fn suspend(&self, rank: usize, turn: &Turn) {
        self.give_back(rank, turn);
        self.wait_for_turn(rank, turn);
    }

    /// Gives the baton back, in the process of that rank; who has that turn will do what others ask.
    fn give_back(&self, rank: usize, turn: &Turn) {
        let channel = &self.channels[rank];
        channel.answers.set(turn);
        channel.word.store(WAITS, Ordering::Release);
        wake(&channel.word);
    }

    /// One of several threads waits, in the process of that rank, and perhaps the others do: the simulation may look.
    pub fn call_for_look(&self, rank: usize) {
        let word = &self.channels[rank].word;
        let _ = word.compare_exchange(RUNS, LOOKS, Ordering::Release, Ordering::Relaxed);
        wake(word);
    }

    /// Who has that turn does what others ask.
    pub fn set_answering(&self, rank: usize, turn: &Turn) {
        self.channels[rank].answers.set(turn);
    }

    /// The door to our functions for the threads of a rank.
    pub fn door(&self, rank: usize) -> &Door {
        &self.channels[rank].door
    }

    /// Waits for the baton, in the process of that rank. Does meanwhile what others ask.
    pub fn wait_for_turn(&self, rank: usize, turn: &Turn) {
        let channel = &self.channels[rank];
        loop {
            turn.wait();
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
        // SAFETY: the turn of a thread that waits, which it does in memory that stays as long as the run.
        let turn = unsafe { channel.answers.get().as_ref() };
        self.resume(rank, turn, || Look::Runs);
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

/// What becomes of a rank that has the baton.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// It runs.
    Runs,
    /// None of its threads does anything any more, and the door is closed: the baton comes back.
    Rests,
    /// It is to be killed.
    Stopped,
}

/// Waits as long as the word has that value, for so many microseconds at most; false if that was interrupted or took long.
fn wait(word: &AtomicU32, value: u32, most: Option<u32>) -> bool {
    let time = most.map(|most| libc::timespec { tv_sec: 0, tv_nsec: i64::from(most) * 1000 });
    let time: *const libc::timespec = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the time lives as long as the call.
    let result = unsafe { futex(word, libc::FUTEX_WAIT, value, time) };
    result == 0 || result == -libc::EAGAIN
}

fn wake(word: &AtomicU32) {
    // SAFETY: there is no time.
    unsafe { futex(word, libc::FUTEX_WAKE, 1, std::ptr::null()) };
}

/// Asks the kernel; an error is a negative number. Whoever waits leaves `errno` alone: it is that of all processes, and others go on
/// meanwhile.
///
/// # Safety
/// The time must be one, or null.
unsafe fn futex(word: &AtomicU32, what: i32, value: u32, time: *const libc::timespec) -> i32 {
    let result: isize;
    // SAFETY: the kernel looks at the word and the time, and changes no memory.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") libc::SYS_futex as isize => result,
            in("rdi") std::ptr::from_ref(word),
            in("rsi") what as isize,
            in("rdx") value as usize,
            in("r10") time,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    result as i32
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
        let _ = word.compare_exchange(RUNS, LOOKS, Ordering::Relaxed, Ordering::Relaxed);
    }
}
