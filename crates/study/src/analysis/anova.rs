//! Analysis of variance: which factors, and which pairs of them, matter, and how much.
//!
//! Sums of squares are of type II (F. Yates, J. Am. Stat. Assoc. 29, 1934): what a term explains beyond all terms that do
//! not contain it, found by comparing least-squares fits. So the design need not be balanced; where it is, the sums are the
//! usual ones and add up.
//!
//! What terms are tested against is said in [`Noise`]: repetitions where runs of a point differ, otherwise what the model
//! leaves unexplained, that is interactions of more factors. Where there is neither, shares of the variance are still
//! right, and nothing is tested.

mod model;

use hpcast_stats::FisherF;
use hpcast_stats::least_squares::Nested;

use super::{AnalysisError, data};
use crate::frame::Frame;
pub use model::Coding;
pub(super) use model::{Terms, is_wide};

/// Of the values: squares of differences that are smaller are rounding.
const ROUNDING: f64 = 1e-11;

/// An analysis of variance.
#[derive(Clone, Debug, PartialEq)]
pub struct Anova {
    /// Main effects in the order of the factors, then interactions of two.
    pub terms: Vec<Term>,
    /// With repetitions, what interactions of more factors explain, and other effects that are not in the model.
    pub rest: Option<Term>,
    /// What terms are tested against.
    pub noise: Noise,
    /// The sum of squares that is noise, and its degrees of freedom.
    pub error: (f64, usize),
    /// The sum of squares of all values around their mean, and its degrees of freedom.
    pub total: (f64, usize),
    /// The mean of all values.
    pub mean: f64,
    /// How each factor is in the model; nothing where it does not vary.
    pub codings: Vec<Option<Coding>>,
    /// Whether interactions of two factors are in the model.
    pub interactions: bool,
    /// Rows without a value.
    pub missing: usize,
}

/// What one effect explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// One factor, or two for their interaction; none for all that is not in the model.
    pub factors: Vec<usize>,
    /// Degrees of freedom; zero where the design cannot tell the effect from others.
    pub freedom: usize,
    /// The sum of squares.
    pub squares: f64,
    /// The part of the total sum of squares.
    pub share: f64,
    /// The F test, where there is noise to test against.
    pub test: Option<Test>,
}

/// An F test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The quotient of mean squares.
    pub f: f64,
    /// The probability of at least that if there were no effect.
    pub p: f64,
}

/// What effects are tested against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Runs of the same point.
    Repetitions,
    /// Interactions of at least this many factors, which are taken for noise: nothing is repeated, or nothing varies when
    /// it is.
    Interactions {
        /// Of how many factors.
        of: usize,
    },
    /// Nothing: the model has as many effects as there are points.
    Saturated,
    /// Nothing: the model explains all values exactly, as happens with runs without chance.
    Exact,
}

impl Anova {
    /// Of the values of a response.
    pub fn new(frame: &Frame, response: usize) -> Result<Anova, AnalysisError> {
        let known = data::known(frame, response)?;
        let rows: Vec<usize> = known.iter().map(|(row, _)| *row).collect();
        let mean = known.iter().map(|(_, value)| value).sum::<f64>() / known.len() as f64;
        let values: Vec<f64> = known.iter().map(|(_, value)| value - mean).collect();
        let largest = known.iter().fold(0.0, |largest: f64, (_, value)| largest.max(value.abs()));
        let groups = data::by_levels(frame, &known);
        let repeated = Repeated {
            squares: groups.values().map(|values| squares_around_mean(values)).sum(),
            freedom: known.len() - groups.len(),
            groups: groups.len(),
            rounding: (ROUNDING * largest).powi(2) * known.len() as f64,
        };
        let mut terms = Terms::new(frame, &rows, groups.len(), true)?;
        let mut nested = Nested::new(&terms.columns, &values);
        if terms.has_interactions() && nested.model(&terms.all()).rank >= groups.len() && !repeated.is_noise() {
            // Nothing would be left to test against.
            terms = Terms::new(frame, &rows, groups.len(), false)?;
            nested = Nested::new(&terms.columns, &values);
        }
        let squares: f64 = values.iter().map(|value| value * value).sum();
        let total = (if squares <= repeated.rounding { 0.0 } else { squares }, known.len() - 1);
        let missing = frame.rows() - known.len();
        Ok(table(&terms, &nested, &repeated, total).with(mean, missing))
    }

    fn with(self, mean: f64, missing: usize) -> Anova {
        Anova { mean, missing, ..self }
    }

    /// The standard deviation of noise; nothing where none is known.
    pub fn deviation(&self) -> Option<f64> {
        (self.error.1 > 0).then(|| (self.error.0 / self.error.1 as f64).sqrt())
    }
}

/// What runs of the same point say.
struct Repeated {
    squares: f64,
    freedom: usize,
    groups: usize,
    rounding: f64,
}

impl Repeated {
    fn is_noise(&self) -> bool {
        self.freedom > 0 && self.squares > self.rounding
    }
}

fn table(terms: &Terms, nested: &Nested, repeated: &Repeated, total: (f64, usize)) -> Anova {
    let model = nested.model(&terms.all());
    let order = if terms.has_interactions() { 2 } else { 1 };
    let (noise, error) = if repeated.is_noise() {
        (Noise::Repetitions, (repeated.squares, repeated.freedom))
    } else if repeated.groups <= model.rank {
        (Noise::Saturated, (0.0, 0))
    } else if model.squares <= repeated.rounding {
        (Noise::Exact, (0.0, 0))
    } else {
        // Equal repetitions say nothing new: only as many differences are left as there are points.
        let freedom = repeated.groups - model.rank;
        (Noise::Interactions { of: order + 1 }, (model.squares, freedom))
    };
    let term = |factors: Vec<usize>, squares: f64, freedom: usize| {
        // Equal repetitions count as often as they are there, in the squares of terms and of the error alike.
        let squares = if squares <= repeated.rounding { 0.0 } else { squares };
        let share = if total.0 > 0.0 { squares / total.0 } else { 0.0 };
        Term { factors, freedom, squares, share, test: test((squares, freedom), error) }
    };
    let rest = (noise == Noise::Repetitions && repeated.groups > model.rank)
        .then(|| term(Vec::new(), (model.squares - repeated.squares).max(0.0), repeated.groups - model.rank));
    let explained = terms.effects.iter().map(|effect| {
        let without = terms.not_containing(effect);
        let with: Vec<usize> = without.iter().copied().chain(terms.of(effect)).collect();
        let (without, with) = (nested.model(&without), nested.model(&with));
        term(effect.clone(), without.squares - with.squares, with.rank - without.rank)
    });
    let interactions = terms.has_interactions();
    let terms_found = explained.collect();
    let codings = terms.codings.clone();
    Anova { terms: terms_found, rest, noise, error, total, mean: 0.0, codings, interactions, missing: 0 }
}

fn test((squares, freedom): (f64, usize), error: (f64, usize)) -> Option<Test> {
    if freedom == 0 || error.1 == 0 {
        return None;
    }
    let (numerator, denominator) = (freedom as f64, error.1 as f64);
    let f = (squares / numerator) / (error.0 / denominator);
    Some(Test { f, p: FisherF { numerator, denominator }.above(f) })
}

fn squares_around_mean(values: &[f64]) -> f64 {
    // Around the first: what is constant has no variance, not even by rounding.
    let mean = values[0] + values.iter().map(|value| value - values[0]).sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests;
