//! Ranks and nodes are halved together until each node has its ranks.

use hpcast_engine::Stream;
use hpcast_platform::Machine;

use crate::bisection::Cut;
use crate::distance::Distances;
use crate::graph::Graph;

/// Ranks that will be somewhere within these places.
struct Part {
    places: std::ops::Range<usize>,
    ranks: Vec<u32>,
}

/// The halving of ranks and places.
pub struct Halving<'g> {
    graph: &'g Graph,
    /// The node of each place, in the order of switches.
    places: Vec<u32>,
    /// The switch of each place.
    switches: Vec<u32>,
    random: Stream,
}

impl<'g> Halving<'g> {
    /// As many places on each node as it has ranks now.
    pub fn new(graph: &'g Graph, nodes: &[u32], machine: &Machine, random: Stream) -> Halving<'g> {
        let mut carried = vec![0usize; machine.nodes.count as usize];
        nodes.iter().for_each(|node| carried[*node as usize] += 1);
        let used: Vec<u32> = (0..machine.nodes.count).filter(|node| carried[*node as usize] > 0).collect();
        let (mut places, mut switches) = (Vec::new(), Vec::new());
        for (switch, nodes) in (0..).zip(machine.site().by_switch(&used)) {
            for node in nodes {
                places.resize(places.len() + carried[node as usize], node);
                switches.resize(places.len(), switch);
            }
        }
        Halving { graph, places, switches, random }
    }

    /// The nodes that carry ranks, in the order of switches.
    pub fn nodes_in_order(&self) -> Vec<u32> {
        let mut nodes = self.places.clone();
        nodes.dedup();
        nodes
    }

    /// The node of each rank.
    pub fn run(&self, distances: &mut Distances<'_>) -> Vec<u32> {
        let ranks = self.graph.ranks();
        // A node in the middle of where each rank may be.
        let mut middle = vec![self.middle(&(0..self.places.len())); ranks as usize];
        let mut local = vec![u32::MAX; ranks as usize];
        let mut parts = vec![Part { places: 0..self.places.len(), ranks: (0..ranks).collect() }];
        let mut number = 0;
        // All parts of a size, then the smaller ones: so each knows where the others are about.
        while !parts.is_empty() {
            let mut smaller = Vec::new();
            for part in parts {
                let Some(at) = self.cut(&part.places) else { continue };
                number += 1;
                let [first, second] = self.halve(part, at, &middle, &mut local, distances, number);
                for half in [first, second] {
                    let node = self.middle(&half.places);
                    half.ranks.iter().for_each(|rank| middle[*rank as usize] = node);
                    smaller.push(half);
                }
            }
            parts = smaller;
        }
        middle
    }

    fn middle(&self, places: &std::ops::Range<usize>) -> u32 {
        self.places.get(places.start.midpoint(places.end)).copied().unwrap_or(0)
    }

    /// Where places are cut: as near to the middle as possible, but between switches, or else between nodes. None if all of
    /// them are on one node.
    fn cut(&self, places: &std::ops::Range<usize>) -> Option<usize> {
        let middle = places.start.midpoint(places.end);
        let nearest = |groups: &[u32]| {
            let is_border = |at: &usize| groups[*at] != groups[*at - 1];
            (places.start + 1..places.end).filter(is_border).min_by_key(|at| at.abs_diff(middle))
        };
        nearest(&self.switches).or_else(|| nearest(&self.places))
    }

    fn halve(
        &self,
        part: Part,
        at: usize,
        middle: &[u32],
        local: &mut [u32],
        distances: &mut Distances<'_>,
        number: u32,
    ) -> [Part; 2] {
        let Part { places, ranks } = part;
        let halves = [places.start..at, at..places.end];
        let [first, second] = [self.middle(&halves[0]), self.middle(&halves[1])];
        let apart = distances.get(first, second).max(1);
        (0..).zip(&ranks).for_each(|(number, rank)| local[*rank as usize] = number);
        let (mut starts, mut edges, mut bias) = (vec![0], Vec::new(), Vec::new());
        for &rank in &ranks {
            let mut leaning = 0;
            for edge in self.graph.edges(rank) {
                match local[edge.to as usize] {
                    u32::MAX => {
                        let there = middle[edge.to as usize];
                        leaning += edge.both() * (distances.get(second, there) - distances.get(first, there));
                    }
                    other => edges.push((other, edge.both() * apart)),
                }
            }
            starts.push(edges.len());
            bias.push(leaning);
        }
        ranks.iter().for_each(|rank| local[*rank as usize] = u32::MAX);
        let cut = Cut { first: &starts, edges: &edges, bias: &bias, size: at - places.start };
        let inside = cut.find(&self.random, number);
        let of = |side: bool| ranks.iter().zip(&inside).filter(|(_, is)| **is == side).map(|(rank, _)| *rank).collect();
        let [near, far] = halves;
        [Part { places: near, ranks: of(true) }, Part { places: far, ranks: of(false) }]
    }
}
