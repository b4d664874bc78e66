//! An arbitrary graph, read from a text file, with shortest-path routing.
//!
//! One statement a line; `#` at the start of a word begins a comment.
//!
//! ```text
//! node   n[0-3] gpu                      # compute nodes, numbered in this order
//! switch left right
//! link   n[0-1] -- left  12.5 GB/s 100 ns          # two cables; each direction has the full bandwidth
//! link   n[2-3] -- right 12.5 GB/s 100 ns
//! link   gpu    -- right 25 GB/s   100 ns
//! link   left   -- right 100 Gbit/s 1 us shared    # both directions share the bandwidth
//! link   fast : n0 -> n3 50 GB/s 50 ns             # one way only, with a name for routes
//! link   bus  : 10 GB/s 0 s                        # no ends: only prescribed routes use it
//! route  n0 n3 : fast                              # prescribed, instead of the shortest path
//! route  n2 n3 : bus
//! ```
//!
//! - `node NAME ...` and `switch NAME ...` declare vertices. A name with a range, `n[0-15]` or `n[1,4-7]`, stands for
//!   several.
//! - `link [NAME :] FROM -- TO BANDWIDTH LATENCY [shared]` is a cable: one link in each direction, or with `shared` one
//!   link for both. `FROM -> TO` is one link in one direction. Ranges join one to one, or all to a single vertex.
//! - With `unshared` at its end, a link limits each message for itself: no two share it (SimGrid's `FATPIPE`).
//! - `link NAME : BANDWIDTH LATENCY` is a capacity that only prescribed routes use, in any direction.
//! - `route FROM TO : LINK ...` prescribes the way from one node to another (in this direction only); links with ends
//!   must follow one another. `route A A : LINK ...` is the way from a node to itself.
//!
//! All other messages take the path with the fewest links; among those the one with the least latency; among those the
//! one whose first link comes first in the file. Paths may lead through nodes. Every node must reach every other.
//!
//! A link without ends is shown between the only two places that its routes allow: a node that alone begins or ends
//! its routes, or else a switch called `network` that stands for what is not described.

mod error;
mod paths;
mod read;
mod words;

pub use error::{GraphError, GraphProblem};

use std::collections::BTreeMap;

use super::{Link, LinkId, Topology, Vertex, name_by_ends};
use crate::interconnect::Path;
use crate::routing::Choice;
use paths::Paths;
use read::{Description, GraphLink, read};

/// An arbitrary graph with shortest-path routing; see the [module](self) for the file format.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<String>,
    switches: Vec<String>,
    links: Vec<GraphLink>,
    /// Where each link is shown to be, also those that the file gives no ends.
    places: Vec<Place>,
    paths: Paths,
    routes: Routes,
    choice: Choice,
}

/// Prescribed routes, found by source, then by destination.
#[derive(Debug, Default)]
struct Routes {
    /// Routes from node n are `first[n]..first[n + 1]`; empty if there are none at all.
    first: Vec<u32>,
    /// Destination of each route, ascending for each source, and where its links begin.
    to: Vec<(u32, u32)>,
    links: Vec<LinkId>,
}

impl Routes {
    fn new(description: &Description) -> Routes {
        let mut routes = Routes::default();
        if description.routes.is_empty() {
            return routes;
        }
        for route in &description.routes {
            // `first` grows to the source's place when its first route comes.
            routes.first.resize(route.from as usize + 1, routes.to.len() as u32);
            routes.to.push((route.to, routes.links.len() as u32));
            routes.links.extend(&route.links);
        }
        routes.first.resize(description.nodes.len() + 1, routes.to.len() as u32);
        routes
    }

    #[inline]
    fn get(&self, from: u32, to: u32) -> Option<&[LinkId]> {
        let first = *self.first.get(from as usize)? as usize;
        let row = &self.to[first..self.first[from as usize + 1] as usize];
        let at = first + row.binary_search_by_key(&to, |&(to, _)| to).ok()?;
        let end = self.to.get(at + 1).map_or(self.links.len(), |&(_, end)| end as usize);
        Some(&self.links[self.to[at].1 as usize..end])
    }
}

