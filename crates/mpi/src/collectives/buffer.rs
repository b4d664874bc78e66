//! How much data a collective moves: counts of elements, since the real libraries split at element boundaries.

/// The data of one rank: so many elements of so many bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// Number of elements.
    pub count: u64,
    /// Size of one element in bytes (8 for a double).
    pub element: u64,
}

impl Buffer {
    /// So many elements of so many bytes each.
    pub const fn new(count: u64, element: u64) -> Buffer {
        Buffer { count, element }
    }

    /// Plain bytes: elements of one byte.
    pub const fn of_bytes(bytes: u64) -> Buffer {
        Buffer { count: bytes, element: 1 }
    }

    /// One element of that size: it cannot be split.
    pub const fn one_element(bytes: u64) -> Buffer {
        Buffer { count: 1, element: bytes }
    }

    /// The size of so many of its elements in bytes.
    pub const fn bytes(self, count: u64) -> u64 {
        count * self.element
    }

    /// Its whole size in bytes.
    pub const fn total(self) -> u64 {
        self.bytes(self.count)
    }

    /// The same data seen as bytes: MPICH splits a broadcast so.
    pub const fn as_bytes(self) -> Buffer {
        Buffer::of_bytes(self.total())
    }

    /// The same elements, another number of them.
    pub const fn with_count(self, count: u64) -> Buffer {
        Buffer { count, element: self.element }
    }
}

/// How many elements each rank has in a collective where ranks may differ.
#[derive(Clone, Copy)]
pub enum Counts<'a> {
    /// All the same.
    Equal(u64),
    /// One number for each rank.
    Each(&'a dyn Fn(u32) -> u64),
}

/// One block of data for each rank.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// How many elements each block has.
    pub counts: Counts<'a>,
    /// Size of one element in bytes.
    pub element: u64,
}

impl<'a> Blocks<'a> {
    /// Every rank has the same.
    pub const fn equal(buffer: Buffer) -> Blocks<'a> {
        Blocks { counts: Counts::Equal(buffer.count), element: buffer.element }
    }

    /// `count(rank)` elements of `element` bytes.
    pub const fn each(count: &'a dyn Fn(u32) -> u64, element: u64) -> Blocks<'a> {
        Blocks { counts: Counts::Each(count), element }
    }

    /// Elements in the block of a rank.
    pub fn count(&self, rank: u32) -> u64 {
        match self.counts {
            Counts::Equal(count) => count,
            Counts::Each(count) => count(rank),
        }
    }

    /// Bytes in the block of a rank.
    pub fn bytes(&self, rank: u32) -> u64 {
        self.count(rank) * self.element
    }

    /// Elements in the blocks of the ranks `from..to`.
    pub fn count_of(&self, from: u32, to: u32) -> u64 {
        match self.counts {
            Counts::Equal(count) => count * u64::from(to.saturating_sub(from)),
            Counts::Each(count) => (from..to).map(count).sum(),
        }
    }

    /// Bytes in the blocks of the ranks `from..to`.
    pub fn bytes_of(&self, from: u32, to: u32) -> u64 {
        self.count_of(from, to) * self.element
    }

    /// Bytes in `number` blocks from that of rank `from` on, around the ring of `ranks`.
    pub fn bytes_around(&self, from: u32, number: u32, ranks: u32) -> u64 {
        let end = from + number;
        if end <= ranks { self.bytes_of(from, end) } else { self.bytes_of(from, ranks) + self.bytes_of(0, end - ranks) }
    }

    /// The elements of all ranks' blocks together, as one buffer.
    pub fn together(&self, ranks: u32) -> Buffer {
        Buffer { count: self.count_of(0, ranks), element: self.element }
    }

    /// The largest block among the ranks, in elements.
    pub fn largest(&self, ranks: u32) -> u64 {
        match self.counts {
            Counts::Equal(count) => count,
            Counts::Each(count) => (0..ranks).map(count).max().unwrap_or(0),
        }
    }

    /// The smallest block among the ranks, in elements.
    pub fn smallest(&self, ranks: u32) -> u64 {
        match self.counts {
            Counts::Equal(count) => count,
            Counts::Each(count) => (0..ranks).map(count).min().unwrap_or(0),
        }
    }

    /// Whether all ranks have the same.
    pub fn regular(&self, ranks: u32) -> bool {
        match self.counts {
            Counts::Equal(_) => true,
            Counts::Each(count) => (1..ranks).all(|rank| count(rank) == count(0)),
        }
    }
}

/// What a reduction's operator promises; the libraries choose their algorithm by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Operator {
    /// One of MPI's own (MPI_SUM, MPI_MAX, ...): all of them commute.
    #[default]
    BuiltIn,
    /// The program's own, declared commutative.
    Commutative,
    /// The program's own, not commutative: ranks must be combined in order.
    Ordered,
}

impl Operator {
    /// Whether operands may be swapped.
    pub fn commutes(self) -> bool {
        self != Operator::Ordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_sum_alike_whether_equal_or_listed() {
        let three = |_| 3;
        let (equal, each) = (Blocks::equal(Buffer::new(3, 4)), Blocks::each(&three, 4));
        for (from, to) in [(0, 0), (0, 5), (2, 4), (4, 2)] {
            assert_eq!(equal.bytes_of(from, to), each.bytes_of(from, to));
        }
        assert_eq!(each.bytes_of(2, 4), 24);
        assert_eq!(each.largest(7), 3);
        assert!(each.regular(7));
    }

    #[test]
    fn blocks_are_counted_around_the_ring() {
        let own = |rank| u64::from(rank) + 1;
        let blocks = Blocks::each(&own, 10);
        assert_eq!(blocks.bytes_around(3, 3, 5), (4 + 5 + 1) * 10);
        assert_eq!(blocks.bytes_around(0, 5, 5), blocks.together(5).total());
        assert_eq!((blocks.largest(5), blocks.smallest(5)), (5, 1));
        assert!(!blocks.regular(5));
    }
}
