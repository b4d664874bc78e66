//! One switch that joins all nodes: SimGrid's `<cluster>`.

use super::{Duplex, Link, LinkId, Structure, Topology, Vertex, name_by_ends};
use crate::interconnect::{Path, Sums};
use crate::routing::Choice;

/// All nodes on one switch: a message goes up its sender's cable and down its receiver's.
///
/// Up links have the ids `0..nodes`, down links follow (unless both directions share one link), the backbone is last.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossbar {
    nodes: u32,
    link: Link,
    /// What leads from an up link's id to its down link's: 0 where they are the same.
    down: u32,
    /// Inside the switch, crossed by every message.
    backbone: Option<Link>,
    /// What the way between two nodes adds up to.
    sums: Sums,
}

impl Crossbar {
    /// So many nodes, each with a cable of this kind to the switch. All messages cross the backbone, if there is one.
    pub fn new(nodes: u32, link: Link, duplex: Duplex, backbone: Option<Link>) -> Crossbar {
        let down = match duplex {
            Duplex::Split => nodes,
            Duplex::Shared => 0,
        };
        let sums = Sums::of([Some(&link), backbone.as_ref(), Some(&link)].into_iter().flatten());
        Crossbar { nodes, link, down, backbone, sums }
    }

    /// The backbone's id, if there is one.
    #[inline]
    fn backbone_id(&self) -> LinkId {
        self.nodes + self.down
    }
}

impl Topology for Crossbar {
    fn describe(&self) -> String {
        format!("crossbar, {} nodes on one switch", self.nodes)
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn switches(&self) -> u32 {
        1
    }

    fn links(&self) -> u32 {
        self.backbone_id() + self.backbone.is_some() as u32
    }

    fn link(&self, id: LinkId) -> Link {
        match self.backbone {
            Some(backbone) if id == self.backbone_id() => backbone,
            _ => self.link,
        }
    }

    fn link_name(&self, id: LinkId) -> String {
        if id == self.backbone_id() { "backbone".into() } else { name_by_ends(self, id) }
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        let switch = Vertex::Switch(0);
        match id {
            _ if id < self.nodes => (Vertex::Node(id), switch),
            _ if id < self.backbone_id() => (switch, Vertex::Node(id - self.nodes)),
            _ => (switch, switch),
        }
    }

    fn is_shared(&self, id: LinkId) -> bool {
        self.down == 0 || id == self.backbone_id()
    }

    fn may_repeat_links(&self) -> bool {
        self.down == 0 || self.backbone.is_some()
    }

    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        let down = self.down + to;
        if from == down {
            // On the way from a node to itself SimGrid (StarZone.cpp) takes a shared link once only.
            path.push(from, &self.link);
            if let Some(backbone) = &self.backbone {
                path.push(self.backbone_id(), backbone);
            }
            return;
        }
        match self.backbone {
            Some(_) => path.links.extend_from_slice(&[from, self.backbone_id(), down]),
            None => path.links.extend_from_slice(&[from, down]),
        }
        path.add_sums(&self.sums);
    }

    fn fixed_routing(&self) -> &'static str {
        "direct"
    }

    fn choice(&self) -> Choice {
        Choice::None
    }

    fn cables(&self) -> u64 {
        self.nodes as u64
    }

    fn diameter(&self) -> u32 {
        match self.nodes {
            0 | 1 => 0,
            _ => 2 + self.backbone.is_some() as u32,
        }
    }

    /// The smaller half has floor(n / 2) cables, and the backbone carries all that they carry:
    /// min(floor(n / 2) b, backbone).
    fn bisection_bandwidth(&self) -> f64 {
        let cables = (self.nodes / 2) as f64 * self.link.bandwidth;
        self.backbone.map_or(cables, |backbone| cables.min(backbone.bandwidth))
    }

    fn bisection_is_exact(&self) -> bool {
        true
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        match vertex {
            Vertex::Node(node) => format!("node {node}"),
            Vertex::Switch(_) => "switch".into(),
        }
    }

    fn structure(&self) -> Structure {
        Structure::Star { backbone: self.backbone.map(|_| self.backbone_id()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { bandwidth: 12.5e9, latency: 1e-7 };

    fn route(topology: &Crossbar, from: u32, to: u32) -> Vec<String> {
        let mut path = Path::default();
        path.clear();
        topology.route(from, to, &mut path);
        path.links.iter().map(|&id| topology.link_name(id)).collect()
    }

    #[test]
    fn up_and_down() {
        let topology = Crossbar::new(4, LINK, Duplex::Split, None);
        assert_eq!(route(&topology, 1, 3), ["node 1 -> switch", "switch -> node 3"]);
        assert_eq!(route(&topology, 2, 2), ["node 2 -> switch", "switch -> node 2"]);
        assert_eq!(topology.links(), 8);
        assert_eq!(topology.bisection_bandwidth(), 25e9);
    }

    #[test]
    fn shared_cables_and_a_backbone() {
        let backbone = Link { bandwidth: 20e9, latency: 1e-6 };
        let topology = Crossbar::new(5, LINK, Duplex::Shared, Some(backbone));
        assert_eq!(route(&topology, 1, 3), ["node 1 <-> switch", "backbone", "node 3 <-> switch"]);
        assert_eq!(route(&topology, 2, 2), ["node 2 <-> switch", "backbone"]);
        assert_eq!(topology.links(), 6);
        assert_eq!(topology.bisection_bandwidth(), 20e9);
        assert_eq!(topology.diameter(), 3);
    }
}
