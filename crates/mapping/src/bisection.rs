//! A set of ranks in two halves of given sizes, with little traffic between them.

use std::collections::BinaryHeap;

use hpcast_engine::Stream;

/// Halves that are grown from ranks drawn at random.
const GROWN: u64 = 3;
/// Refinements of a cut: usually three or four are enough.
const PASSES: u32 = 12;
/// A pass ends after so many moves in vain, or a share of all.
const IN_VAIN: usize = 64;

/// What is to be cut.
pub struct Cut<'g> {
    /// Edges of vertex v are `edges[first[v]..first[v + 1]]`: the other vertex, and what it costs to part the two.
    pub first: &'g [usize],
    pub edges: &'g [(u32, i64)],
    /// What a vertex costs more in the second half than in the first, because of vertices that are elsewhere.
    pub bias: &'g [i64],
    /// Vertices of the first half.
    pub size: usize,
}

/// The vertices of the first half.
type Half = Vec<bool>;

impl Cut<'_> {
    /// A good cut: the best of some.
    pub fn find(&self, random: &Stream, number: u32) -> Half {
        let vertices = self.bias.len();
        let in_order = (0..vertices).map(|vertex| vertex < self.size).collect();
        let seeds = (0..GROWN).map(|draw| random.below(vertices as u64, number, draw) as u32);
        let starts = std::iter::once(in_order).chain(seeds.map(|seed| self.grown(seed)));
        let refined = starts.map(|mut half| {
            self.refine(&mut half);
            (self.cost(&half), half)
        });
        // The first of equally good ones.
        refined.min_by_key(|(cost, _)| *cost).map(|(_, half)| half).unwrap_or_default()
    }

    fn edges(&self, vertex: u32) -> &[(u32, i64)] {
        &self.edges[self.first[vertex as usize]..self.first[vertex as usize + 1]]
    }

    fn cost(&self, half: &Half) -> i64 {
        let of = |vertex: usize| {
            let parted = self.edges(vertex as u32).iter().filter(|(to, _)| half[*to as usize] != half[vertex]);
            parted.map(|(_, cost)| cost).sum::<i64>() + if half[vertex] { 0 } else { 2 * self.bias[vertex] }
        };
        // Each edge is counted from both of its ends.
        (0..half.len()).map(of).sum::<i64>() / 2
    }

    /// A half that grows from a vertex to what is joined to it most.
    fn grown(&self, seed: u32) -> Half {
        let vertices = self.bias.len();
        let mut half = vec![false; vertices];
        let mut joined = self.bias.to_vec();
        let mut queue = BinaryHeap::from([(i64::MAX, std::cmp::Reverse(seed))]);
        let mut others = 0..vertices;
        for _ in 0..self.size {
            let next = loop {
                match queue.pop() {
                    Some((value, std::cmp::Reverse(vertex))) => {
                        // What was queued before it was joined more is out of date.
                        if !half[vertex as usize] && (value == joined[vertex as usize] || value == i64::MAX) {
                            break Some(vertex);
                        }
                    }
                    None => break others.find(|vertex| !half[*vertex]).map(|vertex| vertex as u32),
                }
            };
            let Some(vertex) = next else { break };
            half[vertex as usize] = true;
            for &(to, cost) in self.edges(vertex) {
                joined[to as usize] += cost;
                if !half[to as usize] {
                    queue.push((joined[to as usize], std::cmp::Reverse(to)));
                }
            }
        }
        half
    }

    /// Passes of moves until one gains nothing.
    fn refine(&self, half: &mut Half) {
        for _ in 0..PASSES {
            if !Pass::new(self, half).run() {
                return;
            }
        }
    }
}

/// One pass: every vertex moves at most once, and what was gained until the best moment is kept.
struct Pass<'c, 'g> {
    cut: &'c Cut<'g>,
    half: &'c mut Half,
    gains: Vec<i64>,
    moved: Vec<bool>,
    /// Candidates of the first and the second half.
    queues: [BinaryHeap<(i64, std::cmp::Reverse<u32>)>; 2],
}

impl<'c, 'g> Pass<'c, 'g> {
    fn new(cut: &'c Cut<'g>, half: &'c mut Half) -> Pass<'c, 'g> {
        let gain = |vertex: usize| {
            let sign = |to: u32| if half[to as usize] == half[vertex] { -1 } else { 1 };
            let joined: i64 = cut.edges(vertex as u32).iter().map(|&(to, cost)| sign(to) * cost).sum();
            joined + if half[vertex] { -cut.bias[vertex] } else { cut.bias[vertex] }
        };
        let gains: Vec<i64> = (0..half.len()).map(gain).collect();
        let mut queues = [BinaryHeap::new(), BinaryHeap::new()];
        for (vertex, gain) in (0..).zip(&gains) {
            queues[usize::from(!half[vertex as usize])].push((*gain, std::cmp::Reverse(vertex)));
        }
        Pass { cut, moved: vec![false; half.len()], half, gains, queues }
    }

