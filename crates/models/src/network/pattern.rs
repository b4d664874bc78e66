//! Who sends to whom in made-up traffic: patterns for which much is known.
//!
//! Source: W. J. Dally and B. Towles, "Principles and practices of interconnection networks", 2004, section 3.2.

use std::fmt;
use std::str::FromStr;

use hpcast_engine::random::Stream;
use hpcast_platform::interconnect::Path;
use hpcast_platform::placement::Site;
use hpcast_platform::topology::{Structure, Topology};

/// A pattern of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Each message to any other node.
    Uniform,
    /// Node (x, y) of a square to node (y, x); what is left over keeps to itself.
    Transpose,
    /// Node i to node i + k, around the end.
    Shift(u32),
    /// Node i to the one opposite: i + n/2.
    Opposite,
    /// Each node to one other, drawn once, nobody twice.
    Permutation,
    /// What hurts minimal routing most: in a torus almost half way around every ring; elsewhere that one of some shifts (to the
    /// next group, to the next switch, to the opposite node) which loads a link most.
    Adversary,
}

/// A pattern that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no pattern `{0}`: write uniform, transpose, shift:K (such as shift:1), opposite, permutation or adversary"
)]
pub struct PatternError(String);

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let unknown = || PatternError(text.into());
        match text {
            "uniform" => Ok(Pattern::Uniform),
            "transpose" => Ok(Pattern::Transpose),
            "opposite" => Ok(Pattern::Opposite),
            "permutation" => Ok(Pattern::Permutation),
            "adversary" => Ok(Pattern::Adversary),
            _ => {
                let steps = text.strip_prefix("shift:").and_then(|steps| steps.parse().ok());
                steps.map(Pattern::Shift).ok_or_else(unknown)
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Pattern::Uniform => f.write_str("uniform"),
            Pattern::Transpose => f.write_str("transpose"),
            Pattern::Shift(steps) => write!(f, "shift:{steps}"),
            Pattern::Opposite => f.write_str("opposite"),
            Pattern::Permutation => f.write_str("permutation"),
            Pattern::Adversary => f.write_str("adversary"),
        }
    }
}

/// Where the messages of each node go.
#[derive(Clone, Debug)]
pub struct Destinations {
    /// One for each node; empty if they differ from message to message.
    fixed: Vec<u32>,
    nodes: u32,
    stream: Stream,
}

impl Destinations {
    /// In that network, of whose nodes so many are there, the first ones.
    pub fn new(pattern: Pattern, topology: &dyn Topology, nodes: u32, stream: Stream) -> Destinations {
        let shifted = |steps: u32| shifted(nodes, steps);
        let fixed = match pattern {
            Pattern::Uniform => Vec::new(),
            Pattern::Shift(steps) => shifted(steps),
            Pattern::Opposite => shifted(nodes / 2),
            Pattern::Transpose => transposed(nodes),
            Pattern::Permutation => {
                let mut order: Vec<u32> = (0..nodes).collect();
                stream.shuffle(&mut order, 0);
                let mut to = vec![0; nodes as usize];
                (0..order.len()).for_each(|at| to[order[at] as usize] = order[(at + 1) % order.len()]);
                to
            }
            Pattern::Adversary => adversary(topology, nodes),
        };
        Destinations { fixed, nodes, stream }
    }

    /// Where a node's message goes: the `index`-th that it sends.
    #[inline]
    pub fn of(&self, from: u32, index: u64) -> u32 {
        match self.fixed.get(from as usize) {
            Some(&to) => to,
            None if self.nodes < 2 => from,
            None => {
                let other = self.stream.below(u64::from(self.nodes) - 1, from, index) as u32;
                other + (other >= from) as u32
            }
        }
    }

    /// Where all of a node's messages go; `None` if anywhere.
    pub fn fixed(&self, from: u32) -> Option<u32> {
        self.fixed.get(from as usize).copied()
    }
}

fn shifted(nodes: u32, steps: u32) -> Vec<u32> {
    (0..nodes).map(|node| ((u64::from(node) + u64::from(steps)) % u64::from(nodes)) as u32).collect()
}

fn transposed(nodes: u32) -> Vec<u32> {
    let side = nodes.isqrt();
    let turned = |node: u32| if node < side * side { node / side + side * (node % side) } else { node };
    (0..nodes).map(turned).collect()
}

/// Planes do not change what hurts.
fn adversary(topology: &dyn Topology, nodes: u32) -> Vec<u32> {
    let one = topology.plane().map_or(topology, |(one, _)| one);
    let mut candidates = Vec::new();
    match one.structure() {
        Structure::Grid { dims, wrap: true } => return (0..nodes).map(|node| tornado(node, nodes, &dims)).collect(),
        Structure::Groups { size, .. } => {
            let groups = (one.switches() / size.max(1)).max(1);
            candidates.push(shifted(nodes, one.nodes() / groups));
        }
        // In order of dimensions, all nodes of a line meet where they turn.
        Structure::Cube { .. } => candidates.push(transposed(nodes)),
        _ => {}
    }
    let all: Vec<u32> = (0..nodes).collect();
    let on_a_switch = Site::new(nodes, 1, topology).by_switch(&all).first().map_or(1, Vec::len) as u32;
    candidates.extend([shifted(nodes, nodes / 2), shifted(nodes, on_a_switch)]);
    let worst = |best: (f64, Vec<u32>), to: Vec<u32>| {
        let load = greatest_load(topology, &to);
        if load > best.0 * (1.0 + 1e-9) { (load, to) } else { best }
    };
    candidates.into_iter().fold((0.0, shifted(nodes, nodes / 2)), worst).1
}

