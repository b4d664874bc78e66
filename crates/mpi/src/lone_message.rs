//! What a message costs when nobody is in its way: for patterns that are evaluated without simulating each message.

use std::rc::Rc;

use hpcast_models::network::{Alone, Transfer};
use hpcast_platform::Machine;
use hpcast_units::Time;

use crate::costs::{Charges, Costs};

/// The parts of a standard blocking send and its receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoneMessage {
    /// What the sender pays before the message leaves.
    pub send: Time,
    /// From the start of the transfer to its end.
    pub travel: Time,
    /// What the receiver pays when it has come.
    pub receive: Time,
    /// It leaves without waiting for the receiver.
    pub eager: bool,
    /// The sender goes on without waiting for the transfer.
    pub detached: bool,
    /// It varies from message to message, see [`LoneMessages::draw`].
    pub noisy: bool,
}

/// Finds what messages cost.
pub struct LoneMessages {
    costs: Costs,
    alone: Alone,
}

impl LoneMessages {
    /// On that machine; the seed is that of what varies from message to message.
    pub fn new(machine: Rc<Machine>, seed: u64) -> LoneMessages {
        LoneMessages { costs: Costs::new(machine.mpi.clone(), seed), alone: Alone::new(machine) }
    }

    /// A message of so many bytes from one node to another; expectations where that varies.
    pub fn cost(&mut self, from: u32, to: u32, bytes: u64) -> LoneMessage {
        let charges = *self.costs.of(bytes, from == to);
        self.of_charges(from, to, &charges)
    }

    /// The same as drawn for a message of a rank, which is known by a number. Numbers of 2^63 and more are other messages
    /// than those that are simulated.
    pub fn draw(&mut self, from: u32, to: u32, bytes: u64, rank: u32, number: u64) -> LoneMessage {
        let charges = self.costs.draw(rank, number, bytes, from == to);
        self.of_charges(from, to, &charges)
    }

    fn of_charges(&mut self, from: u32, to: u32, charges: &Charges) -> LoneMessage {
        let travel = self.alone.duration(&Transfer {
            from,
            to,
            bytes: charges.travelling,
            latency_factor: charges.latency_factor,
            latency: charges.latency,
            bandwidth_factor: charges.bandwidth_factor,
            token: 0,
        });
        LoneMessage {
            send: if charges.detached { charges.send } else { Time::ZERO },
            travel,
            receive: if charges.detached { charges.receive } else { Time::ZERO },
            eager: charges.eager,
            detached: charges.detached,
            noisy: charges.noisy,
        }
    }
}
