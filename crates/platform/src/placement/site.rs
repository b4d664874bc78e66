//! Where ranks can be placed: the nodes of a machine, what they are called, and which switches they hang on.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::diagnostic::nearest;
use crate::topology::{Topology, Vertex};

/// More names are not searched for one that looks like another.
const SEARCHED: u32 = 100_000;

/// The nodes of a machine.
pub struct Site<'m> {
    /// How many there are; the topology may have ports for more.
    pub nodes: u32,
    /// Cores of each.
    pub cores: u32,
    /// How they are joined.
    pub topology: &'m dyn Topology,
    /// Numbers by names, if nodes have names of their own.
    numbers: OnceCell<HashMap<&'m str, u32>>,
}

impl<'m> Site<'m> {
    /// So many nodes with so many cores each.
    pub fn new(nodes: u32, cores: u32, topology: &'m dyn Topology) -> Site<'m> {
        Site { nodes, cores, topology, numbers: OnceCell::new() }
    }

    /// What a node is called as a host: by its own name, or `node17`.
    pub fn host(&self, node: u32) -> String {
        self.topology.own_name(node).map_or_else(|| format!("node{node}"), String::from)
    }

    /// The node of that name, `node17` (or `node0017`), or number.
    pub fn find(&self, name: &str) -> Option<u32> {
        let numbers = self.numbers.get_or_init(|| {
            let named = |node| Some((self.topology.own_name(node)?, node));
            // Either all have names, or none.
            if self.topology.own_name(0).is_none() {
                HashMap::new()
            } else {
                (0..self.nodes).filter_map(named).collect()
            }
        });
        if let Some(node) = numbers.get(name) {
            return Some(*node);
        }
        let digits = if numbers.is_empty() { name.strip_prefix("node").unwrap_or(name) } else { name };
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        digits.parse().ok().filter(|node| is_number && *node < self.nodes)
    }

    /// What to do about a name that no node has.
    pub fn advice(&self, name: &str) -> String {
        let names: Vec<String> = (0..self.nodes.min(SEARCHED)).map(|node| self.host(node)).collect();
        match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let last = self.nodes.saturating_sub(1);
                format!("nodes are {} to {}, or 0 to {last}", self.host(0), self.host(last))
            }
        }
    }

    /// Nodes grouped by the switch that they hang on, the switch of the first node first. A node that hangs on none is a
    /// group of its own; one with several cables belongs to the switch of the first.
    pub fn by_switch(&self, nodes: &[u32]) -> Vec<Vec<u32>> {
        let switches = self.switches();
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for &node in nodes {
            let place = match switches[node as usize] {
                Some(switch) => *places.entry(switch).or_insert(groups.len()),
                None => groups.len(),
            };
            if place == groups.len() {
                groups.push(Vec::new());
            }
            groups[place].push(node);
        }
        groups
    }

    /// The switch that each node hangs on.
    fn switches(&self) -> Vec<Option<u32>> {
        let mut switches = vec![None; self.nodes as usize];
        for link in 0..self.topology.links() {
            if let (Vertex::Node(node), Vertex::Switch(switch)) | (Vertex::Switch(switch), Vertex::Node(node)) =
                self.topology.ends(link)
                && let Some(found) = switches.get_mut(node as usize)
            {
                found.get_or_insert(switch);
            }
        }
        switches
    }
}
