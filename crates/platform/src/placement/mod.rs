//! Which node each rank runs on.
//!
//! A [`Plan`] says how ranks are spread and which nodes they may use ([`Allocation`]); together with a number of ranks and
//! the nodes of a machine ([`Site`]) it becomes a [`Placement`]. Block and cyclic placements of a whole machine are formulas
//! and take no memory, whatever the number of ranks.

mod allocation;
pub mod rank_file;
mod site;

use std::collections::{HashMap, HashSet};

use hpcast_engine::{Key, Stream};
use hpcast_units::count;

use crate::diagnostic::Diagnostic;
pub use allocation::{Allocation, HostProblem};
pub use site::Site;

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
    /// All nodes of one first-level switch are filled, then those of the next, whatever their numbers.
    BySwitch,
    /// Ranks are dealt over the first-level switches in turn, on the fewest nodes that hold them.
    SpreadSwitches,
}

/// What a machine file or a command line says of placement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// How ranks are spread.
    pub policy: Policy,
    /// The nodes that may be used, in their order; all of the machine if not given.
    pub allocation: Option<Allocation>,
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
    /// The list names a node that may not be used.
    #[error(
        "rank {rank} is placed on node {node}, which the allocation does not have; correct the list or the allocation"
    )]
    Outside {
        /// The rank.
        rank: usize,
        /// Its node.
        node: u32,
    },
    /// More ranks than the allocation holds.
    #[error(
        "{} ranks do not fit into the allocation: its {} nodes with {} ranks each hold {}; ask for fewer ranks, for more \
         ranks per node, or for more nodes",
        count(u64::from(*.ranks)), count(u64::from(*.nodes)), .per_node, count(u64::from(*.nodes) * u64::from(*.per_node))
    )]
    SmallAllocation {
        /// Ranks asked for.
        ranks: u32,
        /// Nodes of the allocation.
        nodes: u32,
        /// Ranks that each may carry.
        per_node: u32,
    },
    /// More nodes are to be drawn than there are.
    #[error("{} nodes cannot be drawn from {}; ask for fewer", count(u64::from(*.asked)), count(u64::from(*.nodes)))]
    FewerNodes {
        /// Nodes asked for.
        asked: u32,
        /// Nodes of the machine.
        nodes: u32,
    },
    /// A text says what is to be drawn, and cannot be read.
    #[error("`{text}` is no allocation; {remedy}")]
    Drawn {
        /// The text.
        text: String,
        /// What to do.
        remedy: String,
    },
    /// The list of nodes that may be used is wrong.
    #[error("{0}")]
    Hosts(HostProblem),
}

impl PlacementError {
    /// Whether a list of places is wrong, not the machine or what is asked of it.
    pub fn is_about_list(&self) -> bool {
        use PlacementError::{Crowded, NoSuchNode, Outside, ShortList};
        matches!(self, ShortList { .. } | NoSuchNode { .. } | Outside { .. } | Crowded { .. })
    }

    /// What is wrong, and what to do about it.
    pub fn diagnostic(&self) -> Diagnostic {
        with_remedy(&self.to_string())
    }
}

/// An error whose text is `what is wrong; what to do`.
fn with_remedy(text: &str) -> Diagnostic {
    let (message, remedy) = text.split_once("; ").unwrap_or((text, ""));
    Diagnostic::error(message, remedy)
}

