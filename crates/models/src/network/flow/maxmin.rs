//! Max-min fair sharing, kept up to date.
//!
//! The *level* of a flow is its rate times its penalty. Max-min fairness raises all levels together; a flow stops at
//! its ceiling or where one of its links is full. A full link where flows stopped is a *bottleneck*: the flows that it
//! limits all have its level, the other flows that pass it have lower levels, set elsewhere. So
//!
//! > level of a link = (capacity - what passes) / (sum of weight / penalty over the flows it limits).
//!
//! A change of one flow changes the level of its bottleneck; that changes what passes the other links of the flows
//! limited there; and so on, always towards higher levels. The solver settles the links that are reached in the order
//! of their levels. Flows rarely change their bottleneck, so most of the work is adding a number to a link.
//!
//! Time passes on a bottleneck's own clock, which advances by its level: a flow ends when the clock of its bottleneck
//! shows a value that is fixed as long as it stays there, however often the level changes.

use hpcast_units::Time;

use super::earliest::Earliest;
use super::link::{Board, Bottleneck, TIE};
use super::path::{Path, Paths, Weights};
use super::roster::Pool;

/// A sum of which less than this part is left has lost digits.
const CANCELLED: f64 = 1e-2;

/// Where a flow stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// Over.
    Ended,
    /// Not yet active; so much work lies ahead (bytes times penalty over efficiency).
    Waiting { work: f64 },
    /// As fast as it may be, with so much work ahead at `since`.
    Bounded { work: f64, since: Time },
    /// Limited by a link, until that bottleneck's clock shows `finish`.
    Limited { link: u32, finish: f64 },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub state: State,
    /// 1 / penalty: rate per level.
    pub share: f64,
    /// Level at its bound.
    pub ceiling: f64,
    pub path: Path,
    /// Has its bottleneck not yet given it a rate?
    pub fresh: bool,
}

impl Flow {
    #[inline]
    fn is_active(&self) -> bool {
        matches!(self.state, State::Limited { .. } | State::Bounded { .. })
    }
}

/// Max-min fair sharing, kept up to date.
pub(crate) struct MaxMin {
    board: Board,
    flows: Vec<Flow>,
    paths: Paths,
    weights: Weights,
    pool: Pool,
    due: Earliest,
    now: Time,
    /// Flows that run at their bound (and have links).
    bounded: usize,
    /// Flows that are active.
    active: usize,
    /// Rates changed in this solution.
    changes: usize,
    homes: Vec<u32>,
    /// No flow has a lower ceiling.
    lowest_ceiling: f64,
    /// Flows that found no room at their bound.
    newcomers: Vec<u32>,
    /// Flows that run at their bound since now, and when they end: to be planned by the owner.
    pub freed: Vec<(u32, Time)>,
    candidates: Vec<Candidate>,
    found: (f64, f64, f64),
    released: Vec<u32>,
    /// Links whose sums lost digits to cancellation.
    inexact: Vec<u32>,
    pub stats: [u64; 8],
}

const OPEN: u32 = u32::MAX;
const BOUND: u32 = u32::MAX - 1;

/// A flow that a link may begin to limit.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    flow: u32,
    level: f64,
    pull: f64,
}

impl MaxMin {
    pub(crate) fn new(capacities: impl Iterator<Item = f64>, cross_traffic: f64) -> MaxMin {
        MaxMin {
            board: Board::new(capacities),
            flows: Vec::new(),
            paths: Paths::default(),
            weights: Weights::new(cross_traffic),
            pool: Pool::default(),
            due: Earliest::default(),
            now: Time::ZERO,
            bounded: 0,
            active: 0,
            changes: 0,
            homes: Vec::new(),
            lowest_ceiling: f64::INFINITY,
            newcomers: Vec::new(),
            freed: Vec::new(),
            candidates: Vec::new(),
            found: (0.0, 0.0, 0.0),
            released: Vec::new(),
            inexact: Vec::new(),
            stats: [0; 8],
        }
    }

