//! What messages cost, from measured sends, receives and ping-pongs.
//!
//! The method is that of T. Cornebize's thesis (2021), section 5.3: durations are averaged by message size, the averages
//! are fitted by lines over ranges of sizes, and what single calls differ by is described by a mixture for each range. The
//! time on the network is what half a ping-pong takes, less what the two ends are busy with.
//!
//! The parts of a ping-pong cannot take longer than the whole. Measured ones do: a send may return after the message has
//! come, and a receive may have waited for it. A simulation adds them up, so they are shortened in proportion.

mod curve;
mod errors;
pub mod import;
pub mod measurements;
mod noise;
mod transfer;

use hpcast_models::network::{NetworkFit, NetworkModel};
use hpcast_platform::Protocol;
use hpcast_platform::protocol::Piece;
use hpcast_stats::piecewise::{Objective, PiecewiseError, Strategy};

use crate::table::TableError;
use curve::{Curve, Sizes};
pub use measurements::{Measurements, Operation, Place};

/// How to fit.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Which errors are squared and added up. Only logarithmic ones work for all data (thesis, figure 5.7).
    pub objective: Objective,
    /// How ranges are found.
    pub strategy: Strategy,
    /// Modes of the noise of a range, at most; 0 for no noise.
    pub modes: usize,
    /// Messages smaller than this do not wait for their receiver: only then a send and a receive keep their ends busy.
    pub detached_below: u64,
    /// Bandwidth between nodes and inside a node, in bytes per second, that factors are to multiply.
    pub bandwidth: [f64; 2],
    /// As SMPI's calibration does it: of half a ping-pong only a receive is taken off, not a send; and the two may take
    /// longer than the whole.
    pub as_smpi: bool,
}

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// Not such a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A row of something else.
    #[error("line {line}: `{text}` is {what} that is not known")]
    Unknown {
        /// Line of the file, from 1.
        line: u64,
        /// What stands there.
        text: String,
        /// What it should be.
        what: &'static str,
    },
    /// Nothing fits.
    #[error("{function}: {error}")]
    Fit {
        /// Such as `between.send`.
        function: String,
        /// Why.
        error: PiecewiseError,
    },
    /// Of all that was measured nothing can be used.
    #[error("nothing was measured that a network model is made of")]
    Nothing,
    /// A table of models with something in it that is none.
    #[error("{0}")]
    Malformed(String),
    /// No rows of that set.
    #[error("there is no set `{wanted}`; the file has {}", .sets.join(", "))]
    NoSet {
        /// The set asked for.
        wanted: String,
        /// What there is.
        sets: Vec<String>,
    },
}

impl NetworkError {
    /// The line in question.
    pub fn line(&self) -> Option<u64> {
        match self {
            NetworkError::Table(error) => error.line(),
            NetworkError::Unknown { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            NetworkError::Table(TableError::NoColumn { .. }) => {
                "the columns are operation, size, seconds and, if you like, where; name others with `--column size=bytes`"
            }
            NetworkError::Table(error) => error.remedy(),
            NetworkError::Unknown { what: "a place", .. } => "write between or inside (or remote, loopback)",
            NetworkError::Unknown { .. } => {
                "say what it is: `--operation NAME=ping-pong`; there are isend, send, receive, ping-pong, transfer, probe, \
                 test and ignore"
            }
            NetworkError::Fit { .. } => "measure more sizes, and leave out values that cannot be",
            NetworkError::Nothing => "measure isend, send, receive or ping-pong, for several sizes",
            NetworkError::Malformed(_) => "correct the file",
            NetworkError::NoSet { .. } => "choose one of them with --set",
        }
    }
}

/// Fits a model to all that was measured.
pub fn fit(measured: &Measurements, recipe: &Recipe) -> Result<NetworkModel, NetworkError> {
    let mut findings = NetworkFit::default();
    let mut model = NetworkModel {
        probe: measured.mean(Operation::Probe),
        test: measured.mean(Operation::Test),
        ..NetworkModel::default()
    };
    let [between, inside] = [Place::Between, Place::Inside].map(|place| {
        let fitter = Fitter { measured, recipe, place, findings: &mut findings };
        fitter.protocol()
    });
    (model.between, model.inside) = (between?, inside?);
    if model == NetworkModel::default() {
        return Err(NetworkError::Nothing);
    }
    model.fit = Some(findings);
    Ok(model)
}

/// Fits what was measured in one place.
struct Fitter<'m> {
    measured: &'m Measurements,
    recipe: &'m Recipe,
    place: Place,
    findings: &'m mut NetworkFit,
}

impl Fitter<'_> {
    fn protocol(mut self) -> Result<Protocol, NetworkError> {
        let mut protocol = Protocol::default();
        let isend = Sizes::new(self.calls(Operation::Isend));
        if !isend.is_empty() {
            protocol.isend = self.overhead("isend", &isend)?.into_piecewise(None);
        }
        // Beyond this, who sends and who receives waits for the transfer, and nothing else is charged.
        let end = self.recipe.detached_below;
        let rest = (end > 0).then(|| Piece { above: end.saturating_sub(1), ..Piece::default() });
        let mut ends =
            [Operation::Send, Operation::Receive].map(|operation| Sizes::new(self.calls(operation)).below(end));
        self.shorten(&mut ends)?;
        let [send, receive] = &ends;
        if !send.is_empty() {
            protocol.send = self.overhead("send", send)?.into_piecewise(rest.clone());
        }
        if !receive.is_empty() {
            protocol.receive = self.overhead("receive", receive)?.into_piecewise(rest);
        }
        self.transfer(&mut protocol)?;
        Ok(protocol)
    }

    fn calls(&self, operation: Operation) -> &[(f64, f64)] {
        self.measured.of(self.place, operation)
    }

    fn name(&self, function: &str) -> String {
        format!("{}.{function}", self.place.word())
    }

    fn overhead(&mut self, function: &str, sizes: &Sizes) -> Result<Curve, NetworkError> {
        let name = self.name(function);
        let mut curve = Curve::fit(sizes, self.recipe, &name)?;
        self.findings.ranges.extend(curve.how_well(sizes, &name));
        self.findings.warnings.extend(curve.misses(sizes, &name));
        if self.recipe.modes > 0 {
            for line in &mut curve.lines {
                line.modes = noise::modes(&sizes.within(line).residuals(line), line.intercept, self.recipe.modes);
            }
        }
        Ok(curve)
    }
}

#[cfg(test)]
mod tests;
