//! Who sends how much to whom, and which ranks should be near each other.
//!
//! [`Traffic`] is what a run was seen to send. [`Load`] says what it means for the links of a machine, and [`map`] finds a
//! better order of the same ranks on the same nodes:
//!
//! - Ranks and nodes are halved together, again and again: the nodes in the order of their switches, the ranks so that little
//!   is sent between the halves (dual recursive bipartitioning: F. Pellegrini, "Static mapping by dual recursive
//!   bipartitioning of process and architecture graphs", SHPCC 1994).
//! - A half grows from one rank to those that it talks to most, and is then refined: ranks change sides, the one that gains
//!   most first, even at a loss for a while (B. W. Kernighan and S. Lin, "An efficient heuristic procedure for partitioning
//!   graphs", Bell System Technical Journal 1970; C. M. Fiduccia and R. M. Mattheyses, "A linear-time heuristic for improving
//!   network partitions", DAC 1982).
//! - Then pairs of ranks change places as long as that lowers what is really paid: bytes times the links they cross.

mod bisection;
mod distance;
mod exchange;
mod graph;
mod kinds;
mod load;
mod recursive;
mod traffic;

pub use load::{KindLoad, Load};
pub use traffic::{Counts, Traffic};

use hpcast_engine::Key;
use hpcast_platform::Machine;
use hpcast_units::Bytes;

use distance::Distances;
use exchange::Exchange;
use graph::Graph;
use recursive::Halving;

/// A new order of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The node of each rank.
    pub nodes: Vec<u32>,
    /// What the links carry before and after.
    pub before: Load,
    /// The same after.
    pub after: Load,
    /// Whether it stopped before nothing gained any more, because that would take too long.
    pub is_cut_short: bool,
}

/// Finds out which rank should run where, on the nodes where ranks run now. It is never worse than now.
///
/// # Panics
/// If there are fewer nodes than ranks.
pub fn map(traffic: &Traffic, nodes: &[u32], machine: &Machine, seed: u64) -> Mapping {
    assert_eq!(traffic.ranks() as usize, nodes.len(), "each rank has a node");
    let before = Load::of(traffic, nodes, &machine.interconnect);
    let graph = Graph::new(traffic);
    let mut distances = Distances::new(&machine.interconnect);
    let halving = Halving::new(&graph, nodes, machine, Key::new(seed).purpose("bisection"));
    let order = halving.nodes_in_order();
    let mapping = Mapping { nodes: nodes.to_vec(), after: before.clone(), before, is_cut_short: false };
    // From what halving finds, or else from where ranks are now.
    for start in [halving.run(&mut distances), nodes.to_vec()] {
        let mut exchange = Exchange::new(&graph, start, &order);
        let is_cut_short = !exchange.run(&mut distances);
        let after = Load::of(traffic, &exchange.nodes, &machine.interconnect);
        if after.cost() < mapping.before.cost() {
            return Mapping { nodes: exchange.nodes, after, is_cut_short, ..mapping };
        }
    }
    mapping
}

impl Load {
    /// What counts: bytes by links, then bytes between nodes.
    fn cost(&self) -> (u128, Bytes) {
        (self.hop_bytes, self.between_nodes)
    }
}

#[cfg(test)]
mod tests;