    pub(crate) fn is_free(&self, flow: u32) -> bool { self.paths.of(self.flows[flow as usize].path).is_empty() }
    pub(crate) fn set_now(&mut self, now: Time) { self.now = now; }
    pub(crate) fn state(&self, flow: u32) -> State { self.flows[flow as usize].state }
    pub(crate) fn set_state(&mut self, flow: u32, state: State) { self.flows[flow as usize].state = state; }
    pub(crate) fn link_bytes(&self) -> Vec<f64> { self.board.links.iter().map(|l| l.bytes).collect() }

    /// A flow that will become active.
    #[inline]
    pub(crate) fn announce(&mut self, number: u32, work: f64, share: f64, ceiling: f64, there: &[u32], back: &[u32]) {
        let path = self.paths.insert(there, back);
        let flow = Flow { state: State::Waiting { work }, share, ceiling, path, fresh: false };
        if number as usize == self.flows.len() { self.flows.push(flow); } else { self.flows[number as usize] = flow; }
    }

    /// The flow becomes active: at its bound, if nobody else is slowed down by that.
    #[inline]
    pub(crate) fn join(&mut self, number: u32) {
        let flow = self.flows[number as usize];
        let State::Waiting { work } = flow.state else { return };
        let bound = flow.ceiling * flow.share;
        self.active += 1;
        self.lowest_ceiling = self.lowest_ceiling.min(flow.ceiling);
        let mut fits = true;
        for hop in self.paths.of_mut(flow.path) {
            let weight = self.weights.of(*hop);
            let link = self.board.link_mut(hop.link);
            hop.set_position(link.roster.len());
            link.roster.push(number, &mut self.pool);
            link.weight += weight * flow.share;
            fits &= link.bottleneck().is_none() && link.taken + weight * bound <= link.capacity * super::link::FULL;
        }
        if fits {
            for &hop in self.paths.of(flow.path) {
                let link = self.board.link_mut(hop.link);
                link.taken += self.weights.of(hop) * bound;
                link.highest = link.highest.max(flow.ceiling);
            }
            self.run_free(number, work);
        } else {
            self.newcomers.push(number);
        }
    }

    #[inline]
    fn run_free(&mut self, number: u32, work: f64) {
        let flow = &mut self.flows[number as usize];
        let end = after(self.now, work / flow.ceiling);
        flow.state = State::Bounded { work, since: self.now };
        self.bounded += 1;
        self.freed.push((number, end));
    }

    /// The flow has ended.
    #[inline]
    pub(crate) fn leave(&mut self, number: u32, bytes: f64) {
        let flow = self.flows[number as usize];
        let (level, home) = match flow.state {
            State::Waiting { .. } | State::Ended => {
                self.flows[number as usize].state = State::Ended;
                return self.paths.remove(flow.path);
            }
            State::Bounded { .. } => {
                self.bounded -= 1;
                (flow.ceiling, None)
            }
            State::Limited { link, .. } => {
                let level = self.board.link(link).level;
                self.demote(number, link);
                (level, Some(link))
            }
        };
        let rate = level * flow.share;
        let hops = flow_hops(&self.paths, flow.path);
        for i in 0..hops {
            let hop = self.paths.of(flow.path)[i];
            let weight = self.weights.of(hop);
            let link = &mut self.board.links[hop.link as usize];
            link.bytes += f64::from(hop.there()) * bytes;
            let part = weight * flow.share;
            link.weight -= part;
            if link.weight < part * CANCELLED {
                self.inexact.push(hop.link);
            }
            if home != Some(hop.link) {
                link.taken -= weight * rate;
            }
            let last = link.roster.len() - 1;
            let position = hop.position();
            if position != last {
                let flows = link.roster.flows_mut(&mut self.pool);
                let moved = flows[last];
                flows[position] = moved;
                set_position(&mut self.paths, &self.flows, moved, hop.link, position);
            }
            link.roster.pop(&mut self.pool);
            if last == 0 {
                link.taken = 0.0;
                link.weight = 0.0;
                link.highest = 0.0;
            } else if link.bottleneck().is_some() {
                self.board.enqueue(hop.link);
            }
        }
        self.paths.remove(flow.path);
        self.flows[number as usize].state = State::Ended;
        self.active -= 1;
    }

