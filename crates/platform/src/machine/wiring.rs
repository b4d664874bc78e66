//! Plain numbers of topologies, and the keys that they have in machine files.

use super::Wiring;
use crate::topology::Arrangement;

/// What `arrangement` may be.
pub(super) const ARRANGEMENTS: [(&str, Arrangement); 4] = [
    ("absolute", Arrangement::Absolute),
    ("relative", Arrangement::Relative),
    ("circulant", Arrangement::Circulant),
    ("palm-tree", Arrangement::PalmTree),
];

/// The word for an arrangement.
pub(super) fn word_for(arrangement: Arrangement) -> &'static str {
    ARRANGEMENTS.iter().find(|(_, other)| *other == arrangement).map_or("", |(word, _)| word)
}

/// A number that a topology is made of.
pub(super) struct Figure {
    pub key: &'static str,
    pub value: u32,
    /// For a comment.
    pub meaning: &'static str,
}

impl Wiring {
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
                vec![figure("q", *q, "a prime: 2 q^2 switches"), figure("nodes-per-switch", *nodes_per_switch, "")]
            }
            _ => Vec::new(),
        }
    }
}
