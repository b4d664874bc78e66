//! Settling: each link that a change has reached gets its new level, lower levels first.
//!
//! A link's level depends only on flows of lower levels. So if links are settled in the order of their levels, each is
//! settled once. The new levels are not known beforehand, but the order of the old ones serves as well: two links that
//! share a flow change their order only where the flow moves from one to the other. Then, and where a link fills up that
//! was not full, links are settled again; where that goes on for too long, everything is solved from scratch.

use super::link::{Bottleneck, TIE};
use super::maxmin::{MaxMin, NOBODY, State};
use super::roster::Member;

/// A link with less room than this part of its capacity for the flows that it limits is summed up anew.
const LITTLE_ROOM: f64 = 1e-4;

/// A link whose level is so much higher, relatively, than that of another that waits, is settled later.
const FAR: f64 = 0.5;

/// How much work the current solution has taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    /// Links settled and flows looked at.
    flows: usize,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub due: Vec<u32>,
    /// Flows whose ceiling is below the level of their link.
    freed: Vec<u32>,
    /// Links that were reached by a change.
    reached: Vec<u32>,
    /// Flows that a link has to limit.
    captured: Vec<Captured>,
}

/// A flow that passes a link at a higher level than the link allows.
#[derive(Clone, Copy, Debug)]
struct Captured {
    flow: u32,
    /// Its level so far.
    level: f64,
    /// Its weight / penalty.
    pull: f64,
}

/// A link with the flows that it has to limit beside those that it limits already.
#[derive(Clone, Copy, Debug)]
struct Refit {
    level: f64,
    taken: f64,
    pull: f64,
    highest: f64,
}

impl MaxMin {
    /// Gives newcomers a bottleneck, and all links that wait their level.
    pub(super) fn settle_all(&mut self) {
        self.mend();
        for at in 0..self.newcomers.len() {
            self.welcome(self.newcomers[at]);
        }
        if self.board.waiting() * 8 >= self.board.links.len() && self.level_all() {
            self.board.clear();
        }
        self.newcomers.clear();
        self.effort.flows = 0;
        while let Some(link) = self.board.next() {
            self.settle(link);
            if self.effort.flows > self.patience.saturating_mul(self.active + 100) {
                self.fill();
                break;
            }
        }
    }

    /// Chooses who limits a newcomer, as far as one can tell now.
    fn welcome(&mut self, number: u32) {
        let flow = self.flows[number as usize];
        let State::Waiting { work } = flow.state else { return };
        let (mut lowest, mut home) = (flow.ceiling, None);
        for &hop in self.paths.of(flow.path) {
            let link = self.board.link(hop.link);
            // Most links have room: told without a division.
            if link.capacity >= lowest * (1.0 - 1e-9) * link.weight {
                continue;
            }
            let pull = link.bottleneck().map_or(0.0, |bottleneck| self.board.bottlenecks[bottleneck].pull);
            let free = (link.capacity - link.taken) / (pull + self.weights.of(hop) * flow.share);
            let level = free.max(link.capacity / link.weight);
            // Between equals the first one is taken: if flows in a regular pattern all choose their first link, that
            // saves them from moving later.
            if level < lowest * (1.0 - 1e-9) {
                (lowest, home) = (level, Some(hop.link));
            }
        }
        if let Some(link) = home {
            self.limit(link, number, work);
            self.board.enqueue(link);
            let level = self.board.link(link).level;
            // A new bottleneck has no level yet: its flows take nothing until it gets one.
            let hops = if level > 0.0 { self.paths.of(flow.path) } else { &[] };
            for &hop in hops {
                if hop.link != link {
                    self.board.shift(hop.link, self.weights.of(hop) * flow.share * level, level);
                }
            }
        } else {
            self.set_free(number, work);
            for &hop in self.paths.of(flow.path) {
                self.board.shift(hop.link, self.weights.of(hop) * flow.ceiling * flow.share, flow.ceiling);
            }
        }
    }

