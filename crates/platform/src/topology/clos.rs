//! Clos networks of three stages, in one direction.
//!
//! Clos, "A study of non-blocking switching networks" (Bell System Technical Journal 1953); Dally and Towles, "Principles
//! and practices of interconnection networks" (2004), section 6.3. C(m, n, r) has r input switches with n nodes each, m
//! middle switches, and r output switches that lead to the same nodes. Every input switch is joined with every middle
//! switch, and that with every output switch. Folded, so that input and output switches are one, it is a fat tree of two
//! levels: `2; n,r; 1,m; 1,1`.

use super::divisor::Divisor;
use super::{Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends};
use crate::interconnect::{Path, Sums};
use crate::routing::{Choice, draw_below};

/// How many of everything a Clos network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosShape {
    /// m.
    pub middle_switches: u32,
    /// n: nodes on each input switch, and on each output switch.
    pub nodes_per_switch: u32,
    /// r: input switches, and output switches.
    pub edge_switches: u32,
}

impl std::fmt::Display for ClosShape {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let ClosShape { middle_switches: m, nodes_per_switch: n, edge_switches: r } = self;
        write!(f, "Clos network, m = {m}, n = {n}, r = {r}")
    }
}

/// A Clos network.
///
/// Links: from node x, then from input switch i to middle switch j, by i; from middle switch j to output switch k, by k;
/// then to node y. Switches: input, middle, output.
#[derive(Clone, Debug)]
pub struct Clos {
    shape: ClosShape,
    nodes: u32,
    /// m, to spread messages by; n, to find a node's switch.
    middle: Divisor,
    per_switch: Divisor,
    node_link: Link,
    switch_link: Link,
    sums: Sums,
}

impl Clos {
    /// A network of this shape, with one kind of links to and from nodes, and one between switches.
    pub fn new(shape: ClosShape, node_link: Link, switch_link: Link) -> Result<Clos, TopologyError> {
        let ClosShape { middle_switches, nodes_per_switch, edge_switches } = shape;
        if [middle_switches, nodes_per_switch, edge_switches].contains(&0) {
            return Err(TopologyError::Zero("each of the figures of a Clos network"));
        }
        let nodes = u64::from(nodes_per_switch) * u64::from(edge_switches);
        let between = u64::from(middle_switches) * u64::from(edge_switches);
        let switches = u64::from(middle_switches) + 2 * u64::from(edge_switches);
        let links = nodes.checked_add(between).and_then(|half| half.checked_mul(2));
        if links.is_none_or(|links| links.max(switches) > u64::from(u32::MAX)) {
            return Err(TopologyError::TooLarge(format!("the {shape}")));
        }
        Ok(Clos {
            shape,
            nodes: nodes as u32,
            middle: Divisor::new(middle_switches),
            per_switch: Divisor::new(nodes_per_switch),
            node_link,
            switch_link,
            sums: Sums::of([&node_link, &switch_link, &switch_link, &node_link]),
        })
    }

    /// Links between two stages of switches.
    fn between(&self) -> u32 {
        self.middle.value() * self.shape.edge_switches
    }

    /// The links to and from a middle switch.
    #[inline]
    fn by(&self, from: u32, to: u32, middle: u32) -> [LinkId; 2] {
        let up = self.nodes + self.per_switch.quotient(from) * self.middle.value() + middle;
        let down = self.nodes + self.between() + self.per_switch.quotient(to) * self.middle.value() + middle;
        [up, down]
    }

    #[inline]
    fn route_by(&self, from: u32, to: u32, middle: u32, path: &mut Path) {
        let [up, down] = self.by(from, to, middle);
        path.links.extend_from_slice(&[from, up, down, self.nodes + 2 * self.between() + to]);
        path.add_sums(&self.sums);
    }
}

impl Topology for Clos {
    fn describe(&self) -> String {
        self.shape.to_string()
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn switches(&self) -> u32 {
        self.shape.middle_switches + 2 * self.shape.edge_switches
    }

    fn links(&self) -> u32 {
        2 * (self.nodes + self.between())
    }

    fn link(&self, id: LinkId) -> Link {
        let inside = self.nodes..self.nodes + 2 * self.between();
        if inside.contains(&id) { self.switch_link } else { self.node_link }
    }

    fn link_name(&self, id: LinkId) -> String {
        name_by_ends(self, id)
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        let (edge, middle) = (self.shape.edge_switches, self.middle.value());
        let output = |number: u32| Vertex::Switch(edge + middle + number);
        if id < self.nodes {
            return (Vertex::Node(id), Vertex::Switch(self.per_switch.quotient(id)));
        }
        let cable = id - self.nodes;
        let (end, which) = self.middle.divide(cable);
        match cable {
            _ if end < edge => (Vertex::Switch(end), Vertex::Switch(edge + which)),
            _ if end < 2 * edge => (Vertex::Switch(edge + which), output(end - edge)),
            _ => {
                let node = cable - 2 * self.between();
                (output(self.per_switch.quotient(node)), Vertex::Node(node))
            }
        }
    }

    fn is_shared(&self, _: LinkId) -> bool {
        false
    }

    /// Nodes of one switch whose numbers are alike modulo m go by the same middle switch.
    fn may_repeat_links(&self) -> bool {
        self.shape.middle_switches < self.shape.nodes_per_switch
    }

    /// By the middle switch that the destination's number chooses. A node reaches itself through all stages, too.
    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        self.route_by(from, to, self.middle.remainder(to), path);
    }

