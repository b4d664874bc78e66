//! What is planned: slots keyed by (time, insertion), the earliest first, so that equal times come out as they went in.
//!
//! They wait in lanes and a heap (`far`). Who looks ahead has the next few of them in order (`near`): then it is known what comes
//! next, and what that needs can be fetched. With thousands of ranks it is in none of the processor's caches.

mod far;
mod near;

use hpcast_units::Time;

use far::Far;
use near::{AHEAD, Near};

/// Low bits of a key: the slot.
const SLOT_BITS: u32 = 28;
/// Insertion numbers run up to this, then all are renumbered.
const ORDERS: u64 = 1 << (64 - SLOT_BITS);
/// Later than every key.
const NOTHING: u128 = u128::MAX;

/// Slots in the order of their times; equal times in the order of insertion.
///
/// A key holds the time (64 bits), the insertion number (36 bits) and the slot (28 bits).
#[derive(Debug)]
pub struct Agenda {
    /// The first key, [`NOTHING`] if there is none.
    first: u128,
    /// Whether the first keys stand in order.
    looks_ahead: bool,
    /// These keys: [`AHEAD`] or more, as long as there are so many; none for who does not look ahead.
    near: Near,
    /// All others, none of which comes before those.
    far: Far,
    /// Insertion numbers given so far.
    orders: u64,
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda { first: NOTHING, looks_ahead: false, near: Near::default(), far: Far::default(), orders: 0 }
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
    /// Who looks ahead knows so many entries before they come, at least, if there are as many.
    pub const AHEAD: usize = AHEAD;

    /// The next entries can be told from now on.
    pub fn look_ahead(&mut self) {
        self.looks_ahead = true;
        while self.near.len() < AHEAD
            && let Some(next) = self.far.pop()
        {
            self.near.insert(next);
        }
    }

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

    /// The entry so many places behind the first, if nothing comes in between; none, if it is too far, or for who does not look ahead.
    #[inline]
    pub fn ahead(&self, places: usize) -> Option<Entry> {
        self.near.keys().get(places).copied().map(Entry)
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
        if self.looks_ahead {
            return self.pop_near();
        }
        self.first = self.far.leave();
    }

    fn pop_near(&mut self) {
        self.near.pop();
        if self.near.len() < AHEAD
            && let Some(next) = self.far.pop()
        {
            self.near.insert(next);
        }
        self.first = self.near.first().unwrap_or(NOTHING);
    }

    /// Plans the first entry anew for a later time; it keeps its insertion number.
    #[inline]
    pub fn postpone(&mut self, time: Time) {
        let key = (u128::from(time.as_ps()) << 64) | u128::from(self.first as u64);
        if self.looks_ahead {
            self.pop_near();
            return self.insert_near(key);
        }
        self.far.replace_least(key);
        self.first = self.far.first();
    }

    #[inline]
    fn insert(&mut self, key: u128) {
        if self.looks_ahead {
            return self.insert_near(key);
        }
        self.far.push(key);
        self.first = self.far.first();
    }

    fn insert_near(&mut self, key: u128) {
        self.first = self.first.min(key);
        let is_near = self.near.last().is_some_and(|last| key < last);
        if !is_near && !self.far.is_empty() {
            return self.far.push(key);
        }
        if self.near.is_full() {
            self.make_room();
            return self.insert_near(key);
        }
        self.near.insert(key);
    }

    #[inline(never)]
    fn make_room(&mut self) {
        for &key in self.near.split() {
            self.far.push(key);
        }
    }

    /// Insertion numbers start again from 0, in the same order.
    #[cold]
    fn renumber(&mut self) {
        let Agenda { near, far, looks_ahead, .. } = std::mem::take(self);
        self.looks_ahead = looks_ahead;
        let mut keys = far.into_keys();
        keys.extend_from_slice(near.keys());
        keys.sort_unstable_by_key(|&key| key as u64 >> SLOT_BITS);
        self.orders = keys.len() as u64;
        for (order, key) in (0u64..).zip(keys) {
            let slot = Entry(key).slot();
            self.insert((key >> 64 << 64) | u128::from((order << SLOT_BITS) | u64::from(slot)));
        }
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
    fn tells_what_comes_before_it_is_there() {
        let mut agenda = Agenda::default();
        for slot in 0..1000 {
            assert_eq!(agenda.ahead(0), None);
            agenda.push(Time::from_ps(u64::from(slot * 7919 % 101)), slot);
        }
        agenda.look_ahead();
        let mut told = Vec::new();
        for left in (1..=1000).rev() {
            let ahead = agenda.ahead(AHEAD - 1);
            assert!(ahead.is_some() || left < AHEAD);
            told.extend(ahead);
            assert_eq!(agenda.ahead(0), agenda.first());
            if let Some(before) = 1000usize.checked_sub(left + AHEAD - 1) {
                assert_eq!(agenda.first(), told.get(before).copied());
            }
            agenda.pop();
        }
        assert_eq!(agenda.first(), None);
    }

    #[test]
    fn equals_a_sorted_list_whatever_comes_when() {
        compare_with_a_sorted_list(Agenda::default());
        let mut agenda = Agenda::default();
        agenda.look_ahead();
        compare_with_a_sorted_list(agenda);
    }

    fn compare_with_a_sorted_list(mut agenda: Agenda) {
        let mut list = Vec::new();
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
            if order == 13_000 {
                agenda.look_ahead();
            }
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
        assert!(agenda.far.capacity() < 4 * far::KEPT.max(rest.len()));
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
        for looks_ahead in [false, true] {
            let mut agenda = Agenda { orders: ORDERS - 3, looks_ahead, ..Agenda::default() };
            renumber(&mut agenda);
        }
    }

    fn renumber(agenda: &mut Agenda) {
        for slot in 0..8 {
            agenda.push(Time::from_ps(u64::from(7 - slot % 4)), slot);
        }
        assert!(agenda.orders < 16);
        assert_eq!(drain(agenda), [(4, 3), (4, 7), (5, 2), (5, 6), (6, 1), (6, 5), (7, 0), (7, 4)]);
    }
}
