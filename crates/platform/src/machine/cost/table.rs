//! What parts of a machine cost and draw: the section `[cost]` of a machine file as plain data.

use std::collections::BTreeMap;

use hpcast_units::{Length, Power};

/// A price table.
#[derive(Clone, Debug, PartialEq)]
pub struct CostTable {
    /// What prices are in: any word, such as `EUR`.
    pub currency: String,
    /// Of a node without its ports to the network.
    pub node: Part,
    /// Of a node's port to the network.
    pub port: Part,
    /// Of switches: the first that fits.
    pub switches: Vec<SwitchPrice>,
    /// Of cables: the first that is long enough.
    pub cables: Vec<CableClass>,
    /// Lengths of cables by kind of link, as [`Topology::link_kind`](crate::Topology::link_kind) names them.
    pub lengths: BTreeMap<String, Length>,
    /// Price of a kilowatt-hour.
    pub energy_price: Option<f64>,
}

/// A part of which only price and power matter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// In the table's currency.
    pub price: Option<f64>,
    /// What it draws.
    pub power: Option<Power>,
}

/// What switches of a kind, or with enough ports, cost.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchPrice {
    /// For switches of this kind only, as [`Topology::switch_kind`](crate::Topology::switch_kind) names them.
    pub kind: Option<String>,
    /// For switches that need no more ports than this.
    pub ports: Option<u32>,
    /// In the table's currency.
    pub price: f64,
    /// What it draws.
    pub power: Option<Power>,
}

impl SwitchPrice {
    /// Whether it is for a switch of this kind with so many cables.
    pub(super) fn fits(&self, kind: &str, ports: u32) -> bool {
        self.kind.as_deref().is_none_or(|own| own == kind) && self.ports.is_none_or(|own| own >= ports)
    }
}

/// What cables up to a length cost.
#[derive(Clone, Debug, PartialEq)]
pub struct CableClass {
    /// What people call it: `copper`, `optical`.
    pub class: String,
    /// The longest there is; any length if not given.
    pub up_to: Option<Length>,
    /// Of a cable, however long.
    pub price: f64,
    /// For each metre besides.
    pub per_metre: f64,
}
