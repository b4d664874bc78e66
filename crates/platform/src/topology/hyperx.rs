//! HyperX networks, flattened butterflies among them, and full meshes of switches, with dimension-order routing.
//!
//! Ahn, Binkert, Davis, McLaren and Schreiber, "HyperX: topology, routing, and packaging of efficient large-scale
//! networks" (SC 2009).

use super::cabling::{Cabling, answered_by_cabling};
use super::divisor::Divisor;
use super::parallel::{and_cables, by, check_cables, name_of_several};
use super::{Duplex, Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends, pairs};
use crate::interconnect::Path;
use crate::routing::{Lots, draw_below};

/// How many of everything a HyperX has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperXShape {
    /// Switches in each dimension (S).
    pub dimensions: Vec<u32>,
    /// Cables between two switches that differ in this dimension only (K).
    pub cables: Vec<u32>,
    /// Nodes on each switch (T).
    pub nodes_per_switch: u32,
}

impl std::fmt::Display for HyperXShape {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let (nodes, cables) = (self.nodes_per_switch, and_cables(&self.cables));
        match self.dimensions[..] {
            [switches] => write!(f, "full mesh of {switches} switches, {nodes} nodes each{cables}"),
            _ => write!(f, "HyperX {}, {nodes} nodes a switch{cables}", by(&self.dimensions)),
        }
    }
}

/// Switches on a grid, each joined to all others of every line that it lies on; with one dimension, a full mesh.
///
/// Switch x + X (y + Y (z + ...)) is at (x, y, z, ...). Messages are spread over parallel cables by where they come from and
/// where they go.
/// Cables between switches are ordered by dimension, line, pair of switches, and which of several it is; forward is
/// towards the higher coordinate.
#[derive(Clone, Debug)]
pub struct HyperX {
    shape: HyperXShape,
    axes: Vec<Axis>,
    switches: u32,
    cabling: Cabling,
    node_link: Link,
    switch_link: Link,
}

/// One dimension.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: Divisor,
    /// Difference between the numbers of switches next to each other.
    stride: u32,
    /// Pairs of switches on a line.
    pairs: u32,
    /// Cables between two switches.
    parallel: Divisor,
    /// The first cable.
    first: u32,
}

impl HyperX {
    /// A HyperX with these links from nodes to switches and between switches.
    pub fn new(
        shape: HyperXShape,
        node_link: Link,
        switch_link: Link,
        duplex: Duplex,
    ) -> Result<HyperX, TopologyError> {
        if shape.dimensions.is_empty() {
            return Err(TopologyError::NoSwitches);
        }
        if shape.dimensions.contains(&0) || shape.nodes_per_switch == 0 {
            return Err(TopologyError::Zero("each dimension of a HyperX, and the number of nodes a switch,"));
        }
        check_cables(&shape.dimensions, &shape.cables)?;
        let name = shape.to_string();
        let too_large = || TopologyError::TooLarge(name.clone());
        let product = |switches: u32, &size: &u32| switches.checked_mul(size);
        let switches = shape.dimensions.iter().try_fold(1, product).ok_or_else(too_large)?;
        let nodes = switches.checked_mul(shape.nodes_per_switch).ok_or_else(too_large)?;
        let mut axes = Vec::with_capacity(shape.dimensions.len());
        let (mut stride, mut first) = (1, nodes);
        for (&size, &parallel) in shape.dimensions.iter().zip(&shape.cables) {
            let pairs = u32::try_from(pairs::count(size)).map_err(|_| too_large())?;
            axes.push(Axis { size: Divisor::new(size), stride, pairs, parallel: Divisor::new(parallel), first });
            let cables = (switches / size).checked_mul(pairs).and_then(|cables| cables.checked_mul(parallel));
            first = cables.and_then(|cables| first.checked_add(cables)).ok_or_else(too_large)?;
            stride *= size;
        }
        let between = (first - nodes) as u64;
        let cabling = Cabling::new(switches as u64, shape.nodes_per_switch, between, duplex, &name)?;
        Ok(HyperX { shape, axes, switches, cabling, node_link, switch_link })
    }

