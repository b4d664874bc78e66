//! Sobol' indices: which part of a response's variance is due to a factor.
//!
//! The first-order index is the part that goes when the factor alone is known, the total one the part that stays when all
//! others are. Estimators: first order A. Saltelli et al., Comput. Phys. Commun. 181, 2010, equation (b) of table 2; total
//! M. J. W. Jansen, Comput. Phys. Commun. 117, 1999. Intervals: bootstrap over rows of the design (G. E. B. Archer, A.
//! Saltelli, I. M. Sobol', J. Stat. Comput. Simul. 58, 1997), percentiles.

use hpcast_engine::random::Key;

use super::{AnalysisError, CONFIDENCE, data};
use crate::design::Layout;
use crate::frame::Frame;

/// Samples of the bootstrap.
const RESAMPLES: u32 = 1000;
/// Fewer rows say nothing.
const LEAST_ROWS: usize = 4;

/// The indices of all factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Indices {
    /// One a factor.
    pub factors: Vec<FactorIndices>,
    /// The variance of the response.
    pub variance: f64,
    /// Rows of the design that are complete, of how many.
    pub rows: (usize, usize),
}

/// The indices of a factor. By chance they may lie a little outside of 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorIndices {
    /// What is due to the factor alone.
    pub first: Index,
    /// What is due to the factor alone or together with others.
    pub total: Index,
}

/// An estimate of an index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Index {
    /// The estimate.
    pub value: f64,
    /// Where the true one lies with 95 % confidence.
    pub interval: (f64, f64),
}

/// From the runs of a design by [`crate::design::Plan::Saltelli`]; rows of which a run failed are left out.
pub fn indices(frame: &Frame, response: usize, layout: Layout, seed: u64) -> Result<Indices, AnalysisError> {
    let means = data::point_means(frame, response)?;
    if means.len() > layout.points() {
        return Err(AnalysisError::OtherDesign { expected: layout.points(), found: means.len() });
    }
    of_values(&means, layout, seed)
}

/// From the values of the points, in the order of the design.
pub fn of_values(values: &[Option<f64>], layout: Layout, seed: u64) -> Result<Indices, AnalysisError> {
    let row = |row: usize| -> Option<Vec<f64>> {
        (layout.a(row)..=layout.b(row)).map(|point| values.get(point).copied().flatten()).collect()
    };
    let rows: Vec<Vec<f64>> = (0..layout.base).filter_map(row).collect();
    if rows.len() < LEAST_ROWS {
        return Err(AnalysisError::TooFew { what: "rows of the design", found: rows.len(), needed: LEAST_ROWS });
    }
    let all: Vec<usize> = (0..rows.len()).collect();
    let (variance, found) = estimate(&rows, &all, layout.factors);
    let draws = Key::new(seed).purpose("bootstrap");
    let resampled: Vec<Vec<(f64, f64)>> = (0..RESAMPLES)
        .map(|sample| {
            let drawn: Vec<usize> =
                (0..rows.len() as u64).map(|index| draws.below(rows.len() as u64, sample, index) as usize).collect();
            estimate(&rows, &drawn, layout.factors).1
        })
        .collect();
    let factors = found.iter().enumerate().map(|(factor, &(first, total))| {
        let (firsts, totals) = resampled.iter().map(|sample| sample[factor]).unzip();
        FactorIndices { first: Index::new(first, firsts), total: Index::new(total, totals) }
    });
    Ok(Indices { factors: factors.collect(), variance, rows: (rows.len(), layout.base) })
}

/// The variance, and the first-order and total index of each factor. What does not vary depends on nothing.
fn estimate(rows: &[Vec<f64>], which: &[usize], factors: usize) -> (f64, Vec<(f64, f64)>) {
    let count = which.len() as f64;
    let both = |row: &usize| [rows[*row][0], rows[*row][factors + 1]];
    let mean = which.iter().flat_map(both).sum::<f64>() / (2.0 * count);
    let variance = which.iter().flat_map(both).map(|value| (value - mean).powi(2)).sum::<f64>() / (2.0 * count);
    let index = |factor: usize| {
        let (mut first, mut total) = (0.0, 0.0);
        for row in which.iter().map(|&row| &rows[row]) {
            let (a, mixed, b) = (row[0], row[1 + factor], row[1 + factors]);
            // Around the mean: the estimate is the same on average, and varies less.
            first += (b - mean) * (mixed - a);
            total += 0.5 * (a - mixed).powi(2);
        }
        if variance > 0.0 { (first / count / variance, total / count / variance) } else { (0.0, 0.0) }
    };
    (variance, (0..factors).map(index).collect())
}

