//! How long a transfer takes when nobody is in its way.

use std::rc::Rc;

use hpcast_platform::Machine;
use hpcast_units::Time;

use super::Transfer;
use super::demand::Router;

/// Durations of transfers that share nothing, as the `flow` model has them: for patterns that are evaluated without
/// simulating each message.
pub struct Alone {
    router: Router,
}

impl Alone {
    /// On that machine.
    pub fn new(machine: Rc<Machine>) -> Alone {
        Alone { router: Router::new(machine) }
    }

    /// From the start of a transfer to its end.
    pub fn duration(&mut self, transfer: &Transfer) -> Time {
        let demand = self.router.route(transfer);
        let seconds = transfer.bytes as f64 / (demand.bound * demand.efficiency);
        let moving = if transfer.bytes == 0 { Time::ZERO } else { Time::from_secs(seconds).max(Time::from_ps(1)) };
        demand.latency + moving
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::testing::{crossbar, ends, transfer};
    use crate::network::{Circuit, Flow, Ideal};

    #[test]
    fn is_what_a_simulation_of_one_transfer_gives() {
        let machine = crossbar(3, Default::default());
        for (from, to, bytes) in [(0, 1, 1000), (2, 0, 1), (0, 1, 0), (1, 1, 12_345)] {
            for latency in [None, Some(Time::from_ps(123_456))] {
                let factors = Transfer { latency_factor: 1.7, bandwidth_factor: 0.9, ..transfer(from, to, bytes) };
                let transfer = Transfer { latency, ..factors };
                let alone = Alone::new(machine.clone()).duration(&transfer).as_ps();
                assert_eq!(ends(&mut Flow::new(machine.clone()), &[(0, transfer)]), [alone]);
                assert_eq!(ends(&mut Circuit::new(machine.clone()), &[(0, transfer)]), [alone]);
                assert_eq!(ends(&mut Ideal::new(machine.clone()), &[(0, transfer)]), [alone]);
                let moving = alone - Alone::new(machine.clone()).duration(&Transfer { bytes: 0, ..transfer }).as_ps();
                assert!(latency.is_none_or(|latency| alone == latency.as_ps() + moving));
            }
        }
    }
}
