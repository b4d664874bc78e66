//! MPI on the simulated machine: communicators, matching, protocols, requests, collectives.

pub mod collectives;
pub mod peers;

pub use peers::{Handle, Peers};