    fn fixed_routing(&self) -> &'static str {
        "d-mod-k"
    }

    fn choice(&self) -> Choice {
        Choice::UpPaths
    }

    fn route_by_source(&self, from: u32, to: u32, path: &mut Path) {
        self.route_by(from, to, self.middle.remainder(from), path);
    }

    fn any_route(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        self.route_by(from, to, draw_below(&mut draw, self.middle.value()), path);
    }

    /// By the middle switch with the least load on the way to it and from it; among equals the next after one that is drawn.
    fn least_loaded(&self, from: u32, to: u32, mut draw: u64, load: &dyn Fn(LinkId) -> u32, path: &mut Path) {
        let first = draw_below(&mut draw, self.middle.value());
        let waiting = |&middle: &u32| self.by(from, to, middle).iter().map(|&id| u64::from(load(id))).sum::<u64>();
        let middle = (first..self.middle.value()).chain(0..first).min_by_key(waiting);
        self.route_by(from, to, middle.unwrap_or(first), path);
    }

    /// One-way cables.
    fn cables(&self) -> u64 {
        u64::from(self.links())
    }

    /// To the input switch, a middle switch, an output switch and the node.
    fn diameter(&self) -> u32 {
        if self.nodes > 1 { 4 } else { 0 }
    }

    /// With f(a) = min(a b, m s) for what a nodes of one switch can send, where b and s are what links of nodes and of
    /// switches carry: floor(N / 2) nodes that fill as few switches as possible send q f(n) + f(rest).
    ///
    /// Why: what the input switches let in can be spread evenly over the middle switches, and so can what the output
    /// switches let out; so the least of the two sums of f is carried, and no cut is better. f is concave, so the sum is
    /// least where all but one of the switches have all or none of the nodes.
    fn bisection_bandwidth(&self) -> f64 {
        let sent = |nodes: u32| {
            let switch = f64::from(self.middle.value()) * self.switch_link.bandwidth;
            switch.min(f64::from(nodes) * self.node_link.bandwidth)
        };
        let (full, rest) = self.per_switch.divide(self.nodes / 2);
        f64::from(full) * sent(self.per_switch.value()) + sent(rest)
    }

    fn bisection_is_exact(&self) -> bool {
        true
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        let (edge, middle) = (self.shape.edge_switches, self.middle.value());
        match vertex {
            Vertex::Node(node) => format!("node {node}"),
            Vertex::Switch(switch) if switch < edge => format!("input {switch}"),
            Vertex::Switch(switch) if switch < edge + middle => format!("middle {}", switch - edge),
            Vertex::Switch(switch) => format!("output {}", switch - edge - middle),
        }
    }

    fn link_kind(&self, id: LinkId) -> String {
        let inside = self.nodes..self.nodes + 2 * self.between();
        if inside.contains(&id) { "switch-link".into() } else { "node-link".into() }
    }

    fn switch_kind(&self, switch: u32) -> String {
        let (edge, middle) = (self.shape.edge_switches, self.middle.value());
        match switch {
            _ if switch < edge => "input".into(),
            _ if switch < edge + middle => "middle".into(),
            _ => "output".into(),
        }
    }

    fn structure(&self) -> Structure {
        let edge = self.shape.edge_switches;
        Structure::Stages(vec![edge, self.shape.middle_switches, edge])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn clos(middle_switches: u32, nodes_per_switch: u32, edge_switches: u32) -> Result<Clos, TopologyError> {
        Clos::new(ClosShape { middle_switches, nodes_per_switch, edge_switches }, LINK, LINK)
    }

    #[test]
    fn by_the_middle_switch_of_the_destination() {
        let topology = clos(3, 2, 4).unwrap();
        let mut path = Path::default();
        path.clear();
        topology.route(1, 5, &mut path);
        let names: Vec<String> = path.links.iter().map(|&id| topology.link_name(id)).collect();
        assert_eq!(names, ["node 1 -> input 0", "input 0 -> middle 2", "middle 2 -> output 2", "output 2 -> node 5"]);
    }

    #[test]
    fn known_figures() {
        // Dally and Towles' example, C(5, 3, 4): 12 nodes, 4 + 5 + 4 switches.
        let topology = clos(5, 3, 4).unwrap();
        assert_eq!((topology.nodes(), topology.switches(), topology.cables()), (12, 13, 12 + 20 + 20 + 12));
        // As many middle switches as nodes on a switch: half the nodes send at full speed. Half of them: half of it.
        assert_eq!(clos(4, 4, 4).unwrap().bisection_bandwidth(), 8e9);
        assert_eq!(clos(2, 4, 4).unwrap().bisection_bandwidth(), 4e9);
    }

    #[test]
    fn impossible_figures() {
        assert!(clos(0, 1, 1).unwrap_err().to_string().contains("at least 1"));
        assert!(clos(1, u32::MAX, u32::MAX).unwrap_err().to_string().contains("make it smaller"));
        assert!(clos(u32::MAX, 1, 1).unwrap_err().to_string().contains("make it smaller"));
    }
}
