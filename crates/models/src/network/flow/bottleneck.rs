//! Which flows a link limits, and which of them ends first.
//!
//! The flows that a link limits are the first in its roster, as a binary heap by the value of the clock at which they
//! end.

use hpcast_units::Time;

use super::link::Bottleneck;
use super::maxmin::{CANCELLED, Flow, MaxMin, NOBODY, State};
use super::path::Paths;
use super::roster::Member;

/// Where a link limits more flows than this, the links that feel a change are listed. Tests have few flows.
const LISTED_FROM: usize = if cfg!(test) { 1 } else { 8 };

impl MaxMin {
    /// The link begins to limit a flow with so much work left. The flow gets the level that the link has now; its other
    /// links have to be told.
    pub(super) fn limit(&mut self, link: u32, number: u32, work: f64) {
        let slot = match self.board.link(link).bottleneck() {
            Some(bottleneck) => bottleneck,
            None => self.open(link),
        };
        self.board.touch(slot, self.now);
        let bottleneck = &mut self.board.bottlenecks[slot];
        let finish = bottleneck.clock + work;
        let flow = &mut self.flows[number as usize];
        flow.state = State::Limited { link, finish };
        self.homes[number as usize] = link;
        let member = Member { flow: number, hop: self.paths.over(flow.path, link) };
        let hop = self.paths.hop(member.hop);
        bottleneck.pull += self.weights.of(hop) * flow.share;
        bottleneck.ceiling = bottleneck.ceiling.min(flow.ceiling);
        let end = bottleneck.limited as usize;
        bottleneck.limited += 1;
        let roster = self.board.links[link as usize].roster.members_mut(&mut self.pool);
        let mut heap = Heap { roster, flows: &self.flows, paths: &mut self.paths };
        let displaced = heap.roster[end];
        heap.place(hop.position(), displaced);
        let at = heap.rise(end, finish);
        heap.place(at, member);
        if self.board.bottlenecks[slot].listed {
            self.list(slot, link, number);
        } else if end >= LISTED_FROM {
            self.list_all(slot, link);
        }
    }

    /// The link no longer limits the flow; returns the work that it has left.
    pub(super) fn stop_limiting(&mut self, link: u32, number: u32) -> f64 {
        let slot = self.board.link(link).bottleneck().expect("a link that limits flows has a bottleneck");
        self.board.touch(slot, self.now);
        let bottleneck = &mut self.board.bottlenecks[slot];
        let flow = &self.flows[number as usize];
        let work = flow.finish() - bottleneck.clock;
        self.homes[number as usize] = NOBODY;
        if bottleneck.listed {
            self.spills.remove(slot, link, flow.path, &self.paths);
        }
        let member = Member { flow: number, hop: self.paths.over(flow.path, link) };
        let hop = self.paths.hop(member.hop);
        let part = self.weights.of(hop) * flow.share;
        bottleneck.pull -= part;
        if bottleneck.pull < part * CANCELLED {
            self.inexact.push(link);
        }
        bottleneck.limited -= 1;
        let end = bottleneck.limited as usize;
        let roster = self.board.links[link as usize].roster.members_mut(&mut self.pool);
        let mut heap = Heap { roster, flows: &self.flows, paths: &mut self.paths };
        let last = heap.roster[end];
        heap.place(end, member);
        if last != member {
            let finish = heap.finish(last);
            let mut at = heap.rise(hop.position(), finish);
            if at == hop.position() {
                at = heap.sink(at, end, finish);
            }
            heap.place(at, last);
        }
        if end == 0 {
            self.close(link);
        }
        work.max(0.0)
    }

    /// Lists the links that feel a flow beside the one that limits it.
    fn list(&mut self, slot: u32, link: u32, number: u32) {
        let flow = &self.flows[number as usize];
        self.spills.add(slot, link, flow.path, flow.share, &self.paths, &self.weights);
    }

