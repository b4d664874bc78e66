//! What MPI charges for a message of a given size: the piecewise protocol functions, looked up once a size.

use std::ops::Range;

use hpcast_engine::{Key, Stream};
use hpcast_models::network::draw;
use hpcast_platform::protocol::Piece;
use hpcast_platform::{MpiParameters, Piecewise, Protocol};
use hpcast_units::Time;

/// The charges for one size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Charges {
    pub send: Time,
    pub isend: Time,
    pub receive: Time,
    pub latency_factor: f64,
    /// In place of latency times factor.
    pub latency: Option<Time>,
    pub bandwidth_factor: f64,
    /// Bytes that travel, envelope included.
    pub travelling: u64,
    /// A standard send leaves without waiting for the receiver.
    pub eager: bool,
    /// A standard send lets its sender go on at once.
    pub detached: bool,
    /// These are expectations: what a single message is charged is drawn, see [`Costs::draw`].
    pub noisy: bool,
}

/// Sizes whose charges are remembered, between nodes and inside a node: a power of two.
const REMEMBERED: usize = 64;

/// Looks charges up and remembers them: programs send messages of a few sizes over and over.
pub(crate) struct Costs {
    parameters: MpiParameters,
    /// (size and whether inside a node, charges), at a place that follows from the former.
    known: Box<[((u64, bool), Charges); REMEMBERED]>,
    /// Of the noise: of sends, receives and latencies.
    streams: [Stream; 3],
    /// Messages that each rank has sent, where there is noise.
    sent: Vec<u64>,
    /// Some messages are drawn.
    noisy: bool,
    /// Ranks whose messages cost what is expected.
    pub quiet: Vec<Range<u32>>,
}

impl Costs {
    pub fn new(parameters: MpiParameters, seed: u64) -> Costs {
        let streams = ["message send", "message receive", "message latency"].map(|name| Key::new(seed).purpose(name));
        let noisy = parameters.is_noisy();
        let known = Box::new([((0, false), Charges::default()); REMEMBERED]);
        let mut costs = Costs { parameters, known, streams, sent: Vec::new(), noisy, quiet: Vec::new() };
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

    /// What the next message of a rank is charged.
    #[cold]
    pub fn draw_next(&mut self, rank: u32, bytes: u64, inside: bool) -> Charges {
        if self.quiet.iter().any(|ranks| ranks.contains(&rank)) {
            return *self.of(bytes, inside);
        }
        let place = rank as usize;
        if self.sent.len() <= place {
            self.sent.resize(place + 1, 0);
        }
        self.sent[place] += 1;
        self.draw(rank, self.sent[place] - 1, bytes, inside)
    }

    /// What a message of a rank is charged, which is known by a number.
    pub fn draw(&mut self, rank: u32, number: u64, bytes: u64, inside: bool) -> Charges {
        let mut charges = *self.of(bytes, inside);
        let protocol = if inside { &self.parameters.inside } else { &self.parameters.between };
        let [send, receive, latency] = &self.streams;
        // One number does for both: a message is sent either way.
        for (function, stream, charge) in [
            (&protocol.send, send, &mut charges.send),
            (&protocol.isend, send, &mut charges.isend),
            (&protocol.receive, receive, &mut charges.receive),
        ] {
            if let Some(piece) = function.piece(bytes).filter(|piece| !piece.modes.is_empty()) {
                *charge = Time::from_secs(draw(piece, bytes, stream.word(rank, number)));
            }
        }
        if let Some(piece) = protocol.own_latency(charges.travelling).filter(|piece| !piece.modes.is_empty()) {
            charges.latency = Some(Time::from_secs(draw(piece, charges.travelling, latency.word(rank, number))));
        }
        charges
    }

    #[inline(never)]
    fn look_up(&mut self, bytes: u64, inside: bool) {
        let MpiParameters { between, inside: within, envelope, eager_below, detached_below, .. } = &self.parameters;
        let protocol = if inside { within } else { between };
        let Protocol { send, isend, receive, latency_factor, bandwidth_factor, .. } = protocol;
        let travelling = bytes + envelope;
        let own_latency = protocol.own_latency(travelling);
        let overhead = |function: &Piecewise| Time::from_secs(function.at(bytes).unwrap_or(0.0));
        let factor = |function: &Piecewise| function.at(travelling).unwrap_or(1.0);
        let charges = Charges {
            send: overhead(send),
            isend: overhead(isend),
            receive: overhead(receive),
            latency_factor: factor(latency_factor),
            latency: own_latency.map(|piece| Time::from_secs(piece.base + piece.per_byte * travelling as f64)),
            bandwidth_factor: factor(bandwidth_factor),
            travelling,
            eager: bytes < *eager_below,
            detached: bytes < *detached_below,
            noisy: self.noisy && is_noisy(protocol, bytes, own_latency),
        };
        self.known[place(bytes, inside)] = ((bytes, inside), charges);
    }
}

/// Whether anything is drawn for messages of that size.
#[cold]
fn is_noisy(protocol: &Protocol, bytes: u64, latency: Option<&Piece>) -> bool {
    let Protocol { send, isend, receive, .. } = protocol;
    let overheads = [send, isend, receive].into_iter().filter_map(|function| function.piece(bytes));
    overheads.chain(latency).any(|piece| !piece.modes.is_empty())
}

/// Where the charges for a size are kept.
#[inline]
fn place(bytes: u64, inside: bool) -> usize {
    let key = bytes << 1 | u64::from(inside);
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - REMEMBERED.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use hpcast_platform::protocol::Mode;

    use super::*;

    #[test]
    fn messages_of_quiet_ranks_cost_what_is_expected() {
        let mode = Mode { share: 1.0, mean: 1e-6, deviation: 2e-7 };
        let mut parameters = MpiParameters::default();
        parameters.between.send = Piecewise::new(vec![Piece::noisy(0, 0.0, vec![mode])]);
        let mut costs = Costs::new(parameters, 1);
        costs.quiet.push(2..4);
        let expected = costs.of(8, false).send;
        let drawn: Vec<bool> = (0..5).map(|rank| costs.draw_next(rank, 8, false).send == expected).collect();
        assert_eq!(drawn, [false, false, true, true, false]);
    }
}
