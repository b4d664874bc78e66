//! Points for Sobol' indices: two base samples A and B, and for each factor A with that factor's column of B.
//!
//! A. Saltelli, P. Annoni, I. Azzini, F. Campolongo, M. Ratto, S. Tarantola, "Variance based sensitivity analysis of model
//! output: design and estimator for the total sensitivity index", Comput. Phys. Commun. 181, 2010. A and B are halves of
//! one Sobol' sequence of twice as many dimensions as factors; where there are more factors than direction numbers,
//! halves of a Latin hypercube. Levels of a factor are equally likely.

use super::{Design, DesignError, Domain, Structure, latin, settings, sobol};

/// Where which point stands: for each row of the base samples first A, then A with each factor of B, then B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows of a base sample.
    pub base: usize,
    /// Factors.
    pub factors: usize,
}

impl Layout {
    /// The number of the row's point in A.
    pub fn a(&self, row: usize) -> usize {
        row * (self.factors + 2)
    }

    /// The number of the row's point in A with a factor as in B.
    pub fn mixed(&self, row: usize, factor: usize) -> usize {
        self.a(row) + 1 + factor
    }

    /// The number of the row's point in B.
    pub fn b(&self, row: usize) -> usize {
        self.a(row) + 1 + self.factors
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.a(self.base)
    }
}

pub(super) fn count(domains: &[Domain], base: usize) -> Result<u128, DesignError> {
    if base == 0 {
        return Err(DesignError::NoPoints);
    }
    Ok((base as u128).saturating_mul(domains.len() as u128 + 2))
}

pub(super) fn make(domains: &[Domain], base: usize, seed: u64) -> Design {
    let factors = domains.len();
    let rows = if 2 * factors <= sobol::DIMENSIONS {
        sobol::points(2 * factors, base, seed)
    } else {
        latin::hypercube(2 * factors, base, seed, 0)
    };
    let mut points = Vec::with_capacity(base * (factors + 2));
    for row in &rows {
        let (a, b) = row.split_at(factors);
        points.push(settings(domains, a.iter().copied()));
        for own in 0..factors {
            points.push(settings(domains, (0..factors).map(|other| if other == own { b[other] } else { a[other] })));
        }
        points.push(settings(domains, b.iter().copied()));
    }
    Design { points, structure: Structure::Saltelli(Layout { base, factors }) }
}
