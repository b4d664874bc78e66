//! Windows: memory that other ranks reach.
//!
//! **When data moves.** All ranks' memory can be reached (where ranks are processes, with their help), so an operation is a function that is called at some moment: that at
//! which its message comes to the target in simulated time. What is put is copied from the origin when the program calls;
//! what is got is read when the request has come to the target, and is in the origin's memory when the answer is there.
//! Operations of one rank on another take effect in the order of the calls, as the standard asks of accumulates and a
//! reliable connection does with all. Nobody sees more than simulated messages justify: what the program may read, it may
//! read after a call that has waited for those messages.
//!
//! **What it costs.** An operation is a message of its size, and an answer where data comes back; the origin pays the overhead of
//! a send, the target nothing (its adapter or a progress thread does the work). Locks, posts and the ends of
//! epochs are empty messages in the same order.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use hpcast_mpi::{Comm, Context, Mode, Parcel, Promise, Rank, Request, Sending, Style};
use hpcast_objects::{Group, Info};

use crate::attributes::Attributes;
use crate::call::{Call, Language};
use crate::fault::Handler;

/// Memory of a window that MPI itself has allocated, all zeros at first.
pub struct Memory {
    address: *mut u8,
    layout: Layout,
}

impl Memory {
    /// So many bytes, if there are.
    pub fn new(bytes: usize) -> Option<Memory> {
        let layout = Layout::from_size_align(bytes.max(1), 64).ok()?;
        // SAFETY: new memory.
        let address = unsafe { alloc_zeroed(layout) };
        (!address.is_null()).then_some(Memory { address, layout })
    }

    /// Where it begins.
    pub fn address(&self) -> usize {
        self.address as usize
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated so, and the window is gone.
        unsafe { dealloc(self.address, self.layout) };
    }
}

/// A window, as one rank sees it.
pub struct Window {
    /// What is done about faults.
    pub handler: Cell<Handler>,
    /// Its attributes.
    pub attributes: Rc<Attributes>,
    /// MPI_Win_set_name.
    pub name: RefCell<String>,
    /// MPI_Win_set_info.
    pub info: RefCell<Info>,
    /// Its ranks.
    pub group: Rc<Group>,
    /// MPI_WIN_BASE: where my memory begins.
    pub base: usize,
    /// MPI_WIN_SIZE: how long it is.
    pub size: i64,
    /// MPI_WIN_DISP_UNIT.
    pub unit: i32,
    /// MPI_WIN_CREATE_FLAVOR, in the library's words.
    pub flavor: i32,
    /// MPI_WIN_MODEL, likewise.
    pub model: i32,
    /// What messages go through.
    pub comm: Comm,
    /// What all ranks share.
    pub shared: Rc<Shared>,
    /// Memory of mine that goes with the window.
    pub _memory: Option<Memory>,
    /// Operations that may not have come to their targets.
    pub outstanding: RefCell<Vec<Outstanding>>,
    /// What I may do with whom.
    pub epoch: RefCell<Epoch>,
}

impl Window {
    /// The value of one of MPI's own attributes: C gets an address, that of the memory itself or of the value.
    pub fn predefined(&self, call: &Call<'_>, key: i32) -> Option<i64> {
        const NAMES: [&str; 5] =
            ["MPI_WIN_BASE", "MPI_WIN_SIZE", "MPI_WIN_DISP_UNIT", "MPI_WIN_CREATE_FLAVOR", "MPI_WIN_MODEL"];
        let (value, address) = match call.abi.name_of(call.own_key(key), &NAMES)? {
            "MPI_WIN_BASE" => (self.base as i64, self.base),
            "MPI_WIN_SIZE" => (self.size, &raw const self.size as usize),
            "MPI_WIN_DISP_UNIT" => (i64::from(self.unit), &raw const self.unit as usize),
            "MPI_WIN_CREATE_FLAVOR" => (i64::from(self.flavor), &raw const self.flavor as usize),
            _ => (i64::from(self.model), &raw const self.model as usize),
        };
        Some(if call.language == Language::C { address as i64 } else { value })
    }
}

