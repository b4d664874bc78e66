//! From zones, hosts and links to a graph file with a prescribed route for every pair of hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hpcast_units::{Bandwidth, Seconds};

use super::description::{Host, Platform};
use super::routing;
use crate::diagnostic::{Diagnostic, Source};
use crate::import::text::{base_name, push, unique};
use crate::interconnect::Loopback;
use crate::machine::{Network, Wiring};
use crate::topology::{Duplex, Link};

/// Routes are written down for each pair: a quarter of a million of them are enough.
const MOST_HOSTS: u64 = 512;

/// The hosts in order, and the network between them.
pub(super) fn convert(
    platform: &Platform,
    loopback: Link,
    source: &Arc<Source>,
) -> Result<(Vec<Host>, Network), Diagnostic> {
    let count = platform.root.hosts();
    if count == 0 || count > MOST_HOSTS {
        let message = format!("{count} hosts in several zones, or with routes of their own, cannot be converted");
        let remedy = format!("a platform that is not a single cluster may have 1 to {MOST_HOSTS} hosts");
        return Err(Diagnostic::error(message, remedy).within(source));
    }
    let layout = routing::Network::new(platform, loopback, source)?;
    let count = layout.hosts.len();
    let routes: Vec<Vec<Vec<usize>>> = (0..count)
        .map(|from| (0..count).map(|to| layout.route(from, to)).collect::<Result<_, _>>())
        .collect::<Result<_, _>>()?;

    // One kind of memory for all hosts is said once; otherwise each has a route to itself.
    let inside = |host: usize| match routes[host][host][..] {
        [link] if layout.links[link].unshared => Some((layout.links[link].bandwidth, layout.links[link].latency)),
        _ => None,
    };
    let common = inside(0).filter(|first| (1..count).all(|host| inside(host) == Some(*first)));
    let loopback = match common {
        Some((bandwidth, latency)) => Loopback::Unshared(Link { bandwidth, latency }),
        None => Loopback::ThroughNetwork,
    };
    let wanted = |from: usize, to: usize| from != to || common.is_none();

    let mut used = BTreeSet::new();
    for (from, row) in routes.iter().enumerate() {
        let row = row.iter().enumerate().filter(|(to, _)| wanted(from, *to));
        used.extend(row.flat_map(|(_, links)| links.iter().copied()));
    }
    let node_names = unique(layout.hosts.iter().map(|host| host.id.as_str()));
    let link_names = unique(used.iter().map(|link| layout.links[*link].name.as_str()));
    let link_names: BTreeMap<usize, String> = used.iter().copied().zip(link_names).collect();

    let mut text = format!("# Converted from the SimGrid platform {}: every route is prescribed.\n", base_name(source));
    for name in &node_names {
        push(&mut text, format_args!("node {name}"));
    }
    for (number, name) in &link_names {
        let link = &layout.links[*number];
        let (bandwidth, latency) = (Bandwidth::new(link.bandwidth), Seconds::new(link.latency));
        let sharing = if link.unshared { " unshared" } else { "" };
        push(&mut text, format_args!("link {name} : {bandwidth} {latency}{sharing}"));
    }
    for from in 0..count {
        for to in (0..count).filter(|to| wanted(from, *to)) {
            let links: Vec<&str> = routes[from][to].iter().map(|link| link_names[link].as_str()).collect();
            push(&mut text, format_args!("route {} {} : {}", node_names[from], node_names[to], links.join(" ")));
        }
    }
    let wiring = Wiring::Graph { file: None, text };
    let (planes, failed) = (None, Vec::new());
    let (duplex, limiter) = (Duplex::Split, None);
    let network = Network { wiring, duplex, loopback, limiter, unused_ports: 0, planes, failed, routing: None };
    Ok((layout.hosts, network))
}
