//! Which node each rank runs on.
//!
//! A [`Plan`] says how ranks are spread; together with a number of ranks and a machine it becomes a [`Placement`].
//! Block and cyclic placements are formulas and take no memory, whatever the number of ranks.

use std::collections::HashMap;

use hpcast_engine::Key;
use hpcast_units::count;

/// How ranks are spread over nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The first node is filled, then the second, and so on.
    #[default]
    Block,
    /// Ranks are dealt like cards over the fewest nodes that hold them.
    Cyclic,
    /// Each rank gets a place drawn from all of the machine.
    Random {
        /// The same seed gives the same places.
        seed: u64,
    },
    /// The node of each rank, in order of rank.
    List(Vec<u32>),
}

/// What a machine file or a command line says of placement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// How ranks are spread.
    pub policy: Policy,
    /// Ranks on each node; as many as it has cores if not given.
    pub ranks_per_node: Option<u32>,
    /// Whether a core may carry more than one rank.
    pub oversubscribe: bool,
}

/// Ranks that cannot be placed, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// Nobody to place.
    #[error("there are no ranks to place; ask for at least one")]
    NoRanks,
    /// More ranks than the machine holds.
    #[error(
        "{} ranks do not fit: {} nodes with {} ranks each hold {}; ask for fewer ranks, for more ranks per node, \
         or for oversubscription",
        count(u64::from(*.ranks)), count(u64::from(*.nodes)), .per_node, count(u64::from(*.nodes) * u64::from(*.per_node))
    )]
    TooMany {
        /// Ranks asked for.
        ranks: u32,
        /// Nodes of the machine.
        nodes: u32,
        /// Ranks that each may carry.
        per_node: u32,
    },
    /// More ranks on a node than cores.
    #[error("{ranks} ranks on a node that has {cores} cores; ask for at most {cores}, or for oversubscription")]
    Crowded {
        /// Ranks on the node.
        ranks: u32,
        /// Cores of a node.
        cores: u32,
    },
    /// No ranks on a node.
    #[error("0 ranks on each node place nobody; ask for at least one")]
    NoneOnEach,
    /// The list is too short.
    #[error("the list places {listed} ranks, but {ranks} are asked for; write one node for each rank")]
    ShortList {
        /// Entries of the list.
        listed: usize,
        /// Ranks asked for.
        ranks: u32,
    },
    /// The list names a node that does not exist.
    #[error("rank {rank} is placed on node {node}, but nodes are numbered 0 to {}; correct the list", .nodes - 1)]
    NoSuchNode {
        /// The rank.
        rank: usize,
        /// Its node.
        node: u32,
        /// Nodes of the machine.
        nodes: u32,
    },
}

impl Plan {
    /// Places so many ranks on a machine with these nodes and cores per node.
    pub fn place(&self, ranks: u32, nodes: u32, cores: u32) -> Result<Placement, PlacementError> {
        if ranks == 0 {
            return Err(PlacementError::NoRanks);
        }
        if let Policy::List(list) = &self.policy {
            return self.place_list(list, ranks, nodes, cores);
        }
        let per_node = self.per_node(ranks, nodes, cores)?;
        if u64::from(ranks) > u64::from(nodes) * u64::from(per_node) {
            return Err(PlacementError::TooMany { ranks, nodes, per_node });
        }
        let places = match self.policy {
            Policy::Cyclic => Places::Cyclic { nodes: ranks.div_ceil(per_node) },
            Policy::Random { seed } => Places::Table(scatter(ranks, nodes, per_node, seed)),
            Policy::Block | Policy::List(_) => Places::Block { per_node },
        };
        Ok(Placement { ranks, places })
    }

    /// Checks what can be checked before the number of ranks is known.
    pub fn check(&self, nodes: u32, cores: u32) -> Result<(), PlacementError> {
        match &self.policy {
            Policy::List(list) => self.check_list(list, nodes, cores),
            _ => self.per_node(1, nodes, cores).map(|_| ()),
        }
    }

