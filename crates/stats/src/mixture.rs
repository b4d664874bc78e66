//! Mixtures of normal distributions: noise with several modes, such as calls that are now and then ten times slower.
//!
//! T. Cornebize's thesis, section 5.1, noise option N'.

mod fit;

use crate::normal;

/// A sum of normal distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    modes: Vec<Mode>,
    log_likelihood: f64,
    bic: f64,
}

/// One of the normal distributions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The part of all values that it makes.
    pub weight: f64,
    /// Its expectation.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

/// Why values cannot be described by a mixture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MixtureError {
    /// Too few for a single normal distribution.
    #[error("{found} values are too few for a distribution")]
    TooFew {
        /// How many there are.
        found: usize,
    },
    /// NaN or infinite.
    #[error("value {place} is not a finite number")]
    NotFinite {
        /// From 0.
        place: usize,
    },
    /// All values are the same.
    #[error("all {found} values are equal")]
    NoSpread {
        /// How many there are.
        found: usize,
    },
    /// At least one is needed.
    #[error("a mixture has at least one mode")]
    NoModes,
}

impl MixtureError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            MixtureError::TooFew { .. } => "measure at least three values",
            MixtureError::NotFinite { .. } => "leave that value out, or correct it",
            MixtureError::NoSpread { .. } => "use the value itself: there is no noise",
            MixtureError::NoModes => "allow for one mode or more",
        }
    }
}

impl Mixture {
    /// Fits mixtures of one to `most` modes to the values, and takes the one with the lowest BIC (G. Schwarz, "Estimating
    /// the dimension of a model", Annals of Statistics 6(2), 1978).
    ///
    /// The same values give the same mixture: nothing is drawn.
    pub fn fit(values: &[f64], most: usize) -> Result<Mixture, MixtureError> {
        fit::best(values, most)
    }

    /// Sorted by their expectations.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The logarithm of the likelihood of the values that it was fitted to.
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// What it was chosen by: the less, the better.
    pub fn bic(&self) -> f64 {
        self.bic
    }

    /// The expectation.
    pub fn expectation(&self) -> f64 {
        self.modes.iter().map(|mode| mode.weight * mode.mean).sum()
    }

    /// The probability of at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        self.modes.iter().map(|mode| mode.weight * normal::cdf((x - mode.mean) / mode.deviation)).sum()
    }

    /// The draw that belongs to a uniform number in [0, 1): one number chooses the mode and the place in it.
    pub fn draw(&self, uniform: f64) -> f64 {
        let mut rest = uniform;
        let (last, others) = self.modes.split_last().expect("a mixture has a mode");
        let mode = others.iter().find(|mode| {
            let is_in = rest < mode.weight;
            rest -= if is_in { 0.0 } else { mode.weight };
            is_in
        });
        let mode = mode.unwrap_or(last);
        mode.mean + mode.deviation * normal::draw(rest / mode.weight)
    }
}

#[cfg(test)]
mod tests;
