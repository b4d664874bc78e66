//! Gamma networks: stages of switches with three ways on each.
//!
//! Parker and Raghavendra, "The gamma network" (IEEE Trans. Computers 1984). Of N = 2^n nodes each leads to a switch of stage
//! 0, and each switch of stage n leads to a node. Switch j of stage i < n is joined with the switches j - 2^i, j and
//! j + 2^i (modulo N) of stage i + 1. So a way is a number: the distance to - from, written in digits -1, 0 and 1 of the
//! powers of two. All ways are as long; a distance that can be written in several ways has several. From stage n - 1 to
//! stage n two links lead to the same switch, since j - N/2 is j + N/2.

use super::bisection;
use super::{Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends};
use crate::interconnect::{Path, Sums};
use crate::routing::Choice;

/// Stages are few: 2^26 nodes have more links than can be numbered.
const MOST_STAGES: u32 = 25;

/// A gamma network.
///
/// Links: from the nodes; then from the switches, by stage, by switch, and by digit (-1, 0, 1); then to the nodes.
#[derive(Clone, Debug)]
pub struct Gamma {
    /// n.
    stages: u32,
    node_link: Link,
    switch_link: Link,
    sums: Sums,
}

impl Gamma {
    /// A network of 2^stages nodes, with one kind of links to and from nodes, and one between switches.
    pub fn new(stages: u32, node_link: Link, switch_link: Link) -> Result<Gamma, TopologyError> {
        if stages == 0 {
            return Err(TopologyError::Zero("the number of steps of a gamma network"));
        }
        if stages > MOST_STAGES {
            return Err(TopologyError::TooLarge(format!("the gamma network of 2^{stages} nodes")));
        }
        let inside = std::iter::repeat_n(&switch_link, stages as usize);
        let sums = Sums::of([&node_link].into_iter().chain(inside).chain([&node_link]));
        Ok(Gamma { stages, node_link, switch_link, sums })
    }

    /// The first link to a node.
    fn first_last(&self) -> LinkId {
        self.nodes() * (1 + 3 * self.stages)
    }

    /// Writes the distance from the lowest digit on; where a digit cannot be 0 it is 1 or, if the bit of `minus` is set, -1.
    #[inline]
    fn route_by(&self, from: u32, to: u32, minus: u32, path: &mut Path) {
        let (nodes, mask) = (self.nodes(), self.nodes() - 1);
        let mut distance = to.wrapping_sub(from) & mask;
        let mut at = from;
        path.links.push(from);
        for stage in 0..self.stages {
            let first = nodes + (stage * nodes + at) * 3;
            // The distance is counted in steps of this stage.
            let digit: i32 = match (distance & 1, minus >> stage & 1) {
                (0, _) => 0,
                (_, 0) => 1,
                _ => -1,
            };
            path.links.push(first.wrapping_add_signed(digit + 1));
            at = at.wrapping_add_signed(digit << stage) & mask;
            distance = distance.wrapping_add_signed(-digit) >> 1;
        }
        path.links.push(self.first_last() + to);
        path.add_sums(&self.sums);
    }
}

impl Topology for Gamma {
    fn describe(&self) -> String {
        format!("gamma network of 2^{} nodes", self.stages)
    }

    fn nodes(&self) -> u32 {
        1 << self.stages
    }

    fn switches(&self) -> u32 {
        self.nodes() * (self.stages + 1)
    }

    fn links(&self) -> u32 {
        self.first_last() + self.nodes()
    }

    fn link(&self, id: LinkId) -> Link {
        if (self.nodes()..self.first_last()).contains(&id) { self.switch_link } else { self.node_link }
    }

    fn link_name(&self, id: LinkId) -> String {
        let name = name_by_ends(self, id);
        // The two links from a switch to the one that is N/2 away.
        let last_step = self.first_last() - 3 * self.nodes()..self.first_last();
        match (last_step.contains(&id), id.wrapping_sub(self.nodes()) % 3) {
            (true, 0) => format!("{name} (cable 1 of 2)"),
            (true, 2) => format!("{name} (cable 2 of 2)"),
            _ => name,
        }
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        let nodes = self.nodes();
        if id < nodes {
            return (Vertex::Node(id), Vertex::Switch(id));
        }
        if id >= self.first_last() {
            let node = id - self.first_last();
            return (Vertex::Switch(self.stages * nodes + node), Vertex::Node(node));
        }
        let (switch, digit) = ((id - nodes) / 3, (id - nodes) % 3);
        let (stage, at) = (switch / nodes, switch % nodes);
        let to = at.wrapping_add_signed((digit as i32 - 1) << stage) & (nodes - 1);
        (Vertex::Switch(switch), Vertex::Switch((stage + 1) * nodes + to))
    }

