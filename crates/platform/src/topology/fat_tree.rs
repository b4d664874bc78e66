//! Fat trees of any height, with D-mod-K routing: computed from labels, without a node object or a table.
//!
//! A vertex of level l is known by one digit per level: the digits from l on say in which subtree it lies (the same
//! for all nodes of the subtree), the digits below l say which of the switches at that subtree's top it is. Its position
//! within the level is the number that these digits write, the first digit counting least; nodes are numbered so, too.
//! A step up from level l replaces the source's digit l by the chosen parent's; a step down puts the destination's there.

use std::collections::BTreeSet;

use super::bisection;
use super::divisor::Divisor;
use super::shape::MAX_LEVELS;
use super::{Duplex, FatTreeShape, Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends};
use crate::interconnect::{Path, Sums};
use crate::routing::{Choice, Choosing, draw_below, least_of_draws};

/// Where switches at the top are missing, the others are listed: no more than this.
const MOST_TOPS: u32 = 1 << 24;

/// A fat tree.
///
/// Links `0..cables` go up, ordered by level, then by position of the lower end, then by its port; the links down
/// follow in the same order, unless both directions share one link.
#[derive(Clone, Debug)]
pub struct FatTree {
    shape: FatTreeShape,
    /// The cables above each level.
    levels: Vec<Level>,
    /// Sums over the routes that climb 1, 2, ... levels, and descend as many.
    sums: Vec<Sums>,
    /// All cables.
    cables: u32,
    /// What leads from the id of a link up to that of the link down: 0 where they are the same.
    down: u32,
    /// Which of several parallel cables are used.
    cables_used: ParallelCables,
    has_parallel_cables: bool,
    /// Where some switches at the top are not there.
    remaining: Option<Remaining>,
}

/// The switches at the top that are there, where not all are.
#[derive(Clone, Debug)]
struct Remaining {
    /// Their numbers, ascending.
    cores: Vec<u32>,
    /// How many these are.
    count: Divisor,
    /// How many there would be.
    all: u32,
    /// Nodes of the subtrees below the top.
    subtree: Divisor,
}

/// Which of several parallel cables between two switches are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParallelCables {
    /// All of them: D-mod-K spreads messages by destination on the way up, and by source on the way down.
    #[default]
    All,
    /// All of them: on the way down the same of several as on the way up. So the messages of a shift, which D-mod-K gives
    /// cables of their own on the way up, have them on the way down, too (Zahavi 2010).
    Same,
    /// Only the first one, as SimGrid did until 2020, so that published simulations can be repeated.
    First,
}

/// The cables between a level and the next.
#[derive(Clone, Copy, Debug)]
struct Level {
    link: Link,
    /// Id of the first link up.
    first: LinkId,
    /// Switches of this level (or node) at the top of one subtree.
    tops: u32,
    /// Vertices below each switch of the next level.
    children: Divisor,
    /// Switches of the next level above each vertex.
    parents: Divisor,
    /// Cables to each of them.
    parallel: Divisor,
    /// Cables up from each vertex: parents times parallel.
    ports: Divisor,
}

impl FatTree {
    /// A tree of this shape; `links` are the cables above each level, the lowest (those of the nodes) first.
    pub fn new(shape: FatTreeShape, links: &[Link], duplex: Duplex) -> Result<FatTree, TopologyError> {
        shape.check()?;
        if links.len() != shape.levels() {
            let (levels, count) = (shape.levels(), links.len());
            return Err(TopologyError::Length { levels, what: "kinds of links", count });
        }
        let mut cables = 0;
        let mut levels = Vec::with_capacity(links.len());
        for (level, &link) in links.iter().enumerate() {
            let ports = shape.ports_up(level);
            levels.push(Level {
                link,
                first: cables,
                tops: shape.tops(level),
                children: Divisor::new(shape.down[level]),
                parents: Divisor::new(shape.up[level]),
                parallel: Divisor::new(shape.parallel[level]),
                ports: Divisor::new(ports),
            });
            cables += shape.vertices(level) * ports;
        }
        let down = if duplex == Duplex::Split { cables } else { 0 };
        let sums = |height| Sums::of(links[..height].iter().chain(links[..height].iter().rev()));
        let sums = (1..=links.len()).map(sums).collect();
        let has_parallel_cables = shape.parallel.iter().any(|&parallel| parallel > 1);
        let cables_used = ParallelCables::All;
        Ok(FatTree { shape, levels, sums, cables, down, cables_used, has_parallel_cables, remaining: None })
    }

