//! Dragonflies whose groups are fat trees of two levels, with minimal routing.
//!
//! Shpiner, Haramaty, Eliad, Zdornov, Gafni and Zahavi, "Dragonfly+: low cost topology for scaling datacenters"
//! (HiPINEB 2017).

use super::arrangement::{Arrangement, GlobalCables};
use super::cabling::{Cabling, answered_by_cabling};
use super::divisor::Divisor;
use super::parallel::name_of_several;
use super::{DragonflyLinks, Duplex, Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends};
use crate::interconnect::Path;
use crate::routing::draw_below;

/// How many of everything a dragonfly+ has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DragonflyPlusShape {
    /// Groups of switches.
    pub groups: u32,
    /// Switches of each group that have nodes.
    pub leaves_per_group: u32,
    /// Switches of each group that have cables to other groups; each is joined with every leaf.
    pub spines_per_group: u32,
    /// Nodes on each leaf.
    pub nodes_per_leaf: u32,
    /// Ports of each spine for cables to other groups.
    pub global_cables_per_spine: u32,
    /// Which port leads where.
    pub arrangement: Arrangement,
}

impl std::fmt::Display for DragonflyPlusShape {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let DragonflyPlusShape { groups, leaves_per_group, spines_per_group, nodes_per_leaf, .. } = self;
        write!(f, "dragonfly+, {groups} groups of {leaves_per_group} leaves and {spines_per_group} spines, ")?;
        write!(f, "{nodes_per_leaf} nodes a leaf")
    }
}

/// Groups of leaves and spines, and every two groups joined.
///
/// The switches of a group are numbered leaves first, group by group. Cables between switches: those within groups first,
/// by group, leaf and spine; then those between groups, by pair of groups, then by which of several it is. Forward is up
/// to the spine, and to the group with the higher number. Among several ways the destination chooses.
#[derive(Clone, Debug)]
pub struct DragonflyPlus {
    shape: DragonflyPlusShape,
    links: DragonflyLinks,
    leaves: Divisor,
    spines: Divisor,
    global: GlobalCables,
    /// The first cable between groups.
    first_global: u32,
    cabling: Cabling,
}

impl DragonflyPlus {
    /// A dragonfly+ of this shape.
    pub fn new(
        shape: DragonflyPlusShape,
        links: DragonflyLinks,
        duplex: Duplex,
    ) -> Result<DragonflyPlus, TopologyError> {
        let (groups, leaves, spines) = (shape.groups, shape.leaves_per_group, shape.spines_per_group);
        if [groups, leaves, spines, shape.nodes_per_leaf, shape.global_cables_per_spine].contains(&0) {
            return Err(TopologyError::Zero("each number of a dragonfly+"));
        }
        let global = GlobalCables::new(groups, spines, shape.global_cables_per_spine, shape.arrangement)?;
        let carriers = groups as u64 * leaves as u64;
        let local = carriers.saturating_mul(spines as u64);
        let between = local.saturating_add(global.count());
        let cabling = Cabling::new(carriers, shape.nodes_per_leaf, between, duplex, &shape.to_string())?;
        // All cables have numbers below 2^32, so this one does.
        let first_global = cabling.nodes() + local as u32;
        let (leaves, spines) = (Divisor::new(leaves), Divisor::new(spines));
        Ok(DragonflyPlus { shape, links, leaves, spines, global, first_global, cabling })
    }

    /// Switches of a group.
    fn size(&self) -> u32 {
        self.leaves.value() + self.spines.value()
    }

    /// The link between a leaf, counted among all, and a spine of its group.
    #[inline]
    fn within(&self, leaf: u32, spine: u32, up: bool) -> LinkId {
        self.cabling.directed(self.cabling.nodes() + leaf * self.spines.value() + spine, up)
    }

    /// The number of a leaf that is counted among all leaves.
    fn leaf(&self, leaf: u32) -> u32 {
        let (group, leaf) = self.leaves.divide(leaf);
        group * self.size() + leaf
    }

    fn spine(&self, group: u32, spine: u32) -> u32 {
        group * self.size() + self.leaves.value() + spine
    }

    /// A shortest way over this one of the cables between the groups, or over this spine within a group.
    #[inline]
    fn route_over(&self, from: u32, to: u32, which: u32, spine: u32, path: &mut Path) {
        path.push(self.cabling.directed(from, true), &self.links.node);
        let (start, goal) = (self.cabling.switch_of(from), self.cabling.switch_of(to));
        let (here, there) = (self.leaves.quotient(start), self.leaves.quotient(goal));
        if here != there {
            path.push(self.within(start, self.global.switch(here, there, which), true), &self.links.local);
            let (number, forward) = self.global.number(here, there, which);
            path.push(self.cabling.directed(self.first_global + number, forward), &self.links.global);
            path.push(self.within(goal, self.global.switch(there, here, which), false), &self.links.local);
        } else if start != goal {
            path.push(self.within(start, spine, true), &self.links.local);
            path.push(self.within(goal, spine, false), &self.links.local);
        }
        path.push(self.cabling.directed(to, false), &self.links.node);
    }

