//! Kinds of links: what they join, and how far up they are.

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

/// A kind of link. Those of upper levels come first, then those between groups.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    level: std::cmp::Reverse<u32>,
    within_group: bool,
    /// For people: `leaf -> core`.
    pub name: String,
}

/// Kinds of the links of a network.
pub struct Kinds<'m> {
    interconnect: &'m Interconnect,
    structure: Structure,
    /// Links between a switch and the nearest node.
    levels: Vec<u32>,
}

impl<'m> Kinds<'m> {
    pub fn new(interconnect: &'m Interconnect) -> Kinds<'m> {
        let topology = interconnect.topology();
        Kinds { interconnect, structure: topology.structure(), levels: levels(topology) }
    }

    pub fn of(&self, link: LinkId) -> Kind {
        let topology = self.interconnect.topology();
        if link >= topology.links() {
            return Kind { level: std::cmp::Reverse(0), within_group: true, name: "limiter of a node".into() };
        }
        let (tail, head) = topology.ends(link);
        let level = self.level(tail).max(self.level(head));
        let arrow = if topology.is_shared(link) { "<->" } else { "->" };
        let mut name = format!("{} {arrow} {}", noun(topology, tail), noun(topology, head));
        let mut within_group = true;
        if let (Structure::Groups { size, .. }, Vertex::Switch(a), Vertex::Switch(b)) = (&self.structure, tail, head) {
            within_group = a / size == b / size;
            name += if within_group { ", in a group" } else { ", between groups" };
        }
        Kind { level: std::cmp::Reverse(level), within_group, name }
    }

    fn level(&self, vertex: Vertex) -> u32 {
        match vertex {
            Vertex::Node(_) => 0,
            Vertex::Switch(switch) => self.levels[switch as usize],
        }
    }
}

/// The name of a vertex without its numbers.
fn noun(topology: &dyn Topology, vertex: Vertex) -> String {
    let name = topology.vertex_name(vertex).replace(|c: char| c.is_ascii_digit() || "(),".contains(c), " ");
    let words: Vec<&str> = name.split_whitespace().collect();
    match (words.is_empty(), vertex) {
        (false, _) => words.join(" "),
        (true, Vertex::Node(_)) => "node".into(),
        (true, Vertex::Switch(_)) => "switch".into(),
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
