//! The simulation: runs the ranks of a program until all have finished, or none can go on.

use std::cell::{Cell, RefCell, RefMut};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use hpcast_engine::Tasks;
use hpcast_models::network::{COMING, Timeline};
use hpcast_units::Time;

use crate::collectives::rules::Selection;
use crate::deadlock::Deadlock;
use crate::group::{Comm, Context};
use crate::left_over::Unreceived;
use crate::rank::Rank;
use crate::setup::{Fetch, Setup, World};
use crate::state::{Event, Spent, State, Task};

/// Loop turns between two looks at the interrupt flag and calls of the progress function. A turn may handle thousands of
/// messages that end together.
const TURNS_BETWEEN_LOOKS: u32 = 64;

/// Memory is fetched for what comes so many places later: time enough for it to arrive, and not so early that it is lost
/// again.
const FETCHED_AHEAD: usize = 4;
/// What fewer ranks need is found in the caches as a rule: ranks that are a few hundred bytes, and real programs.
const MANY: u32 = 1 << 15;
const MANY_PROGRAMS: u32 = 256;

/// Work that goes on beside a rank: a non-blocking collective.
type Background = Pin<Box<dyn Future<Output = ()>>>;

/// A running simulation; ranks hold it to reach its state.
pub(crate) struct Sim {
    state: RefCell<State>,
    pub selection: Selection,
    ranks: u32,
    /// Background work by task number less the number of ranks.
    background: RefCell<Vec<Option<Background>>>,
    /// How far the program says it has come, and at which time.
    pub progress: Cell<(f64, Time)>,
}

/// What a simulation found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// When the last rank finished.
    pub simulated: Time,
    /// For each rank: when it finished and what it spent its time on.
    pub ranks: Vec<RankOutcome>,
    /// Messages sent.
    pub messages: u64,
    /// Bytes of data sent.
    pub bytes: u64,
    /// Messages that no rank received.
    pub unreceived: u64,
    /// The first of them.
    pub first_unreceived: Vec<Unreceived>,
    /// Bytes that crossed each link, by link id; empty where the model does not know links.
    pub link_bytes: Vec<f64>,
    /// What crossed each link when, if the network was watched.
    pub timeline: Option<Timeline>,
}

/// How one rank fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankOutcome {
    /// When it finished.
    pub finished: Time,
    /// What it spent its time on.
    pub spent: Spent,
}

