//! Hypercubes with dimension-order routing.

use super::divisor::Divisor;
use super::parallel::name_of_several;
use super::{Duplex, Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends};
use crate::interconnect::Path;
use crate::routing::{Lots, draw_below};

/// 2^d nodes, each joined to the d nodes whose numbers differ from its own in one bit.
///
/// Links `0..cables` lead from a bit that is 0 to one that is 1, by bit, then by the number without that bit, then by
/// which of several cables it is; the opposite ones follow in the same order, unless both directions share one link.
#[derive(Clone, Debug)]
pub struct Hypercube {
    dimension: u32,
    /// Cables between neighbours; messages are spread over them by where they come from and where they go.
    parallel: Divisor,
    link: Link,
    cables: u32,
    /// What leads from the id of a link forward to that of the link back: 0 where they are the same.
    back: u32,
}

impl Hypercube {
    /// A hypercube of so many dimensions, with so many cables between neighbours.
    pub fn new(dimension: u32, parallel: u32, link: Link, duplex: Duplex) -> Result<Hypercube, TopologyError> {
        if dimension == 0 {
            return Err(TopologyError::Zero("the dimension of a hypercube"));
        }
        if parallel == 0 {
            return Err(TopologyError::Zero("the number of cables between neighbours"));
        }
        let links = 1u64.checked_shl(dimension).filter(|_| dimension < 32);
        let links = links.and_then(|nodes| (nodes * dimension as u64).checked_mul(parallel as u64));
        let links = links.and_then(|links| u32::try_from(links).ok());
        let links = links.ok_or_else(|| TopologyError::TooLarge(describe(dimension, parallel)))?;
        let cables = links / 2;
        let back = if duplex == Duplex::Split { cables } else { 0 };
        Ok(Hypercube { dimension, parallel: Divisor::new(parallel), link, cables, back })
    }

    /// The number of the place, along one bit, where a node and its neighbour are joined.
    #[inline]
    fn place(&self, node: u32, bit: u32) -> u32 {
        let low = node & ((1 << bit) - 1);
        let high = (node >> bit) >> 1;
        (bit << (self.dimension - 1)) + (low | high << bit)
    }
}

impl Hypercube {
    /// Changes some bits of a number, from the lowest on; returns what comes of it.
    #[inline]
    fn change_bits(&self, mut at: u32, mut differ: u32, which: u32, path: &mut Path) -> u32 {
        while differ != 0 {
            let bit = differ.trailing_zeros();
            let forward = self.place(at, bit) * self.parallel.value() + which;
            let back = if at >> bit & 1 == 1 { self.back } else { 0 };
            path.push(back + forward, &self.link);
            at ^= 1 << bit;
            differ &= differ - 1;
        }
        at
    }
}

fn describe(dimension: u32, parallel: u32) -> String {
    let cables = if parallel > 1 { format!(", {parallel} cables between neighbours") } else { String::new() };
    format!("hypercube of dimension {dimension}{cables}")
}

impl Topology for Hypercube {
    fn describe(&self) -> String {
        describe(self.dimension, self.parallel.value())
    }

    fn nodes(&self) -> u32 {
        1 << self.dimension
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
        let cable = if id < self.cables { id } else { id - self.cables };
        name_of_several(name_by_ends(self, id), self.parallel, cable)
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        let cable = if id < self.cables { id } else { id - self.cables };
        let place = self.parallel.quotient(cable);
        let bit = place >> (self.dimension - 1);
        let rest = place & ((1 << (self.dimension - 1)) - 1);
        let (low, high) = (rest & ((1 << bit) - 1), rest >> bit);
        let lower = low | (high << bit) << 1;
        let (lower, upper) = (Vertex::Node(lower), Vertex::Node(lower | 1 << bit));
        if id < self.cables { (lower, upper) } else { (upper, lower) }
    }

    fn is_shared(&self, _: LinkId) -> bool {
        self.back == 0
    }

