//! Small dense matrices.

use std::ops::{Index, IndexMut};

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// Of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix { columns, values: vec![0.0; rows * columns] }
    }

    /// A symmetric one of its lower triangle, row by row.
    ///
    /// # Panics
    /// If the triangle does not have as many values as such a matrix.
    pub fn symmetric(rows: usize, triangle: &[f64]) -> Matrix {
        assert_eq!(triangle.len(), rows * (rows + 1) / 2, "a value for each pair");
        let mut matrix = Matrix::zeros(rows, rows);
        let places = (0..rows).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for ((i, j), value) in places.zip(triangle) {
            matrix[(i, j)] = *value;
            matrix[(j, i)] = *value;
        }
        matrix
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.values[row * self.columns + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.values[row * self.columns + column]
    }
}
