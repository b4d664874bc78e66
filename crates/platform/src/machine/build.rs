//! From a machine file to a machine.

use super::{Machine, MachineFile, Network, PlaneFigures, RoutingWord, Wiring};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::interconnect::Interconnect;
use crate::routing::{Routing, RoutingError};
use crate::topology::{
    Clos, Crossbar, DamageError, Damaged, Dragonfly, DragonflyPlus, FatTree, Gamma, Graph, GraphError, HyperX,
    Hypercube, Planes, SlimFly, Topology, TopologyError, Torus,
};

/// Why a network cannot be built.
#[derive(Debug, thiserror::Error)]
pub(super) enum WiringError {
    #[error(transparent)]
    Topology(#[from] TopologyError),
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Damage(#[from] DamageError),
}

impl Network {
    /// The topology for so many nodes, unused ports included, with all its planes and without what has failed.
    pub(super) fn topology(&self, nodes: u32) -> Result<Box<dyn Topology>, WiringError> {
        let mut topology = self.one_plane(nodes)?;
        if let Some(PlaneFigures { count, choice }) = self.planes {
            topology = Box::new(Planes::new(topology, count, choice)?);
        }
        if !self.failed.is_empty() {
            topology = Box::new(Damaged::new(topology, &self.failed, nodes)?);
        }
        Ok(topology)
    }

    fn one_plane(&self, nodes: u32) -> Result<Box<dyn Topology>, WiringError> {
        Ok(match &self.wiring {
            Wiring::Crossbar { link, backbone } => {
                Box::new(Crossbar::new(nodes.saturating_add(self.unused_ports), *link, self.duplex, *backbone))
            }
            Wiring::FatTree { shape, levels, parallel_cables, missing, .. } => {
                let tree = FatTree::new(shape.clone(), levels, self.duplex)?.using(*parallel_cables);
                Box::new(tree.without(missing)?)
            }
            Wiring::Torus { dimensions, cables, wrap, ties, link } => {
                Box::new(Torus::with_cables(dimensions, cables, *wrap, *link, self.duplex)?.breaking(*ties))
            }
            Wiring::Hypercube { dimension, cables, link } => {
                Box::new(Hypercube::new(*dimension, *cables, *link, self.duplex)?)
            }
            Wiring::HyperX { shape, node_link, switch_link } => {
                Box::new(HyperX::new(shape.clone(), *node_link, *switch_link, self.duplex)?)
            }
            Wiring::Dragonfly { shape, links } => Box::new(Dragonfly::new(*shape, *links, self.duplex)?),
            Wiring::DragonflyPlus { shape, links } => Box::new(DragonflyPlus::new(*shape, *links, self.duplex)?),
            Wiring::SlimFly { q, nodes_per_switch, node_link, switch_link } => {
                Box::new(SlimFly::new(*q, *nodes_per_switch, *node_link, *switch_link, self.duplex)?)
            }
            Wiring::Clos { shape, node_link, switch_link } => Box::new(Clos::new(*shape, *node_link, *switch_link)?),
            Wiring::Gamma { dimension, node_link, switch_link } => {
                Box::new(Gamma::new(*dimension, *node_link, *switch_link)?)
            }
            Wiring::Graph { text, .. } => Box::new(Graph::parse(text)?),
        })
    }
}

impl Network {
    /// How ways are chosen.
    pub(super) fn routing(&self, topology: &dyn Topology) -> Result<Routing, RoutingError> {
        match &self.routing {
            Some(RoutingWord { word: Some(word), threshold }) => Routing::named(word, *threshold, topology),
            _ => Ok(Routing::Fixed),
        }
    }
}

impl MachineFile {
    /// Makes the machine; fails where [`MachineFile::check`] finds a problem.
    pub fn build(&self) -> Result<Machine, Diagnostics> {
        let mut problems = Diagnostics::new();
        for problem in self.check() {
            problems.push(Diagnostic::error(format!("{}: {}", problem.key, problem.message), problem.remedy));
        }
        if problems.has_errors() {
            return Err(problems);
        }
        let topology = self.network.topology(self.nodes.count).map_err(|error| Diagnostic::from_error(&error))?;
        let routing = self.network.routing(&*topology).map_err(|error| Diagnostic::from_error(&error))?;
        Ok(Machine {
            name: self.name.clone(),
            cores_per_node: self.nodes.cores(),
            interconnect: Interconnect::new(topology, self.network.loopback, self.network.limiter).routed(routing),
            mpi: self.mpi.clone(),
            sharing: self.sharing,
            packets: self.packets,
            ugal_threshold: self.network.routing.as_ref().map_or(0, |routing| routing.threshold),
            nodes: self.nodes.clone(),
            plan: self.plan.clone(),
            io: self.io,
            cost: self.cost.clone(),
            assumed: self.assumed.clone(),
        })
    }
}