    /// The way back changes every bit in the other direction.
    fn may_repeat_links(&self) -> bool {
        self.back == 0
    }

    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        let differ = from ^ to;
        if self.parallel.value() == 1 {
            self.change_bits(from, differ, 0, path);
            return;
        }
        let mut at = from;
        for bit in (0..self.dimension).filter(|bit| differ >> bit & 1 == 1) {
            // What differs between the messages that meet on a link: where they are from in the bits done, where they go in
            // those to come.
            let done = (1 << bit) - 1;
            let chooser = (from & done) | ((to >> 1) & !done);
            at = self.change_bits(at, 1 << bit, self.parallel.remainder(chooser), path);
        }
    }

    fn fixed_routing(&self) -> &'static str {
        "dimension-order"
    }

    /// The bits in any order, over any of several cables.
    fn any_route(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        let which = draw_below(&mut draw, self.parallel.value());
        let differ = from ^ to;
        let mut lots = Lots::of((0..self.dimension).filter(|bit| differ >> bit & 1 == 1));
        let mut at = from;
        while let Some(bit) = lots.draw(&mut draw) {
            at = self.change_bits(at, 1 << bit, which, path);
        }
    }

    /// By bits, whatever the direction.
    fn order(&self, id: LinkId) -> u32 {
        if id < self.cables { id } else { id - self.cables }
    }

    fn cables(&self) -> u64 {
        self.cables as u64
    }

    fn diameter(&self) -> u32 {
        self.dimension
    }

    /// 2^(d - 1) cables join the nodes whose first bit is 0 with the others, and no half of a hypercube has fewer to
    /// the other (Harper, "Optimal assignments of numbers to vertices", 1964).
    fn bisection_bandwidth(&self) -> f64 {
        (self.nodes() / 2) as f64 * self.parallel.value() as f64 * self.link.bandwidth
    }

    fn bisection_is_exact(&self) -> bool {
        true
    }

    /// The node's number in binary: neighbours differ in one digit.
    fn vertex_name(&self, vertex: Vertex) -> String {
        let Vertex::Node(node) = vertex else { return String::new() };
        format!("{node:0width$b}", width = self.dimension as usize)
    }

    fn structure(&self) -> Structure {
        Structure::Cube { dimension: self.dimension }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn cube(dimension: u32, parallel: u32) -> Hypercube {
        Hypercube::new(dimension, parallel, LINK, Duplex::Split).unwrap()
    }

    fn route(cube: &Hypercube, from: u32, to: u32) -> Vec<String> {
        let mut path = Path::default();
        path.clear();
        cube.route(from, to, &mut path);
        path.links.iter().map(|&id| cube.link_name(id)).collect()
    }

    #[test]
    fn changes_the_lowest_bit_first() {
        assert_eq!(route(&cube(4, 1), 0b0101, 0b0110), ["0101 -> 0100", "0100 -> 0110"]);
        assert_eq!(route(&cube(2, 3), 0, 2), ["00 -> 10 (cable 1 of 3)"]);
        assert!(route(&cube(4, 1), 7, 7).is_empty());
    }

    #[test]
    fn known_figures() {
        let cube = cube(10, 2);
        assert_eq!((cube.nodes(), cube.cables(), cube.diameter()), (1024, 2 * 5120, 10));
        assert_eq!(cube.bisection_bandwidth(), 1024e9);
        assert_eq!(cube.describe(), "hypercube of dimension 10, 2 cables between neighbours");
    }

    #[test]
    fn impossible_figures() {
        let error =
            |dimension, parallel| Hypercube::new(dimension, parallel, LINK, Duplex::Split).unwrap_err().to_string();
        assert!(error(0, 1).contains("at least 1"));
        assert!(error(3, 0).contains("at least 1"));
        assert!(error(28, 1).contains("make it smaller"));
        assert!(error(4_000_000_000, 1).contains("make it smaller"));
        assert!(error(20, 4_000_000_000).contains("make it smaller"));
    }
}