    /// The same tree with other use of parallel cables.
    pub fn using(self, cables_used: ParallelCables) -> FatTree {
        FatTree { cables_used, ..self }
    }

    /// The same tree without some of the switches at its top, by their numbers there. Messages that climb so high use the
    /// others: D-mod-K counts only those. Links and switches keep their numbers.
    pub fn without(self, missing: &[u32]) -> Result<FatTree, TopologyError> {
        let all = self.shape.tops(self.shape.levels());
        if missing.is_empty() {
            return Ok(FatTree { remaining: None, ..self });
        }
        if all > MOST_TOPS {
            return Err(TopologyError::TooLarge(format!("the top of the {}", self.describe())));
        }
        let missing: BTreeSet<&u32> = missing.iter().collect();
        let cores: Vec<u32> = (0..all).filter(|core| !missing.contains(core)).collect();
        if cores.is_empty() {
            return Err(TopologyError::NoTops(all));
        }
        let subtree = Divisor::new(self.shape.subtree(self.shape.levels() - 1));
        let count = Divisor::new(cores.len() as u32);
        let remaining = (cores.len() as u32 != all).then_some(Remaining { cores, count, all, subtree });
        Ok(FatTree { remaining, ..self })
    }

    /// What chooses the ports of a message's way up; `by`, if all switches were there.
    ///
    /// A way to the top is the number of the switch there, written in digits of the numbers of parents; what is left of
    /// `by` above that chooses among parallel cables.
    #[inline]
    fn chooser(&self, from: u32, to: u32, by: u32) -> u32 {
        match &self.remaining {
            Some(remaining) if self.climbs_to_the_top(remaining, from, to) => {
                let (rest, which) = remaining.count.divide(by);
                let top = self.levels[self.levels.len() - 1].parallel;
                remaining.cores[which as usize] + remaining.all * top.remainder(rest)
            }
            _ => by,
        }
    }

    fn climbs_to_the_top(&self, remaining: &Remaining, from: u32, to: u32) -> bool {
        self.levels.len() == 1 || remaining.subtree.quotient(from) != remaining.subtree.quotient(to)
    }

    /// The number at the top of the switch that a link ends at, if it does.
    fn top_of(&self, id: LinkId) -> Option<u32> {
        let below: u32 = (1..self.shape.levels()).map(|level| self.shape.vertices(level)).sum();
        let (tail, head) = self.ends(id);
        [tail, head].into_iter().find_map(|vertex| match vertex {
            Vertex::Switch(switch) => switch.checked_sub(below),
            Vertex::Node(_) => None,
        })
    }

    /// The shape it was made of.
    pub fn shape(&self) -> &FatTreeShape {
        &self.shape
    }

    /// The level that a cable starts from, and its number within the level.
    fn locate(&self, id: LinkId) -> (usize, u32) {
        let cable = if id < self.cables { id } else { id - self.cables };
        let level = self.levels.iter().rposition(|level| level.first <= cable).unwrap_or(0);
        (level, cable - self.levels[level].first)
    }

    fn vertex(&self, level: usize, position: u32) -> Vertex {
        match level {
            0 => Vertex::Node(position),
            _ => Vertex::Switch((1..level).map(|below| self.shape.vertices(below)).sum::<u32>() + position),
        }
    }

