//! What is planned: slots keyed by (time, insertion), the earliest first, so that equal times come out as they went in.
//!
//! What comes in the order of time, as starts of messages mostly do, and the ends of messages of one size, stands in one
//! of a few lanes, where it costs a few instructions however much is planned; the rest is in a 4-ary heap. Keys have 128 bits:
//! one comparison decides between two entries, and the least of four children is found without a branch that could be
//! mispredicted.

use hpcast_units::Time;

/// Low bits of a key: the slot.
const SLOT_BITS: u32 = 28;
/// Insertion numbers run up to this, then all are renumbered.
const ORDERS: u64 = 1 << (64 - SLOT_BITS);
/// One for starts, one for ends, one for what would stand in their way.
const LANES: usize = 3;
/// So many keys that have left a lane may be kept.
const KEPT: usize = 1024;
/// Entries so many places behind the first are told of before they come.
const NEAR: usize = 12;
const FAR: usize = 48;
/// Later than every key.
const NOTHING: u128 = u128::MAX;

/// Slots in the order of their times; equal times in the order of insertion.
///
/// A key holds the time (64 bits), the insertion number (36 bits) and the slot (28 bits).
#[derive(Debug)]
pub struct Agenda {
    lanes: [Lane; LANES],
    heap: Heap,
    /// The first key, [`NOTHING`] if there is none.
    first: u128,
    /// The lane where it stands; [`LANES`] if it is in the heap.
    lane: usize,
    /// Insertion numbers given so far.
    orders: u64,
    /// Keys that have come closer to the first, the last time that one went: from afar, and from near by.
    coming: Coming,
}

/// Two keys that will be the first after some others.
#[derive(Clone, Copy, Debug)]
struct Coming {
    far: u128,
    near: u128,
}

impl Default for Coming {
    fn default() -> Coming {
        Coming { far: NOTHING, near: NOTHING }
    }
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            lanes: Default::default(),
            heap: Heap::default(),
            first: NOTHING,
            lane: LANES,
            orders: 0,
            coming: Coming::default(),
        }
    }
}

/// An entry of an [`Agenda`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u128);

impl Entry {
    /// When it is due.
    #[inline]
    pub fn time(self) -> Time {
        Time::from_ps((self.0 >> 64) as u64)
    }

    /// Which slot is due.
    #[inline]
    pub fn slot(self) -> u32 {
        self.0 as u32 & ((1 << SLOT_BITS) - 1)
    }
}

