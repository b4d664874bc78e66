//! What a network model has planned: slots keyed by (time, insertion), the earliest first.
//!
//! A 4-ary heap on 128-bit keys: one comparison decides between two entries, and the least of four children is found
//! without a branch that could be mispredicted.

use hpcast_units::Time;

/// Low bits of a key: the slot.
const SLOT_BITS: u32 = 28;
/// Insertion numbers run up to this, then all are renumbered.
const ORDERS: u64 = 1 << (64 - SLOT_BITS);

/// Slots in the order of their times; equal times in the order of insertion.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// time (64 bits), insertion number (36 bits), slot (28 bits)
    heap: Vec<u128>,
    /// Insertion numbers given so far.
    orders: u64,
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
        self.heap.first().map(|&key| Entry(key))
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
        let last = self.heap.len();
        self.heap.push(key);
        self.rise(last, key);
    }

    /// Forgets the first entry.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let Some(last) = self.heap.pop() else { return };
        if !self.heap.is_empty() {
            self.replace_first(last);
        }
    }

    /// Plans the first entry anew for a later time; it keeps its insertion number.
    #[inline]
    pub(crate) fn postpone(&mut self, time: Time) {
        let key = (u128::from(time.as_ps()) << 64) | u128::from(self.heap[0] as u64);
        self.replace_first(key);
    }

    /// Moves a key up from a free place.
    #[inline]
    fn rise(&mut self, mut at: usize, key: u128) {
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    /// Puts `key` in the place of the first entry.
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
    }

    /// Insertion numbers start again from 0, in the same order.
    #[cold]
    fn renumber(&mut self) {
        self.heap.sort_unstable_by_key(|&key| key as u64 >> SLOT_BITS);
        for (order, key) in self.heap.iter_mut().enumerate() {
            let slot = Entry(*key).slot();
            *key = (*key >> 64 << 64) | u128::from(((order as u64) << SLOT_BITS) | u64::from(slot));
        }
        self.orders = self.heap.len() as u64;
        // A sorted array is a heap.
        self.heap.sort_unstable();
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
