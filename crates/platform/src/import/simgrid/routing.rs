//! Routes between hosts, found the way SimGrid finds them: zones within zones, each with its own routing.
//!
//! Sources: `NetZoneImpl.cpp` (global routes), `FullZone.cpp`, `FloydZone.cpp`, `DijkstraZone.cpp` and `StarZone.cpp` of
//! SimGrid 3.32.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::description::{
    Child, Cluster, Host, HostLink, Link, Platform, Policy, Route, RouteLink, Routing, Span, Topology, Zone,
};
use super::shortest::{Before, Search, dijkstra, floyd};
use crate::diagnostic::{Diagnostic, Source};

/// Finding shortest paths takes time that grows with the cube of this.
const MOST_POINTS: usize = 1024;

/// Hosts and links with the routes between them.
pub(super) struct Network<'a> {
    source: &'a Arc<Source>,
    /// Hosts in the order of the file.
    pub hosts: Vec<Host>,
    /// Links in the order of the file; a split-duplex link is two.
    pub links: Vec<FlatLink>,
    /// The point of each host.
    host_points: Vec<Point>,
    points: Vec<PointData>,
    zones: Vec<NetZone>,
    /// The points that are zones.
    zone_points: BTreeSet<Point>,
    point_names: HashMap<String, Point>,
    link_names: HashMap<String, usize>,
    split_names: HashMap<String, (usize, usize)>,
}

/// A link in one direction, or one that both share.
pub(super) struct FlatLink {
    pub name: String,
    pub bandwidth: f64,
    pub latency: f64,
    /// A limit for each flow that no two of them share.
    pub unshared: bool,
}

/// Number of a host, router or zone.
type Point = usize;

struct PointData {
    /// The zone around it; the root zone has none.
    zone: Option<usize>,
    /// Its number within that zone.
    local: usize,
}

struct NetZone {
    parent: Option<usize>,
    /// The zone as a point of its parent.
    point: Point,
    members: Vec<Point>,
    table: Table,
}

enum Table {
    /// Routes by local numbers of both ends.
    Full(BTreeMap<(usize, usize), Hop>),
    /// Known hops, and for each pair the last point before the goal.
    Shortest { hops: BTreeMap<(usize, usize), Hop>, before: Before },
    /// Arms by local number.
    Star(Vec<Arm>),
}

/// A route that a file gives.
#[derive(Clone)]
struct Hop {
    links: Vec<usize>,
    gateways: Option<(Point, Point)>,
}

#[derive(Clone, Default)]
struct Arm {
    up: Vec<usize>,
    down: Vec<usize>,
    loopback: Option<usize>,
}

/// A way within a zone.
struct LocalRoute {
    links: Vec<usize>,
    gateways: Option<(Point, Point)>,
}

