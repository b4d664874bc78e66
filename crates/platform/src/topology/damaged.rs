//! Any network, some of whose links and switches have failed.
//!
//! Messages take their usual way where it is whole; otherwise another of the shortest ways of the whole network, by a draw
//! (that depends on both ends, where ways do); and where none of a few draws is whole, a shortest way through what is left. Detours,
//! too, are drawn until one is whole.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Link, LinkId, Structure, Topology, Vertex, bisection};
use crate::diagnostic::nearest;
use crate::interconnect::Path;
use crate::routing::{Choice, hash};

/// Draws that are tried before a way is searched for.
const DRAWS: u64 = 8;
/// Networks of so many nodes have their longest route measured.
const SMALL: u32 = 512;

/// Among so many links, and switches, one is looked for that a misspelt name may have meant.
const LISTED: u32 = 1 << 18;
/// Ways around failures are searched for in lists of links: no more than this.
const MOST_LINKS: u32 = 1 << 28;

/// Why a network cannot be damaged like that, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DamageError {
    /// A name that nothing has.
    #[error("neither a link nor a switch of this network is called `{name}`: {hint}")]
    Unknown {
        /// Which of the names it is.
        at: usize,
        /// The name.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// A node.
    #[error(
        "`{name}` is a node, and only links and switches can fail: remove it, and write fewer nodes if it is not there"
    )]
    Node {
        /// Which of the names it is.
        at: usize,
        /// The name.
        name: String,
    },
    /// More links than can be listed.
    #[error("a network of more than {MOST_LINKS} links cannot have failed ones: make it smaller")]
    TooLarge,
    /// Nodes that cannot reach each other.
    #[error(
        "the machine is cut, as {lost} of {nodes} nodes have lost {first} (`{example}` is one of them): let less fail"
    )]
    Cut {
        /// Nodes without a way.
        lost: usize,
        /// All nodes.
        nodes: u32,
        /// Where there is no way to.
        first: String,
        /// One of those without a way.
        example: String,
    },
}

/// A link as it leaves a vertex.
#[derive(Clone, Copy, Debug)]
struct Exit {
    link: LinkId,
    to: u32,
}

/// A network with damage. Numbers of links and switches are those of the whole one.
#[derive(Debug)]
pub struct Damaged {
    whole: Box<dyn Topology>,
    failed: Vec<bool>,
    /// What failed, as it was named.
    names: Vec<String>,
    /// Links that still lead away from each vertex, nodes first: those of vertex v begin at `first[v]`.
    exits: Vec<Exit>,
    first: Vec<u32>,
    /// Whether nodes pass messages on, as where they are joined with each other.
    nodes_pass_on: bool,
}

impl Damaged {
    /// The network without what these names stand for, links (in both directions) or switches; of its nodes the first
    /// `nodes` must still reach each other.
    pub fn new(whole: Box<dyn Topology>, names: &[String], nodes: u32) -> Result<Damaged, DamageError> {
        let failed = find(&*whole, names)?;
        let index = |vertex| match vertex {
            Vertex::Node(node) => node,
            Vertex::Switch(switch) => whole.nodes() + switch,
        };
        let mut leaving = vec![Vec::new(); (whole.nodes() + whole.switches()) as usize];
        let nodes_pass_on = whole.nodes_pass_on();
        for id in 0..whole.links() {
            let (tail, head) = whole.ends(id);
            if failed[id as usize] || whole.is_missing(id) || tail == head {
                continue;
            }
            leaving[index(tail) as usize].push(Exit { link: id, to: index(head) });
            if whole.is_shared(id) {
                leaving[index(head) as usize].push(Exit { link: id, to: index(tail) });
            }
        }
        let mut first = vec![0];
        first.extend(leaving.iter().scan(0, |sum, exits| {
            *sum += exits.len() as u32;
            Some(*sum)
        }));
        let exits = leaving.into_iter().flatten().collect();
        let damaged = Damaged { whole, failed, names: names.to_vec(), exits, first, nodes_pass_on };
        damaged.check_whole(nodes)?;
        Ok(damaged)
    }

