//! What is planned for later: in lanes where it came in order, in a heap where it did not.
//!
//! What comes in the order of time, as starts of messages mostly do, and the ends of messages of one size, stands in one of a few
//! lanes, where it costs a few instructions however much is planned; the rest is in a 4-ary heap. One comparison decides between
//! two keys, the least of four children is found without a branch that could be mispredicted, and they lie in one line of the caches.

use super::NOTHING;
use crate::prefetch::prefetch_line;

/// One for starts, one for ends, one for what would stand in their way.
const LANES: usize = 3;
/// So many keys that have left a lane may be kept.
pub(super) const KEPT: usize = 1024;

/// Keys, the least of which can be taken.
#[derive(Debug)]
pub(super) struct Far {
    lanes: [Lane; LANES],
    heap: Heap,
    /// The least key, [`NOTHING`] if there is none.
    least: u128,
    /// The lane where it stands; [`LANES`] if it is in the heap.
    lane: usize,
}

impl Default for Far {
    fn default() -> Far {
        Far { lanes: Default::default(), heap: Heap::default(), least: NOTHING, lane: LANES }
    }
}

impl Far {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.least == NOTHING
    }

    /// The least key, [`NOTHING`] if there is none.
    #[inline]
    pub fn first(&self) -> u128 {
        self.least
    }

    #[inline]
    pub fn push(&mut self, key: u128) {
        let place = self.lanes.iter().position(|lane| lane.last <= key).unwrap_or(LANES);
        match self.lanes.get_mut(place) {
            Some(lane) => lane.push(key),
            None => self.heap.push(key),
        }
        if key < self.least {
            (self.least, self.lane) = (key, place);
        }
    }

    /// Takes the least key.
    #[inline]
    pub fn pop(&mut self) -> Option<u128> {
        let least = self.least;
        self.leave();
        (least != NOTHING).then_some(least)
    }

    /// Forgets the least key, if there is one; gives the next, in registers: what is read in other pieces than it was written in
    /// holds the processor up.
    #[inline]
    pub fn leave(&mut self) -> u128 {
        match self.lanes.get_mut(self.lane) {
            Some(lane) => lane.leave(),
            None => self.heap.pop(),
        }
        self.find_least()
    }

    /// Puts a later key in the place of the least.
    #[inline]
    pub fn replace_least(&mut self, key: u128) {
        match self.lanes.get_mut(self.lane) {
            Some(lane) => {
                lane.leave();
                self.find_least();
                self.push(key);
            }
            None => {
                self.heap.replace_first(key);
                self.find_least();
            }
        }
    }

    #[inline]
    fn find_least(&mut self) -> u128 {
        let (mut least, mut from) = (self.heap.first, LANES);
        for (place, lane) in self.lanes.iter().enumerate() {
            if lane.first < least {
                (least, from) = (lane.first, place);
            }
        }
        (self.least, self.lane) = (least, from);
        least
    }

    /// All keys, in any order.
    pub fn into_keys(self) -> Vec<u128> {
        let mut keys = self.heap.into_keys();
        for lane in self.lanes {
            keys.extend_from_slice(&lane.keys[lane.gone..]);
        }
        keys
    }

    /// The most keys that there is memory for in one lane.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.lanes.iter().map(|lane| lane.keys.capacity()).max().unwrap_or_default()
    }
}

/// Keys that came in order; those before `gone` have left.
#[derive(Debug)]
struct Lane {
    /// The first key, [`NOTHING`] if there is none.
    first: u128,
    /// The last key, 0 if there is none.
    last: u128,
    keys: Vec<u128>,
    gone: usize,
}

impl Default for Lane {
    fn default() -> Lane {
        Lane { first: NOTHING, last: 0, keys: Vec::new(), gone: 0 }
    }
}

impl Lane {
    /// Adds a key that is not less than the last.
    #[inline]
    fn push(&mut self, key: u128) {
        self.keys.push(key);
        self.first = self.first.min(key);
        self.last = key;
    }