impl Agenda {
    /// When the first entry is due; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn next_time(&self) -> Time {
        Entry(self.first).time()
    }

    /// The first entry.
    #[inline]
    pub fn first(&self) -> Option<Entry> {
        (self.first != NOTHING).then_some(Entry(self.first))
    }

    /// The entry behind the first, if nothing comes in between.
    #[inline]
    pub fn second(&self) -> Option<Entry> {
        let mut second = if self.lane == LANES { self.heap.second() } else { self.heap.first };
        for (place, lane) in self.lanes.iter().enumerate() {
            second = second.min(if place == self.lane { lane.second() } else { lane.first });
        }
        (second != NOTHING).then_some(Entry(second))
    }

    /// The slot of an entry that will be the first after a dozen others, or a few dozen: one of either for each that goes.
    #[inline]
    pub fn coming(&self) -> [Option<u32>; 2] {
        let Coming { near, far } = self.coming;
        [near, far].map(|key| (key != NOTHING).then(|| Entry(key).slot()))
    }

    /// The first entry, if it is due at `now` or before.
    #[inline]
    pub fn due(&self, now: Time) -> Option<Entry> {
        self.first().filter(|entry| entry.time() <= now)
    }

    /// Plans `slot` for `time`.
    #[inline]
    pub fn push(&mut self, time: Time, slot: u32) {
        assert!(slot < 1 << SLOT_BITS, "at most 2^{SLOT_BITS} things are planned at a time");
        if self.orders == ORDERS {
            self.renumber();
        }
        let key = (u128::from(time.as_ps()) << 64) | u128::from((self.orders << SLOT_BITS) | u64::from(slot));
        self.orders += 1;
        self.insert(key);
    }

    /// Forgets the first entry.
    #[inline]
    pub fn pop(&mut self) {
        match self.lanes.get_mut(self.lane) {
            Some(lane) => self.coming = lane.leave(),
            None => self.coming = self.heap.pop(),
        }
        self.find_first();
    }

    /// Plans the first entry anew for a later time; it keeps its insertion number.
    #[inline]
    pub fn postpone(&mut self, time: Time) {
        let key = (u128::from(time.as_ps()) << 64) | u128::from(self.first as u64);
        match self.lanes.get_mut(self.lane) {
            Some(lane) => {
                self.coming = lane.leave();
                self.find_first();
                self.insert(key);
            }
            None => {
                self.coming = self.heap.replace_first(key);
                self.find_first();
            }
        }
    }

    #[inline]
    fn insert(&mut self, key: u128) {
        let place = self.lanes.iter().position(|lane| lane.last <= key).unwrap_or(LANES);
        match self.lanes.get_mut(place) {
            Some(lane) => lane.push(key),
            None => self.heap.push(key),
        }
        if key < self.first {
            (self.first, self.lane) = (key, place);
        }
    }

    #[inline]
    fn find_first(&mut self) {
        (self.first, self.lane) = (self.heap.first, LANES);
        for (place, lane) in self.lanes.iter().enumerate() {
            if lane.first < self.first {
                (self.first, self.lane) = (lane.first, place);
            }
        }
    }

    /// Insertion numbers start again from 0, in the same order.
    #[cold]
    fn renumber(&mut self) {
        let Agenda { lanes, heap, .. } = std::mem::take(self);
        let mut keys = heap.keys;
        for lane in lanes {
            keys.extend_from_slice(&lane.keys[lane.gone..]);
        }
        keys.sort_unstable_by_key(|&key| key as u64 >> SLOT_BITS);
        self.orders = keys.len() as u64;
        for (order, key) in (0u64..).zip(keys) {
            let slot = Entry(key).slot();
            self.insert((key >> 64 << 64) | u128::from((order << SLOT_BITS) | u64::from(slot)));
        }
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
    #[inline]
    fn second(&self) -> u128 {
        self.keys.get(self.gone + 1).copied().unwrap_or(NOTHING)
    }

    /// Adds a key that is not less than the last.
    #[inline]
    fn push(&mut self, key: u128) {
        self.keys.push(key);
        self.first = self.first.min(key);
        self.last = key;
    }

    /// Forgets the first key.
    #[inline]
    fn leave(&mut self) -> Coming {
        self.gone += 1;
        let key = |after: usize| self.keys.get(self.gone + after).copied().unwrap_or(NOTHING);
        let coming = Coming { near: key(NEAR), far: key(FAR) };
        if let Some(&first) = self.keys.get(self.gone) {
            self.first = first;
            if self.gone >= KEPT {
                self.forget_gone();
            }
        } else {
            (self.first, self.last, self.gone) = (NOTHING, 0, 0);
            self.keys.clear();
        }
        coming
    }

    fn forget_gone(&mut self) {
        if self.gone >= self.keys.len() / 2 {
            self.keys.drain(..self.gone);
            self.gone = 0;
        }
    }
}

/// Keys in any order: the four children of a key at `i` are at `4 i + 1` and after.
#[derive(Debug)]
struct Heap {
    /// The first key, [`NOTHING`] if there is none.
    first: u128,
    keys: Vec<u128>,
}

impl Default for Heap {
    fn default() -> Heap {
        Heap { first: NOTHING, keys: Vec::new() }
    }
}

impl Heap {
    /// The least of the first one's children.
    #[inline]
    fn second(&self) -> u128 {
        match self.keys[..] {
            [_, a, b, c, d, ..] => a.min(b).min(c.min(d)),
            _ => self.keys.iter().skip(1).copied().min().unwrap_or(NOTHING),
        }
    }

    #[inline]
    fn push(&mut self, key: u128) {
        let mut at = self.keys.len();
        self.keys.push(key);
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
        self.first = self.keys[0];
    }

    /// Forgets the first key.
    #[inline]
    fn pop(&mut self) -> Coming {
        let Some(last) = self.keys.pop() else { return Coming::default() };
        if self.keys.is_empty() {
            self.first = NOTHING;
            Coming::default()
        } else {
            self.replace_first(last)
        }
    }