    /// Ends the flows whose bottleneck says that they are due.
    pub(crate) fn pop_due(&mut self, due: &mut Vec<u32>) {
        let mut groups = Vec::new();
        self.due.due(self.now, &mut groups);
        for number in groups {
            let link = self.board.bottlenecks[number].link;
            let _ = link;
            // collect the ended flows: walk the heap
            self.collect(number, 0, due);
        }
    }

    fn collect(&self, number: u32, at: usize, due: &mut Vec<u32>) {
        let b = &self.board.bottlenecks[number];
        if at >= b.limited as usize { return; }
        let link = self.board.link(b.link);
        let flow = link.roster.flows(&self.pool)[at];
        let State::Limited { finish, .. } = self.flows[flow as usize].state else { unreachable!() };
        if b.since + Time::from_secs((finish - b.clock) / link.level) <= self.now || at == 0 {
            due.push(flow);
            self.collect(number, 2 * at + 1, due);
            self.collect(number, 2 * at + 2, due);
        }
    }

    #[inline]
    pub(crate) fn next_end(&mut self) -> Time { self.due.earliest() }

    /// Finds the new solution.
    #[inline]
    pub(crate) fn solve(&mut self) {
        if self.newcomers.is_empty() && self.board.waiting() == 0 && self.inexact.is_empty() && self.board.touched.is_empty() {
            return;
        }
        self.solve_now();
    }

    fn solve_now(&mut self) {
        self.stats[0] += 1;
        self.mend();
        for i in 0..self.newcomers.len() {
            self.settle_in(self.newcomers[i]);
        }
        if self.board.waiting() * 8 >= self.board.links.len() && self.uniform() {
            self.stats[1] += 1;
            self.board.clear();
        }
        self.newcomers.clear();
        self.changes = 0;
        while let Some(link) = self.board.next() {
            self.settle(link);
            if self.changes > self.active / 2 + 1000 {
                self.stats[7] += 1;
                self.mend();
                self.solve_all();
            }
        }
        for i in 0..self.board.touched.len() {
            let number = self.board.touched[i];
            let b = &mut self.board.bottlenecks[number];
            if !b.touched { continue; }
            b.touched = false;
            let link = &self.board.links[b.link as usize];
            let head = link.roster.flows(&self.pool)[0];
            let State::Limited { finish, .. } = self.flows[head as usize].state else { unreachable!() };
            self.due.set(number, after(self.now, (finish - b.clock) / link.level));
        }
        self.board.touched.clear();
    }

    fn mend(&mut self) {
        while let Some(link) = self.inexact.pop() {
            self.sum(link);
        }
    }

