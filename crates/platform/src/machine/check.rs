//! Whether a machine file makes sense: values in range, counts that add up.
//!
//! The checks know keys, not places in a text, so that they serve importers too. The reader finds the place of a key.

mod cost;

use std::ops::RangeInclusive;

use hpcast_units::count;

use super::build::WiringError;
use super::{MachineFile, Network, Wiring};
use crate::diagnostic::Diagnostic;
use crate::fields::Problem;
use crate::interconnect::Loopback;
use crate::placement::{PlacementError, Policy, Site};
use crate::topology::{DamageError, FatTreeShape, Link, Topology, TopologyError};

/// More nodes than anybody plans; keeps the numbers of links far from overflow.
const MOST_NODES: u32 = 100_000_000;
/// More cables than anybody plugs in between two switches.
const MOST_CABLES: u32 = 10_000;
/// More planes than nodes have ports.
const MOST_PLANES: u32 = 1000;
/// More sockets than a node has, and more cores than a socket.
const MOST_SOCKETS: u32 = 1000;
const MOST_CORES: u32 = 1_000_000;

#[derive(Default)]
struct Findings(Vec<Problem>);

impl Findings {
    fn add(&mut self, key: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Problem { key: key.into(), message: message.into(), remedy: remedy.into() });
    }

    fn within(&mut self, key: &str, value: u32, range: RangeInclusive<u32>) {
        if !range.contains(&value) {
            let (low, high) = (count(u64::from(*range.start())), count(u64::from(*range.end())));
            self.add(key, format!("{} is out of range", count(u64::from(value))), format!("write {low} to {high}"));
        }
    }

    fn more_than_zero(&mut self, key: &str, value: f64, noun: &str) {
        if !(value > 0.0 && value.is_finite()) {
            self.add(key, format!("a {noun} of {value} is impossible"), format!("write a {noun} greater than zero"));
        }
    }

    fn not_negative(&mut self, key: &str, value: f64, noun: &str) {
        if !(value >= 0.0 && value.is_finite()) {
            self.add(key, format!("the {noun} is negative"), format!("write a {noun} of zero or more"));
        }
    }

    fn link(&mut self, key: &str, link: &Link) {
        self.more_than_zero(&format!("{key}.bandwidth"), link.bandwidth, "bandwidth");
        self.not_negative(&format!("{key}.latency"), link.latency, "latency");
    }

    /// Numbers of parallel cables; one for all dimensions has no place of its own in a list.
    fn cables(&mut self, cables: &[u32]) {
        if let Some(wrong) = cables.iter().find(|cables| !(1..=MOST_CABLES).contains(*cables)) {
            self.within("network.cables", *wrong, 1..=MOST_CABLES);
        }
    }
}

impl MachineFile {
    /// All that makes no sense; empty if the machine can be built.
    pub fn check(&self) -> Vec<Problem> {
        let mut findings = self.check_values();
        if findings.is_empty() {
            findings = self.check_counts();
        }
        findings
    }

    /// Each value for itself.
    pub(super) fn check_values(&self) -> Vec<Problem> {
        let mut findings = Findings::default();
        self.check_nodes(&mut findings);
        self.network.check_links(&mut findings);
        self.check_sharing(&mut findings);
        self.check_mpi(&mut findings);
        self.check_packets(&mut findings);
        self.check_io(&mut findings);
        if let Some(cost) = &self.cost {
            findings.cost(cost);
        }
        findings.0
    }

    /// Values that must fit one another.
    pub(super) fn check_counts(&self) -> Vec<Problem> {
        let mut findings = Findings::default();
        let (nodes, cores) = (self.nodes.count, self.nodes.cores());
        let Some(topology) = self.network.check_room(nodes, &mut findings) else { return findings.0 };
        if let Err(error) = self.plan.check(&Site::new(nodes, cores, &*topology)) {
            let key = match error {
                PlacementError::Hosts(_) | PlacementError::FewerNodes { .. } => "allocation",
                _ if matches!(self.plan.policy, Policy::List(_)) => "nodes",
                _ => "ranks-per-node",
            };
            let Diagnostic { message, remedy, .. } = error.diagnostic();
            findings.add(format!("placement.{key}"), message, remedy);
        }
        findings.0
    }

    fn check_nodes(&self, findings: &mut Findings) {
        let nodes = &self.nodes;
        findings.within("nodes.count", nodes.count, 1..=MOST_NODES);
        findings.within("nodes.sockets", nodes.sockets, 1..=MOST_SOCKETS);
        findings.within("nodes.cores-per-socket", nodes.cores_per_socket, 1..=MOST_CORES);
        let figures = [
            ("memory", nodes.memory.map(|memory| memory.get() as f64), "memory"),
            ("memory-bandwidth", nodes.memory_bandwidth.map(|rate| rate.get()), "memory bandwidth"),
            ("clock", nodes.clock.map(|clock| clock.get()), "clock"),
            ("flops", nodes.flops.map(|rate| rate.get()), "flop rate"),
            ("sustained-flops", nodes.sustained_flops.map(|rate| rate.get()), "flop rate"),
        ];
        for (key, value, noun) in figures {
            if let Some(value) = value {
                findings.more_than_zero(&format!("nodes.{key}"), value, noun);
            }
        }
        if let (Some(peak), Some(sustained)) = (nodes.flops, nodes.sustained_flops)
            && sustained > peak
        {
            findings.add(
                "nodes.sustained-flops",
                format!("the sustained rate {sustained} is above the peak {peak}"),
                "correct one of them: `flops` is the peak of a node, `sustained-flops` what a matrix product reaches",
            );
        }
    }

