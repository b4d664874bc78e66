//! How nodes are joined by switches and links: one file a topology.
//!
//! To add one: write a file here that implements [`Topology`], and name it in the machine-file reader.

use crate::interconnect::Path;

/// A directed link, numbered from 0 within its machine. A link that both directions share has one number.
pub type LinkId = u32;

/// What a link can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Capacity in bytes per second.
    pub bandwidth: f64,
    /// Seconds for the first bit to cross it.
    pub latency: f64,
}

/// The shape of a network and its routing.
pub trait Topology: std::fmt::Debug {
    /// Number of compute nodes.
    fn nodes(&self) -> u32;
    /// Number of switches.
    fn switches(&self) -> u32;
    /// Number of directed links; their ids are `0..links()`.
    fn links(&self) -> u32;
    /// What the link can do.
    fn link(&self, id: LinkId) -> Link;
    /// The link's name for people, such as `leaf 3 -> core 1`.
    fn link_name(&self, id: LinkId) -> String;
    /// Appends the links from one node to another, different one, in the order in which a message crosses them.
    /// Called once a message: no allocation, no table of nodes squared.
    fn route(&self, from: u32, to: u32, path: &mut Path);
}
