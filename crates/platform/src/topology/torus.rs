//! Tori and meshes of any number of dimensions, with dimension-order routing.

use super::divisor::Divisor;
use super::parallel::{and_cables, by, check_cables, name_of_several};
use super::{Duplex, Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends};
use crate::interconnect::Path;
use crate::routing::{Lots, draw_below};

/// Nodes on a grid, each joined to its neighbours along every dimension; node x + X (y + Y (z + ...)) is at (x, y, z, ...).
///
/// A torus also joins the two ends of each line. Lines of two nodes have one cable, in a torus as in a mesh: the second
/// would join the same two nodes, and SimGrid, which has it, never uses it.
///
/// Neighbours may be joined by several cables, over which messages are spread by where they come from and where they go.
///
/// Links `0..cables` lead towards higher coordinates, by dimension, then by node, then by which of several cables it is;
/// the opposite ones follow in the same order, unless both directions share one link.
#[derive(Clone, Debug)]
pub struct Torus {
    axes: Vec<Axis>,
    wrap: bool,
    /// Whether one cable joins any two neighbours.
    single: bool,
    link: Link,
    nodes: u32,
    cables: u32,
    /// What leads from the id of a link forward to that of the link back: 0 where they are the same.
    back: u32,
}

/// Which way around a ring messages go to the node that is opposite, where both are as long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// Forward from even coordinates, backward from odd ones: links of both directions carry the same.
    #[default]
    Alternate,
    /// Forward, except from the middle of the ring, as in SimGrid. Where everybody sends to everybody, links forward are full
    /// while those backward are not: on a ring of four, nodes get two thirds of what they could.
    Forward,
}

/// One dimension.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: Divisor,
    /// Difference between the numbers of neighbours.
    stride: u32,
    /// Whether the ends of each line are joined.
    ring: bool,
    ties: Ties,
    /// Steps on each line: places where neighbours are joined.
    steps: u32,
    /// Cables between neighbours.
    parallel: Divisor,
    /// Id of the first link forward.
    first: LinkId,
}

impl Axis {
    /// Id of the first link forward from a coordinate of the line through these neighbours.
    #[inline]
    fn forward(&self, line: Line, coordinate: u32) -> LinkId {
        self.first + (line.low + self.stride * (coordinate + self.steps * line.high)) * self.parallel.value()
    }

    /// Steps towards `to`, and whether they go forward, as SimGrid 3.32 decides (TorusZone.cpp, `get_local_route`), but for
    /// ties, if these alternate: SimGrid goes forward to what is opposite, except from the middle.
    #[inline]
    fn way(&self, from: u32, to: u32) -> (u32, bool) {
        let (size, half) = (self.size.value(), self.size.value() / 2);
        if !self.ring {
            return (from.abs_diff(to), to > from);
        }
        if self.ties == Ties::Alternate && 2 * from.abs_diff(to) == size {
            return (half, from.is_multiple_of(2));
        }
        match to > from {
            true if to - from <= half => (to - from, true),
            true => (size - (to - from), false),
            // The sum is less than 2 size, as `from` is.
            false if from > half && from + half - size >= to => (size - (from - to), true),
            false => (from - to, false),
        }
    }

    /// A number that the messages which meet on a link of this line have in equal parts even and odd, those of one length
    /// and those of all lengths.
    #[inline]
    fn spread(&self, from: u32, steps: u32) -> u32 {
        let is_tie = self.ring && self.ties == Ties::Alternate && 2 * steps == self.size.value();
        // Of those that go half way around, every second one goes this way.
        if is_tie { from / 2 } else { from.wrapping_add(steps / 2) }
    }
}

/// So many steps from a coordinate on.
#[derive(Clone, Copy)]
struct Way {
    start: u32,
    steps: u32,
    forward: bool,
}

/// The line through a node along one axis: the node's number without the coordinate.
#[derive(Clone, Copy)]
struct Line {
    low: u32,
    high: u32,
}

