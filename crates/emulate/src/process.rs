//! One rank of the program: its objects, its place in the simulation, and what it is doing.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use hpcast_mpi::{Comm, Rank, Taken};
use hpcast_objects::{Basic, Datatype, ErrorClass, Group, Info};
use hpcast_units::Time;

use crate::aside;
use crate::attributes::{Attributes, Keyval};
use crate::communicator::{Communicator, Peers};
use crate::copying;
use crate::fault::{Concern, Fault, Handler};
use crate::fiber::{FiberYielder, block_on};
use crate::files::File;
use crate::launch::Copy;
use crate::meter::Meter;
use crate::processes::baton;
use crate::processes::threads::Threads;
use crate::reduction::Op;
use crate::requests::Requests;
use crate::stacks::Bounds;
use crate::table::Table;
use crate::windows::Window;
use crate::world::World;

/// How a rank came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It returned from main or called exit, with this status.
    Exit(i32),
    /// It called MPI_Abort with this code.
    Abort(i32),
    /// It called abort(), or a check of the C library failed.
    Aborted(String),
    /// A call went wrong and its error handler is fatal.
    Fault {
        /// The MPI function.
        function: String,
        /// What went wrong.
        what: String,
        /// The error code.
        code: i32,
    },
    /// It got a signal, such as SIGSEGV.
    Signal {
        /// Its number.
        number: i32,
        /// Its name, and what it means.
        what: String,
        /// The MPI function that it was in.
        call: Option<&'static str>,
        /// The instruction, and the stack at the time.
        place: (usize, usize),
    },
    /// It called something that cannot be done here.
    Unsupported(String),
    /// It was taken away from its code, since the user has asked the run to stop.
    Stopped,
}

/// The end of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The rank.
    pub rank: u32,
    /// Its virtual time.
    pub at: Time,
    /// How far it was with MPI.
    pub stage: Stage,
    /// How it ended.
    pub ending: Ending,
    /// Functions that were under way, from the inside out, where that matters.
    pub backtrace: Vec<String>,
}

/// Addresses with a meaning in Fortran: variables of common blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sentinels {
    /// MPI_BOTTOM
    pub bottom: Option<usize>,
    /// MPI_IN_PLACE
    pub in_place: Option<usize>,
    /// MPI_STATUS_IGNORE
    pub status_ignore: Option<usize>,
    /// MPI_STATUSES_IGNORE
    pub statuses_ignore: Option<usize>,
    /// MPI_UNWEIGHTED
    pub unweighted: Option<usize>,
    /// MPI_WEIGHTS_EMPTY
    pub weights_empty: Option<usize>,
}

/// How far the rank is with MPI itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// MPI_Init was not called.
    Before,
    /// Between MPI_Init and MPI_Finalize.
    During,
    /// After MPI_Finalize.
    After,
}

/// Objects that the program has made.
#[derive(Default)]
#[repr(C)]
pub struct Objects {
    /// Requests.
    pub requests: Requests,
    /// Communicators.
    pub comms: Table<Rc<Communicator>>,
    /// Groups.
    pub groups: Table<Rc<Group>>,
    /// Derived datatypes.
    pub types: Table<Rc<OwnType>>,
    /// Operations of the program.
    pub ops: Table<Rc<Op>>,
    /// Error handlers of the program.
    pub handlers: Table<OwnHandler>,
    /// Infos.
    pub infos: Table<Rc<RefCell<Info>>>,
    /// Windows.
    pub windows: Table<Rc<Window>>,
    /// Files.
    pub files: Table<Rc<File>>,
    /// Messages that were probed for.
    pub messages: Table<Probed>,
    /// Keys of attributes.
    pub keyvals: Table<Rc<Keyval>>,
    /// Sessions: no more than their error handlers.
    pub sessions: Table<Handler>,
}

/// A function of the program that handles errors, and how many handles there are for it.
pub struct OwnHandler {
    /// What is done.
    pub handler: Handler,
    /// How often it was given out and not freed.
    pub references: u32,
}

/// A message that MPI_Mprobe has found.
pub struct Probed {
    /// The message.
    pub message: Taken,
    /// Where.
    pub peers: Peers,
}

/// A datatype that the program has made, with what it has said of it.
pub struct OwnType {
    /// The datatype.
    pub datatype: Datatype,
    /// MPI_Type_set_name.
    pub name: RefCell<String>,
    /// Its attributes.
    pub attributes: Rc<Attributes>,
    /// MPI_Type_commit.
    pub committed: Cell<bool>,
    /// Whether it was made with long counts.
    pub is_large: bool,
}

