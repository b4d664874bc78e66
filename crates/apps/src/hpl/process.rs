//! One process of HPL: where it is on the grid, its messages, its kernels, and the account of its time.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use hpcast_engine::Stream;
use hpcast_mpi::{LoneMessages, Mode, Next, Rank, Round, Rounds};
use hpcast_units::Time;

use super::account::{Account, Phase};
use super::grid::Deal;
use super::joint::Column;
use super::kernels::{Charge, HplKernel, HplModels, Size};
use super::panel::Panel;
use super::parameters::HplParameters;
use super::record::Recorder;
use super::stretch::Stretch;
use super::swap_plan::{Pivots, SwapPlan, SwapPlans};

/// What all processes share.
pub(super) struct Job {
    pub parameters: HplParameters,
    pub stretch: Stretch,
    pub models: HplModels,
    pub noise: Stream,
    pub pivots: Pivots,
    pub plans: RefCell<SwapPlans>,
    pub account: RefCell<Account>,
    pub recorder: Option<RefCell<Recorder>>,
    /// Whether the processes of a column factor their panels at once, see `joint.rs`.
    pub jointly: bool,
    /// Columns that come together to factor a panel, by its number.
    pub columns: RefCell<HashMap<u32, Rc<Column>>>,
    pub lone_messages: RefCell<LoneMessages>,
}

/// Which messages may meet: HPL's ranges of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Pivots and rows, down a column of the grid.
    Pfact,
    /// A panel, along a row of the grid: each panel has its own.
    Fact(u32),
    /// The triangular solve.
    Ptrsv,
    /// Its last broadcast.
    Coll,
}

impl Class {
    fn tag(self) -> i32 {
        match self {
            Class::Pfact => 0,
            Class::Ptrsv => 1,
            Class::Coll => 2,
            Class::Fact(panel) => 3 + panel as i32,
        }
    }
}

/// Along which line of the grid a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Along my row: the peer is named by its column.
    Row,
    /// Down my column: the peer is named by its row.
    Column,
}

/// A line, a peer on it, and the kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub line: Line,
    pub peer: u32,
    pub class: Class,
}

/// Where a triangular matrix stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A process in my column, for pivots and rows.
#[inline]
pub(super) fn in_column(row: u32) -> Address {
    Address { line: Line::Column, peer: row, class: Class::Pfact }
}

pub(super) struct Process {
    pub rank: Rank,
    pub job: Rc<Job>,
    pub row: u32,
    pub column: u32,
    /// How the matrix is dealt to rows and to columns of the grid.
    pub row_deal: Deal,
    pub column_deal: Deal,
    pub node: u32,
    /// Rows of the kernels' models for my processor.
    pub models: Rc<[u32]>,
    /// Computed, but not yet on my clock.
    computed: Cell<Time>,
    /// Calls of noisy kernels so far.
    calls: Cell<u64>,
    phase: Cell<Phase>,
    since: Cell<Time>,
    /// How long I had waited when the phase began.
    waited: Cell<Time>,
    /// The panel that my time is accounted to, counted from the first of the stretch.
    panel: Cell<u32>,
}

impl Process {
    pub fn new(rank: Rank, job: Rc<Job>, node: u32, models: Rc<[u32]>) -> Process {
        let HplParameters { nb, grid, .. } = job.parameters;
        let (row, column) = grid.place(rank.number());
        let start = rank.now();
        Process {
            row,
            column,
            row_deal: Deal { block: nb, processes: grid.rows },
            column_deal: Deal { block: nb, processes: grid.columns },
            rank,
            job,
            node,
            models,
            computed: Cell::default(),
            calls: Cell::default(),
            phase: Cell::new(Phase::Update),
            since: Cell::new(start),
            waited: Cell::default(),
            panel: Cell::default(),
        }
    }

    #[inline]
    pub fn parameters(&self) -> &HplParameters {
        &self.job.parameters
    }

    /// Rows of the grid.
    #[inline]
    pub fn rows(&self) -> u32 {
        self.job.parameters.grid.rows
    }

    /// Columns of the grid.
    #[inline]
    pub fn columns(&self) -> u32 {
        self.job.parameters.grid.columns
    }

    /// Which rows this panel exchanges.
    pub fn swap_plan(&self, ia: u64, jb: u64) -> Rc<SwapPlan> {
        let HplParameters { n, grid, .. } = self.job.parameters;
        let make = || SwapPlan::new(&self.job.pivots, self.row_deal, n, ia, jb);
        self.job.plans.borrow_mut().take(ia, grid.size(), make)
    }

    /// Calls a kernel. My clock moves when the next message is sent or waited for.
    #[inline]
    pub fn kernel(&self, kernel: HplKernel, size: Size) {
        if let Some(recorder) = &self.job.recorder {
            recorder.borrow_mut().kernel(self.rank.number(), kernel, size);
        }
        self.charge(kernel, size);
    }

