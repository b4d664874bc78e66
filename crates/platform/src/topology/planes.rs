//! Several equal networks side by side, in each of which every node has a port: planes, or rails.

use super::{Link, LinkId, Structure, Topology, TopologyError, Vertex};
use crate::interconnect::Path;
use crate::routing::{Choice, draw_below, hash, total};

/// Which plane a message takes, where routing does not draw one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaneChoice {
    /// By the number of the source: a node sends on one plane, and receives on all.
    Source,
    /// By the number of the destination: a node receives on one plane, and sends on all.
    Destination,
    /// By a hash of both.
    #[default]
    Pair,
}

/// Copies of a network. Links and switches are numbered plane by plane.
#[derive(Debug)]
pub struct Planes {
    one: Box<dyn Topology>,
    count: u32,
    choice: PlaneChoice,
}

impl Planes {
    /// So many copies.
    pub fn new(one: Box<dyn Topology>, count: u32, choice: PlaneChoice) -> Result<Planes, TopologyError> {
        if count == 0 {
            return Err(TopologyError::Zero("the number of planes"));
        }
        let fits = |number: u32| number.checked_mul(count).is_some();
        if !fits(one.links()) || !fits(one.switches()) {
            return Err(TopologyError::TooLarge(format!("{}, {count} times,", one.describe())));
        }
        Ok(Planes { one, count, choice })
    }

    /// The plane of a message.
    #[inline]
    fn plane(&self, from: u32, to: u32) -> u32 {
        match self.choice {
            PlaneChoice::Source => self.plane_of(from),
            PlaneChoice::Destination => self.plane_of(to),
            PlaneChoice::Pair => {
                let mut draw = hash(from, to);
                draw_below(&mut draw, self.count)
            }
        }
    }

    /// The plane of a node: the sum of its number's digits. The last digit alone would be what D-mod-K chooses ports by, too,
    /// so that messages in one plane would all take the same half of them, and two planes carry no more than one.
    #[inline]
    fn plane_of(&self, mut node: u32) -> u32 {
        let mut sum = 0;
        // With one plane there are no digits.
        while node > 0 && self.count > 1 {
            sum += node % self.count;
            node /= self.count;
        }
        sum % self.count
    }

    /// Goes in one plane.
    #[inline]
    fn within(&self, plane: u32, path: &mut Path, route: impl FnOnce(&dyn Topology, &mut Path)) {
        let before = path.mark();
        route(&*self.one, path);
        let first = plane * self.one.links();
        path.links[before.links..].iter_mut().for_each(|id| *id += first);
        path.unshared[before.unshared..].iter_mut().for_each(|id| *id += first);
    }

    /// The plane of a link, and its number there.
    fn split(&self, id: LinkId) -> (u32, LinkId) {
        (id / self.one.links(), id % self.one.links())
    }
}

impl Topology for Planes {
    fn describe(&self) -> String {
        format!("{} planes, each a {}", self.count, self.one.describe())
    }

    fn nodes(&self) -> u32 {
        self.one.nodes()
    }

    fn switches(&self) -> u32 {
        self.count * self.one.switches()
    }

    fn links(&self) -> u32 {
        self.count * self.one.links()
    }

    fn link(&self, id: LinkId) -> Link {
        self.one.link(self.split(id).1)
    }

    fn link_name(&self, id: LinkId) -> String {
        let (plane, id) = self.split(id);
        format!("plane {plane}: {}", self.one.link_name(id))
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        let (plane, id) = self.split(id);
        let within = |vertex| match vertex {
            Vertex::Switch(switch) => Vertex::Switch(plane * self.one.switches() + switch),
            node => node,
        };
        let (tail, head) = self.one.ends(id);
        (within(tail), within(head))
    }

    fn is_shared(&self, id: LinkId) -> bool {
        self.one.is_shared(self.split(id).1)
    }

    fn is_unshared(&self, id: LinkId) -> bool {
        self.one.is_unshared(self.split(id).1)
    }

    fn nodes_pass_on(&self) -> bool {
        self.one.nodes_pass_on()
    }