    fn is_shared(&self, _: LinkId) -> bool {
        false
    }

    /// Upwards to nodes with even numbers, downwards to the others: so both kinds of links are used.
    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        self.route_by(from, to, (to & 1).wrapping_neg(), path);
    }

    fn fixed_routing(&self) -> &'static str {
        "distance-tag"
    }

    fn choice(&self) -> Choice {
        Choice::UpPaths
    }

    fn route_by_source(&self, from: u32, to: u32, path: &mut Path) {
        self.route_by(from, to, (from & 1).wrapping_neg(), path);
    }

    /// Any way to write the distance: at each digit that is not 0 both signs are as likely.
    fn any_route(&self, from: u32, to: u32, draw: u64, path: &mut Path) {
        self.route_by(from, to, (draw >> 32) as u32, path);
    }

    /// One-way cables.
    fn cables(&self) -> u64 {
        u64::from(self.links())
    }

    /// All ways go through all stages.
    fn diameter(&self) -> u32 {
        self.stages + 2
    }

    /// No more than half of the nodes can send, nor than what leads from switches with even numbers to those with odd ones,
    /// which is two links of each in the first step; or what a search finds. An upper bound.
    fn bisection_bandwidth(&self) -> f64 {
        let half = f64::from(self.nodes() / 2);
        let known = half * self.node_link.bandwidth.min(2.0 * self.switch_link.bandwidth);
        known.min(bisection::upper_bound(self))
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        match vertex {
            Vertex::Node(node) => format!("node {node}"),
            Vertex::Switch(switch) => format!("stage {} switch {}", switch / self.nodes(), switch % self.nodes()),
        }
    }

    fn link_kind(&self, id: LinkId) -> String {
        if (self.nodes()..self.first_last()).contains(&id) { "switch-link".into() } else { "node-link".into() }
    }

    fn structure(&self) -> Structure {
        Structure::Stages(vec![self.nodes(); self.stages as usize + 1])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn gamma(stages: u32) -> Gamma {
        Gamma::new(stages, LINK, LINK).unwrap()
    }

    /// Ways to write a number in digits -1, 0 and 1, modulo 2^n.
    fn ways(distance: u32, stages: u32) -> usize {
        match (stages, distance & 1) {
            (0, _) => 1,
            (_, 0) => ways(distance / 2, stages - 1),
            _ => ways(distance / 2, stages - 1) + ways(distance.div_ceil(2) % (1 << (stages - 1)), stages - 1),
        }
    }

    #[test]
    fn all_ways_are_drawn() {
        let topology = gamma(4);
        for (from, to) in [(0, 0), (0, 1), (3, 14), (9, 2), (5, 13)] {
            let mut found = BTreeSet::new();
            for draw in 0..256u64 {
                let mut path = Path::default();
                path.clear();
                topology.any_route(from, to, draw << 32, &mut path);
                found.insert(path.links);
            }
            assert_eq!(found.len(), ways(to.wrapping_sub(from) & 15, 4), "{from} -> {to}");
        }
        // Parker and Raghavendra: one way for distance 0 only.
        assert_eq!((ways(0, 4), ways(1, 4), ways(3, 3)), (1, 5, 5));
    }

    #[test]
    fn known_figures() {
        let topology = gamma(3);
        assert_eq!((topology.nodes(), topology.switches(), topology.cables()), (8, 32, 8 + 3 * 8 * 3 + 8));
        assert_eq!(topology.diameter(), 5);
        let mut path = Path::default();
        path.clear();
        topology.route(1, 6, &mut path);
        let names: Vec<String> = path.links.iter().map(|&id| topology.link_name(id)).collect();
        assert_eq!(
            names[1..4],
            [
                "stage 0 switch 1 -> stage 1 switch 2",
                "stage 1 switch 2 -> stage 2 switch 2",
                "stage 2 switch 2 -> stage 3 switch 6 (cable 2 of 2)",
            ]
        );
    }

    #[test]
    fn impossible_figures() {
        let error = |stages| Gamma::new(stages, LINK, LINK).unwrap_err().to_string();
        assert!(error(0).contains("at least 1"));
        assert!(error(26).contains("make it smaller"));
    }
}
