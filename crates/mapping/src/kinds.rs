//! Which links are a node's own, and how far up the others are.

use hpcast_platform::topology::{Structure, Topology, Vertex};
use hpcast_platform::{Interconnect, LinkId};

/// Rounds in which levels are found; networks have fewer levels.
const MOST_LEVELS: u32 = 64;

/// Whether a link is a node's own: it joins the node to its switch, or is the node's limiter.
pub fn is_own(interconnect: &Interconnect, link: LinkId) -> bool {
    let topology = interconnect.topology();
    link >= topology.links()
        || matches!(topology.ends(link), (Vertex::Node(_), Vertex::Switch(_)) | (Vertex::Switch(_), Vertex::Node(_)))
}

/// Where a kind of link stands in tables: those of upper levels come first, then those between groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Height {
    level: std::cmp::Reverse<u32>,
    within_group: bool,
}

/// How far up links are.
pub struct Heights<'m> {
    interconnect: &'m Interconnect,
    structure: Structure,
    /// Links between a switch and the nearest node.
    levels: Vec<u32>,
}

impl<'m> Heights<'m> {
    pub fn new(interconnect: &'m Interconnect) -> Heights<'m> {
        let topology = interconnect.topology();
        Heights { interconnect, structure: topology.structure(), levels: levels(topology) }
    }

    pub fn of(&self, link: LinkId) -> Height {
        let topology = self.interconnect.topology();
        if link >= topology.links() {
            return Height { level: std::cmp::Reverse(0), within_group: true };
        }
        let (tail, head) = topology.ends(link);
        let level = self.level(tail).max(self.level(head));
        let within_group = match (&self.structure, tail, head) {
            (Structure::Groups { size, .. }, Vertex::Switch(a), Vertex::Switch(b)) => a / size == b / size,
            _ => true,
        };
        Height { level: std::cmp::Reverse(level), within_group }
    }

    fn level(&self, vertex: Vertex) -> u32 {
        match vertex {
            Vertex::Node(_) => 0,
            Vertex::Switch(switch) => self.levels[switch as usize],
        }
    }
}

fn levels(topology: &dyn Topology) -> Vec<u32> {
    let mut levels = vec![MOST_LEVELS; topology.switches() as usize];
    for _ in 0..MOST_LEVELS {
        let mut changed = false;
        for link in 0..topology.links() {
            let (tail, head) = topology.ends(link);
            for (from, to) in [(tail, head), (head, tail)] {
                let above = match from {
                    Vertex::Node(_) => 1,
                    Vertex::Switch(switch) => levels[switch as usize].saturating_add(1),
                };
                if let Vertex::Switch(switch) = to
                    && levels[switch as usize] > above
                {
                    levels[switch as usize] = above;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    levels
}