    /// The level of a vertex, and its place there.
    fn position(&self, vertex: Vertex) -> (usize, u32) {
        let (mut level, mut position) = match vertex {
            Vertex::Node(node) => (0, node),
            Vertex::Switch(switch) => (1, switch),
        };
        while level > 0 && level < self.shape.levels() && position >= self.shape.vertices(level) {
            position -= self.shape.vertices(level);
            level += 1;
        }
        (level, position)
    }

    /// Bytes per second that can leave a subtree of this height.
    fn uplink(&self, height: usize) -> f64 {
        let level = &self.levels[height];
        level.tops as f64 * level.ports.value() as f64 * level.link.bandwidth
    }

    /// What one node's share of its subtree's uplink is worth where that is least.
    fn price(&self, heights: usize) -> f64 {
        let share = |height| self.uplink(height) / self.shape.subtree(height) as f64;
        (0..heights).map(share).fold(f64::INFINITY, f64::min)
    }

    /// Cuts so many nodes off within a subtree of this height whose top switches stay on the other side.
    fn cut(&self, height: usize, nodes: u32) -> f64 {
        if nodes == 0 {
            return 0.0;
        }
        let below = height - 1;
        let size = self.shape.subtree(below);
        let rest = nodes % size;
        let split = match rest {
            0 => 0.0,
            // The subtree that is split has its top switches on one side or on the other.
            _ => self.cut(below, rest).min(self.uplink(below) + self.cut(below, size - rest)),
        };
        (nodes - rest) as f64 * self.price(height) + split
    }
}

impl FatTree {
    /// Where each switch has one cable to each parent; returns how many levels the route climbs.
    #[inline]
    fn route_over_single_cables(&self, from: u32, to: u32, chooser: u32, path: &mut Path) -> usize {
        let mut down = [0; MAX_LEVELS];
        let mut height = 0;
        let (mut here, mut there, mut chooser, mut top) = (from, to, chooser, 0);
        for (level, way_down) in self.levels.iter().zip(&mut down) {
            let (rest, port) = level.parents.divide(chooser);
            let parents = level.parents.value();
            path.links.push(level.first + (top + level.tops * here) * parents + port);
            *way_down = self.down + level.first + (top + level.tops * there) * parents + port;
            top += port * level.tops;
            (chooser, here, there) = (rest, level.children.quotient(here), level.children.quotient(there));
            height += 1;
            if here == there {
                break;
            }
        }
        path.links.extend(down[..height].iter().rev());
        height
    }

    fn route_over_parallel_cables(&self, from: u32, to: u32, [up_by, down_by]: [u32; 2], path: &mut Path) -> usize {
        // The ids, up from the front; down from the back, as cable 0 to the right parent.
        let mut up = [0; MAX_LEVELS];
        let mut down = [0; MAX_LEVELS];
        let mut digits = [0; MAX_LEVELS];
        let mut height = 0;
        // Subtrees in which we are and want to be; what chooses ports; which top switch.
        let (mut here, mut there, mut chooser, mut top) = (from, to, up_by, 0);
        let all = self.cables_used != ParallelCables::First;
        let same = self.cables_used == ParallelCables::Same;
        for level in &self.levels {
            let port = if all { level.ports.remainder(chooser) } else { level.parents.remainder(chooser) };
            let parent = level.parents.remainder(port);
            up[height] = level.first + (top + level.tops * here) * level.ports.value() + port;
            down[height] = self.down
                + level.first
                + (top + level.tops * there) * level.ports.value()
                + if same { port } else { parent };
            top += parent * level.tops;
            chooser = level.parents.quotient(chooser);
            here = level.children.quotient(here);
            (there, digits[height]) = level.children.divide(there);
            height += 1;
            if here == there {
                break;
            }
        }
        path.links.extend_from_slice(&up[..height]);
        // Where a scan of the child ports begins, none at first.
        let mut scan = u32::MAX;
        for l in (0..height).rev() {
            let level = &self.levels[l];
            let mut port = digits[l];
            if all && !same && level.parallel.value() > 1 {
                let children = level.children.value();
                let behind = level.children.remainder(scan.wrapping_add(children - port));
                port = scan.saturating_add(if behind == 0 { 0 } else { children - behind });
                if port >= children * level.parallel.value() {
                    port = level.parallel.remainder(down_by) * children + digits[l];
                }
            }
            scan = port + 1;
            path.links.push(down[l] + level.children.quotient(port) * level.parents.value());
        }
        height
    }
}

