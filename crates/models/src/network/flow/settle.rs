//! Settling: each link that a change has reached gets its new level, lower levels first.
//!
//! A link's level depends only on flows of lower levels. So when the link that waits at the lowest level is settled,
//! nothing that comes later changes it again, and each link is settled about once. Where that fails (a link that was
//! not full fills up while others rise) links are settled again; where it fails badly, everything is solved from
//! scratch.

use super::link::{Link, TIE};
use super::maxmin::{MaxMin, State};

/// A link with less room than this part of its capacity for the flows that it limits is summed up anew.
const LITTLE_ROOM: f64 = 1e-4;

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
            if self.effort.flows > (self.active / 2).saturating_add(self.patience) {
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
            let old = link.level;
            let mut level = match link.bottleneck() {
                Some(bottleneck) => (link.capacity - link.taken) / self.board.bottlenecks[bottleneck].pull,
                None if link.is_overfull() => 0.0,
                None => return,
            };
            let mut refit = None;
            if link.highest > level * (1.0 + TIE) {
                let fitted = self.refit(number, level);
                level = fitted.level;
                refit = Some(fitted);
            }
            if self.board.lowest() < level * (1.0 - TIE) {
                return self.board.enqueue_at(number, level);
            }
            if let Some(refit) = refit {
                self.capture(number, refit);
            }
            let fresh = self.board.bottleneck(number).fresh;
            if fresh == 0 && (level - old).abs() <= TIE * level {
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
        let bottleneck = self.board.link(number).bottleneck().expect("a link with a level is a bottleneck");
        self.board.touch(bottleneck, self.now);
        let bottleneck = &mut self.board.bottlenecks[bottleneck];
        bottleneck.fresh = 0;
        let limited = bottleneck.limited as usize;
        let links = &mut self.board.links[..];
        links[number as usize].level = level;
        let roster = links[number as usize].roster;
        let reached = &mut self.scratch.reached;
        self.effort.flows += limited;
        for &member in &roster.flows(&self.pool)[..limited] {
            let flow = &mut self.flows[member as usize];
            if flow.ceiling < level * (1.0 - TIE) {
                self.scratch.freed.push(member);
            }
            let mut step = level - old;
            if let State::Limited { fresh, .. } = &mut flow.state
                && std::mem::take(fresh)
            {
                step = level;
            }
            let change = step * flow.share;
            for &hop in self.paths.of(flow.path) {
                let reaches = |link: &mut Link| link.shift(self.weights.of(hop) * change, level);
                if hop.link != number && reaches(&mut links[hop.link as usize]) {
                    reached.push(hop.link);
                }
            }
        }
        self.board.enqueue_marked(reached);
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
        let passing = &link.roster.flows(&self.pool)[limited..];
        self.effort.flows += passing.len();
        let mut highest: f64 = 0.0;
        for &member in passing {
            let flow = &self.flows[member as usize];
            let level = match flow.state {
                State::Limited { link, fresh: false, .. } => self.board.link(link).level,
                State::Bounded { .. } => flow.ceiling,
                _ => 0.0,
            };
            if level > over {
                let pull = self.weights.of(self.paths.hop(flow.path, number)) * flow.share;
                captured.push(Captured { flow: member, level, pull });
            } else {
                highest = highest.max(level);
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
            for &hop in self.paths.of(flow.path) {
                if hop.link != number {
                    let passed = if home == Some(hop.link) { 0.0 } else { level };
                    self.board.shift(hop.link, -self.weights.of(hop) * flow.share * passed, 0.0);
                }
            }
        }
        self.scratch.captured = captured;
        let link = self.board.link_mut(number);
        (link.taken, link.highest) = (refit.taken, refit.highest);
        self.board.bottleneck(number).pull = refit.pull;
    }
}
