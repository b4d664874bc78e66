//! Links and bottlenecks: what flows take of them, and which of them wait to be settled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hpcast_engine::Slab;
use hpcast_units::Time;

use super::path::{Hop, Weights};
use super::roster::Roster;

/// Levels closer than this, relatively, are equal.
pub(crate) const TIE: f64 = 1e-12;
/// A link is overfull when flows take more than this times its capacity.
pub(crate) const FULL: f64 = 1.0 + 1e-11;

/// A link and what flows take of it. One cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Link {
    /// Bytes per second.
    pub capacity: f64,
    /// Rate, times weight, of the flows that pass: those limited elsewhere.
    pub taken: f64,
    /// Sum of weight / penalty over all flows.
    pub weight: f64,
    /// Level of the flows limited here, infinite if there are none.
    pub level: f64,
    /// No flow that passes has a higher level than this.
    pub highest: f64,
    /// Bytes of ended transfers.
    pub bytes: f64,
    /// First the flows limited here, as a heap by their finish; then those that pass.
    pub roster: Roster,
    /// Number of its bottleneck (31 bits, all set if there is none), and whether it waits to be settled.
    mark: u32,
}

const NO_BOTTLENECK: u32 = u32::MAX >> 1;
const QUEUED: u32 = 1 << 31;

impl Link {
    /// An empty link.
    pub(crate) fn new(capacity: f64) -> Link {
        Link {
            capacity,
            taken: 0.0,
            weight: 0.0,
            level: f64::INFINITY,
            highest: 0.0,
            bytes: 0.0,
            roster: Roster::default(),
            mark: NO_BOTTLENECK,
        }
    }

    /// The number of its bottleneck.
    #[inline]
    pub(crate) fn bottleneck(&self) -> Option<u32> {
        let number = self.mark & !QUEUED;
        (number != NO_BOTTLENECK).then_some(number)
    }

    #[inline]
    pub(crate) fn set_bottleneck(&mut self, number: Option<u32>) {
        self.mark = (self.mark & QUEUED) | number.unwrap_or(NO_BOTTLENECK);
    }

    #[inline]
    fn is_queued(&self) -> bool {
        self.mark & QUEUED != 0
    }

    /// Do flows that pass take more than there is?
    #[inline]
    pub(crate) fn is_overfull(&self) -> bool {
        self.taken > self.capacity * FULL
    }
}

/// A full link, where it limits flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bottleneck {
    /// Which link.
    pub link: u32,
    /// How many flows it limits.
    pub limited: u32,
    /// How many of them have not yet been given a rate.
    pub fresh: u32,
    /// Sum of weight / penalty over them.
    pub pull: f64,
    /// Level at which it waits to be settled.
    pub key: f64,
    /// What its clock showed at `since`.
    pub clock: f64,
    /// When its clock was last read.
    pub since: Time,
    /// Has it changed since the last solution?
    pub touched: bool,
}

/// All links, and those among them that wait to be settled.
pub(crate) struct Board {
    pub links: Vec<Link>,
    pub bottlenecks: Slab<Bottleneck>,
    /// Bottlenecks to plan anew.
    pub touched: Vec<u32>,
    /// (level, link), lowest first; the bits of positive numbers are ordered as the numbers.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Board {
    pub(crate) fn new(capacities: impl Iterator<Item = f64>) -> Board {
        Board {
            links: capacities.map(Link::new).collect(),
            bottlenecks: Slab::default(),
            touched: Vec::new(),
            queue: BinaryHeap::new(),
        }
    }

    #[inline]
    pub(crate) fn link(&self, link: u32) -> &Link {
        &self.links[link as usize]
    }

    #[inline]
    pub(crate) fn link_mut(&mut self, link: u32) -> &mut Link {
        &mut self.links[link as usize]
    }

    /// The bottleneck of a link that has one.
    #[inline]
    pub(crate) fn number(&self, link: u32) -> u32 {
        self.link(link).bottleneck().expect("flows are limited by links with a bottleneck")
    }