/// What a buffer for messages was attached to: a communicator or session, or the program as a whole.
type BufferOwner = Option<(crate::abi::Kind, u32)>;

/// Numbers of datatypes by kind, precision and range.
type F90Types = BTreeMap<(&'static str, i32, i32), u32>;

/// A rank of the program. What every call and every switch needs comes first, in three lines of the processor's cache: with
/// thousands of ranks, each line is fetched anew whenever a rank goes on.
#[repr(C, align(64))]
pub struct Process {
    /// What all ranks share.
    pub world: Rc<World>,
    /// Its place in the simulation.
    pub rank: Rank,
    yielder: Cell<*const FiberYielder>,
    /// The MPI function that it is in.
    calling: Cell<Option<&'static str>>,
    /// Where its program is loaded.
    base: Cell<usize>,
    /// How far it is.
    pub stage: Cell<Stage>,
    ended: Cell<bool>,
    /// Several of its threads may be in MPI at the same time.
    pub has_threads: Cell<bool>,
    /// How often it has called MPI or gone on: others look at it while it runs.
    steps: AtomicU32,
    /// The communicator of its last message: its number, and what messages need of it.
    recent: Cell<u32>,
    recent_peers: Cell<Peers>,
    /// Its own FILEs in the place of stdout and stderr.
    pub streams: Cell<[usize; 2]>,
    /// What it computes.
    pub meter: Meter,
    /// Its calls that are measured.
    pub executing: RefCell<Vec<crate::kernels::Executing>>,
    /// Messages that it has started and whose data may still be in its buffers.
    pub in_place: RefCell<Vec<u32>>,
    /// What it has made.
    pub objects: Objects,
    /// MPI_COMM_WORLD and MPI_COMM_SELF.
    predefined: OnceCell<[Rc<Communicator>; 2]>,
    sentinels: Cell<Sentinels>,
    /// Its stack.
    stack: Cell<Bounds>,
    /// Its next MPI_Iprobe will be called until it finds something.
    pub polls_on: Cell<bool>,
    /// Its big allocations.
    pub memory: crate::memory::Share,
    /// Names of predefined datatypes that the program has set.
    pub named_types: Box<RefCell<BTreeMap<u32, String>>>,
    /// Attributes of predefined datatypes.
    pub type_attributes: RefCell<BTreeMap<u32, Rc<Attributes>>>,
    /// Numbers of the datatypes that MPI_Type_create_f90_real and its relatives gave: by kind, precision and range.
    pub f90_types: Box<RefCell<F90Types>>,
    /// Values of MPI's own attributes, whose addresses C gets.
    pub own_attributes: crate::attributes::Predefined,
    /// The memory that MPI_Buffer_attach and its relatives gave: address and size.
    pub buffers: RefCell<HashMap<BufferOwner, (usize, i64)>>,
    /// Its copy of the program.
    copy: OnceCell<Copy>,
    /// Error classes and codes that the program has added.
    pub own_errors: RefCell<crate::errors::OwnErrors>,
    /// What is done about faults of files that are not open.
    pub file_handler: Cell<Handler>,
    /// The thread level that it asked for.
    pub thread_level: Cell<i32>,
    /// The thread that has called MPI_Init.
    pub main_thread: Cell<usize>,
    /// Its threads, if it is a process.
    pub threads: OnceCell<Box<Threads>>,
    /// The time after my last reading of the clock, and how many there were before it with nothing in between.
    clock: Cell<(Time, u64)>,
    /// How often I have read it in all: in between, code that is measured may take time.
    looks: Cell<u64>,
    /// The time after something that took none, and how often it was done before with nothing in between.
    asked: Cell<(Time, u64)>,
    /// Operations that go on without a request (MPI_Request_free).
    pub orphans: RefCell<Vec<crate::operation::Active>>,
    /// Taken away from its code by the user.
    stopped: Cell<bool>,
    /// State of the C library's functions that keep some.
    pub libc: crate::libc_state::LibcState,
}

/// What a thread of a rank is doing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Doing {
    /// The MPI function that it is in.
    pub calling: Option<&'static str>,
    clock: (Time, u64),
    asked: (Time, u64),
    measured: (u64, usize),
}

