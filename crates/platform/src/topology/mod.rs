//! How nodes are joined by switches and links: one file a topology.
//!
//! A topology is a formula, not a table: it computes the route between two nodes, and what any of its links can do,
//! from a handful of numbers. Only [`Graph`], which is read from a file, stores what it was told.
//!
//! To add one: write a file here that implements [`Topology`], and name it in the machine-file reader. Its picture
//! comes for free ([`Topology::structure`] may choose a better one).

mod arrangement;
mod bisection;
mod cabling;
mod clos;
mod crossbar;
mod damaged;
mod divisor;
mod dragonfly;
mod dragonfly_plus;
mod error;
mod fat_tree;
mod field;
mod gamma;
pub mod graph;
mod hypercube;
mod hyperx;
mod pairs;
mod parallel;
mod planes;
mod shape;
mod slim_fly;
mod torus;

pub use arrangement::Arrangement;
pub use clos::{Clos, ClosShape};
pub use crossbar::Crossbar;
pub use damaged::{DamageError, Damaged};
pub use dragonfly::{Dragonfly, DragonflyLinks, DragonflyShape};
pub use dragonfly_plus::{DragonflyPlus, DragonflyPlusShape};
pub use error::TopologyError;
pub use fat_tree::{FatTree, ParallelCables};
pub use gamma::Gamma;
pub use graph::{Graph, GraphError, GraphProblem};
pub use hypercube::Hypercube;
pub use hyperx::{HyperX, HyperXShape};
pub use planes::{PlaneChoice, Planes};
pub use shape::FatTreeShape;
pub use slim_fly::SlimFly;
pub use torus::{Ties, Torus};

use crate::interconnect::Path;
use crate::routing::{Choice, Choosing, draw_below, least_of_draws};

/// A directed link, numbered from 0 within its machine. A link that both directions share has one number.
pub type LinkId = u32;

/// What a link can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Capacity in bytes per second.
    pub bandwidth: f64,
    /// Seconds for the first bit to cross it.
    pub latency: f64,
}

/// What the two directions of a cable have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplex {
    /// Nothing: each direction is a link with the full bandwidth (SimGrid's `SPLITDUPLEX`).
    #[default]
    Split,
    /// Everything: both directions are the same link and share its bandwidth (SimGrid's `SHARED`).
    Shared,
}

/// What a link can end at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vertex {
    /// A compute node, `0..nodes()`.
    Node(u32),
    /// A switch, `0..switches()`.
    Switch(u32),
}

/// How a topology likes to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Nodes around one switch, which may have a capacity of its own: the link with this id.
    Star {
        /// The capacity inside the switch, if it has one.
        backbone: Option<LinkId>,
    },
    /// Levels of switches above the nodes. Switches are numbered level by level from below; links `0..cables()` go up,
    /// ordered by level, then by lower end.
    Levels(FatTreeShape),
    /// Nodes on a grid, the first dimension varying fastest; with cables around the edges if `wrap`.
    Grid {
        /// Nodes in each dimension.
        dims: Vec<u32>,
        /// Whether the ends of each line are joined.
        wrap: bool,
    },
    /// Nodes at the corners of a hypercube: neighbours differ in one bit of their numbers.
    Cube {
        /// Bits of a number.
        dimension: u32,
    },
    /// Switches in groups of the same size, numbered group by group; nodes hang on them.
    Groups {
        /// Switches of a group.
        size: u32,
        /// The last so many of each group stand apart from the others, towards the other groups.
        inner: u32,
    },
    /// Stages of so many switches, numbered stage by stage, through which messages go in one direction from node to node.
    Stages(Vec<u32>),
    /// Nothing known beyond vertices and links.
    Free,
}

/// The shape of a network and its routing.
pub trait Topology: std::fmt::Debug + Send + Sync {
    /// What it is, in one line: `fat tree 2;16,32;1,16;1,1`.
    fn describe(&self) -> String;
    /// Number of compute nodes.
    fn nodes(&self) -> u32;
    /// Number of switches.
    fn switches(&self) -> u32;
    /// Number of directed links; their ids are `0..links()`.
    fn links(&self) -> u32;
    /// What the link can do.
    fn link(&self, id: LinkId) -> Link;
    /// The link's name for people, such as `leaf 3 -> core 1`.
    fn link_name(&self, id: LinkId) -> String;
    /// Where the link begins and where it ends. A link that is [shared](Topology::is_shared) leads both ways.
    fn ends(&self, id: LinkId) -> (Vertex, Vertex);
    /// Whether both directions of a cable are this one link.
    fn is_shared(&self, id: LinkId) -> bool;
    /// Whether no two messages share it: it limits each for itself, and routes hold it apart ([`Path::unshared`]).
    fn is_unshared(&self, _id: LinkId) -> bool {
        false
    }
    /// Whether messages may lead through nodes, as where these are joined with each other.
    fn nodes_pass_on(&self) -> bool {
        (0..self.links()).any(|id| matches!(self.ends(id), (Vertex::Node(_), Vertex::Node(_))))
    }
    /// Whether a way to another node and the way back may cross a link twice; if in doubt, yes.
    fn may_repeat_links(&self) -> bool {
        true
    }
    /// Appends the links from one node to another, in the order in which a message crosses them. From a node to itself:
    /// to its first switch and back; no links at all where nodes are joined without switches.
    /// Called once a message: no allocation, no table of nodes squared.
    fn route(&self, from: u32, to: u32, path: &mut Path);

