//! Which points of a study are run: designs of experiments.
//!
//! A design knows how many points it has before it makes one, since a full factorial of ten factors is easily asked for
//! and never done. Same seed, same design: draws are keyed by the factor and the point, never by their order.

mod error;
pub mod fraction;
mod full;
mod latin;
pub mod morris;
mod one_at_a_time;
mod random;
mod range;
pub mod saltelli;
mod sobol;

pub use error::DesignError;
pub use fraction::{Fraction, Wanted};
pub use morris::Trajectories;
pub use range::{Range, RangeError, Scale};
pub use saltelli::Layout;

/// More points are never made, whatever the caller allows.
pub const MOST_POINTS: u128 = 10_000_000;

/// What a factor may be set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// One of some values.
    Levels {
        /// How many, at least one.
        count: usize,
        /// The number of the one that others are compared with.
        base: usize,
    },
    /// Anything between two ends.
    Range,
}

/// What a factor is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// The number of a level.
    Level(usize),
    /// The place in a range, from 0 (its low end) to 1 (its high end).
    Coordinate(f64),
}

/// Which points are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Every level of each factor with every level of all others.
    Full,
    /// The base, and all points that differ from it in one factor.
    OneAtATime,
    /// A part of the full factorial that is as even as can be: see [`fraction`].
    Fraction(Wanted),
    /// As many strata of each factor as there are points, each used once (McKay, Beckman, Conover 1979).
    LatinHypercube {
        /// How many points.
        points: usize,
    },
    /// Points by chance; of levels alone, each at most once.
    Random {
        /// How many points.
        points: usize,
    },
    /// For Sobol' indices: see [`saltelli`].
    Saltelli {
        /// Points of each of the two base samples, best a power of two.
        base: usize,
    },
    /// For elementary effects: see [`morris`].
    Morris {
        /// How often each factor is changed.
        trajectories: usize,
        /// Places on the grid of a factor: even, usually 4.
        grid: usize,
    },
}

/// Points, and what an analysis must know of how they were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// For each point, what each factor is set to.
    pub points: Vec<Vec<Setting>>,
    /// How they belong together.
    pub structure: Structure,
}

/// How the points of a design belong together.
#[derive(Clone, Debug, PartialEq)]
pub enum Structure {
    /// Each stands for itself.
    Plain,
    /// A part of a factorial, and what cannot be told apart in it.
    Fraction(Fraction),
    /// Points that differ from two base samples in a factor.
    Saltelli(Layout),
    /// Ways on which one factor changes a step.
    Morris(Trajectories),
}

impl Plan {
    /// How many points the design has, without making them; the largest number where it is even more.
    pub fn count(&self, domains: &[Domain]) -> Result<u128, DesignError> {
        check(domains)?;
        match *self {
            Plan::Full => full::count(domains),
            Plan::OneAtATime => one_at_a_time::count(domains),
            Plan::Fraction(wanted) => fraction::count(domains, wanted),
            Plan::LatinHypercube { points } => latin::count(points),
            Plan::Random { points } => random::count(domains, points),
            Plan::Saltelli { base } => saltelli::count(domains, base),
            Plan::Morris { trajectories, grid } => morris::count(domains, trajectories, grid),
        }
    }

    /// Makes the points.
    pub fn make(&self, domains: &[Domain], seed: u64) -> Result<Design, DesignError> {
        let count = self.count(domains)?;
        if count > MOST_POINTS {
            return Err(DesignError::TooMany { count });
        }
        let plain = |points| Design { points, structure: Structure::Plain };
        Ok(match *self {
            Plan::Full => plain(full::points(domains)),
            Plan::OneAtATime => plain(one_at_a_time::points(domains)),
            Plan::Fraction(wanted) => fraction::make(domains, wanted, seed)?,
            Plan::LatinHypercube { points } => plain(latin::points(domains, points, seed)),
            Plan::Random { points } => plain(random::points(domains, points, seed)),
            Plan::Saltelli { base } => saltelli::make(domains, base, seed),
            Plan::Morris { trajectories, grid } => morris::make(domains, trajectories, grid, seed),
        })
    }
}

impl Domain {
    /// The setting that belongs to a place in [0, 1]: levels share it evenly.
    pub fn at(self, place: f64) -> Setting {
        match self {
            Domain::Levels { count, .. } => Setting::Level(((place * count as f64) as usize).min(count - 1)),
            Domain::Range => Setting::Coordinate(place),
        }
    }

    /// The number of its levels; nothing for a range.
    pub fn levels(self) -> Option<usize> {
        match self {
            Domain::Levels { count, .. } => Some(count),
            Domain::Range => None,
        }
    }
}

fn check(domains: &[Domain]) -> Result<(), DesignError> {
    if domains.is_empty() {
        return Err(DesignError::NoFactors);
    }
    for (factor, domain) in domains.iter().enumerate() {
        match *domain {
            Domain::Levels { count: 0, .. } => return Err(DesignError::NoLevels { factor }),
            Domain::Levels { count, base } if base >= count => return Err(DesignError::Base { factor, base, count }),
            _ => {}
        }
    }
    Ok(())
}

fn settings(domains: &[Domain], places: impl Iterator<Item = f64>) -> Vec<Setting> {
    domains.iter().zip(places).map(|(domain, place)| domain.at(place)).collect()
}

/// The number of levels of each factor, where ranges have no place in the design.
fn level_counts(domains: &[Domain]) -> Result<Vec<usize>, DesignError> {
    let count = |(factor, domain): (usize, &Domain)| domain.levels().ok_or(DesignError::RangeInFactorial { factor });
    domains.iter().enumerate().map(count).collect()
}

#[cfg(test)]
mod tests;
