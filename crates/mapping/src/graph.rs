//! Traffic as a graph: what each rank exchanges with which others.

use crate::traffic::Traffic;

/// Larger sums of bytes are counted in larger units, so that bytes times distances fit into a number.
const MOST_BYTES: u64 = 1 << 50;

/// What a rank exchanges with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The other.
    pub to: u32,
    /// What it is sent.
    pub sent: i64,
    /// What it sends.
    pub received: i64,
}

impl Edge {
    pub fn both(&self) -> i64 {
        self.sent + self.received
    }
}

/// Edges of all ranks.
#[derive(Debug)]
pub struct Graph {
    /// Edges of rank r are `first[r]..first[r + 1]`.
    first: Vec<usize>,
    edges: Vec<Edge>,
}

impl Graph {
    /// What ranks send to themselves goes nowhere.
    pub fn new(traffic: &Traffic) -> Graph {
        let total = traffic.pairs().map(|(_, _, counts)| u128::from(counts.bytes)).sum::<u128>();
        let unit = (total / u128::from(MOST_BYTES) + 1) as u64;
        let mut halves: Vec<(u32, Edge)> = Vec::new();
        for (from, to, counts) in traffic.pairs().filter(|(from, to, _)| from != to) {
            // Messages without data count a little.
            let bytes = counts.bytes.div_ceil(unit).max(1) as i64;
            halves.push((from, Edge { to, sent: bytes, received: 0 }));
            halves.push((to, Edge { to: from, sent: 0, received: bytes }));
        }
        halves.sort_unstable_by_key(|(from, edge)| (*from, edge.to));
        let mut graph = Graph { first: vec![0], edges: Vec::new() };
        for same in halves.chunk_by(|a, b| (a.0, a.1.to) == (b.0, b.1.to)) {
            let (rank, to) = (same[0].0, same[0].1.to);
            graph.first.resize(rank as usize + 1, graph.edges.len());
            let sent = same.iter().map(|(_, edge)| edge.sent).sum();
            let received = same.iter().map(|(_, edge)| edge.received).sum();
            graph.edges.push(Edge { to, sent, received });
        }
        graph.first.resize(traffic.ranks() as usize + 1, graph.edges.len());
        graph
    }

    pub fn ranks(&self) -> u32 {
        (self.first.len() - 1) as u32
    }

    #[inline]
    pub fn edges(&self, rank: u32) -> &[Edge] {
        &self.edges[self.first[rank as usize]..self.first[rank as usize + 1]]
    }
}