    /// Solves everything anew, by progressive filling: the link that is full at the lowest level limits all flows that
    /// are still open on it, then the next.
    fn solve_all(&mut self) {
        self.board.clear();
        self.homes.clear();
        self.homes.resize(self.flows.len(), OPEN);
        // While links are open, `taken` counts all closed flows, `level` is the weight of the open ones, and `highest`
        // is their number.
        if self.board.links.len() < 8 * self.active {
            for number in 0..self.board.links.len() as u32 {
                if self.board.link(number).roster.len() > 0 {
                    self.board.reopen(number, self.now);
                }
            }
        } else {
            for flow in &self.flows {
                if flow.is_active() {
                    for &hop in self.paths.of(flow.path) {
                        self.board.reopen(hop.link, self.now);
                    }
                }
            }
        }
        let mut closed: Vec<(u32, f64, f64)> = Vec::new();
        let mut unlimited: Vec<u32> = Vec::new();
        while let Some(number) = self.board.next() {
            let link = self.board.link(number);
            if link.highest == 0.0 {
                unlimited.push(number);
                continue;
            }
            let key = (link.capacity - link.taken) / link.level;
            if key > self.board.lowest() * (1.0 + TIE) {
                self.board.postpone(number, key);
                continue;
            }
            let roster = link.roster;
            // Flows with a lower ceiling come first.
            let mut bounded = false;
            let over = key * (1.0 - TIE);
            let tied = key * (1.0 + TIE);
            let mut pull = 0.0;
            let mut kept = Vec::new();
            for &member in roster.flows(&self.pool) {
                if self.homes[member as usize] != OPEN {
                    continue;
                }
                let flow = &self.flows[member as usize];
                if flow.ceiling < over {
                    bounded = true;
                    self.homes[member as usize] = BOUND;
                    self.board.close_flow(self.paths.of(flow.path), &self.weights, flow.share, flow.ceiling);
                    continue;
                }
                kept.push(member);
            }
            if bounded {
                let link = self.board.link(number);
                let key = if link.highest > 0.0 { (link.capacity - link.taken) / link.level } else { key };
                self.board.postpone(number, key);
                continue;
            }
            for &member in &kept {
                let flow = &self.flows[member as usize];
                if let State::Limited { link, .. } = flow.state && link != number {
                    // Among equals it stays where it is.
                    let home = self.board.link(link);
                    if home.capacity - home.taken <= tied * home.level {
                        continue;
                    }
                }
                let hops = self.paths.of(flow.path);
                let hop = *hops.iter().find(|hop| hop.link == number).expect("on path");
                pull += self.weights.of(hop) * flow.share;
                self.homes[member as usize] = number;
                self.board.close_flow(hops, &self.weights, flow.share, key);
            }
            if pull > 0.0 {
                closed.push((number, key, pull));
            } else {
                unlimited.push(number);
            }
        }
        for number in 0..self.flows.len() as u32 {
            let new = self.homes[number as usize];
            let flow = &mut self.flows[number as usize];
            if new == OPEN {
                continue;
            }
            flow.fresh = false;
            let work = match flow.state {
                State::Limited { link, .. } if link == new => continue,
                State::Bounded { .. } if new == BOUND => continue,
                State::Limited { link, .. } => self.demote(number, link),
                State::Bounded { work, since } => {
                    self.bounded -= 1;
                    (work - (self.now - since).as_secs() * flow.ceiling).max(0.0)
                }
                State::Waiting { .. } | State::Ended => unreachable!("only active flows are solved"),
            };
            self.stats[5] += 1;
            if new == BOUND {
                self.run_free(number, work);
            } else {
                self.open(new);
                self.promote(number, new, work);
                self.flows[number as usize].fresh = false;
            }
        }
        let mut highest = 0.0;
        for (number, level, pull) in closed {
            let b = self.board.number(number);
            self.board.bottlenecks[b].fresh = 0;
            self.board.bottlenecks[b].pull = pull;
            let link = self.board.link_mut(number);
            link.taken -= pull * level;
            link.level = level;
            link.highest = level;
            highest = level;
        }
        for number in unlimited {
            let link = self.board.link_mut(number);
            link.level = f64::INFINITY;
            link.highest = f64::INFINITY;
        }
        let _ = highest;
        self.board.clear();
        self.inexact.clear();
        self.changes = 0;
    }

    /// Adds up anew what flows take of a link.
    fn sum(&mut self, number: u32) {
        let link = self.board.link(number);
        let (mut weight, mut taken, mut pull, mut highest) = (0.0, 0.0, 0.0, 0.0f64);
        for &member in link.roster.flows(&self.pool) {
            let flow = &self.flows[member as usize];
            let hop = *self.paths.of(flow.path).iter().find(|hop| hop.link == number).expect("on path");
            let part = self.weights.of(hop) * flow.share;
            weight += part;
            let level = match flow.state {
                State::Limited { link, .. } if link == number => { pull += part; continue; }
                State::Limited { .. } if flow.fresh => 0.0,
                State::Limited { link, .. } => self.board.link(link).level,
                State::Bounded { .. } => flow.ceiling,
                State::Waiting { .. } | State::Ended => 0.0,
            };
            taken += part * level;
            highest = highest.max(level);
        }
        let link = self.board.link_mut(number);
        link.weight = weight;
        link.taken = taken;
        link.highest = highest;
        if let Some(b) = link.bottleneck() {
            self.board.bottlenecks[b].pull = pull;
        }
    }

