//! Max-min fair sharing, kept up to date.
//!
//! The *level* of a flow is its rate times its penalty. Max-min fairness raises all levels together; a flow stops at
//! its ceiling or where one of its links is full. A full link where flows stopped is a *bottleneck*: the flows that it
//! *limits* all have its level; the other flows *pass* it at lower levels, limited elsewhere. So
//!
//! > level of a link = (capacity - what passes) / (sum of weight / penalty over the flows that it limits).
//!
//! Each flow is limited by one link, or runs at its ceiling. A change of one flow changes the level of its bottleneck;
//! that changes what passes the other links of the flows limited there; and so on, always towards higher levels
//! (`settle.rs`). Few flows change their bottleneck, so most of the work is to add a number to a link. Should that go on
//! for too long, everything is solved from scratch (`filling.rs`).
//!
//! Time passes on a bottleneck's own clock, which advances by its level: a flow ends when the clock of its bottleneck
//! shows a value that is fixed as long as it stays there, however often the level changes (`bottleneck.rs`).

use hpcast_units::Time;

use super::cohort::Cohort;
use super::earliest::Earliest;
use super::link::Board;
use super::path::{Path, Paths, Weights};
use super::roster::{Member, Pool};
use super::spill::Spills;

/// A sum of which less than this part is left after a subtraction has lost digits.
pub(super) const CANCELLED: f64 = 1e-2;
/// After so many changes all sums are made anew, whatever they have lost.
const CHANGES_BETWEEN_SUMS: usize = 1 << 24;

/// Stands for the number of a link where there is none.
pub(super) const NOBODY: u32 = u32::MAX;

/// Where a flow stands. Its *work* is what it has left to move: bytes times penalty over efficiency.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Over.
    Ended,
    /// Not yet active.
    Waiting { work: f64 },
    /// As fast as it may be; had so much work left at `since`.
    Bounded { work: f64, since: Time },
    /// Limited by a link, until that bottleneck's clock shows `finish`.
    Limited { link: u32, finish: f64 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub state: State,
    /// 1 / penalty: rate per level.
    pub share: f64,
    /// Level at its bound.
    pub ceiling: f64,
    pub path: Path,
}

impl Flow {
    /// When its bottleneck's clock shows this, it ends.
    #[inline]
    pub(super) fn finish(&self) -> f64 {
        match self.state {
            State::Limited { finish, .. } => finish,
            _ => f64::INFINITY,
        }
    }

    #[inline]
    pub(super) fn is_active(&self) -> bool {
        matches!(self.state, State::Limited { .. } | State::Bounded { .. })
    }
}

/// What comes next for a flow that its owner had planned something for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It ends now.
    Ends,
    /// Nobody slows it down; until somebody does, it ends then.
    RunsUntil(Time),
    /// It shares links: its bottleneck knows when it ends.
    Shares,
}

/// Max-min fair sharing, kept up to date. The owner numbers the flows.
pub(super) struct MaxMin {
    pub board: Board,
    pub flows: Vec<Flow>,
    /// The link that limits each flow, [`NOBODY`] if none does. Settling looks at very many of these, so they lie close
    /// together.
    pub homes: Vec<u32>,
    pub paths: Paths,
    pub weights: Weights,
    pub pool: Pool,
    pub spills: Spills,
    /// When the next flow of each bottleneck ends.
    ends: Earliest,
    pub cohort: Cohort,
    pub now: Time,
    /// Flows that are active.
    pub active: usize,
    /// Those among them that run at their ceiling.
    pub bounded: usize,
    /// No flow has a lower ceiling than this.
    pub lowest_ceiling: f64,
    /// Flows that found no room at their ceiling.
    pub newcomers: Vec<u32>,
    /// Flows that run at their ceiling since this solution, with their ends.
    pub freed: Vec<(u32, Time)>,
    /// Links whose sums have lost digits.
    pub inexact: Vec<u32>,
    /// Changes of sums since all were made anew.
    pub drift: usize,
    /// Settling may look at all flows so many times before everything is solved from scratch.
    pub patience: usize,
    pub effort: super::settle::Effort,
    pub scratch: super::settle::Scratch,
}

