//! From a platform to a machine file: one cluster becomes a topology of ours, everything else a graph.

use std::sync::Arc;

use hpcast_units::FlopRate;

use super::Release;
use super::description::{Child, Cluster, Host, Platform, Policy, Span, Topology};
use super::graph;
use super::settings::Settings;
use crate::diagnostic::{Diagnostic, Diagnostics, Source};
use crate::interconnect::Loopback;
use crate::machine::{Io, MachineFile, Network, Nodes, Wiring};
use crate::placement::Plan;
use crate::topology::{Duplex, FatTreeShape, Link, ParallelCables, Ties};

/// Speeds below this are placeholders: files made for SMPI say `speed="1"` where computation is timed otherwise.
const SLOWEST: f64 = 1e6;

/// Makes the machine; what is not converted is added to `notes`.
pub(super) fn convert(
    platform: &Platform,
    settings: Settings,
    release: Release,
    source: &Arc<Source>,
    notes: &mut Diagnostics,
) -> Result<MachineFile, Diagnostic> {
    let mut converter = Converter { settings: &settings, release, source, notes };
    let (nodes, network) = match sole_cluster(&platform.root) {
        Some(cluster) if !needs_graph(cluster) => converter.cluster(cluster)?,
        _ => {
            let (hosts, network) = graph::convert(platform, settings.loopback, source)?;
            (converter.nodes(&hosts), network)
        }
    };
    let file = source.name.rsplit(['/', '\\']).next().unwrap_or(&source.name);
    Ok(MachineFile {
        name: file.strip_suffix(".xml").unwrap_or(file).to_string(),
        description: Some(format!("converted from the SimGrid platform {file}, as SimGrid {release} reads it")),
        nodes,
        network,
        packets: Default::default(),
        sharing: settings.sharing,
        mpi: settings.mpi,
        plan: Plan::default(),
        io: Io::default(),
        cost: None,
        assumed: Vec::new(),
    })
}

/// The cluster, if the platform is nothing else.
fn sole_cluster(root: &Child) -> Option<&Cluster> {
    match root {
        Child::Cluster(cluster) => Some(cluster),
        Child::Zone(zone) => match &zone.children[..] {
            [child] if zone.hosts.is_empty() => sole_cluster(child),
            _ => None,
        },
    }
}

/// A backbone that is a limit for each flow but shared by none: wide enough, it is only a latency, which the links can
/// take over; narrower than the links, only a graph can tell.
fn needs_graph(cluster: &Cluster) -> bool {
    let unshared = cluster.backbone.as_ref().filter(|backbone| backbone.policy == Policy::Fatpipe);
    cluster.topology == Topology::Flat
        && unshared.is_some_and(|link| link.bandwidth < cluster.bandwidth || cluster.policy != Policy::SplitDuplex)
}

struct Converter<'a> {
    settings: &'a Settings,
    release: Release,
    source: &'a Arc<Source>,
    notes: &'a mut Diagnostics,
}