    /// Gives a link its level.
    fn settle(&mut self, number: u32) {
        self.effort.flows += 1;
        loop {
            self.mend();
            let mut link = self.board.link(number);
            if link.bottleneck().is_some() && link.capacity - link.taken < LITTLE_ROOM * link.capacity {
                self.sum(number);
                link = self.board.link(number);
            }
            let mut level = match link.bottleneck() {
                Some(bottleneck) => (link.capacity - link.taken) / self.board.bottlenecks[bottleneck].pull,
                None if link.is_overfull() => 0.0,
                None => return,
            };
            let mut refit = None;
            if link.bottleneck().is_none() || link.highest > level * (1.0 + TIE) {
                let fitted = self.refit(number, level);
                level = fitted.level;
                refit = Some(fitted);
            }
            if self.board.lowest() < level * (1.0 - FAR) {
                return self.board.enqueue_at(number, level);
            }
            if let Some(refit) = refit {
                self.capture(number, refit);
            }
            let old = self.board.link(number).level;
            if (level - old).abs() <= TIE * level {
                return;
            }
            self.raise(number, old, level);
            if self.scratch.freed.is_empty() {
                return;
            }
            self.let_go(number, level);
            if self.board.link(number).bottleneck().is_none() {
                return;
            }
        }
    }

    /// Changes the level of a link, and so the rates of the flows that it limits.
    fn raise(&mut self, number: u32, old: f64, level: f64) {
        let slot = self.board.link(number).bottleneck().expect("a link with a level is a bottleneck");
        self.board.touch(slot, self.now);
        self.board.link_mut(number).level = level;
        if self.board.bottlenecks[slot].listed {
            self.shift_listed(slot, level - old, level);
        } else {
            self.shift_others(slot, level - old, level);
        }
        if self.board.bottlenecks[slot].ceiling < level * (1.0 - TIE) {
            self.find_freed(slot, level);
        }
    }

    /// Tells the other links of the flows that a bottleneck limits of a change of its level.
    fn shift_others(&mut self, slot: u32, change: f64, level: f64) {
        let Bottleneck { link: number, limited, .. } = self.board.bottlenecks[slot];
        let roster = self.board.link(number).roster;
        self.effort.flows += limited as usize;
        self.drift += limited as usize;
        for &Member { flow, .. } in &roster.members(&self.pool)[..limited as usize] {
            let flow = &self.flows[flow as usize];
            for &hop in self.paths.of(flow.path) {
                if hop.link != number {
                    self.board.shift(hop.link, self.weights.of(hop) * flow.share * change, level);
                }
            }
        }
    }

    /// The same for a bottleneck with so many flows that these links are listed.
    fn shift_listed(&mut self, slot: u32, change: f64, level: f64) {
        let spills = self.spills.of(slot);
        self.effort.flows += self.board.bottlenecks[slot].limited as usize;
        self.drift += spills.len();
        let reached = &mut self.scratch.reached;
        if reached.len() < spills.len() {
            reached.resize(spills.len(), 0);
        }
        let mut count = 0;
        for spill in spills {
            let link = &mut self.board.links[spill.link as usize];
            link.shift(spill.part * change, level);
            // Nobody can foretell which links wait already: written down in any case, kept if it counts.
            reached[count] = spill.link;
            count += usize::from(link.mark());
        }
        self.board.enqueue_marked(&reached[..count]);
    }

    /// Finds the flows of a bottleneck whose ceiling is below its level.
    fn find_freed(&mut self, slot: u32, level: f64) {
        let bottleneck = &mut self.board.bottlenecks[slot];
        let roster = self.board.links[bottleneck.link as usize].roster;
        bottleneck.ceiling = f64::INFINITY;
        for &Member { flow, .. } in &roster.members(&self.pool)[..bottleneck.limited as usize] {
            let ceiling = self.flows[flow as usize].ceiling;
            if ceiling < level * (1.0 - TIE) {
                self.scratch.freed.push(flow);
            } else {
                bottleneck.ceiling = bottleneck.ceiling.min(ceiling);
            }
        }
    }