/// Picoseconds that it takes to read a clock: about that many on current processors (the kernel's vDSO).
const CLOCK: u64 = 25_000;
/// After that many readings with nothing in between, they begin to take longer.
const PATIENCE: u64 = 10_000;
/// So often something that takes no time is done with nothing in between before it does take time.
const FREE: u64 = 100;
/// After so many readings of a clock others go on.
const LOOKS: u64 = 1000;

/// The number of MPI_COMM_WORLD.
const WORLD: u32 = 1;

// One more line, and blocks of the heap would be powers of two: the same lines of all ranks would then displace each other in the caches.
const _: () = assert!(size_of::<Process>() <= 27 * 64);

// What every call needs is fetched as four lines (`sleepers.rs`).
const _: () = assert!(std::mem::offset_of!(Process, objects) + size_of::<u64>() <= 4 * 64);

thread_local! {
    static CURRENT: Cell<*const Process> = const { Cell::new(std::ptr::null()) };
}

impl Process {
    /// A rank that has not begun.
    pub fn new(world: Rc<World>, rank: Rank) -> Rc<Process> {
        let meter = Meter::new(world.charging);
        let peers = Peers::of(rank.world());
        Rc::new(Process {
            world,
            rank,
            objects: Objects::default(),
            predefined: OnceCell::new(),
            base: Cell::default(),
            sentinels: Cell::default(),
            yielder: Cell::new(std::ptr::null()),
            calling: Cell::new(None),
            stage: Cell::new(Stage::Before),
            ended: Cell::new(false),
            has_threads: Cell::new(false),
            steps: AtomicU32::new(0),
            recent: Cell::new(WORLD),
            recent_peers: Cell::new(peers),
            stopped: Cell::new(false),
            meter,
            stack: Cell::default(),
            executing: RefCell::default(),
            in_place: RefCell::default(),
            polls_on: Cell::default(),
            memory: Default::default(),
            named_types: Box::default(),
            type_attributes: RefCell::default(),
            f90_types: Box::default(),
            own_attributes: Default::default(),
            buffers: RefCell::default(),
            copy: OnceCell::new(),
            streams: Cell::default(),
            own_errors: RefCell::default(),
            file_handler: Cell::new(Handler::Return),
            thread_level: Cell::new(0),
            main_thread: Cell::new(0),
            threads: OnceCell::new(),
            clock: Cell::new((Time::ZERO, 0)),
            looks: Cell::default(),
            asked: Cell::new((Time::ZERO, 0)),
            orphans: RefCell::default(),
            libc: Default::default(),
        })
    }

