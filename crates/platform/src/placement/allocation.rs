//! Which nodes a run may use.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use hpcast_engine::Key;
use hpcast_units::count;

use super::{PlacementError, Site, scatter};
use crate::diagnostic::{Diagnostic, Diagnostics, Source};
use crate::ranges::{MAX_NAMES, RangeError, expand};

/// Nodes in a row that are busy where nobody says how many.
const USUAL_RUN: f64 = 8.0;

/// The nodes that a run may use, in the order in which they are used.
#[derive(Clone, Debug, PartialEq)]
pub enum Allocation {
    /// As Slurm lists them: `node[3-17,40]`, or plain numbers `3-17,40`.
    Hosts(String),
    /// So many nodes, drawn from all; lower numbers come first.
    Random {
        /// How many.
        nodes: u32,
        /// The same seed gives the same nodes.
        seed: u64,
    },
    /// What is left of a machine of which others use a share, in runs of neighbouring nodes.
    Holes {
        /// Share of the nodes that is busy, 0 to 1.
        share: f64,
        /// Mean number of nodes in a run of busy ones.
        length: f64,
        /// The same seed gives the same nodes.
        seed: u64,
    },
}

/// Why a list of nodes cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostProblem {
    /// No node has that name.
    #[error("there is no node `{name}`; {advice}")]
    Unknown {
        /// The name.
        name: String,
        /// What to do.
        advice: String,
    },
    /// A node is listed again.
    #[error("node `{0}` is listed twice; list each node once")]
    Twice(String),
    /// A range is not written as one.
    #[error("`{0}` is no range of nodes; write it as `node[3-17,40]` or `3-17`, the lower number first")]
    Range(String),
    /// A range is too long.
    #[error("`{0}` stands for more than {most} nodes; check its numbers", most = count(MAX_NAMES as u64))]
    Long(String),
    /// Nothing is listed.
    #[error("no node is listed; write nodes such as `node[3-17,40]` or `3-17,40`")]
    None,
}

/// A problem and the bytes of the text that have it.
pub(super) type HostError = (Range<usize>, HostProblem);

impl Allocation {
    /// What a text asks for: `random:N`, `holes:SHARE`, `holes:SHARE:LENGTH`, the name of a file with a list of nodes, or
    /// such a list. Relative names are looked for in `folder`. A list is checked.
    pub fn read(text: &str, folder: &Path, seed: u64, site: &Site<'_>) -> Result<Allocation, Diagnostics> {
        if let Some(drawn) = Allocation::drawn(text, seed) {
            return drawn.map_err(|error| error.diagnostic().into());
        }
        let path = folder.join(text);
        if path.is_file() {
            let source = Source::read(&path)?;
            let wrong = |(place, problem): HostError| problem.diagnostic().at(&source, place);
            hosts(&source.text, site).map_err(wrong)?;
            let listed: Vec<&str> = words(&source.text).map(|(_, word)| word).collect();
            return Ok(Allocation::Hosts(listed.join(",")));
        }
        hosts(text, site).map_err(|(_, problem)| {
            let mut diagnostic = problem.diagnostic();
            if matches!(problem, HostProblem::Unknown { .. }) {
                diagnostic.message += ", and no file of that name";
            }
            diagnostic
        })?;
        Ok(Allocation::Hosts(text.into()))
    }

    /// Whether a text asks for nodes that are drawn.
    pub fn is_drawn(text: &str) -> bool {
        text.starts_with("random:") || text.starts_with("holes:")
    }

    /// Nodes that are drawn, if the text asks for such.
    fn drawn(text: &str, seed: u64) -> Option<Result<Allocation, PlacementError>> {
        let wrong = |remedy: &str| PlacementError::Drawn { text: text.into(), remedy: remedy.into() };
        if let Some(nodes) = text.strip_prefix("random:") {
            let nodes: Option<u32> = nodes.parse().ok().filter(|nodes| *nodes > 0);
            let random = |nodes| Allocation::Random { nodes, seed };
            return Some(nodes.map(random).ok_or_else(|| wrong("write a number of nodes, such as `random:64`")));
        }
        let rest = text.strip_prefix("holes:")?;
        let (share, length) = rest.split_once(':').unwrap_or((rest, ""));
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let usual = |share: f64| USUAL_RUN.max(share / (1.0 - share));
        let length = |share| if length.is_empty() { Some(usual(share)) } else { number(length) };
        let Some(share) = number(share).filter(|share| (0.0..1.0).contains(share)) else {
            return Some(Err(wrong("write the share of nodes that is busy, such as `holes:0.7`")));
        };
        let Some(length) = length(share).filter(|length| *length >= 1.0) else {
            return Some(Err(wrong("write the mean number of busy nodes in a row, such as `holes:0.7:16`")));
        };
        // Between two runs there is at least one free node.
        let least = share / (1.0 - share) * (1.0 - 1e-9);
        if length < least {
            let remedy = format!("with one free node between runs, runs must have a mean of {} or more", least.ceil());
            return Some(Err(wrong(&remedy)));
        }
        Some(Ok(Allocation::Holes { share, length, seed }))
    }

