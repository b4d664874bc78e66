//! What MPI charges for a message of a given size: the piecewise protocol functions, looked up once a size.

use hpcast_platform::{MpiParameters, Piecewise, Protocol};
use hpcast_units::Time;

/// The charges for one size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Charges {
    pub send: Time,
    pub isend: Time,
    pub receive: Time,
    pub latency_factor: f64,
    pub bandwidth_factor: f64,
    /// Bytes that travel, envelope included.
    pub travelling: u64,
    /// A standard send leaves without waiting for the receiver.
    pub eager: bool,
    /// A standard send lets its sender go on at once.
    pub detached: bool,
}

/// Looks charges up and remembers the last ones: programs send many messages of the same size in a row.
pub(crate) struct Costs {
    parameters: MpiParameters,
    /// (size, charges) of the last message between nodes, and of the last one inside a node.
    last: [(u64, Charges); 2],
}

impl Costs {
    pub fn new(parameters: MpiParameters) -> Costs {
        let mut costs = Costs { parameters, last: [(0, Charges::default()); 2] };
        costs.look_up(0, false);
        costs.look_up(0, true);
        costs
    }

    pub fn parameters(&self) -> &MpiParameters {
        &self.parameters
    }

    #[inline]
    pub fn of(&mut self, bytes: u64, inside: bool) -> &Charges {
        let last = usize::from(inside);
        if self.last[last].0 != bytes {
            self.look_up(bytes, inside);
        }
        &self.last[last].1
    }

    #[inline(never)]
    fn look_up(&mut self, bytes: u64, inside: bool) {
        let MpiParameters { between, inside: within, envelope, eager_below, detached_below, .. } = &self.parameters;
        let Protocol { send, isend, receive, latency_factor, bandwidth_factor } = if inside { within } else { between };
        let overhead = |function: &Piecewise| Time::from_secs(function.at(bytes).unwrap_or(0.0));
        let factor = |function: &Piecewise| function.at(bytes + envelope).unwrap_or(1.0);
        let charges = Charges {
            send: overhead(send),
            isend: overhead(isend),
            receive: overhead(receive),
            latency_factor: factor(latency_factor),
            bandwidth_factor: factor(bandwidth_factor),
            travelling: bytes + envelope,
            eager: bytes < *eager_below,
            detached: bytes < *detached_below,
        };
        self.last[usize::from(inside)] = (bytes, charges);
    }
}