    /// Puts a key in the place of the first one.
    fn replace_first(&mut self, key: u128) -> Coming {
        let keys = &mut self.keys[..];
        let mut coming = Coming::default();
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let (least, child) = if let Some(&[a, b, c, d]) = keys.get(first..).and_then(|rest| rest.first_chunk()) {
                let (ab, left) = if b < a { (b, 1) } else { (a, 0) };
                let (cd, right) = if d < c { (d, 3) } else { (c, 2) };
                if cd < ab { (cd, first + right) } else { (ab, first + left) }
            } else {
                let rest = keys.get(first..).unwrap_or_default().iter();
                let Some((child, &least)) = rest.enumerate().min_by_key(|&(_, key)| key) else { break };
                (least, first + child)
            };
            if key <= least {
                break;
            }
            keys[at] = least;
            // Each level holds four times as many as the one above.
            if at < 21 {
                coming.near = if at >= 5 { least } else { NOTHING };
            } else if at < 85 {
                coming.far = least;
            }
            at = child;
        }
        keys[at] = key;
        self.first = keys[0];
        coming
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(agenda: &mut Agenda) -> Vec<(u64, u32)> {
        let mut out = Vec::new();
        while let Some(entry) = agenda.first() {
            out.push((entry.time().as_ps(), entry.slot()));
            agenda.pop();
        }
        out
    }

    #[test]
    fn comes_out_in_the_order_of_time_then_insertion() {
        let mut agenda = Agenda::default();
        let mut expected: Vec<(u64, u32)> = (0..1000).map(|slot| (u64::from(slot * 7919 % 101), slot)).collect();
        for &(time, slot) in &expected {
            agenda.push(Time::from_ps(time), slot);
        }
        expected.sort_unstable();
        assert_eq!(drain(&mut agenda), expected);
    }

    #[test]
    fn tells_the_second_before_it_is_the_first() {
        let mut agenda = Agenda::default();
        assert_eq!(agenda.second(), None);
        for slot in 0..1000 {
            agenda.push(Time::from_ps(u64::from(slot * 7919 % 101)), slot);
        }
        while let Some(second) = agenda.second() {
            agenda.pop();
            assert_eq!(agenda.first(), Some(second));
        }
        agenda.pop();
        assert_eq!(agenda.first(), None);
    }

    #[test]
    fn equals_a_sorted_list_whatever_comes_when() {
        let (mut agenda, mut list) = (Agenda::default(), Vec::new());
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let mut now = 0;
        for order in 0..20_000u64 {
            let time = now + random(50);
            agenda.push(Time::from_ps(time), order as u32 % 1000);
            list.push((time, order, order as u32 % 1000));
            // Now and then it is almost emptied.
            let leave = if order % 5000 == 4999 { list.len() - 1 } else { random(2) as usize };
            for _ in 0..leave {
                list.sort_unstable();
                let entry = agenda.first().expect("as many as in the list");
                assert_eq!((entry.time().as_ps(), entry.slot()), (list[0].0, list[0].2));
                now = list[0].0;
                if random(3) == 0 {
                    list[0].0 += random(30);
                    agenda.postpone(Time::from_ps(list[0].0));
                } else {
                    list.remove(0);
                    agenda.pop();
                }
            }
        }
        list.sort_unstable();
        let rest: Vec<(u64, u32)> = list.iter().map(|&(time, _, slot)| (time, slot)).collect();
        assert_eq!(drain(&mut agenda), rest);
        assert!(agenda.lanes.iter().all(|lane| lane.keys.capacity() < 4 * KEPT.max(rest.len())));
    }

    #[test]
    fn a_postponed_entry_keeps_its_rank_among_equals() {
        let mut agenda = Agenda::default();
        agenda.push(Time::from_ps(1), 0);
        agenda.push(Time::from_ps(5), 1);
        assert_eq!(agenda.due(Time::ZERO), None);
        agenda.postpone(Time::from_ps(5));
        assert_eq!(drain(&mut agenda), [(5, 0), (5, 1)]);
    }

    #[test]
    fn renumbering_keeps_the_order() {
        let mut agenda = Agenda { orders: ORDERS - 3, ..Agenda::default() };
        for slot in 0..8 {
            agenda.push(Time::from_ps(u64::from(7 - slot % 4)), slot);
        }
        assert!(agenda.orders < 16);
        assert_eq!(drain(&mut agenda), [(4, 3), (4, 7), (5, 2), (5, 6), (6, 1), (6, 5), (7, 0), (7, 4)]);
    }
}
