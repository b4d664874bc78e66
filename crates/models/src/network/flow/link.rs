//! Links and bottlenecks: what flows take of them, and which of them wait to be settled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hpcast_engine::Slab;
use hpcast_units::Time;

use super::roster::Roster;

/// Levels closer than this, relatively, are equal.
pub(super) const TIE: f64 = 1e-12;
/// A link is overfull when flows take more than this times its capacity.
pub(super) const FULL: f64 = 1.0 + 1e-11;

/// A link and what flows take of it. One cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Link {
    /// Bytes per second.
    pub capacity: f64,
    /// Rate, times weight, of the flows that pass: those limited elsewhere.
    pub taken: f64,
    /// Sum of weight / penalty over all flows.
    pub weight: f64,
    /// Level of the flows limited here, infinite if there are none, 0 until it is settled for the first time.
    pub level: f64,
    /// If it is a bottleneck: no flow that passes has a higher level than this.
    pub highest: f64,
    /// First the flows limited here, as a heap by their finish; then those that pass.
    pub roster: Roster,
    /// Number of its bottleneck (31 bits, all set if there is none), and whether it waits to be settled.
    mark: u32,
}

const NO_BOTTLENECK: u32 = u32::MAX >> 1;
const WAITS: u32 = 1 << 31;

impl Link {
    fn new(capacity: f64) -> Link {
        Link {
            capacity,
            taken: 0.0,
            weight: 0.0,
            level: f64::INFINITY,
            highest: 0.0,
            roster: Roster::default(),
            mark: NO_BOTTLENECK,
        }
    }

    /// The number of its bottleneck.
    #[inline]
    pub(super) fn bottleneck(&self) -> Option<u32> {
        let number = self.mark & !WAITS;
        (number != NO_BOTTLENECK).then_some(number)
    }

    #[inline]
    pub(super) fn set_bottleneck(&mut self, number: Option<u32>) {
        self.mark = (self.mark & WAITS) | number.unwrap_or(NO_BOTTLENECK);
    }

    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.mark & WAITS != 0
    }

    /// A flow that passes takes so much more, at that level.
    #[inline]
    pub(super) fn shift(&mut self, change: f64, level: f64) {
        self.taken += change;
        if level > self.highest {
            self.highest = level;
        }
    }

    /// Marks the link as waiting, and says whether it was not.
    #[inline]
    pub(super) fn mark(&mut self) -> bool {
        let waited = self.waits();
        self.mark |= WAITS;
        !waited
    }

    /// Does a change of what is taken have to be settled?
    #[inline]
    pub(super) fn is_sensitive(&self) -> bool {
        self.mark & !WAITS != NO_BOTTLENECK || self.is_overfull()
    }

    /// Does it slow nobody down?
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.mark == NO_BOTTLENECK && !self.is_overfull()
    }

    /// Do flows that pass take more than there is?
    #[inline]
    pub(super) fn is_overfull(&self) -> bool {
        self.taken > self.capacity * FULL
    }
}

/// A full link, where it limits flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bottleneck {
    /// Which link.
    pub link: u32,
    /// How many flows it limits.
    pub limited: u32,
    /// Are the links that feel its flows listed (`spill.rs`)?
    pub listed: bool,
    /// Has it changed since the last solution?
    pub touched: bool,
    /// Sum of weight / penalty over the flows that it limits.
    pub pull: f64,
    /// None of them has a lower ceiling than this.
    pub ceiling: f64,
    /// What its clock showed at `since`.
    pub clock: f64,
    /// When its clock was last read.
    pub since: Time,
}

/// All links, and those among them that wait to be settled.
pub(super) struct Board {
    pub links: Vec<Link>,
    pub bottlenecks: Slab<Bottleneck>,
    /// Bottlenecks that changed since the last solution (or were closed since).
    pub touched: Vec<u32>,
    /// Level and link (32 bits), lowest first: the bits of positive numbers are ordered as the numbers.
    queue: BinaryHeap<Reverse<u128>>,
}

impl Board {
    pub(super) fn new(capacities: impl Iterator<Item = f64>) -> Board {
        Board {
            links: capacities.map(Link::new).collect(),
            bottlenecks: Slab::default(),
            touched: Vec::new(),
            queue: BinaryHeap::new(),
        }
    }

    #[inline]
    pub(super) fn link(&self, number: u32) -> &Link {
        &self.links[number as usize]
    }

    #[inline]
    pub(super) fn link_mut(&mut self, number: u32) -> &mut Link {
        &mut self.links[number as usize]
    }

    /// The bottleneck of a link that limits flows.
    #[inline]
    pub(super) fn bottleneck(&mut self, link: u32) -> &mut Bottleneck {
        let number = self.link(link).bottleneck().expect("a link that limits flows has a bottleneck");
        &mut self.bottlenecks[number]
    }

    /// The link is to be settled when its turn comes.
    pub(super) fn enqueue(&mut self, number: u32) {
        if !self.link(number).waits() {
            self.enqueue_at(number, self.turn(number));
        }
    }

    /// When a link is settled: at the level that it had or will have, whichever is lower.
    ///
    /// Where no flow moves to another bottleneck, all those that a level depends on had lower levels before, too. So the
    /// order of the old levels is better than that of new ones, which are not known well until everything is settled.
    #[inline]
    fn turn(&self, number: u32) -> f64 {
        let link = self.link(number);
        // If all its flows were limited here.
        let floor = link.capacity / link.weight;
        match link.bottleneck() {
            Some(bottleneck) => {
                let level = floor.max((link.capacity - link.taken) / self.bottlenecks[bottleneck].pull);
                if link.level > 0.0 { level.min(link.level) } else { level }
            }
            // After bottlenecks of the same level: they may drain this link.
            None => floor * (1.0 + TIE),
        }
    }

    /// These links, marked as waiting, are to be settled when their turn comes, if they need it.
    #[inline]
    pub(super) fn enqueue_marked(&mut self, numbers: &[u32]) {
        for &number in numbers {
            let link = self.link_mut(number);
            if link.is_sensitive() {
                self.enqueue_at(number, self.turn(number));
            } else {
                link.mark &= !WAITS;
            }
        }
    }

    /// The link is to be settled after all others of lower levels.
    #[inline]
    pub(super) fn enqueue_at(&mut self, number: u32, level: f64) {
        self.links[number as usize].mark |= WAITS;
        self.queue.push(Reverse((u128::from(level.to_bits()) << 32) | u128::from(number)));
    }

    /// The link to settle next.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u32> {
        let Reverse(first) = self.queue.pop()?;
        let number = first as u32;
        self.links[number as usize].mark &= !WAITS;
        Some(number)
    }

    /// A level that no link that waits is below.
    #[inline]
    pub(super) fn lowest(&self) -> f64 {
        self.queue.peek().map_or(f64::INFINITY, |&Reverse(first)| f64::from_bits((first >> 32) as u64))
    }

    /// How many links wait.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Nothing is to be settled any more.
    pub(super) fn clear(&mut self) {
        for &Reverse(entry) in &self.queue {
            self.links[entry as u32 as usize].mark &= !WAITS;
        }
        self.queue.clear();
    }

    /// A flow that passes the link takes so much more of it, at that level.
    #[inline]
    pub(super) fn shift(&mut self, number: u32, change: f64, level: f64) {
        let link = self.link_mut(number);
        link.shift(change, level);
        if link.is_sensitive() {
            self.enqueue(number);
        }
    }

    /// Reads the clock of a bottleneck, which is about to change.
    #[inline]
    pub(super) fn touch(&mut self, number: u32, now: Time) {
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