    /// Is what is stored true?
    #[cfg(test)]
    pub(crate) fn audit(&self, active: &[u32]) {
        let close = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-9 * scale;
        let links = self.board.links.len();
        let (mut taken, mut weight, mut pull, mut highest) = (vec![0.0; links], vec![0.0; links], vec![0.0; links], vec![0.0f64; links]);
        let mut count = vec![0; links];
        for &number in active {
            let flow = &self.flows[number as usize];
            let (level, home) = match flow.state {
                State::Waiting { .. } | State::Ended => continue,
                State::Bounded { .. } => (flow.ceiling, None),
                State::Limited { link, .. } => (self.board.link(link).level, Some(link)),
            };
            assert!(level <= flow.ceiling * (1.0 + 1e-9), "flow {number} exceeds its ceiling");
            for &hop in self.paths.of(flow.path) {
                let (l, w) = (hop.link as usize, self.weights.of(hop));
                let link = &self.board.links[l];
                assert_eq!(link.roster.flows(&self.pool)[hop.position()], number);
                count[l] += 1;
                weight[l] += w * flow.share;
                if home == Some(hop.link) { pull[l] += w * flow.share; } else { taken[l] += w * level * flow.share; highest[l] = highest[l].max(level); }
                assert!(level <= link.level * (1.0 + 1e-9), "flow {number} exceeds link {l}: {level} {}", link.level);
            }
        }
        for (l, link) in self.board.links.iter().enumerate() {
            assert_eq!(link.roster.len(), count[l]);
            assert!(close(link.taken, taken[l], link.capacity), "taken of {l}: {} {}", link.taken, taken[l]);
            assert!(close(link.weight, weight[l], weight[l]), "weight of {l}: {} {}", link.weight, weight[l]);
            assert!(link.highest >= highest[l] * (1.0 - 1e-9), "highest of {l}");
            match link.bottleneck() {
                None => { assert_eq!(pull[l], 0.0); assert!(taken[l] <= link.capacity * (1.0 + 1e-9)); }
                Some(b) => {
                    let b = &self.board.bottlenecks[b];
                    assert_eq!(b.link, l as u32);
                    assert!(close(b.pull, pull[l], pull[l]), "pull of {l}: {} {}", b.pull, pull[l]);
                    assert!(close(taken[l] + pull[l] * link.level, link.capacity, link.capacity), "link {l} is not full: {link:?} {b:?} taken {} pull {}", taken[l], pull[l]);
                }
            }
        }
    }

    /// All at one level?
    fn uniform(&mut self) -> bool {
        if self.bounded > 0 { return false; }
        let mut most: f64 = 0.0;
        for link in &self.board.links {
            most = most.max(link.weight / link.capacity);
        }
        let enough = most * (1.0 - TIE);
        for link in &self.board.links {
            if link.bottleneck().is_some() && link.weight / link.capacity < enough { return false; }
        }
        let level = 1.0 / most;
        if self.lowest_ceiling < level * (1.0 - TIE) { return false; }
        for number in 0..self.board.links.len() {
            let link = &mut self.board.links[number];
            if link.roster.len() == 0 { continue; }
            if let Some(b) = link.bottleneck() {
                self.board.touch(b, self.now);
                let pull = self.board.bottlenecks[b].pull;
                self.board.bottlenecks[b].fresh = 0;
                let link = &mut self.board.links[number];
                link.level = level;
                link.taken = level * (link.weight - pull);
            } else {
                link.taken = level * link.weight;
            }
            self.board.links[number].highest = level;
        }
        for &newcomer in &self.newcomers { self.flows[newcomer as usize].fresh = false; }
        true
    }