impl Torus {
    /// A torus, or a mesh if not `wrap`, with so many nodes in each dimension.
    pub fn new(dims: &[u32], wrap: bool, link: Link, duplex: Duplex) -> Result<Torus, TopologyError> {
        Torus::with_cables(dims, &vec![1; dims.len()], wrap, link, duplex)
    }

    /// The same with several cables between neighbours: so many in each dimension.
    pub fn with_cables(
        dims: &[u32],
        parallel: &[u32],
        wrap: bool,
        link: Link,
        duplex: Duplex,
    ) -> Result<Torus, TopologyError> {
        if dims.is_empty() {
            return Err(TopologyError::NoDimensions);
        }
        if dims.contains(&0) {
            return Err(TopologyError::Zero("each dimension of a torus or mesh"));
        }
        check_cables(dims, parallel)?;
        let too_large = || TopologyError::TooLarge(describe(dims, parallel, wrap));
        let product = |nodes: u32, &size: &u32| nodes.checked_mul(size);
        let nodes = dims.iter().try_fold(1, product).ok_or_else(too_large)?;
        let mut axes = Vec::with_capacity(dims.len());
        let (mut stride, mut first) = (1, 0u32);
        for (&size, &parallel) in dims.iter().zip(parallel) {
            let ring = wrap && size > 2;
            let steps = if ring { size } else { size - 1 };
            let (size_of, parallel_of, ties) = (Divisor::new(size), Divisor::new(parallel), Ties::default());
            axes.push(Axis { size: size_of, stride, ring, ties, steps, parallel: parallel_of, first });
            let cables = (nodes / size * steps).checked_mul(parallel).ok_or_else(too_large)?;
            first = first.checked_add(cables).ok_or_else(too_large)?;
            stride *= size;
        }
        let back = if duplex == Duplex::Split { first } else { 0 };
        first.checked_add(back).ok_or_else(too_large)?;
        let single = parallel.iter().all(|&cables| cables == 1);
        Ok(Torus { axes, wrap, single, link, nodes, cables: first, back })
    }

    /// The same torus with another way to what is opposite.
    pub fn breaking(mut self, ties: Ties) -> Torus {
        self.axes.iter_mut().for_each(|axis| axis.ties = ties);
        self
    }

    /// What chooses among the cables of the first dimension, but for the coordinates there: those of the goal in all dimensions.
    ///
    /// In each dimension it should be what differs between the messages that meet on a link: where they have come
    /// from in the dimensions done, where they go in those to come, and how they lie in this one. With the sum of both ends
    /// all messages of a shift (by k along a line) would take the same of two cables.
    fn chooser(&self, to: u32) -> u32 {
        if self.single {
            return 0;
        }
        let coordinates = self.axes.iter().scan(to, |rest, axis| {
            let (high, coordinate) = axis.size.divide(*rest);
            *rest = high;
            Some(coordinate)
        });
        coordinates.fold(0, u32::wrapping_add)
    }

    fn dims(&self) -> Vec<u32> {
        self.axes.iter().map(|axis| axis.size.value()).collect()
    }

    fn parallel(&self) -> Vec<u32> {
        self.axes.iter().map(|axis| axis.parallel.value()).collect()
    }

    /// The dimension that a cable lies in, and its number there.
    fn locate(&self, id: LinkId) -> (&Axis, u32) {
        let cable = if id < self.cables { id } else { id - self.cables };
        // Dimensions of size 1 have no cables: the last axis that starts here is the one.
        let axis = self.axes.iter().rfind(|axis| axis.first <= cable && axis.steps > 0).unwrap_or(&self.axes[0]);
        (axis, cable - axis.first)
    }
}

impl Torus {
    /// Goes so many steps along a line, over one of the cables of each.
    #[inline]
    fn go_along(&self, axis: &Axis, line: Line, way: Way, which: u32, path: &mut Path) {
        let Way { start, steps, forward } = way;
        let size = axis.size.value();
        let mut at = start;
        for _ in 0..steps {
            if forward {
                path.push(which + axis.forward(line, at), &self.link);
                at = if at + 1 == size { 0 } else { at + 1 };
            } else {
                at = if at == 0 { size - 1 } else { at - 1 };
                path.push(self.back + which + axis.forward(line, at), &self.link);
            }
        }
    }
}

