//! Dragonflies with minimal routing.
//!
//! Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology" (ISCA 2008).

use super::arrangement::{Arrangement, GlobalCables};
use super::cabling::{Cabling, answered_by_cabling};
use super::divisor::Divisor;
use super::parallel::name_of_several;
use super::{Duplex, Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends, pairs};
use crate::interconnect::Path;
use crate::routing::draw_below;

/// How many of everything a dragonfly has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DragonflyShape {
    /// Groups of switches (g).
    pub groups: u32,
    /// Switches of each group, each joined with every other (a).
    pub switches_per_group: u32,
    /// Nodes on each switch (p).
    pub nodes_per_switch: u32,
    /// Ports of each switch for cables to other groups (h).
    pub global_cables_per_switch: u32,
    /// Which port leads where.
    pub arrangement: Arrangement,
}

/// The links of dragonflies, by what they join.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DragonflyLinks {
    /// From nodes to switches.
    pub node: Link,
    /// Between the switches of a group.
    pub local: Link,
    /// Between groups.
    pub global: Link,
}

impl std::fmt::Display for DragonflyShape {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let DragonflyShape { groups, switches_per_group, nodes_per_switch, .. } = self;
        write!(f, "dragonfly, {groups} groups of {switches_per_group} switches, {nodes_per_switch} nodes a switch")
    }
}

/// Groups of switches, each group a full mesh, and every two groups joined.
///
/// Switch s of group i has the number a i + s. Cables between switches: those within groups first, by group, then by pair
/// of switches; then those between groups, by pair of groups, then by which of several it is. Forward is towards the
/// switch with the higher number. Where several cables join two groups, the destination chooses one.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    shape: DragonflyShape,
    links: DragonflyLinks,
    switches: Divisor,
    /// Cables within a group.
    pairs: u32,
    global: GlobalCables,
    /// The first cable between groups.
    first_global: u32,
    cabling: Cabling,
}

impl Dragonfly {
    /// A dragonfly of this shape.
    pub fn new(shape: DragonflyShape, links: DragonflyLinks, duplex: Duplex) -> Result<Dragonfly, TopologyError> {
        let DragonflyShape { groups, switches_per_group, nodes_per_switch, global_cables_per_switch, arrangement } =
            shape;
        if [groups, switches_per_group, nodes_per_switch, global_cables_per_switch].contains(&0) {
            return Err(TopologyError::Zero("each number of a dragonfly"));
        }
        let global = GlobalCables::new(groups, switches_per_group, global_cables_per_switch, arrangement)?;
        let switches = groups as u64 * switches_per_group as u64;
        let local = pairs::count(switches_per_group).saturating_mul(groups as u64);
        let between = local.saturating_add(global.count());
        let cabling = Cabling::new(switches, nodes_per_switch, between, duplex, &shape.to_string())?;
        // All cables have numbers below 2^32, so these do.
        let (pairs, first_global) = (pairs::count(switches_per_group) as u32, cabling.nodes() + local as u32);
        Ok(Dragonfly { shape, links, switches: Divisor::new(switches_per_group), pairs, global, first_global, cabling })
    }

    /// Goes from one switch of a group to another, if they are not the same.
    #[inline]
    fn go_within(&self, group: u32, from: u32, to: u32, path: &mut Path) {
        if from != to {
            let pair = pairs::number(from.min(to), from.max(to));
            let cable = self.cabling.nodes() + group * self.pairs + pair;
            path.push(self.cabling.directed(cable, from < to), &self.links.local);
        }
    }

    /// Goes to another group over one of the cables there; returns the switch where that ends.
    #[inline]
    fn go_across(&self, [here, there]: [u32; 2], start: u32, which: u32, path: &mut Path) -> u32 {
        self.go_within(here, start, self.global.switch(here, there, which), path);
        let (number, forward) = self.global.number(here, there, which);
        path.push(self.cabling.directed(self.first_global + number, forward), &self.links.global);
        self.global.switch(there, here, which)
    }