    /// Gives a newcomer its first bottleneck.
    fn settle_in(&mut self, number: u32) {
        let flow = self.flows[number as usize];
        let State::Waiting { work } = flow.state else { return };
        let mut lowest = flow.ceiling;
        let mut home = None;
        for &hop in self.paths.of(flow.path) {
            let link = self.board.link(hop.link);
            let pull = link.bottleneck().map_or(0.0, |b| self.board.bottlenecks[b].pull);
            let free = (link.capacity - link.taken) / (pull + self.weights.of(hop) * flow.share);
            let level = free.max(link.capacity / link.weight);
            if level < lowest * (1.0 - 1e-9) {
                lowest = level;
                home = Some(hop.link);
            }
        }
        match home {
            Some(link) => {
                self.open(link);
                self.promote(number, link, work);
                self.board.enqueue(link);
            }
            None => {
                self.run_free(number, work);
                for &hop in self.paths.of(flow.path) {
                    self.board.shift(hop.link, self.weights.of(hop) * flow.ceiling * flow.share, flow.ceiling);
                }
            }
        }
    }

    /// Makes the link a bottleneck, if it is none yet.
    fn open(&mut self, link: u32) {
        let entry = &mut self.board.links[link as usize];
        if entry.bottleneck().is_none() {
            let number = self.board.bottlenecks.insert(Bottleneck {
                link,
                limited: 0,
                fresh: 0,
                pull: 0.0,
                key: f64::INFINITY,
                clock: 0.0,
                since: self.now,
                touched: false,
            });
            entry.set_bottleneck(Some(number));
            entry.level = f64::NAN;
        }
    }

    fn close(&mut self, link: u32) {
        let number = self.board.number(link);
        self.board.bottlenecks[number].touched = false;
        self.board.bottlenecks.remove(number);
        let entry = self.board.link_mut(link);
        entry.set_bottleneck(None);
        entry.level = f64::INFINITY;
        self.due.set(number, Time::NEVER);
        if entry_overfull(&self.board, link) {
            self.board.enqueue(link);
        }
    }

    /// The link, a bottleneck, begins to limit the flow, with so much work ahead.
    fn promote(&mut self, number: u32, link: u32, work: f64) {
        let b = self.board.number(link);
        self.board.touch(b, self.now);
        let flow = &mut self.flows[number as usize];
        let hop = *self.paths.of(flow.path).iter().find(|hop| hop.link == link).expect("on path");
        let bottleneck = &mut self.board.bottlenecks[b];
        let finish = bottleneck.clock + work;
        flow.state = State::Limited { link, finish };
        flow.fresh = true;
        bottleneck.fresh += 1;
        bottleneck.pull += self.weights.of(hop) * flow.share;
        let first = bottleneck.limited as usize;
        bottleneck.limited += 1;
        let position = hop.position();
        let roster = &mut self.board.links[link as usize].roster;
        let flows = roster.flows_mut(&mut self.pool);
        if position != first {
            let other = flows[first];
            flows[position] = other;
            set_position(&mut self.paths, &self.flows, other, link, position);
        }
        let at = sift_up(flows, first, finish, link, &self.flows, &mut self.paths);
        flows[at] = number;
        set_position(&mut self.paths, &self.flows, number, link, at);
    }

    /// The link no longer limits the flow; returns the work ahead.
    fn demote(&mut self, number: u32, link: u32) -> f64 {
        let b = self.board.number(link);
        self.board.touch(b, self.now);
        let flow = &self.flows[number as usize];
        let State::Limited { finish, .. } = flow.state else { unreachable!() };
        let hop = *self.paths.of(flow.path).iter().find(|hop| hop.link == link).expect("on path");
        let bottleneck = &mut self.board.bottlenecks[b];
        let work = finish - bottleneck.clock;
        let part = self.weights.of(hop) * flow.share;
        bottleneck.pull -= part;
        if bottleneck.pull < part * CANCELLED {
            self.inexact.push(link);
        }
        bottleneck.limited -= 1;
        let last = bottleneck.limited as usize;
        let position = hop.position();
        let flows = self.board.links[link as usize].roster.flows_mut(&mut self.pool);
        if position != last {
            let moved = flows[last];
            flows[last] = number;
            set_position(&mut self.paths, &self.flows, number, link, last);
            let State::Limited { finish: key, .. } = self.flows[moved as usize].state else { unreachable!() };
            let mut at = sift_up(flows, position, key, link, &self.flows, &mut self.paths);
            if at == position {
                at = sift_down(&mut flows[..last], position, key, link, &self.flows, &mut self.paths);
            }
            flows[at] = moved;
            set_position(&mut self.paths, &self.flows, moved, link, at);
        }
        if last == 0 {
            self.close(link);
        }
        work.max(0.0)
    }

