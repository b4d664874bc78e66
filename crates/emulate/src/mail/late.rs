//! Copies that wait until their memory is in the processor's caches.
//!
//! With thousands of ranks neither what a message brings nor the place where it goes is in the caches, nor what tells where their pages are.
//! A copy made at once waits for all of it. So the memory is asked for, and the copy is made some copies later, or when one of
//! the two ranks leaves a function after which its program could see: whichever comes first.

use std::cell::Cell;

/// Bytes of one rank that another one gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Whose they are.
    pub from: u32,
    /// Who gets them.
    pub to: u32,
    /// Where they are.
    pub source: usize,
    /// Where they go.
    pub target: usize,
    /// How many.
    pub bytes: usize,
}

/// So many copies wait at most: twice as many gained little more (a halo exchange of 10,000 ranks).
const MOST: usize = 8;
/// Fewer bytes are copied at once: they take few lines. More, too: the processor sees what they are and fetches by itself.
const WORTH_WAITING: std::ops::RangeInclusive<usize> = 256..=4096;
const LINE: usize = 64;

/// Copies that wait, in their order.
pub struct Late {
    waiting: [Cell<Waiting>; MOST],
    first: Cell<usize>,
    count: Cell<usize>,
}

impl Late {
    /// None waits.
    pub fn new() -> Late {
        let none = Waiting { from: 0, to: 0, source: 0, target: 0, bytes: 0 };
        Late { waiting: std::array::from_fn(|_| Cell::new(none)), first: Cell::new(0), count: Cell::new(0) }
    }

    /// Whether copies of so many bytes should wait, where there are many ranks.
    #[inline]
    pub fn is_worth_it(bytes: usize) -> bool {
        WORTH_WAITING.contains(&bytes)
    }

    /// A copy waits from now on. The one that must be made in its place, if any.
    #[inline]
    pub fn add(&self, copy: Waiting) -> Option<Waiting> {
        for offset in (0..copy.bytes).step_by(LINE) {
            hpcast_engine::prefetch_line_to_write((copy.target + offset) as *const u8);
            hpcast_engine::prefetch_line((copy.source + offset) as *const u8);
        }
        let oldest = if self.count.get() == MOST { self.take() } else { None };
        self.waiting[(self.first.get() + self.count.get()) % MOST].set(copy);
        self.count.set(self.count.get() + 1);
        oldest
    }

    /// The oldest that waits.
    #[inline]
    pub fn take(&self) -> Option<Waiting> {
        let count = self.count.get().checked_sub(1)?;
        let first = self.first.replace((self.first.get() + 1) % MOST);
        self.count.set(count);
        Some(self.waiting[first].get())
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// Whether copies from or to a rank wait.
    #[inline]
    pub fn concerns(&self, rank: u32) -> bool {
        (0..self.count.get()).any(|place| {
            let Waiting { from, to, .. } = self.waiting[(self.first.get() + place) % MOST].get();
            from == rank || to == rank
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(from: u32, to: u32) -> Waiting {
        Waiting { from, to, source: 0, target: 0, bytes: 300 }
    }

    #[test]
    fn copies_come_out_in_their_order() {
        let late = Late::new();
        assert_eq!(late.take(), None);
        let mut made = Vec::new();
        for number in 0..20 {
            made.extend(late.add(copy(number, 100)));
            if number % 5 == 4 {
                made.extend(late.take());
            }
        }
        made.extend(std::iter::from_fn(|| late.take()));
        assert_eq!(made, (0..20).map(|number| copy(number, 100)).collect::<Vec<_>>());
    }

    #[test]
    fn only_those_concerned_are_found() {
        let late = Late::new();
        for number in 0..10 {
            late.add(copy(number, number + 50));
        }
        let concerned: Vec<u32> = (0..100).filter(|&rank| late.concerns(rank)).collect();
        assert_eq!(concerned, (2..10).chain(52..60).collect::<Vec<_>>());
    }

    #[test]
    fn neither_little_nor_much_waits() {
        assert_eq!([8, 256, 1024, 4096, 1 << 20].map(Late::is_worth_it), [false, true, true, true, false]);
    }
}