impl<'a> Network<'a> {
    /// Lays out a platform; hosts of routed zones that have no way to themselves get this loopback.
    pub fn new(
        platform: &Platform,
        loopback: crate::topology::Link,
        source: &'a Arc<Source>,
    ) -> Result<Network<'a>, Diagnostic> {
        let mut network = Network {
            source,
            hosts: Vec::new(),
            links: Vec::new(),
            host_points: Vec::new(),
            points: Vec::new(),
            zones: Vec::new(),
            zone_points: BTreeSet::new(),
            point_names: HashMap::new(),
            link_names: HashMap::new(),
            split_names: HashMap::new(),
        };
        let (bandwidth, latency) = (loopback.bandwidth, loopback.latency);
        network.links.push(FlatLink { name: "loopback".into(), bandwidth, latency, unshared: true });
        network.child(&platform.root, None)?;
        // Routes may name what comes later in the file.
        network.connect(&platform.root, &mut 0)?;
        Ok(network)
    }

    fn error(&self, span: &Span, message: String, remedy: &str) -> Diagnostic {
        Diagnostic::error(message, remedy).at(self.source, span.clone())
    }

    fn child(&mut self, child: &Child, parent: Option<usize>) -> Result<(), Diagnostic> {
        match child {
            Child::Zone(zone) => self.zone(zone, parent),
            Child::Cluster(cluster) => self.cluster(cluster, parent),
        }
    }

    fn add_point(&mut self, name: &str, zone: Option<usize>, span: &Span) -> Result<Point, Diagnostic> {
        let point = self.points.len();
        if self.point_names.insert(name.to_string(), point).is_some() {
            return Err(self.error(
                span,
                format!("there are two hosts, routers or zones called `{name}`"),
                "rename one",
            ));
        }
        let local = zone.map_or(0, |zone| self.zones[zone].members.len());
        self.points.push(PointData { zone, local });
        if let Some(zone) = zone {
            self.zones[zone].members.push(point);
        }
        Ok(point)
    }

    fn add_zone(&mut self, name: &str, parent: Option<usize>, span: &Span) -> Result<usize, Diagnostic> {
        let point = self.add_point(name, parent, span)?;
        self.zone_points.insert(point);
        self.zones.push(NetZone { parent, point, members: Vec::new(), table: Table::Full(BTreeMap::new()) });
        Ok(self.zones.len() - 1)
    }

    fn add_host(&mut self, host: Host, zone: usize, span: &Span) -> Result<Point, Diagnostic> {
        let point = self.add_point(&host.id, Some(zone), span)?;
        self.hosts.push(host);
        self.host_points.push(point);
        Ok(point)
    }

    fn add_link(&mut self, link: &Link) -> Result<(), Diagnostic> {
        let Link { bandwidth, latency, policy, .. } = *link;
        let unshared = policy == Policy::Fatpipe;
        let names = match policy {
            Policy::SplitDuplex => vec![format!("{}_UP", link.id), format!("{}_DOWN", link.id)],
            _ => vec![link.id.clone()],
        };
        let first = self.links.len();
        for name in names {
            if self.link_names.insert(name.clone(), self.links.len()).is_some() {
                return Err(self.error(&link.span, format!("there are two links called `{name}`"), "rename one"));
            }
            self.links.push(FlatLink { name, bandwidth, latency, unshared });
        }
        if policy == Policy::SplitDuplex {
            self.split_names.insert(link.id.clone(), (first, first + 1));
        }
        Ok(())
    }

    fn zone(&mut self, zone: &Zone, parent: Option<usize>) -> Result<(), Diagnostic> {
        let number = self.add_zone(&zone.id, parent, &zone.span)?;
        for link in zone.links.iter().chain(&zone.backbone) {
            self.add_link(link)?;
        }
        for host in &zone.hosts {
            self.add_host(host.clone(), number, &zone.span)?;
        }
        for router in &zone.routers {
            self.add_point(router, Some(number), &zone.span)?;
        }
        zone.children.iter().try_for_each(|child| self.child(child, Some(number)))
    }

    fn cluster(&mut self, cluster: &Cluster, parent: Option<usize>) -> Result<(), Diagnostic> {
        if cluster.topology != Topology::Flat {
            let message = format!("the cluster `{}`, a fat tree or torus, is not the only one", cluster.id);
            let remedy = "only flat clusters can be joined with others: convert the clusters one by one";
            return Err(self.error(&cluster.span, message, remedy));
        }
        let number = self.add_zone(&cluster.id, parent, &cluster.span)?;
        let mut arms = Vec::new();
        let backbone = cluster.backbone.as_ref().map(|link| self.add_link(link).map(|()| self.links.len() - 1));
        let backbone = backbone.transpose()?;
        for (host, name) in cluster.radical.iter().flat_map(|(first, last)| *first..=*last).zip(cluster.host_names()) {
            self.add_host(Host { id: name, speed: cluster.speed, cores: cluster.cores }, number, &cluster.span)?;
            let id = format!("{}_link_{host}", cluster.id);
            let span = cluster.span.clone();
            let mut add = |id: String, bandwidth: f64, latency: f64, policy: Policy| {
                let first = self.links.len();
                self.add_link(&Link { id, bandwidth, latency, policy, span: span.clone() }).map(|()| first)
            };
            let mut arm = Arm::default();
            if let Some((bandwidth, latency)) = cluster.loopback {
                arm.loopback = Some(add(format!("{id}_loopback"), bandwidth, latency, Policy::Fatpipe)?);
            }
            if let Some(bandwidth) = cluster.limiter {
                let limiter = add(format!("{id}_limiter"), bandwidth, 0.0, Policy::Shared)?;
                arm.up.push(limiter);
                arm.down.push(limiter);
            }
            // SimGrid 3.32 makes no difference between FATPIPE and SHARED here.
            let policy = if cluster.policy == Policy::SplitDuplex { Policy::SplitDuplex } else { Policy::Shared };
            let up = add(id, cluster.bandwidth, cluster.latency, policy)?;
            arm.up.push(up);
            arm.down.insert(0, if policy == Policy::SplitDuplex { up + 1 } else { up });
            arm.up.extend(backbone);
            arm.down.splice(0..0, backbone);
            arms.push(arm);
        }
        self.add_point(&cluster.router_name(), Some(number), &cluster.span)?;
        arms.push(Arm::default());
        self.zones[number].table = Table::Star(arms);
        Ok(())
    }

    /// Fills in the routes; zones are numbered in the order in which they were laid out.
    fn connect(&mut self, child: &Child, next: &mut usize) -> Result<(), Diagnostic> {
        let number = *next;
        *next += 1;
        let Child::Zone(zone) = child else { return Ok(()) };
        self.zones[number].table = match zone.routing {
            Routing::Star => Table::Star(self.star(number, zone)?),
            Routing::Full => Table::Full(self.hops(number, zone)?),
            Routing::Floyd => self.shortest(number, zone, floyd)?,
            Routing::Dijkstra => self.shortest(number, zone, dijkstra)?,
        };
        zone.children.iter().try_for_each(|child| self.connect(child, next))
    }

    fn link_named(&self, link: &RouteLink, reverse: bool) -> Result<usize, Diagnostic> {
        let found = match link.up {
            Some(up) => self.split_names.get(&link.id).map(|(forth, back)| if up != reverse { *forth } else { *back }),
            None => self.link_names.get(&link.id).copied(),
        };
        found.ok_or_else(|| match self.split_names.contains_key(&link.id) {
            true => {
                let message = format!("in which direction is the split-duplex link `{}` crossed?", link.id);
                self.error(&link.span, message, "add direction=\"UP\" or direction=\"DOWN\"")
            }
            false => {
                self.error(&link.span, format!("there is no link `{}`", link.id), "declare it, or correct the name")
            }
        })
    }

    fn member(&self, zone: usize, name: &str, span: &Span) -> Result<usize, Diagnostic> {
        let point = self.point_named(name, span)?;
        match self.points[point].zone == Some(zone) {
            true => Ok(self.points[point].local),
            false => Err(self.error(span, format!("`{name}` is not directly inside this zone"), "correct the route")),
        }
    }

    fn point_named(&self, name: &str, span: &Span) -> Result<Point, Diagnostic> {
        let unknown = || self.error(span, format!("there is no host, router or zone `{name}`"), "correct the name");
        self.point_names.get(name).copied().ok_or_else(unknown)
    }

    /// Where a route between zones leaves the one and enters the other; they must lie inside.
    fn gateways(&self, route: &Route) -> Result<Option<(Point, Point)>, Diagnostic> {
        let is_zone = |name: &str| self.point_named(name, &route.span).map(|point| self.zone_points.contains(&point));
        let zones = is_zone(&route.from)? && is_zone(&route.to)?;
        let Some((leaves, enters)) = &route.gateways else {
            return match is_zone(&route.from)? || is_zone(&route.to)? {
                true => Err(self.error(&route.span, "a <route> joins hosts and routers".into(), "use <zoneRoute>")),
                false => Ok(None),
            };
        };
        if !zones {
            return Err(self.error(&route.span, "gateways are for routes between zones".into(), "use <route>"));
        }
        let inside = |gateway: &str, zone: &str| {
            let point = self.point_named(gateway, &route.span)?;
            let around = self.point_named(zone, &route.span)?;
            let is_inside = self.ancestors(point).iter().any(|zone| self.zones[*zone].point == around);
            match is_inside && !self.zone_points.contains(&point) {
                true => Ok(point),
                false => {
                    let message = format!("the gateway `{gateway}` is not a host or router inside `{zone}`");
                    Err(self.error(&route.span, message, "correct the gateway"))
                }
            }
        };
        Ok(Some((inside(leaves, &route.from)?, inside(enters, &route.to)?)))
    }

    /// The routes of a zone, both ways where they are symmetrical.
    fn hops(&self, zone: usize, description: &Zone) -> Result<BTreeMap<(usize, usize), Hop>, Diagnostic> {
        let mut hops = BTreeMap::new();
        let mut add = |ends, hop, route: &Route| match hops.insert(ends, hop) {
            Some(_) => {
                let message = format!("a second route between `{}` and `{}`", route.from, route.to);
                Err(self.error(&route.span, message, "routes lead both ways unless they have symmetrical=\"NO\""))
            }
            None => Ok(()),
        };
        for route in &description.routes {
            let from = self.member(zone, &route.from, &route.span)?;
            let to = self.member(zone, &route.to, &route.span)?;
            let gateways = self.gateways(route)?;
            let forth = route.links.iter().map(|link| self.link_named(link, false)).collect::<Result<Vec<_>, _>>()?;
            add((from, to), Hop { links: forth, gateways }, route)?;
            if route.symmetrical && from != to {
                let back =
                    route.links.iter().rev().map(|link| self.link_named(link, true)).collect::<Result<_, _>>()?;
                add((to, from), Hop { links: back, gateways: gateways.map(|(a, b)| (b, a)) }, route)?;
            }
        }
        // Link 0 is the loopback of routed zones.
        for &member in self.zones[zone].members.iter().filter(|member| self.host_points.binary_search(member).is_ok()) {
            let local = self.points[member].local;
            hops.entry((local, local)).or_insert(Hop { links: vec![0], gateways: None });
        }
        Ok(hops)
    }

    fn shortest(&self, zone: usize, description: &Zone, search: Search) -> Result<Table, Diagnostic> {
        if self.zones[zone].members.len() > MOST_POINTS {
            let message = format!("more than {MOST_POINTS} hosts and routers in a zone with shortest-path routing");
            return Err(self.error(&description.span, message, "use the routing Full, or several zones"));
        }
        let hops = self.hops(zone, description)?;
        // Edges in the order in which SimGrid sees them.
        let mut edges = Vec::new();
        for route in &description.routes {
            let from = self.member(zone, &route.from, &route.span)?;
            let to = self.member(zone, &route.to, &route.span)?;
            edges.push((from, to));
            if route.symmetrical && from != to {
                edges.push((to, from));
            }
        }
        let lengths = hops.iter().map(|(ends, hop)| (*ends, hop.links.len())).collect();
        let before = search(self.zones[zone].members.len(), &lengths, &edges);
        Ok(Table::Shortest { hops, before })
    }

    fn star(&self, zone: usize, description: &Zone) -> Result<Vec<Arm>, Diagnostic> {
        let mut arms = vec![Arm::default(); self.zones[zone].members.len()];
        let backbone = description.backbone.as_ref().and_then(|link| self.link_names.get(&link.id)).copied();
        for HostLink { host, up, down, span } in &description.host_links {
            let link = |id: &str| self.link_named(&RouteLink { id: id.into(), up: None, span: span.clone() }, false);
            let arm = &mut arms[self.member(zone, host, span)?];
            arm.up = std::iter::once(link(up)?).chain(backbone).collect();
            arm.down = backbone.into_iter().chain([link(down)?]).collect();
        }
        Ok(arms)
    }

    /// The links from one host to another, or to itself, in order.
    pub fn route(&self, from: usize, to: usize) -> Result<Vec<usize>, Diagnostic> {
        let mut links = Vec::new();
        self.global(self.host_points[from], self.host_points[to], &mut links)?;
        match links.is_empty() {
            true => {
                let message = format!("there is no route from `{}` to `{}`", self.hosts[from].id, self.hosts[to].id);
                Err(Diagnostic::error(message, "add the routes that are missing").within(self.source))
            }
            false => Ok(links),
        }
    }

    /// The zones around a point, outermost first.
    fn ancestors(&self, point: Point) -> Vec<usize> {
        let mut zones: Vec<usize> =
            std::iter::successors(self.points[point].zone, |zone| self.zones[*zone].parent).collect();
        zones.reverse();
        zones
    }

    fn global(&self, from: Point, to: Point, links: &mut Vec<usize>) -> Result<(), Diagnostic> {
        let (above_from, above_to) = (self.ancestors(from), self.ancestors(to));
        let common = above_from.iter().zip(&above_to).take_while(|(a, b)| a == b).count();
        let Some(&zone) = common.checked_sub(1).and_then(|last| above_from.get(last)) else { return Ok(()) };
        if above_from.len() == common && above_to.len() == common {
            links.extend(self.local(zone, from, to)?.links);
            return Ok(());
        }
        // Where the two ways part: a zone inside the common one, or the point itself.
        let branch = |above: &[usize], point| above.get(common).map_or(point, |zone| self.zones[*zone].point);
        let way = self.local(zone, branch(&above_from, from), branch(&above_to, to))?;
        let Some((leaves, enters)) = way.gateways else { return Ok(()) };
        if leaves != from {
            self.global(from, leaves, links)?;
        }
        links.extend(way.links);
        if enters != to {
            self.global(enters, to, links)?;
        }
        Ok(())
    }

    fn local(&self, zone: usize, from: Point, to: Point) -> Result<LocalRoute, Diagnostic> {
        let none = LocalRoute { links: Vec::new(), gateways: None };
        let (start, goal) = (self.points[from].local, self.points[to].local);
        Ok(match &self.zones[zone].table {
            Table::Full(hops) => match hops.get(&(start, goal)) {
                Some(hop) => LocalRoute { links: hop.links.clone(), gateways: hop.gateways },
                None => none,
            },
            Table::Star(arms) => {
                if let (true, Some(loopback)) = (start == goal, arms[start].loopback) {
                    return Ok(LocalRoute { links: vec![loopback], gateways: None });
                }
                let mut links: Vec<usize> = Vec::new();
                for link in arms[start].up.iter().chain(&arms[goal].down) {
                    if !links.contains(link) {
                        links.push(*link);
                    }
                }
                LocalRoute { links, gateways: None }
            }
            Table::Shortest { hops, before } => {
                let mut steps = Vec::new();
                let mut at = goal;
                loop {
                    let Some(previous) = before[start][at] else { return Ok(none) };
                    steps.extend(hops.get(&(previous, at)));
                    at = previous;
                    if at == start {
                        break;
                    }
                }
                steps.reverse();
                let ends = steps.first().zip(steps.last());
                let gateways = ends.and_then(|(first, last)| Some((first.gateways?.0, last.gateways?.1)));
                let mut links = Vec::new();
                let mut entered: Option<Point> = None;
                for step in steps {
                    if let (Some(entered), Some((leaves, _))) = (entered, step.gateways)
                        && entered != leaves
                    {
                        self.global(entered, leaves, &mut links)?;
                    }
                    links.extend(&step.links);
                    entered = step.gateways.map(|(_, enters)| enters);
                }
                LocalRoute { links, gateways }
            }
        })
    }
}
