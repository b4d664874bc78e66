//! What can be wrong with points to fit.

use super::Objective;

/// Points that no piecewise line can be fitted to, and what to do about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PiecewiseError {
    /// Fewer points than a line has parameters.
    #[error("{found} points are too few for a line and its noise: give at least {needed}")]
    TooFew {
        /// Points given.
        found: usize,
        /// Points needed.
        needed: usize,
    },
    /// A coordinate that is no number.
    #[error("point {index} is ({x}, {y}): leave out what was not measured, infinite or not a number")]
    NotFinite {
        /// Place in the list, from 0.
        index: usize,
        /// Its first coordinate.
        x: f64,
        /// Its second coordinate.
        y: f64,
    },
    /// A coordinate that the objective cannot weigh.
    #[error(
        "point {index} is ({x}, {y}), but the {objective} objective needs {what} above 0: leave the point out, or fit \
         with the ordinary objective"
    )]
    NotPositive {
        /// Place in the list, from 0.
        index: usize,
        /// Its first coordinate.
        x: f64,
        /// Its second coordinate.
        y: f64,
        /// The objective asked for.
        objective: Objective,
        /// Which coordinates must be positive.
        what: &'static str,
    },
    /// No line is defined by points above each other.
    #[error("all {points} points are at x = {x}: a line needs points at two or more places")]
    OnePlace {
        /// Points given.
        points: usize,
        /// Where they are.
        x: f64,
    },
    /// A coordinate so large or small that sums of squares could overflow or vanish.
    #[error("point {index} is ({x}, {y}): choose units in which all values but 0 lie between 1e-70 and 1e70")]
    OutOfRange {
        /// Place in the list, from 0.
        index: usize,
        /// Its first coordinate.
        x: f64,
        /// Its second coordinate.
        y: f64,
    },
}
