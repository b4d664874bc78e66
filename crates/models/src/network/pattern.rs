//! Who sends to whom in made-up traffic: patterns for which much is known.
//!
//! Source: W. J. Dally and B. Towles, "Principles and practices of interconnection networks", 2004, section 3.2.

use std::fmt;
use std::str::FromStr;

use hpcast_engine::random::Stream;
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
    /// What hurts minimal routing most: in a torus almost half way around every ring, in a network of groups everybody of a
    /// group to the next one, otherwise to the opposite node.
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
    /// In that network.
    pub fn new(pattern: Pattern, topology: &dyn Topology, stream: Stream) -> Destinations {
        let nodes = topology.nodes();
        let shifted =
            |steps: u32| (0..nodes).map(move |node| ((u64::from(node) + u64::from(steps)) % u64::from(nodes)) as u32);
        let fixed = match pattern {
            Pattern::Uniform => Vec::new(),
            Pattern::Shift(steps) => shifted(steps).collect(),
            Pattern::Opposite => shifted(nodes / 2).collect(),
            Pattern::Transpose => {
                let side = nodes.isqrt();
                let turned = |node: u32| if node < side * side { node / side + side * (node % side) } else { node };
                (0..nodes).map(turned).collect()
            }
            Pattern::Permutation => {
                let mut order: Vec<u32> = (0..nodes).collect();
                stream.shuffle(&mut order, 0);
                let mut to = vec![0; nodes as usize];
                (0..order.len()).for_each(|at| to[order[at] as usize] = order[(at + 1) % order.len()]);
                to
            }
            Pattern::Adversary => match topology.structure() {
                Structure::Grid { dims, wrap: true } => (0..nodes).map(|node| half_around(node, &dims)).collect(),
                Structure::Groups { size, .. } => {
                    let groups = (topology.switches() / size.max(1)).max(1);
                    shifted(nodes / groups).collect()
                }
                _ => shifted(nodes / 2).collect(),
            },
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
    use hpcast_platform::topology::{Duplex, Link, Torus};

    fn destinations(pattern: &str, dims: &[u32]) -> Destinations {
        let link = Link { bandwidth: 1e9, latency: 1e-6 };
        let torus = Torus::new(dims, true, link, Duplex::Split).unwrap();
        Destinations::new(pattern.parse().unwrap(), &torus, Key::new(1).purpose("traffic"))
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

    #[test]
    fn words() {
        for word in ["uniform", "transpose", "shift:7", "opposite", "permutation", "adversary"] {
            assert_eq!(word.parse::<Pattern>().unwrap().to_string(), word);
        }
        assert!("shift:x".parse::<Pattern>().unwrap_err().to_string().contains("shift:1"));
    }
}
