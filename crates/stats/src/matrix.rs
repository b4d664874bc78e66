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

    /// Its lower triangle, row by row.
    pub fn triangle(&self) -> Vec<Vec<f64>> {
        (0..self.rows()).map(|i| (0..=i).map(|j| self[(i, j)]).collect()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let matrix = Matrix::symmetric(3, &values);
        assert_eq!((matrix[(0, 2)], matrix[(2, 1)], matrix[(1, 2)], matrix[(1, 1)]), (4.0, 5.0, 5.0, 3.0));
        assert_eq!(matrix.triangle().concat(), values);
    }
}