    /// Lists them for all flows that a link limits.
    #[cold]
    fn list_all(&mut self, slot: u32, link: u32) {
        let bottleneck = &mut self.board.bottlenecks[slot];
        bottleneck.listed = true;
        let roster = self.board.links[link as usize].roster;
        for at in 0..bottleneck.limited as usize {
            self.list(slot, link, roster.members(&self.pool)[at].flow);
        }
    }

    fn open(&mut self, link: u32) -> u32 {
        let number = self.board.bottlenecks.insert(Bottleneck {
            link,
            limited: 0,
            listed: false,
            touched: false,
            pull: 0.0,
            ceiling: f64::INFINITY,
            clock: 0.0,
            since: self.now,
        });
        let link = self.board.link_mut(link);
        link.set_bottleneck(Some(number));
        (link.level, link.highest) = (0.0, f64::INFINITY);
        number
    }

    fn close(&mut self, link: u32) {
        let entry = self.board.link_mut(link);
        if let Some(number) = entry.bottleneck() {
            entry.set_bottleneck(None);
            entry.level = f64::INFINITY;
            self.board.bottlenecks[number].touched = false;
            self.board.bottlenecks.remove(number);
            self.forget_end(number);
        }
    }

    /// All flows of a link have ended.
    pub(super) fn empty(&mut self, number: u32) {
        let link = self.board.link_mut(number);
        (link.weight, link.taken, link.highest) = (0.0, 0.0, 0.0);
        link.roster.clear(&mut self.pool);
        if let Some(bottleneck) = link.bottleneck() {
            if self.board.bottlenecks[bottleneck].listed {
                self.spills.clear(bottleneck);
            }
            self.close(number);
        }
    }

    /// Appends the flows of a bottleneck that end by then. Its first one does.
    pub(super) fn collect_due(&self, number: u32, by: Time, due: &mut Vec<u32>) {
        let bottleneck = &self.board.bottlenecks[number];
        let link = self.board.link(bottleneck.link);
        let heap = &link.roster.members(&self.pool)[..bottleneck.limited as usize];
        let is_due = |member: Member| {
            let left = (self.flows[member.flow as usize].finish() - bottleneck.clock) / link.level;
            bottleneck.since + Time::from_secs(left) <= by
        };
        due.push(heap[0].flow);
        collect(heap, 1, &is_due, due);
        collect(heap, 2, &is_due, due);
    }
}

/// Appends what is due at or below a place of a heap.
fn collect(heap: &[Member], at: usize, is_due: &impl Fn(Member) -> bool, due: &mut Vec<u32>) {
    if at < heap.len() && is_due(heap[at]) {
        due.push(heap[at].flow);
        collect(heap, 2 * at + 1, is_due, due);
        collect(heap, 2 * at + 2, is_due, due);
    }
}

/// The flows that a link limits, the first of its roster.
struct Heap<'a> {
    roster: &'a mut [Member],
    flows: &'a [Flow],
    paths: &'a mut Paths,
}

impl Heap<'_> {
    #[inline]
    fn finish(&self, member: Member) -> f64 {
        self.flows[member.flow as usize].finish()
    }

    #[inline]
    fn place(&mut self, at: usize, member: Member) {
        self.roster[at] = member;
        self.paths.hop_mut(member.hop).set_position(at);
    }

    /// Frees the place where a flow belongs that ends at `finish`, going up from a free place.
    #[inline]
    fn rise(&mut self, mut at: usize, finish: f64) -> usize {
        while at > 0 {
            let parent = (at - 1) / 2;
            let other = self.roster[parent];
            if self.finish(other) <= finish {
                break;
            }
            self.place(at, other);
            at = parent;
        }
        at
    }

    /// Frees the place where a flow belongs that ends at `finish`, going down from a free place.
    #[inline]
    fn sink(&mut self, mut at: usize, len: usize, finish: f64) -> usize {
        loop {
            let mut child = 2 * at + 1;
            if child >= len {
                return at;
            }
            if child + 1 < len && self.finish(self.roster[child + 1]) < self.finish(self.roster[child]) {
                child += 1;
            }
            let other = self.roster[child];
            if finish <= self.finish(other) {
                return at;
            }
            self.place(at, other);
            at = child;
        }
    }
}
