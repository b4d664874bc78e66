//! What MPI charges for a message of a given size: the piecewise protocol functions, looked up once a size.

use hpcast_platform::{MpiParameters, Piecewise, Protocol};
use hpcast_units::Time;

/// The charges for one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charges {
    pub send: Time,
    pub isend: Time,
    pub receive: Time,
    pub latency_factor: f64,
    pub bandwidth_factor: f64,
}

/// Looks charges up and remembers the last ones: programs send many messages of the same size in a row.
pub(crate) struct Costs {
    parameters: MpiParameters,
    /// (size, charges) of the last message between nodes, and of the last one inside a node.
    last: [Option<(u64, Charges)>; 2],
}

impl Costs {
    pub fn new(parameters: MpiParameters) -> Costs {
        Costs { parameters, last: [None; 2] }
    }

    pub fn parameters(&self) -> &MpiParameters {
        &self.parameters
    }

    #[inline]
    pub fn of(&mut self, bytes: u64, inside: bool) -> Charges {
        if let Some((size, charges)) = self.last[usize::from(inside)]
            && size == bytes
        {
            return charges;
        }
        self.look_up(bytes, inside)
    }

    fn look_up(&mut self, bytes: u64, inside: bool) -> Charges {
        let MpiParameters { between, inside: within, envelope, .. } = &self.parameters;
        let Protocol { send, isend, receive, latency_factor, bandwidth_factor } = if inside { within } else { between };
        let overhead = |function: &Piecewise| Time::from_secs(function.at(bytes).unwrap_or(0.0));
        let factor = |function: &Piecewise| function.at(bytes + envelope).unwrap_or(1.0);
        let charges = Charges {
            send: overhead(send),
            isend: overhead(isend),
            receive: overhead(receive),
            latency_factor: factor(latency_factor),
            bandwidth_factor: factor(bandwidth_factor),
        };
        self.last[usize::from(inside)] = Some((bytes, charges));
        charges
    }
}
