//! Links and bottlenecks: what flows take of them, and which of them wait to be settled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hpcast_engine::Slab;
use hpcast_units::Time;

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
    /// (level, link), lowest first: the upper half of the level's bits is enough to choose an order.
    queue: BinaryHeap<Reverse<u64>>,
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
    pub(crate) fn enqueue(&mut self, link: u32) {
        let key = self.key(link);
        let entry = &mut self.links[link as usize];
        if !entry.is_queued() {
            entry.mark |= QUEUED;
            self.queue.push(Reverse(pack(key, link)));
        }
    }

    /// A lower bound of the level that the link will have.
    #[inline]
    fn key(&self, link: u32) -> f64 {
        let link = &self.links[link as usize];
        let floor = link.capacity / link.weight;
        match link.bottleneck() {
            Some(number) => floor.max((link.capacity - link.taken) / self.bottlenecks[number].pull),
            // Bottlenecks of the same level first: they may drain this link.
            None => floor * (1.0 + 4e-6),
        }
    }

    /// The link to settle next.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u32> {
        let Reverse(first) = self.queue.pop()?;
        let link = first as u32;
        self.links[link as usize].mark &= !QUEUED;
        Some(link)
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
        if link.bottleneck().is_some() || link.is_overfull() {
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

#[inline]
fn pack(level: f64, link: u32) -> u64 {
    (level.to_bits() >> 32 << 32) | u64::from(link)
}
