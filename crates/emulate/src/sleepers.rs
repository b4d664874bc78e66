//! Ranks that are suspended: where their memory is, and how others reach it.
//!
//! With thousands of ranks, what a rank needs when it goes on is no longer in the processor's caches: what is on its stack, and the first
//! lines of its [`Process`]. Where they lie is kept here, side by side, so that the simulation can ask for them some ranks ahead.
//!
//! **One stack for all.** Even then each stack lies in pages of its own, and to find such a page takes longer than all else: at 10,000 ranks it
//! was a fifth of the time of an exchange with neighbours. So many ranks run on one stack. What a rank has on it when it is suspended, a kilobyte as a rule,
//! is kept elsewhere, close to that of others, and put back when it goes on. A buffer on the stack of a suspended rank is then
//! where that is kept ([`Sleepers::home`]).

use std::alloc::{Layout as Room, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use hpcast_mpi::Fetch;

use crate::copying::{give_up, guarded_once};
use crate::layout::Layout;
use crate::process::Process;
use crate::processes::baton::{self, Letter, Question};
use crate::stacks::{Bounds, pointer};

/// The lines of a stack of its own that a call of MPI and its caller take, as a rule.
const STACK: usize = 13 * LINE;
/// What is fetched at most of what is kept of a stack.
const MOST: usize = 32 * LINE;
/// The lines of a process that every call needs.
const PROCESS: usize = 4 * LINE;
const LINE: usize = 64;
/// What functions put on a stack between our look at its end and the moment when it is left: some registers.
const BELOW: usize = if cfg!(debug_assertions) { 4096 } else { 128 };

/// A rank that is suspended.
#[derive(Clone, Copy)]
struct Sleeper {
    process: usize,
    /// The end of its stack.
    end: usize,
    /// Where what it had on the stack of all is kept; room for so many bytes, of which so many are in use.
    kept: *mut u8,
    room: u32,
    depth: u32,
}

impl Sleeper {
    const NOWHERE: Sleeper = Sleeper { process: 0, end: 0, kept: std::ptr::null_mut(), room: 0, depth: 0 };

    /// Has room for so many bytes, and not for many more: the functions that begin a program go deeper than those that follow.
    fn make_room(&mut self, bytes: usize) {
        const SMALLEST: usize = 512;
        let room = self.room as usize;
        if bytes <= room && (room <= SMALLEST || 2 * bytes > room) {
            return;
        }
        self.free();
        let room = bytes.next_multiple_of(2 * LINE);
        let layout = Sleeper::layout(room);
        // SAFETY: the size is not zero.
        self.kept = unsafe { alloc(layout) };
        if self.kept.is_null() {
            handle_alloc_error(layout);
        }
        self.room = room as u32;
    }

    fn free(&mut self) {
        if self.room > 0 {
            // SAFETY: allocated so by `make_room`.
            unsafe { dealloc(self.kept, Sleeper::layout(self.room as usize)) };
        }
        (self.kept, self.room, self.depth) = (std::ptr::null_mut(), 0, 0);
    }

    fn layout(room: usize) -> Room {
        Room::from_size_align(room, LINE).expect("stacks are much smaller than all memory")
    }
}

/// All ranks; clones are the same.
#[derive(Clone)]
pub struct Sleepers(Rc<All>);

struct All {
    ranks: Box<[Cell<Sleeper>]>,
    /// The stack that all run on; empty if each has its own.
    stack: Cell<Bounds>,
    /// Where the thread-local data of the rank that runs is, if ranks take turns there: from, and how many bytes.
    zone: Cell<(usize, usize)>,
    /// What is to be done before a rank goes on.
    letters: RefCell<HashMap<u32, Vec<Letter>>>,
    /// How often something was kept of that stack, and how many bytes in all.
    kept: Cell<(u64, u64)>,
}

impl Drop for All {
    fn drop(&mut self) {
        self.ranks.iter().for_each(|rank| rank.replace(Sleeper::NOWHERE).free());
    }
}

impl Sleepers {
    /// So many ranks, of which nothing is known, with stacks of their own.
    pub fn new(ranks: u32) -> Sleepers {
        Sleepers(Rc::new(All {
            ranks: (0..ranks).map(|_| Cell::new(Sleeper::NOWHERE)).collect(),
            stack: Cell::default(),
            zone: Cell::default(),
            letters: RefCell::default(),
            kept: Cell::default(),
        }))
    }

    /// Whether their memory is too much for the processor's caches. Ranks on one stack always count as many.
    #[inline]
    pub fn are_many(&self) -> bool {
        const MANY: usize = 2048;
        self.0.ranks.len() >= MANY || self.share_stack()
    }

    /// All ranks run on one stack.
    pub fn share(&self, stack: Bounds) {
        self.0.stack.set(stack);
    }

    /// The thread-local data of the rank that runs is always there.
    pub fn take_turns(&self, zone: std::ops::Range<usize>) {
        self.0.zone.set((zone.start, zone.len()));
    }

    /// Whether they do.
    #[inline]
    fn share_stack(&self) -> bool {
        self.0.stack.get().base != 0
    }

    /// A rank is suspended here and now.
    #[inline]
    pub fn lie_down(&self, process: &Process) {
        let rank = &self.0.ranks[process.number() as usize];
        rank.set(Sleeper { process: std::ptr::from_ref(process) as usize, end: pointer(), ..rank.get() });
    }

    /// What a suspended rank has on the stack of all is kept. Not to be called on that stack.
    #[inline]
    pub fn keep_stack(&self, rank: u32) {
        if !self.share_stack() {
            return;
        }
        let (stack, rank) = (self.0.stack.get(), &self.0.ranks[rank as usize]);
        let mut sleeper = rank.get();
        // Who was suspended on a stack that it has made itself has left an unknown part of this one in use.
        let end = if stack.holds(sleeper.end) { sleeper.end - BELOW } else { stack.lowest_touched() };
        let depth = stack.base - end;
        sleeper.make_room(depth);
        sleeper.depth = depth as u32;
        // SAFETY: the stack is mapped from there to its base, and nobody runs on it; there is room for so many bytes.
        unsafe { sleeper.kept.copy_from_nonoverlapping(end as *const u8, depth) };
        rank.set(sleeper);
        let (times, bytes) = self.0.kept.get();
        self.0.kept.set((times + 1, bytes + depth as u64));
    }

    /// How many bytes were kept at a time, on average; none if ranks have their own stacks.
    pub fn mean_depth(&self) -> Option<usize> {
        let (times, bytes) = self.0.kept.get();
        bytes.checked_div(times).map(|mean| mean as usize)
    }

    /// Puts that back, and does what was to be done before the rank goes on. Not to be called on that stack.
    #[inline]
    pub fn restore_stack(&self, rank: u32) {
        if !self.share_stack() {
            return;
        }
        let Sleeper { kept, depth, .. } = self.0.ranks[rank as usize].get();
        let end = self.0.stack.get().base - depth as usize;
        // SAFETY: as above.
        unsafe { (end as *mut u8).copy_from_nonoverlapping(kept, depth as usize) };
        if !self.0.letters.borrow().is_empty() {
            let letters = self.0.letters.borrow_mut().remove(&rank);
            for letter in letters.into_iter().flatten() {
                if let Err(fault) = guarded_once(letter) {
                    give_up(rank, fault);
                }
            }
        }
    }

    /// The end of the stack of a rank, when it was last suspended.
    pub fn stack(&self, rank: u32) -> usize {
        self.0.ranks[rank as usize].get().end
    }

    /// Where bytes of a rank's memory are now, which may be on its stack. None if they were on a part of it that is no longer in use.
    #[inline]
    pub fn home(&self, rank: u32, address: usize, bytes: usize) -> Option<usize> {
        match self.has(address) {
            true => self.home_of_stack(rank, address, bytes),
            false => Some(self.home_of_thread_local(rank, address)),
        }
    }

    /// Where a byte of a rank's memory is now, which may be thread-local.
    #[inline]
    pub fn home_of_thread_local(&self, rank: u32, address: usize) -> usize {
        if !self.is_thread_local(address) || runs(rank) {
            return address;
        }
        let process = self.0.ranks[rank as usize].get().process as *const Process;
        // SAFETY: set when the rank was suspended, which it was if it does not run; processes live as long as the simulation.
        let kept = unsafe { &*process }.copy().instance.kept_thread_local();
        kept + (address - self.0.zone.get().0)
    }

    #[inline]
    fn is_thread_local(&self, address: usize) -> bool {
        let (start, bytes) = self.0.zone.get();
        address.wrapping_sub(start) < bytes
    }

    /// Whether an address is that of something else whenever another rank goes on.
    #[inline]
    pub fn moves(&self, address: usize) -> bool {
        self.has(address) || self.is_thread_local(address)
    }

    fn home_of_stack(&self, rank: u32, address: usize, bytes: usize) -> Option<usize> {
        if runs(rank) {
            return Some(address);
        }
        let (base, Sleeper { kept, depth, .. }) = (self.0.stack.get().base, self.0.ranks[rank as usize].get());
        let offset = address.checked_sub(base - depth as usize)?;
        (offset + bytes <= depth as usize).then(|| kept as usize + offset)
    }

    /// Whether an address is on the stack of all.
    pub fn has(&self, address: usize) -> bool {
        self.0.stack.get().holds(address)
    }

    /// Whether data in a buffer may be on the stack of all, in part at least.
    pub fn is_on_stack(&self, layout: &Layout, address: usize) -> bool {
        if !self.share_stack() {
            return false;
        }
        let (stack, (begin, end)) = (self.0.stack.get(), layout.span(address));
        begin < stack.base && end > stack.limit
    }

    /// Changes memory of a rank, before the rank can look at it.
    pub fn later(&self, rank: u32, address: usize, layout: &Layout, act: impl FnOnce() + 'static) {
        if self.is_on_stack(layout, address) && !runs(rank) {
            self.0.letters.borrow_mut().entry(rank).or_default().push(Box::new(act));
        } else {
            baton::later(rank, address, act);
        }
    }

    /// Looks up or changes memory of a rank at once; none of the others runs.
    pub fn now(&self, rank: u32, address: usize, act: Question) -> Vec<u8> {
        if !self.has(address) || runs(rank) {
            return baton::now(rank, address, act);
        }
        if self.0.ranks[rank as usize].get().depth == 0 {
            return Vec::new();
        }
        assert!(Process::running().is_none(), "the stack is in use");
        self.restore_stack(rank);
        let found = act();
        self.keep_stack(rank);
        found
    }
}

impl Fetch for Sleepers {
    #[inline]
    fn look_for(&self, rank: u32) {
        // Work in the background has no place here.
        if let Some(sleeper) = self.0.ranks.get(rank as usize) {
            hpcast_engine::prefetch(sleeper);
        }
    }

    #[inline]
    fn fetch(&self, rank: u32) {
        let Some(sleeper) = self.0.ranks.get(rank as usize) else { return };
        let Sleeper { process, end, kept, depth, .. } = sleeper.get();
        fetch(process, PROCESS);
        match depth {
            0 => fetch(end.wrapping_sub(LINE), STACK),
            _ => fetch(kept as usize, (depth as usize).min(MOST)),
        }
    }
}

/// Whether that rank runs now.
fn runs(rank: u32) -> bool {
    Process::running().is_some_and(|process| process.number() == rank)
}

#[inline]
fn fetch(from: usize, bytes: usize) {
    for line in (0..bytes).step_by(LINE) {
        hpcast_engine::prefetch_line(from.wrapping_add(line) as *const u8);
    }
}