fn describe(dims: &[u32], parallel: &[u32], wrap: bool) -> String {
    format!("{} {}{}", if wrap { "torus" } else { "mesh" }, by(dims), and_cables(parallel))
}

impl Topology for Torus {
    fn describe(&self) -> String {
        describe(&self.dims(), &self.parallel(), self.wrap)
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    /// None: the nodes pass messages on.
    fn switches(&self) -> u32 {
        0
    }

    fn links(&self) -> u32 {
        self.cables + self.back
    }

    fn link(&self, _: LinkId) -> Link {
        self.link
    }

    fn link_name(&self, id: LinkId) -> String {
        let (axis, cable) = self.locate(id);
        name_of_several(name_by_ends(self, id), axis.parallel, cable)
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        let (axis, cable) = self.locate(id);
        let within = axis.parallel.quotient(cable);
        let (low, rest) = (within % axis.stride, within / axis.stride);
        let (coordinate, high) = (rest % axis.steps, rest / axis.steps);
        let node = |coordinate| Vertex::Node(low + axis.stride * (coordinate + axis.size.value() * high));
        let (lower, upper) = (node(coordinate), node(axis.size.remainder(coordinate + 1)));
        if id < self.cables { (lower, upper) } else { (upper, lower) }
    }

    fn is_shared(&self, _: LinkId) -> bool {
        self.back == 0
    }

    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        let mut chooser = self.chooser(to);
        // Numbers of the two nodes without the dimensions done; the number that the done coordinates of `to` write.
        let (mut from, mut to, mut low) = (from, to, 0);
        for axis in &self.axes {
            if from == to {
                return;
            }
            let (high, start) = axis.size.divide(from);
            let (goal_high, goal) = axis.size.divide(to);
            let (steps, forward) = axis.way(start, goal);
            chooser = chooser.wrapping_sub(goal);
            let which = axis.parallel.remainder(chooser.wrapping_add(axis.spread(start, steps)));
            let line = Line { low, high };
            self.go_along(axis, line, Way { start, steps, forward }, which, path);
            low += goal * axis.stride;
            chooser = chooser.wrapping_add(start);
            (from, to) = (high, goal_high);
        }
    }

