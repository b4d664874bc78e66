//! Networks of switches that all have the same number of nodes.

use super::{read_cables, read_figure, read_link, read_whole_link};
use crate::fields::{Reader, Section};
use crate::machine::Wiring;
use crate::topology::{HyperXShape, Link};

pub(super) fn read_full_mesh(reader: &mut Reader, network: &mut Section<'_>) -> Wiring {
    let dimensions = vec![read_figure(reader, network, "switches", 16)];
    read_joined_lines(reader, network, dimensions)
}

pub(super) fn read_hyperx(reader: &mut Reader, network: &mut Section<'_>) -> Wiring {
    let dimensions = network.wholes(reader, "dimensions", "[8, 8]");
    let dimensions = network.needed(reader, "dimensions", dimensions, "dimensions = [8, 8]");
    read_joined_lines(reader, network, dimensions)
}

fn read_joined_lines(reader: &mut Reader, network: &mut Section<'_>, dimensions: Vec<u32>) -> Wiring {
    let cables = read_cables(reader, network, dimensions.len());
    let nodes_per_switch = read_figure(reader, network, "nodes-per-switch", 8);
    let [node_link, switch_link] = read_kinds(reader, network, ["node-link", "switch-link"]);
    Wiring::HyperX { shape: HyperXShape { dimensions, cables, nodes_per_switch }, node_link, switch_link }
}

/// Links of several kinds; those that are not given are as `bandwidth` and `latency` say, which nobody needs otherwise.
fn read_kinds<const N: usize>(reader: &mut Reader, network: &mut Section<'_>, keys: [&'static str; N]) -> [Link; N] {
    let given = keys.map(|key| {
        let mut section = network.section(reader, key);
        section.exists().then(|| read_whole_link(reader, &mut section))
    });
    let is_missing =
        |(key, link): (&&str, &Option<Link>)| link.is_none() && !reader.is_broken(&format!("network.{key}"));
    if !keys.iter().zip(&given).any(is_missing) {
        return given.map(|link| link.unwrap_or(Link { bandwidth: 1.0, latency: 0.0 }));
    }
    let general = read_link(reader, network);
    given.map(|link| link.unwrap_or(general))
}
