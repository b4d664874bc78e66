//! What a SimGrid platform file says, as plain data: nothing is interpreted yet beyond numbers and units.

use std::ops::Range;

/// Bytes of the source that something was read from.
pub(super) type Span = Range<usize>;

/// A whole file.
#[derive(Clone, Debug)]
pub(super) struct Platform {
    /// `<config>`, in the order of the file.
    pub settings: Vec<Setting>,
    /// The only zone or cluster directly inside `<platform>`.
    pub root: Child,
}

/// `<prop>` inside `<config>`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub key: String,
    pub value: String,
    pub span: Span,
}

/// What a zone may contain besides its own hosts.
#[derive(Clone, Debug)]
pub(super) enum Child {
    Zone(Zone),
    Cluster(Cluster),
}

impl Child {
    /// Number of hosts inside.
    pub fn hosts(&self) -> u64 {
        match self {
            Child::Zone(zone) => zone.hosts.len() as u64 + zone.children.iter().map(Child::hosts).sum::<u64>(),
            Child::Cluster(cluster) => cluster.hosts(),
        }
    }
}

/// `<zone>`, or `<AS>` as it was called until version 4.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    pub id: String,
    pub span: Span,
    pub routing: Routing,
    pub hosts: Vec<Host>,
    pub routers: Vec<String>,
    pub links: Vec<Link>,
    /// `<route>`, `<zoneRoute>` and `<ASroute>`.
    pub routes: Vec<Route>,
    pub children: Vec<Child>,
    /// `<backbone>`, in zones with the routing `Cluster`.
    pub backbone: Option<Link>,
    /// `<host_link>`, in zones with the routing `Cluster`.
    pub host_links: Vec<HostLink>,
}

/// How a zone finds its routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Routing {
    /// Every route is written down.
    Full,
    /// Shortest paths over the routes that are written down, counted in links.
    Floyd,
    /// The same, with another order among equals.
    Dijkstra,
    /// A star: every host has a link up and a link down.
    Star,
}

/// `<host>`.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub id: String,
    /// In flop/s, of one core.
    pub speed: f64,
    pub cores: u32,
}

/// `<link>`, `<backbone>`.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub id: String,
    pub bandwidth: f64,
    pub latency: f64,
    pub policy: Policy,
    pub span: Span,
}

/// Who shares the bandwidth of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// All flows, in both directions.
    Shared,
    /// The flows of each direction.
    SplitDuplex,
    /// Nobody: it is a limit for each flow.
    Fatpipe,
}

/// `<route>` and its relatives.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub from: String,
    pub to: String,
    /// Where the route leaves and enters, if it joins two zones.
    pub gateways: Option<(String, String)>,
    pub links: Vec<RouteLink>,
    pub symmetrical: bool,
    pub span: Span,
}

/// `<link_ctn>`.
#[derive(Clone, Debug)]
pub(super) struct RouteLink {
    pub id: String,
    /// Direction in which a split-duplex link is crossed.
    pub up: Option<bool>,
    pub span: Span,
}

/// `<host_link>`.
#[derive(Clone, Debug)]
pub(super) struct HostLink {
    pub host: String,
    pub up: String,
    pub down: String,
    pub span: Span,
}

/// `<cluster>`.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub id: String,
    pub span: Span,
    pub prefix: String,
    pub suffix: String,
    /// Ranges of host numbers, ends included, in the order of the file.
    pub radical: Vec<(u32, u32)>,
    pub speed: f64,
    pub cores: u32,
    pub bandwidth: f64,
    pub latency: f64,
    pub policy: Policy,
    pub topology: Topology,
    /// In the middle of a flat cluster; the policy is never `SplitDuplex`.
    pub backbone: Option<Link>,
    /// Bytes per second that enter and leave a host together.
    pub limiter: Option<f64>,
    /// Bandwidth and latency inside a host.
    pub loopback: Option<(f64, f64)>,
    pub router: Option<String>,
}

/// How the hosts of a cluster are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Topology {
    Flat,
    /// In the notation of [`crate::topology::FatTreeShape`].
    FatTree(String, Span),
    Torus(Vec<u32>, Span),
}

impl Cluster {
    /// Number of hosts.
    pub fn hosts(&self) -> u64 {
        self.radical.iter().map(|(first, last)| u64::from(*last - *first) + 1).sum()
    }

    /// The hosts' names, in order.
    pub fn host_names(&self) -> impl Iterator<Item = String> + '_ {
        let numbers = self.radical.iter().flat_map(|(first, last)| *first..=*last);
        numbers.map(|number| format!("{}{number}{}", self.prefix, self.suffix))
    }

    /// The name of the router, through which the rest of the world reaches the cluster.
    pub fn router_name(&self) -> String {
        let default = || format!("{}{}_router{}", self.prefix, self.id, self.suffix);
        self.router.clone().unwrap_or_else(default)
    }
}
