//! Groups: ordered sets of processes, each process a number.
//!
//! Regular groups stay small: a group is kept as progressions (`members.rs`), and the world of a million processes is one.

mod members;

use crate::errors::ErrorClass;
use members::{Builder, Members, Piece};

/// An ordered set of processes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Group {
    members: Members,
}

/// How two groups compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// The same processes in the same order.
    Ident,
    /// The same processes in another order.
    Similar,
    /// Different processes.
    Unequal,
}

/// Why a group cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// A rank outside the group.
    #[error("rank {rank} is not in a group of {size} processes")]
    Rank {
        /// The rank.
        rank: i32,
        /// Processes of the group.
        size: u32,
    },
    /// A rank that was named twice.
    #[error("rank {rank} is named twice")]
    Duplicate {
        /// The rank.
        rank: i32,
    },
    /// A range that leads nowhere.
    #[error(
        "the range from {first} to {last} in steps of {stride} has no members: the step must lead towards the last rank"
    )]
    Range {
        /// The first rank.
        first: i32,
        /// The last rank.
        last: i32,
        /// The step.
        stride: i32,
    },
}

impl GroupError {
    /// The class that the program sees.
    pub fn class(&self) -> ErrorClass {
        match self {
            GroupError::Rank { .. } | GroupError::Duplicate { .. } => ErrorClass::Rank,
            GroupError::Range { .. } => ErrorClass::Arg,
        }
    }
}

/// Ranks from `first` to `last` in steps of `stride`, as `MPI_Group_range_incl` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first rank.
    pub first: i32,
    /// No rank lies beyond it.
    pub last: i32,
    /// The step; may be negative.
    pub stride: i32,
}

impl Group {
    /// No processes.
    pub fn empty() -> Group {
        Builder::new().finish()
    }

    /// The processes 0, 1, 2 and so on.
    pub fn world(size: u32) -> Group {
        Group::progression(0, 1, size)
    }

    /// `count` processes, `stride` apart.
    ///
    /// # Panics
    /// If the stride is zero and there are several, or a number lies outside 32 bits.
    pub fn progression(first: u32, stride: i32, count: u32) -> Group {
        assert!(stride != 0 || count <= 1, "processes of a group differ");
        let last = i64::from(first) + i64::from(stride) * i64::from(count.saturating_sub(1));
        assert!(u32::try_from(last).is_ok(), "numbers of processes have 32 bits");
        let mut builder = Builder::new();
        builder.push(Piece::new(first, stride, count));
        builder.finish()
    }

    /// The given processes, which must differ.
    pub fn of(processes: impl IntoIterator<Item = u32>) -> Group {
        let mut builder = Builder::new();
        processes.into_iter().for_each(|process| builder.push_one(process));
        builder.finish()
    }

    /// How many processes.
    pub fn size(&self) -> u32 {
        self.members.size()
    }

    /// The process of a rank, which must be below the size.
    pub fn process(&self, rank: u32) -> Option<u32> {
        (rank < self.size()).then(|| self.members.process(rank))
    }

    /// The rank of a process, if it belongs to the group.
    pub fn rank_of(&self, process: u32) -> Option<u32> {
        self.members.rank_of(process)
    }

    /// Whether a process belongs to the group.
    pub fn contains(&self, process: u32) -> bool {
        self.rank_of(process).is_some()
    }