    fn check_packets(&self, findings: &mut Findings) {
        findings.within("network.packet.size", self.packets.size, 1..=1 << 24);
        findings.within("network.packet.injection", self.packets.injection.unwrap_or(1), 1..=1 << 20);
        if let Some(buffer) = self.packets.buffer.filter(|buffer| *buffer < self.packets.size) {
            let (buffer, size) = (count(buffer.into()), count(self.packets.size.into()));
            let message = format!("a packet of {size} bytes does not fit a buffer of {buffer} bytes");
            findings.add("network.packet.buffer", message, "write a larger buffer, or smaller packets");
        }
    }

    fn check_io(&self, findings: &mut Findings) {
        for (key, rate) in [("bandwidth", self.io.bandwidth), ("node-bandwidth", self.io.node_bandwidth)] {
            if let Some(rate) = rate {
                findings.more_than_zero(&format!("io.{key}"), rate.get(), "bandwidth");
            }
        }
        if let Some(latency) = self.io.latency {
            findings.not_negative("io.latency", latency.get(), "latency");
        }
    }

    fn check_sharing(&self, findings: &mut Findings) {
        let sharing = &self.sharing;
        if !(0.0..1.0).contains(&sharing.cross_traffic) {
            let message = format!("a cross-traffic of {} is impossible", sharing.cross_traffic);
            findings.add("network.flow.cross-traffic", message, "write a share from 0 to below 1, such as 0.05");
        }
        // A weight-s of 0 is SimGrid's way to weigh flows by their latency alone.
        if let Some(weight_s) = sharing.weight_s {
            findings.not_negative("network.flow.weight-s", weight_s, "size");
        }
        if let Some(window) = sharing.window {
            findings.more_than_zero("network.flow.window", window, "size");
        }
    }

    fn check_mpi(&self, findings: &mut Findings) {
        let mpi = &self.mpi;
        if mpi.detached_below < mpi.eager_below {
            findings.add(
                "mpi.detached-below",
                "eager messages are detached too, but this threshold is below `eager-below`",
                "write a size of at least `eager-below`",
            );
        }
        findings.not_negative("mpi.probe", mpi.probe, "duration");
        findings.not_negative("mpi.test", mpi.test, "duration");
        findings.not_negative("mpi.reduce-per-byte", mpi.reduce_per_byte, "duration");
        findings.0.extend(mpi.between.check("mpi.between"));
        findings.0.extend(mpi.inside.check("mpi.inside"));
    }
}

impl Network {
    fn check_links(&self, findings: &mut Findings) {
        match &self.wiring {
            Wiring::Crossbar { link, backbone } => {
                findings.link("network", link);
                if let Some(backbone) = backbone {
                    findings.link("network.backbone", backbone);
                }
            }
            Wiring::FatTree { shape, levels, .. } => {
                for (level, link) in levels.iter().enumerate() {
                    findings.link(&format!("network.levels[{level}]"), link);
                }
                if levels.len() != shape.levels() {
                    findings.add(
                        "network.levels",
                        format!("{} kinds of links for a fat tree of {} levels", levels.len(), shape.levels()),
                        "give one for each level, the links of the nodes first",
                    );
                }
            }
            Wiring::Torus { link, wrap, cables, .. } => {
                findings.link("network", link);
                findings.cables(cables);
                self.check_loopback(if *wrap { "torus" } else { "mesh" }, findings);
            }
            Wiring::Hypercube { link, cables, .. } => {
                findings.link("network", link);
                findings.cables(&[*cables]);
                self.check_loopback("hypercube", findings);
            }
            Wiring::HyperX { shape, node_link, switch_link } => {
                findings.link("network.node-link", node_link);
                findings.link("network.switch-link", switch_link);
                findings.cables(&shape.cables);
            }
            Wiring::Dragonfly { links, .. } | Wiring::DragonflyPlus { links, .. } => {
                findings.link("network.node-link", &links.node);
                findings.link("network.local-link", &links.local);
                findings.link("network.global-link", &links.global);
            }
            Wiring::SlimFly { node_link, switch_link, .. }
            | Wiring::Clos { node_link, switch_link, .. }
            | Wiring::Gamma { node_link, switch_link, .. } => {
                findings.link("network.node-link", node_link);
                findings.link("network.switch-link", switch_link);
            }
            Wiring::Graph { .. } => {}
        }
        if let Loopback::Unshared(link) = &self.loopback {
            findings.link("network.loopback", link);
        }
        for figure in self.wiring.figures() {
            findings.within(&format!("network.{}", figure.key), figure.value, 1..=MOST_NODES);
        }
        if let Some(planes) = self.planes {
            findings.within("network.planes", planes.count, 1..=MOST_PLANES);
        }
        findings.within("network.unused-ports", self.unused_ports, 0..=MOST_NODES);
        if let Some(limiter) = self.limiter {
            findings.more_than_zero("network.limiter", limiter, "bandwidth");
        }
    }

