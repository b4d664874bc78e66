//! Nodes, switches and cables as other tools list them, and how a machine of `graph` type is made of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hpcast_units::{Bandwidth, Seconds, count};

use super::Import;
use super::text::{base_name, push, unique};
use crate::diagnostic::{Diagnostic, Diagnostics, Source};
use crate::machine::MachineFile;
use crate::topology::Vertex;

/// Latency of a cable with its switch where nobody says it.
const LATENCY: Seconds = Seconds::new(100e-9);

/// What lists of cables do not say, as the user says it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unsaid {
    /// Of cables without one of their own.
    pub bandwidth: Option<Bandwidth>,
    /// Of every cable with the switch at its end.
    pub latency: Option<Seconds>,
    /// Of a node.
    pub cores: Option<u32>,
}

/// A cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cable {
    pub ends: (Vertex, Vertex),
    pub bandwidth: Option<Bandwidth>,
}

/// All that is plugged together.
#[derive(Clone, Debug, Default)]
pub(super) struct Fabric {
    pub nodes: Vec<String>,
    pub switches: Vec<String>,
    pub cables: Vec<Cable>,
}

/// Several cables between the same two ends, as one.
struct Bundle {
    cables: u32,
    bandwidth: f64,
}

impl Fabric {
    /// The machine; `origin` is what the file is, such as `a topology.conf of Slurm`.
    pub fn import(
        &self,
        source: &Arc<Source>,
        origin: &str,
        unsaid: &Unsaid,
        mut warnings: Diagnostics,
    ) -> Result<Import, Diagnostics> {
        self.check_whole(source)?;
        let mut assume = |message: String, remedy: &str| {
            warnings.push(Diagnostic::warning(message, remedy).within(source));
        };
        let bundles = self.bundles(source, unsaid, &mut assume)?;
        if unsaid.latency.is_none() {
            assume(format!("the file tells no latencies: {} a cable is assumed", LATENCY.human()), "give --latency");
        }
        if unsaid.cores.is_none() {
            assume("the file tells no cores: 1 a node is assumed".into(), "give --cores");
        }
        if bundles.values().any(|bundle| bundle.cables > 1) {
            let message = "cables between the same two ends are taken as one with their bandwidth together";
            assume(message.into(), "a message that crosses them alone is as fast as all of them");
        }

        let latency = unsaid.latency.unwrap_or(LATENCY);
        let file = base_name(source);
        let mut graph = format!("# Converted from {origin}, {file}.\n");
        let names = unique(self.nodes.iter().chain(&self.switches).map(String::as_str));
        let (nodes, switches) = names.split_at(self.nodes.len());
        nodes.iter().for_each(|name| push(&mut graph, format_args!("node {name}")));
        switches.iter().for_each(|name| push(&mut graph, format_args!("switch {name}")));
        let name = |vertex: Vertex| match vertex {
            Vertex::Node(node) => &nodes[node as usize],
            Vertex::Switch(switch) => &switches[switch as usize],
        };
        for ((a, b), bundle) in bundles {
            let bandwidth = Bandwidth::new(bundle.bandwidth);
            let several = if bundle.cables > 1 { format!("   # {} cables", bundle.cables) } else { String::new() };
            push(&mut graph, format_args!("link {} -- {} {bandwidth} {latency}{several}", name(a), name(b)));
        }
        // What is left open is taken as a machine file without it would be.
        let text = format!(
            "name = {}\ndescription = {}\n[nodes]\ncores-per-socket = {}\n[network]\ntopology = \"graph\"\nrouting = \"ecmp\"\ngraph = {}\n",
            toml::Value::from(file.rsplit_once('.').map_or(file, |(stem, _)| stem)),
            toml::Value::from(format!("converted from {origin}, {file}")),
            unsaid.cores.unwrap_or(1),
            toml::Value::from(graph),
        );
        let mut machine = MachineFile::parse(&Source::new(file, text), Path::new(""))?;
        for line in machine.assumed.drain(..).filter(|line| !line.starts_with("nodes.")) {
            assume(format!("assumed: {line}"), "correct it in the machine file");
        }
        Ok(Import { machine, warnings })
    }

    /// Cables by their ends, in the order of nodes, then of switches.
    fn bundles(
        &self,
        source: &Arc<Source>,
        unsaid: &Unsaid,
        assume: &mut impl FnMut(String, &str),
    ) -> Result<BTreeMap<(Vertex, Vertex), Bundle>, Diagnostic> {
        let unknown = self.cables.iter().filter(|cable| cable.bandwidth.is_none()).count();
        let general = match unsaid.bandwidth {
            _ if unknown == 0 => 0.0,
            Some(bandwidth) => {
                let message = format!("{} of {} cables tell no speed", unknown, count(self.cables.len() as u64));
                assume(format!("{message}: {bandwidth} is taken"), "as --bandwidth says");
                bandwidth.get()
            }
            None => {
                let message = format!("{unknown} of {} cables tell no speed", count(self.cables.len() as u64));
                let remedy = "say how fast they are: `--bandwidth \"100 Gbit/s\"`";
                return Err(Diagnostic::error(message, remedy).within(source));
            }
        };
        let mut bundles: BTreeMap<(Vertex, Vertex), Bundle> = BTreeMap::new();
        for Cable { ends: (a, b), bandwidth } in &self.cables {
            let bundle = bundles.entry((*a.min(b), *a.max(b))).or_insert(Bundle { cables: 0, bandwidth: 0.0 });
            bundle.cables += 1;
            bundle.bandwidth += bandwidth.map_or(general, Bandwidth::get);
        }
        Ok(bundles)
    }

    /// Whether there are nodes, and a way between any two of them.
    fn check_whole(&self, source: &Arc<Source>) -> Result<(), Diagnostic> {
        let Some(first) = self.nodes.first() else {
            let remedy = "nodes are what programs run on: name some";
            return Err(Diagnostic::error("there are no nodes in this file", remedy).within(source));
        };
        let index = |vertex: Vertex| match vertex {
            Vertex::Node(node) => node as usize,
            Vertex::Switch(switch) => self.nodes.len() + switch as usize,
        };
        let mut neighbours = vec![Vec::new(); self.nodes.len() + self.switches.len()];
        for Cable { ends: (a, b), .. } in &self.cables {
            neighbours[index(*a)].push(index(*b));
            neighbours[index(*b)].push(index(*a));
        }
        let mut reached = vec![false; neighbours.len()];
        let mut open = vec![0];
        while let Some(vertex) = open.pop() {
            if !std::mem::replace(&mut reached[vertex], true) {
                open.extend(&neighbours[vertex]);
            }
        }
        match self.nodes.iter().zip(&reached).find(|(_, reached)| !**reached) {
            None => Ok(()),
            Some((lost, _)) => {
                let cut = reached[..self.nodes.len()].iter().filter(|reached| !**reached).count();
                let message = format!(
                    "the network is in parts: {} of {} nodes cannot be reached from `{first}`, `{lost}` is one of them",
                    count(cut as u64),
                    count(self.nodes.len() as u64)
                );
                let remedy = "add the switches that join the parts, or import each part for itself";
                Err(Diagnostic::error(message, remedy).within(source))
            }
        }
    }
}