impl MaxMin {
    /// No flows on links of these capacities. Acknowledgements take `cross_traffic` times the rate of a flow.
    pub(super) fn new(capacities: impl Iterator<Item = f64>, cross_traffic: f64) -> MaxMin {
        MaxMin {
            board: Board::new(capacities),
            flows: Vec::new(),
            homes: Vec::new(),
            paths: Paths::default(),
            weights: Weights::new(cross_traffic),
            pool: Pool::default(),
            spills: Spills::default(),
            ends: Earliest::default(),
            cohort: Cohort::default(),
            now: Time::ZERO,
            active: 0,
            bounded: 0,
            lowest_ceiling: f64::INFINITY,
            newcomers: Vec::new(),
            freed: Vec::new(),
            inexact: Vec::new(),
            drift: 0,
            patience: 8,
            effort: Default::default(),
            scratch: Default::default(),
        }
    }

    /// Moves to `now`.
    #[inline]
    pub(super) fn move_to(&mut self, now: Time) {
        self.now = now;
    }

    /// A flow will become active. Its number is that of one that has ended, or one more than all numbers so far.
    #[inline]
    pub(super) fn announce(&mut self, number: u32, work: f64, penalty: f64, ceiling: f64, path: Path) {
        let flow = Flow { state: State::Waiting { work }, share: 1.0 / penalty, ceiling, path };
        match self.flows.get_mut(number as usize) {
            Some(place) => *place = flow,
            None => {
                self.flows.push(flow);
                self.homes.push(NOBODY);
            }
        }
    }

    /// A flow that is not active yet stands for another one, too, which is its like the other way round; false if that can not
    /// be.
    #[inline]
    pub(super) fn double(&mut self, number: u32) -> bool {
        self.paths.double(self.flows[number as usize].path)
    }

    /// Something will happen to the flow soon.
    #[inline]
    pub(super) fn prefetch(&self, number: u32) {
        hpcast_engine::prefetch(&self.flows[number as usize]);
    }

    /// The same, when the flow is there: its hops will be needed.
    #[inline]
    pub(super) fn prefetch_hops(&self, number: u32) {
        if let Some(hop) = self.paths.of(self.flows[number as usize].path).first() {
            hpcast_engine::prefetch(hop);
        }
    }

    /// The same, when its hops are there: its links will be needed.
    #[inline]
    pub(super) fn prefetch_links(&self, number: u32) {
        for hop in self.paths.of(self.flows[number as usize].path) {
            hpcast_engine::prefetch(self.board.link(hop.link));
        }
    }

    /// Does it end within that time after what was planned for it, if nobody slows it down?
    #[inline]
    pub(super) fn would_end(&self, number: u32, within: Time) -> bool {
        let flow = &self.flows[number as usize];
        match flow.state {
            State::Waiting { work } => work <= flow.ceiling * within.as_secs() || flow.path.len() == 0,
            State::Bounded { .. } => true,
            State::Ended | State::Limited { .. } => false,
        }
    }

    /// Is it limited by a link?
    #[inline]
    pub(super) fn is_limited(&self, number: u32) -> bool {
        matches!(self.flows[number as usize].state, State::Limited { .. })
    }

    /// What was planned for the flow comes now: it becomes active, or it has come to its end.
    #[inline]
    pub(super) fn step(&mut self, number: u32) -> Step {
        let flow = &self.flows[number as usize];
        match flow.state {
            State::Waiting { work } if work == 0.0 || flow.path.len() == 0 => Step::Ends,
            State::Waiting { work } => self.join(number, work),
            State::Bounded { .. } | State::Ended => Step::Ends,
            State::Limited { .. } => Step::Shares,
        }
    }

    /// The flow becomes active.
    #[inline]
    fn join(&mut self, number: u32, work: f64) -> Step {
        if self.gather(number) { Step::Shares } else { self.enter(number, work) }
    }

    /// The flow takes its place on its links: at its ceiling, if nobody else is slowed down by that.
    #[inline]
    pub(super) fn enter(&mut self, number: u32, work: f64) -> Step {
        let flow = &mut self.flows[number as usize];
        let (share, bound) = (flow.share, flow.ceiling * flow.share);
        let mut fits = true;
        for (at, hop) in (flow.path.first()..).zip(self.paths.of_mut(flow.path)) {
            let weight = self.weights.of(*hop);
            let link = self.board.link_mut(hop.link);
            hop.set_position(link.roster.len());
            link.roster.push(Member { flow: number, hop: at }, &mut self.pool);
            link.weight += weight * share;
            link.taken += weight * bound;
            fits &= link.has_room();
        }
        self.active += 1;
        if flow.ceiling < self.lowest_ceiling {
            self.lowest_ceiling = flow.ceiling;
        }
        if !fits {
            for &hop in self.paths.of(flow.path) {
                self.board.link_mut(hop.link).taken -= self.weights.of(hop) * bound;
            }
            flow.state = State::Waiting { work };
            self.newcomers.push(number);
            return Step::Shares;
        }
        flow.state = State::Bounded { work, since: self.now };
        self.bounded += 1;
        Step::RunsUntil(after(self.now, work / flow.ceiling))
    }

