//! What a transfer asks of the network, as SimGrid's SMPI model reads it.
//!
//! Source: SimGrid 3.32, `src/surf/network_cm02.cpp` (`communicate` and the functions it calls). The old meaning of the
//! bandwidth factor is described by T. Cornebize, "High Performance Computing: towards better performance predictions
//! and experiments", 2021, section 2.2.

use std::rc::Rc;

use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::{FactorMeaning, FlowSharing, Machine};
use hpcast_platform::topology::LinkId;
use hpcast_units::Time;

use super::Transfer;
use super::ways::{Way, Ways};

/// What a transfer asks of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Demand {
    /// How long it travels before it takes any bandwidth.
    pub latency: Time,
    /// The fastest it may go, bytes per second of link capacity.
    pub bound: f64,
    /// Competing flows get shares in inverse proportion to this.
    pub penalty: f64,
    /// Bytes that arrive for each byte of link capacity used.
    pub efficiency: f64,
}

/// Finds ways and demands.
#[derive(Debug)]
pub(crate) struct Router {
    machine: Rc<Machine>,
    ways: Ways,
    /// SimGrid's weight-S, 0 where there is none. Not the machine's own `Option`: the compiler multiplies before it looks
    /// whether there is a value, and what lies there otherwise may be a number that processors take 100 cycles for.
    weight_s: f64,
}

impl Router {
    /// Ways and demands on that machine.
    pub(crate) fn new(machine: Rc<Machine>) -> Router {
        let ways = Ways::new(&machine.interconnect, machine.sharing.cross_traffic > 0.0);
        Router { ways, weight_s: machine.sharing.weight_s.unwrap_or(0.0), machine }
    }

    /// Finds the way of a transfer: see [`Router::there`] and [`Router::back`].
    #[inline]
    pub(crate) fn route(&mut self, transfer: &Transfer) -> Demand {
        let way = self.ways.go(transfer.from, transfer.to, transfer.bytes, &self.machine.interconnect);
        Router::demand(&self.machine.sharing, self.weight_s, transfer, way)
    }

    /// A transfer between these nodes will start soon.
    #[inline]
    pub(crate) fn prefetch(&self, from: u32, to: u32) {
        self.ways.prefetch(from, to);
    }

    /// Whether a transfer that goes back the way of the last one asks for the same as that one.
    #[inline]
    pub(crate) fn is_symmetric(&self) -> bool {
        self.ways.current().is_symmetric
    }

    /// A transfer of so many bytes goes back the way of the last one.
    #[inline]
    pub(crate) fn route_back(&mut self, bytes: u64) {
        self.ways.go_back(bytes);
    }

    /// The way of a transfer is this one.
    pub(crate) fn route_along(&mut self, transfer: &Transfer, path: &Path) -> Demand {
        let way = self.ways.go_along(transfer, path, &self.machine.interconnect);
        Router::demand(&self.machine.sharing, self.weight_s, transfer, way)
    }

    #[inline]
    fn demand(sharing: &FlowSharing, weight_s: f64, transfer: &Transfer, way: &Way) -> Demand {
        let latency = transfer.travels(way.latency);
        let window = match sharing.window {
            Some(window) if way.latency > 0.0 => window / (2.0 * way.latency),
            _ => f64::INFINITY,
        };
        let (bandwidth, efficiency) = match sharing.factor {
            // Memory is not shared, but no message goes faster than memory.
            FactorMeaning::Bound if !way.is_shared => (way.bandwidth * transfer.bandwidth_factor.min(1.0), 1.0),
            FactorMeaning::Bound => (way.bandwidth * transfer.bandwidth_factor, 1.0),
            FactorMeaning::Share => (way.bandwidth, transfer.bandwidth_factor),
        };
        let penalty = match sharing.weight_s {
            Some(_) if latency > Time::ZERO => way.latency + weight_s * way.inverse_bandwidth,
            _ => 1.0,
        };
        Demand { latency, bound: bandwidth.min(window), penalty, efficiency }
    }

    /// The links that the transfer crosses; empty inside a node.
    #[inline]
    pub(crate) fn there(&self) -> &[LinkId] {
        self.ways.there()
    }

    /// Bytes sent over each link so far.
    pub(crate) fn link_bytes(&self) -> Vec<f64> {
        self.ways.link_bytes()
    }

    /// The links that its acknowledgements cross; empty where nobody counts them.
    #[inline]
    pub(crate) fn back(&self) -> &[LinkId] {
        self.ways.back()
    }
}