    /// Messages inside a node need something that carries them where there is no switch.
    fn check_loopback(&self, noun: &str, findings: &mut Findings) {
        if self.loopback == Loopback::ThroughNetwork {
            findings.add(
                "network.loopback",
                format!("the nodes of a {noun} have no switch that messages inside a node could go through"),
                "write what carries them, such as `loopback = { bandwidth = \"25 GB/s\", latency = \"0.1 us\" }`",
            );
        }
    }

    /// Whether the nodes fill the ports of the network, which is given if it can be built.
    fn check_room(&self, nodes: u32, findings: &mut Findings) -> Option<Box<dyn Topology>> {
        if let Wiring::FatTree { shape, switch_ports: Some(ports), .. } = &self.wiring
            && shape.check().is_ok()
        {
            check_ports(shape, ports, findings);
        }
        let topology = match self.topology(nodes) {
            Ok(topology) => topology,
            Err(error) => {
                self.report(&error, findings);
                return None;
            }
        };
        if let Err(error) = self.routing(&*topology) {
            let Diagnostic { message, remedy, .. } = Diagnostic::from_error(&error);
            findings.add("network.routing", message, remedy);
        }
        if self.limiter.is_some() && topology.links().checked_add(topology.nodes()).is_none() {
            let message = format!("the {} has too many links to add a limiter at each node", topology.describe());
            findings.add("network.limiter", message, "remove the limiter, or make the network smaller");
        }
        let room = u64::from(topology.nodes());
        let (nodes, unused) = (u64::from(nodes), u64::from(self.unused_ports));
        if nodes + unused == room {
            return Some(topology);
        }
        let has = format!("the {} has ports for {} nodes", topology.describe(), count(room));
        if nodes > room {
            let message = format!("{has}, but there are {}", count(nodes));
            findings.add("nodes.count", message, "write fewer nodes, or a larger network");
        } else {
            let message = format!("{has}, but there are {} nodes and {} unused ports", count(nodes), count(unused));
            let left = room - nodes;
            findings.add(
                "nodes.count",
                message,
                format!("correct the count, or say that ports stay empty: `unused-ports = {left}` in [network]"),
            );
        }
        Some(topology)
    }

    fn report(&self, error: &WiringError, findings: &mut Findings) {
        let failed;
        let key = match &self.wiring {
            _ if matches!(error, WiringError::Topology(TopologyError::Cables { .. })) => "network.cables",
            _ if matches!(error, WiringError::Topology(TopologyError::NoTops(_))) => "network.missing",
            _ if matches!(error, WiringError::Damage(_)) => {
                failed = match error {
                    WiringError::Damage(DamageError::Unknown { at, .. } | DamageError::Node { at, .. }) => {
                        format!("network.failed[{at}]")
                    }
                    _ => "network.failed".into(),
                };
                &failed
            }
            Wiring::Crossbar { .. } => "nodes.count",
            Wiring::FatTree { .. } => "network.shape",
            Wiring::HyperX { shape, .. } if shape.dimensions.len() == 1 => "network.switches",
            Wiring::Torus { .. } | Wiring::HyperX { .. } => "network.dimensions",
            Wiring::Hypercube { .. } | Wiring::Gamma { .. } => "network.dimension",
            Wiring::Clos { .. } => "network.edge-switches",
            Wiring::Dragonfly { .. } | Wiring::DragonflyPlus { .. } => "network.groups",
            Wiring::SlimFly { .. } => "network.q",
            Wiring::Graph { file: Some(_), .. } => "network.file",
            Wiring::Graph { file: None, .. } => "network.graph",
        };
        let Diagnostic { message, remedy, .. } = Diagnostic::from_error(error);
        findings.add(key, message, if remedy.is_empty() { "correct the figures".into() } else { remedy });
    }
}

fn check_ports(shape: &FatTreeShape, ports: &[u32], findings: &mut Findings) {
    if ports.len() != shape.levels() {
        return findings.add(
            "network.switch-ports",
            format!("{} numbers of ports for a fat tree of {} levels", ports.len(), shape.levels()),
            "give one for each level of switches, the lowest first",
        );
    }
    for (level, available) in (1..).zip(ports) {
        let needed = shape.ports(level);
        if needed > *available {
            let (down, up) = (needed - shape.ports_up(level), shape.ports_up(level));
            findings.add(
                "network.shape",
                format!(
                    "ports do not add up: a {} switch needs {down} ports down and {up} up, {needed} in all, but has {available}",
                    if level == 1 { "leaf".into() } else { format!("level {level}") },
                ),
                "change the shape, or the `switch-ports`",
            );
        }
    }
}
