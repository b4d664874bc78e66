//! The event queue: ordered by (time, insertion), so that equal times come out as they went in.
//!
//! Ranks that do the same thing do it at the same time: most events share their time with others. So the queue keeps
//! one batch for each time, a plain chain in order of insertion, and a heap of batches. Adding to the batch of a time
//! that was used lately, and taking the next event of a batch, cost a few instructions however many events wait; only
//! a new time touches the heap. The heap is 4-ary with integer keys: the children of a node lie side by side.

use hpcast_units::Time;

use crate::slab::{NONE, Slab};

/// How many lately used times are remembered; a power of two.
const REMEMBERED: usize = 64;

#[derive(Clone, Copy)]
struct Batch {
    time: Time,
    /// Order of creation: of two batches of the same time the older comes first.
    number: u64,
    /// Its [`Chain`].
    chain: u32,
}

impl Batch {
    #[inline]
    fn before(&self, other: &Batch) -> bool {
        (self.time, self.number) < (other.time, other.number)
    }
}

#[derive(Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct Item<P> {
    payload: P,
    next: u32,
}

/// Events with a small payload, ordered by time and, where times are equal, by insertion.
pub struct EventQueue<P> {
    heap: Vec<Batch>,
    chains: Slab<Chain>,
    items: Slab<Item<P>>,
    created: u64,
    /// The newest batch of some times, found by a hash of the time. A batch that is not remembered is never added to,
    /// and a newer one of the same time takes its place here: this keeps the order of insertion.
    remembered: [(Time, u32); REMEMBERED],
}

impl<P: Copy> Default for EventQueue<P> {
    fn default() -> Self {
        EventQueue::new()
    }
}

impl<P: Copy> EventQueue<P> {
    /// An empty queue.
    pub fn new() -> EventQueue<P> {
        EventQueue {
            heap: Vec::new(),
            chains: Slab::default(),
            items: Slab::default(),
            created: 0,
            remembered: [(Time::NEVER, NONE); REMEMBERED],
        }
    }

    /// Number of events that wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Time of the first event; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.heap.first().map_or(Time::NEVER, |batch| batch.time)
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, time: Time, payload: P) {
        let item = self.items.insert(Item { payload, next: NONE });
        let (remembered, chain) = self.remembered[slot(time)];
        if remembered == time && chain != NONE {
            let chain = &mut self.chains[chain];
            self.items[chain.last].next = item;
            chain.last = item;
        } else {
            self.new_batch(time, item);
        }
    }

    /// Takes the first event out.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, P)> {
        let &Batch { time, chain: number, .. } = self.heap.first()?;
        let chain = &mut self.chains[number];
        let item = chain.first;
        let Item { payload, next } = self.items[item];
        self.items.remove(item);
        chain.first = next;
        if next == NONE {
            self.end_batch(time, number);
        }
        Some((time, payload))
    }

    fn new_batch(&mut self, time: Time, item: u32) {
        let chain = self.chains.insert(Chain { first: item, last: item });
        self.remembered[slot(time)] = (time, chain);
        let batch = Batch { time, number: self.created, chain };
        self.created += 1;
        let mut hole = self.heap.len();
        self.heap.push(batch);
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.heap[parent].before(&batch) {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = batch;
    }

    /// Takes the first batch, whose events are all out, off the heap.
    fn end_batch(&mut self, time: Time, chain: u32) {
        self.chains.remove(chain);
        let remembered = &mut self.remembered[slot(time)];
        if *remembered == (time, chain) {
            *remembered = (Time::NEVER, NONE);
        }
        let Some(last) = self.heap.pop() else { return };
        let len = self.heap.len();
        if len == 0 {
            return;
        }
        let mut hole = 0;
        loop {
            let child = 4 * hole + 1;
            if child >= len {
                break;
            }
            let mut least = child;
            for other in child + 1..(child + 4).min(len) {
                if self.heap[other].before(&self.heap[least]) {
                    least = other;
                }
            }
            if last.before(&self.heap[least]) {
                break;
            }
            self.heap[hole] = self.heap[least];
            hole = least;
        }
        self.heap[hole] = last;
    }
}

/// Where a time is remembered: the high bits of a multiplication depend on all bits of the time.
#[inline]
fn slot(time: Time) -> usize {
    (time.as_ps().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - REMEMBERED.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_out_sorted_and_stable() {
        for times in [1, 5, 100, 500, 1 << 40] {
            let mut queue = EventQueue::new();
            let mut state = 1u64;
            let mut expected = Vec::new();
            for i in 0..10_000u32 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let time = Time::from_ps((state >> 20) % times);
                queue.push(time, i);
                expected.push((time, i));
            }
            expected.sort();
            assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), expected);
            assert_eq!((queue.next_time(), queue.len()), (Time::NEVER, 0));
        }
    }

    #[test]
    fn push_and_pop_interleaved() {
        let mut queue = EventQueue::new();
        for i in 0..100 {
            queue.push(Time::from_ps(1000 - i), i);
            queue.push(Time::from_ps(2000 + i), i);
            assert_eq!(queue.pop(), Some((Time::from_ps(1000 - i), i)));
        }
        assert_eq!(queue.len(), 100);
        assert_eq!(queue.next_time(), Time::from_ps(2000));
    }

    #[test]
    fn a_batch_can_grow_while_it_is_emptied() {
        let mut queue = EventQueue::new();
        let now = Time::from_ps(7);
        queue.push(now, 0);
        queue.push(now, 1);
        assert_eq!(queue.pop(), Some((now, 0)));
        queue.push(now, 2);
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some((now, 1)), Some((now, 2)), None]);
        queue.push(now, 3);
        assert_eq!(queue.pop(), Some((now, 3)));
    }
}
