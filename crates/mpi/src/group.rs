//! Communicators: groups of ranks with a context of their own, so that their messages never mix.

use std::collections::HashMap;
use std::rc::Rc;

/// A communicator, as one of its members sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comm {
    /// Even for the user's messages, odd for those of collective operations.
    context: u32,
    rank: u32,
    size: u32,
}

/// What keeps the messages of a communicator apart from those of all others; its members agree on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Context(u32);

impl Context {
    /// Its number, to be told to other members.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The context of a number that a member has told.
    pub fn told(number: u32) -> Context {
        Context(number)
    }
}

impl Comm {
    /// A communicator of `size` ranks in a context, seen by one of them.
    pub fn new(context: Context, rank: u32, size: u32) -> Comm {
        Comm { context: context.0, rank, size }
    }

    /// What keeps its messages apart.
    pub fn apart(&self) -> Context {
        Context(self.context & !1)
    }

    /// The same ranks, but messages that meet only those of the library itself: collectives', for instance.
    pub fn hidden(self) -> Comm {
        self.private()
    }

    /// The communicator of all ranks, seen by one of them.
    pub(crate) fn world(rank: u32, size: u32) -> Comm {
        Comm { context: 0, rank, size }
    }

    /// The same, seen by another of its ranks.
    pub(crate) fn seen_by(self, rank: u32) -> Comm {
        Comm { rank, ..self }
    }

    /// My rank in it.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of ranks in it.
    pub fn size(&self) -> u32 {
        self.size
    }

    pub(crate) fn context(&self) -> u32 {
        self.context
    }

    /// The same ranks, but messages that meet only those of collective operations.
    pub(crate) fn private(self) -> Comm {
        Comm { context: self.context | 1, ..self }
    }

    fn group(&self) -> usize {
        (self.context / 2) as usize
    }
}

/// What one rank brings to a split.
#[derive(Clone, Copy)]
struct Ballot {
    color: Option<u32>,
    key: i32,
    /// Rank in the old communicator.
    rank: u32,
}

/// A split on its way: ranks enter with their ballot and leave with their new communicator.
#[derive(Default)]
struct Split {
    ballots: Vec<Ballot>,
    /// New communicators by old rank, known when the first rank leaves.
    outcome: HashMap<u32, Comm>,
    left: u32,
}

/// All communicators of a simulation.
pub(crate) struct Groups {
    /// World ranks by rank, for each group; `None` for the world itself.
    members: Vec<Option<Rc<[u32]>>>,
    splits: HashMap<(usize, u32), Split>,
    /// How many splits a rank (in that group) has entered.
    entered: HashMap<(usize, u32), u32>,
    /// How many collectives each member has started in the background, or prepared to be started there.
    background: HashMap<(usize, u32), i32>,
}

impl Groups {
    pub fn new() -> Groups {
        Groups { members: vec![None], splits: HashMap::new(), entered: HashMap::new(), background: HashMap::new() }
    }

    /// A new context for these ranks of the world.
    pub fn create(&mut self, members: Rc<[u32]>) -> Context {
        let context = 2 * self.members.len() as u32;
        self.members.push(Some(members));
        Context(context)
    }

    /// The members of a context that has none yet.
    pub fn fill(&mut self, context: Context, members: impl FnOnce() -> Rc<[u32]>) {
        let place = &mut self.members[(context.0 / 2) as usize];
        if place.as_ref().is_some_and(|known| known.is_empty()) {
            *place = Some(members());
        }
    }

    /// The rank in the world of a member.
    ///
    /// # Panics
    /// If the communicator has no such rank: the program is wrong.
    #[inline]
    pub fn world_rank(&self, comm: Comm, rank: u32) -> u32 {
        assert!(rank < comm.size, "rank {rank} of a communicator of {} ranks", comm.size);
        match &self.members[comm.group()] {
            None => rank,
            Some(members) => members[rank as usize],
        }
    }

    /// The rank in the world of a member of a context.
    pub fn member(&self, context: u32, rank: u32) -> u32 {
        match &self.members[(context / 2) as usize] {
            None => rank,
            Some(members) => members.get(rank as usize).copied().unwrap_or(rank),
        }
    }

    /// The tag for the next background collective of this member: all members start or prepare them in the same order.
    pub fn background_tag(&mut self, comm: Comm) -> i32 {
        let count = self.background.entry((comm.group(), comm.rank)).or_insert(0);
        *count += 1;
        *count
    }

    /// A rank enters a split; the ticket is for [`Groups::leave_split`], after all ranks have entered.
    pub fn enter_split(&mut self, comm: Comm, color: Option<u32>, key: i32) -> u32 {
        let count = self.entered.entry((comm.group(), comm.rank)).or_insert(0);
        let ticket = *count;
        *count += 1;
        let split = self.splits.entry((comm.group(), ticket)).or_default();
        split.ballots.push(Ballot { color, key, rank: comm.rank });
        ticket
    }

    /// A rank leaves a split with its new communicator, or none if it gave no color.
    pub fn leave_split(&mut self, comm: Comm, ticket: u32) -> Option<Comm> {
        let id = (comm.group(), ticket);
        let mut split = self.splits.remove(&id).expect("a split that was entered");
        if split.left == 0 {
            assert_eq!(split.ballots.len(), comm.size as usize, "all ranks enter a split before one leaves it");
            self.count_ballots(comm, &mut split);
        }
        let new = split.outcome.get(&comm.rank).copied();
        split.left += 1;
        if split.left < comm.size {
            self.splits.insert(id, split);
        }
        new
    }

