//! Flows waiting at links in the order of their age.
//!
//! Each flow knows how much room the older flows leave it on each of its links. When its rate or its room changes, the
//! room of the next younger flow on the link changes; so a change is followed from flow to flow, the oldest first,
//! until nothing changes any more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hpcast_engine::slab::NONE;
use hpcast_units::Time;

/// Less room than this part of a link's capacity is a rounding error.
pub(super) const NO_ROOM: f64 = 1e-12;

/// The older flow goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Age {
    /// When the transfer started.
    pub start: Time,
    /// Its number in the order of announcements.
    pub order: u64,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    capacity: f64,
    /// Bytes of ended transfers.
    bytes: f64,
    /// Hops of the oldest and of the youngest flow.
    oldest: u32,
    youngest: u32,
}

/// A link on the path of a flow.
#[derive(Clone, Copy, Debug)]
struct Hop {
    link: u32,
    flow: u32,
    /// Hops of the next older and the next younger flow on the link.
    older: u32,
    younger: u32,
    /// How often the flow crosses the link.
    crossings: f64,
    /// What older flows leave.
    room: f64,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    age: Age,
    bound: f64,
    rate: f64,
    /// Its hops.
    path: u32,
    hops: u32,
    is_active: bool,
    waits: bool,
}

/// All links with their flows.
pub(super) struct Queues {
    links: Vec<Link>,
    flows: Vec<Flow>,
    hops: Vec<Hop>,
    /// Free blocks of hops by length.
    free: Vec<Vec<u32>>,
    /// Flows whose room has changed, the oldest first.
    reached: BinaryHeap<Reverse<(Age, u32)>>,
}

impl Queues {
    /// No flows on links of these capacities.
    pub(super) fn new(capacities: impl Iterator<Item = f64>) -> Queues {
        let link = |capacity| Link { capacity, bytes: 0.0, oldest: NONE, youngest: NONE };
        Queues {
            links: capacities.map(link).collect(),
            flows: Vec::new(),
            hops: Vec::new(),
            free: Vec::new(),
            reached: BinaryHeap::new(),
        }
    }

    /// A flow will become active. Its number is that of one that has left, or one more than all numbers so far.
    pub(super) fn announce(&mut self, number: u32, links: &[u32]) {
        let is_first = |at: usize| !links[..at].contains(&links[at]);
        let len = (0..links.len()).filter(|&at| is_first(at)).count();
        let path = self.take(len);
        let firsts = (0..links.len()).filter(|&at| is_first(at)).map(|at| links[at]);
        for (hop, link) in self.hops[path as usize..].iter_mut().zip(firsts) {
            let crossings = links.iter().filter(|&&other| other == link).count() as f64;
            *hop = Hop { link, flow: number, older: NONE, younger: NONE, crossings, room: 0.0 };
        }
        let age = Age { start: Time::ZERO, order: 0 };
        let flow = Flow { age, bound: 0.0, rate: 0.0, path, hops: len as u32, is_active: false, waits: false };
        match self.flows.get_mut(number as usize) {
            Some(place) => *place = flow,
            None => self.flows.push(flow),
        }
    }

    /// A free block of hops.
    fn take(&mut self, len: usize) -> u32 {
        self.free.get_mut(len).and_then(Vec::pop).unwrap_or_else(|| {
            let start = self.hops.len();
            let hop = Hop { link: 0, flow: NONE, older: NONE, younger: NONE, crossings: 0.0, room: 0.0 };
            self.hops.resize(start + len, hop);
            u32::try_from(start).expect("all flows together have fewer than 2^32 hops")
        })
    }

    /// The flow becomes active.
    pub(super) fn join(&mut self, number: u32, age: Age, bound: f64) {
        let flow = &mut self.flows[number as usize];
        (flow.age, flow.bound, flow.is_active) = (age, bound, true);
        for hop in flow.path..flow.path + flow.hops {
            let link = self.hops[hop as usize].link;
            // Flows become active about in the order of their age: look from the young end.
            let (mut older, mut younger) = (self.links[link as usize].youngest, NONE);
            while older != NONE && self.flows[self.hops[older as usize].flow as usize].age > age {
                (older, younger) = (self.hops[older as usize].older, older);
            }
            self.tie(link, older, hop);
            self.tie(link, hop, younger);
            self.hops[hop as usize].room = self.room_after(link, older);
        }
        self.reach(number);
    }

    /// The flow has moved all its bytes.
    pub(super) fn leave(&mut self, number: u32, bytes: f64) {
        let flow = self.flows[number as usize];
        for hop in flow.path..flow.path + flow.hops {
            let Hop { link, older, younger, crossings, .. } = self.hops[hop as usize];
            self.links[link as usize].bytes += crossings * bytes;
            if flow.is_active {
                if older == NONE {
                    self.links[link as usize].oldest = younger;
                }
                if younger == NONE {
                    self.links[link as usize].youngest = older;
                }
                self.tie(link, older, younger);
                self.pass_on(link, older, younger);
            }
        }
        self.flows[number as usize].is_active = false;
        let len = flow.hops as usize;
        if len >= self.free.len() {
            self.free.resize(len + 1, Vec::new());
        }
        self.free[len].push(flow.path);
    }

    /// Makes two hops neighbours in the queue of a link.
    fn tie(&mut self, link: u32, older: u32, younger: u32) {
        match older {
            NONE => self.links[link as usize].oldest = younger,
            _ => self.hops[older as usize].younger = younger,
        }
        match younger {
            NONE => self.links[link as usize].youngest = older,
            _ => self.hops[younger as usize].older = older,
        }
    }

    /// What a flow and those older than it leave of a link.
    fn room_after(&self, link: u32, hop: u32) -> f64 {
        let capacity = self.links[link as usize].capacity;
        match self.hops.get(hop as usize) {
            None => capacity,
            Some(hop) => {
                let room = hop.room - hop.crossings * self.flows[hop.flow as usize].rate;
                if room < NO_ROOM * capacity { 0.0 } else { room }
            }
        }
    }

    /// Tells the next younger flow what is left for it.
    fn pass_on(&mut self, link: u32, older: u32, younger: u32) {
        if younger != NONE {
            let room = self.room_after(link, older);
            let hop = &mut self.hops[younger as usize];
            if hop.room != room {
                hop.room = room;
                let flow = hop.flow;
                self.reach(flow);
            }
        }
    }

    fn reach(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        if !flow.waits {
            flow.waits = true;
            self.reached.push(Reverse((flow.age, number)));
        }
    }

    /// Finds the new rates; appends the flows whose rate has changed.
    pub(super) fn settle(&mut self, changed: &mut Vec<(u32, f64)>) {
        while let Some(Reverse((_, number))) = self.reached.pop() {
            let flow = &mut self.flows[number as usize];
            flow.waits = false;
            if !flow.is_active {
                continue;
            }
            let path = flow.path..flow.path + flow.hops;
            let hops = &self.hops[path.start as usize..path.end as usize];
            let rate = hops.iter().map(|hop| hop.room / hop.crossings).fold(flow.bound, f64::min);
            if rate != flow.rate {
                flow.rate = rate;
                changed.push((number, rate));
            }
            for hop in path {
                let Hop { link, younger, .. } = self.hops[hop as usize];
                self.pass_on(link, hop, younger);
            }
        }
    }

    /// Bytes of ended transfers, by link.
    pub(super) fn link_bytes(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.bytes).collect()
    }
}
