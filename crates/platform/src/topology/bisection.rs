//! An estimate of the bisection bandwidth of any network: the best of several cuts.
//!
//! Finding the worst cut of a graph is NP-hard. Here the nodes are put in several orders that keep neighbours
//! together, each order is cut in the middle, and each cut is improved by moves as Fiduccia and Mattheyses' (1982) until
//! no single switch and no pair of nodes makes it better. What remains is a cut that exists: an upper bound.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use super::{Link, Topology, Vertex};

/// Rounds of averaging over neighbours: enough to tell the halves of what people draw.
const ROUNDS: usize = 200;

/// Less is no gain, but a rounding error.
const ROUNDING: f64 = 1e-9;

/// Bytes per second over the best cut found into two halves of the nodes, in the direction in which it is less.
pub fn upper_bound(topology: &(impl Topology + ?Sized)) -> f64 {
    let network = Network::new(topology);
    if network.nodes < 2 {
        return 0.0;
    }
    let near = network.by_distance(0);
    let far = network.by_distance(near.last().copied().unwrap_or(0));
    let farther = network.by_distance(far.last().copied().unwrap_or(0));
    let orders = [(0..network.neighbours.len()).collect(), network.spectral(), near, far, farther];
    orders.iter().map(|order| network.cut(order)).fold(f64::INFINITY, f64::min)
}

/// Vertices and what can go between them; the first ones are the nodes.
struct Network {
    nodes: usize,
    /// For each vertex, its neighbours and the capacity to and from each, once per link.
    neighbours: Vec<Vec<(usize, f64)>>,
    /// For each vertex, where links lead to, and their capacities.
    exits: Vec<Vec<(usize, f64)>>,
    /// For each vertex, where links come from, likewise.
    entries: Vec<Vec<(usize, f64)>>,
}

impl Network {
    fn new(topology: &(impl Topology + ?Sized)) -> Network {
        let nodes = topology.nodes() as usize;
        let index = |vertex| match vertex {
            Vertex::Node(node) => node as usize,
            Vertex::Switch(switch) => nodes + switch as usize,
        };
        let vertices = nodes + topology.switches() as usize;
        let mut neighbours = vec![Vec::new(); vertices];
        let (mut exits, mut entries) = (neighbours.clone(), neighbours.clone());
        let mut arc = |tail: usize, head: usize, bandwidth: f64| {
            exits[tail].push((head, bandwidth));
            entries[head].push((tail, bandwidth));
        };
        for id in 0..topology.links() {
            let (tail, head) = topology.ends(id);
            let (tail, head, Link { bandwidth, .. }) = (index(tail), index(head), topology.link(id));
            if tail == head || topology.is_failed(id) || topology.is_missing(id) {
                continue;
            }
            let shared = topology.is_shared(id);
            arc(tail, head, bandwidth);
            if shared {
                arc(head, tail, bandwidth);
            }
            let both = if shared { 2.0 * bandwidth } else { bandwidth };
            neighbours[tail].push((head, both));
            neighbours[head].push((tail, both));
        }
        Network { nodes, neighbours, exits, entries }
    }

