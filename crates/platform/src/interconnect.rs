//! The network of a machine: a topology, and what surrounds it at every node.

use std::sync::Arc;

use crate::routing::{Choosing, Routing};
use crate::topology::{Link, LinkId, Topology};

/// The way of one message, with the sums that models need. Reused between messages, so that routing allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// The links crossed, in order. Empty inside a node: memory is not shared between flows.
    pub links: Vec<LinkId>,
    /// Links on the way that no two messages share: they count in the sums only. Hardly any network has such links.
    pub unshared: Vec<LinkId>,
    /// Sum of the links' latencies, in seconds.
    pub latency: f64,
    /// Bandwidth of the narrowest link, in bytes per second.
    pub bandwidth: f64,
    /// Sum of 1/bandwidth over the links, in seconds per byte (for SimGrid's weight-S).
    pub inverse_bandwidth: f64,
}

impl Path {
    /// Forgets the last way.
    #[inline]
    pub fn clear(&mut self) {
        self.links.clear();
        self.unshared.clear();
        self.latency = 0.0;
        self.bandwidth = f64::INFINITY;
        self.inverse_bandwidth = 0.0;
    }

    /// Goes on over one more link.
    #[inline]
    pub fn push(&mut self, id: LinkId, link: &Link) {
        self.links.push(id);
        self.add(link);
    }

    /// Goes on over what this adds up to; its links have to be pushed one by one.
    #[inline]
    pub(crate) fn add_sums(&mut self, sums: &Sums) {
        self.latency += sums.latency;
        self.bandwidth = self.bandwidth.min(sums.bandwidth);
        self.inverse_bandwidth += sums.inverse_bandwidth;
    }

    /// Goes on over all of another way.
    pub(crate) fn append(&mut self, other: &Path) {
        self.links.extend_from_slice(&other.links);
        self.unshared.extend_from_slice(&other.unshared);
        self.add_sums(&other.sums());
    }

    /// What it adds up to.
    pub(crate) fn sums(&self) -> Sums {
        let &Path { latency, bandwidth, inverse_bandwidth, .. } = self;
        Sums { latency, bandwidth, inverse_bandwidth }
    }

    /// Where it is now, to come back to.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark { links: self.links.len(), unshared: self.unshared.len(), sums: self.sums() }
    }

    /// Goes back to where it was.
    pub(crate) fn go_back(&mut self, Mark { links, unshared, sums }: Mark) {
        self.links.truncate(links);
        self.unshared.truncate(unshared);
        (self.latency, self.bandwidth, self.inverse_bandwidth) = (sums.latency, sums.bandwidth, sums.inverse_bandwidth);
    }

    /// Goes on over a link that no two messages share.
    #[inline]
    pub(crate) fn push_unshared(&mut self, id: LinkId, link: &Link) {
        self.unshared.push(id);
        self.add(link);
    }

    /// Goes on over something that is no link.
    #[inline]
    pub(crate) fn add(&mut self, link: &Link) {
        self.latency += link.latency;
        self.bandwidth = self.bandwidth.min(link.bandwidth);
        self.inverse_bandwidth += 1.0 / link.bandwidth;
    }
}

/// A place on a way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub links: usize,
    pub unshared: usize,
    sums: Sums,
}

/// What links add up to, for routes that are all alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sums {
    latency: f64,
    bandwidth: f64,
    inverse_bandwidth: f64,
}

impl Sums {
    /// Of these links, one after the other.
    pub(crate) fn of<'a>(links: impl IntoIterator<Item = &'a Link>) -> Sums {
        let mut path = Path::default();
        path.clear();
        links.into_iter().for_each(|link| path.add(link));
        path.sums()
    }
}

/// What carries a message between two ranks of one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loopback {
    /// Memory: each flow has this bandwidth and latency for itself.
    Unshared(Link),
    /// Messages leave the node to the first switch and come back, as SimGrid does where no loopback is described.
    ThroughNetwork,
}

