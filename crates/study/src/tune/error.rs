//! Why there is no such search.

use super::Options;

/// Why there is no such search.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TuneError {
    /// The factors are no space.
    #[error(transparent)]
    Space(#[from] crate::design::DesignError),
    /// Not even one run.
    #[error("a budget of {budget} does not pay for a full run; allow at least 1")]
    Budget {
        /// What was given.
        budget: f64,
    },
    /// A cheaper run that is none.
    #[error(
        "cheaper runs must cost more than nothing, less than a full run, and each more than the one before, which {cost} does not; give parts of a full run, such as 0.1"
    )]
    Cost {
        /// What was given.
        cost: f64,
    },
    /// A number that was not asked for.
    #[error("run {number} was not asked for; tell results of the {count} that were")]
    UnknownTrial {
        /// What was told.
        number: usize,
        /// How many were asked for.
        count: usize,
    },
    /// A result that came twice.
    #[error("the result of run {number} was told before; tell each once")]
    ToldBefore {
        /// Its number.
        number: usize,
    },
}

pub(super) fn check(options: &Options) -> Result<(), TuneError> {
    if !(options.budget >= 1.0 && options.budget.is_finite()) {
        return Err(TuneError::Budget { budget: options.budget });
    }
    let mut before = 0.0;
    for &cost in &options.cheaper {
        if !(cost > before && cost < 1.0) {
            return Err(TuneError::Cost { cost });
        }
        before = cost;
    }
    Ok(())
}