    /// What its own routing is called.
    fn fixed_routing(&self) -> &'static str {
        "minimal"
    }
    /// Whether its own routing may be called so, too.
    fn is_fixed_routing(&self, word: &str) -> bool {
        word == self.fixed_routing()
    }
    /// What ways there are beside the fixed one.
    fn choice(&self) -> Choice {
        Choice::Detours
    }
    /// Up paths chosen by the source where [`Topology::route`] goes by the destination.
    fn route_by_source(&self, from: u32, to: u32, path: &mut Path) {
        self.route(from, to, path);
    }
    /// One of the shortest ways to another node; random numbers `draw` give all of them, more or less as often. Tori, HyperX
    /// and hypercubes give those that finish one dimension after the other, in any order.
    fn any_route(&self, from: u32, to: u32, _draw: u64, path: &mut Path) {
        self.route(from, to, path);
    }
    /// The one of the shortest ways that is best for a message which starts now; `load` says what waits for a link.
    fn least_loaded(&self, from: u32, to: u32, draw: u64, load: &dyn Fn(LinkId) -> u32, path: &mut Path) {
        least_of_draws(self, Choosing { from, to, draw, load }, path);
    }
    /// A way by way of somewhere else, drawn by `draw`: here, of any other node's switch, or of the node itself where nodes
    /// pass messages on.
    fn detour(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        let between = draw_below(&mut draw, self.nodes());
        if between == from || between == to {
            return self.route(from, to, path);
        }
        let before = path.mark();
        self.route(from, between, path);
        let middle = path.links.len();
        self.route(between, to, path);
        // Not down to the node between and up again.
        let (Some(&down), Some(&up)) = (path.links[before.links..middle].last(), path.links.get(middle)) else {
            return;
        };
        let switch = |id: LinkId| match self.ends(id) {
            (Vertex::Node(node), Vertex::Switch(switch)) | (Vertex::Switch(switch), Vertex::Node(node))
                if node == between =>
            {
                Some(switch)
            }
            _ => None,
        };
        if switch(down).is_some() && switch(down) == switch(up) {
            let mut links = path.links.split_off(before.links);
            links.drain(middle - 1 - before.links..middle + 1 - before.links);
            let unshared = path.unshared.split_off(before.unshared);
            path.go_back(before);
            links.iter().for_each(|&id| path.push(id, &self.link(id)));
            unshared.iter().for_each(|&id| path.push_unshared(id, &self.link(id)));
        }
    }
    /// A number that rises along routes as far as possible. A packet that goes on to a link whose number is not higher changes
    /// to the next virtual channel, so that no circle of packets can wait for each other (after Dally and Seitz, "Deadlock-free
    /// message routing in multiprocessor interconnection networks", IEEE Trans. Computers 1987).
    fn order(&self, id: LinkId) -> u32 {
        id
    }

    /// Physical cables; a cable has two directions.
    fn cables(&self) -> u64;
    /// Links that a message crosses between the two nodes farthest apart.
    fn diameter(&self) -> u32;
    /// Bytes per second that one half of the nodes can send to the other half, in one direction, over the cut into two
    /// halves (of sizes that differ by at most one node) that is worst for it. Where no formula is known: an upper bound,
    /// the best of several cuts that a search finds.
    fn bisection_bandwidth(&self) -> f64 {
        bisection::upper_bound(self)
    }
    /// Whether [`Topology::bisection_bandwidth`] is the true minimum; otherwise it is an upper bound.
    fn bisection_is_exact(&self) -> bool {
        false
    }

    /// The node's or switch's name for people.
    fn vertex_name(&self, vertex: Vertex) -> String {
        match vertex {
            Vertex::Node(node) => format!("node {node}"),
            Vertex::Switch(switch) => format!("switch {switch}"),
        }
    }
    /// What kind of link it is, for tables of prices: as the machine file calls it, or by what it joins.
    fn link_kind(&self, id: LinkId) -> String {
        let noun = |vertex| if matches!(vertex, Vertex::Node(_)) { "node" } else { "switch" };
        let (tail, head) = self.ends(id);
        let (lower, upper) = (tail.min(head), tail.max(head));
        format!("{}-{}", noun(lower), noun(upper))
    }
    /// What kind of switch it is, for tables of prices: `leaf`, or just `switch`.
    fn switch_kind(&self, _switch: u32) -> String {
        "switch".into()
    }
    /// How many of its switches have numbers, but are not there.
    fn missing_switches(&self) -> u32 {
        0
    }
    /// Whether the link has a number, but is not there, since the switch at its end is not.
    fn is_missing(&self, _id: LinkId) -> bool {
        false
    }
    /// Whether no message can cross it any more.
    fn is_failed(&self, _id: LinkId) -> bool {
        false
    }
    /// Where it consists of several equal networks: one of them, without damage, and how many there are.
    fn plane(&self) -> Option<(&dyn Topology, u32)> {
        None
    }
    /// What the node is called where it has a name of its own, not just a number.
    fn own_name(&self, _node: u32) -> Option<&str> {
        None
    }
    /// How it likes to be drawn; where there are several planes, how one of them does.
    fn structure(&self) -> Structure {
        Structure::Free
    }
}

/// `leaf 3 -> core 1`, or with a double arrow where both directions are one link.
fn name_by_ends(topology: &dyn Topology, id: LinkId) -> String {
    let (tail, head) = topology.ends(id);
    let arrow = if topology.is_shared(id) { "<->" } else { "->" };
    format!("{} {arrow} {}", topology.vertex_name(tail), topology.vertex_name(head))
}

#[cfg(test)]
mod properties;