/// Why a simulation did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Ranks wait for each other for ever.
    #[error(transparent)]
    Deadlock(#[from] Deadlock),
    /// It goes on for longer than times can tell.
    #[error("the run takes longer than {} days, and no more can be simulated", Time::NEVER.as_secs() as u64 / 86_400)]
    TooLong,
    /// The user has asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Runs a program: `program` is called once a rank, in their order, and gives what that rank does.
///
/// # Panics
/// If the setup has worlds, and their ranks are not those of the run.
pub fn run<F>(setup: Setup, mut program: impl FnMut(Rank) -> F) -> Result<Outcome, RunError>
where
    F: Future<Output = ()>,
{
    let Setup {
        ranks,
        worlds,
        machine,
        placement,
        network,
        seed,
        selection,
        observer,
        post,
        interrupt,
        soon,
        progress,
        idle,
    } = setup;
    let mut state = State::new(ranks, &machine, placement, network, seed);
    (state.observer, state.post) = (observer, post);
    let worlds = state.begin(&worlds);
    let sim = Rc::new(Sim {
        state: RefCell::new(state),
        selection,
        ranks,
        background: RefCell::default(),
        progress: Cell::default(),
    });
    let world = |rank| match worlds.iter().rfind(|world| world.first <= rank) {
        Some(world) => world.seen_by(rank),
        None => Comm::world(rank, ranks),
    };
    let tasks = Tasks::new(ranks, |rank| program(Rank::new(sim.clone(), rank, world(rank))));
    let mut runner = Runner {
        sim: sim.clone(),
        tasks,
        interrupt,
        soon,
        progress,
        idle,
        coming: Coming::default(),
        told: Vec::new(),
    };
    let result = runner.run();
    // Background work holds the simulation, and the simulation holds it: break the circle.
    sim.background.borrow_mut().clear();
    result
}

/// A world that is not all there is.
struct OwnWorld {
    /// Its first rank.
    first: u32,
    context: Context,
    size: u32,
}

impl OwnWorld {
    fn seen_by(&self, rank: u32) -> Comm {
        Comm::new(self.context, rank - self.first, self.size)
    }
}

impl State {
    /// Gives each world a context, and its ranks the time at which they begin.
    fn begin(&mut self, worlds: &[World]) -> Vec<OwnWorld> {
        let mut first = 0;
        let own = worlds.iter().map(|world| {
            let ranks = first..first + world.ranks;
            ranks.clone().for_each(|rank| self.tasks[rank as usize].clock = world.start);
            if !world.noise {
                self.costs.quiet.push(ranks.clone());
            }
            first = ranks.end;
            OwnWorld { first: ranks.start, context: self.groups.create(ranks.collect()), size: world.ranks }
        });
        let own: Vec<OwnWorld> = own.collect();
        assert!(own.is_empty() || first as usize == self.tasks.len(), "every rank is in one world");
        own
    }
}

struct Runner<F> {
    sim: Rc<Sim>,
    tasks: Tasks<F>,
    interrupt: Option<Arc<AtomicBool>>,
    soon: Option<Box<dyn Fetch>>,
    progress: Option<Box<dyn FnMut(f64, Time)>>,
    idle: Option<Box<dyn FnMut() -> bool>>,
    coming: Coming,
    /// What the network has told of them.
    told: Vec<u32>,
}

/// Transfers that will end soon. What their ends need is fetched step by step, since each step tells where the next finds it:
/// the message or receive, the receive of the message, its task, what the task needs when it goes on.
#[derive(Default)]
struct Coming {
    tokens: [Option<u32>; STEP],
    receives: [Option<u32>; STEP],
    asked: [Option<u32>; STEP],
    next: usize,
}

/// So many transfers end between two steps: as many as for the four steps, and until a rank goes on.
const STEP: usize = COMING / 4;

impl Coming {
    /// Takes a transfer in; returns a task that will go on soon.
    #[inline]
    fn add(&mut self, state: &mut State, token: u32, soon: Option<&dyn Fetch>) -> Option<u32> {
        state.prefetch_transfer(token);
        let place = self.next % STEP;
        let token = self.tokens[place].replace(token);
        let receive = token.and_then(|token| state.prefetch_receive_of(token));
        let receive = std::mem::replace(&mut self.receives[place], receive);
        if let Some(receive) = receive {
            let task = state.prefetch_task_of(receive);
            if let Some(soon) = soon {
                soon.look_for(task);
            }
        }
        let receive = std::mem::replace(&mut self.asked[place], receive);
        self.next += 1;
        receive.and_then(|receive| state.goes_on_after(receive))
    }
}

impl<F: Future<Output = ()>> Runner<F> {
    fn run(&mut self) -> Result<Outcome, RunError> {
        let sim = self.sim.clone();
        let looks_ahead = self.looks_ahead();
        if looks_ahead {
            sim.state().look_ahead();
        }
        for rank in 0..self.sim.ranks {
            self.tasks.resume(rank);
        }
        let mut ended = Vec::new();
        let mut turns = 0;
        loop {
            self.resume_ready();
            turns += 1;
            if turns == TURNS_BETWEEN_LOOKS {
                turns = 0;
                self.look_around()?;
            }
            let mut state = sim.state();
            let (event, network) = (state.agenda.next_time(), state.network.next_event());
            if network <= event {
                if network == Time::NEVER {
                    drop(state);
                    if self.idle.as_mut().is_some_and(|idle| idle()) {
                        continue;
                    }
                    break;
                }
                debug_assert!(network >= state.now, "clocks never go back");
                state.now = network;
                state.network.advance(network, &mut ended);
                if looks_ahead {
                    self.end_transfers(&mut state, &ended);
                } else {
                    for at in 0..ended.len() {
                        if let Some(&token) = ended.get(at + FETCHED_AHEAD) {
                            state.prefetch_transfer(token);
                        }
                        state.transfer_ended(ended[at]);
                    }
                }
                ended.clear();
            } else if let Some(entry) = state.agenda.first() {
                debug_assert!(entry.time() >= state.now, "clocks never go back");
                state.agenda.pop();
                state.now = entry.time();
                match Event::of(entry.slot()) {
                    Event::Resume(task) => state.ready.push(task),
                    Event::Arrive(message) => state.arrive(message),
                    Event::Pay(task) => state.pay_shared_poll(task),
                    Event::Look(task) => state.end_shared_poll(task),
                }
            }
        }
        if self.sim.state().is_too_long() {
            return Err(RunError::TooLong);
        }
        if self.tasks.running() > 0 {
            // Who was asked to stop may have left others waiting.
            self.look_around()?;
            return Err(Deadlock::of(&self.sim.state()).into());
        }
        Ok(self.sim.outcome())
    }

    /// Whether it is worth knowing what comes, to fetch what that needs.
    fn looks_ahead(&self) -> bool {
        self.sim.ranks >= if self.soon.is_some() { MANY_PROGRAMS } else { MANY }
    }

    /// Transfers have ended. What the next ones need is fetched.
    fn end_transfers(&mut self, state: &mut State, ended: &[u32]) {
        let mut tokens = std::mem::take(&mut self.told);
        state.network.coming(&mut tokens);
        // Of many that end at once, the ranks go on after all of them, and what comes has been told while they ended.
        let are_many = ended.len() > STEP;
        if !are_many {
            self.take_in(state, &mut tokens);
        }
        for at in 0..ended.len() {
            if let Some(&token) = ended.get(at + 2 * STEP) {
                self.coming.add(state, token, self.soon.as_deref());
            }
            state.transfer_ended(ended[at]);
        }
        if are_many {
            tokens.drain(..tokens.len().saturating_sub(COMING));
            self.take_in(state, &mut tokens);
        }
        self.told = tokens;
    }

    /// Transfers will end soon.
    #[inline]
    fn take_in(&mut self, state: &mut State, tokens: &mut Vec<u32>) {
        for token in tokens.drain(..) {
            if let Some(task) = self.coming.add(state, token, self.soon.as_deref()) {
                self.wake(task);
            }
        }
    }

    /// A rank will be resumed soon.
    #[inline]
    fn wake(&self, task: u32) {
        if task < self.sim.ranks {
            self.tasks.prefetch(task);
            if let Some(soon) = &self.soon {
                soon.fetch(task);
            }
        }
    }

    /// Resumes the tasks whose wait is over, and those which this makes ready, until none is left.
    #[inline]
    fn resume_ready(&mut self) {
        let mut next = 0;
        loop {
            let task = {
                let mut state = self.sim.state();
                // The first few are asked for together.
                let from = if next == 0 { 0 } else { next + FETCHED_AHEAD };
                for place in from..=next + FETCHED_AHEAD {
                    if let Some(&task) = state.ready.get(place) {
                        state.prefetch_task(task);
                        self.wake(task);
                    }
                }
                let Some(&task) = state.ready.get(next) else { return state.ready.clear() };
                next += 1;
                if state.tasks[task as usize].driven && !state.drive(task) {
                    continue;
                }
                task
            };
            if task < self.sim.ranks {
                self.tasks.resume(task);
            } else {
                self.sim.resume_background(task);
            }
        }
    }

    fn look_around(&mut self) -> Result<(), RunError> {
        if self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(RunError::Interrupted);
        }
        if let Some(progress) = &mut self.progress {
            let (fraction, time) = self.sim.progress.get();
            progress(fraction, time);
        }
        Ok(())
    }
}