impl Index {
    fn new(value: f64, mut resampled: Vec<f64>) -> Index {
        resampled.sort_by(f64::total_cmp);
        let last = resampled.len() as f64 - 1.0;
        let at = |p: f64| resampled[(p * last).round() as usize];
        let tail = 0.5 * (1.0 - CONFIDENCE);
        Index { value, interval: (at(tail), at(1.0 - tail)) }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::design::{Domain, Plan, Setting, Structure};

    fn run(factors: usize, base: usize, seed: u64, f: impl Fn(&[f64]) -> f64) -> Indices {
        let design = Plan::Saltelli { base }.make(&vec![Domain::Range; factors], seed).unwrap();
        let Structure::Saltelli(layout) = design.structure else { panic!() };
        let place = |setting: &Setting| match *setting {
            Setting::Coordinate(place) => place,
            Setting::Level(_) => panic!("a level"),
        };
        let value = |point: &Vec<Setting>| Some(f(&point.iter().map(place).collect::<Vec<_>>()));
        of_values(&design.points.iter().map(value).collect::<Vec<_>>(), layout, seed).unwrap()
    }

    fn assert_indices(found: &Indices, expected: &[(f64, f64)], tolerance: f64) {
        for (found, (first, total)) in found.factors.iter().zip(expected) {
            assert!((found.first.value - first).abs() < tolerance, "{found:?} {first}");
            assert!((found.total.value - total).abs() < tolerance, "{found:?} {total}");
        }
    }

    fn ishigami(x: &[f64]) -> f64 {
        let x: Vec<f64> = x.iter().map(|x| PI * (2.0 * x - 1.0)).collect();
        x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin()
    }

    /// T. Ishigami, T. Homma (1990) with a = 7, b = 0.1. Closed forms: V1 = (1 + b pi^4 / 5)^2 / 2, V2 = a^2 / 8,
    /// V13 = b^2 pi^8 (1/18 - 1/50).
    #[test]
    fn ishigami_function() {
        let (v1, v2) = (0.5 * (1.0 + 0.1 * PI.powi(4) / 5.0).powi(2), 49.0 / 8.0);
        let v13 = 0.01 * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
        let v = v1 + v2 + v13;
        let expected = [(v1 / v, (v1 + v13) / v), (v2 / v, v2 / v), (0.0, v13 / v)];
        assert!((expected[0].0 - 0.3139).abs() < 1e-4 && (expected[1].0 - 0.4424).abs() < 1e-4);
        let found = run(3, 4096, 1, ishigami);
        assert_indices(&found, &expected, 0.015);
        assert!((found.variance - v).abs() < 0.01 * v && found.rows == (4096, 4096));
    }

    /// Intervals hold the true index in about 95 of 100 cases; points that fill space evenly make it more.
    #[test]
    fn intervals_hold_what_they_say() {
        let mut inside = 0;
        for seed in 0..30 {
            let found = run(3, 256, seed, ishigami);
            for (index, truth) in found.factors.iter().zip([(0.31391, 0.55759), (0.44241, 0.44241), (0.0, 0.24368)]) {
                let holds = |index: Index, truth: f64| index.interval.0 <= truth && truth <= index.interval.1;
                inside += usize::from(holds(index.first, truth.0)) + usize::from(holds(index.total, truth.1));
            }
        }
        assert!(inside >= 165, "{inside} of 180");
    }

    /// I. M. Sobol's g function, a = (0, 1, 4.5, 9): V_i = 1 / (3 (1 + a_i)^2), V = prod(1 + V_i) - 1.
    #[test]
    fn g_function() {
        let a = [0.0, 1.0, 4.5, 9.0];
        let parts = a.map(|a| 1.0 / (3.0 * (1.0f64 + a).powi(2)));
        let all: f64 = parts.iter().map(|part| 1.0 + part).product();
        let indices = parts.map(|part| (part / (all - 1.0), part * all / (1.0 + part) / (all - 1.0)));
        let g = |x: &[f64]| x.iter().zip(a).map(|(x, a)| ((4.0 * x - 2.0).abs() + a) / (1.0 + a)).product();
        assert_indices(&run(4, 4096, 3, g), &indices, 0.01);
    }

    #[test]
    fn failed_runs_and_constants() {
        let layout = Layout { base: 8, factors: 2 };
        let mut values: Vec<Option<f64>> = (0..32).map(|i| Some(f64::from(i * i % 7))).collect();
        values[5] = None;
        assert_eq!(of_values(&values, layout, 0).unwrap().rows, (7, 8));
        assert!(of_values(&values[..12], layout, 0).unwrap_err().to_string().ends_with("; run at least 4"));
        let constant = of_values(&[Some(3.0); 32], layout, 0).unwrap();
        assert_eq!((constant.variance, constant.factors[1].total.value), (0.0, 0.0));
    }
}