    /// Solves with a triangular matrix, see [`triangular`].
    #[inline]
    pub fn solve_triangular(&self, side: Side, size: Size) {
        if let Some(recorder) = &self.job.recorder {
            recorder.borrow_mut().triangular(self.rank.number(), side, size.m, size.n);
        }
        self.charge(HplKernel::Dtrsm, size);
    }

    /// What a call costs, if that does not depend on chance and nobody records calls.
    pub fn fixed_charge(&self, kernel: HplKernel, size: Size) -> Option<Charge> {
        let is_fixed = self.job.recorder.is_none() && !self.job.models.is_noisy_kernel(kernel);
        is_fixed.then(|| self.job.models.charge(kernel, &self.models, size, || 0))
    }

    /// So many calls were made, and are on my clock already.
    pub fn account_for(&self, kernel: HplKernel, size: Size, calls: u64) {
        if let Some(charge) = self.fixed_charge(kernel, size) {
            self.job.account.borrow_mut().kernel(kernel, charge, calls);
        }
    }

    #[inline]
    fn charge(&self, kernel: HplKernel, size: Size) {
        let random = || {
            let call = self.calls.get();
            self.calls.set(call + 1);
            self.job.noise.word(self.rank.number(), call)
        };
        let charge = self.job.models.charge(kernel, &self.models, size, random);
        if charge.length != Time::ZERO {
            self.computed.set(self.computed.get() + charge.length);
            self.job.account.borrow_mut().kernel(kernel, charge, 1);
        }
    }

    /// Puts on my clock what was computed.
    #[inline]
    fn catch_up(&self) {
        let computed = self.computed.take();
        if computed != Time::ZERO {
            self.rank.compute(computed);
        }
    }

    /// My clock.
    pub fn now(&self) -> Time {
        self.catch_up();
        self.rank.now()
    }

    /// Calls of noisy kernels so far: they are what draws are found by.
    pub fn calls(&self) -> u64 {
        self.calls.get()
    }

    pub fn set_calls(&self, calls: u64) {
        self.calls.set(calls);
    }

    /// What follows belongs to another phase; returns the one so far.
    pub fn enter(&self, phase: Phase) -> Phase {
        let now = self.now();
        let waited = self.rank.waited();
        let before = self.phase.replace(phase);
        let length = now.since(self.since.replace(now));
        let waiting = waited.since(self.waited.replace(waited));
        self.job.account.borrow_mut().phase(self.panel.get(), before, length, waiting);
        before
    }

    /// Phases that end from now on belong to this panel, counted from the first of the stretch.
    pub fn account_to(&self, panel: u32) {
        self.panel.set(panel);
    }

    /// Notes when this panel was factored.
    pub fn panel_is_factored(&self, panel: &Panel) {
        let panel = u64::from(panel.number) - self.job.stretch.first;
        self.job.account.borrow_mut().factored(panel, self.rank.now());
    }

    #[inline]
    fn peer(&self, address: Address) -> u32 {
        let grid = &self.job.parameters.grid;
        match address.line {
            Line::Row => grid.rank(self.row, address.peer),
            Line::Column => grid.rank(address.peer, self.column),
        }
    }

    /// Blocking send.
    #[inline]
    pub async fn send(&self, to: Address, numbers: u64) {
        self.send_as(Mode::Standard, to, numbers).await;
    }

    /// Blocking send that waits for its receiver.
    pub async fn send_synchronous(&self, to: Address, numbers: u64) {
        self.send_as(Mode::Synchronous, to, numbers).await;
    }

    #[inline]
    async fn send_as(&self, mode: Mode, to: Address, numbers: u64) {
        self.catch_up();
        self.note_send(to, numbers);
        self.rank.send_as(mode, self.rank.world(), self.peer(to), to.class.tag(), 8 * numbers).await;
    }

    /// Blocking receive.
    #[inline]
    pub async fn receive(&self, from: Address, numbers: u64) {
        self.receive_before(Next::Anything, from, numbers).await;
    }

    #[inline]
    async fn receive_before(&self, next: Next, from: Address, numbers: u64) {
        self.catch_up();
        let status = self.rank.recv_before(next, self.rank.world(), self.peer(from), from.class.tag()).await;
        debug_assert_eq!(status.bytes, 8 * numbers, "rank {} from {from:?}", self.rank.number());
        self.note_receive(from, numbers);
    }

    /// Sends to a peer and receives from it at the same time, what there is to send and receive (HPL_sdrv).
    #[inline]
    pub async fn exchange(&self, next: Next, peer: Address, sent: u64, received: u64) {
        if received == 0 {
            if sent > 0 {
                self.send(peer, sent).await;
            }
        } else if sent == 0 {
            self.receive_before(next, peer, received).await;
        } else {
            self.catch_up();
            self.note_send(peer, sent);
            let (world, rank, tag) = (self.rank.world(), self.peer(peer), peer.class.tag());
            let status = self.rank.exchange(world, rank, tag, 8 * sent, next).await;
            debug_assert_eq!(status.bytes, 8 * received, "rank {} with {peer:?}", self.rank.number());
            self.note_receive(peer, received);
        }
    }

