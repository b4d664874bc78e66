//! Doing the runs of a study: here, in processes of our own, or on a cluster.
//!
//! Both speak the same language with whoever does a run ([`protocol`]): a line of JSON for each document and each run, and
//! a line for each ending.

pub mod local;
pub mod memory;
pub mod protocol;
pub mod slurm;

use crate::run::{Ending, Inputs};

/// A run that is to be done.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its place among all that are to be done.
    pub number: usize,
    /// What it depends on.
    pub inputs: Inputs,
    /// About how much memory it needs.
    pub memory_bytes: u64,
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its place among all that were to be done.
    pub number: usize,
    /// How it has ended.
    pub ending: Ending,
}
