//! What a network model has planned: slots keyed by (time, insertion), the earliest first.
//!
//! What comes in the order of time, as starts mostly do, stands in line; the rest is in a 4-ary heap on 128-bit keys:
//! one comparison decides between two entries, and the least of four children is found without a branch that could be
//! mispredicted.

use hpcast_units::Time;

/// Low bits of a key: the slot.
const SLOT_BITS: u32 = 28;
/// Insertion numbers run up to this, then all are renumbered.
const ORDERS: u64 = 1 << (64 - SLOT_BITS);

/// Slots in the order of their times; equal times in the order of insertion.
///
/// A key holds the time (64 bits), the insertion number (36 bits) and the slot (28 bits).
#[derive(Debug)]
pub(crate) struct Agenda {
    /// Keys that came in order; those before `gone` have left.
    line: Vec<u128>,
    gone: usize,
    /// Keys that came out of order.
    heap: Vec<u128>,
    /// The first key of each, [`NOTHING`] if there is none.
    first_in_line: u128,
    first_in_heap: u128,
    /// Insertion numbers given so far.
    orders: u64,
}

/// Later than every key.
const NOTHING: u128 = u128::MAX;
/// So many keys that have left the line may be kept.
const KEPT: usize = 1024;

impl Default for Agenda {
    fn default() -> Agenda {
        let (line, heap) = (Vec::new(), Vec::new());
        Agenda { line, gone: 0, heap, first_in_line: NOTHING, first_in_heap: NOTHING, orders: 0 }
    }
}

/// An entry of an [`Agenda`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u128);

impl Entry {
    /// When it is due.
    #[inline]
    pub(crate) fn time(self) -> Time {
        Time::from_ps((self.0 >> 64) as u64)
    }

    /// Which slot is due.
    #[inline]
    pub(crate) fn slot(self) -> u32 {
        self.0 as u32 & ((1 << SLOT_BITS) - 1)
    }
}

impl Agenda {
    /// The first entry.
    #[inline]
    pub(crate) fn first(&self) -> Option<Entry> {
        let first = self.first_in_line.min(self.first_in_heap);
        (first != NOTHING).then_some(Entry(first))
    }

    /// The first entry, if it is due at `now` or before.
    #[inline]
    pub(crate) fn due(&self, now: Time) -> Option<Entry> {
        self.first().filter(|entry| entry.time() <= now)
    }

    /// Plans `slot` for `time`.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, slot: u32) {
        assert!(slot < 1 << SLOT_BITS, "at most 2^{SLOT_BITS} transfers are under way at a time");
        if self.orders == ORDERS {
            self.renumber();
        }
        let key = (u128::from(time.as_ps()) << 64) | u128::from((self.orders << SLOT_BITS) | u64::from(slot));
        self.orders += 1;
        match self.line.last() {
            Some(&last) if last > key => self.insert(key),
            Some(_) => self.line.push(key),
            None => {
                self.line.push(key);
                self.first_in_line = key;
            }
        }
    }

    /// Forgets the first entry.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if self.first_in_line <= self.first_in_heap {
            self.leave_line();
        } else if let Some(last) = self.heap.pop() {
            if self.heap.is_empty() {
                self.first_in_heap = NOTHING;
            } else {
                self.replace_first(last);
            }
        }
    }

    /// Plans the first entry anew for a later time; it keeps its insertion number.
    #[inline]
    pub(crate) fn postpone(&mut self, time: Time) {
        let later = |key: u128| (u128::from(time.as_ps()) << 64) | u128::from(key as u64);
        if self.first_in_heap < self.first_in_line {
            self.replace_first(later(self.first_in_heap));
        } else if self.first_in_line != NOTHING {
            let key = later(self.first_in_line);
            self.leave_line();
            self.insert(key);
        }
    }

    /// Forgets the first entry of the line.
    #[inline]
    fn leave_line(&mut self) {
        self.gone += 1;
        if self.gone >= self.line.len() {
            self.line.clear();
            self.gone = 0;
        } else if self.gone >= KEPT && self.gone >= self.line.len() / 2 {
            self.line.drain(..self.gone);
            self.gone = 0;
        }
        self.first_in_line = self.line.get(self.gone).copied().unwrap_or(NOTHING);
    }

    /// Puts a key into the heap.
    #[inline]
    fn insert(&mut self, key: u128) {
        let mut at = self.heap.len();
        self.heap.push(key);
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
        self.first_in_heap = self.heap[0];
    }

    /// Puts a key in the place of the first one of the heap.
    #[inline]
    fn replace_first(&mut self, key: u128) {
        let heap = &mut self.heap[..];
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let (least, child) = if let Some(&[a, b, c, d]) = heap.get(first..).and_then(|rest| rest.first_chunk()) {
                let (ab, left) = if b < a { (b, 1) } else { (a, 0) };
                let (cd, right) = if d < c { (d, 3) } else { (c, 2) };
                if cd < ab { (cd, first + right) } else { (ab, first + left) }
            } else {
                let rest = heap.get(first..).unwrap_or_default().iter();
                let Some((child, &least)) = rest.enumerate().min_by_key(|&(_, key)| key) else { break };
                (least, first + child)
            };
            if key <= least {
                break;
            }
            heap[at] = least;
            at = child;
        }
        heap[at] = key;
        self.first_in_heap = heap[0];
    }

    /// Insertion numbers start again from 0, in the same order.
    #[cold]
    fn renumber(&mut self) {
        self.line.drain(..self.gone);
        self.line.append(&mut self.heap);
        self.line.sort_unstable_by_key(|&key| key as u64 >> SLOT_BITS);
        for (order, key) in self.line.iter_mut().enumerate() {
            let slot = Entry(*key).slot();
            *key = (*key >> 64 << 64) | u128::from(((order as u64) << SLOT_BITS) | u64::from(slot));
        }
        self.line.sort_unstable();
        self.orders = self.line.len() as u64;
        self.gone = 0;
        self.first_in_line = self.line.first().copied().unwrap_or(NOTHING);
        self.first_in_heap = NOTHING;
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
        assert!(agenda.line.capacity() < 4 * KEPT.max(rest.len()));
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