/// What a rank may do with a window.
#[derive(Default)]
pub struct Epoch {
    /// Between fences.
    pub fenced: bool,
    /// Targets of MPI_Win_start.
    pub started: Option<BTreeSet<u32>>,
    /// How many origins MPI_Win_post has let in.
    pub posted: Option<u32>,
    /// Targets that I have locked; whether the lock is a real one, and not promised to be free (MPI_MODE_NOCHECK).
    pub locks: BTreeMap<u32, bool>,
    /// MPI_Win_lock_all: whether locks are real. A target is asked when it is first needed.
    pub all: Option<bool>,
    /// Targets that were asked for that.
    pub asked: BTreeSet<u32>,
}

/// An operation under way.
pub struct Outstanding {
    /// Where to.
    pub target: u32,
    /// Ends when the origin's memory is free; none: it is.
    pub sent: Option<Request>,
    /// Ends when it is done at the target, and the answer is there if there is one.
    pub done: Request,
    /// Whether data comes back.
    pub answers: bool,
}

/// What all ranks of a window share.
pub struct Shared {
    context: Context,
    group: Rc<Group>,
    /// What belongs to each rank.
    pub sides: RefCell<Vec<Side>>,
    orders: RefCell<HashMap<(u32, u32), Order>>,
    tags: Cell<i32>,
    /// The memory of all, if it is one piece.
    pub _memory: Option<Memory>,
}

/// One rank's part of a window.
#[derive(Default)]
pub struct Side {
    /// Where its memory begins.
    pub base: usize,
    /// How long it is.
    pub size: i64,
    /// What displacements count.
    pub unit: i64,
    /// Memory that was attached: begin and length.
    pub attached: BTreeMap<usize, usize>,
    lock: Lock<Grant>,
    /// Ranks that have posted to me, and how often.
    pub posts: BTreeMap<u32, u32>,
    /// Origins that have completed.
    pub completes: u32,
    /// The rank itself waits for a change.
    waiting: Option<Promise>,
}

impl Side {
    /// Memory of so many bytes.
    pub fn new(base: usize, size: i64, unit: i64) -> Side {
        Side { base, size, unit, ..Side::default() }
    }
}

/// Somebody waits for a lock.
struct Grant {
    origin: u32,
    promise: Promise,
}

/// What is done at the target by whoever acts there.
pub type Effect = Box<dyn FnOnce(&Rank)>;

/// Keeps operations of one rank on another in the order of the calls.
#[derive(Default)]
struct Order {
    issued: u32,
    done: u32,
    early: BTreeMap<u32, Effect>,
}

impl Order {
    /// Number `number` has come: what can be done now, in order.
    fn come(&mut self, number: u32, effect: Effect) -> Vec<Effect> {
        self.early.insert(number, effect);
        let mut ready = Vec::new();
        while let Some(effect) = self.early.remove(&self.done) {
            self.done = self.done.wrapping_add(1);
            ready.push(effect);
        }
        ready
    }
}

/// A lock: many share it, or one has it alone. Who waits is served in the order of asking.
struct Lock<T> {
    alone: bool,
    sharing: u32,
    queue: VecDeque<(bool, T)>,
}

impl<T> Default for Lock<T> {
    fn default() -> Lock<T> {
        Lock { alone: false, sharing: 0, queue: VecDeque::new() }
    }
}

impl<T> Lock<T> {
    /// Asks for it; gives all who have got it by that.
    fn ask(&mut self, alone: bool, who: T) -> Vec<T> {
        self.queue.push_back((alone, who));
        self.serve()
    }

    /// One who has it gives it back; gives all who have got it by that.
    fn release(&mut self) -> Vec<T> {
        if self.alone {
            self.alone = false;
        } else {
            self.sharing = self.sharing.saturating_sub(1);
        }
        self.serve()
    }

    fn serve(&mut self) -> Vec<T> {
        let mut served = Vec::new();
        while let Some(&(alone, _)) = self.queue.front() {
            if self.alone || alone && self.sharing > 0 {
                break;
            }
            if alone {
                self.alone = true;
            } else {
                self.sharing += 1;
            }
            served.extend(self.queue.pop_front().map(|(_, who)| who));
        }
        served
    }
}

impl Shared {
    /// A window of these ranks.
    pub fn new(context: Context, group: Rc<Group>, sides: Vec<Side>, memory: Option<Memory>) -> Shared {
        let sides = RefCell::new(sides);
        Shared { context, group, sides, orders: RefCell::default(), tags: Cell::new(0), _memory: memory }
    }

