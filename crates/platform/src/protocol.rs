//! What MPI adds to the network: protocol thresholds, overheads and factors by message size.
//!
//! This is the hybrid model of SMPI (seed: Cornebize's thesis, section 2.2 and figure 2.3; Degomme et al. 2017).

/// A function of the message size, linear on each piece: `base + per_byte * size`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piecewise {
    /// Sorted by `above`.
    pieces: Vec<Piece>,
}

/// One piece: applies to sizes strictly greater than `above`, up to the next piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The piece holds for sizes greater than this, in bytes.
    pub above: u64,
    /// Value at size 0 (seconds for an overhead, a pure number for a factor).
    pub base: f64,
    /// Slope per byte.
    pub per_byte: f64,
}

impl Piecewise {
    /// From pieces in any order.
    pub fn new(mut pieces: Vec<Piece>) -> Piecewise {
        pieces.sort_by_key(|piece| piece.above);
        Piecewise { pieces }
    }

    /// The same value for every size.
    pub fn constant(value: f64) -> Piecewise {
        Piecewise { pieces: vec![Piece { above: 0, base: value, per_byte: 0.0 }] }
    }

    /// The pieces, sorted.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The value at `size`. Sizes at or below the first threshold use the first piece; no pieces at all give `None`.
    #[inline]
    pub fn at(&self, size: u64) -> Option<f64> {
        let piece = self.pieces.iter().rev().find(|p| p.above < size).or(self.pieces.first())?;
        Some(piece.base + piece.per_byte * size as f64)
    }
}

/// Overheads and factors of messages, either between nodes or inside one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Protocol {
    /// Seconds that a blocking send keeps the sender (`smpi/os`).
    pub send: Piecewise,
    /// Seconds that a non-blocking send keeps the sender (`smpi/ois`).
    pub isend: Piecewise,
    /// Seconds that a receive keeps the receiver after the data has come (`smpi/or`).
    pub receive: Piecewise,
    /// Multiplies the latency of the route (`smpi/lat-factor`).
    pub latency_factor: Piecewise,
    /// Multiplies the bandwidth of the route (`smpi/bw-factor`).
    pub bandwidth_factor: Piecewise,
}

/// How the cost of an unsuccessful probe or test grows when the caller keeps polling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PollGrowth {
    /// Every poll costs the same.
    #[default]
    Off,
    /// The n-th unsuccessful poll of a rank in a row costs n times as much.
    PerRank,
    /// As SMPI: one counter for all ranks, reset by any success.
    Global,
}

/// All that a machine file says of MPI. By default nothing costs anything, and every message waits for its receiver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MpiParameters {
    /// Messages smaller than this leave at once, whether or not the receiver is ready (`smpi/async-small-thresh`).
    pub eager_below: u64,
    /// A standard send of a message smaller than this does not wait for the receiver
    /// (`smpi/send-is-detached-thresh`); never less than `eager_below`.
    pub detached_below: u64,
    /// Bytes that travel with every message beside its data.
    pub envelope: u64,
    /// Messages between two nodes.
    pub between: Protocol,
    /// Messages inside a node.
    pub inside: Protocol,
    /// Seconds that one probe takes (`smpi/iprobe`).
    pub probe: f64,
    /// Seconds that one test takes (`smpi/test`).
    pub test: f64,
    /// How repeated polling grows in cost.
    pub poll_growth: PollGrowth,
    /// Seconds to combine one byte in a reduction.
    pub reduce_per_byte: f64,
}