/// Cables of which one may be taken: links `first`, `first + stride`, ...
struct Cables {
    first: LinkId,
    stride: u32,
    count: u32,
}

impl FatTree {
    /// Takes whichever cables `choose` says.
    fn route_choosing(&self, from: u32, to: u32, path: &mut Path, mut choose: impl FnMut(Cables) -> u32) {
        let mut down = [0; MAX_LEVELS];
        let mut height = 0;
        let (mut here, mut there, mut top) = (from, to, 0);
        for (level, way_down) in self.levels.iter().zip(&mut down) {
            let ports = level.ports.value();
            let first = level.first + (top + level.tops * here) * ports;
            let port = choose(Cables { first, stride: 1, count: ports });
            path.links.push(first + port);
            let parent = level.parents.remainder(port);
            *way_down = self.down + level.first + (top + level.tops * there) * ports + parent;
            top += parent * level.tops;
            (here, there) = (level.children.quotient(here), level.children.quotient(there));
            height += 1;
            if here == there {
                break;
            }
        }
        for (level, &first) in self.levels[..height].iter().zip(&down).rev() {
            let stride = level.parents.value();
            let which = choose(Cables { first, stride, count: level.parallel.value() });
            path.links.push(first + which * stride);
        }
        path.add_sums(&self.sums[height - 1]);
    }
}

impl Topology for FatTree {
    fn describe(&self) -> String {
        match self.missing_switches() {
            0 => format!("fat tree {}", self.shape),
            missing => format!("fat tree {} without {missing} switches at the top", self.shape),
        }
    }

    fn nodes(&self) -> u32 {
        self.shape.nodes()
    }

    fn switches(&self) -> u32 {
        (1..=self.shape.levels()).map(|level| self.shape.vertices(level)).sum()
    }

    fn links(&self) -> u32 {
        self.cables + self.down
    }

    fn link(&self, id: LinkId) -> Link {
        self.levels[self.locate(id).0].link
    }

    fn link_name(&self, id: LinkId) -> String {
        let (level, cable) = self.locate(id);
        let name = name_by_ends(self, id);
        let Level { parents, parallel, ports, .. } = self.levels[level];
        match parallel.value() {
            1 => name,
            count => format!("{name} (cable {} of {count})", parents.quotient(ports.remainder(cable)) + 1),
        }
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        let (level, cable) = self.locate(id);
        let Level { tops, children, parents, ports, .. } = self.levels[level];
        let (child, port) = ports.divide(cable);
        let parent = parents.remainder(port);
        let (subtree, top) = (child / tops, child % tops);
        let above = top + tops * (parent + parents.value() * children.quotient(subtree));
        let (lower, upper) = (self.vertex(level, child), self.vertex(level + 1, above));
        if id < self.cables { (lower, upper) } else { (upper, lower) }
    }

    fn is_shared(&self, _: LinkId) -> bool {
        self.down == 0
    }

    fn may_repeat_links(&self) -> bool {
        self.down == 0
    }

