//! Parts of a full factorial that are as even as can be.
//!
//! **Two levels** (ranges count as two: their ends): regular fractions 2^(k-p). Some factors run through all their
//! combinations, each other one is the product of some of these. Products are searched for that give the highest
//! resolution, and among these few short words (minimum aberration: A. Fries, W. G. Hunter, Technometrics 22, 1980).
//! Resolution III keeps main effects apart from each other, IV from interactions of two factors, V these from each other.
//!
//! **More levels**: an array of any number of runs in which each level of a factor, and each pair of levels of two
//! factors, comes as evenly as can be (`near_orthogonal.rs`). Where the numbers allow, this is an orthogonal array.
//!
//! Where no fewer points will do, the result is the full factorial.

mod near_orthogonal;
mod regular;

use super::{Design, DesignError, Domain, Setting, Structure, full};
use regular::Columns;

/// Points of an array: improving it takes a time that grows with their third power, here some seconds.
const MOST_RUNS: usize = 512;

/// Which fraction is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// At most so many points; of a regular fraction the largest power of two that is not more.
    Runs(usize),
    /// As few points as give at least this resolution; with factors of more than two levels III alone.
    Resolution(usize),
}

/// What an effect is of: factors, by number, one for a main effect and two for an interaction.
pub type Effect = Vec<usize>;

/// What was left out, and what cannot be told apart for that.
#[derive(Clone, Debug, PartialEq)]
pub enum Fraction {
    /// Nothing was left out.
    Whole,
    /// A regular fraction of a factorial of two levels.
    Regular {
        /// The length of the shortest product of factors that is the same in all points.
        resolution: usize,
        /// Factors that are products of others.
        generators: Vec<Generator>,
        /// Main effects and interactions of two factors that cannot be told apart, a line each.
        aliases: Vec<Vec<Effect>>,
    },
    /// An array that is nearly orthogonal, or is.
    NearlyOrthogonal {
        /// Whether levels of each factor come equally often, give or take one.
        balanced: bool,
        /// Pairs of factors that depend on each other, and how much: Cramér's V, from 0 (not at all) to 1.
        dependent: Vec<(usize, usize, f64)>,
    },
}

/// A factor that is the product of others, levels counted as -1 and 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    /// The factor.
    pub factor: usize,
    /// Those that it is the product of.
    pub product: Vec<usize>,
}

/// What the factors allow.
enum Choice {
    Whole,
    Regular(Columns),
    Array { runs: usize },
}

pub(super) fn count(domains: &[Domain], wanted: Wanted) -> Result<u128, DesignError> {
    Ok(match choose(domains, wanted)? {
        Choice::Whole => full::count(&two_for_ranges(domains))?,
        Choice::Regular(columns) => 1 << columns.independent,
        Choice::Array { runs } => runs as u128,
    })
}

pub(super) fn make(domains: &[Domain], wanted: Wanted, seed: u64) -> Result<Design, DesignError> {
    let levels = two_for_ranges(domains);
    let varying: Vec<usize> = (0..domains.len()).filter(|&factor| levels[factor].levels() > Some(1)).collect();
    let (rows, fraction) = match choose(domains, wanted)? {
        Choice::Whole => (full::points(&levels), Fraction::Whole),
        Choice::Regular(columns) => (spread(columns.rows(), &varying, domains.len()), columns.describe(&varying)),
        Choice::Array { runs } => {
            let counts: Vec<usize> = varying.iter().filter_map(|&factor| levels[factor].levels()).collect();
            let array = near_orthogonal::array(&counts, runs, seed);
            let fraction = near_orthogonal::describe(&array, &counts, &varying);
            (spread(array, &varying, domains.len()), fraction)
        }
    };
    let setting = |(domain, level): (&Domain, &Setting)| match (domain, level) {
        (Domain::Range, Setting::Level(level)) => Setting::Coordinate(*level as f64),
        (_, level) => *level,
    };
    let points = rows.iter().map(|row| domains.iter().zip(row).map(setting).collect()).collect();
    Ok(Design { points, structure: Structure::Fraction(fraction) })
}

/// Factors that do not vary keep their only level.
fn spread(rows: Vec<Vec<usize>>, varying: &[usize], factors: usize) -> Vec<Vec<Setting>> {
    let spread = |row: Vec<usize>| {
        let mut point = vec![Setting::Level(0); factors];
        varying.iter().zip(row).for_each(|(&factor, level)| point[factor] = Setting::Level(level));
        point
    };
    rows.into_iter().map(spread).collect()
}

fn two_for_ranges(domains: &[Domain]) -> Vec<Domain> {
    let two = |domain: &Domain| if *domain == Domain::Range { Domain::Levels { count: 2, base: 0 } } else { *domain };
    domains.iter().map(two).collect()
}

fn choose(domains: &[Domain], wanted: Wanted) -> Result<Choice, DesignError> {
    let levels = two_for_ranges(domains);
    let all = full::count(&levels)?;
    let counts: Vec<usize> = levels.iter().filter_map(|domain| domain.levels()).filter(|&count| count > 1).collect();
    let more = levels.iter().position(|domain| domain.levels() > Some(2));
    match (wanted, more) {
        (Wanted::Resolution(resolution), _) if resolution < 3 => Err(DesignError::Resolution { resolution }),
        (Wanted::Runs(0), _) => Err(DesignError::NoPoints),
        (Wanted::Runs(runs), _) if runs as u128 >= all => Ok(Choice::Whole),
        (_, None) => regular::choose(counts.len(), wanted),
        (Wanted::Runs(runs), Some(_)) if runs > MOST_RUNS => Err(DesignError::TooManyRuns { runs, most: MOST_RUNS }),
        (Wanted::Runs(runs), Some(_)) => {
            let least = counts.iter().fold(1, |sum: u128, &count| sum.saturating_add(count as u128 - 1));
            let enough = runs as u128 >= least;
            if enough { Ok(Choice::Array { runs }) } else { Err(DesignError::TooFewRuns { runs, least }) }
        }
        (Wanted::Resolution(3), Some(_)) => Ok(array_of_resolution_three(&counts, all)),
        (Wanted::Resolution(resolution), Some(factor)) => {
            let count = levels[factor].levels().unwrap_or(0);
            Err(DesignError::ResolutionOfLevels { resolution, factor, count })
        }
    }
}

/// In an orthogonal array each pair of levels of two factors comes equally often, so the number of runs is a multiple of
/// what each two factors have in pairs; and there are as many runs as effects, at least.
fn array_of_resolution_three(counts: &[usize], all: u128) -> Choice {
    let effects = counts.iter().fold(1, |sum: u128, &count| sum.saturating_add(count as u128 - 1));
    let mut step: u128 = 1;
    for (i, a) in counts.iter().enumerate() {
        for b in &counts[..i] {
            step = least_multiple(step, (*a as u128).saturating_mul(*b as u128));
            if step >= all {
                return Choice::Whole;
            }
        }
    }
    let runs = effects.div_ceil(step).saturating_mul(step);
    match usize::try_from(runs) {
        Ok(runs) if (runs as u128) < all && runs <= MOST_RUNS => Choice::Array { runs },
        _ => Choice::Whole,
    }
}

fn least_multiple(a: u128, b: u128) -> u128 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}

#[cfg(test)]
mod tests;
