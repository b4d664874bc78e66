//! Solutions from scratch.

use super::link::{Board, Link, TIE};
use super::maxmin::{MaxMin, State};
use super::path::{Hop, Weights};
use super::roster::Member;

/// Has not found its level yet.
const OPEN: u32 = u32::MAX;
/// Runs at its ceiling.
const BOUNDED: u32 = u32::MAX - 1;
/// If less than this part of a link's weight is open, it is added up anew.
const ALMOST_CLOSED: f64 = 1e-4;

impl MaxMin {
    /// If one level fits all flows, gives it to them and says so.
    ///
    /// That is so if every link that limits flows is equally loaded, and no link more: the case of regular patterns
    /// where everybody starts and ends at the same time. Flows need not even be looked at.
    pub(super) fn level_all(&mut self) -> bool {
        if self.bounded > 0 {
            return false;
        }
        let load = self.board.links.iter().map(|link| link.weight / link.capacity).fold(0.0, f64::max);
        let level = 1.0 / load;
        let is_less = |link: &Link| link.weight < load * (1.0 - TIE) * link.capacity;
        let uneven = |link: &Link| link.bottleneck().is_some() && is_less(link);
        if level.is_infinite() || self.lowest_ceiling < level * (1.0 - TIE) || self.board.links.iter().any(uneven) {
            return false;
        }
        for number in 0..self.board.links.len() {
            let link = &self.board.links[number];
            let mut pull = 0.0;
            if let Some(bottleneck) = link.bottleneck() {
                self.board.touch(bottleneck, self.now);
                pull = self.board.bottlenecks[bottleneck].pull;
            }
            let link = &mut self.board.links[number];
            link.taken = level * (link.weight - pull);
            link.highest = level;
            if pull > 0.0 {
                link.level = level;
            }
        }
        true
    }

    /// Solves everything anew by progressive filling: the link that is full at the lowest level limits all flows that
    /// are still open on it, then the next.
    pub(super) fn fill(&mut self) {
        self.mend();
        self.board.clear();
        let mut homes = vec![OPEN; self.flows.len()];
        // While links are open, `taken` counts all closed flows, `level` is the weight of the open ones, and `highest`
        // is their number.
        if self.board.links.len() < 8 * self.active {
            for number in 0..self.board.links.len() as u32 {
                if self.board.link(number).roster.len() > 0 {
                    self.reopen(number);
                }
            }
        } else {
            for number in 0..self.flows.len() {
                let flow = self.flows[number];
                for place in 0..if flow.is_active() { flow.path.len() } else { 0 } {
                    let link = self.paths.hop(flow.path.first() + place).link;
                    if !self.board.link(link).waits() {
                        self.reopen(link);
                    }
                }
            }
        }
        let mut closed = Vec::new();
        let mut loose = Vec::new();
        let mut lowest = 0.0;
        while let Some(number) = self.board.next() {
            self.mend_open(number, &homes);
            let link = self.board.link(number);
            let level = f64::max((link.capacity - link.taken) / link.level, lowest);
            if link.highest == 0.0 {
                loose.push(number);
            } else if level > self.board.lowest() * (1.0 + TIE) || self.bound(number, level, &mut homes) {
                let link = self.board.link(number);
                let level = if link.highest > 0.0 { (link.capacity - link.taken) / link.level } else { level };
                self.board.enqueue_at(number, level.max(lowest));
            } else {
                lowest = level;
                let (pull, is_done) = self.close_at(number, level, &mut homes);
                if pull > 0.0 {
                    closed.push((number, level, pull));
                }
                if !is_done {
                    self.board.enqueue_at(number, level * (1.0 + 4.0 * TIE));
                }
            }
        }
        self.move_home(&homes);
        for number in loose {
            let link = self.board.link_mut(number);
            (link.level, link.highest) = (f64::INFINITY, f64::INFINITY);
        }
        for &(number, ..) in &closed {
            self.board.bottleneck(number).pull = 0.0;
        }
        for (number, level, pull) in closed {
            self.board.bottleneck(number).pull += pull;
            let link = self.board.link_mut(number);
            link.taken -= pull * level;
            (link.level, link.highest) = (level, level);
        }
        self.board.clear();
        self.inexact.clear();
    }