    fn leaving(&self, vertex: u32) -> &[Exit] {
        &self.exits[self.first[vertex as usize] as usize..self.first[vertex as usize + 1] as usize]
    }

    /// Whether messages may go on from there.
    fn passes_on(&self, vertex: u32) -> bool {
        self.nodes_pass_on || vertex >= self.whole.nodes()
    }

    /// Whether all of the first nodes still reach each other.
    fn check_whole(&self, nodes: u32) -> Result<(), DamageError> {
        let nodes = nodes.min(self.whole.nodes());
        let cut = |from: u32, lost: Vec<u32>| {
            let name = |node| self.whole.vertex_name(Vertex::Node(node));
            match lost.first() {
                None => Ok(()),
                // Where it has lost all others, it is what was cut off.
                Some(_) if lost.len() as u32 == nodes - 1 && nodes > 2 => {
                    Err(DamageError::Cut { lost: 1, nodes, first: "all others".into(), example: name(from) })
                }
                Some(&example) => {
                    let (lost, first) = (lost.len(), format!("`{}`", name(from)));
                    Err(DamageError::Cut { lost, nodes, first, example: name(example) })
                }
            }
        };
        let lost = |from: u32, reaches: &dyn Fn(u32) -> bool| {
            (0..nodes).filter(|&node| node != from && !reaches(node)).collect::<Vec<u32>>()
        };
        if self.is_symmetric() {
            // What hangs together without nodes that do not pass messages on; a node reaches what its own parts have.
            let parts = self.parts();
            let of_node = |node: u32| {
                let own = [parts[node as usize]].into_iter().filter(|_| self.nodes_pass_on);
                let others = self.leaving(node).iter().map(|exit| parts[exit.to as usize]);
                own.chain(others).collect::<BTreeSet<u32>>()
            };
            let mut examples: BTreeMap<BTreeSet<u32>, u32> = BTreeMap::new();
            for node in 0..nodes {
                examples.entry(of_node(node)).or_insert(node);
            }
            // The first node finds what was cut off before that finds itself alone.
            let mut examples: Vec<(u32, BTreeSet<u32>)> = examples.into_iter().map(|(own, from)| (from, own)).collect();
            examples.sort_unstable();
            for (from, own) in examples {
                cut(from, lost(from, &|node| !own.is_disjoint(&of_node(node))))?;
            }
            return Ok(());
        }
        let mut searched = BTreeSet::new();
        for from in 0..nodes {
            let exits: Vec<u32> = self.leaving(from).iter().map(|exit| exit.to).collect();
            if searched.insert(exits) {
                let reached = self.reached(from);
                cut(from, lost(from, &|node| reached[node as usize]))?;
            }
        }
        Ok(())
    }

    /// Whether all links that are left lead both ways.
    fn is_symmetric(&self) -> bool {
        let vertices = 0..self.first.len() as u32 - 1;
        let arcs = || vertices.clone().flat_map(|tail| self.leaving(tail).iter().map(move |exit| (tail, exit.to)));
        let mut there: Vec<(u32, u32)> = arcs().collect();
        let mut back: Vec<(u32, u32)> = arcs().map(|(tail, head)| (head, tail)).collect();
        there.sort_unstable();
        back.sort_unstable();
        there == back
    }

    /// For each vertex the number of its part; nodes that pass nothing on are parts of their own.
    fn parts(&self) -> Vec<u32> {
        let mut parts = vec![u32::MAX; self.first.len() - 1];
        for start in 0..parts.len() as u32 {
            let mut open = vec![start];
            while let Some(vertex) = open.pop() {
                if parts[vertex as usize] == u32::MAX {
                    parts[vertex as usize] = start;
                    let joined = self.leaving(vertex).iter().map(|exit| exit.to);
                    open.extend(joined.filter(|&next| self.passes_on(vertex) && self.passes_on(next)));
                }
            }
        }
        parts
    }