    /// The link is to be settled.
    #[inline]
    pub(crate) fn enqueue(&mut self, number: u32) {
        let link = &mut self.links[number as usize];
        let floor = link.capacity / link.weight;
        let key = match link.bottleneck() {
            Some(bottleneck) => {
                let bottleneck = &mut self.bottlenecks[bottleneck];
                let key = floor.max((link.capacity - link.taken) / bottleneck.pull);
                if link.is_queued() && key >= bottleneck.key {
                    return;
                }
                bottleneck.key = key;
                key
            }
            // Bottlenecks of the same level first: they may drain this link.
            None if link.is_queued() => return,
            None => floor * (1.0 + TIE),
        };
        link.mark |= QUEUED;
        self.queue.push(Reverse((key.to_bits(), number)));
    }

    /// The link is to be settled later, after all others of a lower level.
    #[inline]
    pub(crate) fn postpone(&mut self, number: u32, level: f64) {
        let link = &mut self.links[number as usize];
        link.mark |= QUEUED;
        if let Some(bottleneck) = link.bottleneck() {
            self.bottlenecks[bottleneck].key = level;
        }
        self.queue.push(Reverse((level.to_bits(), number)));
    }

    /// Forgets what is known of a link, for a solution from scratch.
    #[inline]
    pub(crate) fn reopen(&mut self, number: u32, now: Time) {
        let link = self.link(number);
        if link.is_queued() {
            return;
        }
        if let Some(bottleneck) = link.bottleneck() {
            self.touch(bottleneck, now);
        }
        let link = self.link_mut(number);
        link.taken = 0.0;
        link.level = link.weight;
        link.highest = link.roster.len() as f64;
        let key = link.capacity / link.weight;
        self.postpone(number, key);
    }

    /// A flow has found its level: it is no longer open on its links.
    #[inline]
    pub(crate) fn close_flow(&mut self, hops: &[Hop], weights: &Weights, share: f64, level: f64) {
        for &hop in hops {
            let part = weights.of(hop) * share;
            let link = self.link_mut(hop.link);
            link.taken += part * level;
            link.level -= part;
            link.highest -= 1.0;
        }
    }

    /// The lowest level at which a link waits.
    #[inline]
    pub(crate) fn lowest(&self) -> f64 {
        self.queue.peek().map_or(f64::INFINITY, |&Reverse((key, _))| f64::from_bits(key))
    }

    /// The link to settle next, and a lower bound of its level.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u32> {
        while let Some(Reverse((key, number))) = self.queue.pop() {
            let link = &mut self.links[number as usize];
            // Entries that were overtaken by another for the same link are out of date.
            let current = link.bottleneck().is_none_or(|b| self.bottlenecks[b].key.to_bits() == key);
            if link.is_queued() && current {
                link.mark &= !QUEUED;
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Nothing is to be settled any more.
    pub(crate) fn clear(&mut self) {
        while self.next().is_some() {}
    }

    /// A flow that passes the link takes so much more of it, at that level.
    #[inline]
    pub(crate) fn shift(&mut self, number: u32, change: f64, level: f64) {
        let link = &mut self.links[number as usize];
        link.taken += change;
        link.highest = link.highest.max(level);
        // A link with more room than before waits where it is: it will be looked at again when its turn comes.
        let waits = link.is_queued() && change <= 0.0;
        if !waits && (link.bottleneck().is_some() || link.is_overfull()) {
            self.enqueue(number);
        }
    }

    /// Reads the bottleneck's clock: it will change.
    #[inline]
    pub(crate) fn touch(&mut self, number: u32, now: Time) {
        let bottleneck = &mut self.bottlenecks[number];
        if bottleneck.since != now {
            let level = self.links[bottleneck.link as usize].level;
            bottleneck.clock += level * (now - bottleneck.since).as_secs();
            bottleneck.since = now;
        }
        if !bottleneck.touched {
            bottleneck.touched = true;
            self.touched.push(number);
        }
    }
}