    /// The shortest way that crosses this one of the cables between the groups.
    #[inline]
    fn route_over(&self, from: u32, to: u32, which: u32, path: &mut Path) {
        path.push(self.cabling.directed(from, true), &self.links.node);
        let (here, start) = self.switches.divide(self.cabling.switch_of(from));
        let (there, goal) = self.switches.divide(self.cabling.switch_of(to));
        let end = if here == there { start } else { self.go_across([here, there], start, which, path) };
        self.go_within(there, end, goal, path);
        path.push(self.cabling.directed(to, false), &self.links.node);
    }

    /// The switches that a cable joins, the lower one first.
    fn joined(&self, cable: u32) -> (u32, u32) {
        let switch = |group: u32, switch: u32| group * self.switches.value() + switch;
        if cable < self.first_global {
            let within = cable - self.cabling.nodes();
            let group = within / self.pairs;
            let (lower, upper) = pairs::ends(within % self.pairs);
            return (switch(group, lower), switch(group, upper));
        }
        let (lower, upper, which) = self.global.ends(cable - self.first_global);
        let end = |from, to| switch(from, self.global.switch(from, to, which));
        (end(lower, upper), end(upper, lower))
    }

    /// Whether any message from another group has to go on to another switch. Where several cables join two groups,
    /// each may lead right to the only switch whose messages it carries.
    fn needs_last_step(&self) -> bool {
        let (groups, switches, nodes) = (self.shape.groups, self.switches.value(), self.cabling.per_switch());
        let elsewhere = |to: u32, node: u32| {
            let node = to * switches * nodes + node;
            let switch = self.switches.remainder(self.cabling.switch_of(node));
            let mut others = (0..groups).filter(|&from| from != to);
            others.any(|from| self.global.switch(to, from, self.global.choose(node)) != switch)
        };
        (0..groups).any(|to| (0..switches * nodes).any(|node| elsewhere(to, node)))
    }
}

impl Topology for Dragonfly {
    answered_by_cabling!();

    fn describe(&self) -> String {
        self.shape.to_string()
    }

    fn switches(&self) -> u32 {
        self.shape.groups * self.switches.value()
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
        self.cabling.ends(id, |switch| switch, |cable| self.joined(cable))
    }