impl Graph {
    /// Reads a graph file.
    pub fn parse(text: &str) -> Result<Graph, GraphError> {
        let description = read(text)?;
        let at_end = |problem| GraphError { line: text.lines().count().max(1) as u32, column: 1, problem };
        let (nodes, vertices) = (description.nodes.len(), description.nodes.len() + description.switches.len());
        if [vertices, description.links.len()].into_iter().any(|count| count >= u32::MAX as usize) {
            return Err(at_end(GraphProblem::TooLarge));
        }
        let paths = Paths::new(nodes as u32, vertices as u32, &description.links);
        let routes = Routes::new(&description);
        let choice = paths::choice(vertices as u32, &description.links);
        let (places, implied) = places(&description).map_err(at_end)?;
        let Description { nodes, mut switches, links, .. } = description;
        if implied {
            switches.push("network".into());
        }
        let graph = Graph { nodes, switches, links, places, paths, routes, choice };
        graph.check_ways(vertices as u32).map_err(at_end)?;
        Ok(graph)
    }

    /// Whether every node reaches every other, over links or by a prescribed route.
    fn check_ways(&self, vertices: u32) -> Result<(), GraphProblem> {
        if paths::connected(self.nodes(), vertices, &self.links) {
            return Ok(());
        }
        for to in 0..self.nodes() {
            let distances = self.paths.distances(to);
            for from in (0..self.nodes()).filter(|&from| from != to) {
                if distances[from as usize].is_none() && self.routes.get(from, to).is_none() {
                    let name = |node: u32| self.nodes[node as usize].clone();
                    return Err(GraphProblem::NoWay(name(from), name(to)));
                }
            }
        }
        Ok(())
    }
}

impl Graph {
    #[inline]
    fn cross(&self, id: LinkId, path: &mut Path) {
        match &self.links[id as usize] {
            GraphLink { link, unshared: true, .. } => path.push_unshared(id, link),
            GraphLink { link, .. } => path.push(id, link),
        }
    }
}

/// Where a link is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    ends: (Vertex, Vertex),
    /// Whether messages cross it both ways.
    shared: bool,
}

/// Where all links are, and whether that needs a switch for what the file does not describe.
fn places(description: &Description) -> Result<(Vec<Place>, bool), GraphProblem> {
    let nodes = description.nodes.len() as u32;
    let network = Vertex::Switch(description.switches.len() as u32);
    let vertex = |vertex| if vertex < nodes { Vertex::Node(vertex) } else { Vertex::Switch(vertex - nodes) };

    // Links without ends: from the node where all their routes begin, if they are first there; likewise to where.
    let mut used: Vec<Option<Place>> = vec![None; description.links.len()];
    for route in &description.routes {
        for (at, &id) in route.links.iter().enumerate() {
            let tail = if at == 0 { Vertex::Node(route.from) } else { network };
            let head = if at + 1 == route.links.len() { Vertex::Node(route.to) } else { network };
            let place = &mut used[id as usize];
            *place = Some(match *place {
                None => Place { ends: (tail, head), shared: false },
                Some(Place { ends, shared }) if ends == (tail, head) => Place { ends, shared },
                Some(Place { ends, .. }) if ends == (head, tail) => Place { ends, shared: true },
                Some(_) => Place { ends: (network, network), shared: true },
            });
        }
    }
    let mut places = Vec::with_capacity(used.len());
    for (link, used) in description.links.iter().zip(used) {
        places.push(match (link.ends, used) {
            (Some((tail, head)), _) => Place { ends: (vertex(tail), vertex(head)), shared: link.shared },
            (None, Some(Place { ends: (tail, head), shared: true })) if tail == network => {
                Place { ends: (head, tail), shared: true }
            }
            (None, Some(place)) => place,
            (None, None) => return Err(GraphProblem::Unused(link.name.clone().unwrap_or_default())),
        });
    }
    let implied = places.iter().any(|place| place.ends.0 == network || place.ends.1 == network);
    Ok((places, implied))
}