    /// Its communicator, seen by one of its ranks.
    pub fn comm(&self, rank: u32) -> Comm {
        Comm::new(self.context, rank, self.group.size())
    }

    fn next_tag(&self) -> i32 {
        let tag = self.tags.get();
        self.tags.set((tag + 1) & 0x3FFF_FFFF);
        tag
    }

    /// The rank of the whole run.
    pub fn world(&self, rank: u32) -> u32 {
        self.group.process(rank).unwrap_or_default()
    }

    /// Does something at a target, after what was asked for before. Ends when the origin has sent it.
    ///
    /// To itself a rank sends no message; the caller must have let the simulation come to its time.
    pub fn ask(self: &Rc<Shared>, me: &Rank, origin: u32, target: u32, bytes: u64, effect: Effect) -> Option<Request> {
        if origin == target {
            effect(me);
            return None;
        }
        let number = {
            let mut orders = self.orders.borrow_mut();
            let order = orders.entry((origin, target)).or_default();
            order.issued = order.issued.wrapping_add(1);
            order.issued.wrapping_sub(1)
        };
        let shared = self.clone();
        let tag = self.next_tag();
        self.receive(me, origin, target, tag, move |there| {
            let ready = {
                let mut orders = shared.orders.borrow_mut();
                orders.entry((origin, target)).or_default().come(number, effect)
            };
            for effect in ready {
                effect(there);
            }
        });
        let sending =
            Sending { comm: self.comm(origin), to: target, tag, bytes, mode: Mode::Standard, parcel: Parcel::NONE };
        Some(me.start_send(sending, Style::Nonblocking))
    }

    /// Sends something back from the target, by whoever acts there, and does something with it at the origin.
    pub fn answer(&self, there: &Rank, target: u32, origin: u32, bytes: u64, then: impl FnOnce(&Rank) + 'static) {
        if origin == target {
            return then(there);
        }
        let (comm, tag) = (self.comm(target), self.next_tag());
        there.start_at(self.world(target), |helper| async move { helper.send(comm, origin, tag, bytes).await });
        self.receive(there, target, origin, tag, then);
    }

    fn receive(&self, me: &Rank, from: u32, to: u32, tag: i32, then: impl FnOnce(&Rank) + 'static) {
        let comm = self.comm(to);
        me.start_at(self.world(to), |helper| async move {
            helper.recv(comm, from, tag).await;
            then(&helper);
        });
    }

    /// Asks for the lock of a target, at the target.
    pub fn lock(self: &Rc<Shared>, there: &Rank, target: u32, origin: u32, alone: bool, promise: Promise) {
        let served = self.sides.borrow_mut()[target as usize].lock.ask(alone, Grant { origin, promise });
        self.grant(there, target, served);
    }

    /// Gives the lock of a target back, at the target.
    pub fn unlock(self: &Rc<Shared>, there: &Rank, target: u32) {
        let served = self.sides.borrow_mut()[target as usize].lock.release();
        self.grant(there, target, served);
    }

    fn grant(&self, there: &Rank, target: u32, served: Vec<Grant>) {
        for Grant { origin, promise } in served {
            self.answer(there, target, origin, 0, move |here| here.keep(promise));
        }
    }

    /// Changes the side of a rank, and wakes the rank if it waits for that.
    pub fn change(&self, there: &Rank, rank: u32, change: impl FnOnce(&mut Side)) {
        let waiting = {
            let mut sides = self.sides.borrow_mut();
            change(&mut sides[rank as usize]);
            sides[rank as usize].waiting.take()
        };
        if let Some(promise) = waiting {
            there.keep(promise);
        }
    }

    /// If what the rank waits for is not there, what it waits for; else nothing.
    pub fn wait_for(&self, me: &Rank, rank: u32, purpose: &'static str, is: impl Fn(&Side) -> bool) -> Option<Request> {
        let mut sides = self.sides.borrow_mut();
        let side = &mut sides[rank as usize];
        if is(side) {
            return None;
        }
        let (request, promise) = me.promise(purpose);
        side.waiting = Some(promise);
        Some(request)
    }
}

#[cfg(test)]
mod tests;