    fn per_node(&self, ranks: u32, nodes: u32, cores: u32) -> Result<u32, PlacementError> {
        match self.ranks_per_node {
            Some(0) => Err(PlacementError::NoneOnEach),
            Some(asked) if asked > cores && !self.oversubscribe => Err(PlacementError::Crowded { ranks: asked, cores }),
            Some(asked) => Ok(asked),
            None if self.oversubscribe => Ok(cores.max(ranks.div_ceil(nodes.max(1)))),
            None => Ok(cores),
        }
    }

    fn place_list(&self, list: &[u32], ranks: u32, nodes: u32, cores: u32) -> Result<Placement, PlacementError> {
        let Some(used) = list.get(..ranks as usize) else {
            return Err(PlacementError::ShortList { listed: list.len(), ranks });
        };
        self.check_list(used, nodes, cores)?;
        Ok(Placement { ranks, places: Places::Table(used.to_vec()) })
    }

    fn check_list(&self, list: &[u32], nodes: u32, cores: u32) -> Result<(), PlacementError> {
        if let Some((rank, node)) = list.iter().enumerate().find(|(_, node)| **node >= nodes) {
            return Err(PlacementError::NoSuchNode { rank, node: *node, nodes });
        }
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        let crowd = sorted.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0) as u32;
        let room = self.ranks_per_node.unwrap_or(cores);
        if crowd > room && !self.oversubscribe {
            return Err(PlacementError::Crowded { ranks: crowd, cores: room });
        }
        Ok(())
    }
}

/// The first `ranks` of all places of the machine in random order (the first steps of a Fisher-Yates shuffle).
fn scatter(ranks: u32, nodes: u32, per_node: u32, seed: u64) -> Vec<u32> {
    let places = u64::from(nodes) * u64::from(per_node);
    let stream = Key::new(seed).purpose("placement");
    let draw = |rank: u32| u64::from(rank) + stream.below(places - u64::from(rank), 0, u64::from(rank));
    if places <= DENSE * u64::from(ranks) {
        let mut order: Vec<u32> = (0..nodes).flat_map(|node| std::iter::repeat_n(node, per_node as usize)).collect();
        (0..ranks).for_each(|rank| order.swap(rank as usize, draw(rank) as usize));
        order.truncate(ranks as usize);
        order.shrink_to_fit();
        return order;
    }
    // Few ranks on a large machine: remember only the places that have moved.
    let mut moved: HashMap<u64, u64> = HashMap::new();
    let place = |rank: u32| {
        let drawn = draw(rank);
        let mine = moved.remove(&u64::from(rank)).unwrap_or(u64::from(rank));
        let place = if drawn == u64::from(rank) { mine } else { moved.insert(drawn, mine).unwrap_or(drawn) };
        (place / u64::from(per_node)) as u32
    };
    (0..ranks).map(place).collect()
}

/// A list of all places is cheaper than remembering those that moved while it is no longer than this many times the
/// ranks.
const DENSE: u64 = 8;

/// Where each rank runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    ranks: u32,
    places: Places,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Places {
    Block { per_node: u32 },
    Cyclic { nodes: u32 },
    Table(Vec<u32>),
}

impl Placement {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Node and socket of each rank, in their order. Ranks of a node take its sockets in turn.
    pub fn processors(&self, sockets: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut ranks_on: HashMap<u32, u32> = HashMap::new();
        (0..self.ranks).map(move |rank| {
            let node = self.node(rank);
            let before = ranks_on.entry(node).or_default();
            *before += 1;
            (node, (*before - 1) % sockets.max(1))
        })
    }