    fn count_ballots(&mut self, old: Comm, split: &mut Split) {
        split.ballots.sort_by_key(|ballot| (ballot.color, ballot.key, ballot.rank));
        for same_color in split.ballots.chunk_by(|a, b| a.color == b.color) {
            if same_color[0].color.is_none() {
                continue;
            }
            let context = self.create(same_color.iter().map(|ballot| self.world_rank(old, ballot.rank)).collect());
            let size = same_color.len() as u32;
            for (rank, ballot) in (0..).zip(same_color) {
                split.outcome.insert(ballot.rank, Comm::new(context, rank, size));
            }
        }
    }
}

/// A communicator whose ranks form a grid (MPI_Cart_create): the last dimension runs fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cartesian {
    comm: Comm,
    dims: Vec<u32>,
    periodic: Vec<bool>,
}

impl Cartesian {
    pub(crate) fn new(comm: Comm, dims: &[u32], periodic: &[bool]) -> Cartesian {
        assert_eq!(dims.len(), periodic.len(), "each dimension is periodic or not");
        assert_eq!(dims.iter().product::<u32>(), comm.size(), "the grid holds every rank once");
        Cartesian { comm, dims: dims.to_vec(), periodic: periodic.to_vec() }
    }

    /// The communicator.
    pub fn comm(&self) -> Comm {
        self.comm
    }

    /// Where a rank lies in the grid.
    pub fn coordinates(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut coordinates: Vec<u32> = self
            .dims
            .iter()
            .rev()
            .map(|&dim| {
                let coordinate = rest % dim;
                rest /= dim;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// The rank at these coordinates.
    pub fn rank_at(&self, coordinates: &[u32]) -> u32 {
        self.dims.iter().zip(coordinates).fold(0, |rank, (dim, coordinate)| rank * dim + coordinate)
    }

    /// The rank from which and the rank to which a shift by `by` along a dimension goes (MPI_Cart_shift);
    /// `None` beyond the edge of a dimension that is not periodic.
    pub fn shift(&self, dimension: usize, by: i64) -> (Option<u32>, Option<u32>) {
        (self.neighbour(dimension, -by), self.neighbour(dimension, by))
    }

    fn neighbour(&self, dimension: usize, by: i64) -> Option<u32> {
        let mut coordinates = self.coordinates(self.comm.rank());
        let (dim, moved) = (i64::from(self.dims[dimension]), i64::from(coordinates[dimension]) + by);
        if !self.periodic[dimension] && !(0..dim).contains(&moved) {
            return None;
        }
        coordinates[dimension] = moved.rem_euclid(dim) as u32;
        Some(self.rank_at(&coordinates))
    }
}

/// Splits `ranks` over dimensions as evenly as possible, larger dimensions first (MPI_Dims_create).
pub fn balanced_dims(ranks: u32, dimensions: usize) -> Vec<u32> {
    let mut dims = vec![1; dimensions];
    let mut factors = Vec::new();
    let mut rest = ranks;
    let mut factor = 2;
    while factor * factor <= rest {
        while rest.is_multiple_of(factor) {
            factors.push(factor);
            rest /= factor;
        }
        factor += 1;
    }
    if rest > 1 {
        factors.push(rest);
    }
    // The largest factor goes where the product is smallest so far.
    for factor in factors.into_iter().rev() {
        if let Some(smallest) = dims.iter_mut().min() {
            *smallest *= factor;
        }
    }
    dims.sort_by(|a, b| b.cmp(a));
    dims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_orders_by_key_then_rank() {
        let mut groups = Groups::new();
        let comms: Vec<Comm> = (0..4).map(|rank| Comm::world(rank, 4)).collect();
        // Ranks 0, 1, 3 take color 5 with descending keys; rank 2 takes none.
        let keys = [3, 2, 0, 1];
        let tickets: Vec<u32> = comms
            .iter()
            .map(|&comm| groups.enter_split(comm, (comm.rank() != 2).then_some(5), keys[comm.rank() as usize]))
            .collect();
        let new: Vec<_> = comms.iter().zip(tickets).map(|(&comm, ticket)| groups.leave_split(comm, ticket)).collect();
        assert_eq!(
            new.iter().map(|comm| comm.map(|c| (c.rank(), c.size()))).collect::<Vec<_>>(),
            [Some((2, 3)), Some((1, 3)), None, Some((0, 3))]
        );
        let comm = new[0].unwrap();
        assert_eq!((0..3).map(|rank| groups.world_rank(comm, rank)).collect::<Vec<_>>(), [3, 1, 0]);
        assert!(groups.splits.is_empty());
    }

    #[test]
    fn a_grid_knows_its_neighbours() {
        let grid = Cartesian::new(Comm::world(5, 12), &[3, 4], &[false, true]);
        assert_eq!(grid.coordinates(5), [1, 1]);
        assert_eq!(grid.shift(0, 1), (Some(1), Some(9)));
        assert_eq!(grid.shift(1, 2), (Some(7), Some(7)));
        let corner = Cartesian::new(Comm::world(0, 12), &[3, 4], &[false, true]);
        assert_eq!(corner.shift(0, 1), (None, Some(4)));
        assert_eq!(corner.shift(1, 1), (Some(3), Some(1)));
    }

    #[test]
    fn dims_are_balanced() {
        assert_eq!(balanced_dims(12, 2), [4, 3]);
        assert_eq!(balanced_dims(64, 3), [4, 4, 4]);
        assert_eq!(balanced_dims(7, 2), [7, 1]);
        assert_eq!(balanced_dims(1, 3), [1, 1, 1]);
    }
}
