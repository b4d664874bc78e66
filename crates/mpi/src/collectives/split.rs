//! How the algorithms divide data and ranks: segments, blocks, halves, and a power of two of ranks.

use super::buffer::Buffer;
use super::trees::floor_power_of_two;

/// A message cut into segments that travel one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    buffer: Buffer,
    /// Elements in every segment but the last.
    count: u64,
}

impl Segments {
    /// Cuts at about `segment` bytes, rounded to the nearer whole number of elements; 0 does not cut.
    ///
    /// COLL_BASE_COMPUTED_SEGCOUNT of Open MPI.
    pub fn new(buffer: Buffer, segment: u64) -> Segments {
        let element = buffer.element;
        let count = if segment >= element && segment < buffer.total() {
            let residual = segment % element;
            segment / element + u64::from(residual > element / 2)
        } else {
            buffer.count
        };
        Segments { buffer, count: count.max(1) }
    }

    /// How many segments there are; an empty message is one.
    pub fn number(&self) -> u64 {
        self.buffer.count.div_ceil(self.count).max(1)
    }

    /// Elements in a whole segment.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of the segment of that index.
    pub fn bytes(&self, index: u64) -> u64 {
        self.buffer.bytes(self.count.min(self.buffer.count - index * self.count))
    }
}

/// A number of elements divided into blocks that differ by one at most, the larger ones first.
///
/// COLL_BASE_COMPUTE_BLOCKCOUNT of Open MPI, and the counts of MPICH's reduce-scatters.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    blocks: u64,
    small: u64,
    /// How many blocks have one element more.
    larger: u64,
    /// How many elements the last block has more.
    rest: u64,
}

impl Shares {
    /// Divides `count` elements into `blocks`.
    pub fn new(count: u64, blocks: u64) -> Shares {
        Shares { blocks, small: count / blocks, larger: count % blocks, rest: 0 }
    }

    /// Divides `count` elements into equal `blocks`; what is left goes to the last one.
    pub fn with_last(count: u64, blocks: u64) -> Shares {
        Shares { blocks, small: count / blocks, larger: 0, rest: count % blocks }
    }

    /// Elements in the block of that index.
    pub fn count(&self, block: u64) -> u64 {
        self.count_of(block, block + 1)
    }

    /// Elements in the blocks `from..to`.
    pub fn count_of(&self, from: u64, to: u64) -> u64 {
        let before =
            |block: u64| block * self.small + block.min(self.larger) + if block == self.blocks { self.rest } else { 0 };
        before(to) - before(from)
    }
}

/// A communicator reduced to a power of two of ranks: of the first pairs of ranks only one goes on.
#[derive(Clone, Copy, Debug)]
pub struct Folded {
    /// How many ranks go on.
    pub power: u32,
    /// How many ranks drop out: one of each of so many pairs at the front.
    pub extra: u32,
    /// Which one of a pair goes on: 0 for the even one, 1 for the odd one.
    stays: u32,
}

/// What a rank does while the number of ranks is folded to a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Hands its data to the partner and drops out.
    Leaves {
        /// The partner.
        partner: u32,
    },
    /// Takes the partner's data and goes on under a new number.
    Stays {
        /// The partner.
        partner: u32,
        /// Its number among those that go on.
        number: u32,
    },
    /// Has no partner.
    Alone {
        /// Its number among those that go on.
        number: u32,
    },
}

impl Role {
    /// The number among those that go on; none for one that drops out.
    pub fn number(self) -> Option<u32> {
        match self {
            Role::Leaves { .. } => None,
            Role::Stays { number, .. } | Role::Alone { number } => Some(number),
        }
    }
}

impl Folded {
    /// The odd rank of each pair goes on.
    pub fn onto_odd(ranks: u32) -> Folded {
        let power = floor_power_of_two(ranks);
        Folded { power, extra: ranks - power, stays: 1 }
    }

    /// The even rank of each pair goes on.
    pub fn onto_even(ranks: u32) -> Folded {
        Folded { stays: 0, ..Folded::onto_odd(ranks) }
    }

