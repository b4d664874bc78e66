//! Shortest paths in a graph: fewest links first, then least latency, then the lowest link id at the first difference.
//!
//! A node that hangs on one switch is not part of the search: its route is its link to the switch, the way from there,
//! and the other node's link. What remains is the *core*: switches, and nodes with several neighbours. For each core
//! vertex that messages go to, a table says over which link every other core vertex sends them; it is made when the first
//! message goes there. Memory: at most 4 bytes times the square of the core's size (1 MB for 512 switches, whatever
//! the number of nodes), besides some 50 bytes a link; three times as much where chance chooses among shortest paths, which
//! needs distances. Nodes with several neighbours belong to the core: there it is the square of the number of nodes.

use std::sync::OnceLock;

use super::super::LinkId;
use super::read::GraphLink;
use crate::routing::{Choice, draw_below};

/// No link leads on from here.
const NONE: LinkId = LinkId::MAX;

/// The way of a vertex into the core.
#[derive(Clone, Copy, Debug)]
struct Access {
    /// The vertex's own number in the core, or that of the switch that it hangs on.
    core: u32,
    /// Links to and from that switch; [`NONE`] within the core.
    out: LinkId,
    into: LinkId,
}

/// A link as it enters a core vertex.
#[derive(Clone, Copy, Debug)]
struct Entry {
    link: LinkId,
    /// The core vertex that it comes from.
    from: u32,
    latency: f64,
}

/// A link as it leaves a core vertex.
#[derive(Clone, Copy, Debug)]
struct Exit {
    link: LinkId,
    /// The core vertex that it leads to.
    to: u32,
}

/// Shortest paths between all vertices.
#[derive(Debug)]
pub struct Paths {
    access: Vec<Access>,
    /// The links that enter core vertex v are `entries[first[v]..first[v + 1]]`, by ascending id.
    first: Vec<u32>,
    entries: Vec<Entry>,
    /// The links that leave core vertex v are `exits[first_exit[v]..first_exit[v + 1]]`, by ascending id.
    first_exit: Vec<u32>,
    exits: Vec<Exit>,
    /// Exclusive or of the core vertices at a link's ends: leads from either to the other.
    across: Vec<u32>,
    /// For each core vertex as a destination: the link on which each core vertex sends messages there.
    tables: Vec<OnceLock<Box<[LinkId]>>>,
    /// For each core vertex as a destination: how many links lie between it and each core vertex; made when chance chooses.
    distances: Vec<OnceLock<Box<[Option<u32>]>>>,
}

impl Paths {
    /// Over links with known ends; the first `nodes` of the vertices are nodes.
    pub fn new(nodes: u32, vertices: u32, links: &[GraphLink]) -> Paths {
        let arcs = arcs(links);
        let mut access = accesses(nodes, vertices, &arcs);
        let mut core = 0;
        for access in access.iter_mut().filter(|access| access.out == NONE) {
            access.core = core;
            core += 1;
        }
        for vertex in 0..nodes as usize {
            if access[vertex].out != NONE {
                access[vertex].core = access[access[vertex].core as usize].core;
            }
        }
        let mut across = vec![0; links.len()];
        let mut entering = vec![Vec::new(); core as usize];
        let mut leaving = vec![Vec::new(); core as usize];
        for &(link, tail, head) in &arcs {
            let (tail, head) = (access[tail as usize], access[head as usize]);
            if tail.out == NONE && head.out == NONE {
                across[link as usize] = tail.core ^ head.core;
                let latency = links[link as usize].link.latency;
                entering[head.core as usize].push(Entry { link, from: tail.core, latency });
                leaving[tail.core as usize].push(Exit { link, to: head.core });
            }
        }
        let (first, entries) = joined(entering);
        let (first_exit, exits) = joined(leaving);
        let tables = (0..core).map(|_| OnceLock::new()).collect();
        let distances = (0..core).map(|_| OnceLock::new()).collect();
        Paths { access, first, entries, first_exit, exits, across, tables, distances }
    }