    /// The switches that a cable joins.
    fn joined(&self, cable: u32) -> (u32, u32) {
        if cable < self.first_global {
            let (leaf, spine) = self.spines.divide(cable - self.cabling.nodes());
            return (self.leaf(leaf), self.spine(self.leaves.quotient(leaf), spine));
        }
        let (lower, upper, which) = self.global.ends(cable - self.first_global);
        let end = |from, to| self.spine(from, self.global.switch(from, to, which));
        (end(lower, upper), end(upper, lower))
    }
}

impl Topology for DragonflyPlus {
    answered_by_cabling!();

    fn describe(&self) -> String {
        self.shape.to_string()
    }

    fn switches(&self) -> u32 {
        self.shape.groups * self.size()
    }

    fn link(&self, id: LinkId) -> Link {
        self.cabling.by_kind(id, self.first_global, [self.links.node, self.links.local, self.links.global])
    }

    fn link_name(&self, id: LinkId) -> String {
        let name = name_by_ends(self, id);
        match self.cabling.cable(id).checked_sub(self.first_global) {
            Some(number) => name_of_several(name, self.global.several(), number),
            None => name,
        }
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        self.cabling.ends(id, |leaf| self.leaf(leaf), |cable| self.joined(cable))
    }

    /// Up to a spine and down; to another group, up to the spine that has the cable there, and down from the spine where
    /// it ends.
    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        self.route_over(from, to, self.global.choose(to), self.spines.remainder(to), path);
    }

    /// Over any of the cables between the groups, or any spine.
    fn any_route(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        let which = draw_below(&mut draw, self.global.several().value());
        self.route_over(from, to, which, draw_below(&mut draw, self.spines.value()), path);
    }

    /// Up, across and down, and the links of the nodes.
    fn diameter(&self) -> u32 {
        match (self.cabling.nodes(), self.shape.groups, self.leaves.value()) {
            (1, ..) => 0,
            (_, 1, 1) => 2,
            (_, 1, _) => 4,
            _ => 5,
        }
    }

    fn link_kind(&self, id: LinkId) -> String {
        self.cabling.by_kind(id, self.first_global, ["node-link", "local-link", "global-link"]).into()
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        let Vertex::Switch(switch) = vertex else {
            let Vertex::Node(node) = vertex else { return String::new() };
            return format!("node {node}");
        };
        let (group, within) = (switch / self.size(), switch % self.size());
        match within.checked_sub(self.leaves.value()) {
            Some(spine) => format!("group {group} spine {spine}"),
            None => format!("group {group} leaf {within}"),
        }
    }

    fn switch_kind(&self, switch: u32) -> String {
        if switch % self.size() < self.leaves.value() { "leaf".into() } else { "spine".into() }
    }

    fn structure(&self) -> Structure {
        Structure::Groups { size: self.size(), inner: self.spines.value() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn shape(groups: u32, leaves_per_group: u32, spines_per_group: u32) -> DragonflyPlusShape {
        DragonflyPlusShape {
            groups,
            leaves_per_group,
            spines_per_group,
            nodes_per_leaf: 2,
            global_cables_per_spine: 2,
            arrangement: Arrangement::Absolute,
        }
    }

    fn new(shape: DragonflyPlusShape) -> Result<DragonflyPlus, TopologyError> {
        DragonflyPlus::new(shape, DragonflyLinks { node: LINK, local: LINK, global: LINK }, Duplex::Split)
    }

    fn route(topology: &DragonflyPlus, from: u32, to: u32) -> Vec<String> {
        let mut path = Path::default();
        path.clear();
        topology.route(from, to, &mut path);
        path.links.iter().map(|&id| topology.link_name(id)).collect()
    }

    #[test]
    fn up_across_down() {
        let topology = new(shape(5, 2, 2)).unwrap();
        let way = [
            "node 1 -> group 0 leaf 0",
            "group 0 leaf 0 -> group 0 spine 1",
            "group 0 spine 1 -> group 4 spine 0",
            "group 4 spine 0 -> group 4 leaf 1",
            "group 4 leaf 1 -> node 19",
        ];
        assert_eq!(route(&topology, 1, 19), way);
        assert_eq!(
            route(&topology, 0, 3)[1..3],
            ["group 0 leaf 0 -> group 0 spine 1", "group 0 spine 1 -> group 0 leaf 1"]
        );
        assert_eq!(route(&topology, 3, 3), ["node 3 -> group 0 leaf 1", "group 0 leaf 1 -> node 3"]);
    }

    #[test]
    fn known_figures() {
        let topology = new(shape(5, 2, 2)).unwrap();
        assert_eq!((topology.nodes(), topology.switches(), topology.diameter()), (20, 20, 5));
        assert_eq!(topology.cables(), 20 + 5 * 4 + 10);
    }

    #[test]
    fn impossible_figures() {
        let error = |shape| new(shape).unwrap_err().to_string();
        assert!(error(shape(6, 2, 2)).contains("write at most 5 groups"));
        assert!(error(shape(2, 0, 2)).contains("at least 1"));
        assert!(error(shape(1, 1 << 20, 1 << 20)).contains("make it smaller"));
        assert!(error(shape(u32::MAX, u32::MAX, u32::MAX)).contains("make it smaller"));
    }
}
