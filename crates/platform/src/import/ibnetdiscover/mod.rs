//! What `ibnetdiscover` prints of an InfiniBand network becomes a machine.
//!
//! Hosts are known by the descriptions of their adapters, `node01 HCA-1` or `node01 mlx5_0`: adapters of one host are the
//! ports of one node. Nodes are numbered by their names, numbers in them by their value. Cables are as fast as their
//! width and speed say (`4xEDR`).
//!
//! ```
//! use hpcast_platform::diagnostic::Source;
//! use hpcast_platform::import::{Unsaid, ibnetdiscover};
//! let printed = r#"
//! Switch 36 "S-1"  # "leaf" base port 0 lid 3 lmc 0
//! [1] "H-1"[1](a1)  # "node01 mlx5_0" lid 1 4xEDR
//! [2] "H-2"[1](a2)  # "node02 mlx5_0" lid 2 4xEDR
//! Ca 1 "H-1"  # "node01 mlx5_0"
//! [1](a1) "S-1"[1]  # lid 1 lmc 0 "leaf" lid 3 4xEDR
//! Ca 1 "H-2"  # "node02 mlx5_0"
//! [1](a2) "S-1"[2]  # lid 2 lmc 0 "leaf" lid 3 4xEDR
//! "#;
//! let imported = ibnetdiscover::import(&Source::new("fabric.txt", printed), &Unsaid::default())?;
//! assert_eq!(imported.machine.nodes.count, 2);
//! # Ok::<(), hpcast_platform::Diagnostics>(())
//! ```

mod records;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hpcast_units::Bandwidth;

use super::fabric::{Cable, Fabric};
use super::{Import, Unsaid};
use crate::diagnostic::{Diagnostic, Diagnostics, Source};
use crate::topology::Vertex;
pub(super) use records::is_record;
use records::{Kind, Line, lines};

const ORIGIN: &str = "the output of ibnetdiscover";

/// What a port leads to.
struct Port {
    peer: String,
    peer_port: u32,
    rate: Option<Bandwidth>,
    place: Range<usize>,
}

/// A switch, adapter or router.
struct Device {
    kind: Kind,
    id: String,
    description: String,
    place: Range<usize>,
    ports: BTreeMap<u32, Port>,
}

/// Reads what `ibnetdiscover` printed and makes a machine of it; `unsaid` is what it does not tell.
pub fn import(source: &Arc<Source>, unsaid: &Unsaid) -> Result<Import, Diagnostics> {
    let mut warnings = Diagnostics::new();
    let devices = devices(source)?;
    let fabric = fabric(&devices, source, &mut warnings)?;
    fabric.import(source, ORIGIN, unsaid, warnings)
}

fn devices(source: &Arc<Source>) -> Result<Vec<Device>, Diagnostic> {
    let mut devices: Vec<Device> = Vec::new();
    let mut known = BTreeMap::new();
    for line in lines(source)? {
        match line {
            Line::Device { kind, id, description, place } => {
                if known.insert(id.clone(), ()).is_some() {
                    let message = format!("\"{id}\" is described twice");
                    let remedy = "remove one of the records: is this the output of one run?";
                    return Err(Diagnostic::error(message, remedy).at(source, place));
                }
                devices.push(Device { kind, id, description, place, ports: BTreeMap::new() });
            }
            Line::Port { port, peer, peer_port, rate, place } => {
                let Some(device) = devices.last_mut() else {
                    let remedy = "a record begins with `Switch` or `Ca`: give hpcast the whole output";
                    return Err(Diagnostic::error("a port of no switch or adapter", remedy).at(source, place));
                };
                if device.ports.contains_key(&port) {
                    let message = format!("port {port} of \"{}\" is there twice", device.id);
                    return Err(Diagnostic::error(message, "remove one of the lines").at(source, place));
                }
                device.ports.insert(port, Port { peer, peer_port, rate, place });
            }
        }
    }
    Ok(devices)
}