    /// Hands the links of any shortest path between different vertices to `visit`, as `draw` says.
    pub fn wander(&self, from: u32, to: u32, mut draw: u64, mut visit: impl FnMut(LinkId)) {
        let (start, goal) = (self.access[from as usize], self.access[to as usize]);
        if start.out != NONE {
            visit(start.out);
        }
        let distances = self.distances[goal.core as usize].get_or_init(|| self.table(goal.core).1.into());
        let mut at = start.core;
        while let Some(rest) = distances[at as usize].and_then(|distance| distance.checked_sub(1)) {
            let (first, end) = (self.first_exit[at as usize], self.first_exit[at as usize + 1]);
            let leaving = &self.exits[first as usize..end as usize];
            let closer = || leaving.iter().filter(|exit| distances[exit.to as usize] == Some(rest));
            let which = draw_below(&mut draw, closer().count() as u32);
            let Some(exit) = closer().nth(which as usize) else { return };
            visit(exit.link);
            at = exit.to;
        }
        if goal.into != NONE {
            visit(goal.into);
        }
    }

    /// Hands the links from one vertex to another to `visit`, or nothing if there is no way.
    #[inline]
    pub fn walk(&self, from: u32, to: u32, mut visit: impl FnMut(LinkId)) {
        let (start, goal) = (self.access[from as usize], self.access[to as usize]);
        if start.out != NONE {
            visit(start.out);
        }
        if start.core != goal.core {
            let table = self.tables[goal.core as usize].get_or_init(|| self.table(goal.core).0);
            let mut at = start.core;
            while at != goal.core {
                let link = table[at as usize];
                if link == NONE {
                    return;
                }
                visit(link);
                at ^= self.across[link as usize];
            }
        } else if from == to
            && start.out == NONE
            && let Some((out, back)) = self.turn(start.core)
        {
            visit(out);
            visit(back);
        }
        if goal.into != NONE {
            visit(goal.into);
        }
    }

    /// Vertices with the same number are the same distance from all others.
    pub fn place(&self, vertex: u32) -> u32 {
        self.access[vertex as usize].core
    }

    /// Links on the way from every vertex to `to`, itself included; `None` where there is no way.
    pub fn distances(&self, to: u32) -> Vec<Option<u32>> {
        let goal = self.access[to as usize];
        let distances = self.table(goal.core).1;
        let length = |access: &Access| {
            let core = distances[access.core as usize]?;
            Some(core + (access.out != NONE) as u32 + (goal.into != NONE) as u32)
        };
        self.access.iter().map(length).collect()
    }

    /// Out over the first link that leads to a vertex with a link back, and back.
    fn turn(&self, core: u32) -> Option<(LinkId, LinkId)> {
        let back = self.entering(core).iter().filter_map(|back| {
            let out = self.entering(back.from).iter().find(|out| out.from == core)?;
            Some((out.link, back.link))
        });
        back.min()
    }

    fn entering(&self, core: u32) -> &[Entry] {
        &self.entries[self.first[core as usize] as usize..self.first[core as usize + 1] as usize]
    }

    /// On which link each core vertex sends messages for `goal`, and how many core links they cross.
    /// A search by breadth from the goal backwards: when a vertex is taken, all ways from it are known.
    fn table(&self, goal: u32) -> (Box<[LinkId]>, Vec<Option<u32>>) {
        let mut next = vec![NONE; self.tables.len()].into_boxed_slice();
        let mut latencies = vec![0.0; self.tables.len()];
        let mut distances = vec![None; self.tables.len()];
        let mut queue = Vec::with_capacity(self.tables.len());
        distances[goal as usize] = Some(0);
        queue.push(goal);
        let mut taken = 0;
        while let Some(&at) = queue.get(taken) {
            taken += 1;
            let distance = distances[at as usize].map(|distance| distance + 1);
            for entry in self.entering(at) {
                let from = entry.from as usize;
                let latency = latencies[at as usize] + entry.latency;
                if distances[from].is_none() {
                    distances[from] = distance;
                    queue.push(entry.from);
                } else if distances[from] != distance || (latencies[from], next[from]) <= (latency, entry.link) {
                    continue;
                }
                (latencies[from], next[from]) = (latency, entry.link);
            }
        }
        (next, distances)
    }
}