    /// What a rank does.
    pub fn role(&self, rank: u32) -> Role {
        if rank >= 2 * self.extra {
            Role::Alone { number: rank - self.extra }
        } else if rank % 2 == self.stays {
            Role::Stays { partner: rank ^ 1, number: rank / 2 }
        } else {
            Role::Leaves { partner: rank ^ 1 }
        }
    }

    /// The rank that has this number among those that go on.
    pub fn rank(&self, number: u32) -> u32 {
        if number < self.extra { 2 * number + self.stays } else { number + self.extra }
    }

    /// The first original rank whose block belongs to this number, when blocks of pairs are kept together.
    pub fn first_block(&self, number: u32) -> u32 {
        if number < self.extra { 2 * number } else { number + self.extra }
    }
}

/// A parameter as a number of ranks: more than there can be is as many as there can be.
pub fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The low `bits` bits of a number in reverse order: `ompi_mirror_perm`, `MPL_mirror_permutation`.
pub fn mirrored(number: u32, bits: u32) -> u32 {
    if bits == 0 { 0 } else { number.reverse_bits() >> (u32::BITS - bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_round_to_whole_elements() {
        // 10 bytes hold one element of 8; the residue of 2 bytes is less than half an element.
        assert_eq!(Segments::new(Buffer::new(5, 8), 10).number(), 5);
        // 13 bytes round up to two.
        let two = Segments::new(Buffer::new(5, 8), 13);
        assert_eq!((two.number(), two.bytes(0), two.bytes(2)), (3, 16, 8));
        // Neither none, nor less than an element, nor more than all of it cuts.
        for segment in [0, 7, 40, 1000] {
            let whole = Segments::new(Buffer::new(5, 8), segment);
            assert_eq!((whole.number(), whole.bytes(0)), (1, 40));
        }
        assert_eq!(Segments::new(Buffer::new(0, 8), 64).number(), 1);
    }

    #[test]
    fn segments_and_shares_lose_nothing() {
        for count in 1..50 {
            for segment in 0..70 {
                let segments = Segments::new(Buffer::new(count, 3), segment);
                assert_eq!((0..segments.number()).map(|index| segments.bytes(index)).sum::<u64>(), 3 * count);
            }
            for blocks in 1..20 {
                for shares in [Shares::new(count, blocks), Shares::with_last(count, blocks)] {
                    assert_eq!((0..blocks).map(|block| shares.count(block)).sum::<u64>(), count);
                    assert_eq!(shares.count_of(0, blocks), count);
                    let half = (blocks / 2..blocks).map(|block| shares.count(block)).sum();
                    assert_eq!(shares.count_of(blocks / 2, blocks), half);
                }
            }
        }
    }

    #[test]
    fn shares_differ_at_the_front_or_at_the_end() {
        let counts = |shares: Shares| [0, 1, 2, 3].map(|block| shares.count(block));
        assert_eq!(counts(Shares::new(11, 4)), [3, 3, 3, 2]);
        assert_eq!(counts(Shares::with_last(11, 4)), [2, 2, 2, 5]);
    }

    #[test]
    fn folding_numbers_those_that_go_on() {
        for ranks in 1..40 {
            for folded in [Folded::onto_even(ranks), Folded::onto_odd(ranks)] {
                let mut numbers = Vec::new();
                for rank in 0..ranks {
                    if let Some(number) = folded.role(rank).number() {
                        assert_eq!(folded.rank(number), rank);
                        numbers.push(number);
                    }
                }
                assert_eq!(numbers, (0..folded.power).collect::<Vec<_>>());
            }
        }
        assert_eq!(Folded::onto_odd(6).role(2), Role::Leaves { partner: 3 });
        assert_eq!(Folded::onto_even(6).role(2), Role::Stays { partner: 3, number: 1 });
    }

    #[test]
    fn mirroring_reverses_bits() {
        assert_eq!((0..8).map(|number| mirrored(number, 3)).collect::<Vec<_>>(), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(mirrored(0, 0), 0);
    }
}
