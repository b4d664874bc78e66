//! All processes of a column that factor a panel at once: their clocks as a recurrence, without an event for each message.
//!
//! The factorisation is closed: until it is over, its processes exchange messages with nobody else, and all in the same
//! order. So the last process to come to it can work out when each of them is done. What the recurrence leaves out is
//! contention: that these small messages meet others on a link. Where messages vary, each is drawn here as in a simulation.
//! `Hpl::jointly` turns it on; with it off, every message is simulated.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hpcast_mpi::{Activity, Gate, LoneMessage};
use hpcast_units::Time;

use super::factor::{Share, Team, factor_with};
use super::kernels::HplKernel::Dcopy;
use super::kernels::{HplKernel, Size};
use super::panel::Panel;
use super::process::{Job, Process, Side};
use super::swap_plan::power_below;

/// The processes that have come to a panel, by their distance from its owner.
#[derive(Default)]
pub(super) struct Column {
    members: RefCell<Vec<Option<Member>>>,
    gate: Gate,
}

/// A process of the column, and what the factorisation does to it.
#[derive(Clone)]
struct Member {
    rank: u32,
    node: u32,
    share: Share,
    models: Rc<[u32]>,
    /// Calls of noisy kernels so far.
    calls: Cell<u64>,
    clock: Cell<Time>,
    computed: Cell<Time>,
    sent: Cell<Time>,
    received: Cell<Time>,
}

impl Process {
    /// Waits for all processes of the column and takes its part of what they find.
    pub async fn factor_jointly(&self, panel: &Panel) {
        let start = self.now();
        let processes = self.rows();
        let place = super::process::distance(self.row, panel.row, processes) as usize;
        let column = self.job.columns.borrow_mut().entry(panel.number).or_default().clone();
        let is_last = {
            let mut members = column.members.borrow_mut();
            members.resize(processes as usize, None);
            members[place] = Some(self.member(panel, start));
            members.iter().all(Option::is_some)
        };
        if is_last {
            self.job.columns.borrow_mut().remove(&panel.number);
            let members = column.members.borrow().iter().flatten().cloned().collect();
            let team = Together::new(&self.job, members, panel);
            let mut work = std::pin::pin!(factor_with(&team, self.parameters(), panel.jb));
            let done = work.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready();
            assert!(done, "nothing waits where all is done at once");
            self.rank.count_messages(team.messages.get(), 8 * team.numbers.get());
            *column.members.borrow_mut() = team.members.iter().cloned().map(Some).collect();
            column.gate.open(&self.rank);
        } else {
            column.gate.wait(&self.rank, "panel factorisation").await;
        }
        let members = column.members.borrow();
        let Some(member) = &members[place] else { unreachable!("all members are there") };
        self.set_calls(member.calls.get());
        let (computed, sent, received) = (member.computed.get(), member.sent.get(), member.received.get());
        self.rank.spend(Activity::Compute, computed);
        self.rank.spend(Activity::Send, sent);
        self.rank.spend(Activity::Receive, received);
        self.rank.spend(Activity::Wait, member.clock.get().since(start + computed + sent + received));
    }

    fn member(&self, panel: &Panel, clock: Time) -> Member {
        Member {
            rank: self.rank.number(),
            node: self.node,
            share: Share { rows: panel.mp, owns_top: self.row == panel.row },
            models: self.models.clone(),
            calls: Cell::new(self.calls()),
            clock: Cell::new(clock),
            computed: Cell::default(),
            sent: Cell::default(),
            received: Cell::default(),
        }
    }
}

/// The processes of a column together, by their distance from the panel's owner.
struct Together<'j> {
    job: &'j Job,
    members: Vec<Member>,
    panel: u32,
    jb: u64,
    cube: usize,
    /// What messages cost: for each step of an exchange, from each process.
    steps: Vec<Vec<LoneMessage>>,
    messages: Cell<u64>,
    numbers: Cell<u64>,
}

/// A message of a step: to whom, and how many numbers.
#[derive(Clone, Copy)]
struct Shipment {
    to: usize,
    numbers: u64,
}

