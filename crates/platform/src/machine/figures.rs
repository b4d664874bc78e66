//! What people want to know about a machine and no file says directly.

use hpcast_units::{Bandwidth, Bytes, FlopRate, Seconds};

use super::Machine;
use crate::interconnect::Path;
use crate::topology::Topology;

/// Figures derived from a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The topology in a line.
    pub topology: String,
    /// Compute nodes.
    pub nodes: u32,
    /// Ports for nodes that have none.
    pub unused_ports: u32,
    /// Cores of the whole machine.
    pub cores: u64,
    /// Switches.
    pub switches: u32,
    /// Physical cables, those of unused ports included.
    pub cables: u64,
    /// Directed links, limiters included.
    pub links: u32,
    /// What one half of the nodes can send to the other.
    pub bisection_bandwidth: Bandwidth,
    /// Whether that is the true minimum; otherwise it is an upper bound.
    pub bisection_is_exact: bool,
    /// Links between the two nodes farthest apart.
    pub diameter: u32,
    /// Largest latency of a route, links only; over all pairs of nodes in small machines, and from the first node to
    /// all others in large ones, which comes to the same thing where the topology is regular.
    pub worst_latency: Seconds,
    /// Memory of the whole machine.
    pub memory: Option<Bytes>,
    /// Peak of the whole machine in double precision.
    pub peak: Option<FlopRate>,
    /// What a tuned matrix product would reach on all nodes.
    pub sustained: Option<FlopRate>,
}

/// All pairs of so many nodes are looked at in a moment.
const SMALL: u32 = 1024;

impl Figures {
    /// Derives them.
    pub fn of(machine: &Machine) -> Figures {
        let topology = machine.interconnect.topology();
        let count = machine.nodes.count;
        let total = |rate: FlopRate| FlopRate::new(rate.get() * f64::from(count));
        Figures {
            topology: topology.describe(),
            nodes: count,
            unused_ports: topology.nodes().saturating_sub(count),
            cores: u64::from(count) * u64::from(machine.cores_per_node),
            switches: topology.switches() - topology.missing_switches(),
            cables: topology.cables(),
            links: machine.interconnect.links() - missing_links(topology),
            bisection_bandwidth: Bandwidth::new(topology.bisection_bandwidth()),
            bisection_is_exact: topology.bisection_is_exact(),
            diameter: topology.diameter(),
            worst_latency: Seconds::new(worst_latency(machine)),
            memory: machine.nodes.memory.map(|memory| Bytes::new(memory.get().saturating_mul(u64::from(count)))),
            peak: machine.nodes.flops.map(total),
            sustained: machine.nodes.sustained_flops.map(total),
        }
    }
}

/// Links that have numbers, but are not there.
fn missing_links(topology: &dyn Topology) -> u32 {
    if topology.missing_switches() == 0 {
        return 0;
    }
    (0..topology.links()).filter(|&id| topology.is_missing(id)).count() as u32
}

fn worst_latency(machine: &Machine) -> f64 {
    let nodes = machine.nodes.count;
    let origins = if nodes <= SMALL { nodes } else { 1 };
    let mut path = Path::default();
    let mut worst = 0.0f64;
    for from in 0..origins {
        for to in (0..nodes).filter(|to| *to != from) {
            machine.interconnect.path(from, to, &mut path);
            worst = worst.max(path.latency);
        }
    }
    worst
}