    fn may_repeat_links(&self) -> bool {
        self.one.may_repeat_links()
    }

    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        self.within(self.plane(from, to), path, |one, path| one.route(from, to, path));
    }

    fn fixed_routing(&self) -> &'static str {
        self.one.fixed_routing()
    }

    fn is_fixed_routing(&self, word: &str) -> bool {
        self.one.is_fixed_routing(word)
    }

    fn choice(&self) -> Choice {
        match self.one.choice() {
            Choice::None if self.count > 1 => Choice::Shortest,
            choice => choice,
        }
    }

    fn route_by_source(&self, from: u32, to: u32, path: &mut Path) {
        self.within(self.plane(from, to), path, |one, path| one.route_by_source(from, to, path));
    }

    /// In any plane.
    fn any_route(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        let plane = draw_below(&mut draw, self.count);
        self.within(plane, path, |one, path| one.any_route(from, to, draw, path));
    }

    /// The best of the best ways of all planes; among equals the first after one that is drawn.
    fn least_loaded(&self, from: u32, to: u32, mut draw: u64, load: &dyn Fn(LinkId) -> u32, path: &mut Path) {
        let first = draw_below(&mut draw, self.count);
        let find = |plane: u32, path: &mut Path| {
            let offset = plane * self.one.links();
            let own = |id: LinkId| load(offset + id);
            self.within(plane, path, |one, path| one.least_loaded(from, to, draw, &own, path));
        };
        let mut candidate = Path::default();
        let waiting = |plane: &u32| {
            candidate.clear();
            find(*plane, &mut candidate);
            total(&candidate.links, load)
        };
        let plane = (first..self.count).chain(0..first).min_by_key(waiting).unwrap_or(first);
        find(plane, path);
    }

    fn detour(&self, from: u32, to: u32, mut draw: u64, path: &mut Path) {
        let plane = draw_below(&mut draw, self.count);
        self.within(plane, path, |one, path| one.detour(from, to, draw, path));
    }

    /// Messages stay in their plane.
    fn order(&self, id: LinkId) -> u32 {
        self.one.order(self.split(id).1)
    }

    fn cables(&self) -> u64 {
        u64::from(self.count) * self.one.cables()
    }

    fn diameter(&self) -> u32 {
        self.one.diameter()
    }

    /// All planes are cut alike.
    fn bisection_bandwidth(&self) -> f64 {
        f64::from(self.count) * self.one.bisection_bandwidth()
    }

    fn bisection_is_exact(&self) -> bool {
        self.one.bisection_is_exact()
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        match vertex {
            Vertex::Switch(switch) => {
                let (plane, switch) = (switch / self.one.switches(), switch % self.one.switches());
                format!("plane {plane}: {}", self.one.vertex_name(Vertex::Switch(switch)))
            }
            node => self.one.vertex_name(node),
        }
    }

    fn link_kind(&self, id: LinkId) -> String {
        self.one.link_kind(self.split(id).1)
    }

    fn switch_kind(&self, switch: u32) -> String {
        self.one.switch_kind(switch % self.one.switches())
    }

    fn missing_switches(&self) -> u32 {
        self.count * self.one.missing_switches()
    }

    fn is_missing(&self, id: LinkId) -> bool {
        self.one.is_missing(self.split(id).1)
    }

    fn is_failed(&self, id: LinkId) -> bool {
        self.one.is_failed(self.split(id).1)
    }

    fn own_name(&self, node: u32) -> Option<&str> {
        self.one.own_name(node)
    }

    /// That of one plane.
    fn structure(&self) -> Structure {
        self.one.structure()
    }

    fn plane(&self) -> Option<(&dyn Topology, u32)> {
        Some((&*self.one, self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Crossbar, Duplex};
    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn planes(count: u32, choice: PlaneChoice) -> Result<Planes, TopologyError> {
        Planes::new(Box::new(Crossbar::new(4, LINK, Duplex::Split, None)), count, choice)
    }

    fn first_link(choice: PlaneChoice, from: u32, to: u32) -> String {
        let topology = planes(2, choice).unwrap();
        let mut path = Path::default();
        path.clear();
        topology.route(from, to, &mut path);
        topology.link_name(path.links[0])
    }

    #[test]
    fn the_plane_is_chosen_by_the_ends() {
        assert_eq!(first_link(PlaneChoice::Source, 3, 2), "plane 0: node 3 -> switch", "two ones");
        assert_eq!(first_link(PlaneChoice::Destination, 3, 2), "plane 1: node 3 -> switch", "a one");
        let planes: std::collections::BTreeSet<String> =
            (0..4).map(|to| first_link(PlaneChoice::Pair, 3, to)).collect();
        assert_eq!(planes.len(), 2, "one node uses both planes");
    }

    #[test]
    fn figures() {
        let topology = planes(3, PlaneChoice::Pair).unwrap();
        assert_eq!((topology.nodes(), topology.switches(), topology.cables(), topology.links()), (4, 3, 12, 24));
        assert_eq!(topology.bisection_bandwidth(), 6e9);
        assert_eq!(topology.vertex_name(Vertex::Switch(2)), "plane 2: switch");
        assert!(planes(0, PlaneChoice::Pair).unwrap_err().to_string().contains("at least 1"));
        assert!(planes(u32::MAX, PlaneChoice::Pair).unwrap_err().to_string().contains("make it smaller"));
    }
}
