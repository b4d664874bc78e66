//! Networks of switches that all have the same number of nodes.

use super::{read_cables, read_figure, read_link, read_whole_link};
use crate::fields::{Reader, Section};
use crate::machine::Wiring;
use crate::machine::wiring::{ARRANGEMENTS, word_for};
use crate::topology::{Arrangement, ClosShape, DragonflyLinks, DragonflyPlusShape, DragonflyShape, HyperXShape, Link};

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

pub(super) fn read_dragonfly(reader: &mut Reader, network: &mut Section<'_>) -> Wiring {
    let shape = DragonflyShape {
        groups: read_figure(reader, network, "groups", 9),
        switches_per_group: read_figure(reader, network, "switches-per-group", 4),
        nodes_per_switch: read_figure(reader, network, "nodes-per-switch", 2),
        global_cables_per_switch: read_figure(reader, network, "global-cables-per-switch", 2),
        arrangement: read_arrangement(reader, network),
    };
    Wiring::Dragonfly { shape, links: read_dragonfly_links(reader, network) }
}

pub(super) fn read_dragonfly_plus(reader: &mut Reader, network: &mut Section<'_>) -> Wiring {
    let shape = DragonflyPlusShape {
        groups: read_figure(reader, network, "groups", 9),
        leaves_per_group: read_figure(reader, network, "leaves-per-group", 4),
        spines_per_group: read_figure(reader, network, "spines-per-group", 4),
        nodes_per_leaf: read_figure(reader, network, "nodes-per-leaf", 4),
        global_cables_per_spine: read_figure(reader, network, "global-cables-per-spine", 2),
        arrangement: read_arrangement(reader, network),
    };
    Wiring::DragonflyPlus { shape, links: read_dragonfly_links(reader, network) }
}

pub(super) fn read_slim_fly(reader: &mut Reader, network: &mut Section<'_>) -> Wiring {
    let q = read_figure(reader, network, "q", 5);
    let nodes_per_switch = read_figure(reader, network, "nodes-per-switch", 4);
    let [node_link, switch_link] = read_kinds(reader, network, ["node-link", "switch-link"]);
    Wiring::SlimFly { q, nodes_per_switch, node_link, switch_link }
}

pub(super) fn read_clos(reader: &mut Reader, network: &mut Section<'_>) -> Wiring {
    let shape = ClosShape {
        middle_switches: read_figure(reader, network, "middle-switches", 8),
        nodes_per_switch: read_figure(reader, network, "nodes-per-switch", 8),
        edge_switches: read_figure(reader, network, "edge-switches", 16),
    };
    let [node_link, switch_link] = read_kinds(reader, network, ["node-link", "switch-link"]);
    Wiring::Clos { shape, node_link, switch_link }
}

pub(super) fn read_gamma(reader: &mut Reader, network: &mut Section<'_>) -> Wiring {
    let dimension = read_figure(reader, network, "dimension", 6);
    let [node_link, switch_link] = read_kinds(reader, network, ["node-link", "switch-link"]);
    Wiring::Gamma { dimension, node_link, switch_link }
}

fn read_arrangement(reader: &mut Reader, network: &mut Section<'_>) -> Arrangement {
    let arrangement = network.choice(reader, "arrangement", &ARRANGEMENTS);
    network.assumed(reader, "arrangement", arrangement.map(word_for), word_for(Arrangement::default()));
    arrangement.unwrap_or_default()
}

fn read_dragonfly_links(reader: &mut Reader, network: &mut Section<'_>) -> DragonflyLinks {
    let [node, local, global] = read_kinds(reader, network, ["node-link", "local-link", "global-link"]);
    DragonflyLinks { node, local, global }
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
