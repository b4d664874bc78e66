//! Lists of receives or messages, in order.
//!
//! A few items stand in the list itself, each with a mark that tells nearly all of those apart that are not wanted: with thousands of
//! ranks, an item that is looked at in vain, or as a neighbour, is a line of memory to wait for. More of them are linked through their
//! slab and searched from the front. A list that grows beyond `SHORT` gets a hash index by (receiver, context, source, tag), so that an
//! all-to-all among thousands of ranks stays linear.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use hpcast_engine::Slab;
use hpcast_engine::slab::NONE;

use super::{Envelope, Listed};

/// So many items stand in the list itself.
const FEW: usize = 4;
/// Linked lists up to this length are searched, longer ones are indexed.
const SHORT: u32 = 12;

/// Neighbours of an item in its rank's list, where that is linked.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    previous: u32,
    next: u32,
    /// Next item with the same envelope, where the list is indexed.
    same: u32,
}

impl Default for Place {
    fn default() -> Place {
        Place { previous: NONE, next: NONE, same: NONE }
    }
}

/// A few bits of an envelope: the first four of context and source, and never zero, the others of the tag. Zero stands for
/// whatever accepts more than one envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(u8);

impl Mark {
    const ANY: Mark = Mark(0);

    /// Of an envelope, or of what accepts several.
    #[inline]
    pub fn of(exact: Option<Envelope>) -> Mark {
        let Some(Envelope { context, source, tag }) = exact else { return Mark::ANY };
        Mark(Mark::of_source(context, source).0 | Mark::bits(tag as u32) >> 4)
    }

    /// Of all messages from there.
    #[inline]
    pub fn of_source(context: u32, source: u32) -> Mark {
        Mark(Mark::bits(source ^ context.rotate_left(16)) | 1 << 4)
    }

    /// The first four of eight bits.
    #[inline]
    fn bits(value: u32) -> u8 {
        (value.wrapping_mul(0x9E37_79B9) >> 24) as u8 & 0xF0
    }

    /// Whether one may accept the other.
    #[inline]
    fn may_meet(self, other: Mark) -> bool {
        self == other || self == Mark::ANY || other == Mark::ANY
    }

    /// Whether it may accept something with the source of the other.
    #[inline]
    fn may_be_from(self, other: Mark) -> bool {
        self == Mark::ANY || (self.0 ^ other.0) & 0xF0 == 0
    }
}

/// One rank's list of one kind.
#[derive(Clone, Copy)]
pub(super) enum List {
    /// Items and their marks.
    Few { len: u8, marks: [Mark; FEW], items: [u32; FEW] },
    /// Linked items, at least one.
    Many {
        first: u32,
        last: u32,
        len: u32,
        /// Items that accept more than one envelope: they rule the index out.
        inexact: u32,
        indexed: bool,
    },
}

const _: () = assert!(size_of::<List>() == 24);

impl List {
    pub const EMPTY: List = List::Few { len: 0, marks: [Mark::ANY; FEW], items: [NONE; FEW] };

    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self, List::Few { len: 0, .. })
    }

    pub fn len(&self) -> u32 {
        match *self {
            List::Few { len, .. } => len.into(),
            List::Many { len, .. } => len,
        }
    }
}

/// First and last item of each envelope in the indexed lists.
type Index = HashMap<(u32, Envelope), (u32, u32), BuildHasherDefault<Mix>>;

/// The items of one kind, and the index of the long lists.
pub(super) struct Items<T> {
    pub slab: Slab<T>,
    index: Index,
}

impl<T: Listed> Items<T> {
    pub fn new() -> Items<T> {
        Items { slab: Slab::default(), index: HashMap::default() }
    }

    #[inline]
    pub fn push(&mut self, list: &mut List, rank: u32, item: u32) {
        match list {
            List::Few { len, marks, items } if usize::from(*len) < FEW => {
                let place = usize::from(*len) % FEW;
                (marks[place], items[place]) = (Mark::of(self.slab[item].exact()), item);
                *len += 1;
            }
            _ => self.push_to_many(list, rank, item),
        }
    }

    #[inline(never)]
    fn push_to_many(&mut self, list: &mut List, rank: u32, item: u32) {
        if let List::Few { items, .. } = *list {
            *list = List::Many { first: NONE, last: NONE, len: 0, inexact: 0, indexed: false };
            items.iter().for_each(|&item| self.link(list, rank, item));
        }
        self.link(list, rank, item);
    }

    /// Adds an item to a linked list.
    fn link(&mut self, list: &mut List, rank: u32, item: u32) {
        let List::Many { first, last, len, inexact, indexed } = list else { return };
        let entry = &mut self.slab[item];
        *entry.place_mut() = Place { previous: *last, ..Place::default() };
        *inexact += u32::from(!entry.is_exact());
        if *last == NONE {
            *first = item;
        } else {
            self.slab[*last].place_mut().next = item;
        }
        *last = item;
        *len += 1;
        if *indexed {
            self.add_to_index(rank, item);
        } else if *len > SHORT {
            *indexed = true;
            self.make_index(*first, rank);
        }
    }

