//! Machine files in TOML: from [`MachineFile`] to text that reads back to the same, with a comment on each key.

mod cost;

use std::fmt::Display;

use hpcast_units::{Bandwidth, Bytes, Seconds};

use super::wiring::{Figure, PLANE_CHOICES, word_for, word_in};
use super::{FactorMeaning, MachineFile, PlaneFigures, RoutingWord, Wiring};
use crate::interconnect::Loopback;
use crate::placement::Policy;
use crate::protocol::PollGrowth;
use crate::switching::PacketSwitching;
use crate::topology::{Arrangement, DragonflyLinks, Duplex, Link, ParallelCables, Ties};

/// Comments start here, where values are short enough.
const COMMENT_COLUMN: usize = 40;

impl MachineFile {
    /// The file as TOML; the lines of `header` come first, as comments.
    pub fn to_toml<'h>(&self, header: impl IntoIterator<Item = &'h str>) -> String {
        let mut out = Text::default();
        for line in header.into_iter().flat_map(str::lines) {
            out.line(format!("# {line}").trim_end());
        }
        self.write(&mut out);
        out.0
    }

    fn write(&self, out: &mut Text) {
        out.key("name", text(&self.name), "");
        if let Some(description) = &self.description {
            out.key("description", text(description), "");
        }
        self.write_nodes(out);
        self.write_network(out);
        self.write_flow(out);
        self.write_packets(out);
        self.write_mpi(out);
        self.write_plan(out);
        self.write_io(out);
        if let Some(cost) = &self.cost {
            out.cost(cost);
        }
    }

    fn write_nodes(&self, out: &mut Text) {
        let nodes = &self.nodes;
        out.section("nodes");
        out.key("count", nodes.count, "");
        out.key("sockets", nodes.sockets, "of each node");
        out.key("cores-per-socket", nodes.cores_per_socket, "");
        out.optional("memory", nodes.memory, "of each node");
        out.optional("memory-bandwidth", nodes.memory_bandwidth, "of each node");
        out.optional("clock", nodes.clock, "");
        out.optional("flops", nodes.flops, "peak of each node, double precision");
        out.optional("sustained-flops", nodes.sustained_flops, "what a tuned matrix product reaches");
    }

    fn write_network(&self, out: &mut Text) {
        let network = &self.network;
        out.section("network");
        match &network.wiring {
            Wiring::Crossbar { link, backbone } => {
                out.key("topology", "\"crossbar\"", "all nodes on one switch");
                out.link(link, "from each node to the switch");
                if let Some(backbone) = backbone {
                    out.key("backbone", inline(backbone), "crossed by every message");
                }
            }
            Wiring::FatTree { shape, levels, switch_ports, parallel_cables, missing } => {
                out.key("topology", "\"fat-tree\"", "");
                out.key("shape", quoted(shape), "levels; children; parents; parallel cables, lowest level first");
                match parallel_cables {
                    ParallelCables::All => {}
                    ParallelCables::Same => out.key("parallel-cables", "\"same\"", "the same down as up"),
                    ParallelCables::First => {
                        out.key("parallel-cables", "\"first\"", "the others are not used, as in SimGrid until 2020");
                    }
                }
                match levels.split_first() {
                    Some((first, rest)) if rest.iter().all(|link| link == first) => out.link(first, "every link"),
                    _ => {
                        out.line("levels = [   # the links of the nodes first");
                        levels.iter().for_each(|link| out.line(&format!("  {},", inline(link))));
                        out.line("]");
                    }
                }
                if !missing.is_empty() {
                    let noun = shape.vertex_noun(shape.levels());
                    let names: Vec<String> = missing.iter().map(|core| quoted(format!("{noun} {core}"))).collect();
                    out.key("missing", format!("[{}]", names.join(", ")), "places for switches that are not there");
                }
                if let Some(ports) = switch_ports {
                    out.key("switch-ports", list(ports), "of the switches of each level");
                }
            }
            Wiring::Torus { dimensions, cables, wrap, ties, link } => {
                out.key("topology", if *wrap { "\"torus\"" } else { "\"mesh\"" }, "");
                out.key("dimensions", list(dimensions), "nodes in each dimension");
                out.cables(cables);
                if *ties == Ties::Forward {
                    out.key("ties", "\"forward\"", "the way to what is opposite, as in SimGrid");
                }
                out.link(link, "between neighbours");
            }
            Wiring::Hypercube { cables, link, .. } => {
                out.key("topology", "\"hypercube\"", "");
                out.figures(&network.wiring);
                out.key("cables", cables, "between neighbours");
                out.link(link, "between neighbours");
            }
            Wiring::HyperX { shape, node_link, switch_link } => {
                if shape.dimensions.len() == 1 {
                    out.key("topology", "\"full-mesh\"", "every switch is joined with every other");
                } else {
                    out.key("topology", "\"hyperx\"", "every switch is joined with all others on its lines");
                    out.key("dimensions", list(&shape.dimensions), "switches in each dimension");
                }
                out.figures(&network.wiring);
                out.cables(&shape.cables);
                out.kinds(&[("node-link", node_link), ("switch-link", switch_link)]);
            }
            Wiring::Dragonfly { shape, links } => {
                out.key("topology", "\"dragonfly\"", "groups of switches, each a full mesh");
                out.dragonfly(&network.wiring, shape.arrangement, links);
            }
            Wiring::DragonflyPlus { shape, links } => {
                out.key("topology", "\"dragonfly+\"", "groups of switches, each a fat tree of two levels");
                out.dragonfly(&network.wiring, shape.arrangement, links);
            }
            Wiring::SlimFly { node_link, switch_link, .. } => {
                out.key("topology", "\"slim-fly\"", "at most two steps between switches");
                out.figures(&network.wiring);
                out.kinds(&[("node-link", node_link), ("switch-link", switch_link)]);
            }
            Wiring::Clos { node_link, switch_link, .. } => {
                out.key("topology", "\"clos\"", "three stages, in one direction");
                out.figures(&network.wiring);
                out.kinds(&[("node-link", node_link), ("switch-link", switch_link)]);
            }
            Wiring::Gamma { node_link, switch_link, .. } => {
                out.key("topology", "\"gamma\"", "stages with three ways on, in one direction");
                out.figures(&network.wiring);
                out.kinds(&[("node-link", node_link), ("switch-link", switch_link)]);
            }
            Wiring::Graph { file, text: graph } => {
                out.key("topology", "\"graph\"", "");
                match file {
                    Some(file) => out.key("file", text(file), ""),
                    None => out.key("graph", paragraph(graph), ""),
                }
            }
        }
        network.routing.iter().for_each(|routing| out.routing(routing));
        if !network.wiring.knows_duplex() {
            match network.duplex {
                Duplex::Split => out.key("duplex", "\"split\"", "each direction has the full bandwidth"),
                Duplex::Shared => out.key("duplex", "\"shared\"", "both directions share the bandwidth"),
            }
        }
        match &network.loopback {
            Loopback::Unshared(link) => out.key("loopback", inline(link), "inside a node, each message for itself"),
            Loopback::ThroughNetwork => {
                out.key("loopback", "\"through-network\"", "inside a node: to the first switch and back");
            }
        }
        if let Some(limiter) = network.limiter {
            out.key("limiter", quoted(Bandwidth::new(limiter)), "in and out of a node together");
        }
        if let Some(PlaneFigures { count, choice }) = network.planes {
            out.key("planes", count, "equal networks, with a port of every node in each");
            out.key("plane-choice", quoted(word_in(&PLANE_CHOICES, choice)), "which one takes a message");
        }
        if !network.failed.is_empty() {
            let names: Vec<String> = network.failed.iter().map(|name| text(name)).collect();
            out.key("failed", format!("[{}]", names.join(", ")), "");
        }
        if network.unused_ports > 0 {
            out.key("unused-ports", network.unused_ports, "room for nodes that are not there");
        }
    }

    fn write_flow(&self, out: &mut Text) {
        let sharing = &self.sharing;
        out.section("network.flow");
        out.key("cross-traffic", number(sharing.cross_traffic), "share of a flow's rate that its answers take");
        out.optional("weight-s", sharing.weight_s.map(Bytes::print_fraction), "weighs flows by the links they cross");
        out.optional("window", sharing.window.map(Bytes::print_fraction), "bounds a flow to window / (2 latency)");
        match sharing.factor {
            FactorMeaning::Bound => out.key("factor", "\"bound\"", "bandwidth factors bound the rate of a flow"),
            FactorMeaning::Share => out.key("factor", "\"share\"", "bandwidth factors scale a flow's share of a link"),
        }
    }

    fn write_packets(&self, out: &mut Text) {
        let packets = &self.packets;
        if *packets == PacketSwitching::default() {
            return;
        }
        out.section("network.packet");
        out.key("size", quoted(Bytes::new(packets.size.into())), "of a packet");
        out.optional("buffer", packets.buffer.map(|buffer| Bytes::new(buffer.into())), "of each virtual channel");
        if let Some(injection) = packets.injection {
            out.key("injection", injection, "packets that may wait for each link out of a node");
        }
        out.key("arbitration", quoted(packets.arbitration.word()), "which packet goes first");
    }

    fn write_mpi(&self, out: &mut Text) {
        let mpi = &self.mpi;
        out.section("mpi");
        out.key("eager-below", quoted(Bytes::new(mpi.eager_below)), "smaller messages leave at once");
        out.key("detached-below", quoted(Bytes::new(mpi.detached_below)), "a send of less does not wait");
        out.key("envelope", quoted(Bytes::new(mpi.envelope)), "added to every message");
        out.key("probe", quoted(Seconds::new(mpi.probe)), "");
        out.key("test", quoted(Seconds::new(mpi.test)), "");
        let growth = match mpi.poll_growth {
            PollGrowth::Off => "off",
            PollGrowth::PerRank => "per-rank",
            PollGrowth::Global => "global",
        };
        out.key("poll-growth", quoted(growth), "cost of the n-th fruitless probe or test");
        out.key("reduce-per-byte", quoted(Seconds::new(mpi.reduce_per_byte)), "to combine one byte in a reduction");
        out.section("mpi.between");
        out.line("# Overheads and factors by message size: a piece holds for sizes greater than `above`.");
        out.0 += &mpi.between.to_toml();
        out.section("mpi.inside");
        out.0 += &mpi.inside.to_toml();
    }

    fn write_io(&self, out: &mut Text) {
        let io = &self.io;
        if io.is_free() {
            return;
        }
        out.section("io");
        out.optional("bandwidth", io.bandwidth, "of the file system, for all nodes together");
        out.optional("node-bandwidth", io.node_bandwidth, "of the file system, for one node");
        out.optional("latency", io.latency, "of every operation on a file");
    }

    fn write_plan(&self, out: &mut Text) {
        let plan = &self.plan;
        out.section("placement");
        match &plan.policy {
            Policy::Block => out.key("policy", "\"block\"", "fill one node after the other"),
            Policy::Cyclic => out.key("policy", "\"cyclic\"", "deal ranks over the nodes"),
            Policy::Random { .. } => out.key("policy", "\"random\"", "anywhere in the machine"),
            Policy::BySwitch => out.key("policy", "\"by-switch\"", "fill one first-level switch after the other"),
            Policy::SpreadSwitches => {
                out.key("policy", "\"spread-switches\"", "deal ranks over the first-level switches");
            }
            Policy::List(nodes) => {
                out.key("policy", "\"list\"", "");
                out.key("nodes", list(nodes), "the node of each rank");
            }
        }
        if let Some(allocation) = &plan.allocation {
            out.key("allocation", text(&allocation.to_string()), "only these nodes are used");
        }
        if let Some(seed) = plan.seed() {
            out.key("seed", seed, "");
        }
        if let Some(ranks) = plan.ranks_per_node {
            out.key("ranks-per-node", ranks, "");
        }
        if plan.oversubscribe {
            out.key("oversubscribe", true, "a core may carry more than one rank");
        }
    }
}