fn fabric(devices: &[Device], source: &Arc<Source>, warnings: &mut Diagnostics) -> Result<Fabric, Diagnostic> {
    let mut fabric = Fabric::default();
    let mut warn = |place: &Range<usize>, message: String, remedy: &str| {
        warnings.push(Diagnostic::warning(message, remedy).at(source, place.clone()));
    };
    let mut hosts: BTreeMap<Vec<Part>, Vec<usize>> = BTreeMap::new();
    let mut vertices: Vec<Option<Vertex>> = vec![None; devices.len()];
    for (number, device) in devices.iter().enumerate() {
        match device.kind {
            Kind::Switch => {
                vertices[number] = Some(Vertex::Switch(fabric.switches.len() as u32));
                fabric.switches.push(switch_name(device, devices));
            }
            Kind::Adapter if device.description.contains("Aggregation Node") => {
                let message = format!("\"{}\" is not converted: it is part of a switch that reduces data", device.id);
                warn(&device.place, message, "reductions in the network are not modelled");
            }
            Kind::Adapter => hosts.entry(parts(&host_name(device))).or_default().push(number),
            Kind::Router => {
                let message = format!("the router \"{}\" is not converted", device.id);
                warn(&device.place, message, "what lies behind it is not part of the machine");
            }
        }
    }
    for adapters in hosts.into_values() {
        let node = Vertex::Node(fabric.nodes.len() as u32);
        fabric.nodes.push(host_name(&devices[adapters[0]]));
        adapters.into_iter().for_each(|adapter| vertices[adapter] = Some(node));
    }

    let numbers: BTreeMap<&str, usize> = devices.iter().enumerate().map(|(at, device)| (&device.id[..], at)).collect();
    for (number, device) in devices.iter().enumerate() {
        for (port, to) in &device.ports {
            let wrong = |message: String, remedy: &str| Diagnostic::error(message, remedy).at(source, to.place.clone());
            let Some(&other) = numbers.get(&to.peer[..]) else {
                let noun = if to.peer.starts_with('S') { "switch" } else { "adapter" };
                let message = format!("there is no record of the {noun} \"{}\"", to.peer);
                return Err(wrong(message, "give hpcast the whole output of ibnetdiscover"));
            };
            let back = devices[other].ports.get(&to.peer_port);
            if !back.is_some_and(|back| back.peer == device.id && back.peer_port == *port) {
                let message = format!(
                    "port {} of \"{}\" does not lead back to port {port} of \"{}\"",
                    to.peer_port, to.peer, device.id
                );
                return Err(wrong(message, "was the output changed, or the network while it was read?"));
            }
            if number == other {
                if *port < to.peer_port {
                    let message = format!("a cable joins \"{}\" with itself: it is not converted", device.id);
                    warn(&to.place, message, "no message needs it");
                }
                continue;
            }
            if let (true, Some(a), Some(b)) = (number < other, vertices[number], vertices[other])
                && a != b
            {
                fabric.cables.push(Cable { ends: (a, b), bandwidth: to.rate });
            }
        }
    }
    Ok(fabric)
}

/// The description where no other switch has the same, otherwise what is unique.
fn switch_name(device: &Device, devices: &[Device]) -> String {
    let same = devices.iter().filter(|other| other.kind == Kind::Switch && other.description == device.description);
    if device.description.is_empty() || same.count() > 1 { device.id.clone() } else { device.description.clone() }
}

/// The host that an adapter belongs to: `node01 HCA-1` and `node01 mlx5_0` are of `node01`.
fn host_name(device: &Device) -> String {
    // Old versions put quotation marks of their own around names.
    let description = device.description.trim().trim_matches('\'').trim();
    let is_adapter = |word: &str| {
        let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
        stem.len() < word.len() && (stem == "HCA-" || stem.ends_with('_') || ["qib", "ib", "mlx"].contains(&stem))
    };
    match description.split_once(char::is_whitespace) {
        _ if description.is_empty() => device.id.clone(),
        Some((host, adapter)) if is_adapter(adapter.trim()) => host.into(),
        Some(_) => format!("{description} {}", device.id),
        None => description.into(),
    }
}

/// A piece of a name, so that `n2` comes before `n10`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// By value, then as it is written.
    Number(u128, String),
    Text(String),
}

fn parts(name: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        parts.push(match piece.parse() {
            Ok(number) if digits => Part::Number(number, piece.into()),
            _ => Part::Text(piece.into()),
        });
        rest = behind;
    }
    parts
}

#[cfg(test)]
mod tests;