    /// D-mod-K as SimGrid 3.32 does it (FatTreeZone.cpp, `get_local_route`), so that imported platforms mean the same:
    ///
    /// - Up: at level l the port is floor(destination / (u1...ul)) mod (u p), where ports count parents fastest.
    /// - Down: the parent is given; among parallel cables the one numbered source mod p.
    /// - SimGrid looks for the way down by scanning the switch's child ports from that cable's first one, and after a
    ///   step goes on scanning the next switch from where it was, not from that switch's own first port. So parallel
    ///   cables below the highest level that a route climbs to may be chosen otherwise.
    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        let height = if self.has_parallel_cables {
            self.route_over_parallel_cables(from, to, [self.chooser(from, to, to), from], path)
        } else {
            self.route_over_single_cables(from, to, self.chooser(from, to, to), path)
        };
        path.add_sums(&self.sums[height - 1]);
    }

    fn fixed_routing(&self) -> &'static str {
        "d-mod-k"
    }

    fn choice(&self) -> Choice {
        Choice::UpPaths
    }

    /// S-mod-K: as D-mod-K with the ends exchanged.
    fn route_by_source(&self, from: u32, to: u32, path: &mut Path) {
        let height = if self.has_parallel_cables {
            self.route_over_parallel_cables(from, to, [self.chooser(from, to, from), to], path)
        } else {
            self.route_over_single_cables(from, to, self.chooser(from, to, from), path)
        };
        path.add_sums(&self.sums[height - 1]);
    }

    fn any_route(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        if let Some(remaining) = &self.remaining
            && self.climbs_to_the_top(remaining, from, to)
        {
            // Up to one of the switches that are there: at each level, one of the cables to the right parent.
            let mut top = remaining.cores[draw_below(&mut draw, remaining.count.value()) as usize];
            let mut level = 0;
            return self.route_choosing(from, to, path, |cables| match self.levels.get(level) {
                Some(Level { parents, parallel, .. }) => {
                    let (rest, parent) = parents.divide(top);
                    (top, level) = (rest, level + 1);
                    parent + draw_below(&mut draw, parallel.value()) * parents.value()
                }
                None => draw_below(&mut draw, cables.count),
            });
        }
        self.route_choosing(from, to, path, |cables| draw_below(&mut draw, cables.count));
    }

    /// Each switch takes the cable up with the least load; the way down leaves a choice among parallel cables only.
    fn least_loaded(&self, from: u32, to: u32, mut draw: u64, load: &dyn Fn(LinkId) -> u32, path: &mut Path) {
        if self.remaining.is_some() {
            return least_of_draws(self, Choosing { from, to, draw, load }, path);
        }
        self.route_choosing(from, to, path, |cables| {
            let first = draw_below(&mut draw, cables.count);
            let turned = (first..cables.count).chain(0..first);
            turned.min_by_key(|which| load(cables.first + which * cables.stride)).unwrap_or(0)
        });
    }

    /// Up, then down: the links down are numbered from below, too.
    fn order(&self, id: LinkId) -> u32 {
        if id < self.cables { id } else { u32::MAX - id }
    }

    fn cables(&self) -> u64 {
        let top = self.shape.levels() - 1;
        let of_each = u64::from(self.shape.down[top]) * u64::from(self.shape.parallel[top]);
        self.cables as u64 - u64::from(self.missing_switches()) * of_each
    }

    fn missing_switches(&self) -> u32 {
        self.remaining.as_ref().map_or(0, |remaining| remaining.all - remaining.count.value())
    }

    fn is_missing(&self, id: LinkId) -> bool {
        self.remaining
            .as_ref()
            .is_some_and(|remaining| self.top_of(id).is_some_and(|core| remaining.cores.binary_search(&core).is_err()))
    }

    /// Twice the height of the lowest subtree that holds all nodes.
    fn diameter(&self) -> u32 {
        2 * self.shape.down.iter().rposition(|&down| down > 1).map_or(0, |level| level as u32 + 1)
    }

    /// floor(n / 2) min_l(C_l / D_l), where D_l are the nodes of a subtree of height l and C_l is what its cables to
    /// level l + 1 carry together, wherever half the nodes are whole subtrees of the height where that is least.
    ///
    /// Why: share each cable equally among the roots that are reached over it. Every root then has a tree of its own,
    /// all alike, and together they are one tree with capacities C_l; a cut of the fat tree costs the sum over these
    /// trees, so no less than the best cut of the one tree, which can be had. In a tree, each cable that is cut with
    /// capacity C_l separates at most D_l nodes from the root.
    /// Where halves are not whole subtrees, subtrees are split recursively, which gives an upper bound.
    /// Where switches are missing, a search finds an upper bound.
    fn bisection_bandwidth(&self) -> f64 {
        let whole = self.cut(self.shape.levels(), self.nodes() / 2);
        if self.remaining.is_some() { bisection::upper_bound(self).min(whole) } else { whole }
    }

    fn bisection_is_exact(&self) -> bool {
        if self.remaining.is_some() {
            return false;
        }
        let least = (self.nodes() / 2) as f64 * self.price(self.shape.levels());
        self.bisection_bandwidth() <= least * (1.0 + 1e-12)
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        let (level, position) = self.position(vertex);
        format!("{} {position}", self.shape.vertex_noun(level))
    }

    fn link_kind(&self, id: LinkId) -> String {
        format!("level-{}", self.locate(id).0 + 1)
    }

    fn switch_kind(&self, switch: u32) -> String {
        self.shape.vertex_noun(self.position(Vertex::Switch(switch)).0)
    }

    fn structure(&self) -> Structure {
        Structure::Levels(self.shape.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(shape: &str, duplex: Duplex) -> FatTree {
        let shape: FatTreeShape = shape.parse().unwrap();
        let links: Vec<Link> =
            (0..shape.levels()).map(|level| Link { bandwidth: 1e9 * (level + 1) as f64, latency: 1e-6 }).collect();
        FatTree::new(shape, &links, duplex).unwrap()
    }

    fn route(tree: &FatTree, from: u32, to: u32) -> Vec<String> {
        let mut path = Path::default();
        path.clear();
        tree.route(from, to, &mut path);
        path.links.iter().map(|&id| tree.link_name(id)).collect()
    }

    #[test]
    fn climbs_no_higher_than_needed() {
        let tree = tree("2;4,3;1,2;1,1", Duplex::Split);
        assert_eq!(route(&tree, 0, 3), ["node 0 -> leaf 0", "leaf 0 -> node 3"]);
        assert_eq!(route(&tree, 5, 5), ["node 5 -> leaf 1", "leaf 1 -> node 5"]);
        let far = ["node 1 -> leaf 0", "leaf 0 -> core 1", "core 1 -> leaf 2", "leaf 2 -> node 11"];
        assert_eq!(route(&tree, 1, 11), far);
    }

    #[test]
    fn spreads_over_parallel_cables_by_destination_up_and_by_source_down() {
        let tree = tree("2;4,2;1,2;1,2", Duplex::Split);
        let crossing = |from, to| route(&tree, from, to)[1..3].join(", ");
        assert_eq!(crossing(0, 4), "leaf 0 -> core 0 (cable 1 of 2), core 0 -> leaf 1 (cable 1 of 2)");
        assert_eq!(crossing(1, 6), "leaf 0 -> core 0 (cable 2 of 2), core 0 -> leaf 1 (cable 2 of 2)");
        assert_eq!(crossing(1, 7), "leaf 0 -> core 1 (cable 2 of 2), core 1 -> leaf 1 (cable 2 of 2)");
    }

    #[test]
    fn only_the_first_of_parallel_cables_if_asked_for() {
        let tree = tree("2;4,2;1,2;1,2", Duplex::Split).using(ParallelCables::First);
        for (from, to) in [(0, 4), (1, 6), (1, 7), (5, 2)] {
            let crossing = route(&tree, from, to);
            assert_eq!(crossing.len(), 4);
            assert!(crossing[1..3].iter().all(|link| link.ends_with("(cable 1 of 2)")), "{crossing:?}");
        }
    }

    /// The most messages of a shift that share a link.
    fn worst_of_shifts(tree: &FatTree) -> u32 {
        let nodes = tree.nodes();
        let most = |shift: u32| {
            let mut loads = vec![0; tree.links() as usize];
            for from in 0..nodes {
                let mut path = Path::default();
                path.clear();
                tree.route(from, (from + shift) % nodes, &mut path);
                path.links.iter().for_each(|&id| loads[id as usize] += 1);
            }
            loads.into_iter().max().unwrap_or(0)
        };
        (1..nodes).map(most).max().unwrap_or(0)
    }

    #[test]
    fn the_same_cables_down_as_up_keep_shifts_apart() {
        for shape in ["2;8,2;1,2;1,4", "2;8,4;1,4;1,2", "3;4,4,2;1,2,8;1,2,1"] {
            let usual = tree(shape, Duplex::Split);
            assert!(worst_of_shifts(&usual) > 1, "{shape}");
            assert_eq!(worst_of_shifts(&usual.using(ParallelCables::Same)), 1, "{shape}");
        }
    }

    #[test]
    fn messages_are_spread_over_the_switches_that_are_there() {
        for shape in ["2;4,4;1,4;1,1", "2;4,4;1,4;1,2", "3;2,2,4;1,2,2;1,1,1"] {
            let tree = tree(shape, Duplex::Split).without(&[1]).unwrap();
            let mut used = std::collections::BTreeMap::new();
            for to in 4..tree.nodes() {
                let way = route(&tree, 0, to);
                let core = way.iter().find_map(|name| name.split(" -> core ").nth(1)).unwrap_or_default();
                *used.entry(core[..1].to_owned()).or_insert(0) += 1;
            }
            assert_eq!(used.into_values().collect::<Vec<u32>>(), [4, 4, 4], "{shape}");
            assert_eq!(tree.missing_switches(), 1);
        }
        let whole = tree("2;4,3;1,4;1,1", Duplex::Split);
        assert_eq!(whole.clone().without(&[0, 2]).unwrap().cables(), whole.cables() - 6);
        assert!(whole.without(&[0, 1, 2, 3]).unwrap_err().to_string().contains("leave at least one"));
    }

    #[test]
    fn shared_cables_have_one_id() {
        let tree = tree("2;4,3;1,2;1,1", Duplex::Shared);
        assert_eq!(tree.links() as u64, tree.cables());
        assert_eq!(route(&tree, 2, 2), ["node 2 <-> leaf 0", "node 2 <-> leaf 0"]);
    }

    #[test]
    fn sums_are_those_of_the_links() {
        let tree = tree("3;2,2,3;1,2,2;2,3,2", Duplex::Split);
        for (from, to) in [(0, 1), (0, 3), (2, 11)] {
            let (mut path, mut summed) = (Path::default(), Path::default());
            path.clear();
            tree.route(from, to, &mut path);
            summed.clear();
            path.links.iter().for_each(|&id| summed.push(id, &tree.link(id)));
            assert_eq!(format!("{path:?}"), format!("{summed:?}"));
        }
    }

    #[test]
    fn one_kind_of_link_for_each_level() {
        let shape: FatTreeShape = "2;2,2;1,1;1,1".parse().unwrap();
        let error = FatTree::new(shape, &[Link { bandwidth: 1.0, latency: 0.0 }], Duplex::Split).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the fat tree has 2 levels, but 1 kinds of links: give one for each level, the lowest first"
        );
    }

    #[test]
    fn published_machines() {
        let full = tree("2;16,32;1,16;1,1", Duplex::Split);
        assert_eq!((full.nodes(), full.switches(), full.cables(), full.diameter()), (512, 48, 1024, 4));
        assert!(full.bisection_is_exact());
        assert_eq!(full.bisection_bandwidth(), 256.0 * 1e9);
        let stampede = tree("2;20,320;1,8;1,2", Duplex::Split);
        assert_eq!((stampede.nodes(), stampede.switches()), (6400, 328));
        assert_eq!(stampede.bisection_bandwidth(), 3200.0 * 1e9, "the nodes' cables are narrower than 16 of 2 GB/s");
    }
}