    /// Which vertices can be reached from a node.
    fn reached(&self, from: u32) -> Vec<bool> {
        let mut reached = vec![false; self.first.len() - 1];
        let mut open = vec![from];
        while let Some(vertex) = open.pop() {
            if !std::mem::replace(&mut reached[vertex as usize], true) && (vertex == from || self.passes_on(vertex)) {
                open.extend(self.leaving(vertex).iter().map(|exit| exit.to));
            }
        }
        reached
    }

    #[inline]
    fn is_whole(&self, links: &[LinkId]) -> bool {
        links.iter().all(|&id| !self.failed[id as usize])
    }

    fn cross(&self, id: LinkId, path: &mut Path) {
        let link = self.whole.link(id);
        if self.whole.is_unshared(id) { path.push_unshared(id, &link) } else { path.push(id, &link) }
    }

    /// Appends the way that `find` finds if it is whole; tells whether it is.
    #[inline]
    fn try_way(&self, path: &mut Path, find: impl FnOnce(&dyn Topology, &mut Path)) -> bool {
        let before = path.mark();
        find(&*self.whole, path);
        let is_whole = self.is_whole(&path.links[before.links..]) && self.is_whole(&path.unshared[before.unshared..]);
        if !is_whole {
            path.go_back(before);
        }
        is_whole
    }

    /// Where the usual way is broken; `key` decides which of the others it is.
    #[cold]
    fn route_around(&self, from: u32, to: u32, key: u64, path: &mut Path) {
        let shortest = |whole: &dyn Topology, draw, path: &mut Path| whole.any_route(from, to, draw, path);
        if from == to || !self.try_draws(key, path, shortest) {
            self.search(from, to, key, path);
        }
    }

    /// Takes the first of some drawn ways that is whole, if one of them is: this draw's, and those of draws that follow from it.
    fn try_draws(&self, draw: u64, path: &mut Path, way: impl Fn(&dyn Topology, u64, &mut Path)) -> bool {
        (0..DRAWS).any(|attempt| {
            let draw = draw.wrapping_add(attempt.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            self.try_way(path, |whole, path| way(whole, draw, path))
        })
    }

    /// A shortest way through what is left: a search by breadth, in which each vertex looks at its links from one on that
    /// depends on `key`, so that pairs are spread.
    fn search(&self, from: u32, to: u32, key: u64, path: &mut Path) {
        let mut came_by: BTreeMap<u32, (u32, LinkId)> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(vertex) = queue.pop_front() {
            if vertex != from && !self.passes_on(vertex) {
                continue;
            }
            let exits = self.leaving(vertex);
            let turn = (key % exits.len().max(1) as u64) as usize;
            for exit in exits[turn..].iter().chain(&exits[..turn]) {
                // Other nodes lead nowhere, and are most of what there is in a large network.
                let leads_on = exit.to == to || self.passes_on(exit.to);
                // Back to the node itself is a way, too: to its switch and back.
                if leads_on && (exit.to != from || to == from) && !came_by.contains_key(&exit.to) {
                    came_by.insert(exit.to, (vertex, exit.link));
                    queue.push_back(exit.to);
                }
            }
            if came_by.contains_key(&to) {
                break;
            }
        }
        let mut links = Vec::new();
        let mut at = to;
        while let Some(&(before, link)) = came_by.get(&at) {
            links.push(link);
            at = before;
            if at == from {
                break;
            }
        }
        links.iter().rev().for_each(|&id| self.cross(id, path));
    }
}

/// Which links fail with what the names stand for.
fn find(whole: &dyn Topology, names: &[String]) -> Result<Vec<bool>, DamageError> {
    if whole.links() > MOST_LINKS {
        return Err(DamageError::TooLarge);
    }
    let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let named = |vertex| wanted.get(&whole.vertex_name(vertex)[..]).copied();
    let switches: BTreeMap<&str, Vertex> =
        (0..whole.switches()).map(Vertex::Switch).filter_map(|switch| Some((named(switch)?, switch))).collect();
    let mut failed = vec![false; whole.links() as usize];
    let mut links: BTreeMap<&str, LinkId> = BTreeMap::new();
    for id in 0..whole.links() {
        let (tail, head) = whole.ends(id);
        failed[id as usize] = whole.is_failed(id) || switches.values().any(|switch| [tail, head].contains(switch));
        if let Some(name) = wanted.get(&whole.link_name(id)[..]) {
            links.insert(name, id);
        }
    }
    for (at, name) in names.iter().enumerate() {
        if switches.contains_key(&name[..]) {
            continue;
        }
        let Some(&id) = links.get(&name[..]) else { return Err(unknown(whole, at, name)) };
        failed[id as usize] = true;
        // The same of several cables in the other direction.
        let (tail, head) = whole.ends(id);
        let between = |ends: (Vertex, Vertex)| (0..whole.links()).filter(move |&id| whole.ends(id) == ends);
        let which = between((tail, head)).position(|other| other == id).unwrap_or(0);
        if let Some(back) = between((head, tail)).nth(which) {
            failed[back as usize] = true;
        }
    }
    Ok(failed)
}

/// What to say about a name that no link and no switch has.
fn unknown(whole: &dyn Topology, at: usize, name: &str) -> DamageError {
    let name = name.to_owned();
    if (0..whole.nodes()).any(|node| whole.vertex_name(Vertex::Node(node)) == name) {
        return DamageError::Node { at, name };
    }
    let switches = (0..whole.switches().min(LISTED)).map(|switch| whole.vertex_name(Vertex::Switch(switch)));
    let links = (0..whole.links().min(LISTED)).map(|id| whole.link_name(id));
    let examples: Vec<String> = switches.clone().take(1).chain(links.clone().take(1)).collect();
    let known: Vec<String> = switches.chain(links).collect();
    let of_several = known.iter().find(|known| known.starts_with(&format!("{name} (cable ")));
    let hint = match of_several.map(String::as_str).or_else(|| nearest(&name, known.iter().map(String::as_str))) {
        Some(known) => format!("write `{known}`"),
        None => format!("write names such as `{}`", examples.join("` or `")),
    };
    DamageError::Unknown { at, name, hint }
}

impl Topology for Damaged {
    fn describe(&self) -> String {
        match &self.names[..] {
            [name] => format!("{} without {name}", self.whole.describe()),
            names => format!("{} without {} links and switches", self.whole.describe(), names.len()),
        }
    }