/// Lists one after the other, and where each begins.
fn joined<T>(lists: Vec<Vec<T>>) -> (Vec<u32>, Vec<T>) {
    let mut first = vec![0];
    first.extend(lists.iter().scan(0, |sum, list| {
        *sum += list.len() as u32;
        Some(*sum)
    }));
    (first, lists.into_iter().flatten().collect())
}

/// Each direction of each link with known ends: link, tail, head.
fn arcs(links: &[GraphLink]) -> Vec<(LinkId, u32, u32)> {
    let mut arcs = Vec::new();
    for (id, link) in (0..).zip(links) {
        if let Some((tail, head)) = link.ends {
            arcs.push((id, tail, head));
            if link.shared {
                arcs.push((id, head, tail));
            }
        }
    }
    arcs
}

/// Which vertices hang on one switch, by one link to it and one link from it; the switch is given by vertex number.
fn accesses(nodes: u32, vertices: u32, arcs: &[(LinkId, u32, u32)]) -> Vec<Access> {
    let mut leaving = vec![(0, NONE, 0); nodes as usize];
    let mut entering = leaving.clone();
    for &(link, tail, head) in arcs {
        if let Some(count) = leaving.get_mut(tail as usize) {
            *count = (count.0 + 1, link, head);
        }
        if let Some(count) = entering.get_mut(head as usize) {
            *count = (count.0 + 1, link, tail);
        }
    }
    let mut accesses = vec![Access { core: 0, out: NONE, into: NONE }; vertices as usize];
    for (node, ((outs, out, to), (ins, into, from))) in leaving.into_iter().zip(entering).enumerate() {
        if outs == 1 && ins == 1 && to == from && to >= nodes {
            accesses[node] = Access { core: to, out, into };
        }
    }
    accesses
}

/// What ways there are beside the shortest: in a tree no detours, at most cables side by side.
pub fn choice(vertices: u32, links: &[GraphLink]) -> Choice {
    let ends = arcs(links).into_iter().map(|(_, tail, head)| (tail.min(head), tail.max(head)));
    let mut joined: Vec<(u32, u32)> = ends.filter(|(one, other)| one != other).collect();
    joined.sort_unstable();
    joined.dedup();
    if has_circle(vertices, &joined) { Choice::Detours } else { Choice::Shortest }
}

/// Whether some of the pairs of vertices form a circle. Each pair makes one of two trees, unless it is within one.
fn has_circle(vertices: u32, pairs: &[(u32, u32)]) -> bool {
    // Every vertex leads to another one of its tree, the root to itself.
    let mut towards: Vec<u32> = (0..vertices).collect();
    let root = |towards: &mut [u32], mut at: u32| {
        while towards[at as usize] != at {
            towards[at as usize] = towards[towards[at as usize] as usize];
            at = towards[at as usize];
        }
        at
    };
    pairs.iter().any(|&(one, other)| {
        let (one, other) = (root(&mut towards, one), root(&mut towards, other));
        towards[one as usize] = other;
        one == other
    })
}

/// Whether every node reaches every other one, also through nodes: the first one reaches all, and is reached by all.
pub fn connected(nodes: u32, vertices: u32, links: &[GraphLink]) -> bool {
    let mut arcs = arcs(links);
    let reaches_all = |arcs: &[(LinkId, u32, u32)]| {
        let mut heads = vec![Vec::new(); vertices as usize];
        arcs.iter().for_each(|&(_, tail, head)| heads[tail as usize].push(head));
        let mut reached = vec![false; vertices as usize];
        let mut open = vec![0];
        while let Some(vertex) = open.pop() {
            if !std::mem::replace(&mut reached[vertex as usize], true) {
                open.extend(&heads[vertex as usize]);
            }
        }
        reached[..nodes as usize].iter().all(|&reached| reached)
    };
    let forward = reaches_all(&arcs);
    arcs.iter_mut().for_each(|(_, tail, head)| std::mem::swap(tail, head));
    forward && reaches_all(&arcs)
}