    /// All processes by rank.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter()
    }

    /// All of this group, then those of the other that are not in it.
    pub fn union(&self, other: &Group) -> Group {
        let mut builder = self.members.builder(0, self.size());
        if !self.members.same(&other.members) {
            other.iter().filter(|&process| !self.contains(process)).for_each(|process| builder.push_one(process));
        }
        builder.finish()
    }

    /// Those of this group that are in the other too.
    pub fn intersection(&self, other: &Group) -> Group {
        if self.members.same(&other.members) {
            return self.clone();
        }
        Group::of(self.iter().filter(|&process| other.contains(process)))
    }

    /// Those of this group that are not in the other.
    pub fn difference(&self, other: &Group) -> Group {
        if self.members.same(&other.members) {
            return Group::empty();
        }
        Group::of(self.iter().filter(|&process| !other.contains(process)))
    }

    /// The processes of the given ranks, in their order.
    pub fn incl(&self, ranks: &[i32]) -> Result<Group, GroupError> {
        for &rank in ranks {
            self.check(rank)?;
        }
        if !ranks.is_sorted_by(|one, next| one < next) {
            let mut spans: Vec<Span> = ranks.iter().map(|&rank| Span { first: rank, last: rank }).collect();
            sort_apart(&mut spans)?;
        }
        Ok(Group::of(ranks.iter().map(|&rank| self.members.process(rank as u32))))
    }

    /// All but the processes of the given ranks.
    pub fn excl(&self, ranks: &[i32]) -> Result<Group, GroupError> {
        for &rank in ranks {
            self.check(rank)?;
        }
        self.without(ranks.iter().map(|&rank| Span { first: rank, last: rank }).collect())
    }

    /// The processes of ranges of ranks, in their order.
    pub fn range_incl(&self, ranges: &[Range]) -> Result<Group, GroupError> {
        let spans = self.spans(ranges)?;
        if ranges.len() > 1 {
            sort_apart(&mut spans.concat())?;
        }
        let mut builder = Builder::new();
        for range in ranges {
            self.members.take(range.first as u32, range.stride, range.count(), &mut builder);
        }
        Ok(builder.finish())
    }

    /// All but the processes of ranges of ranks.
    pub fn range_excl(&self, ranges: &[Range]) -> Result<Group, GroupError> {
        self.without(self.spans(ranges)?.concat())
    }

    /// The ranks in the other group of the processes that have these ranks here; `None` for those that are not there.
    pub fn translate(&self, ranks: &[i32], other: &Group) -> Result<Vec<Option<u32>>, GroupError> {
        let same = self.members.same(&other.members);
        let translated = ranks.iter().map(|&rank| {
            self.check(rank)?;
            Ok(if same { Some(rank as u32) } else { other.rank_of(self.members.process(rank as u32)) })
        });
        translated.collect()
    }

    /// Whether two groups have the same processes, and in the same order.
    pub fn compare(&self, other: &Group) -> Comparison {
        if self.members.same(&other.members) {
            Comparison::Ident
        } else if self.size() != other.size() {
            Comparison::Unequal
        } else if self.iter().eq(other.iter()) {
            Comparison::Ident
        } else if self.iter().all(|process| other.contains(process)) {
            Comparison::Similar
        } else {
            Comparison::Unequal
        }
    }

    fn check(&self, rank: i32) -> Result<(), GroupError> {
        let size = self.size();
        if u32::try_from(rank).is_ok_and(|rank| rank < size) { Ok(()) } else { Err(GroupError::Rank { rank, size }) }
    }

    /// The ranks of each range as spans without gaps.
    fn spans(&self, ranges: &[Range]) -> Result<Vec<Vec<Span>>, GroupError> {
        let spans = ranges.iter().map(|range| {
            let &Range { first, last, stride } = range;
            if stride == 0 || range.count() == 0 {
                return Err(GroupError::Range { first, last, stride });
            }
            let end = range.rank(range.count() - 1);
            self.check(first)?;
            self.check(end)?;
            Ok(match stride {
                -1 | 1 => vec![Span { first: first.min(end), last: first.max(end) }],
                _ => (0..range.count()).map(|i| Span { first: range.rank(i), last: range.rank(i) }).collect(),
            })
        });
        spans.collect()
    }

    fn without(&self, mut spans: Vec<Span>) -> Result<Group, GroupError> {
        sort_apart(&mut spans)?;
        let mut builder = Builder::new();
        let mut next = 0;
        for span in spans {
            self.members.append(next, span.first as u32, &mut builder);
            next = span.last as u32 + 1;
        }
        self.members.append(next, self.size(), &mut builder);
        Ok(builder.finish())
    }
}

impl Range {
    fn count(&self) -> u32 {
        let way = i64::from(self.last) - i64::from(self.first);
        let steps = if self.stride == 0 { 0 } else { way / i64::from(self.stride) };
        let away = way != 0 && (way < 0) != (self.stride < 0);
        if away { 0 } else { steps as u32 + 1 }
    }

    fn rank(&self, index: u32) -> i32 {
        (i64::from(self.first) + i64::from(self.stride) * i64::from(index)) as i32
    }
}

/// Ranks from the first to the last.
#[derive(Clone, Copy)]
struct Span {
    first: i32,
    last: i32,
}

/// Sorts, and refuses ranks that come twice.
fn sort_apart(spans: &mut [Span]) -> Result<(), GroupError> {
    spans.sort_unstable_by_key(|span| span.first);
    match spans.windows(2).find(|pair| pair[1].first <= pair[0].last) {
        Some(pair) => Err(GroupError::Duplicate { rank: pair[1].first }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