impl<'j> Together<'j> {
    fn new(job: &'j Job, members: Vec<Member>, &Panel { number: panel, jb, .. }: &Panel) -> Together<'j> {
        let cube = power_below(members.len() as u64) as usize;
        let (steps, messages, numbers) = (Vec::new(), Cell::default(), Cell::default());
        let mut team = Together { job, members, panel, jb, cube, steps, messages, numbers };
        let mut lone = job.lone_messages.borrow_mut();
        team.steps = (0..team.step_count())
            .map(|step| {
                (0..team.members.len())
                    .map(|from| match team.shipment(step, from) {
                        Some(Shipment { to, numbers }) => {
                            lone.cost(team.members[from].node, team.members[to].node, 8 * numbers)
                        }
                        None => LoneMessage::default(),
                    })
                    .collect()
            })
            .collect();
        team
    }

    /// Processes beyond the hypercube.
    fn beyond(&self) -> usize {
        self.members.len() - self.cube
    }

    fn stages(&self) -> usize {
        self.cube.ilog2() as usize
    }

    /// Rounds of the broadcast beyond the hypercube.
    fn rounds(&self) -> usize {
        if self.beyond() > 1 { power_below(self.beyond() as u64 - 1).ilog2() as usize + 1 } else { 0 }
    }

    /// Steps of an exchange: into the cube, its stages, the broadcast beyond it, out of the cube.
    fn step_count(&self) -> usize {
        1 + self.stages() + self.rounds() + 1
    }

    /// What a process sends in a step (see `pivot.rs` for the pattern).
    fn shipment(&self, step: usize, from: usize) -> Option<Shipment> {
        let (row, both) = (self.jb + 4, 2 * self.jb + 4);
        let (cube, count) = (self.cube, self.members.len());
        let ship = |to: usize, numbers: u64| Some(Shipment { to, numbers });
        if step == 0 {
            return match from {
                0 if count > cube => ship(cube, self.jb),
                _ if from >= cube => ship(from - cube, row),
                _ => None,
            };
        }
        if step <= self.stages() {
            let bit = 1 << (step - 1);
            return if from >= cube { None } else { ship(from ^ bit, if from < bit { both } else { row }) };
        }
        if step < self.step_count() - 1 {
            let bit = 1 << (self.rounds() - 1 - (step - 1 - self.stages()));
            let place = from.checked_sub(cube)?;
            let sends = place.is_multiple_of(2 * bit) && place + bit < self.beyond();
            return if sends { ship(from + bit, self.jb) } else { None };
        }
        if from < self.beyond() { ship(from + cube, row) } else { None }
    }

    /// All messages of a step. Who sends and receives does both at once (HPL_sdrv).
    fn step(&self, step: usize) {
        let costs = &self.steps[step];
        // When each was ready to receive, which is when it came to this step.
        let ready: Vec<Time> = self.members.iter().map(|member| member.clock.get()).collect();
        let mut arrivals = vec![None; self.members.len()];
        for (from, cost) in costs.iter().enumerate() {
            let Some(shipment @ Shipment { to, numbers }) = self.shipment(step, from) else { continue };
            let drawn = if cost.noisy { Some(self.draw(from, shipment)) } else { None };
            let cost = drawn.as_ref().unwrap_or(cost);
            self.messages.set(self.messages.get() + 1);
            self.numbers.set(self.numbers.get() + numbers);
            let sender = &self.members[from];
            sender.sent.set(sender.sent.get() + cost.send);
            let sent = ready[from] + cost.send;
            let start = if cost.eager { sent } else { sent.max(ready[to]) };
            let arrival = start + cost.travel;
            sender.clock.set(if cost.detached { sent } else { arrival });
            arrivals[to] = Some((arrival, cost.receive));
        }
        for (member, arrival) in self.members.iter().zip(arrivals) {
            if let Some((arrival, overhead)) = arrival {
                member.clock.set(member.clock.get().max(arrival) + overhead);
                member.received.set(member.received.get() + overhead);
            }
        }
    }

    /// What a single message costs, where messages vary.
    fn draw(&self, from: usize, Shipment { to, numbers }: Shipment) -> LoneMessage {
        let (sender, receiver) = (&self.members[from], &self.members[to]);
        let number = 1 << 63 | u64::from(self.panel) << 32 | self.messages.get();
        self.job.lone_messages.borrow_mut().draw(sender.node, receiver.node, 8 * numbers, sender.rank, number)
    }

    fn charge(&self, member: &Member, kernel: HplKernel, size: Size) {
        let random = || {
            let call = member.calls.get();
            member.calls.set(call + 1);
            self.job.noise.word(member.rank, call)
        };
        let charge = self.job.models.charge(kernel, &member.models, size, random);
        if charge.length != Time::ZERO {
            member.clock.set(member.clock.get() + charge.length);
            member.computed.set(member.computed.get() + charge.length);
            self.job.account.borrow_mut().kernel(kernel, charge, 1);
        }
    }
}

impl Team for Together<'_> {
    #[inline]
    fn kernel(&self, kernel: HplKernel, size: impl Fn(Share) -> Option<Size>) {
        if self.job.models.is_free(kernel) {
            return;
        }
        for member in &self.members {
            if let Some(size) = size(member.share) {
                self.charge(member, kernel, size);
            }
        }
    }

    fn solve_triangular(&self, side: Side, m: u64, n: u64) {
        let order = if side == Side::Left { m } else { n };
        self.kernel(HplKernel::Dtrsm, |_| Some(Size::mnk(m, n, order)));
    }

    async fn exchange_pivot(&self, column: u64) {
        let row = Size::n(self.jb);
        self.kernel(Dcopy, |share| (share.below(column) > 0).then_some(row));
        self.kernel(Dcopy, |share| (share.owns_top && share.below(column) > 0).then_some(row));
        for step in 0..self.step_count() {
            self.step(step);
        }
    }
}
