//! The triangle R of a QR factorisation of a tall matrix, which is taken block by block.
//!
//! Householder's reflections lose no digits to the squares of the normal equations. R is all that least squares need if
//! the right-hand side is the last column, and R of some of the columns follows from R of all, without the data.
//!
//! Source: G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition, 5.2 and 6.5.3.

/// Rows that are taken at a time: a block of few columns stays in the cache.
pub const BLOCK: usize = 256;

/// An upper triangle, column by column.
#[derive(Clone, Debug)]
pub struct Triangle {
    width: usize,
    values: Vec<f64>,
}

impl Triangle {
    /// Of a matrix without rows.
    pub fn new(width: usize) -> Triangle {
        Triangle { width, values: vec![0.0; width * width] }
    }

    /// How many columns it has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The value in a row and a column.
    #[inline]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[column * self.width + row]
    }

    /// The norm of a column, which is also that of the matrix' column.
    pub fn norm(&self, column: usize) -> f64 {
        let top = &self.values[column * self.width..][..=column];
        top.iter().map(|value| value * value).sum::<f64>().sqrt()
    }

    /// Puts more rows under the matrix: all columns of the block, one after the other. They are overwritten.
    pub fn absorb(&mut self, block: &mut [f64]) {
        let height = block.len() / self.width;
        for pivot in 0..self.width {
            let (left, right) = block.split_at_mut((pivot + 1) * height);
            self.reflect(pivot, &mut left[pivot * height..], right);
        }
    }

    /// Makes zeros of a column under the triangle; `right` are the columns after it.
    fn reflect(&mut self, pivot: usize, column: &mut [f64], right: &mut [f64]) {
        let top = self.at(pivot, pivot);
        let norm = (top * top + dot(column, column)).sqrt();
        if norm == 0.0 {
            return;
        }
        // Away from zero, so that nothing cancels.
        let diagonal = -norm.copysign(top);
        let head = top - diagonal;
        // The reflection is I - beta v v' with v = (head, column).
        let beta = -1.0 / (diagonal * head);
        self.values[pivot * self.width + pivot] = diagonal;
        for (other, below) in (pivot + 1..).zip(right.chunks_exact_mut(column.len().max(1))) {
            let above = &mut self.values[other * self.width + pivot];
            let factor = beta * (head * *above + dot(column, below));
            *above -= factor * head;
            below.iter_mut().zip(&*column).for_each(|(value, v)| *value -= factor * v);
        }
    }

    /// The triangle of some of the matrix' columns.
    pub fn of_columns(&self, columns: &[usize]) -> Triangle {
        let mut block: Vec<f64> = columns
            .iter()
            .flat_map(|&column| self.values[column * self.width..][..self.width].iter())
            .copied()
            .collect();
        let mut triangle = Triangle::new(columns.len());
        triangle.absorb(&mut block);
        triangle
    }

    /// Solves R x = b for the first columns of R, as many as b has values.
    pub fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        for row in (0..b.len()).rev() {
            let known: f64 = (row + 1..b.len()).map(|column| self.at(row, column) * b[column]).sum();
            b[row] = (b[row] - known) / self.at(row, row);
        }
        b
    }
}

/// In eight sums that do not wait for each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}
