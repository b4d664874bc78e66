//! Threads of a rank that are in MPI at the same time (MPI_THREAD_MULTIPLE).
//!
//! Who is among our functions is told by the door of the rank: one thread at a time. As a rule that thread keeps the door while it waits
//! for the simulation. Where a program may be in MPI with several threads and has started some, it opens the door instead: others come in
//! meanwhile. Each thread has a seat, a task of the simulation that is resumed when what this thread waits for is there.
//!
//! **When a rank waits.** It has the baton until nothing moves in it any more: each of its threads waits in MPI, or sleeps in the
//! kernel until another one wakes it (`rest.rs`). Then the simulation closes the door and goes on, until it resumes one of those that wait in MPI. Whatever else happens in
//! the process was then caused by that one. So it does not matter how long anything takes on this computer, up to a second: then the simulation goes on without
//! threads that compute, and waits for them when it has nothing else to do. They may be waiting for others themselves, by looking at memory.
//!
//! **Clocks.** Each thread has its own, for threads compute at the same time. Who comes from outside was asleep while the simulation went on,
//! and finds its clock at the simulation's time at least; who leaves a function of MPI waits until the simulation has come to its clock. So all
//! threads that are outside are at the same time, and whatever they tell each other there, by memory, locks or by ending, is
//! told by none to an earlier one.

use std::cell::{Cell, OnceCell, RefCell};
use std::mem::offset_of;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hpcast_mpi::{Promise, Rank};
use hpcast_units::Time;

use super::baton::{self, Ranks, Turn};
use super::gate;
use super::rank::Body;
use super::rest;
use crate::fiber::block_on;
use crate::process::{Doing, Process};

/// Who is among our functions, of the threads of a rank: the rank and the simulation see it.
#[derive(Default)]
#[repr(C)]
pub struct Door {
    /// The thread pointer of the one that is inside; 0: nobody, and it is open; [`Door::CLOSED`].
    inside: AtomicUsize,
    /// How many want to come in.
    knocking: AtomicU32,
    /// Others may come in while one waits.
    has_several: Cell<bool>,
}

impl Door {
    /// Nobody may come in: the rank waits, or one of its threads that wait inside goes on.
    pub const CLOSED: usize = 1;
    /// Where the gate finds who is inside.
    pub const INSIDE: usize = offset_of!(Door, inside);
    /// Where the gate counts who wants to come in.
    pub const KNOCKING: usize = offset_of!(Door, knocking);

    /// Who is inside.
    #[inline]
    pub fn inside(&self) -> usize {
        self.inside.load(Ordering::Relaxed)
    }

    /// Somebody is inside, who has had it closed so far.
    pub fn enter(&self, thread: usize) {
        self.inside.store(thread, Ordering::Release);
    }

    /// Others may come in.
    pub fn open(&self) {
        self.inside.store(0, Ordering::Release);
    }

    /// Whoever is inside closes it.
    fn close(&self) {
        self.inside.store(Door::CLOSED, Ordering::Release);
    }

