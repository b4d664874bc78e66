//! What a network model has planned: slots keyed by (time, insertion), the earliest first.
//!
//! A 4-ary heap on 128-bit keys: the four children of an entry fill one cache line, and one comparison decides.

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
    /// The time of the first entry, [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.heap.first().map_or(Time::NEVER, |&key| Entry(key).time())
    }

    /// Plans `slot` for `time`.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, slot: u32) {
        if self.orders == ORDERS {
            self.renumber();
        }
        let key = (u128::from(time.as_ps()) << 64) | u128::from((self.orders << SLOT_BITS) | u64::from(slot));
        self.orders += 1;
        self.heap.push(key);
        self.sift_up(self.heap.len() - 1, key);
    }

    /// The first entry, if it is due at `now` or before.
    #[inline]
    pub(crate) fn due(&self, now: Time) -> Option<Entry> {
        self.heap.first().map(|&key| Entry(key)).filter(|entry| entry.time() <= now)
    }

    /// Forgets the first entry.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let last = self.heap.pop().expect("pop is called on an agenda that has a first entry");
        if !self.heap.is_empty() {
            self.sift_down(last);
        }
    }

    /// Plans the first entry anew for a later time; it keeps its insertion number.
    #[inline]
    pub(crate) fn postpone(&mut self, time: Time) {
        let key = (u128::from(time.as_ps()) << 64) | u128::from(self.heap[0] as u64);
        self.sift_down(key);
    }

    #[inline]
    fn sift_up(&mut self, mut at: usize, key: u128) {
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
    fn sift_down(&mut self, key: u128) {
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let Some(children) = self.heap.get(first..(first + 4).min(self.heap.len())) else { break };
            let Some((which, &least)) = children.iter().enumerate().min_by_key(|(_, key)| **key) else { break };
            if key <= least {
                break;
            }
            self.heap[at] = least;
            at = first + which;
        }
        self.heap[at] = key;
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
        while let Some(entry) = agenda.due(Time::NEVER) {
            out.push((entry.time().as_ps(), entry.slot()));
            agenda.pop();
        }
        out
    }

    #[test]
    fn equal_times_leave_in_the_order_of_insertion() {
        let mut agenda = Agenda::default();
        for (time, slot) in [(5, 0), (3, 1), (5, 2), (3, 3), (9, 4), (5, 5), (1, 6)] {
            agenda.push(Time::from_ps(time), slot);
        }
        assert_eq!(agenda.next(), Time::from_ps(1));
        assert_eq!(drain(&mut agenda), [(1, 6), (3, 1), (3, 3), (5, 0), (5, 2), (5, 5), (9, 4)]);
        assert_eq!(agenda.next(), Time::NEVER);
    }

    #[test]
    fn a_postponed_entry_keeps_its_rank_among_equals() {
        let mut agenda = Agenda::default();
        agenda.push(Time::from_ps(1), 0);
        agenda.push(Time::from_ps(5), 1);
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
