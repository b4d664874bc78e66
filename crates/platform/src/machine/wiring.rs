//! Plain numbers of topologies, and the keys that they have in machine files.

use super::Wiring;

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
            _ => Vec::new(),
        }
    }
}