    /// Vertices in the order in which a search by breadth meets them.
    fn by_distance(&self, start: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.neighbours.len());
        let mut met = vec![false; self.neighbours.len()];
        for start in std::iter::once(start).chain(0..self.neighbours.len()) {
            if std::mem::replace(&mut met[start], true) {
                continue;
            }
            let mut taken = order.len();
            order.push(start);
            while let Some(&vertex) = order.get(taken) {
                taken += 1;
                for &(next, _) in &self.neighbours[vertex] {
                    if !std::mem::replace(&mut met[next], true) {
                        order.push(next);
                    }
                }
            }
        }
        order
    }

    /// Vertices by their value in (nearly) the second eigenvector of the graph's averaging matrix: Fiedler's (1973)
    /// way to see the two parts of a graph. Found by averaging over neighbours again and again, less the mean.
    fn spectral(&self) -> Vec<usize> {
        let weight: Vec<f64> =
            self.neighbours.iter().map(|list| list.iter().map(|&(_, capacity)| capacity).sum::<f64>()).collect();
        let total: f64 = weight.iter().sum();
        // Any start that is not regular will do; it must be the same every time.
        let mut value: Vec<f64> = (0..weight.len()).map(|at| ((at * 7919 + 13) % 1009) as f64 / 1009.0).collect();
        for _ in 0..ROUNDS {
            let mean = value.iter().zip(&weight).map(|(value, weight)| value * weight).sum::<f64>() / total.max(1.0);
            let norm = value.iter().map(|value| (value - mean).powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            value.iter_mut().for_each(|value| *value = (*value - mean) / norm);
            let next = |(vertex, list): (usize, &Vec<(usize, f64)>)| {
                let sum: f64 = list.iter().map(|&(next, capacity)| capacity * value[next]).sum();
                // Half of itself: otherwise a bipartite graph would swing for ever.
                0.5 * value[vertex] + if weight[vertex] > 0.0 { 0.5 * sum / weight[vertex] } else { 0.0 }
            };
            value = self.neighbours.iter().enumerate().map(next).collect();
        }
        let mut order: Vec<usize> = (0..value.len()).collect();
        order.sort_by(|&a, &b| value[a].total_cmp(&value[b]).then(a.cmp(&b)));
        order
    }

    /// Cuts after half of the nodes, improves the cut, and says what crosses it.
    fn cut(&self, order: &[usize]) -> f64 {
        let half = self.nodes / 2;
        let mut left = vec![false; self.neighbours.len()];
        let mut count = 0;
        for &vertex in order {
            left[vertex] = count < half;
            count += (vertex < self.nodes) as usize;
        }
        self.place_switches(&mut left);
        let left = Cut::new(self, left).improved();
        [true, false].map(|from| self.least_across(&left, from)).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// What crosses the cut in one direction, if switches stand where that is least: where they are, or all of them on one
    /// side, improved by moves that look at this direction only. In networks whose links lead one way, the other direction
    /// says little; and no more can cross than the nodes of a side send or receive.
    fn least_across(&self, left: &[bool], from: bool) -> f64 {
        let all_on = |side: bool| {
            let mut left = left.to_vec();
            left[self.nodes..].fill(side);
            left
        };
        let sweep =
            |left: &mut [bool]| (self.nodes..left.len()).filter(|&switch| self.move_for(left, switch, from)).count();
        let improved = |mut left: Vec<bool>| {
            while sweep(&mut left) > 0 {}
            self.across(&left, from)
        };
        [left.to_vec(), all_on(true), all_on(false)].map(improved).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// What leads from one side to the other.
    fn across(&self, left: &[bool], from: bool) -> f64 {
        let tails = (0..left.len()).filter(|&vertex| left[vertex] == from);
        tails.map(|tail| capacity(&self.exits[tail], left, !from)).sum()
    }

    /// Lets a switch change sides if less then leads from one side to the other. Each
    /// move lowers the sum, so that they come to an end.
    fn move_for(&self, left: &mut [bool], switch: usize, from: bool) -> bool {
        // What crosses if the switch is on the one side, and if it is on the other.
        let (here, there) = (capacity(&self.exits[switch], left, !from), capacity(&self.entries[switch], left, from));
        let (now, then) = if left[switch] == from { (here, there) } else { (there, here) };
        let moves = then < now * (1.0 - ROUNDING);
        left[switch] ^= moves;
        moves
    }

    /// Puts each switch on the side to which it is tied more, also through other switches: the nodes pull with a fixed
    /// force to either side, and the switches settle in between.
    fn place_switches(&self, left: &mut [bool]) {
        let mut pull: Vec<f64> = left.iter().map(|&left| if left { 1.0 } else { -1.0 }).collect();
        pull[self.nodes..].fill(0.0);
        for _ in 0..ROUNDS {
            for switch in self.nodes..pull.len() {
                let ties = &self.neighbours[switch];
                let weight: f64 = ties.iter().map(|&(_, capacity)| capacity).sum();
                let sum: f64 = ties.iter().map(|&(next, capacity)| capacity * pull[next]).sum();
                pull[switch] = if weight > 0.0 { sum / weight } else { 0.0 };
            }
        }
        for switch in self.nodes..pull.len() {
            left[switch] = pull[switch] > 0.0;
        }
    }

    /// What the cut loses if the vertex changes sides.
    fn gain(&self, left: &[bool], vertex: usize) -> f64 {
        let signed = |&(next, capacity): &(usize, f64)| if left[next] != left[vertex] { capacity } else { -capacity };
        self.neighbours[vertex].iter().map(signed).sum()
    }
}

/// A cut that is being improved. It knows who may want to change sides, so that a move costs no more than its neighbours:
/// with 100,000 nodes there are many moves.
struct Cut<'n> {
    network: &'n Network,
    left: Vec<bool>,
    /// Switches that have not been looked at since a neighbour changed sides.
    unsettled: BTreeSet<usize>,
    /// Nodes on the right, and on the left, by what the cut loses if they leave; some entries no longer hold.
    willing: [BinaryHeap<Willing>; 2],
}

/// A node and what the cut loses if it changes sides. Of equal ones the first is the greatest.
struct Willing {
    gain: f64,
    node: usize,
}

impl<'n> Cut<'n> {
    fn new(network: &'n Network, left: Vec<bool>) -> Cut<'n> {
        let unsettled = (network.nodes..left.len()).collect();
        let mut cut = Cut { network, left, unsettled, willing: Default::default() };
        (0..network.nodes).for_each(|node| cut.enter(node));
        cut
    }

    /// Moves switches and swaps nodes for as long as that makes the cut smaller.
    fn improved(mut self) -> Vec<bool> {
        // Each round makes the cut smaller or is the last; the bound is for rounding errors only.
        for _ in 0..4 * self.left.len() {
            let moved = self.move_switches();
            if !self.swap_nodes() && !moved {
                break;
            }
        }
        self.left
    }

    fn move_switches(&mut self) -> bool {
        let mut moved = false;
        let mut next = self.network.nodes;
        while let Some(&switch) = self.unsettled.range(next..).next() {
            self.unsettled.remove(&switch);
            next = switch + 1;
            if self.network.gain(&self.left, switch) > 0.0 {
                self.change_side(switch);
                moved = true;
            }
        }
        moved
    }

    /// Swaps the two nodes on opposite sides that want it most, if that makes the cut smaller.
    fn swap_nodes(&mut self) -> bool {
        let (Some((gain, node)), Some((other_gain, other))) = (self.most_willing(true), self.most_willing(false))
        else {
            return false;
        };
        let between = self.network.neighbours[node].iter().filter(|&&(next, _)| next == other);
        let joined: f64 = between.map(|&(_, capacity)| capacity).sum();
        if gain + other_gain - 2.0 * joined <= 0.0 {
            return false;
        }
        self.change_side(node);
        self.change_side(other);
        true
    }

    fn most_willing(&mut self, side: bool) -> Option<(f64, usize)> {
        while let Some(&Willing { gain, node }) = self.willing[side as usize].peek() {
            if self.left[node] == side && self.network.gain(&self.left, node) == gain {
                return Some((gain, node));
            }
            self.willing[side as usize].pop();
        }
        None
    }

    fn change_side(&mut self, vertex: usize) {
        self.left[vertex] ^= true;
        let network = self.network;
        if vertex < network.nodes {
            self.enter(vertex);
        }
        for &(next, _) in &network.neighbours[vertex] {
            if next < network.nodes {
                self.enter(next);
            } else {
                self.unsettled.insert(next);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        let gain = self.network.gain(&self.left, node);
        self.willing[self.left[node] as usize].push(Willing { gain, node });
    }
}

impl Ord for Willing {
    fn cmp(&self, other: &Willing) -> Ordering {
        // Minus zero is zero.
        (self.gain + 0.0).total_cmp(&(other.gain + 0.0)).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Willing {
    fn partial_cmp(&self, other: &Willing) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Willing {
    fn eq(&self, other: &Willing) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Willing {}

/// Of ties, what those to one side can carry.
fn capacity(ties: &[(usize, f64)], left: &[bool], side: bool) -> f64 {
    ties.iter().filter(|&&(next, _)| left[next] == side).map(|&(_, capacity)| capacity).sum()
}