/// How many seconds the busiest link needs for a byte of every node, along the fixed ways.
fn greatest_load(topology: &dyn Topology, to: &[u32]) -> f64 {
    let mut load = vec![0u32; topology.links() as usize];
    let mut path = Path::default();
    for (from, &to) in (0..).zip(to).filter(|(from, to)| from != *to) {
        path.clear();
        topology.route(from, to, &mut path);
        path.links.iter().for_each(|&link| load[link as usize] += 1);
    }
    (0..).zip(&load).map(|(link, &load)| f64::from(load) / topology.link(link).bandwidth).fold(0.0, f64::max)
}

/// The tornado among the nodes that are there: who would send to one that is not sends to where that would.
fn tornado(node: u32, nodes: u32, dims: &[u32]) -> u32 {
    let mut to = half_around(node, dims);
    while to >= nodes {
        to = half_around(to, dims);
    }
    to
}

/// The tornado: (k - 1) / 2 steps, rounded down, along each ring of k.
fn half_around(node: u32, dims: &[u32]) -> u32 {
    let (mut rest, mut stride, mut to) = (node, 1, 0);
    for &size in dims {
        to += (rest % size + size.saturating_sub(1) / 2) % size * stride;
        rest /= size;
        stride *= size;
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcast_engine::random::Key;
    use hpcast_platform::topology::{
        Arrangement, Dragonfly, DragonflyLinks, DragonflyShape, Duplex, HyperX, HyperXShape, Hypercube, Link,
        PlaneChoice, Planes, SlimFly, Torus,
    };

    fn destinations(pattern: &str, dims: &[u32]) -> Destinations {
        let link = Link { bandwidth: 1e9, latency: 1e-6 };
        let torus = Torus::new(dims, true, link, Duplex::Split).unwrap();
        Destinations::new(pattern.parse().unwrap(), &torus, torus.nodes(), Key::new(1).purpose("traffic"))
    }

    #[test]
    fn as_defined() {
        let all = |pattern: &str, dims: &[u32]| {
            let to = destinations(pattern, dims);
            (0..dims.iter().product()).map(|node| to.of(node, 0)).collect::<Vec<u32>>()
        };
        assert_eq!(all("shift:1", &[4]), [1, 2, 3, 0]);
        assert_eq!(all("opposite", &[4]), [2, 3, 0, 1]);
        assert_eq!(all("transpose", &[5]), [0, 2, 1, 3, 4]);
        assert_eq!(all("adversary", &[8]), [3, 4, 5, 6, 7, 0, 1, 2]);
        let mut drawn = all("permutation", &[9]);
        assert!(drawn.iter().zip(0..).all(|(&to, from)| to != from));
        drawn.sort();
        assert_eq!(drawn, (0..9).collect::<Vec<_>>());
        let uniform = destinations("uniform", &[5]);
        let mut seen: Vec<u32> = (0..200).map(|index| uniform.of(2, index)).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen, [0, 1, 3, 4]);
    }

    /// Most messages over one link, if each node sends one as the pattern says.
    fn most(topology: &dyn Topology, pattern: &str) -> f64 {
        let key = Key::new(1).purpose("traffic");
        let to = Destinations::new(pattern.parse().unwrap(), topology, topology.nodes(), key);
        greatest_load(topology, &to.fixed) * 1e9
    }

    #[test]
    fn the_adversary_is_as_bad_as_other_shifts() {
        let link = Link { bandwidth: 1e9, latency: 1e-6 };
        let links = DragonflyLinks { node: link, local: link, global: link };
        let shape = DragonflyShape {
            groups: 9,
            switches_per_group: 4,
            nodes_per_switch: 2,
            global_cables_per_switch: 2,
            arrangement: Arrangement::Absolute,
        };
        let dragonfly = || Box::new(Dragonfly::new(shape, links, Duplex::Split).unwrap());
        assert_eq!(most(&*dragonfly(), "adversary"), 8.0);
        let planes = Planes::new(dragonfly(), 2, PlaneChoice::Source).unwrap();
        assert_eq!((most(&planes, "adversary"), most(&planes, "shift:8")), (4.0, 4.0));
        let shape = HyperXShape { dimensions: vec![7], cables: vec![1], nodes_per_switch: 3 };
        let full_mesh = HyperX::new(shape, link, link, Duplex::Split).unwrap();
        assert_eq!((most(&full_mesh, "adversary"), most(&full_mesh, "shift:3")), (3.0, 3.0));
        let slim_fly = SlimFly::new(5, 2, link, link, Duplex::Split).unwrap();
        assert!(most(&slim_fly, "adversary") >= most(&slim_fly, "shift:2"));
        assert!(most(&slim_fly, "adversary") >= 4.0);
        let cube = Hypercube::new(6, 1, link, Duplex::Split).unwrap();
        assert_eq!((most(&cube, "adversary"), most(&cube, "opposite")), (4.0, 1.0));
    }

    /// Where some nodes are not there, the others still send to different ones that are.
    #[test]
    fn the_tornado_leaves_out_nodes_that_are_not_there() {
        let mut to: Vec<u32> = (0..13).map(|node| tornado(node, 13, &[4, 4])).collect();
        to.sort();
        assert_eq!(to, (0..13).collect::<Vec<_>>());
    }

    #[test]
    fn words() {
        for word in ["uniform", "transpose", "shift:7", "opposite", "permutation", "adversary"] {
            assert_eq!(word.parse::<Pattern>().unwrap().to_string(), word);
        }
        assert!("shift:x".parse::<Pattern>().unwrap_err().to_string().contains("shift:1"));
    }
}
