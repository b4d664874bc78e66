//! Plain numbers of topologies, and the keys that they have in machine files.

use super::Wiring;
use crate::topology::{Arrangement, PlaneChoice};

/// What `arrangement` may be.
pub(super) const ARRANGEMENTS: [(&str, Arrangement); 4] = [
    ("absolute", Arrangement::Absolute),
    ("relative", Arrangement::Relative),
    ("circulant", Arrangement::Circulant),
    ("palm-tree", Arrangement::PalmTree),
];

/// What `plane-choice` may be.
pub(super) const PLANE_CHOICES: [(&str, PlaneChoice); 3] =
    [("source", PlaneChoice::Source), ("destination", PlaneChoice::Destination), ("pair", PlaneChoice::Pair)];

/// The word for an arrangement.
pub(super) fn word_for(arrangement: Arrangement) -> &'static str {
    word_in(&ARRANGEMENTS, arrangement)
}

/// The word for one of several things.
pub(super) fn word_in<T: PartialEq>(words: &[(&'static str, T)], wanted: T) -> &'static str {
    words.iter().find(|(_, other)| *other == wanted).map_or("", |(word, _)| word)
}

/// A number that a topology is made of.
pub(super) struct Figure {
    pub key: &'static str,
    pub value: u32,
    /// For a comment.
    pub meaning: &'static str,
}

impl Wiring {
    /// Whether it says for itself what the directions of its cables share: all of them have one, or the graph tells.
    pub(super) fn knows_duplex(&self) -> bool {
        matches!(self, Wiring::Graph { .. } | Wiring::Clos { .. } | Wiring::Gamma { .. })
    }

    /// Its numbers that stand alone under a key and must not be 0.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let figure = |key, value, meaning| Figure { key, value, meaning };
        match self {
            Wiring::Hypercube { dimension, .. } => {
                vec![figure("dimension", *dimension, "2 to this power are the nodes")]
            }
            Wiring::HyperX { shape, .. } => {
                let nodes = figure("nodes-per-switch", shape.nodes_per_switch, "");
                match shape.dimensions[..] {
                    [switches] => vec![figure("switches", switches, ""), nodes],
                    _ => vec![nodes],
                }
            }
            Wiring::Dragonfly { shape, .. } => vec![
                figure("groups", shape.groups, ""),
                figure("switches-per-group", shape.switches_per_group, "each joined with every other"),
                figure("nodes-per-switch", shape.nodes_per_switch, ""),
                figure("global-cables-per-switch", shape.global_cables_per_switch, "to other groups"),
            ],
            Wiring::DragonflyPlus { shape, .. } => vec![
                figure("groups", shape.groups, ""),
                figure("leaves-per-group", shape.leaves_per_group, "switches with nodes"),
                figure(
                    "spines-per-group",
                    shape.spines_per_group,
                    "switches with global cables, joined with all leaves",
                ),
                figure("nodes-per-leaf", shape.nodes_per_leaf, ""),
                figure("global-cables-per-spine", shape.global_cables_per_spine, "to other groups"),
            ],
            Wiring::SlimFly { q, nodes_per_switch, .. } => {
                vec![
                    figure("q", *q, "a prime or a power of one: 2 q^2 switches"),
                    figure("nodes-per-switch", *nodes_per_switch, ""),
                ]
            }
            Wiring::Clos { shape, .. } => vec![
                figure("middle-switches", shape.middle_switches, ""),
                figure("nodes-per-switch", shape.nodes_per_switch, "of input and of output switches"),
                figure("edge-switches", shape.edge_switches, "input switches, and as many output switches"),
            ],
            Wiring::Gamma { dimension, .. } => {
                vec![figure("dimension", *dimension, "2 to this power are the nodes")]
            }
            _ => Vec::new(),
        }
    }
}
