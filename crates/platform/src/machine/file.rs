//! A machine file as plain data, whatever it was read from.

use hpcast_units::{Bandwidth, Bytes, FlopRate, Frequency, Seconds};

use super::{CostTable, FlowSharing};
use crate::interconnect::Loopback;
use crate::placement::Plan;
use crate::protocol::MpiParameters;
use crate::switching::PacketSwitching;
use crate::topology::{
    ClosShape, DragonflyLinks, DragonflyPlusShape, DragonflyShape, Duplex, FatTreeShape, HyperXShape, Link,
    ParallelCables, PlaneChoice, Ties,
};

/// All that a machine file says.
///
/// Read one with [`MachineFile::load`], check one that was made otherwise with [`MachineFile::check`], write it with
/// [`MachineFile::to_toml`], and make a machine of it with [`MachineFile::build`].
#[derive(Clone, Debug, PartialEq)]
pub struct MachineFile {
    /// What people call the machine.
    pub name: String,
    /// What it is, in a line.
    pub description: Option<String>,
    /// `[nodes]`
    pub nodes: Nodes,
    /// `[network]`
    pub network: Network,
    /// `[network.flow]`
    pub sharing: FlowSharing,
    /// How packets are passed on.
    pub packets: PacketSwitching,
    /// `[mpi]`, `[mpi.between]`, `[mpi.inside]`
    pub mpi: MpiParameters,
    /// `[placement]`
    pub plan: Plan,
    /// `[io]`
    pub io: Io,
    /// `[cost]`
    pub cost: Option<CostTable>,
    /// What the text left open and what was taken instead, one line each; not written.
    pub assumed: Vec<String>,
}

/// The file system that all nodes share. What is not given costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Io {
    /// What it delivers to all nodes together.
    pub bandwidth: Option<Bandwidth>,
    /// What it delivers to one node.
    pub node_bandwidth: Option<Bandwidth>,
    /// Time that every operation takes, whatever its size.
    pub latency: Option<Seconds>,
}

impl Io {
    /// Whether files cost nothing.
    pub fn is_free(&self) -> bool {
        *self == Io::default()
    }
}

/// The nodes, all alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes {
    /// How many there are.
    pub count: u32,
    /// Sockets of each node.
    pub sockets: u32,
    /// Cores of each socket.
    pub cores_per_socket: u32,
    /// Memory of each node.
    pub memory: Option<Bytes>,
    /// What the memory of each node delivers.
    pub memory_bandwidth: Option<Bandwidth>,
    /// Clock of the cores.
    pub clock: Option<Frequency>,
    /// Peak of each node in double precision.
    pub flops: Option<FlopRate>,
    /// What a tuned matrix product reaches on each node.
    pub sustained_flops: Option<FlopRate>,
}

impl Default for Nodes {
    /// One node with one core.
    fn default() -> Nodes {
        Nodes {
            count: 1,
            sockets: 1,
            cores_per_socket: 1,
            memory: None,
            memory_bandwidth: None,
            clock: None,
            flops: None,
            sustained_flops: None,
        }
    }
}

impl Nodes {
    /// Cores of each node.
    pub fn cores(&self) -> u32 {
        self.sockets.saturating_mul(self.cores_per_socket)
    }
}

/// The network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The topology and its links.
    pub wiring: Wiring,
    /// What the two directions of a cable share; a graph says it for each link itself.
    pub duplex: Duplex,
    /// What carries messages inside a node.
    pub loopback: Loopback,
    /// Capacity shared by what enters and what leaves a node, in bytes per second.
    pub limiter: Option<f64>,
    /// Ports for nodes that have none.
    pub unused_ports: u32,
    /// Equal copies of the network, if there are several.
    pub planes: Option<PlaneFigures>,
    /// Links and switches that have failed, by their names.
    pub failed: Vec<String>,
    /// How ways are chosen; `None`: as the topology does by itself.
    pub routing: Option<RoutingWord>,
}

/// How many copies of a network there are, and which one a message takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneFigures {
    /// How many.
    pub count: u32,
    /// Which one.
    pub choice: PlaneChoice,
}

/// A routing as a machine file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingWord {
    /// Such as `d-mod-k` or `ugal-l`; `None`: as the topology does by itself.
    pub word: Option<String>,
    /// How much UGAL favours short ways, also where it is chosen later.
    pub threshold: u32,
}

/// A topology with its figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Wiring {
    /// All nodes on one switch.
    Crossbar {
        /// From each node to the switch.
        link: Link,
        /// Inside the switch, shared by all messages.
        backbone: Option<Link>,
    },
    /// A fat tree with D-mod-K routing.
    FatTree {
        /// Children, parents and parallel cables of each level.
        shape: FatTreeShape,
        /// The links of each level, those of the nodes first.
        levels: Vec<Link>,
        /// Ports of the switches of each level, the lowest first, if the tree is to be checked against them.
        switch_ports: Option<Vec<u32>>,
        /// Which of several parallel cables are used.
        parallel_cables: ParallelCables,
        /// Switches at the top that are not there, by their numbers, ascending.
        missing: Vec<u32>,
    },
    /// A torus (or, not wrapped around, a mesh) with dimension-order routing.
    Torus {
        /// Nodes in each dimension.
        dimensions: Vec<u32>,
        /// Cables between neighbours in each dimension.
        cables: Vec<u32>,
        /// Whether the ends of each line are joined.
        wrap: bool,
        /// Which way messages go to what is opposite.
        ties: Ties,
        /// Between neighbours.
        link: Link,
    },
    /// A hypercube with dimension-order routing.
    Hypercube {
        /// Bits of the numbers of nodes.
        dimension: u32,
        /// Cables between neighbours.
        cables: u32,
        /// Between neighbours.
        link: Link,
    },
    /// A HyperX with dimension-order routing; with one dimension, a full mesh of switches.
    HyperX {
        /// Switches, cables and nodes.
        shape: HyperXShape,
        /// From nodes to switches.
        node_link: Link,
        /// Between switches.
        switch_link: Link,
    },
    /// A dragonfly with minimal routing.
    Dragonfly {
        /// Groups, switches, nodes and cables.
        shape: DragonflyShape,
        /// The kinds of links.
        links: DragonflyLinks,
    },
    /// A dragonfly whose groups are fat trees of two levels, with minimal routing.
    DragonflyPlus {
        /// Groups, switches, nodes and cables.
        shape: DragonflyPlusShape,
        /// The kinds of links.
        links: DragonflyLinks,
    },
    /// A slim fly with minimal routing.
    SlimFly {
        /// The prime, or power of one, that it is made of.
        q: u32,
        /// Nodes on each switch.
        nodes_per_switch: u32,
        /// From nodes to switches.
        node_link: Link,
        /// Between switches.
        switch_link: Link,
    },
    /// A Clos network of three stages in one direction.
    Clos {
        /// Switches and nodes.
        shape: ClosShape,
        /// From nodes to switches, and from switches to nodes.
        node_link: Link,
        /// Between switches.
        switch_link: Link,
    },
    /// A gamma network.
    Gamma {
        /// Bits of the numbers of nodes.
        dimension: u32,
        /// From nodes to switches, and from switches to nodes.
        node_link: Link,
        /// Between switches.
        switch_link: Link,
    },
    /// Any graph, with shortest-path routing.
    Graph {
        /// The file that it was read from, relative to the machine file; inside the machine file if not given.
        file: Option<String>,
        /// The graph's text.
        text: String,
    },
}
