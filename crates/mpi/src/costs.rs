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

/// Sizes whose charges are remembered, between nodes and inside a node: a power of two.
const REMEMBERED: usize = 64;

/// Looks charges up and remembers them: programs send messages of a few sizes over and over.
pub(crate) struct Costs {
    parameters: MpiParameters,
    /// (size and whether inside a node, charges), at a place that follows from the former.
    known: Box<[((u64, bool), Charges); REMEMBERED]>,
}

impl Costs {
    pub fn new(parameters: MpiParameters) -> Costs {
        let mut costs = Costs { parameters, known: Box::new([((0, false), Charges::default()); REMEMBERED]) };
        costs.look_up(0, false);
        costs
    }

    pub fn parameters(&self) -> &MpiParameters {
        &self.parameters
    }

    #[inline]
    pub fn of(&mut self, bytes: u64, inside: bool) -> &Charges {
        let place = place(bytes, inside);
        if self.known[place].0 != (bytes, inside) {
            self.look_up(bytes, inside);
        }
        &self.known[place].1
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
        self.known[place(bytes, inside)] = ((bytes, inside), charges);
    }
}

/// Where the charges for a size are kept.
#[inline]
fn place(bytes: u64, inside: bool) -> usize {
    let key = bytes << 1 | u64::from(inside);
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - REMEMBERED.ilog2())) as usize
}