    fn settle(&mut self, number: u32) {
        self.stats[2] += 1;
        loop {
            self.mend();
            let link = self.board.link(number);
            if link.bottleneck().is_some() && link.capacity - link.taken < 1e-4 * link.capacity {
                self.sum(number);
            }
            let link = self.board.link(number);
            let (old, mut level) = match link.bottleneck() {
                None if link.is_overfull() => (f64::NAN, 0.0),
                None => return,
                Some(b) => (link.level, (link.capacity - link.taken) / self.board.bottlenecks[b].pull),
            };
            let mut captures = false;
            if link.highest > level * (1.0 + TIE) {
                self.stats[4] += 1;
                level = self.find(number, level);
                captures = true;
            }
            if self.board.lowest() < level * (1.0 - TIE) {
                self.stats[6] += 1;
                self.board.postpone(number, level);
                return;
            }
            if captures {
                self.capture(number);
            }
            let b = self.board.number(number);
            if self.board.bottlenecks[b].fresh == 0 && (level - old).abs() <= TIE * level {
                return;
            }
            self.board.touch(b, self.now);
            self.board.link_mut(number).level = level;
            self.spread(number, old, level);
            if self.released.is_empty() { return; }
            self.release(number, level);
            if self.board.link(number).bottleneck().is_none() { return; }
        }
    }

    /// Changes the rates of the flows that the link limits.
    fn spread(&mut self, number: u32, old: f64, level: f64) {
        let b = self.board.number(number);
        self.board.bottlenecks[b].fresh = 0;
        let limited = self.board.bottlenecks[b].limited as usize;
        self.changes += limited;
        let roster = self.board.link(number).roster;
        let over = level * (1.0 - TIE);
        for &member in &roster.flows(&self.pool)[..limited] {
            let flow = &mut self.flows[member as usize];
            if flow.ceiling < over {
                self.released.push(member);
            }
            self.stats[3] += 1;
            let change = if flow.fresh { level } else { level - old } * flow.share;
            flow.fresh = false;
            for &hop in self.paths.of(flow.path) {
                if hop.link != number {
                    self.board.shift(hop.link, self.weights.of(hop) * change, level);
                }
            }
        }
    }

    /// Lets flows go whose ceiling is below the level of the link.
    fn release(&mut self, number: u32, level: f64) {
        while let Some(member) = self.released.pop() {
            let work = self.demote(member, number);
            self.run_free(member, work);
            let flow = self.flows[member as usize];
            let rate = flow.ceiling * flow.share;
            for &hop in self.paths.of(flow.path) {
                let weight = self.weights.of(hop);
                if hop.link == number {
                    let link = self.board.link_mut(number);
                    link.taken += weight * rate;
                    link.highest = link.highest.max(flow.ceiling);
                } else {
                    self.board.shift(hop.link, weight * (rate - level * flow.share), flow.ceiling);
                }
            }
        }
    }

    /// Finds the flows that pass the link at a higher level than its own, and the level that it has with them.
    fn find(&mut self, number: u32, level: f64) -> f64 {
        let link = self.board.link(number);
        let (limited, mut pull) = match link.bottleneck() {
            None => (0, 0.0),
            Some(b) => (self.board.bottlenecks[b].limited as usize, self.board.bottlenecks[b].pull),
        };
        let floor = level.max(link.capacity / link.weight) ;
        let mut taken = link.taken;
        let mut highest: f64 = 0.0;
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let over = floor * (1.0 + TIE);
        self.changes += link.roster.len() - limited;
        for &member in &link.roster.flows(&self.pool)[limited..] {
            let flow = &self.flows[member as usize];
            let its = match flow.state {
                State::Limited { .. } if flow.fresh => 0.0,
                State::Limited { link, .. } => self.board.link(link).level,
                State::Bounded { .. } => flow.ceiling,
                State::Waiting { .. } | State::Ended => 0.0,
            };
            if its > over {
                let hop = *self.paths.of(flow.path).iter().find(|hop| hop.link == number).expect("on path");
                let part = self.weights.of(hop) * flow.share;
                candidates.push(Candidate { flow: member, level: its, pull: part });
            } else {
                highest = highest.max(its);
            }
        }
        let mut level;
        // Take them all, then let those go that want less than the level.
        loop {
            let (mut more, mut less) = (0.0, 0.0);
            for c in &candidates {
                more += c.pull;
                less += c.pull * c.level;
            }
            level = (link.capacity - (taken - less)) / (pull + more);
            let before = candidates.len();
            candidates.retain(|c| {
                let keep = c.level > level;
                if !keep {
                    highest = highest.max(c.level);
                }
                keep
            });
            if candidates.len() == before {
                pull += more;
                taken -= less;
                break;
            }
        }
        self.candidates = candidates;
        self.found = (taken, pull, highest);
        level
    }