    fn nodes(&self) -> u32 {
        self.whole.nodes()
    }

    fn switches(&self) -> u32 {
        self.whole.switches()
    }

    fn links(&self) -> u32 {
        self.whole.links()
    }

    fn link(&self, id: LinkId) -> Link {
        self.whole.link(id)
    }

    fn link_name(&self, id: LinkId) -> String {
        self.whole.link_name(id)
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        self.whole.ends(id)
    }

    fn is_shared(&self, id: LinkId) -> bool {
        self.whole.is_shared(id)
    }

    fn is_unshared(&self, id: LinkId) -> bool {
        self.whole.is_unshared(id)
    }

    fn nodes_pass_on(&self) -> bool {
        self.nodes_pass_on
    }

    fn missing_switches(&self) -> u32 {
        self.whole.missing_switches()
    }

    fn is_missing(&self, id: LinkId) -> bool {
        self.whole.is_missing(id)
    }

    fn is_failed(&self, id: LinkId) -> bool {
        self.failed[id as usize]
    }

    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        if !self.try_way(path, |whole, path| whole.route(from, to, path)) {
            self.route_around(from, to, hash(from, to), path);
        }
    }

    fn fixed_routing(&self) -> &'static str {
        self.whole.fixed_routing()
    }

    fn is_fixed_routing(&self, word: &str) -> bool {
        self.whole.is_fixed_routing(word)
    }

    fn choice(&self) -> Choice {
        self.whole.choice()
    }

    fn route_by_source(&self, from: u32, to: u32, path: &mut Path) {
        if !self.try_way(path, |whole, path| whole.route_by_source(from, to, path)) {
            self.route_around(from, to, hash(from, to), path);
        }
    }

    fn any_route(&self, from: u32, to: u32, draw: u64, path: &mut Path) {
        if !self.try_way(path, |whole, path| whole.any_route(from, to, draw, path)) {
            self.route_around(from, to, draw, path);
        }
    }

    /// What has failed is never the best.
    fn least_loaded(&self, from: u32, to: u32, draw: u64, load: &dyn Fn(LinkId) -> u32, path: &mut Path) {
        let load = |id: LinkId| if self.failed[id as usize] { u32::MAX / 4 } else { load(id) };
        if !self.try_way(path, |whole, path| whole.least_loaded(from, to, draw, &load, path)) {
            self.route_around(from, to, draw, path);
        }
    }

    fn detour(&self, from: u32, to: u32, draw: u64, path: &mut Path) {
        if !self.try_draws(draw, path, |whole, draw, path| whole.detour(from, to, draw, path)) {
            self.any_route(from, to, draw, path);
        }
    }

    fn order(&self, id: LinkId) -> u32 {
        self.whole.order(id)
    }

    fn cables(&self) -> u64 {
        self.whole.cables()
    }

    /// No more than before the damage: a cut that the search misses here it may have found there, or a formula gives it.
    fn bisection_bandwidth(&self) -> f64 {
        bisection::upper_bound(self).min(self.whole.bisection_bandwidth())
    }

    /// Of larger networks: what it was before the damage.
    fn diameter(&self) -> u32 {
        if self.nodes() > SMALL {
            return self.whole.diameter();
        }
        let mut path = Path::default();
        let pairs = (0..self.nodes()).flat_map(|from| (0..self.nodes()).map(move |to| (from, to)));
        let length = |(from, to)| {
            path.clear();
            self.route(from, to, &mut path);
            path.links.len() as u32
        };
        pairs.filter(|(from, to)| from != to).map(length).max().unwrap_or(0)
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        self.whole.vertex_name(vertex)
    }

    fn link_kind(&self, id: LinkId) -> String {
        self.whole.link_kind(id)
    }

    fn switch_kind(&self, switch: u32) -> String {
        self.whole.switch_kind(switch)
    }

    /// As it was before the damage.
    fn plane(&self) -> Option<(&dyn Topology, u32)> {
        self.whole.plane()
    }

    fn own_name(&self, node: u32) -> Option<&str> {
        self.whole.own_name(node)
    }

    fn structure(&self) -> Structure {
        self.whole.structure()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arrangement, Dragonfly, DragonflyLinks, DragonflyShape, Duplex, FatTree, Torus};
    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn tree(names: &[&str]) -> Result<Damaged, DamageError> {
        let whole = FatTree::new("2;2,3;1,2;1,2".parse().unwrap(), &[LINK; 2], Duplex::Split).unwrap();
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        Damaged::new(Box::new(whole), &names, 6)
    }

    fn route(topology: &Damaged, from: u32, to: u32) -> Vec<String> {
        let mut path = Path::default();
        path.clear();
        topology.route(from, to, &mut path);
        path.links.iter().map(|&id| topology.link_name(id)).collect()
    }

    #[test]
    fn messages_go_around() {
        let topology = tree(&["core 1", "leaf 2 -> core 0 (cable 2 of 2)"]).unwrap();
        let failed = (0..topology.links()).filter(|&id| topology.is_failed(id)).count();
        assert_eq!(failed, 2 * (3 * 2 + 1), "cables fail in both directions");
        for (from, to) in [(0, 4), (0, 5), (1, 5), (5, 0), (4, 1)] {
            let way = route(&topology, from, to);
            assert!(way.iter().all(|name| !name.contains("core 1") && name.len() > 5), "{way:?}");
            assert_eq!(way.len(), 4);
        }
        assert_eq!(route(&topology, 3, 3), ["node 3 -> leaf 1", "leaf 1 -> node 3"]);
        assert_eq!(topology.describe(), "fat tree 2;2,3;1,2;1,2 without 2 links and switches");
    }

    #[test]
    fn one_of_several_cables_must_be_named() {
        let error = tree(&["leaf 2 -> core 0"]).unwrap_err().to_string();
        assert!(error.contains("write `leaf 2 -> core 0 (cable 1 of 2)`"), "{error}");
    }

    #[test]
    fn failures_add_no_bisection_bandwidth() {
        let shape = DragonflyShape {
            groups: 5,
            switches_per_group: 4,
            nodes_per_switch: 2,
            global_cables_per_switch: 2,
            arrangement: Arrangement::Absolute,
        };
        let links = DragonflyLinks { node: LINK, local: LINK, global: Link { bandwidth: 5e8, ..LINK } };
        let whole = || Box::new(Dragonfly::new(shape, links, Duplex::Split).unwrap());
        let failed = [
            "group 0 switch 0 -> group 1 switch 0 (cable 1 of 2)",
            "group 0 switch 1 -> group 0 switch 2",
            "group 3 switch 1 -> group 3 switch 2",
        ];
        let names: Vec<String> = failed.iter().map(|name| name.to_string()).collect();
        let damaged = Damaged::new(whole(), &names, 40).unwrap();
        assert!(damaged.bisection_bandwidth() <= whole().bisection_bandwidth());
    }

    /// Group 0 reaches four of the eight others only by way of the rest. A detour from there, or within it, is a detour all the same.
    #[test]
    fn detours_go_where_they_can() {
        let shape = DragonflyShape {
            groups: 9,
            switches_per_group: 4,
            nodes_per_switch: 2,
            global_cables_per_switch: 2,
            arrangement: Arrangement::Absolute,
        };
        let links = DragonflyLinks { node: LINK, local: LINK, global: LINK };
        let whole = Dragonfly::new(shape, links, Duplex::Split).unwrap();
        let groups = |name: &str| -> Vec<u32> {
            let words: Vec<&str> = name.split(' ').collect();
            (1..words.len()).filter(|&at| words[at - 1] == "group").map(|at| words[at].parse().unwrap()).collect()
        };
        let cut = |name: &String| matches!(groups(name)[..], [0, 1..=4]);
        let names: Vec<String> = (0..whole.links()).map(|id| whole.link_name(id)).filter(cut).collect();
        assert_eq!(names.len(), 4);
        let topology = Damaged::new(Box::new(whole), &names, 72).unwrap();
        for to in [3, 5 * 8] {
            let is_detour = |draw: u64| {
                let mut path = Path::default();
                path.clear();
                topology.detour(0, to, draw.wrapping_mul(0x9E37_79B9_7F4A_7C15), &mut path);
                path.links.iter().filter(|&&id| matches!(groups(&topology.link_name(id))[..], [a, b] if a != b)).count()
                    == 2
            };
            let detours = (0..500).filter(|&draw| is_detour(draw)).count();
            assert!(detours > 480, "{detours} of 500 to node {to}");
        }
    }

    #[test]
    fn ways_get_longer_where_they_must() {
        let ring = Torus::new(&[6], true, LINK, Duplex::Split).unwrap();
        let name = ring.link_name(0);
        let ring = Damaged::new(Box::new(ring), &[name], 6).unwrap();
        assert_eq!((ring.diameter(), route(&ring, 0, 1).len(), route(&ring, 2, 4).len()), (5, 5, 2));
    }

    #[test]
    fn what_cannot_fail() {
        let error = |names: &[&str]| tree(names).unwrap_err().to_string();
        assert!(error(&["cor 1"]).contains("`cor 1`: write `core 1`"));
        assert!(error(&["everything"]).contains("write names such as `leaf 0` or `node 0 -> leaf 0`"));
        assert!(error(&["node 3"]).contains("`node 3` is a node"));
        assert!(error(&["core 0", "core 1"]).contains("4 of 6 nodes have lost `node 0` (`node 2` is one of them)"));
        assert!(error(&["leaf 2"]).contains("2 of 6 nodes have lost `node 0` (`node 4` is one of them)"));
        assert!(error(&["node 0 -> leaf 0"]).contains("1 of 6 nodes have lost all others (`node 0` is one"));
    }
}
