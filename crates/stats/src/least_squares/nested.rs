//! Models that are parts of each other, as the analysis of variance compares them.
//!
//! Unlike a fit, a model may have columns that follow from others, and as many of them as there are rows.

use super::triangle::{BLOCK, Triangle};

/// What is left of a column beside those before it, relative to the column, must be more than this.
const INDEPENDENCE: f64 = 1e-9;

/// Columns and values of which any part can be a model. The data are gone through once.
#[derive(Clone, Debug)]
pub struct Nested {
    triangle: Triangle,
    columns: usize,
}

/// A model: what it leaves unexplained, and its coefficients.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The sum of the squares of residuals.
    pub squares: f64,
    /// How many of the columns are independent.
    pub rank: usize,
    /// One a column of the model, in its order; zero where the column follows from those before it.
    pub coefficients: Vec<f64>,
    /// Numbers, in the model, of the independent columns.
    independent: Vec<usize>,
    /// The triangle of these, column by column.
    factor: Vec<Vec<f64>>,
}

impl Nested {
    /// Takes in all data: columns and values of one length.
    ///
    /// # Panics
    /// If they are not.
    pub fn new<C: AsRef<[f64]>>(columns: &[C], values: &[f64]) -> Nested {
        let all: Vec<&[f64]> = columns.iter().map(|column| column.as_ref()).chain([values]).collect();
        assert!(all.iter().all(|column| column.len() == values.len()), "a value a row");
        let mut triangle = Triangle::new(all.len());
        let mut block = Vec::with_capacity(all.len() * BLOCK);
        for first in (0..values.len()).step_by(BLOCK) {
            let range = first..values.len().min(first + BLOCK);
            block.clear();
            all.iter().for_each(|column| block.extend_from_slice(&column[range.clone()]));
            triangle.absorb(&mut block);
        }
        Nested { triangle, columns: columns.len() }
    }

    fn column(&self, column: usize) -> Vec<f64> {
        (0..self.triangle.width()).map(|row| if row > column { 0.0 } else { self.triangle.at(row, column) }).collect()
    }

    /// The model with some of the columns, by their numbers.
    pub fn model(&self, columns: &[usize]) -> Model {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let (mut independent, mut factor) = (Vec::new(), Vec::new());
        for (place, &column) in columns.iter().enumerate() {
            let mut vector = self.column(column);
            let before = norm(&vector);
            let mut parts = orthogonalise(&mut vector, &basis);
            let after = norm(&vector);
            if after <= INDEPENDENCE * before {
                continue;
            }
            parts.push(after);
            vector.iter_mut().for_each(|value| *value /= after);
            basis.push(vector);
            independent.push(place);
            factor.push(parts);
        }
        let mut residual = self.column(self.columns);
        let parts = orthogonalise(&mut residual, &basis);
        let mut coefficients = vec![0.0; columns.len()];
        for (value, &place) in solve(&factor, parts).into_iter().zip(&independent) {
            coefficients[place] = value;
        }
        Model { squares: residual.iter().map(|x| x * x).sum(), rank: basis.len(), coefficients, independent, factor }
    }
}

impl Model {
    /// The variance of a sum of coefficients times these numbers, where that of a value is 1; nothing if it takes
    /// coefficients that the data do not determine.
    pub fn variance(&self, numbers: &[f64]) -> Option<f64> {
        let determined = |place: &usize| self.independent.binary_search(place).is_ok();
        if !(0..numbers.len()).filter(|&place| numbers[place] != 0.0).all(|place| determined(&place)) {
            return None;
        }
        // Forward substitution with the transposed triangle.
        let mut z: Vec<f64> = Vec::with_capacity(self.rank);
        for (parts, &place) in self.factor.iter().zip(&self.independent) {
            let known: f64 = z.iter().zip(parts).map(|(z, part)| z * part).sum();
            z.push((numbers[place] - known) / parts[z.len()]);
        }
        Some(z.iter().map(|z| z * z).sum())
    }
}

/// Takes away what the basis explains, twice for the digits that the first time loses; gives how much of each that is.
fn orthogonalise(vector: &mut [f64], basis: &[Vec<f64>]) -> Vec<f64> {
    let mut parts = vec![0.0; basis.len()];
    for _ in 0..2 {
        for (part, unit) in parts.iter_mut().zip(basis) {
            let more: f64 = unit.iter().zip(&*vector).map(|(u, v)| u * v).sum();
            vector.iter_mut().zip(unit).for_each(|(value, u)| *value -= more * u);
            *part += more;
        }
    }
    parts
}

fn solve(factor: &[Vec<f64>], mut b: Vec<f64>) -> Vec<f64> {
    for row in (0..b.len()).rev() {
        let known: f64 = (row + 1..b.len()).map(|column| factor[column][row] * b[column]).sum();
        b[row] = (b[row] - known) / factor[row][row];
    }
    b
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::{Column, fit};

    fn data() -> ([Vec<f64>; 3], Vec<f64>) {
        let ones = vec![1.0; 600];
        let line: Vec<f64> = (0..600).map(|i| f64::from(i) / 600.0).collect();
        let twice = line.iter().map(|x| 3.0 - 2.0 * x).collect();
        let values = line.iter().map(|x| 5.0 + 2.0 * x + (1000.0 * x).sin()).collect();
        ([ones, line, twice], values)
    }

    #[test]
    fn the_same_as_a_fit() {
        let (columns, values) = data();
        let model = Nested::new(&columns, &values).model(&[0, 1]);
        let named = [Column { name: "1", values: &columns[0] }, Column { name: "x", values: &columns[1] }];
        let fit = fit(&named, &values, None).unwrap();
        assert!((model.squares - fit.residual_variance * 598.0).abs() < 1e-9);
        assert!(model.coefficients.iter().zip(fit.coefficients()).all(|(a, b)| (a - b).abs() < 1e-11));
        let variance = model.variance(&[1.0, -0.5]).unwrap() * fit.residual_variance;
        let covariance = |i, j| fit.covariance[(i, j)];
        let expected = covariance(0, 0) - covariance(0, 1) + 0.25 * covariance(1, 1);
        assert!((variance - expected).abs() < 1e-12 * expected);
    }

    #[test]
    fn what_follows_from_others_adds_nothing() {
        let (columns, values) = data();
        let nested = Nested::new(&columns, &values);
        let (two, three) = (nested.model(&[0, 1]), nested.model(&[0, 1, 2]));
        assert!((two.squares - three.squares).abs() < 1e-9 && (two.rank, three.rank) == (2, 2));
        assert_eq!((three.coefficients[2], three.variance(&[0.0, 0.0, 1.0])), (0.0, None));
        let nothing = nested.model(&[]);
        assert!((nothing.squares - values.iter().map(|y| y * y).sum::<f64>()).abs() < 1e-8 && nothing.rank == 0);
    }

    #[test]
    fn as_many_columns_as_rows() {
        let nested = Nested::new(&[[1.0, 1.0], [0.0, 1.0]], &[3.0, 5.0]);
        let model = nested.model(&[0, 1]);
        assert!(model.squares < 1e-28 && (model.coefficients[1] - 2.0).abs() < 1e-14);
    }
}