    #[cold]
    fn make_index(&mut self, first: u32, rank: u32) {
        let mut item = first;
        while item != NONE {
            self.add_to_index(rank, item);
            item = self.slab[item].place().next;
        }
    }

    fn add_to_index(&mut self, rank: u32, item: u32) {
        let Some(envelope) = self.slab[item].exact() else { return };
        let (_, last) = self.index.entry((rank, envelope)).or_insert((item, NONE));
        if *last != NONE {
            self.slab[*last].place_mut().same = item;
        }
        *last = item;
    }

    /// Takes an item off the list; it stays in the slab.
    #[inline]
    pub fn remove(&mut self, list: &mut List, rank: u32, item: u32) {
        match list {
            List::Few { len, marks, items } => {
                let Some(place) = items.iter().position(|&other| other == item) else { return };
                marks.copy_within(place + 1.., place);
                items.copy_within(place + 1.., place);
                (marks[FEW - 1], items[FEW - 1]) = (Mark::ANY, NONE);
                *len -= 1;
            }
            List::Many { .. } => self.unlink(list, rank, item),
        }
    }

    fn unlink(&mut self, list: &mut List, rank: u32, item: u32) {
        let List::Many { first, last, len, inexact, indexed } = list else { return };
        let exact = self.slab[item].exact();
        if *indexed && let Some(envelope) = exact {
            self.remove_from_index((rank, envelope), item);
        }
        let Place { previous, next, .. } = *self.slab[item].place();
        if previous == NONE {
            *first = next;
        } else {
            self.slab[previous].place_mut().next = next;
        }
        if next == NONE {
            *last = previous;
        } else {
            self.slab[next].place_mut().previous = previous;
        }
        *len -= 1;
        *inexact -= u32::from(exact.is_none());
        if *len == 0 {
            *list = List::EMPTY;
        }
    }

    fn remove_from_index(&mut self, key: (u32, Envelope), item: u32) {
        let Some(&(first, last)) = self.index.get(&key) else { return };
        let same = self.slab[item].place().same;
        if first == item {
            if same == NONE {
                self.index.remove(&key);
            } else {
                self.index.insert(key, (same, last));
            }
            return;
        }
        // Never in a program: the first item of an envelope is taken before the second. Only messages of the future
        // that are announced anew are taken from the middle.
        let mut before = first;
        while self.slab[before].place().same != item {
            before = self.slab[before].place().same;
        }
        self.slab[before].place_mut().same = same;
        if last == item {
            self.index.insert(key, (first, before));
        }
    }

    /// All items of a list, in order.
    pub fn numbers<'l>(&'l self, list: &'l List) -> impl Iterator<Item = u32> + use<'l, T> {
        let (few, first) = match list {
            List::Few { len, items, .. } => (&items[..usize::from(*len)], NONE),
            List::Many { first, .. } => (&[][..], *first),
        };
        let some = |number: u32| (number != NONE).then_some(number);
        let linked = std::iter::successors(some(first), move |&one| some(self.slab[one].place().next));
        few.iter().copied().chain(linked)
    }

    /// First item in order that `wanted` accepts, which only items do that may meet the mark.
    #[inline]
    pub fn search(&self, list: &List, mark: Mark, wanted: impl Fn(&T) -> bool) -> Option<u32> {
        match list {
            List::Few { len, marks, items } => {
                let places = 0..usize::from(*len).min(FEW);
                let mut found = places.filter(|&place| marks[place].may_meet(mark)).map(|place| items[place]);
                found.find(|&item| wanted(&self.slab[item]))
            }
            List::Many { first, .. } => {
                let mut item = *first;
                while item != NONE && !wanted(&self.slab[item]) {
                    item = self.slab[item].place().next;
                }
                (item != NONE).then_some(item)
            }
        }
    }

    /// First item with this envelope, where all items of the list are exact and there is an index.
    #[inline]
    pub fn find_exact(&self, list: &List, rank: u32, envelope: Envelope) -> Option<Option<u32>> {
        let List::Many { indexed: true, inexact: 0, .. } = list else { return None };
        Some(self.index.get(&(rank, envelope)).map(|&(first, _)| first))
    }

    /// The items will be needed soon.
    #[inline]
    pub fn prefetch(&self, list: &List) {
        match list {
            List::Few { len, items, .. } => {
                items.iter().take(usize::from(*len)).for_each(|&item| self.slab.prefetch(item));
            }
            List::Many { first, .. } => self.slab.prefetch(*first),
        }
    }

    /// Of these, the first that may accept something from there.
    #[inline]
    pub fn prefetch_from(&self, list: &List, source: Mark) {
        let item = match list {
            List::Few { len, marks, items } => {
                let mut places = 0..usize::from(*len).min(FEW);
                places.find(|&place| marks[place].may_be_from(source)).map(|place| items[place])
            }
            List::Many { first, .. } => Some(*first),
        };
        item.into_iter().for_each(|item| self.slab.prefetch(item));
    }
}

/// A fast hash for small integer keys (multiply and rotate); not for keys that an adversary chooses.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }
    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    fn write_i32(&mut self, value: i32) {
        self.write_u32(value as u32);
    }
}
