//! Linear least squares: values as a sum of columns with coefficients, with the uncertainty of these.

mod error;
mod fit;
mod nested;
mod triangle;

pub use error::FitError;
pub use fit::{Estimate, Fit};
pub use nested::{Model, Nested};

use triangle::{BLOCK, Triangle};

/// A term: its value in every row.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Such as `M*N*K`.
    pub name: &'a str,
    /// One a row.
    pub values: &'a [f64],
}

/// Fits `values` by a sum of the columns; a constant is a column of ones.
///
/// Rows count by their weights, which are proportional to one over the variance of the values; without, all count alike.
pub fn fit(columns: &[Column], values: &[f64], weights: Option<&[f64]>) -> Result<Fit, FitError> {
    Problem::new(columns, values, weights)?.fit()
}

/// Least squares of values on columns, of which all or some may be used.
///
/// The data are gone through once; a fit takes microseconds then.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    columns: Vec<Column<'a>>,
    is_constant: Vec<bool>,
    /// Powers of two that bring the columns, and the values as the last one, to about 1.
    scales: Vec<f64>,
    triangle: Triangle,
    /// Rows that have a weight.
    rows: usize,
    /// The weighted sum of squares of the scaled values around their mean.
    around_mean: f64,
}

impl<'a> Problem<'a> {
    /// Takes in all data.
    pub fn new(columns: &[Column<'a>], values: &[f64], weights: Option<&[f64]>) -> Result<Problem<'a>, FitError> {
        let rows = counting_rows(values.len(), weights)?;
        if columns.is_empty() {
            return Err(FitError::NoColumns);
        }
        let all: Vec<Column> = columns.iter().copied().chain([Column { name: "values", values }]).collect();
        let scales = all.iter().map(|column| scale(column, values.len())).collect::<Result<Vec<f64>, FitError>>()?;
        if rows <= columns.len() {
            return Err(FitError::TooFewRows { rows, columns: columns.len() });
        }
        let is_constant = columns.iter().map(|column| column.values.iter().all(|x| *x == column.values[0])).collect();
        let triangle = factorise(&all, &scales, weights);
        let around_mean = sum_around_mean(values, weights) * scales[columns.len()].powi(2);
        Ok(Problem { columns: columns.into(), is_constant, scales, triangle, rows, around_mean })
    }

    /// The columns.
    pub fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    /// The fit with all columns.
    pub fn fit(&self) -> Result<Fit, FitError> {
        fit::solve(self, &(0..self.columns.len()).collect::<Vec<_>>())
    }

    /// The fit with some of the columns, by their numbers.
    pub fn fit_with(&self, columns: &[usize]) -> Result<Fit, FitError> {
        if columns.is_empty() {
            return Err(FitError::NoColumns);
        }
        fit::solve(self, columns)
    }
}

fn counting_rows(rows: usize, weights: Option<&[f64]>) -> Result<usize, FitError> {
    let Some(weights) = weights else { return Ok(rows) };
    if weights.len() != rows {
        return Err(FitError::Length { name: "weights".into(), found: weights.len(), expected: rows });
    }
    match weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
        Some(row) => Err(FitError::Weight { row }),
        None => Ok(weights.iter().filter(|weight| **weight > 0.0).count()),
    }
}

/// A power of two: what is multiplied by it keeps all its digits.
fn scale(column: &Column, rows: usize) -> Result<f64, FitError> {
    let name = || column.name.to_owned();
    if column.values.len() != rows {
        return Err(FitError::Length { name: name(), found: column.values.len(), expected: rows });
    }
    if let Some(row) = column.values.iter().position(|value| !value.is_finite()) {
        return Err(FitError::NotFinite { name: name(), row });
    }
    let largest = column.values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let exponent = if largest > 0.0 { largest.log2().floor().clamp(-1000.0, 1000.0) } else { 0.0 };
    Ok((-exponent).exp2())
}

fn factorise(columns: &[Column], scales: &[f64], weights: Option<&[f64]>) -> Triangle {
    let mut triangle = Triangle::new(columns.len());
    let rows = columns[0].values.len();
    let mut block = Vec::with_capacity(columns.len() * BLOCK);
    for first in (0..rows).step_by(BLOCK) {
        let range = first..rows.min(first + BLOCK);
        block.clear();
        for (column, scale) in columns.iter().zip(scales) {
            let values = &column.values[range.clone()];
            match weights {
                Some(weights) => {
                    block.extend(values.iter().zip(&weights[range.clone()]).map(|(x, w)| x * scale * w.sqrt()));
                }
                None => block.extend(values.iter().map(|value| value * scale)),
            }
        }
        triangle.absorb(&mut block);
    }
    triangle
}

fn sum_around_mean(values: &[f64], weights: Option<&[f64]>) -> f64 {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let total: f64 = (0..values.len()).map(weight).sum();
    let mean = values.iter().enumerate().map(|(row, value)| weight(row) * value).sum::<f64>() / total;
    values.iter().enumerate().map(|(row, value)| weight(row) * (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests;