    fn fixed_routing(&self) -> &'static str {
        "dimension-order"
    }

    /// The dimensions in any order, over any of several cables, and either way to what is opposite.
    fn any_route(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        let coordinate = |axis: &Axis, node: u32| axis.size.divide(node / axis.stride);
        let differ = |axis: &Axis| coordinate(axis, from).1 != coordinate(axis, to).1;
        // Fewer than 32: each is at least two nodes wide.
        let mut lots = Lots::of((0..).zip(&self.axes).filter(|(_, axis)| differ(axis)).map(|(at, _)| at));
        let mut at = from;
        while let Some(axis) = lots.draw(&mut draw) {
            let axis = &self.axes[axis as usize];
            let ((high, start), (_, goal)) = (coordinate(axis, at), coordinate(axis, to));
            let line = Line { low: at % axis.stride, high };
            let (steps, mut forward) = axis.way(start, goal);
            if axis.ring && 2 * steps == axis.size.value() {
                forward = draw_below(&mut draw, 2) == 0;
            }
            let which = draw_below(&mut draw, axis.parallel.value());
            self.go_along(axis, line, Way { start, steps, forward }, which, path);
            at = at - start * axis.stride + goal * axis.stride;
        }
    }

    /// Dimension by dimension, in each the links of both directions in the order in which messages cross them: only the
    /// links around the edge of a torus come too early.
    fn order(&self, id: LinkId) -> u32 {
        let (axis, within) = self.locate(id);
        let cables = self.nodes / axis.size.value() * axis.steps * axis.parallel.value();
        match id < self.cables {
            true => 2 * axis.first + within,
            false => 2 * axis.first + 2 * cables - 1 - within,
        }
    }

    fn cables(&self) -> u64 {
        self.cables as u64
    }

    /// Half of each ring, the whole of each line.
    fn diameter(&self) -> u32 {
        let longest = |axis: &Axis| if axis.ring { axis.size.value() / 2 } else { axis.size.value() - 1 };
        self.axes.iter().map(longest).sum()
    }

    /// With dimensions k1 >= k2 >= ..., the first even one being ke (the last if none is even), and w = 1 for a mesh,
    /// 2 for a torus: w b (C1 + ... + Ce), where Ci is the product of the dimensions after the i-th. An odd dimension is
    /// cut in its middle layer, and that layer is cut along the next dimension (Aroca and Fernández Anta, "Bisection
    /// (band)width of product networks with application to data centers", IEEE TPDS 2014, for arrays and tori).
    /// A dimension of size 2 counts with w = 1 in a torus, too, and dimensions are sorted by k / w. Several cables
    /// multiply w; where dimensions differ in that, this is a cut, but perhaps not the worst.
    fn bisection_bandwidth(&self) -> f64 {
        let ways = |axis: &Axis| axis.parallel.value() as f64 * if axis.ring { 2.0 } else { 1.0 };
        let mut axes: Vec<&Axis> = self.axes.iter().filter(|axis| axis.size.value() > 1).collect();
        axes.sort_by(|a, b| (b.size.value() as f64 / ways(b)).total_cmp(&(a.size.value() as f64 / ways(a))));
        let mut lines = self.nodes as f64;
        let mut cut = 0.0;
        for axis in axes {
            lines /= axis.size.value() as f64;
            cut += ways(axis) * lines;
            if axis.size.value() % 2 == 0 {
                break;
            }
        }
        cut * self.link.bandwidth
    }

    fn bisection_is_exact(&self) -> bool {
        let mut joined = self.axes.iter().filter(|axis| axis.steps > 0).map(|axis| axis.parallel.value());
        joined.next().is_none_or(|first| joined.all(|parallel| parallel == first))
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        let Vertex::Node(mut rest) = vertex else { return String::new() };
        let mut coordinates = Vec::new();
        for axis in &self.axes {
            let (high, coordinate) = axis.size.divide(rest);
            coordinates.push(coordinate.to_string());
            rest = high;
        }
        format!("({})", coordinates.join(","))
    }

    fn structure(&self) -> Structure {
        Structure::Grid { dims: self.dims(), wrap: self.wrap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn torus(dims: &[u32], wrap: bool) -> Torus {
        Torus::new(dims, wrap, LINK, Duplex::Split).unwrap()
    }

    fn route(torus: &Torus, from: u32, to: u32) -> Vec<String> {
        let mut path = Path::default();
        path.clear();
        torus.route(from, to, &mut path);
        path.links.iter().map(|&id| torus.link_name(id)).collect()
    }

    #[test]
    fn goes_along_x_then_y_the_short_way_round() {
        let torus = torus(&[5, 3], true);
        assert_eq!(route(&torus, 0, 13), ["(0,0) -> (4,0)", "(4,0) -> (3,0)", "(3,0) -> (3,2)"]);
        assert_eq!(route(&torus, 4, 6), ["(4,0) -> (0,0)", "(0,0) -> (1,0)", "(1,0) -> (1,1)"]);
        assert!(route(&torus, 7, 7).is_empty());
    }

    /// Where everybody sends to everybody, all links carry the same, but for SimGrid's rule.
    #[test]
    fn ties_load_both_directions() {
        let loads = |torus: &Torus| {
            let mut load = vec![0u32; torus.links() as usize];
            let mut path = Path::default();
            for (from, to) in (0..torus.nodes()).flat_map(|from| (0..torus.nodes()).map(move |to| (from, to))) {
                path.clear();
                torus.route(from, to, &mut path);
                path.links.iter().for_each(|&id| load[id as usize] += 1);
            }
            (load.iter().copied().min().unwrap(), load.iter().copied().max().unwrap())
        };
        assert_eq!(loads(&torus(&[4, 4], true)), (8, 8));
        assert_eq!(loads(&torus(&[8, 8], true)), (64, 64));
        assert_eq!(loads(&torus(&[4, 4], true).breaking(Ties::Forward)), (4, 12));
        assert_eq!(loads(&torus(&[5, 5], true)), loads(&torus(&[5, 5], true).breaking(Ties::Forward)));
    }

    /// Of the orders of three dimensions none is left out, nor more frequent than others.
    #[test]
    fn drawn_ways_take_dimensions_in_any_order() {
        let torus = torus(&[3, 3, 3], true);
        let mut orders = std::collections::BTreeMap::new();
        for number in 0..6000u64 {
            let mut path = Path::default();
            path.clear();
            torus.any_route(0, 13, number.wrapping_mul(0x9E37_79B9_7F4A_7C15), &mut path);
            let axis_of = |&id: &LinkId| torus.locate(id).0.stride;
            *orders.entry(path.links.iter().map(axis_of).collect::<Vec<_>>()).or_insert(0) += 1;
        }
        assert_eq!(orders.len(), 6, "{orders:?}");
        assert!(orders.values().all(|&count| (900..1100).contains(&count)), "{orders:?}");
    }

    #[test]
    fn a_mesh_never_goes_round() {
        assert_eq!(route(&torus(&[4], false), 0, 3), ["(0) -> (1)", "(1) -> (2)", "(2) -> (3)"]);
    }

    #[test]
    fn lines_of_two_have_one_cable() {
        let torus = torus(&[2, 1, 4], true);
        assert_eq!(torus.cables(), 4 + 8);
        assert_eq!(route(&torus, 1, 2), ["(1,0,0) -> (0,0,0)", "(0,0,0) -> (0,0,1)"]);
    }

    #[test]
    fn several_cables_between_neighbours() {
        let torus = Torus::with_cables(&[4, 2], &[2, 3], true, LINK, Duplex::Split).unwrap();
        assert_eq!(torus.describe(), "torus 4 x 2, cables 2 x 3");
        assert_eq!(torus.cables(), 2 * 4 * 2 + 4 * 3);
        assert_eq!(route(&torus, 0, 5), ["(0,0) -> (1,0) (cable 2 of 2)", "(1,0) -> (1,1) (cable 1 of 3)"]);
        assert_eq!(route(&torus, 5, 0), ["(1,1) -> (0,1) (cable 2 of 2)", "(0,1) -> (0,0) (cable 3 of 3)"]);
        assert!(!torus.bisection_is_exact());
        let even = Torus::with_cables(&[4, 4], &[2, 2], true, LINK, Duplex::Split).unwrap();
        assert!(even.bisection_is_exact());
        assert_eq!(even.bisection_bandwidth(), 16e9);
    }

    #[test]
    fn known_figures() {
        let cube = torus(&[4, 4, 4], true);
        assert_eq!((cube.cables(), cube.links(), cube.diameter()), (192, 384, 6));
        assert_eq!(cube.bisection_bandwidth(), 32e9);
        assert_eq!(torus(&[24, 24], false).bisection_bandwidth(), 24e9);
        assert_eq!(torus(&[24, 24], false).diameter(), 46);
        assert_eq!(torus(&[2; 10], true).bisection_bandwidth(), 512e9, "a hypercube");
        assert_eq!(torus(&[7], true).bisection_bandwidth(), 2e9, "a ring");
    }

    #[test]
    fn impossible_figures() {
        let error = |dims: &[u32]| Torus::new(dims, true, LINK, Duplex::Split).unwrap_err().to_string();
        assert!(error(&[]).contains("at least one dimension"));
        assert!(error(&[3, 0]).contains("at least 1"));
        assert!(error(&[65536, 65536]).contains("torus 65536 x 65536 has more than"));
        assert!(error(&[2000, 2000, 500]).contains("more than 4,294,967,295 links"));
        let error =
            |cables: &[u32]| Torus::with_cables(&[3, 3], cables, true, LINK, Duplex::Split).unwrap_err().to_string();
        assert!(error(&[2]).contains("2 dimensions, but 1 numbers of cables: give one for each dimension"));
        assert!(error(&[2, 0]).contains("at least 1"));
        assert!(error(&[1 << 31, 1]).contains("make it smaller"));
    }
}