    /// The node of a rank below [`Placement::ranks`].
    #[inline]
    pub fn node(&self, rank: u32) -> u32 {
        match &self.places {
            Places::Block { per_node } => rank / per_node,
            Places::Cyclic { nodes } => rank % nodes,
            Places::Table(table) => table[rank as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(policy: Policy, ranks: u32) -> Vec<u32> {
        let placement = Plan { policy, ..Plan::default() }.place(ranks, 4, 2).unwrap();
        (0..ranks).map(|rank| placement.node(rank)).collect()
    }

    #[test]
    fn policies() {
        assert_eq!(nodes(Policy::Block, 5), [0, 0, 1, 1, 2]);
        assert_eq!(nodes(Policy::Cyclic, 5), [0, 1, 2, 0, 1]);
        assert_eq!(nodes(Policy::List(vec![3, 0, 3, 1]), 3), [3, 0, 3]);
        assert_eq!(nodes(Policy::Random { seed: 1 }, 8), nodes(Policy::Random { seed: 1 }, 8));
        assert_ne!(nodes(Policy::Random { seed: 1 }, 8), nodes(Policy::Random { seed: 2 }, 8));
    }

    #[test]
    fn random_fills_a_full_machine_evenly() {
        let mut all = nodes(Policy::Random { seed: 7 }, 8);
        all.sort();
        assert_eq!(all, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    /// Both ways to shuffle draw the same numbers.
    #[test]
    fn few_ranks_are_the_first_of_many() {
        let place = |ranks| {
            let placement =
                Plan { policy: Policy::Random { seed: 3 }, ..Plan::default() }.place(ranks, 100, 4).unwrap();
            (0..10).map(|rank| placement.node(rank)).collect::<Vec<_>>()
        };
        assert_eq!(place(10), place(400));
        let huge = Plan { policy: Policy::Random { seed: 3 }, ..Plan::default() }.place(2, 100_000_000, 1000).unwrap();
        assert_ne!(huge.node(0), huge.node(1));
    }

    #[test]
    fn formulas_take_no_memory() {
        let placement = Plan { oversubscribe: true, ..Plan::default() }.place(1 << 24, 512, 1).unwrap();
        assert_eq!(placement.node((1 << 24) - 1), 511);
        assert!(size_of::<Placement>() <= 40);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let plan = Plan::default();
        assert_eq!(plan.place(0, 4, 2), Err(PlacementError::NoRanks));
        let error = plan.place(9, 4, 2).unwrap_err();
        assert_eq!(error, PlacementError::TooMany { ranks: 9, nodes: 4, per_node: 2 });
        assert!(error.to_string().contains("oversubscription"), "{error}");
        let crowded = Plan { ranks_per_node: Some(3), ..Plan::default() };
        assert_eq!(crowded.place(4, 4, 2), Err(PlacementError::Crowded { ranks: 3, cores: 2 }));
        assert_eq!(crowded.check(4, 2), Err(PlacementError::Crowded { ranks: 3, cores: 2 }));
        let list = Plan { policy: Policy::List(vec![0, 4]), ..Plan::default() };
        assert_eq!(list.place(1, 4, 2).map(|placement| placement.node(0)), Ok(0));
        assert_eq!(list.place(2, 4, 2), Err(PlacementError::NoSuchNode { rank: 1, node: 4, nodes: 4 }));
        assert_eq!(list.place(3, 4, 2), Err(PlacementError::ShortList { listed: 2, ranks: 3 }));
        let crowd = Plan { policy: Policy::List(vec![1, 1, 1]), ..Plan::default() };
        assert_eq!(crowd.place(3, 4, 2), Err(PlacementError::Crowded { ranks: 3, cores: 2 }));
        assert!(Plan { oversubscribe: true, ..crowd }.place(3, 4, 2).is_ok());
    }

    proptest! {
        #[test]
        fn no_node_carries_more_than_its_share(
            ranks in 1u32..200, nodes in 1u32..40, cores in 1u32..8, seed: u64, kind in 0..3, oversubscribe: bool
        ) {
            let policy = [Policy::Block, Policy::Cyclic, Policy::Random { seed }][kind as usize].clone();
            let plan = Plan { policy, ranks_per_node: None, oversubscribe };
            let limit = if oversubscribe { cores.max(ranks.div_ceil(nodes)) } else { cores };
            match plan.place(ranks, nodes, cores) {
                Err(_) => prop_assert!(ranks > nodes * cores && !oversubscribe),
                Ok(placement) => {
                    let mut load = vec![0; nodes as usize];
                    (0..ranks).for_each(|rank| load[placement.node(rank) as usize] += 1);
                    prop_assert!(load.iter().all(|ranks| *ranks <= limit));
                }
            }
        }
    }
}
