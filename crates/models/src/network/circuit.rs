//! `circuit`: the oldest flow first. (Being replaced by an incremental solver.)

use std::rc::Rc;

use hpcast_platform::machine::Machine;
use hpcast_units::Time;

use super::reference::{Reference, Rule};
use super::{Network, Transfer};

/// The `circuit` network.
#[derive(Debug)]
pub struct Circuit(Reference);

impl Circuit {
    /// An empty network of that machine.
    pub fn new(machine: Rc<Machine>) -> Circuit {
        Circuit(Reference::new(machine, Rule::OldestFirst))
    }
}

impl Network for Circuit {
    fn start(&mut self, at: Time, transfer: Transfer) {
        self.0.start(at, transfer);
    }
    fn next_event(&mut self) -> Time {
        self.0.next_event()
    }
    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.0.advance(now, ended);
    }
    fn link_bytes(&self) -> Vec<f64> {
        self.0.link_bytes()
    }
}
