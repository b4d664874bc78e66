//! A machine: what a machine file describes, checked and ready to simulate.
//!
//! [`MachineFile`] is the file as plain data; it is read (`read.rs`), checked (`check.rs`) and written (`write.rs`).
//! [`Machine`] is what the simulation needs (`build.rs`), and [`Figures`] is what people want to know about it.

mod build;
mod check;
mod cost;
mod figures;
mod file;
mod read;
mod wiring;
mod write;

use crate::interconnect::Interconnect;
use crate::placement::{Placement, PlacementError, Plan, Site};
use crate::protocol::MpiParameters;
use crate::switching::PacketSwitching;

pub use crate::fields::Problem;
pub use cost::{CableClass, Cost, CostTable, Item, Part, SwitchPrice};
pub use figures::Figures;
pub use file::{Io, MachineFile, Network, Nodes, PlaneFigures, RoutingWord, Wiring};

/// How competing flows share a link; only the `flow` model looks at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSharing {
    /// Share of a flow's rate that its acknowledgements take on the way back; SimGrid's cross-traffic is 0.05.
    pub cross_traffic: f64,
    /// Competing flows are weighted by 1 / (latency + weight_s * sum of 1/bandwidth) where this is set
    /// (SimGrid's `network/weight-S`, bytes); `None`: all flows weigh the same.
    pub weight_s: Option<f64>,
    /// A flow is no faster than window / (2 latency), bytes (SimGrid's `network/TCP-gamma`).
    pub window: Option<f64>,
    /// What a bandwidth factor multiplies.
    pub factor: FactorMeaning,
}

impl Default for FlowSharing {
    /// Plain max-min fair sharing.
    fn default() -> FlowSharing {
        FlowSharing { cross_traffic: 0.0, weight_s: None, window: None, factor: FactorMeaning::default() }
    }
}

/// What a bandwidth factor multiplies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FactorMeaning {
    /// The fastest a flow may go, while links are shared at full capacity (SimGrid until 2021, Cornebize's thesis).
    #[default]
    Bound,
    /// The share that a flow gets of its links, whatever the contention (SimGrid from 3.29 on).
    Share,
}

/// A machine, ready to simulate.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What people call it.
    pub name: String,
    /// Cores of each node: how many ranks fit.
    pub cores_per_node: u32,
    /// Nodes and links. The topology may have ports for more nodes than there are.
    pub interconnect: Interconnect,
    /// MPI protocol parameters.
    pub mpi: MpiParameters,
    /// How flows share links.
    pub sharing: FlowSharing,
    /// How packets are passed on.
    pub packets: PacketSwitching,
    /// How much UGAL favours short ways where it is chosen without saying so.
    pub ugal_threshold: u32,
    /// The nodes: how many there are and what each can do.
    pub nodes: Nodes,
    /// How ranks are placed unless the user asks for something else.
    pub plan: Plan,
    /// The file system.
    pub io: Io,
    /// What its parts cost.
    pub cost: Option<CostTable>,
    /// What the machine file left open, and what was taken instead.
    pub assumed: Vec<String>,
}

impl Machine {
    /// A machine of nodes of which only the cores matter, as many as the network has room for.
    pub fn new(
        name: impl Into<String>,
        cores_per_node: u32,
        interconnect: Interconnect,
        mpi: MpiParameters,
        sharing: FlowSharing,
    ) -> Machine {
        let count = interconnect.topology().nodes();
        Machine {
            name: name.into(),
            cores_per_node,
            nodes: Nodes { count, cores_per_socket: cores_per_node, ..Nodes::default() },
            interconnect,
            mpi,
            sharing,
            packets: PacketSwitching::default(),
            ugal_threshold: 0,
            plan: Plan::default(),
            io: Io::default(),
            cost: None,
            assumed: Vec::new(),
        }
    }

    /// Places so many ranks as the machine's own plan says.
    pub fn place(&self, ranks: u32) -> Result<Placement, PlacementError> {
        self.place_as(&self.plan, ranks)
    }

    /// Places so many ranks as another plan says.
    pub fn place_as(&self, plan: &Plan, ranks: u32) -> Result<Placement, PlacementError> {
        plan.place(ranks, &self.site())
    }

    /// Its nodes, as places for ranks.
    pub fn site(&self) -> Site<'_> {
        Site::new(self.nodes.count, self.cores_per_node, self.interconnect.topology())
    }
}

#[cfg(test)]
mod tests;