impl Converter<'_> {
    fn note(&mut self, span: &Span, message: impl Into<String>, remedy: impl Into<String>) {
        self.notes.push(Diagnostic::warning(message, remedy).at(self.source, span.clone()));
    }

    fn cluster(&mut self, cluster: &Cluster) -> Result<(Nodes, Network), Diagnostic> {
        let link = Link { bandwidth: cluster.bandwidth, latency: cluster.latency };
        if cluster.policy == Policy::Fatpipe {
            let message = "links of a cluster with the sharing policy FATPIPE are taken as SHARED";
            self.note(&cluster.span, message, "so does SimGrid 3.32, whatever its manual says");
        }
        if cluster.topology != Topology::Flat {
            self.note_hierarchical(cluster);
        }
        let mut loopback = match cluster.loopback {
            Some((bandwidth, latency)) => Loopback::Unshared(Link { bandwidth, latency }),
            None => Loopback::ThroughNetwork,
        };
        let nodes = cluster.hosts();
        let wiring = match &cluster.topology {
            Topology::Flat => self.crossbar(cluster, link),
            Topology::FatTree(text, span) => {
                let shape: FatTreeShape = text.parse().map_err(|error: crate::topology::TopologyError| {
                    Diagnostic::error(error.to_string(), "correct topo_parameters").at(self.source, span.clone())
                })?;
                self.check_count(nodes, u64::from(shape.nodes()), span)?;
                let parallel_cables = match self.release {
                    Release::V3_32 => ParallelCables::All,
                    Release::Y2018 => ParallelCables::First,
                };
                Wiring::FatTree {
                    levels: vec![link; shape.levels()],
                    shape,
                    switch_ports: None,
                    parallel_cables,
                    missing: Vec::new(),
                }
            }
            Topology::Torus(dimensions, span) => {
                let room = dimensions.iter().try_fold(1u64, |room, size| room.checked_mul(u64::from(*size)));
                self.check_count(nodes, room.unwrap_or(u64::MAX), span)?;
                if loopback == Loopback::ThroughNetwork {
                    loopback = Loopback::Unshared(self.settings.loopback);
                    let message = "there is no loopback: messages inside a node take the one of network/loopback-bw";
                    self.note(
                        &cluster.span,
                        message,
                        "SimGrid itself stops when a rank of a torus sends to its own host",
                    );
                }
                let (cables, ties) = (vec![1; dimensions.len()], Ties::Forward);
                Wiring::Torus { dimensions: dimensions.clone(), cables, wrap: true, ties, link }
            }
        };
        let network = Network {
            wiring,
            duplex: if cluster.policy == Policy::SplitDuplex { Duplex::Split } else { Duplex::Shared },
            loopback,
            limiter: cluster.limiter,
            unused_ports: 0,
            planes: None,
            failed: Vec::new(),
            routing: None,
        };
        let nodes = Nodes { count: nodes as u32, cores_per_socket: cluster.cores, ..Nodes::default() };
        Ok((Nodes { flops: self.flops(cluster.speed, cluster.cores, &cluster.span), ..nodes }, network))
    }

    fn crossbar(&self, cluster: &Cluster, mut link: Link) -> Wiring {
        let backbone = cluster.backbone.as_ref().filter(|backbone| backbone.policy == Policy::Shared);
        if let (None, Some(wide)) = (backbone, &cluster.backbone) {
            link.latency += wide.latency / 2.0;
        }
        let backbone = backbone.map(|link| Link { bandwidth: link.bandwidth, latency: link.latency });
        Wiring::Crossbar { link, backbone }
    }

    fn note_hierarchical(&mut self, cluster: &Cluster) {
        if cluster.limiter.is_some() {
            let message = "the limiter is converted for the nodes only";
            let remedy =
                "SimGrid limits the switches of a fat tree, and the nodes that a message passes in a torus, too";
            self.note(&cluster.span, message, remedy);
        }
        if let Some(backbone) = &cluster.backbone {
            let message = "the backbone is not converted";
            self.note(&backbone.span, message, "SimGrid ignores it in fat trees and tori");
        }
    }

    fn check_count(&self, hosts: u64, room: u64, span: &Span) -> Result<(), Diagnostic> {
        if hosts == room {
            return Ok(());
        }
        let message = format!("the topology has room for {room} hosts, but the radical names {hosts}");
        Err(Diagnostic::error(message, "make them agree").at(self.source, span.clone()))
    }

    /// Nodes of hosts that were described one by one.
    fn nodes(&mut self, hosts: &[Host]) -> Nodes {
        let fewest = hosts.iter().map(|host| host.cores).min().unwrap_or(1);
        let slowest = hosts.iter().map(|host| host.speed).fold(f64::INFINITY, f64::min);
        if hosts.iter().any(|host| host.cores != fewest) {
            let message = format!("hosts have different numbers of cores: all are given {fewest}, the fewest");
            self.notes.push(Diagnostic::warning(message, "in hpcast all nodes are alike").within(self.source));
        }
        if hosts.iter().any(|host| host.speed != slowest) {
            let message = "hosts have different speeds: all are given the lowest";
            self.notes.push(Diagnostic::warning(message, "in hpcast all nodes are alike").within(self.source));
        }
        let flops = self.flops(slowest, fewest, &(0..0));
        Nodes { count: hosts.len() as u32, cores_per_socket: fewest, flops, ..Nodes::default() }
    }

    fn flops(&mut self, speed: f64, cores: u32, span: &Span) -> Option<FlopRate> {
        if speed >= SLOWEST {
            return Some(FlopRate::new(speed * f64::from(cores)));
        }
        let message = format!("the speed of the hosts, {speed} flop/s, is not converted");
        let remedy = "it cannot be a real one; add `flops` to [nodes] if a program needs it";
        self.note(span, message, remedy);
        None
    }
}