impl Topology for Graph {
    fn describe(&self) -> String {
        format!("graph of {} nodes and {} switches", self.nodes(), self.switches())
    }

    fn nodes(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn switches(&self) -> u32 {
        self.switches.len() as u32
    }

    fn links(&self) -> u32 {
        self.links.len() as u32
    }

    fn link(&self, id: LinkId) -> Link {
        self.links[id as usize].link
    }

    fn link_name(&self, id: LinkId) -> String {
        self.links[id as usize].name.clone().unwrap_or_else(|| name_by_ends(self, id))
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        self.places[id as usize].ends
    }

    fn is_shared(&self, id: LinkId) -> bool {
        self.places[id as usize].shared
    }

    fn is_unshared(&self, id: LinkId) -> bool {
        self.links[id as usize].unshared
    }

    fn nodes_pass_on(&self) -> bool {
        true
    }

    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        match self.routes.get(from, to) {
            Some(links) => links.iter().for_each(|&id| self.cross(id, path)),
            None => self.paths.walk(from, to, |id| self.cross(id, path)),
        }
    }

    fn fixed_routing(&self) -> &'static str {
        "shortest-path"
    }

    /// No detours in a tree.
    fn choice(&self) -> Choice {
        self.choice
    }

    /// At every place any link that leads on along a shortest path (in links); prescribed routes as they are.
    fn any_route(&self, from: u32, to: u32, draw: u64, path: &mut Path) {
        if from == to || self.routes.get(from, to).is_some() {
            return self.route(from, to, path);
        }
        self.paths.wander(from, to, draw, |id| self.cross(id, path));
    }

    /// Two opposite links between the same vertices are one cable.
    fn cables(&self) -> u64 {
        let mut cables = 0;
        // How many links lead from the smaller vertex to the greater without one back; negative the other way.
        let mut one_way: BTreeMap<(Vertex, Vertex), i64> = BTreeMap::new();
        for place in self.places.iter().filter(|place| place.ends.0 != place.ends.1) {
            let (tail, head) = place.ends;
            match place.shared {
                true => cables += 1,
                false if tail < head => *one_way.entry((tail, head)).or_default() += 1,
                false => *one_way.entry((head, tail)).or_default() -= 1,
            }
        }
        let directed = self.places.iter().filter(|place| place.ends.0 != place.ends.1 && !place.shared).count() as u64;
        let unpaired: u64 = one_way.values().map(|count| count.unsigned_abs()).sum();
        cables + unpaired + (directed - unpaired) / 2
    }

    /// The longest of all routes.
    fn diameter(&self) -> u32 {
        let mut diameter = 0;
        let (mut place, mut distances) = (u32::MAX, Vec::new());
        for to in 0..self.nodes() {
            // Nodes of one switch tend to follow one another.
            if place != self.paths.place(to) {
                (place, distances) = (self.paths.place(to), self.paths.distances(to));
            }
            for from in (0..self.nodes()).filter(|&from| from != to) {
                let prescribed = self.routes.get(from, to).map(|links| links.len() as u32);
                diameter = diameter.max(prescribed.or(distances[from as usize]).unwrap_or(0));
            }
        }
        diameter
    }

    fn own_name(&self, node: u32) -> Option<&str> {
        self.nodes.get(node as usize).map(String::as_str)
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        match vertex {
            Vertex::Node(node) => self.nodes[node as usize].clone(),
            Vertex::Switch(switch) => self.switches[switch as usize].clone(),
        }
    }
}

#[cfg(test)]
mod tests;