/// A topology, and what surrounds it at every node.
#[derive(Clone, Debug)]
pub struct Interconnect {
    /// Machines that differ in other things may share it.
    topology: Arc<dyn Topology>,
    routing: Routing,
    loopback: Loopback,
    /// Capacity shared by what enters and what leaves a node, in bytes per second.
    limiter: Option<f64>,
}

impl Interconnect {
    /// Joins the parts.
    pub fn new(topology: Box<dyn Topology>, loopback: Loopback, limiter: Option<f64>) -> Interconnect {
        Interconnect { topology: topology.into(), routing: Routing::Fixed, loopback, limiter }
    }

    /// The same with another routing.
    pub fn routed(self, routing: Routing) -> Interconnect {
        Interconnect { routing, ..self }
    }

    /// How ways are chosen.
    pub fn routing(&self) -> Routing {
        self.routing
    }

    /// The topology alone.
    pub fn topology(&self) -> &dyn Topology {
        &*self.topology
    }

    /// What carries messages inside a node.
    pub fn loopback(&self) -> Loopback {
        self.loopback
    }

    /// Number of links, limiters included; ids are `0..links()`.
    pub fn links(&self) -> u32 {
        self.topology.links() + if self.limiter.is_some() { self.topology.nodes() } else { 0 }
    }

    /// Whether a way to another node and the way back may cross a link twice; if in doubt, yes.
    pub fn may_repeat_links(&self) -> bool {
        // A detour may come back to a switch that it has left, and take the same link again.
        self.limiter.is_some() || self.routing.makes_detours() || self.topology.may_repeat_links()
    }

    /// What a link can do.
    pub fn link(&self, id: LinkId) -> Link {
        if id < self.topology.links() {
            return self.topology.link(id);
        }
        Link { bandwidth: self.limiter.unwrap_or(0.0), latency: 0.0 }
    }

    /// Capacity of a link in bytes per second.
    pub fn capacity(&self, id: LinkId) -> f64 {
        self.link(id).bandwidth
    }

    /// The link's name for people.
    pub fn link_name(&self, id: LinkId) -> String {
        if id < self.topology.links() {
            self.topology.link_name(id)
        } else {
            format!("limiter of node {}", id - self.topology.links())
        }
    }

    /// What kind of link it is: as [`Topology::link_kind`] calls it, or the limiter of a node.
    pub fn link_kind(&self, id: LinkId) -> String {
        if id < self.topology.links() { self.topology.link_kind(id) } else { "limiter".into() }
    }

    /// The way from one node to another, or to itself. Where ways are drawn or depend on the load, it is the fixed one.
    #[inline]
    pub fn path(&self, from: u32, to: u32, path: &mut Path) {
        self.surround(from, to, path, |path| match self.routing {
            Routing::Source | Routing::Hashed => self.choose_fixed(from, to, path),
            _ => self.topology.route(from, to, path),
        });
    }

    #[cold]
    fn choose_fixed(&self, from: u32, to: u32, path: &mut Path) {
        let choosing = Choosing { from, to, draw: 0, load: &|_| 0 };
        self.routing.choose(self.topology(), choosing, path, &mut Path::default());
    }

    /// The way of a message; `spare` is memory for a way that may not be taken.
    pub fn choose(&self, choosing: Choosing<'_>, path: &mut Path, spare: &mut Path) {
        self.surround(choosing.from, choosing.to, path, |path| {
            self.routing.choose(self.topology(), choosing, path, spare);
        });
    }

    /// A way through the topology with what surrounds it.
    #[inline]
    fn surround(&self, from: u32, to: u32, path: &mut Path, route: impl FnOnce(&mut Path)) {
        path.clear();
        if from == to
            && let Loopback::Unshared(link) = &self.loopback
        {
            path.add(link);
            return;
        }
        if let Some(bandwidth) = self.limiter {
            let limiter = Link { bandwidth, latency: 0.0 };
            path.push(self.topology.links() + from, &limiter);
            route(path);
            // A message that comes back to its node passes the limiter once, as in SimGrid.
            if from != to {
                path.push(self.topology.links() + to, &limiter);
            }
        } else {
            route(path);
        }
    }
}