    /// The flow has ended.
    #[inline]
    pub(super) fn leave(&mut self, number: u32) {
        let Flow { state, share, ceiling, path } = self.flows[number as usize];
        match state {
            State::Waiting { .. } | State::Ended => {}
            State::Bounded { .. } => {
                self.bounded -= 1;
                self.leave_links(path, share, ceiling, NOBODY);
            }
            State::Limited { link, .. } => {
                let level = self.board.link(link).level;
                self.stop_limiting(link, number);
                self.leave_links(path, share, level, link);
            }
        }
        self.flows[number as usize].state = State::Ended;
        self.paths.remove(path);
    }

    /// A flow that had that level, and was limited there, is gone.
    #[inline]
    fn leave_links(&mut self, path: Path, share: f64, level: f64, home: u32) {
        for at in path.first()..path.first() + path.len() {
            let hop = self.paths.hop(at);
            let link = self.board.link_mut(hop.link);
            if link.roster.len() == 1 {
                link.roster.clear(&mut self.pool);
                (link.weight, link.taken) = (0.0, 0.0);
                continue;
            }
            if let Some(moved) = link.roster.remove(hop.position(), &mut self.pool) {
                self.paths.hop_mut(moved.hop).set_position(hop.position());
            }
            let part = self.weights.of(hop) * share;
            link.weight -= part;
            if link.weight < part * CANCELLED {
                self.inexact.push(hop.link);
            }
            if home != hop.link {
                link.taken -= part * level;
            }
            if link.bottleneck().is_some() {
                self.board.enqueue(hop.link);
            }
        }
        self.active -= 1;
        self.drift += 1;
    }

    /// Whether these flows, which share links and have ended, are all there are, so that each link becomes empty.
    #[inline]
    pub(super) fn are_all(&self, ended: usize) -> bool {
        ended == self.active && self.newcomers.is_empty() && self.board.waiting() == 0 && self.inexact.is_empty()
    }

    /// One of all flows, which have ended together, is gone: cheaper than to leave one by one.
    pub(super) fn leave_together(&mut self, number: u32) {
        let path = self.flows[number as usize].path;
        let mut crowded = false;
        for &hop in self.paths.of(path) {
            let link = self.board.link_mut(hop.link);
            // All that a cohort leaves behind.
            link.weight = 0.0;
            crowded |= link.roster.len() > 0;
        }
        for place in 0..if crowded { path.len() } else { 0 } {
            let link = self.paths.hop(path.first() + place).link;
            if self.board.link(link).roster.len() > 0 {
                self.empty(link);
            }
        }
        self.flows[number as usize].state = State::Ended;
        self.homes[number as usize] = NOBODY;
        self.paths.remove(path);
        self.active -= 1;
    }

    /// When the next flow that shares links ends.
    #[inline]
    pub(super) fn next_end(&mut self) -> Time {
        self.ends.earliest().min(self.cohort.end())
    }

    /// Appends the flows that share links and end now.
    pub(super) fn due(&mut self, due: &mut Vec<u32>) {
        if self.cohort.end() <= self.now {
            return self.cohort.take(due);
        }
        let mut bottlenecks = std::mem::take(&mut self.scratch.due);
        self.ends.due(self.now, &mut bottlenecks);
        for number in bottlenecks.drain(..) {
            self.collect_due(number, self.now, due);
        }
        self.scratch.due = bottlenecks;
    }

    /// Finds the new rates, and says whether there were any.
    #[inline]
    pub(super) fn solve(&mut self) -> bool {
        if self.cohort.gathers() {
            // All others are gone: what they left to be done is no matter, and would take no notice of the cohort.
            self.mend();
            self.board.clear();
            self.form_cohort();
        }
        let changed = !self.newcomers.is_empty()
            || !self.freed.is_empty()
            || self.board.waiting() > 0
            || !self.board.touched.is_empty()
            || !self.inexact.is_empty();
        if changed {
            self.settle_all();
            self.plan_ends();
        }
        changed
    }

    /// A flow that nobody slows down any more since the last solution, and when it ends.
    #[inline]
    pub(super) fn freed(&mut self) -> Option<(u32, Time)> {
        self.freed.pop()
    }