    /// Begins to limit the flows that were found.
    fn capture(&mut self, number: u32) {
        let candidates = std::mem::take(&mut self.candidates);
        let (taken, pull, highest) = self.found;
        if !candidates.is_empty() {
            self.open(number);
            for c in &candidates {
                let flow = self.flows[c.flow as usize];
                let (work, home) = match flow.state {
                    State::Limited { link, .. } => (self.demote(c.flow, link), Some(link)),
                    State::Bounded { work, since } => {
                        self.bounded -= 1;
                        ((work - (self.now - since).as_secs() * flow.ceiling).max(0.0), None)
                    }
                    State::Waiting { .. } | State::Ended => unreachable!("a flow that waits has no level"),
                };
                self.promote(c.flow, number, work);
                let rate = c.level * flow.share;
                for &hop in self.paths.of(flow.path) {
                    if Some(hop.link) == home {
                        self.board.shift(hop.link, 0.0, 0.0);
                    } else if hop.link != number {
                        self.board.shift(hop.link, -self.weights.of(hop) * rate, 0.0);
                    }
                }
            }
            self.stats[5] += candidates.len() as u64;
        }
        let link = self.board.link_mut(number);
        link.taken = taken;
        link.highest = highest;
        if let Some(b) = link.bottleneck() {
            self.board.bottlenecks[b].pull = pull;
        }
        self.candidates = candidates;
    }
}

fn entry_overfull(board: &Board, link: u32) -> bool { board.link(link).is_overfull() }
fn flow_hops(paths: &Paths, path: Path) -> usize { paths.of(path).len() }

#[inline]
fn set_position(paths: &mut Paths, flows: &[Flow], flow: u32, link: u32, position: usize) {
    let hop = paths.of_mut(flows[flow as usize].path).iter_mut().find(|hop| hop.link == link).expect("on path");
    hop.set_position(position);
}

#[inline]
fn finish(flows: &[Flow], flow: u32) -> f64 {
    match flows[flow as usize].state { State::Limited { finish, .. } => finish, _ => unreachable!() }
}

fn sift_up(heap: &mut [u32], mut at: usize, key: f64, link: u32, flows: &[Flow], paths: &mut Paths) -> usize {
    while at > 0 {
        let parent = (at - 1) / 2;
        if finish(flows, heap[parent]) <= key { break; }
        heap[at] = heap[parent];
        set_position(paths, flows, heap[at], link, at);
        at = parent;
    }
    at
}

fn sift_down(heap: &mut [u32], mut at: usize, key: f64, link: u32, flows: &[Flow], paths: &mut Paths) -> usize {
    loop {
        let mut child = 2 * at + 1;
        if child >= heap.len() { break; }
        if child + 1 < heap.len() && finish(flows, heap[child + 1]) < finish(flows, heap[child]) { child += 1; }
        if key <= finish(flows, heap[child]) { break; }
        heap[at] = heap[child];
        set_position(paths, flows, heap[at], link, at);
        at = child;
    }
    at
}

/// At least a picosecond later, so that time goes on.
#[inline]
fn after(now: Time, seconds: f64) -> Time {
    now + Time::from_secs(seconds).max(Time::from_ps(1))
}