    /// What chooses among the cables of the first dimension, but for the goal's coordinate there: in each dimension what
    /// differs between the messages that meet on a link, so which node of its switch the message is from, the coordinates of
    /// its source in the dimensions done, and of its goal in those to come.
    fn chooser(&self, from: u32, to: u32) -> u32 {
        if self.shape.cables.iter().all(|&cables| cables == 1) {
            return 0;
        }
        let mut rest = self.cabling.switch_of(to);
        let mut chooser = from - self.cabling.switch_of(from) * self.shape.nodes_per_switch;
        for axis in &self.axes {
            let (high, coordinate) = axis.size.divide(rest);
            (rest, chooser) = (high, chooser.wrapping_add(coordinate));
        }
        chooser
    }

    /// The dimension that a cable between switches lies in, and its number there.
    fn locate(&self, cable: u32) -> (&Axis, u32) {
        // Dimensions of size 1 have no cables: the last axis that starts here is the one.
        let axis = self.axes.iter().rfind(|axis| axis.first <= cable && axis.pairs > 0).unwrap_or(&self.axes[0]);
        (axis, cable - axis.first)
    }

    /// The switches that a cable joins, the one with the lower coordinate first.
    fn joined(&self, cable: u32) -> (u32, u32) {
        let (axis, within) = self.locate(cable);
        let place = axis.parallel.quotient(within);
        let (line, pair) = (place / axis.pairs, place % axis.pairs);
        let (low, high) = (line % axis.stride, line / axis.stride);
        let (lower, upper) = pairs::ends(pair);
        let switch = |coordinate| low + axis.stride * (coordinate + axis.size.value() * high);
        (switch(lower), switch(upper))
    }

    /// Goes along one dimension to where the goal lies, over one of the cables there; returns the switch.
    fn go_along(&self, axis: &Axis, at: u32, goal: u32, which: u32, path: &mut Path) -> u32 {
        let coordinate = |switch: u32| axis.size.divide(switch / axis.stride);
        let ((high, start), (_, end)) = (coordinate(at), coordinate(goal));
        if start != end {
            let line = at % axis.stride + axis.stride * high;
            let place = line * axis.pairs + pairs::number(start.min(end), start.max(end));
            let cable = axis.first + place * axis.parallel.value() + which;
            path.push(self.cabling.directed(cable, start < end), &self.switch_link);
        }
        at - start * axis.stride + end * axis.stride
    }

    /// Cables cut where so many switches stand apart, taken in order of the dimensions that these axes are (the last
    /// one of all varies fastest); `switches` is what the axes span.
    fn cut(&self, axes: &[&Axis], switches: u64, apart: u64) -> f64 {
        let Some((axis, rest)) = axes.split_first() else { return 0.0 };
        let size = axis.size.value() as u64;
        let layer = switches / size;
        let (full, more) = (apart / layer, apart % layer);
        let across = |apart: u64| (apart * size.saturating_sub(apart)) as f64;
        let lines = more as f64 * across(full + 1) + (layer - more) as f64 * across(full);
        lines * axis.parallel.value() as f64 + self.cut(rest, layer, more)
    }

    /// The dimensions that are cheapest to cut in the middle first: those with the least K S.
    fn by_price(&self) -> Vec<&Axis> {
        let mut axes: Vec<&Axis> = self.axes.iter().filter(|axis| axis.pairs > 0).collect();
        axes.sort_by_key(|axis| axis.parallel.value() as u64 * axis.size.value() as u64);
        axes
    }
}

impl Topology for HyperX {
    answered_by_cabling!();

    fn describe(&self) -> String {
        self.shape.to_string()
    }

    fn switches(&self) -> u32 {
        self.switches
    }

    fn link(&self, id: LinkId) -> Link {
        if self.cabling.cable(id) < self.cabling.nodes() { self.node_link } else { self.switch_link }
    }