    /// The rank that runs now.
    ///
    /// # Panics
    /// If none does: only programs call this, on their fibers.
    #[inline]
    pub fn current() -> &'static Process {
        Process::running().expect("a rank runs")
    }

    /// The rank that runs now, if any.
    #[inline]
    pub fn running() -> Option<&'static Process> {
        let process = CURRENT.get();
        // SAFETY: it was set by `switch_to` for the time that its fiber runs; the fiber holds the process, and whoever calls this
        // runs on it and gives the reference up before the fiber ends.
        unsafe { process.as_ref() }
    }

    /// This rank runs from now on.
    pub(crate) fn switch_to(&self) {
        CURRENT.set(self);
        aside::leave();
        self.step();
        self.world.switched_to(self);
        self.meter.resume();
    }

    /// No rank runs.
    pub(crate) fn switch_away() {
        CURRENT.set(std::ptr::null());
    }

    pub(crate) fn set_yielder(&self, yielder: &FiberYielder) {
        self.yielder.set(yielder);
    }

    /// Lets the simulation go on with others.
    pub(crate) fn suspend(&self) {
        debug_assert!(!aside::is_aside(), "others would overwrite the stack");
        if let Some(ranks) = baton::ranks() {
            return self.threads().suspend(self, ranks);
        }
        self.world.sleepers.lie_down(self);
        // SAFETY: the yielder lives on the stack of this fiber as long as the fiber runs, and we are on it.
        unsafe { (*self.yielder.get()).suspend(()) };
    }

    /// Where its program is loaded.
    #[inline]
    pub fn base(&self) -> usize {
        self.base.get()
    }

    /// Its program is loaded there, with these addresses of meaning.
    pub fn set_place(&self, base: usize, sentinels: Sentinels) {
        self.base.set(base);
        self.sentinels.set(sentinels);
    }

    /// Addresses with a meaning in Fortran.
    #[inline]
    pub fn sentinels(&self) -> Sentinels {
        self.sentinels.get()
    }

    /// My rank in MPI_COMM_WORLD.
    pub fn number(&self) -> u32 {
        self.rank.number()
    }

    /// Reads my clock, which takes a moment: programs that wait for it to go on would otherwise wait for ever. Who has
    /// done nothing else for long waits for the clock; its moments grow, or a wait of seconds would be reading it for ever.
    pub fn read_clock(&self) -> Time {
        let (last, readings) = self.clock.get();
        let readings = if last == self.rank.now() { readings + 1 } else { 0 };
        self.rank.compute(Time::from_ps(CLOCK * (1 + readings / PATIENCE)));
        self.clock.set((self.rank.now(), readings));
        self.step();
        let now = self.rank.now();
        // It may wait for what another writes to memory that they share, but not for ever.
        self.looks.set(self.looks.get().wrapping_add(1));
        if self.looks.get().is_multiple_of(LOOKS) {
            block_on(self.rank.take_turn());
        }
        now
    }

    /// It has done something that takes no time. Who does so again and again waits for others, and would for ever if no time
    /// went by: so it does then, as when clocks are read.
    pub fn ask_again(&self) {
        let (last, times) = self.asked.get();
        let times = if last == self.rank.now() { times + 1 } else { 0 };
        if times >= FREE {
            self.rank.compute(Time::from_ps(CLOCK * (1 + (times - FREE) / PATIENCE)));
        }
        self.asked.set((self.rank.now(), times));
    }

    /// Enters an MPI function; gives the one that it was called from, if any.
    #[inline]
    pub fn begin_call(&self, name: &'static str) -> Option<&'static str> {
        self.step();
        let outer = self.calling.replace(Some(name));
        if outer.is_none() {
            self.meter.stop(&self.rank);
        }
        outer
    }

    /// It does something that others see. Nobody else writes, so nothing is locked.
    #[inline]
    fn step(&self) {
        self.steps.store(self.steps.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// How often it has called MPI or gone on.
    pub fn steps(&self) -> u32 {
        self.steps.load(Ordering::Relaxed)
    }

    /// What it has called is done. Where it is one of several threads, the others are at the time of the simulation: it goes on when that has
    /// come to its clock.
    #[inline]
    pub fn keep_time(&self, outer: Option<&'static str>) {
        if self.has_threads.get() && outer.is_none() {
            self.let_simulation_come();
        }
    }

    #[cold]
    #[inline(never)]
    fn let_simulation_come(&self) {
        block_on(self.rank.take_turn());
    }

    /// A message was started whose data is still in the program's buffer.
    #[inline]
    pub fn leave_in_place(&self, message: u32) {
        self.in_place.borrow_mut().push(message);
    }

    /// The program goes on, and may know that its messages have left or come: their data is where it belongs.
    #[inline]
    pub fn settle_messages(&self) {
        if self.world.mail.has_late() || !self.in_place.borrow().is_empty() {
            self.settle_some();
        }
    }

    #[inline(never)]
    fn settle_some(&self) {
        self.world.mail.settle(self.number());
        let mut messages = self.in_place.borrow_mut();
        self.rank.keep_in_place(messages.drain(..));
    }

    /// Leaves it.
    #[inline]
    pub fn end_call(&self, outer: Option<&'static str>) {
        self.calling.set(outer);
        if outer.is_none() {
            self.meter.resume();
        }
    }

    /// The MPI function that it is in.
    pub fn calling(&self) -> Option<&'static str> {
        self.calling.get()
    }

    /// The MPI functions that its threads are in, by the number of the task in the simulation.
    pub fn calls(&self) -> Vec<(u32, &'static str)> {
        let others = self.threads.get().map(|threads| threads.calls()).unwrap_or_default();
        self.calling().map(|call| (self.rank.task(), call)).into_iter().chain(others).collect()
    }

    /// What one thread does gives way to what another one does.
    pub(crate) fn exchange_doing(&self, doing: Doing) -> Doing {
        Doing {
            calling: self.calling.replace(doing.calling),
            clock: self.clock.replace(doing.clock),
            asked: self.asked.replace(doing.asked),
            measured: self.meter.exchange(doing.measured),
        }
    }

    /// Its threads: it is a process.
    pub(crate) fn threads(&self) -> &Threads {
        self.threads.get_or_init(|| Box::new(Threads::new(&self.rank)))
    }

    /// Whether it does not go on, since it has ended or the run ends.
    pub(crate) fn is_over(&self) -> bool {
        self.has_ended() || self.world.stop.load(Ordering::Relaxed)
    }

    /// Whether it has ever run.
    pub fn has_begun(&self) -> bool {
        !self.yielder.get().is_null()
    }

    /// Whether it was taken away from its code.
    pub fn was_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Whether it has come to its end.
    pub fn has_ended(&self) -> bool {
        self.ended.get()
    }

    /// This rank ends here and now; all others too, unless it simply exits.
    pub fn end(&self, ending: Ending) -> ! {
        self.stopped.set(ending == Ending::Stopped);
        if let Ending::Exit(_) = ending {
            self.settle_messages();
        }
        self.world.ended(self, ending);
        self.ended.set(true);
        self.halt()
    }

    /// It does not go on, since the run ends.
    pub(crate) fn halt(&self) -> ! {
        loop {
            self.suspend();
        }
    }

    /// A buffer that it gave to MPI is not there.
    pub(crate) fn gave(&self, fault: copying::Fault) {
        let what = match fault.address {
            Some(address) => format!("there is no memory of its own at {address:#x}, in a buffer that it gave to MPI"),
            None => "a buffer that it gave to MPI is at an address that no memory can have".to_owned(),
        };
        let name = crate::signals::short_name(fault.signal);
        let what = format!("{name} ({what})");
        let place = (0, self.world.sleepers.stack(self.number()));
        self.has_gone(Ending::Signal { number: fault.signal, what, call: self.calling(), place });
    }

    /// Its process has ended.
    pub(crate) fn has_gone(&self, ending: Ending) {
        self.world.ended(self, ending);
        self.ended.set(true);
    }

    pub(crate) fn set_copy(&self, copy: Copy) {
        let _ = self.copy.set(copy);
    }

    /// Its copy of the program.
    pub(crate) fn copy(&self) -> &Copy {
        self.copy.get().expect("a rank that runs has a program")
    }

    /// Its stack.
    pub(crate) fn stack(&self) -> Bounds {
        self.stack.get()
    }

    pub(crate) fn set_stack(&self, stack: Bounds) {
        self.stack.set(stack);
    }

    /// Functions that are under way, from the inside out: the one at `at`, and those whose calls are found on the stack. Words
    /// that look like such a call but are left from an earlier one may be among them.
    pub(crate) fn backtrace(&self, at: usize, stack: usize) -> Vec<String> {
        const MOST_WORDS: usize = 4096;
        const MOST_LINES: usize = 20;
        let bounds = self.stack.get();
        let mut found: Vec<String> = self.world.describe(at).into_iter().collect();
        let mut address = stack.max(bounds.lowest()).next_multiple_of(8);
        for _ in 0..MOST_WORDS {
            if address + 8 > bounds.base || found.len() >= MOST_LINES {
                break;
            }
            let Some(home) = self.world.sleepers.home(self.number(), address, size_of::<usize>()) else { break };
            // SAFETY: within what the rank has on its stack.
            let word = unsafe { *(home as *const usize) };
            found.extend(self.world.describe_call(word));
            address += 8;
        }
        found
    }

    /// What was said about the functions that the program is in: the innermost one that is listed decides.
    pub(crate) fn site(&self, sites: &[(String, bool)]) -> Option<bool> {
        const MOST_WORDS: usize = 4096;
        let here = 0u8;
        let bounds = self.stack.get();
        let first = (&raw const here as usize).next_multiple_of(8);
        let words = (first..bounds.base.saturating_sub(7)).step_by(8).take(MOST_WORDS);
        words.into_iter().find_map(|address| {
            // SAFETY: within the rank's own stack, which is in use from here on.
            let symbol = self.world.calling_function(unsafe { *(address as *const usize) })?;
            sites.iter().find(|(site, _)| *site == symbol).map(|(_, fold)| *fold)
        })
    }

    /// Begins the program; never comes back.
    pub(crate) fn begin(&self) {
        let copy = self.copy();
        // SAFETY: this is the rank's own fiber, and its copy lives as long as the rank.
        unsafe {
            copy.instance.initialise_libraries(&copy.start);
            copy.start.enter(copy.instance.entry());
        }
    }

    /// Writes what its streams hold.
    ///
    /// # Safety
    /// To be called on the rank's fiber, outside of the C library's own functions.
    pub(crate) unsafe fn flush(&self) {
        for file in self.streams.get() {
            if file != 0 {
                // SAFETY: the rank's own stream.
                unsafe { libc::fflush(file as *mut libc::FILE) };
            }
        }
    }

    fn predefined(&self, place: usize) -> Rc<Communicator> {
        let make = || {
            let world = self.rank.world();
            [Communicator::world(world), Communicator::of_self(self)]
        };
        self.predefined.get_or_init(make)[place].clone()
    }

    /// MPI_COMM_WORLD.
    pub fn world_comm(&self) -> Rc<Communicator> {
        self.predefined(0)
    }

    /// A communicator of the program.
    pub fn comm(&self, number: u32) -> Result<Rc<Communicator>, Fault> {
        match number {
            0 => Err(Fault::new(ErrorClass::Comm, "MPI_COMM_NULL is no communicator")),
            1 | 2 => Ok(self.predefined(number as usize - 1)),
            _ => self.objects.comms.get(number).ok_or_else(|| Fault::new(ErrorClass::Comm, "no such communicator")),
        }
    }

    /// What messages need of a communicator of the program. It is always read from one place: what comes from one of several goes over the
    /// stack, in other pieces than it is read in, and the processor then waits until all that was written before is in its caches.
    #[inline(always)]
    pub fn peers(&self, number: u32) -> Result<Peers, Fault> {
        if self.recent.get() != number {
            self.remember_peers(number)?;
        }
        Ok(self.recent_peers.get())
    }

    #[inline(never)]
    fn remember_peers(&self, number: u32) -> Result<(), Fault> {
        // That of all ranks is known without making an object for it.
        let peers = if number == WORLD { Peers::of(self.rank.world()) } else { **self.comm(number)? };
        self.recent.set(number);
        self.recent_peers.set(peers);
        Ok(())
    }

    /// The communicator of that number is no more.
    pub fn forget_comm(&self, number: u32) {
        self.recent.set(WORLD);
        self.recent_peers.set(Peers::of(self.rank.world()));
        self.objects.comms.remove(number);
    }

    /// A datatype of the program.
    pub fn datatype(&self, number: u32) -> Result<Datatype, Fault> {
        if number == 0 {
            return Err(Fault::new(ErrorClass::Type, "MPI_DATATYPE_NULL is no datatype"));
        }
        if let Some(&basic) = Basic::ALL.get(number as usize - 1) {
            return Ok(Datatype::basic(basic));
        }
        let found = self.objects.types.with(number, |own| own.datatype.clone());
        found.ok_or_else(|| Fault::new(ErrorClass::Type, "no such datatype"))
    }

    /// A group of the program.
    pub fn group(&self, number: u32) -> Result<Rc<Group>, Fault> {
        match number {
            1 => Ok(Rc::new(Group::empty())),
            _ => self.objects.groups.get(number).ok_or_else(|| Fault::new(ErrorClass::Group, "no such group")),
        }
    }

    /// A window of the program.
    pub fn window(&self, number: u32) -> Result<Rc<Window>, Fault> {
        self.objects.windows.get(number).ok_or_else(|| Fault::new(ErrorClass::Win, "no such window"))
    }

    /// An open file of the program.
    pub fn file(&self, number: u32) -> Result<Rc<File>, Fault> {
        let found = self.objects.files.get(number);
        found.ok_or_else(|| Fault::new(ErrorClass::File, "no such file").of(Concern::File(number)))
    }

    /// What is done about a fault of an object.
    pub fn error_handler(&self, concern: Concern) -> Handler {
        match concern {
            Concern::Nobody => Handler::Return,
            Concern::Session(number) => self.objects.sessions.get(number).unwrap_or(Handler::Fatal),
            _ if self.stage.get() != Stage::During => Handler::Fatal,
            Concern::World => self.world_comm().handler.get(),
            Concern::Comm(number) => {
                self.comm(number).map_or_else(|_| self.world_comm().handler.get(), |comm| comm.handler.get())
            }
            Concern::Win(number) => {
                self.objects.windows.get(number).map_or(Handler::Fatal, |window| window.handler.get())
            }
            Concern::File(number) => {
                self.objects.files.get(number).map_or_else(|| self.file_handler.get(), |file| file.handler.get())
            }
        }
    }

    /// The group of these ranks of the world, seen by me.
    pub fn make_comm(&self, context: hpcast_mpi::Context, group: &Group) -> Option<Comm> {
        let rank = group.rank_of(self.number())?;
        Some(Comm::new(context, rank, group.size()))
    }
}
