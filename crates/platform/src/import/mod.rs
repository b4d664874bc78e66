//! Readers of other simulators' descriptions of machines: one folder a simulator.

pub mod simgrid;
