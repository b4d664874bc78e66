//! Shortest paths within a zone, with SimGrid's choice among paths of equal length.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Links of each hop that a file gives, by the numbers of its ends.
pub(super) type Lengths = BTreeMap<(usize, usize), usize>;

/// For each start and goal, the last point before the goal.
pub(super) type Before = Vec<Vec<Option<usize>>>;

/// A way to find them: number of points, hops, and the hops in the order of the file.
pub(super) type Search = fn(usize, &Lengths, &[(usize, usize)]) -> Before;

/// For each pair, the last point before the goal on a path with the fewest links; Floyd and Warshall's algorithm, with
/// SimGrid's choice among equals.
pub(super) fn floyd(size: usize, lengths: &Lengths, _: &[(usize, usize)]) -> Before {
    let mut before = vec![vec![None; size]; size];
    let mut cost = vec![vec![usize::MAX; size]; size];
    for ((from, to), length) in lengths {
        before[*from][*to] = Some(*from);
        cost[*from][*to] = *length;
    }
    for middle in 0..size {
        for from in 0..size {
            if cost[from][middle] == usize::MAX {
                continue;
            }
            for to in 0..size {
                let detour = cost[from][middle].saturating_add(cost[middle][to]);
                if cost[middle][to] != usize::MAX && detour < cost[from][to] {
                    cost[from][to] = detour;
                    before[from][to] = before[middle][to];
                }
            }
        }
    }
    before
}

/// The same by Dijkstra's algorithm; among equals the point that the file's routes name first goes first.
pub(super) fn dijkstra(size: usize, lengths: &Lengths, edges: &[(usize, usize)]) -> Before {
    let mut order = vec![usize::MAX; size];
    let mut seen = 0;
    let mut leaving = vec![Vec::new(); size];
    for (from, to) in edges {
        for point in [*from, *to] {
            if order[point] == usize::MAX {
                order[point] = seen;
                seen += 1;
            }
        }
        leaving[*from].push((*to, lengths.get(&(*from, *to)).copied().unwrap_or(0)));
    }
    let search = |start: usize| {
        let mut before = vec![None; size];
        let mut cost = vec![usize::MAX; size];
        let mut queue = BinaryHeap::new();
        cost[start] = 0;
        queue.push(Reverse((0, order[start], start)));
        while let Some(Reverse((reached, _, at))) = queue.pop() {
            if reached > cost[at] {
                continue;
            }
            for (to, length) in &leaving[at] {
                if reached + length < cost[*to] {
                    cost[*to] = reached + length;
                    before[*to] = Some(at);
                    queue.push(Reverse((cost[*to], order[*to], *to)));
                }
            }
        }
        // The way to oneself is the hop to oneself, if there is one.
        before[start] = lengths.contains_key(&(start, start)).then_some(start);
        before
    };
    (0..size).map(search).collect()
}