    /// To the switch of the group that has the cable to the destination's group, over that cable, and to the
    /// destination's switch.
    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        self.route_over(from, to, self.global.choose(to), path);
    }

    /// Over any of the cables between the groups.
    fn any_route(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        self.route_over(from, to, draw_below(&mut draw, self.global.several().value()), path);
    }

    /// By way of a third group, if there is one.
    fn detour(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        let (here, start) = self.switches.divide(self.cabling.switch_of(from));
        let (there, goal) = self.switches.divide(self.cabling.switch_of(to));
        let taken = if here == there { 1 } else { 2 };
        if self.shape.groups <= taken {
            return self.any_route(from, to, draw, path);
        }
        let mut between = draw_below(&mut draw, self.shape.groups - taken);
        between += (between >= here.min(there)) as u32;
        between += (here != there && between >= here.max(there)) as u32;
        path.push(self.cabling.directed(from, true), &self.links.node);
        let mut which = || draw_below(&mut draw, self.global.several().value());
        let turn = self.go_across([here, between], start, which(), path);
        let end = self.go_across([between, there], turn, which(), path);
        self.go_within(there, end, goal, path);
        path.push(self.cabling.directed(to, false), &self.links.node);
    }

    /// Local, global, local, and the links of the nodes.
    fn diameter(&self) -> u32 {
        let local = (self.switches.value() > 1) as u32;
        match (self.cabling.nodes(), self.shape.groups) {
            (1, _) => 0,
            (_, 1) => 2 + local,
            _ => 3 + local + self.needs_last_step() as u32,
        }
    }

    fn link_kind(&self, id: LinkId) -> String {
        self.cabling.by_kind(id, self.first_global, ["node-link", "local-link", "global-link"]).into()
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        match vertex {
            Vertex::Node(node) => format!("node {node}"),
            Vertex::Switch(switch) => {
                let (group, switch) = self.switches.divide(switch);
                format!("group {group} switch {switch}")
            }
        }
    }

    fn structure(&self) -> Structure {
        Structure::Groups { size: self.switches.value(), inner: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: DragonflyLinks = DragonflyLinks {
        node: Link { bandwidth: 1e9, latency: 1e-6 },
        local: Link { bandwidth: 2e9, latency: 2e-6 },
        global: Link { bandwidth: 3e9, latency: 3e-6 },
    };

    fn shape(
        groups: u32,
        switches_per_group: u32,
        nodes_per_switch: u32,
        global_cables_per_switch: u32,
    ) -> DragonflyShape {
        let arrangement = Arrangement::Absolute;
        DragonflyShape { groups, switches_per_group, nodes_per_switch, global_cables_per_switch, arrangement }
    }

    fn dragonfly(shape: DragonflyShape) -> Dragonfly {
        Dragonfly::new(shape, LINKS, Duplex::Split).unwrap()
    }

    fn route(topology: &Dragonfly, from: u32, to: u32) -> Vec<String> {
        let mut path = Path::default();
        path.clear();
        topology.route(from, to, &mut path);
        path.links.iter().map(|&id| topology.link_name(id)).collect()
    }

    #[test]
    fn local_global_local() {
        let topology = dragonfly(shape(9, 4, 2, 2));
        let way = [
            "node 1 -> group 0 switch 0",
            "group 0 switch 0 -> group 0 switch 3",
            "group 0 switch 3 -> group 8 switch 0",
            "group 8 switch 0 -> group 8 switch 3",
            "group 8 switch 3 -> node 71",
        ];
        assert_eq!(route(&topology, 1, 71), way);
        assert_eq!(route(&topology, 2, 2), ["node 2 -> group 0 switch 1", "group 0 switch 1 -> node 2"]);
        let mut path = Path::default();
        path.clear();
        topology.route(1, 71, &mut path);
        assert_eq!((path.latency, path.bandwidth), (1e-6 + 2e-6 + 3e-6 + 2e-6 + 1e-6, 1e9));
    }

    #[test]
    fn the_largest_joins_each_pair_of_groups_once() {
        // Kim et al., figure 5: p = h = 2, a = 4, 72 nodes.
        let topology = dragonfly(shape(9, 4, 2, 2));
        assert_eq!((topology.nodes(), topology.switches(), topology.diameter()), (72, 36, 5));
        assert_eq!(topology.cables(), 72 + 9 * 6 + 36);
        let mut joined = std::collections::BTreeSet::new();
        for id in topology.first_global..topology.cables() as u32 {
            let (lower, upper) = topology.joined(id);
            assert!(joined.insert((lower / 4, upper / 4)));
        }
        assert_eq!(joined.len(), 36);
    }

    #[test]
    fn fewer_groups_have_several_cables() {
        let topology = dragonfly(shape(3, 4, 2, 2));
        assert_eq!(topology.global.several().value(), 4);
        assert!(route(&topology, 0, 9)[2].ends_with("(cable 2 of 4)"), "{:?}", route(&topology, 0, 9));
        // Cable r leads to switch r, and carries the messages to the nodes of that switch only.
        assert_eq!(dragonfly(shape(2, 2, 1, 1)).diameter(), 4);
    }

    #[test]
    fn a_large_one_is_a_few_numbers() {
        let topology = dragonfly(shape(256, 16, 25, 16));
        assert_eq!(topology.nodes(), 102_400);
        assert!(size_of_val(&topology) < 400, "{} bytes and nothing else", size_of_val(&topology));
    }

    #[test]
    fn impossible_figures() {
        let error = |shape| Dragonfly::new(shape, LINKS, Duplex::Split).unwrap_err().to_string();
        assert!(error(shape(10, 4, 2, 2)).contains("write at most 9 groups"));
        assert!(error(shape(2, 4, 0, 2)).contains("at least 1"));
        assert!(error(shape(1, 100_000, 1, 1)).contains("make it smaller"));
        assert!(error(shape(2, u32::MAX, 1, u32::MAX)).contains("make it smaller"));
        assert!(error(shape(u32::MAX, u32::MAX, u32::MAX, u32::MAX)).contains("make it smaller"));
    }
}
