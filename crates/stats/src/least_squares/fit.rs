//! Coefficients and their uncertainty, from the triangle.

use super::{FitError, Problem};
use crate::distributions::StudentT;
use crate::least_squares::triangle::Triangle;
use crate::matrix::Matrix;

/// What is left of a column beside the others, relative to the column, must be more than this; a coefficient would have
/// fewer than six right digits otherwise.
const INDEPENDENCE: f64 = 1e-10;

/// Residuals that are smaller, relative to the values, are rounding and not noise.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Coefficients that make the squares of the residuals least.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// One a column, in their order.
    pub estimates: Vec<Estimate>,
    /// Of the coefficients.
    pub covariance: Matrix,
    /// Sum of the residuals' squares, times their weights, over the degrees of freedom.
    pub residual_variance: f64,
    /// The part of the values' squares that is explained: around their mean if a column is constant, around zero if none
    /// is.
    pub r_squared: f64,
    /// Rows less columns.
    pub freedom: usize,
}

/// The coefficient of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The column's name.
    pub name: String,
    /// The coefficient.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// How many standard errors it is from zero.
    pub t: f64,
    /// The probability of a `t` at least that large if the coefficient were zero and the noise normal and even.
    pub p: f64,
}

impl Fit {
    /// The coefficients.
    pub fn coefficients(&self) -> impl Iterator<Item = f64> {
        self.estimates.iter().map(|estimate| estimate.value)
    }

    /// The value that is expected where the columns are `row`.
    pub fn at(&self, row: impl IntoIterator<Item = f64>) -> f64 {
        self.coefficients().zip(row).map(|(coefficient, value)| coefficient * value).sum()
    }
}

pub fn solve(problem: &Problem, columns: &[usize]) -> Result<Fit, FitError> {
    let count = columns.len();
    let with_values: Vec<usize> = columns.iter().copied().chain([problem.columns.len()]).collect();
    let triangle = problem.triangle.of_columns(&with_values);
    check_independence(&triangle, |column| problem.columns[columns[column]].name)?;
    let unit = 1.0 / problem.scales[problem.columns.len()];
    let units: Vec<f64> = columns.iter().map(|&column| problem.scales[column] * unit).collect();
    let freedom = problem.rows - count;
    let residual = triangle.at(count, count).abs().max(ROUNDING * triangle.norm(count));
    let variance = residual.powi(2) / freedom as f64;
    let covariance = covariance(&triangle, variance, &units);
    let values = triangle.solve((0..count).map(|row| triangle.at(row, count)).collect());
    let estimates = (0..count)
        .map(|i| {
            let standard_error = covariance[(i, i)].sqrt();
            let name = problem.columns[columns[i]].name;
            Estimate::new(name, values[i] * units[i], standard_error, freedom)
        })
        .collect();
    let has_constant = columns.iter().any(|&column| problem.is_constant[column]);
    let total = if has_constant { problem.around_mean } else { triangle.norm(count).powi(2) };
    let r_squared = if total > 0.0 { 1.0 - triangle.at(count, count).powi(2) / total } else { 1.0 };
    Ok(Fit { estimates, covariance, residual_variance: variance * unit.powi(2), r_squared, freedom })
}

impl Estimate {
    fn new(name: &str, value: f64, standard_error: f64, freedom: usize) -> Estimate {
        // All values are zero: nothing is significant.
        let t = if value == 0.0 { 0.0 } else { value / standard_error };
        let p = StudentT { freedom: freedom as f64 }.two_sided(t);
        Estimate { name: name.into(), value, standard_error, t, p }
    }
}

fn check_independence<'a>(triangle: &Triangle, name: impl Fn(usize) -> &'a str) -> Result<(), FitError> {
    for column in 0..triangle.width() - 1 {
        let norm = triangle.norm(column);
        if norm == 0.0 {
            return Err(FitError::Zero { name: name(column).into() });
        }
        if triangle.at(column, column).abs() > INDEPENDENCE * norm {
            continue;
        }
        // The combination of the columns before that makes this one; what is small in it is rounding.
        let parts = triangle.solve((0..column).map(|row| triangle.at(row, column)).collect());
        let is_part = |&other: &usize| (parts[other] * triangle.norm(other)).abs() > 1e-6 * norm;
        let others = (0..column).filter(is_part).map(|other| name(other).into()).collect();
        return Err(FitError::Collinear { name: name(column).into(), others });
    }
    Ok(())
}

/// variance * inverse(R' R), in the units of the coefficients.
fn covariance(triangle: &Triangle, variance: f64, units: &[f64]) -> Matrix {
    let count = units.len();
    let unit_vector = |i: usize| (0..count).map(|row| f64::from(row == i)).collect();
    let inverse: Vec<Vec<f64>> = (0..count).map(|i| triangle.solve(unit_vector(i))).collect();
    let mut matrix = Matrix::zeros(count, count);
    for i in 0..count {
        for j in 0..count {
            let sum: f64 = inverse.iter().map(|column| column[i] * column[j]).sum();
            matrix[(i, j)] = variance * sum * units[i] * units[j];
        }
    }
    matrix
}