    /// Appends the flows that share links, and will end by then if nothing changes.
    pub(super) fn ending_by(&mut self, then: Time, ending: &mut Vec<u32>) {
        let mut bottlenecks = std::mem::take(&mut self.scratch.due);
        self.ends.due(then, &mut bottlenecks);
        for number in bottlenecks.drain(..) {
            self.collect_due(number, then, ending);
        }
        self.scratch.due = bottlenecks;
    }

    /// Plans the next end of each bottleneck that has changed.
    fn plan_ends(&mut self) {
        while let Some(number) = self.board.touched.pop() {
            let bottleneck = &mut self.board.bottlenecks[number];
            // One that was closed since has no flows.
            if bottleneck.touched {
                bottleneck.touched = false;
                let link = &self.board.links[bottleneck.link as usize];
                let first = &self.flows[link.roster.members(&self.pool)[0].flow as usize];
                let end = after(self.now, (first.finish() - bottleneck.clock) / link.level);
                self.ends.set(number, end);
            }
        }
    }

    /// Forgets the next end of a bottleneck.
    #[inline]
    pub(super) fn forget_end(&mut self, bottleneck: u32) {
        self.ends.set(bottleneck, Time::NEVER);
    }

    /// The level of an active flow.
    #[inline]
    pub(super) fn level(&self, flow: &Flow) -> f64 {
        match flow.state {
            State::Limited { link, .. } => self.board.link(link).level,
            State::Bounded { .. } => flow.ceiling,
            _ => 0.0,
        }
    }

    /// The work that a flow has left; `in_cohort` says whether it is one of the cohort.
    pub(super) fn left(&self, number: u32, in_cohort: bool) -> f64 {
        let flow = &self.flows[number as usize];
        match flow.state {
            State::Ended => 0.0,
            State::Waiting { work } if in_cohort => work - self.cohort.done(self.now),
            State::Waiting { work } => work,
            State::Bounded { work, since } => self.work_left(flow, work, since),
            State::Limited { link, finish } => {
                let link = self.board.link(link);
                let clock = link.bottleneck().map(|number| {
                    let bottleneck = &self.board.bottlenecks[number];
                    bottleneck.clock + link.level * (self.now - bottleneck.since).as_secs()
                });
                clock.map_or(0.0, |clock| finish - clock)
            }
        }
    }

    /// The work that a flow that runs at its ceiling has left.
    #[inline]
    pub(super) fn work_left(&self, flow: &Flow, work: f64, since: Time) -> f64 {
        (work - (self.now - since).as_secs() * flow.ceiling).max(0.0)
    }

    /// The flow runs at its ceiling from now on. Its links have to be told.
    #[inline]
    pub(super) fn set_free(&mut self, number: u32, work: f64) {
        let flow = &mut self.flows[number as usize];
        flow.state = State::Bounded { work, since: self.now };
        self.bounded += 1;
        self.freed.push((number, after(self.now, work / flow.ceiling)));
    }

    /// Makes the sums anew that have lost digits.
    #[inline]
    pub(super) fn mend(&mut self) {
        if self.drift >= CHANGES_BETWEEN_SUMS {
            self.drift = 0;
            self.inexact.clear();
            self.inexact.extend(0..self.board.links.len() as u32);
        }
        while let Some(link) = self.inexact.pop() {
            self.sum(link);
        }
    }

    /// Adds up anew what flows take of a link.
    pub(super) fn sum(&mut self, number: u32) {
        let link = self.board.link(number);
        let (mut weight, mut taken, mut pull, mut highest) = (0.0, 0.0, 0.0, 0.0f64);
        for &Member { flow, hop } in link.roster.members(&self.pool) {
            let flow = &self.flows[flow as usize];
            let part = self.weights.of(self.paths.hop(hop)) * flow.share;
            weight += part;
            match flow.state {
                State::Limited { link, .. } if link == number => pull += part,
                _ => {
                    let level = self.level(flow);
                    taken += part * level;
                    highest = highest.max(level);
                }
            }
        }
        let link = self.board.link_mut(number);
        (link.weight, link.taken, link.highest) = (weight, taken, highest);
        if let Some(bottleneck) = link.bottleneck() {
            self.board.bottlenecks[bottleneck].pull = pull;
        }
    }
}

/// So many seconds later, but at least a picosecond, so that time goes on.
#[inline]
pub(super) fn after(now: Time, seconds: f64) -> Time {
    now + Time::from_secs(seconds).max(Time::from_ps(1))
}