    /// Closes it if nobody is inside.
    fn close_if_empty(&self) -> bool {
        self.inside.compare_exchange(0, Door::CLOSED, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Whether others may come in while one waits.
    #[inline]
    pub fn has_several(&self) -> bool {
        self.has_several.get()
    }
}

/// Times that differ by less are the same for who has read a clock in between.
const NEAR: Time = Time::from_ps(10_000_000);
/// After that time a thread that computes may be waiting for one that waits for a deadline: as one of Python does, where another one holds its
/// lock.
const PATIENCE: Duration = Duration::from_millis(100);

/// After that time the simulation goes on without threads that compute while others of the rank wait in MPI: they may only look, again and again,
/// whether these have gone on.
const TOO_LONG: Duration = Duration::from_secs(1);

/// A thread, as the simulation sees it.
pub struct Seat {
    /// Its thread pointer.
    thread: Cell<usize>,
    /// Its number for the kernel.
    number: Cell<i32>,
    /// Its place in the simulation; that of the first thread is the rank's.
    pub rank: Rank,
    /// What it waits for in the process of the rank.
    pub turn: Turn,
    /// It waits for the simulation.
    waits: Cell<bool>,
    /// What it was doing when another one came in.
    doing: Cell<Doing>,
    /// It waits in the C library until a given time; how often it has begun to.
    is_timed: Cell<bool>,
    timed: Cell<u64>,
    /// The last of these times, how often the rank had been resumed when it first waited until then, and when that was.
    deadline: Cell<Option<(Time, u64, Instant)>>,
}

/// The threads of a rank that is a process.
pub struct Threads {
    /// That of the program's first thread, and of all others as long as they come one after the other.
    pub first: Rc<Seat>,
    others: RefCell<Vec<Rc<Seat>>>,
    /// Whose work the rank's [`Process`] shows.
    seated: RefCell<Option<Rc<Seat>>>,
    /// The rank, as a task of the simulation.
    body: OnceCell<Weak<Body>>,
    /// The program has started threads.
    has_started: Cell<bool>,
    /// It may be in MPI with several at a time.
    may_be_many: Cell<bool>,
    /// What threads wait for that only others do.
    promises: RefCell<Vec<Promise>>,
    /// Threads that compute and are not waited for.
    restless: RefCell<Vec<i32>>,
    /// What the rank had done when its threads were seen not to be at rest, and when that was first so.
    seen: Cell<Option<(u32, Instant)>>,
    /// How often the simulation has resumed the rank.
    resumed: Cell<u64>,
    /// The thread that will come in by itself, since its time has come; 0: none.
    due: Cell<usize>,
}

impl Threads {
    /// One thread, whose place is that of the rank.
    pub fn new(rank: &Rank) -> Threads {
        Threads {
            first: Rc::new(Seat::new(0, rank.clone())),
            others: RefCell::default(),
            seated: RefCell::default(),
            body: OnceCell::new(),
            has_started: Cell::default(),
            may_be_many: Cell::default(),
            promises: RefCell::default(),
            restless: RefCell::default(),
            seen: Cell::default(),
            resumed: Cell::default(),
            due: Cell::default(),
        }
    }

    /// They are those of this rank.
    pub fn belong_to(&self, body: &Rc<Body>) {
        let _ = self.body.set(Rc::downgrade(body));
    }

    /// The program may be in MPI with several threads at a time.
    pub fn allow_many(&self, me: &Process) {
        self.may_be_many.set(true);
        self.begin(me);
    }

    /// The program starts a thread.
    fn start(&self, me: &Process) {
        self.has_started.set(true);
        self.begin(me);
    }

    /// From now on threads are told apart, if there are several and they may all be in MPI.
    fn begin(&self, me: &Process) {
        let Some(ranks) = baton::ranks().filter(|_| self.has_started.get() && self.may_be_many.get()) else { return };
        let door = ranks.door(me.number() as usize);
        if !door.has_several.replace(true) {
            me.has_threads.set(true);
            let calls = me.exchange_doing(Doing::default());
            self.come_in(me, gate::thread());
            me.exchange_doing(calls);
            gate::ask_all();
        }
    }

    /// A thread is inside: what it does is shown.
    fn come_in(&self, me: &Process, thread: usize) {
        self.put_aside(me);
        let seat = self.seat_of(me, thread);
        // SAFETY: gives a number.
        let number = unsafe { libc::gettid() };
        seat.number.set(number);
        self.sit_down(me, seat);
        if self.restless.borrow().contains(&number) {
            // It has computed while the simulation went on.
            self.restless.borrow_mut().retain(|&other| other != number);
            me.meter.stop(&me.rank);
            me.meter.resume();
        }
        me.rank.keep_up();
    }

    fn sit_down(&self, me: &Process, seat: Rc<Seat>) {
        me.exchange_doing(seat.doing.take());
        me.rank.act_as(seat.rank.task());
        self.seated.replace(Some(seat));
    }

    /// What the thread does that was inside last is kept for it.
    pub fn put_aside(&self, me: &Process) -> Option<Rc<Seat>> {
        let seat = self.seated.take()?;
        seat.doing.set(me.exchange_doing(Doing::default()));
        Some(seat)
    }

    fn seat_of(&self, me: &Process, thread: usize) -> Rc<Seat> {
        if gate::here().is_some_and(|here| here.first == thread) {
            self.first.thread.set(thread);
            return self.first.clone();
        }
        let known = self.others.borrow().iter().find(|seat| seat.thread.get() == thread).cloned();
        known.unwrap_or_else(|| {
            let mut made = None;
            me.rank.start_thread(|rank| {
                let seat = Rc::new(Seat::new(thread, rank));
                made = Some(seat.clone());
                Body::thread(self.body.get().cloned().unwrap_or_default(), seat)
            });
            let seat = made.expect("the work of the thread has been made");
            self.others.borrow_mut().push(seat.clone());
            seat
        })
    }

    fn all(&self) -> Vec<Rc<Seat>> {
        self.others.borrow().iter().chain([&self.first]).cloned().collect()
    }

    /// Whether a thread waits for the simulation.
    pub fn somebody_waits(&self) -> bool {
        self.all().iter().any(|seat| seat.waits.get())
    }

    /// The thread that is inside waits for the simulation.
    pub fn suspend(&self, me: &Process, ranks: &Ranks) {
        let number = me.number() as usize;
        let door = ranks.door(number);
        if !door.has_several() {
            return ranks.suspend(number, &self.first.turn);
        }
        let (Some(seat), Some(calls)) = (self.put_aside(me), gate::step_aside()) else { return };
        seat.waits.set(true);
        let waiting = self.all().iter().filter(|seat| seat.waits.get()).count();
        if me.is_over() || waiting == rest::count() {
            door.close();
            ranks.suspend(number, &seat.turn);
        } else {
            door.open();
            ranks.call_for_look(number);
            ranks.wait_for_turn(number, &seat.turn);
        }
        seat.waits.set(false);
        gate::step_back(calls);
        self.sit_down(me, seat);
    }

    /// Whether nothing moves in the process any more. If so, the door is closed.
    pub fn rest(&self, me: &Process, ranks: &Ranks) -> bool {
        let number = me.number() as usize;
        let door = ranks.door(number);
        if self.due.get() != 0 || !door.close_if_empty() {
            return false;
        }
        let waiting: Vec<Rc<Seat>> = self.all().into_iter().filter(|seat| seat.waits.get()).collect();
        if let Some(seat) = waiting.first()
            && self.do_others_sleep(me, ranks.pid(number), &waiting)
            // Who has found the door closed may sleep there.
            && door.knocking.load(Ordering::Acquire) == 0
        {
            ranks.set_answering(number, &seat.turn);
            return true;
        }
        door.open();
        false
    }

    /// Whether all threads sleep but for those that wait in MPI, and those that are not waited for.
    fn do_others_sleep(&self, me: &Process, process: i32, waiting: &[Rc<Seat>]) -> bool {
        let numbers: Vec<i32> = waiting.iter().map(|seat| seat.number.get()).collect();
        if rest::of(process, &numbers, &self.restless.borrow()) {
            return true;
        }
        let seen = self.seen.get().filter(|(steps, _)| *steps == me.steps());
        let (steps, since) = seen.unwrap_or_else(|| (me.steps(), Instant::now()));
        self.seen.set(Some((steps, since)));
        if since.elapsed() > TOO_LONG {
            self.restless.replace(rest::awake(process, &numbers));
        }
        false
    }

    /// If the simulation has gone on without some threads that compute: it has to wait for them now.
    pub fn awaited(&self) -> Option<Rc<Body>> {
        let are_some = !self.restless.take().is_empty();
        self.seen.set(None);
        self.body.get()?.upgrade().filter(|_| are_some)
    }

    /// The thread that is inside will wait in the C library until then.
    pub fn wait_until(&self, me: &Process, at: Time) {
        let Some(seat) = self.seated.borrow().clone() else { return };
        let number = seat.timed.get() + 1;
        seat.timed.set(number);
        seat.is_timed.set(true);
        // It is the same deadline if it differs by what it takes to read a clock.
        let is_same = |deadline: &(Time, u64, Instant)| deadline.0.since(at) + at.since(deadline.0) < NEAR;
        if !seat.deadline.get().as_ref().is_some_and(is_same) {
            seat.deadline.set(Some((at, self.resumed.get(), Instant::now())));
        }
        let body = self.body.get().cloned().unwrap_or_default();
        me.rank.start_thread(|timer| async move {
            timer.compute(at.since(timer.now()));
            timer.take_turn().await;
            if let Some(body) = body.upgrade().filter(|_| seat.is_timed.get() && seat.timed.get() == number) {
                body.let_in(&seat);
            }
        });
    }

    /// The thread that is inside has waited in the C library.
    pub fn has_waited(&self) {
        if let Some(seat) = &*self.seated.borrow() {
            seat.is_timed.set(false);
            if self.due.get() == seat.thread.get() {
                self.due.set(0);
            }
        }
    }

    /// The thread that is inside waits until another one has changed something: see [`Threads::tell`].
    pub fn wait_for_change(&self, me: &Process) {
        let (request, promise) = me.rank.promise("operation that another thread completes");
        self.promises.borrow_mut().push(promise);
        block_on(me.rank.wait(request));
    }

    /// The thread that is inside has changed something that others may wait for.
    pub fn tell(&self, me: &Process) {
        for promise in self.promises.take() {
            me.rank.keep(promise);
        }
    }

    /// The thread that is inside has slept until its deadline, as far as the kernel knows; the simulation has not come there.
    pub fn wait_in_vain(&self) -> Vain {
        let seat = self.seated.borrow();
        let Some(seat) = &*seat else { return Vain::TooEarly };
        // SAFETY: gives a number.
        if !self.somebody_waits() && rest::of_others(unsafe { libc::getpid() }, &[seat.number.get()]) {
            return Vain::Alone;
        }
        let began = seat.deadline.get().filter(|(_, resumed, _)| *resumed == self.resumed.get());
        if began.is_some_and(|(_, _, began)| began.elapsed() > PATIENCE) { Vain::TooLong } else { Vain::TooEarly }
    }

    /// The simulation resumes the rank.
    pub fn go_on(&self) {
        self.resumed.set(self.resumed.get() + 1);
    }

    /// The time has come for a thread that waits in the C library.
    pub fn expect(&self, seat: &Seat) {
        self.due.set(seat.thread.get());
    }

    /// The functions of MPI that threads are in, by the number of the task.
    pub fn calls(&self) -> Vec<(u32, &'static str)> {
        let call = |seat: &Rc<Seat>| Some((seat.rank.task(), seat.doing.get().calling?));
        self.all().iter().filter_map(call).collect()
    }
}

/// What is to be done where the kernel's time has come, but not the simulation's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Vain {
    /// All other threads sleep outside of MPI.
    Alone,
    /// Another thread computes, and has done so for so long that it may wait for this one.
    TooLong,
    /// Sleep again.
    TooEarly,
}

impl Seat {
    fn new(thread: usize, rank: Rank) -> Seat {
        Seat {
            thread: Cell::new(thread),
            number: Cell::default(),
            rank,
            turn: Turn::default(),
            waits: Cell::default(),
            doing: Cell::default(),
            is_timed: Cell::default(),
            timed: Cell::default(),
            deadline: Cell::default(),
        }
    }

    /// Whether the simulation may resume it.
    pub fn waits(&self) -> bool {
        self.waits.get()
    }
}

/// The gate has let in another thread than the last time.
pub extern "C" fn came_in(thread: usize) {
    let Some(me) = Process::running() else { return };
    let Some(threads) = me.threads.get() else { return };
    if baton::ranks().is_some_and(|ranks| ranks.door(me.number() as usize).has_several()) {
        threads.come_in(me, thread);
        gate::ask_all();
    } else if gate::here().is_some_and(|here| here.first != 0 && here.first != thread) {
        threads.has_started.set(true);
        threads.begin(me);
    }
}

/// The program starts a thread; its argument stays what it is.
pub extern "C" fn started(thread: usize) -> usize {
    let me = Process::current();
    let outer = me.begin_call("pthread_create");
    if let Some(threads) = me.threads.get() {
        threads.start(me);
    }
    me.keep_time(outer);
    me.end_call(outer);
    thread
}
