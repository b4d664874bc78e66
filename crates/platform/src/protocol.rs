//! What MPI adds to the network: protocol thresholds, overheads and factors by message size.
//!
//! This is the hybrid model of SMPI (seed: Cornebize's thesis, section 2.2 and figure 2.3; Degomme et al. 2017). Machine files
//! write it, and model files that were fitted to measurements: `read.rs`, `check.rs` and `write.rs` serve both.

mod check;
mod read;
mod write;

/// A function of the message size, linear on each piece: `base + per_byte * size`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piecewise {
    /// Sorted by `above`.
    pieces: Vec<Piece>,
}

/// One piece: applies to sizes strictly greater than `above`, up to the next piece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    /// The piece holds for sizes greater than this, in bytes.
    pub above: u64,
    /// Value at size 0 (seconds for an overhead, a pure number for a factor); where it is noisy, its expectation.
    pub base: f64,
    /// Slope per byte.
    pub per_byte: f64,
    /// Where the base is drawn for each message: what it is drawn from. Empty if it is always the same.
    pub modes: Vec<Mode>,
}

/// A mode of a noisy base: so many of all messages have it (thesis, section 5.3.1).
///
/// Within a mode the base has a half-normal distribution: a lower limit, and a tail to the right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mode {
    /// How many of all messages have it, as a part of 1.
    pub share: f64,
    /// Expectation, in seconds.
    pub mean: f64,
    /// Standard deviation, in seconds.
    pub deviation: f64,
}

impl Piece {
    /// A piece whose base is drawn for each message.
    pub fn noisy(above: u64, per_byte: f64, modes: Vec<Mode>) -> Piece {
        let base = modes.iter().map(|mode| mode.share * mode.mean).sum();
        Piece { above, base, per_byte, modes }
    }

    /// Gives it another expected base; what is drawn around it moves along.
    pub fn move_base(&mut self, base: f64) {
        self.modes.iter_mut().for_each(|mode| mode.mean += base - self.base);
        self.base = base;
    }
}

impl Piecewise {
    /// From pieces in any order.
    pub fn new(mut pieces: Vec<Piece>) -> Piecewise {
        pieces.sort_by_key(|piece| piece.above);
        Piecewise { pieces }
    }

    /// The same value for every size.
    pub fn constant(value: f64) -> Piecewise {
        Piecewise { pieces: vec![Piece { base: value, ..Piece::default() }] }
    }

    /// The pieces, sorted.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The piece that `size` belongs to. Sizes at or below the first threshold use the first piece.
    #[inline]
    pub fn piece(&self, size: u64) -> Option<&Piece> {
        self.pieces.iter().rev().find(|p| p.above < size).or(self.pieces.first())
    }

    /// The piece that begins above this size, to be changed.
    pub fn beginning_above(&mut self, above: u64) -> Option<&mut Piece> {
        self.pieces.iter_mut().find(|piece| piece.above == above)
    }

    /// The value at `size`, or its expectation; no pieces at all give `None`.
    #[inline]
    pub fn at(&self, size: u64) -> Option<f64> {
        self.piece(size).map(|piece| piece.base + piece.per_byte * size as f64)
    }

    /// Whether anything is drawn.
    pub fn is_noisy(&self) -> bool {
        self.pieces.iter().any(|piece| !piece.modes.is_empty())
    }

    /// Always as expected.
    pub fn without_noise(mut self) -> Piecewise {
        self.pieces.iter_mut().for_each(|piece| piece.modes.clear());
        self
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
    /// Seconds that a message travels before its first byte comes, in place of latency times factor. Sizes that it has no
    /// piece for take those.
    pub latency: Piecewise,
}

impl Protocol {
    /// All functions of the size, by the names that files give them.
    pub fn functions(&self) -> [(&'static str, &Piecewise); 6] {
        [
            ("send", &self.send),
            ("isend", &self.isend),
            ("receive", &self.receive),
            ("latency-factor", &self.latency_factor),
            ("latency", &self.latency),
            ("bandwidth-factor", &self.bandwidth_factor),
        ]
    }

    /// Applies something to all functions.
    fn map(self, change: impl Fn(Piecewise) -> Piecewise) -> Protocol {
        Protocol {
            send: change(self.send),
            isend: change(self.isend),
            receive: change(self.receive),
            latency_factor: change(self.latency_factor),
            latency: change(self.latency),
            bandwidth_factor: change(self.bandwidth_factor),
        }
    }

    /// What holds instead of latency times factor for messages of that size.
    #[inline]
    pub fn own_latency(&self, size: u64) -> Option<&Piece> {
        let first = self.latency.pieces().first()?;
        if first.above == 0 || first.above < size { self.latency.piece(size) } else { None }
    }

    /// Whether anything is drawn.
    pub fn is_noisy(&self) -> bool {
        self.functions().iter().any(|(_, function)| function.is_noisy())
    }
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

impl MpiParameters {
    /// Whether what messages cost is drawn for each of them.
    pub fn is_noisy(&self) -> bool {
        self.between.is_noisy() || self.inside.is_noisy()
    }

    /// Every message costs what is expected.
    pub fn without_noise(mut self) -> MpiParameters {
        self.between = self.between.map(Piecewise::without_noise);
        self.inside = self.inside.map(Piecewise::without_noise);
        self
    }
}