    /// The vertex of a half whose move gains most.
    fn best(&mut self, side: usize) -> Option<(i64, u32)> {
        while let Some(&(gain, std::cmp::Reverse(vertex))) = self.queues[side].peek() {
            let is_there = usize::from(!self.half[vertex as usize]) == side;
            if is_there && !self.moved[vertex as usize] && gain == self.gains[vertex as usize] {
                return Some((gain, vertex));
            }
            self.queues[side].pop();
        }
        None
    }

    fn step(&mut self, vertex: u32) {
        let at = vertex as usize;
        self.moved[at] = true;
        self.half[at] = !self.half[at];
        self.gains[at] = -self.gains[at];
        let cut = self.cut;
        for &(to, cost) in cut.edges(vertex) {
            let other = to as usize;
            self.gains[other] += if self.half[other] == self.half[at] { -2 * cost } else { 2 * cost };
            if !self.moved[other] {
                self.queues[usize::from(!self.half[other])].push((self.gains[other], std::cmp::Reverse(to)));
            }
        }
    }

    /// Whether it gained anything.
    fn run(mut self) -> bool {
        let patience = IN_VAIN.max(self.half.len() / 4);
        let (mut gained, mut best_gained) = (0, 0);
        let mut steps: Vec<u32> = Vec::new();
        let mut best_steps = 0;
        let mut first_has_more = 0i32;
        while steps.len() < best_steps + patience {
            let sides = match first_has_more {
                0 => [self.best(0).map(|best| (best, 0)), self.best(1).map(|best| (best, 1))],
                1 => [self.best(0).map(|best| (best, 0)), None],
                _ => [self.best(1).map(|best| (best, 1)), None],
            };
            // Of equal gains the first half's.
            let chosen = sides.into_iter().flatten().max_by_key(|((gain, _), side)| (*gain, std::cmp::Reverse(*side)));
            let Some(((gain, vertex), side)) = chosen else { break };
            self.step(vertex);
            steps.push(vertex);
            gained += gain;
            first_has_more += if side == 0 { -1 } else { 1 };
            if first_has_more == 0 && gained > best_gained {
                (best_gained, best_steps) = (gained, steps.len());
            }
        }
        for vertex in &steps[best_steps..] {
            self.half[*vertex as usize] = !self.half[*vertex as usize];
        }
        best_gained > 0
    }
}

#[cfg(test)]
mod tests {
    use hpcast_engine::Key;

    use super::*;

    fn cut(edges: &[(u32, u32, i64)], bias: &[i64], size: usize) -> (Half, i64) {
        let mut both: Vec<(u32, (u32, i64))> = edges.iter().flat_map(|&(a, b, w)| [(a, (b, w)), (b, (a, w))]).collect();
        both.sort_unstable();
        let first: Vec<usize> = (0..=bias.len()).map(|v| both.partition_point(|(a, _)| (*a as usize) < v)).collect();
        let edges: Vec<(u32, i64)> = both.into_iter().map(|(_, edge)| edge).collect();
        let cut = Cut { first: &first, edges: &edges, bias, size };
        let half = cut.find(&Key::new(1).purpose("test"), 0);
        let cost = cut.cost(&half);
        (half, cost)
    }

    #[test]
    fn two_clusters_are_parted() {
        // Two cliques of four, their members mixed, with one thin edge between them.
        let mut edges = vec![(0, 1, 1)];
        for a in 0..8u32 {
            edges.extend((a + 1..8).filter(|b| (a + b) % 2 == 0).map(|b| (a, b, 10)));
        }
        let (half, cost) = cut(&edges, &[0; 8], 4);
        assert_eq!(cost, 1);
        assert_eq!(half.iter().filter(|inside| **inside).count(), 4);
        assert!((0..8).all(|vertex| half[vertex] == half[vertex % 2]));
    }

    #[test]
    fn halves_have_their_sizes_and_vertices_their_sides() {
        // A line: the bias says which end is the first half.
        let edges: Vec<(u32, u32, i64)> = (0..9).map(|v| (v, v + 1, 3)).collect();
        let mut bias = [0; 10];
        bias[9] = 5;
        let (half, _) = cut(&edges, &bias, 3);
        assert_eq!(half, [false, false, false, false, false, false, false, true, true, true]);
        let (all, cost) = cut(&[], &[0, -2], 2);
        assert_eq!((all, cost), (vec![true, true], 0));
    }
}