    fn link_name(&self, id: LinkId) -> String {
        let (name, cable) = (name_by_ends(self, id), self.cabling.cable(id));
        if cable < self.cabling.nodes() {
            return name;
        }
        let (axis, within) = self.locate(cable);
        name_of_several(name, axis.parallel, within)
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        self.cabling.ends(id, |switch| switch, |cable| self.joined(cable))
    }

    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        path.push(self.cabling.directed(from, true), &self.node_link);
        let mut chooser = self.chooser(from, to);
        // Numbers of the two switches without the dimensions done; the number that the done coordinates write.
        let (mut here, mut there, mut low) = (self.cabling.switch_of(from), self.cabling.switch_of(to), 0);
        for axis in &self.axes {
            if here == there {
                break;
            }
            let ((high, start), (goal_high, goal)) = (axis.size.divide(here), axis.size.divide(there));
            chooser = chooser.wrapping_sub(goal);
            if start != goal {
                let place = (low + axis.stride * high) * axis.pairs + pairs::number(start.min(goal), start.max(goal));
                let cable = axis.first + place * axis.parallel.value() + axis.parallel.remainder(chooser);
                path.push(self.cabling.directed(cable, start < goal), &self.switch_link);
            }
            chooser = chooser.wrapping_add(start);
            low += goal * axis.stride;
            (here, there) = (high, goal_high);
        }
        path.push(self.cabling.directed(to, false), &self.node_link);
    }

    fn fixed_routing(&self) -> &'static str {
        if self.axes.len() == 1 { "direct" } else { "dimension-order" }
    }

    /// One dimension has an order, too.
    fn is_fixed_routing(&self, word: &str) -> bool {
        [self.fixed_routing(), "dimension-order"].contains(&word)
    }

    /// The dimensions in any order, over any of several cables.
    fn any_route(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        path.push(self.cabling.directed(from, true), &self.node_link);
        let (mut at, goal) = (self.cabling.switch_of(from), self.cabling.switch_of(to));
        // Dimensions of one switch lead nowhere; of the others there are fewer than 32.
        let mut lots = Lots::of((0..).zip(&self.axes).filter(|(_, axis)| axis.pairs > 0).map(|(at, _)| at));
        while let Some(axis) = lots.draw(&mut draw) {
            let axis = &self.axes[axis as usize];
            let which = draw_below(&mut draw, axis.parallel.value());
            at = self.go_along(axis, at, goal, which, path);
        }
        path.push(self.cabling.directed(to, false), &self.node_link);
    }

    /// One step for each dimension, and the links of the nodes.
    fn diameter(&self) -> u32 {
        match self.cabling.nodes() {
            1 => 0,
            _ => 2 + self.axes.iter().filter(|axis| axis.pairs > 0).count() as u32,
        }
    }

    /// The least of three cuts: through the links of half of the nodes; and with half of the switches on either side
    /// (rounded down, rounded up), through the cables between them and the links of nodes that this leaves on the wrong
    /// side. Switches are divided along the dimension with the least K S; a middle layer along the next one.
    ///
    /// For even S in that dimension it is K S n / 4 cables for n switches, or the links of half of the nodes.
    fn bisection_bandwidth(&self) -> f64 {
        let (switches, half) = (self.switches as u64, self.cabling.nodes() as u64 / 2);
        let axes = self.by_price();
        let cut = |apart: u64| {
            let misplaced = half.abs_diff(apart * self.cabling.per_switch() as u64);
            let cables = self.cut(&axes, switches, apart);
            cables * self.switch_link.bandwidth + misplaced as f64 * self.node_link.bandwidth
        };
        [0, switches / 2, switches.div_ceil(2)].map(cut).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// K S is the least eigenvalue above 0 of the graph's Laplacian, so a switches are joined with the others by at
    /// least K S a (n - a) / n cables (Fiedler 1973). With the links of misplaced nodes this is concave in a between 0
    /// and n / 2, so that one of the ends is the least; and both can be had if S is even.
    /// In a full mesh each cut of the switches by number is as good as any other.
    fn bisection_is_exact(&self) -> bool {
        match self.by_price()[..] {
            [] | [_] => true,
            [cheapest, ..] => cheapest.size.value() % 2 == 0,
        }
    }

    fn link_kind(&self, id: LinkId) -> String {
        self.cabling.kind(id)
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        match vertex {
            Vertex::Node(node) => format!("node {node}"),
            Vertex::Switch(switch) if self.axes.len() == 1 => format!("switch {switch}"),
            Vertex::Switch(switch) => {
                let coordinate = |axis: &Axis| axis.size.remainder(switch / axis.stride).to_string();
                format!("switch ({})", self.axes.iter().map(coordinate).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// Lines of the first dimension are groups.
    fn structure(&self) -> Structure {
        Structure::Groups { size: self.shape.dimensions[0], inner: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Routing;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn hyperx(dimensions: &[u32], cables: &[u32], nodes_per_switch: u32) -> HyperX {
        let shape = HyperXShape { dimensions: dimensions.into(), cables: cables.into(), nodes_per_switch };
        HyperX::new(shape, LINK, LINK, Duplex::Split).unwrap()
    }

    fn route(topology: &HyperX, from: u32, to: u32) -> Vec<String> {
        let mut path = Path::default();
        path.clear();
        topology.route(from, to, &mut path);
        path.links.iter().map(|&id| topology.link_name(id)).collect()
    }

    #[test]
    fn one_step_a_dimension() {
        let topology = hyperx(&[4, 3], &[1, 2], 2);
        let way = [
            "node 1 -> switch (0,0)",
            "switch (0,0) -> switch (3,0)",
            "switch (3,0) -> switch (3,2) (cable 2 of 2)",
            "switch (3,2) -> node 23",
        ];
        assert_eq!(route(&topology, 1, 23), way);
        assert_eq!(route(&topology, 2, 2), ["node 2 -> switch (1,0)", "switch (1,0) -> node 2"]);
        let mesh = hyperx(&[4], &[1], 1);
        assert_eq!(route(&mesh, 3, 0), ["node 3 -> switch 3", "switch 3 -> switch 0", "switch 0 -> node 0"]);
    }

    #[test]
    fn one_dimension_is_direct_and_in_order() {
        for (dimensions, words) in [(&[4][..], &["direct", "dimension-order"][..]), (&[4, 4], &["dimension-order"])] {
            let topology = hyperx(dimensions, &vec![1; dimensions.len()], 1);
            for word in ["direct", "dimension-order"] {
                assert_eq!(Routing::named(word, 0, &topology).is_ok(), words.contains(&word), "{word} {dimensions:?}");
            }
        }
    }

    #[test]
    fn known_figures() {
        let topology = hyperx(&[8, 8], &[1, 1], 8);
        assert_eq!((topology.nodes(), topology.switches(), topology.diameter()), (512, 64, 4));
        assert_eq!(topology.cables(), 512 + 2 * 8 * 28);
        assert_eq!(topology.bisection_bandwidth(), 128e9, "half of 8 lines of 16 cables each: beta = 1/2");
        let mesh = hyperx(&[16], &[1], 8);
        assert_eq!((mesh.describe(), mesh.diameter()), ("full mesh of 16 switches, 8 nodes each".into(), 3));
        assert_eq!((mesh.cables(), mesh.bisection_bandwidth()), (128 + 120, 64e9));
    }

    #[test]
    fn impossible_figures() {
        let error = |dimensions: &[u32], cables: &[u32], nodes_per_switch| {
            let shape = HyperXShape { dimensions: dimensions.into(), cables: cables.into(), nodes_per_switch };
            HyperX::new(shape, LINK, LINK, Duplex::Split).unwrap_err().to_string()
        };
        assert!(error(&[], &[], 1).contains("at least one dimension"));
        assert!(error(&[4, 0], &[1, 1], 1).contains("at least 1"));
        assert!(error(&[4, 4], &[1, 1], 0).contains("at least 1"));
        assert!(error(&[4, 4], &[1], 1).contains("give one for each dimension"));
        assert!(error(&[100_000], &[1], 1).contains("make it smaller"));
        assert!(error(&[60_000], &[3], 1).contains("make it smaller"));
        assert!(error(&[1 << 16, 1 << 16], &[1, 1], 1).contains("make it smaller"));
        assert!(error(&[2], &[1], u32::MAX).contains("make it smaller"));
    }
}