    /// Forgets the first key.
    #[inline]
    fn leave(&mut self) {
        self.gone += 1;
        if let Some(&first) = self.keys.get(self.gone) {
            self.first = first;
            if self.gone >= KEPT {
                self.forget_gone();
            }
        } else {
            (self.first, self.last, self.gone) = (NOTHING, 0, 0);
            self.keys.clear();
        }
    }

    fn forget_gone(&mut self) {
        if self.gone >= self.keys.len() / 2 {
            self.keys.drain(..self.gone);
            self.gone = 0;
        }
    }
}

/// Keys in any order. Four children of a key lie together, in one line of the processor's caches: those of the first key in group 0,
/// those of the key at place `i` of all groups in group `i + 1`. What is beyond the last key is [`NOTHING`].
#[derive(Debug)]
struct Heap {
    /// The first key, [`NOTHING`] if there is none.
    first: u128,
    groups: Vec<Group>,
    /// How many keys the groups hold.
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Group([u128; 4]);

impl Default for Heap {
    fn default() -> Heap {
        Heap { first: NOTHING, groups: Vec::new(), len: 0 }
    }
}

impl Heap {
    #[inline]
    fn push(&mut self, key: u128) {
        if self.first == NOTHING {
            self.first = key;
            return;
        }
        let mut at = self.len;
        self.len += 1;
        if self.groups.len() * 4 == at {
            self.groups.push(Group([NOTHING; 4]));
        }
        // Children move down until one is found that comes before the key.
        while let Some(parent) = (at / 4).checked_sub(1) {
            let above = self.groups[parent / 4].0[parent % 4];
            if above <= key {
                self.groups[at / 4].0[at % 4] = key;
                return;
            }
            self.groups[at / 4].0[at % 4] = above;
            at = parent;
        }
        self.groups[0].0[at] = key.max(self.first);
        self.first = key.min(self.first);
    }

    /// Forgets the first key.
    #[inline]
    fn pop(&mut self) {
        let Some(last) = self.len.checked_sub(1) else {
            self.first = NOTHING;
            return;
        };
        self.len = last;
        let key = std::mem::replace(&mut self.groups[last / 4].0[last % 4], NOTHING);
        if last % 4 == 0 {
            self.groups.pop();
        }
        self.replace_first(key);
    }

    /// Puts a key in the place of the first one.
    fn replace_first(&mut self, key: u128) {
        // The place to be filled, if it is not that of the first key; its children are in group `number`.
        let (mut place, mut number) = (None, 0);
        while let Some(&Group([a, b, c, d])) = self.groups.get(number) {
            // One of the four groups below is next.
            if let Some(below) = self.groups.get(4 * number + 1) {
                prefetch_groups(below);
            }
            let (ab, left) = if b < a { (b, 1) } else { (a, 0) };
            let (cd, right) = if d < c { (d, 3) } else { (c, 2) };
            let (least, child) = if cd < ab { (cd, right) } else { (ab, left) };
            if key <= least {
                break;
            }
            self.fill(place, least);
            place = Some((number, child));
            number = 4 * number + child + 1;
        }
        self.fill(place, key);
    }

    #[inline]
    fn fill(&mut self, place: Option<(usize, usize)>, key: u128) {
        match place {
            Some((group, child)) => self.groups[group].0[child] = key,
            None => self.first = key,
        }
    }

    /// All keys, in any order.
    fn into_keys(self) -> Vec<u128> {
        let below = self.groups.into_iter().flat_map(|Group(keys)| keys);
        std::iter::once(self.first).chain(below).filter(|&key| key != NOTHING).collect()
    }
}

/// The line of a group, and the three after it.
#[inline]
fn prefetch_groups(first: &Group) {
    let first = std::ptr::from_ref(first);
    (0..4).for_each(|group| prefetch_line(first.wrapping_add(group).cast()));
}