    /// Lets flows go whose ceiling is below the level of the link that limited them.
    fn let_go(&mut self, number: u32, level: f64) {
        while let Some(member) = self.scratch.freed.pop() {
            let work = self.stop_limiting(number, member);
            self.set_free(member, work);
            let flow = &self.flows[member as usize];
            for &hop in self.paths.of(flow.path) {
                let part = self.weights.of(hop) * flow.share;
                if hop.link == number {
                    let link = self.board.link_mut(number);
                    link.taken += part * flow.ceiling;
                    link.highest = link.highest.max(flow.ceiling);
                } else {
                    self.board.shift(hop.link, part * (flow.ceiling - level), flow.ceiling);
                }
            }
        }
    }

    /// Finds the flows that pass a link at a higher level than it allows, and the level that it has with them.
    /// `least` is a lower bound of that level.
    fn refit(&mut self, number: u32, least: f64) -> Refit {
        let link = self.board.link(number);
        let (limited, pull) = match link.bottleneck() {
            Some(bottleneck) => {
                let bottleneck = &self.board.bottlenecks[bottleneck];
                (bottleneck.limited as usize, bottleneck.pull)
            }
            None => (0, 0.0),
        };
        let over = least.max(link.capacity / link.weight) * (1.0 + TIE);
        let captured = &mut self.scratch.captured;
        captured.clear();
        let passing = &link.roster.members(&self.pool)[limited..];
        self.effort.flows += passing.len();
        let mut highest: f64 = 0.0;
        let (links, flows, homes) = (&self.board.links[..], &self.flows[..], &self.homes[..]);
        for &Member { flow, hop } in passing {
            let level = match homes[flow as usize] {
                NOBODY => flows[flow as usize].ceiling,
                home => links[home as usize].level,
            };
            if level > over {
                let pull = self.weights.of(self.paths.hop(hop)) * flows[flow as usize].share;
                captured.push(Captured { flow, level, pull });
            } else if level > highest {
                highest = level;
            }
        }
        // Take them all, then leave those alone that are below the level, which rises by that.
        loop {
            let (more, less) = captured
                .iter()
                .fold((0.0, 0.0), |(more, less), flow| (more + flow.pull, less + flow.pull * flow.level));
            let (taken, pull) = (link.taken - less, pull + more);
            let level = (link.capacity - taken) / pull;
            let before = captured.len();
            captured.retain(|flow| {
                let is_above = flow.level > level;
                if !is_above {
                    highest = highest.max(flow.level);
                }
                is_above
            });
            if captured.len() == before {
                return Refit { level, taken, pull, highest };
            }
        }
    }

    /// Begins to limit the flows that were found.
    fn capture(&mut self, number: u32, refit: Refit) {
        let captured = std::mem::take(&mut self.scratch.captured);
        for &Captured { flow: member, level, .. } in &captured {
            let flow = self.flows[member as usize];
            let (work, home) = match flow.state {
                State::Limited { link, .. } => (self.stop_limiting(link, member), Some(link)),
                State::Bounded { work, since } => {
                    self.bounded -= 1;
                    (self.work_left(&flow, work, since), None)
                }
                State::Waiting { .. } | State::Ended => unreachable!("only active flows have a level"),
            };
            self.limit(number, member, work);
            let new = self.board.link(number).level;
            for &hop in self.paths.of(flow.path) {
                if hop.link != number {
                    let passed = if home == Some(hop.link) { 0.0 } else { level };
                    self.board.shift(hop.link, self.weights.of(hop) * flow.share * (new - passed), new);
                }
            }
        }
        self.scratch.captured = captured;
        let link = self.board.link_mut(number);
        (link.taken, link.highest) = (refit.taken, refit.highest);
        self.board.bottleneck(number).pull = refit.pull;
    }
}