    /// Exchanges with processes of my column, for pivots and rows. Peers are named by their rows, a unit has so many numbers.
    pub fn rounds(&self, list: Rc<[Round]>, unit: u64) -> Rounds {
        let at = |row: u32| self.peer(in_column(row));
        let column = hpcast_mpi::Line { comm: self.rank.world(), first: at(0), stride: at(1) - at(0) };
        Rounds::new(column, Class::Pfact.tag(), 8 * unit, list)
    }

    /// Makes these exchanges, as [`Process::exchange`] does, until all are done or a message is seen. After each of them one
    /// looks for that (one MPI_Iprobe).
    pub async fn follow_until(&self, rounds: &mut Rounds, sought: Option<Address>) -> bool {
        self.catch_up();
        let before = rounds.done();
        let sought = sought.map(|from| (self.rank.world(), self.peer(from), from.class.tag()));
        let seen = self.rank.follow(rounds, sought).await;
        if let Some(recorder) = &self.job.recorder {
            for round in &rounds.list()[before..rounds.done()] {
                let peer = in_column(round.peer);
                for (direction, count) in [('S', round.sent), ('R', round.received)] {
                    if count > 0 {
                        let (me, it) = (self.rank.number(), self.peer(peer));
                        recorder.borrow_mut().message(direction, me, it, peer, count * rounds.unit() / 8);
                    }
                }
            }
        }
        seen
    }

    /// The same with a synchronous send, empty messages included (MPI_Issend, MPI_Recv, MPI_Wait).
    pub async fn exchange_synchronous(&self, peer: Address, sent: u64, received: u64) {
        self.catch_up();
        self.note_send(peer, sent);
        let (world, rank, tag) = (self.rank.world(), self.peer(peer), peer.class.tag());
        let status = self.rank.sendrecv_as(Mode::Synchronous, world, (rank, tag, 8 * sent), (rank, tag)).await;
        debug_assert_eq!(status.bytes, 8 * received, "rank {} with {peer:?}", self.rank.number());
        self.note_receive(peer, received);
    }

    /// Whether a message is there (one MPI_Iprobe).
    pub async fn probe(&self, from: Address) -> bool {
        self.catch_up();
        self.rank.iprobe(self.rank.world(), self.peer(from), from.class.tag()).await.is_some()
    }

    /// Waits until a message is known, and says when it is there for a probe to see; my clock stays.
    pub async fn sight(&self, from: Address) -> Time {
        self.catch_up();
        self.rank.sight(self.rank.world(), self.peer(from), from.class.tag()).await
    }

    /// Does pieces of work that take so long each, at most `count`, and probes after each one for a message that is there
    /// from `since` on; how many it did, and whether the last probe saw the message.
    pub fn work_and_probe(&self, piece: Time, count: u64, since: Time) -> (u64, bool) {
        self.catch_up();
        self.rank.work_and_probe(piece, count, since)
    }

    /// A probe for a message that is there from `since` on.
    pub fn probe_sighted(&self, since: Time) -> bool {
        self.catch_up();
        self.rank.probe_sighted(since)
    }

    /// Whether the price of polling depends on what other ranks do at the time.
    pub fn shares_polling(&self) -> bool {
        self.rank.shares_polling()
    }

    /// Probes until a message is there.
    pub async fn probe_until_there(&self, from: Address) {
        self.catch_up();
        self.rank.probe_in_a_loop(self.rank.world(), self.peer(from), from.class.tag()).await;
    }

    fn note_send(&self, to: Address, numbers: u64) {
        if let Some(recorder) = &self.job.recorder {
            recorder.borrow_mut().message('S', self.rank.number(), self.peer(to), to, numbers);
        }
    }

    fn note_receive(&self, from: Address, numbers: u64) {
        if let Some(recorder) = &self.job.recorder {
            recorder.borrow_mut().message('R', self.rank.number(), self.peer(from), from, numbers);
        }
    }
}

/// The size of a solution with a triangular matrix on the left or on the right of an m x n matrix.
#[inline]
pub(super) fn triangular(side: Side, m: u64, n: u64) -> Size {
    Size::mnk(m, n, if side == Side::Left { m } else { n })
}

/// The process so many places after another, around the line.
#[inline]
pub(super) fn after(process: u32, distance: u32, processes: u32) -> u32 {
    (process + distance) % processes
}

/// How many places a process is after another, around the line.
#[inline]
pub(super) fn distance(process: u32, from: u32, processes: u32) -> u32 {
    (process + processes - from) % processes
}