impl Sim {
    #[inline]
    pub fn state(&self) -> RefMut<'_, State> {
        self.state.borrow_mut()
    }

    pub fn is_at_rest(&self) -> bool {
        self.state.try_borrow_mut().is_ok()
    }

    /// What has come out so far.
    pub fn outcome(&self) -> Outcome {
        let state = self.state();
        let ranks: Vec<RankOutcome> = state.tasks[..self.ranks as usize]
            .iter()
            .map(|task| RankOutcome { finished: task.clock, spent: task.spent })
            .collect();
        Outcome {
            simulated: ranks.iter().map(|rank| rank.finished).max().unwrap_or_default(),
            ranks,
            messages: state.total_messages,
            bytes: state.total_bytes,
            unreceived: state.unreceived(),
            first_unreceived: Unreceived::first(&state),
            link_bytes: state.network.link_bytes().to_vec(),
            timeline: state.network.timeline().cloned(),
        }
    }

    /// A new task beside the one of a rank, with the same clock.
    pub fn new_task(&self, beside: u32) -> u32 {
        let mut state = self.state();
        let Task { rank, node, clock, .. } = state.tasks[beside as usize];
        let mut task = Task::new(rank, node);
        task.clock = clock;
        if let Some(number) = state.free_tasks.pop() {
            state.tasks[number as usize] = task;
            number
        } else {
            state.tasks.push(task);
            (state.tasks.len() - 1) as u32
        }
    }

    /// Starts background work; it runs when the caller waits.
    pub fn start_background(&self, task: u32, work: Background) {
        let slot = (task - self.ranks) as usize;
        let mut background = self.background.borrow_mut();
        if background.len() <= slot {
            background.resize_with(slot + 1, || None);
        }
        background[slot] = Some(work);
        self.state().ready.push(task);
    }

    fn resume_background(&self, task: u32) {
        let slot = (task - self.ranks) as usize;
        // Taken out while it runs, because it may start more background work.
        let Some(mut work) = self.background.borrow_mut()[slot].take() else { return };
        if work.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())).is_pending() {
            self.background.borrow_mut()[slot] = Some(work);
        } else {
            self.state().free_tasks.push(task);
        }
    }
}