impl Plan {
    /// Places so many ranks on the nodes of a machine.
    pub fn place(&self, ranks: u32, site: &Site<'_>) -> Result<Placement, PlacementError> {
        if ranks == 0 {
            return Err(PlacementError::NoRanks);
        }
        let allowed = self.allowed(site)?;
        if let Policy::List(list) = &self.policy {
            return self.place_list(list, ranks, site, allowed.as_deref());
        }
        let nodes = allowed.as_ref().map_or(site.nodes, |allowed| allowed.len() as u32);
        let per_node = self.per_node(ranks, nodes, site.cores)?;
        if u64::from(ranks) > u64::from(nodes) * u64::from(per_node) {
            return Err(match &allowed {
                Some(_) => PlacementError::SmallAllocation { ranks, nodes, per_node },
                None => PlacementError::TooMany { ranks, nodes, per_node },
            });
        }
        let places = match self.policy {
            Policy::Cyclic | Policy::SpreadSwitches => Places::Cyclic { nodes: ranks.div_ceil(per_node) },
            Policy::Random { seed } => {
                Places::Table(scatter(ranks, nodes, per_node, Key::new(seed).purpose("placement")))
            }
            Policy::Block | Policy::BySwitch | Policy::List(_) => Places::Block { per_node },
        };
        let placement = Placement { ranks, places };
        Ok(match self.order(site, allowed) {
            Some(order) => placement.renamed(&order),
            None => placement,
        })
    }

    /// The seed of what is drawn; one for all of it.
    pub fn seed(&self) -> Option<u64> {
        match self.policy {
            Policy::Random { seed } => Some(seed),
            _ => self.allocation.as_ref().and_then(Allocation::seed),
        }
    }

    /// The nodes that may be used; all of them if the plan does not say.
    pub fn allowed(&self, site: &Site<'_>) -> Result<Option<Vec<u32>>, PlacementError> {
        self.allocation.as_ref().map(|allocation| allocation.nodes(site)).transpose()
    }

    /// The order in which nodes are used, if it is not that of their numbers.
    fn order(&self, site: &Site<'_>, allowed: Option<Vec<u32>>) -> Option<Vec<u32>> {
        if !matches!(self.policy, Policy::BySwitch | Policy::SpreadSwitches) {
            return allowed;
        }
        let groups = site.by_switch(&allowed.unwrap_or_else(|| (0..site.nodes).collect()));
        if self.policy == Policy::BySwitch {
            return Some(groups.concat());
        }
        let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
        Some((0..longest).flat_map(|turn| groups.iter().filter_map(move |group| group.get(turn).copied())).collect())
    }

    /// Checks what can be checked before the number of ranks is known.
    pub fn check(&self, site: &Site<'_>) -> Result<(), PlacementError> {
        let allowed = self.allowed(site)?;
        match &self.policy {
            Policy::List(list) => self.check_list(list, site, allowed.as_deref()),
            _ => self.per_node(1, site.nodes, site.cores).map(|_| ()),
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

    fn place_list(
        &self,
        list: &[u32],
        ranks: u32,
        site: &Site<'_>,
        allowed: Option<&[u32]>,
    ) -> Result<Placement, PlacementError> {
        let Some(used) = list.get(..ranks as usize) else {
            return Err(PlacementError::ShortList { listed: list.len(), ranks });
        };
        self.check_list(used, site, allowed)?;
        Ok(Placement { ranks, places: Places::Table(used.to_vec()) })
    }

    fn check_list(&self, list: &[u32], site: &Site<'_>, allowed: Option<&[u32]>) -> Result<(), PlacementError> {
        let Site { nodes, cores, .. } = *site;
        if let Some((rank, node)) = list.iter().enumerate().find(|(_, node)| **node >= nodes) {
            return Err(PlacementError::NoSuchNode { rank, node: *node, nodes });
        }
        if let Some(allowed) = allowed {
            let allowed: HashSet<u32> = allowed.iter().copied().collect();
            if let Some((rank, node)) = list.iter().enumerate().find(|(_, node)| !allowed.contains(node)) {
                return Err(PlacementError::Outside { rank, node: *node });
            }
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
fn scatter(ranks: u32, nodes: u32, per_node: u32, stream: Stream) -> Vec<u32> {
    let places = u64::from(nodes) * u64::from(per_node);
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

    /// The same where each node is the one at its place in a list.
    fn renamed(&self, nodes: &[u32]) -> Placement {
        let table = (0..self.ranks).map(|rank| nodes[self.node(rank) as usize]).collect();
        Placement { ranks: self.ranks, places: Places::Table(table) }
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
mod tests;
