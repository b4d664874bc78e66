//! Pairs of ranks change places as long as that gains.

use crate::distance::Distances;
use crate::graph::{Edge, Graph};

/// Partners of a rank near which it is tried: those it exchanges most with.
const PARTNERS: usize = 12;
/// Nodes on both sides of a partner's, in the order of switches.
const AROUND: usize = 2;
/// Distances that may be asked for; a minute's work at most.
const MOST_WORK: u64 = 2_000_000_000;

/// Ranks on nodes.
pub struct Exchange<'g> {
    graph: &'g Graph,
    /// The node of each rank.
    pub nodes: Vec<u32>,
    /// Nodes in the order of switches.
    order: &'g [u32],
    /// The place of each node in that order, by node.
    places: Vec<usize>,
    /// Ranks on each node, by its place.
    on: Vec<Vec<u32>>,
}

impl<'g> Exchange<'g> {
    pub fn new(graph: &'g Graph, nodes: Vec<u32>, order: &'g [u32]) -> Exchange<'g> {
        let mut places = vec![0; order.iter().max().map_or(0, |last| *last as usize + 1)];
        order.iter().enumerate().for_each(|(place, node)| places[*node as usize] = place);
        let mut on = vec![Vec::new(); order.len()];
        (0..).zip(&nodes).for_each(|(rank, node)| on[places[*node as usize]].push(rank));
        Exchange { graph, nodes, order, places, on }
    }

    /// Goes on until nothing gains any more; false if that took too long.
    pub fn run(&mut self, distances: &mut Distances<'_>) -> bool {
        let limit = distances.asked + MOST_WORK;
        loop {
            let mut gained = false;
            for rank in 0..self.graph.ranks() {
                if distances.asked > limit {
                    return false;
                }
                if let Some(other) = self.best_partner(rank, distances) {
                    self.swap(rank, other);
                    gained = true;
                }
            }
            if !gained {
                return true;
            }
        }
    }

    /// What a rank pays where it would be on a node; what it exchanges with one other is left out.
    fn cost(&self, rank: u32, node: u32, without: u32, distances: &mut Distances<'_>) -> i64 {
        let paid = |edge: &Edge| self.paid(edge, node, self.nodes[edge.to as usize], distances);
        self.graph.edges(rank).iter().filter(|edge| edge.to != without).map(paid).sum()
    }

    fn paid(&self, edge: &Edge, node: u32, there: u32, distances: &mut Distances<'_>) -> i64 {
        let sent = if edge.sent > 0 { edge.sent * distances.get(node, there) } else { 0 };
        let received = if edge.received > 0 { edge.received * distances.get(there, node) } else { 0 };
        sent + received
    }

    /// The rank to change places with that gains most, if any does.
    fn best_partner(&self, rank: u32, distances: &mut Distances<'_>) -> Option<u32> {
        let here = self.nodes[rank as usize];
        let now = self.cost(rank, here, u32::MAX, distances);
        if now == 0 {
            return None;
        }
        let mut best = (0, None);
        for place in self.places_to_try(rank) {
            let there = self.order[place];
            let gain = now - self.cost(rank, there, u32::MAX, distances);
            for &other in &self.on[place] {
                let others = self.cost(other, there, rank, distances);
                // The other cannot gain more than all that it pays; neither do the two of what they exchange.
                if gain + others <= best.0 {
                    continue;
                }
                let mut total = gain + others - self.cost(other, here, rank, distances);
                let edges = self.graph.edges(rank);
                if let Ok(at) = edges.binary_search_by_key(&other, |edge| edge.to) {
                    // Moving alone brings the two together; changing places does not.
                    total -= self.paid(&edges[at], there, here, distances);
                }
                if total > best.0 {
                    best = (total, Some(other));
                }
            }
        }
        best.1
    }

    /// Places of the nodes of those that a rank exchanges most with, and of their neighbours.
    fn places_to_try(&self, rank: u32) -> Vec<usize> {
        let mut partners: Vec<&Edge> = self.graph.edges(rank).iter().collect();
        partners.sort_by_key(|edge| std::cmp::Reverse(edge.both()));
        let here = self.places[self.nodes[rank as usize] as usize];
        let around = |edge: &&Edge| {
            let place = self.places[self.nodes[edge.to as usize] as usize];
            place.saturating_sub(AROUND)..(place + AROUND + 1).min(self.order.len())
        };
        let mut places: Vec<usize> =
            partners.iter().take(PARTNERS).flat_map(around).filter(|place| *place != here).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    fn swap(&mut self, a: u32, b: u32) {
        let [from, to] = [a, b].map(|rank| self.places[self.nodes[rank as usize] as usize]);
        for (place, old, new) in [(from, a, b), (to, b, a)] {
            if let Some(seat) = self.on[place].iter_mut().find(|rank| **rank == old) {
                *seat = new;
            }
        }
        self.nodes.swap(a as usize, b as usize);
    }
}
