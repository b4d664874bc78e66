//! What is planned next: some keys in order.

/// So many keys are in order, if there are as many.
pub(super) const AHEAD: usize = 48;
/// There may be so many, before half of them must go.
const MOST: usize = 2 * AHEAD;
/// They move to the front of their memory as often as there is no room behind them.
const ROOM: usize = 4 * AHEAD;

/// Keys in order, side by side.
#[derive(Debug)]
pub(super) struct Near {
    keys: Box<[u128; ROOM]>,
    first: usize,
    end: usize,
}

impl Default for Near {
    fn default() -> Near {
        Near { keys: Box::new([0; ROOM]), first: 0, end: 0 }
    }
}

impl Near {
    #[inline]
    pub fn keys(&self) -> &[u128] {
        // Both are never beyond the room.
        &self.keys[self.first..self.end]
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.end - self.first
    }

    #[inline]
    pub fn first(&self) -> Option<u128> {
        self.keys().first().copied()
    }

    #[inline]
    pub fn last(&self) -> Option<u128> {
        self.keys().last().copied()
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() == MOST
    }

    /// Forgets the first key, if there is one.
    #[inline]
    pub fn pop(&mut self) {
        if self.first < self.end {
            self.first += 1;
        }
    }

    /// Adds a key where it belongs; there must be room.
    #[inline]
    pub fn insert(&mut self, key: u128) {
        debug_assert!(!self.is_full(), "half of the keys go before");
        if self.end == ROOM {
            self.keys.copy_within(self.first..self.end, 0);
            (self.first, self.end) = (0, self.end - self.first);
        }
        let place = match self.last() {
            Some(last) if key < last => self.first + self.keys().partition_point(|&other| other < key),
            _ => self.end,
        };
        if place < self.end {
            self.keys.copy_within(place..self.end, place + 1);
        }
        self.keys[place] = key;
        self.end += 1;
    }

    /// Takes the second half of the keys.
    pub fn split(&mut self) -> &[u128] {
        let end = self.end;
        self.end = self.first + self.len() / 2;
        &self.keys[self.end..end]
    }
}