/// The text so far.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn section(&mut self, name: &str) {
        self.line("");
        self.line(&format!("[{name}]"));
    }

    fn key(&mut self, key: &str, value: impl Display, comment: &str) {
        let entry = format!("{key} = {value}");
        if comment.is_empty() {
            self.line(&entry);
        } else {
            self.line(&format!("{entry:COMMENT_COLUMN$} # {comment}"));
        }
    }

    fn optional(&mut self, key: &str, value: Option<impl Display>, comment: &str) {
        if let Some(value) = value {
            self.key(key, quoted(value), comment);
        }
    }

    fn figures(&mut self, wiring: &Wiring) {
        for Figure { key, value, meaning } in wiring.figures() {
            self.key(key, value, meaning);
        }
    }

    fn routing(&mut self, RoutingWord { word, threshold }: &RoutingWord) {
        if let Some(word) = word {
            self.key("routing", text(word), "how ways are chosen");
        }
        if *threshold > 0 {
            self.key("ugal-threshold", threshold, "how much short ways are favoured");
        }
    }

    fn dragonfly(&mut self, wiring: &Wiring, arrangement: Arrangement, links: &DragonflyLinks) {
        self.figures(wiring);
        self.key("arrangement", quoted(word_for(arrangement)), "which switch is joined with which group");
        self.kinds(&[("node-link", &links.node), ("local-link", &links.local), ("global-link", &links.global)]);
    }

    /// Several cables between neighbours, if there are.
    fn cables(&mut self, cables: &[u32]) {
        if cables.iter().any(|&cables| cables != 1) {
            self.key("cables", list(cables), "between neighbours, in each dimension");
        }
    }

    /// Kinds of links: once, if they are all alike.
    fn kinds(&mut self, kinds: &[(&str, &Link)]) {
        let (_, first) = kinds[0];
        if kinds.iter().all(|(_, link)| *link == first) {
            return self.link(first, "every link");
        }
        kinds.iter().for_each(|(key, link)| self.key(key, inline(link), ""));
    }

    fn link(&mut self, link: &Link, comment: &str) {
        self.key("bandwidth", quoted(Bandwidth::new(link.bandwidth)), comment);
        self.key("latency", quoted(Seconds::new(link.latency)), "");
    }
}

/// Text without anything to escape, in quotes.
fn quoted(value: impl Display) -> String {
    format!("\"{value}\"")
}

fn text(value: &str) -> String {
    toml::Value::String(value.into()).to_string()
}

/// Several lines as they are, where TOML allows it.
fn paragraph(value: &str) -> String {
    let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if value.chars().all(plain) && !value.contains("'''") && !value.ends_with('\'') {
        format!("'''\n{value}'''")
    } else {
        text(value)
    }
}

fn inline(link: &Link) -> String {
    let (bandwidth, latency) = (Bandwidth::new(link.bandwidth), Seconds::new(link.latency));
    format!("{{ bandwidth = {}, latency = {} }}", quoted(bandwidth), quoted(latency))
}

fn list(numbers: &[u32]) -> String {
    format!("[{}]", numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
}

/// A number that TOML takes for a real one.
fn number(value: f64) -> String {
    format!("{value:?}")
}
