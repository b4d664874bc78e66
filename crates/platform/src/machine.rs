//! A machine: what a machine file describes, checked and ready to simulate.

use crate::interconnect::Interconnect;
use crate::protocol::MpiParameters;

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
#[derive(Debug)]
pub struct Machine {
    /// What people call it.
    pub name: String,
    /// Cores of each node: how many ranks fit.
    pub cores_per_node: u32,
    /// Nodes and links.
    pub interconnect: Interconnect,
    /// MPI protocol parameters.
    pub mpi: MpiParameters,
    /// How flows share links.
    pub sharing: FlowSharing,
}