    /// The same, drawn from another seed.
    pub fn with_seed(&self, seed: u64) -> Allocation {
        match *self {
            Allocation::Hosts(_) => self.clone(),
            Allocation::Random { nodes, .. } => Allocation::Random { nodes, seed },
            Allocation::Holes { share, length, .. } => Allocation::Holes { share, length, seed },
        }
    }

    /// The seed, if nodes are drawn.
    pub fn seed(&self) -> Option<u64> {
        match self {
            Allocation::Hosts(_) => None,
            Allocation::Random { seed, .. } | Allocation::Holes { seed, .. } => Some(*seed),
        }
    }

    /// The nodes, in their order.
    pub fn nodes(&self, site: &Site<'_>) -> Result<Vec<u32>, PlacementError> {
        match self {
            Allocation::Hosts(text) => hosts(text, site).map_err(|(_, problem)| PlacementError::Hosts(problem)),
            &Allocation::Random { nodes, .. } if nodes > site.nodes => {
                Err(PlacementError::FewerNodes { asked: nodes, nodes: site.nodes })
            }
            &Allocation::Random { nodes, seed } => {
                let mut drawn = scatter(nodes, site.nodes, 1, Key::new(seed).purpose("allocation"));
                drawn.sort_unstable();
                Ok(drawn)
            }
            &Allocation::Holes { share, length, seed } => Ok(holes(site.nodes, share, length, seed)),
        }
    }
}

impl fmt::Display for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allocation::Hosts(text) => f.write_str(text),
            Allocation::Random { nodes, .. } => write!(f, "random:{nodes}"),
            Allocation::Holes { share, length, .. } => write!(f, "holes:{share}:{length}"),
        }
    }
}

impl HostProblem {
    fn diagnostic(&self) -> Diagnostic {
        super::with_remedy(&self.to_string())
    }
}

/// Free nodes: a Markov chain along their numbers, whose busy runs have a geometric length.
fn holes(nodes: u32, share: f64, length: f64, seed: u64) -> Vec<u32> {
    let stream = Key::new(seed).purpose("busy nodes");
    let ends = 1.0 / length;
    let begins = ends * share / (1.0 - share);
    let mut busy = None;
    let is_free = |node: &u32| {
        let chance = match busy {
            None => share,
            Some(true) => 1.0 - ends,
            Some(false) => begins,
        };
        let taken = stream.uniform(*node, 0) < chance;
        busy = Some(taken);
        !taken
    };
    (0..nodes).filter(is_free).collect()
}

/// The words of a list and their places. Commas and space part them, but not within brackets; `#` begins a comment.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let left = &text[rest..];
            let start = rest + left.find(|c: char| c != ',' && !c.is_whitespace())?;
            if text[start..].starts_with('#') {
                rest = start + text[start..].find('\n').unwrap_or(text.len() - start);
                continue;
            }
            let mut within = false;
            let length = text[start..].find(|c: char| {
                within = c == '[' || within && c != ']';
                c.is_whitespace() || c == '#' || c == ',' && !within
            });
            rest = length.map_or(text.len(), |length| start + length);
            return Some((start, &text[start..rest]));
        }
    })
}

/// The nodes of a list.
fn hosts(text: &str, site: &Site<'_>) -> Result<Vec<u32>, HostError> {
    let mut nodes = Vec::new();
    let mut seen = vec![false; site.nodes as usize];
    for (start, word) in words(text) {
        let wrong = |problem| (start..start + word.len(), problem);
        let names = match (site.find(word), word.split_once('-')) {
            (Some(node), _) => vec![node.to_string()],
            // A range of plain numbers.
            (None, Some((low, _))) if low.bytes().all(|byte| byte.is_ascii_digit()) => {
                named(&format!("[{word}]")).map_err(wrong)?
            }
            (None, _) => named(word).map_err(wrong)?,
        };
        for name in names {
            let unknown = || HostProblem::Unknown { name: name.clone(), advice: site.advice(&name) };
            let node = site.find(&name).ok_or_else(|| wrong(unknown()))?;
            if std::mem::replace(&mut seen[node as usize], true) {
                return Err(wrong(HostProblem::Twice(site.host(node))));
            }
            nodes.push(node);
        }
    }
    if nodes.is_empty() { Err((0..text.len(), HostProblem::None)) } else { Ok(nodes) }
}

fn named(word: &str) -> Result<Vec<String>, HostProblem> {
    let shown = || word.trim_matches(['[', ']']).to_owned();
    expand(word).map_err(|problem| match problem {
        RangeError::NotARange if word.starts_with('[') => HostProblem::Range(shown()),
        RangeError::NotARange => HostProblem::Range(word.into()),
        RangeError::TooMany => HostProblem::Long(shown()),
    })
}