    /// Forgets what is known of a link, so that all its flows are open.
    fn reopen(&mut self, number: u32) {
        if let Some(bottleneck) = self.board.link(number).bottleneck() {
            self.board.touch(bottleneck, self.now);
        }
        let link = self.board.link_mut(number);
        link.taken = 0.0;
        link.level = link.weight;
        link.highest = link.roster.len() as f64;
        let level = link.capacity / link.weight;
        self.board.enqueue_at(number, level);
    }

    /// Adds up the weight of the open flows of a link, if so many were closed that the difference has lost digits.
    fn mend_open(&mut self, number: u32, homes: &[u32]) {
        let link = self.board.link(number);
        if link.highest > 0.0 && link.level < ALMOST_CLOSED * link.weight {
            let open = link.roster.members(&self.pool).iter().filter(|member| homes[member.flow as usize] == OPEN);
            let part =
                |&Member { flow, hop }: &Member| self.weights.of(self.paths.hop(hop)) * self.flows[flow as usize].share;
            self.board.link_mut(number).level = open.map(part).sum();
        }
    }

    /// Closes the open flows of a link whose ceiling is below that level, and says whether there were any.
    fn bound(&mut self, number: u32, level: f64, homes: &mut [u32]) -> bool {
        if self.lowest_ceiling >= level * (1.0 - TIE) {
            return false;
        }
        let roster = self.board.link(number).roster;
        let mut any = false;
        for &Member { flow: member, .. } in roster.members(&self.pool) {
            if homes[member as usize] == OPEN {
                let flow = &self.flows[member as usize];
                if flow.ceiling < level * (1.0 - TIE) {
                    homes[member as usize] = BOUNDED;
                    close_flow(&mut self.board, self.paths.of(flow.path), &self.weights, flow.share, flow.ceiling);
                    any = true;
                }
            }
        }
        any
    }

    /// Closes the open flows of a link at its level; returns the sum of weight / penalty of those that it limits, and
    /// whether these are all.
    fn close_at(&mut self, number: u32, level: f64, homes: &mut [u32]) -> (f64, bool) {
        let roster = self.board.link(number).roster;
        let (mut pull, mut is_done) = (0.0, true);
        for &Member { flow: member, hop } in roster.members(&self.pool) {
            if homes[member as usize] != OPEN {
                continue;
            }
            let flow = &self.flows[member as usize];
            if let State::Limited { link, .. } = flow.state
                && link != number
            {
                // Among equals it stays where it is: that link's turn comes next.
                let home = self.board.link(link);
                if home.waits() && home.capacity - home.taken <= level * (1.0 + TIE) * home.level {
                    is_done = false;
                    continue;
                }
            }
            pull += self.weights.of(self.paths.hop(hop)) * flow.share;
            homes[member as usize] = number;
            close_flow(&mut self.board, self.paths.of(flow.path), &self.weights, flow.share, level);
        }
        (pull, is_done)
    }

    /// Moves flows to the links that limit them now.
    fn move_home(&mut self, homes: &[u32]) {
        for (number, &home) in (0..).zip(homes) {
            let flow = self.flows[number as usize];
            if home == OPEN {
                continue;
            }
            let work = match flow.state {
                State::Limited { link, .. } if link == home => None,
                State::Bounded { .. } if home == BOUNDED => None,
                State::Limited { link, .. } => Some(self.stop_limiting(link, number)),
                State::Bounded { work, since } => {
                    self.bounded -= 1;
                    Some(self.work_left(&flow, work, since))
                }
                State::Waiting { .. } | State::Ended => unreachable!("only active flows have links"),
            };
            match work {
                Some(work) if home == BOUNDED => self.set_free(number, work),
                Some(work) => self.limit(home, number, work),
                None => {}
            }
        }
    }
}

/// A flow has found its level: it is no longer open on its links.
#[inline]
fn close_flow(board: &mut Board, hops: &[Hop], weights: &Weights, share: f64, level: f64) {
    for &hop in hops {
        let part = weights.of(hop) * share;
        let link = board.link_mut(hop.link);
        link.taken += part * level;
        link.level -= part;
        link.highest -= 1.0;
    }
}
