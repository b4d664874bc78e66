//! Eigenvalues of small symmetric matrices, and the covariance that is nearest to a matrix.

use crate::matrix::Matrix;

/// Sweeps over all pairs; ten are enough for any matrix of this size.
const SWEEPS: usize = 50;

/// Eigenvalues and eigenvectors, these as columns.
///
/// C. G. J. Jacobi's rotations (1846), pair by pair: G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition, 8.5.
pub fn symmetric(matrix: &Matrix) -> (Vec<f64>, Matrix) {
    let n = matrix.rows();
    let mut a = matrix.clone();
    let mut vectors = Matrix::zeros(n, n);
    (0..n).for_each(|i| vectors[(i, i)] = 1.0);
    for _ in 0..SWEEPS {
        let mut changed = false;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            if a[(p, q)].abs()
                <= f64::EPSILON * 1e-3 * (a[(p, p)].abs() * a[(q, q)].abs()).sqrt().max(f64::MIN_POSITIVE)
            {
                continue;
            }
            changed = true;
            let tau = (a[(q, q)] - a[(p, p)]) / (2.0 * a[(p, q)]);
            let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            rotate(&mut a, &mut vectors, (p, q), (c, t * c));
        }
        if !changed {
            break;
        }
    }
    ((0..n).map(|i| a[(i, i)]).collect(), vectors)
}

fn rotate(a: &mut Matrix, vectors: &mut Matrix, (p, q): (usize, usize), (c, s): (f64, f64)) {
    let n = a.rows();
    for k in 0..n {
        let (x, y) = (a[(k, p)], a[(k, q)]);
        (a[(k, p)], a[(k, q)]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[(p, k)], a[(q, k)]);
        (a[(p, k)], a[(q, k)]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (vectors[(k, p)], vectors[(k, q)]);
        (vectors[(k, p)], vectors[(k, q)]) = (c * x - s * y, s * x + c * y);
    }
    (a[(p, q)], a[(q, p)]) = (0.0, 0.0);
}

/// The symmetric matrix with the same eigenvectors, and its eigenvalues changed by a function.
pub fn map(matrix: &Matrix, change: impl Fn(f64) -> f64) -> Matrix {
    let (values, vectors) = symmetric(matrix);
    let n = values.len();
    let values: Vec<f64> = values.into_iter().map(change).collect();
    let mut mapped = Matrix::zeros(n, n);
    for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
        let sum = (0..n).map(|k| values[k] * vectors[(i, k)] * vectors[(j, k)]).sum();
        (mapped[(i, j)], mapped[(j, i)]) = (sum, sum);
    }
    mapped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrix(rows: [[f64; 3]; 3]) -> Matrix {
        let mut matrix = Matrix::zeros(3, 3);
        (0..9).for_each(|ij| matrix[(ij / 3, ij % 3)] = rows[ij / 3][ij % 3]);
        matrix
    }

    #[test]
    fn known_eigenvalues() {
        let (mut values, _) = symmetric(&matrix([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, -5.0]]));
        values.sort_by(f64::total_cmp);
        assert!(values.iter().zip([-5.0, 1.0, 3.0]).all(|(found, expected)| (found - expected).abs() < 1e-14));
        assert_eq!(symmetric(&Matrix::zeros(3, 3)).0, [0.0; 3]);
    }

    proptest! {
        #[test]
        fn eigenvalues_and_vectors_make_the_matrix(v in prop::array::uniform6(-1e3..1e3f64)) {
            let given = matrix([[v[0], v[1], v[2]], [v[1], v[3], v[4]], [v[2], v[4], v[5]]]);
            let made = map(&given, |value| value);
            for ij in 0..9 {
                let place = (ij / 3, ij % 3);
                prop_assert!((made[place] - given[place]).abs() < 1e-10);
            }
            let (values, _) = symmetric(&map(&given, |value| value.max(0.0)));
            prop_assert!(values.iter().all(|value| *value > -1e-9));
        }
    }
}
