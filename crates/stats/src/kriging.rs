//! Kriging: values between known ones, from how closely places are correlated.
//!
//! J. Sacks, W. J. Welch, T. J. Mitchell, H. P. Wynn, "Design and analysis of computer experiments", Statistical Science 4,
//! 1989: a constant mean and a Gaussian process around it. What the correlations are is the caller's business.

use crate::matrix::Matrix;
use crate::normal;

/// A place of which the others leave less is no new one.
const SINGULAR: f64 = 1e-12;

/// Known values and what follows from them.
#[derive(Clone, Debug)]
pub struct Kriging {
    /// The correlations are this lower triangle times its transpose.
    factor: Matrix,
    /// The inverse of the correlations times the values around their mean.
    weights: Vec<f64>,
    /// The same triangle's inverse times a vector of ones.
    ones: Vec<f64>,
    mean: f64,
    variance: f64,
    likelihood: f64,
}

/// What is expected at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

impl Kriging {
    /// From the correlations of the places, which may have more than 1 on the diagonal where values have noise; nothing
    /// where these are no correlations, or too close to each other.
    pub fn new(correlations: &Matrix, values: &[f64]) -> Option<Kriging> {
        let count = values.len();
        if count == 0 || correlations.rows() != count || correlations.columns() != count {
            return None;
        }
        let factor = root(correlations)?;
        let ones = forward(&factor, &vec![1.0; count]);
        let known = forward(&factor, values);
        let total: f64 = ones.iter().map(|one| one * one).sum();
        let mean = ones.iter().zip(&known).map(|(one, value)| one * value).sum::<f64>() / total;
        let around: Vec<f64> = known.iter().zip(&ones).map(|(value, one)| value - mean * one).collect();
        let variance = around.iter().map(|value| value * value).sum::<f64>() / count as f64;
        let determinant: f64 = (0..count).map(|i| factor[(i, i)].ln()).sum();
        // Equal values are infinitely likely; a floor keeps them comparable.
        let likelihood = -0.5 * count as f64 * variance.max(f64::MIN_POSITIVE).ln() - determinant;
        let weights = backward(&factor, around);
        Some(Kriging { factor, weights, ones, mean, variance, likelihood })
    }

    /// The logarithm of the likelihood of the values, with the best mean and variance, but for a constant.
    pub fn likelihood(&self) -> f64 {
        self.likelihood
    }

    /// What is expected at a place that has these correlations with the known ones.
    pub fn at(&self, correlations: &[f64]) -> Expected {
        let near = forward(&self.factor, correlations);
        let mean = self.mean + correlations.iter().zip(&self.weights).map(|(r, weight)| r * weight).sum::<f64>();
        let known: f64 = near.iter().map(|r| r * r).sum();
        let through_mean = 1.0 - near.iter().zip(&self.ones).map(|(r, one)| r * one).sum::<f64>();
        let total: f64 = self.ones.iter().map(|one| one * one).sum();
        let variance = self.variance * (1.0 - known + through_mean * through_mean / total);
        Expected { mean, deviation: variance.max(0.0).sqrt() }
    }
}

impl Expected {
    /// How much less than `least` the value is on average, where more counts as nothing: D. R. Jones, M. Schonlau, W. J.
    /// Welch, "Efficient global optimization of expensive black-box functions", J. Glob. Optim. 13, 1998.
    pub fn improvement(&self, least: f64) -> f64 {
        let gain = least - self.mean;
        if self.deviation == 0.0 {
            return gain.max(0.0);
        }
        let z = gain / self.deviation;
        let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        (gain * normal::cdf(z) + self.deviation * density).max(0.0)
    }
}

/// The lower triangle whose product with its transpose is the matrix (A.-L. Cholesky, 1910). That of `multivariate` can do
/// singular matrices, which are no use here, and takes much longer.
fn root(matrix: &Matrix) -> Option<Matrix> {
    let count = matrix.rows();
    let mut factor = Matrix::zeros(count, count);
    for row in 0..count {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| factor[(row, k)] * factor[(column, k)]).sum();
            let left = matrix[(row, column)] - known;
            if row > column {
                factor[(row, column)] = left / factor[(column, column)];
            } else if left > SINGULAR * matrix[(row, row)] {
                factor[(row, row)] = left.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(factor)
}

fn forward(factor: &Matrix, b: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = Vec::with_capacity(b.len());
    for (row, value) in b.iter().enumerate() {
        let known: f64 = x.iter().enumerate().map(|(column, x)| factor[(row, column)] * x).sum();
        x.push((value - known) / factor[(row, row)]);
    }
    x
}

fn backward(factor: &Matrix, mut b: Vec<f64>) -> Vec<f64> {
    for row in (0..b.len()).rev() {
        let known: f64 = (row + 1..b.len()).map(|below| factor[(below, row)] * b[below]).sum();
        b[row] = (b[row] - known) / factor[(row, row)];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correlation(a: f64, b: f64) -> f64 {
        (-2.0 * (a - b).powi(2)).exp()
    }

    fn known(x: &[f64], y: &[f64], noise: f64) -> Kriging {
        let mut matrix = Matrix::zeros(x.len(), x.len());
        for i in 0..x.len() {
            (0..x.len()).for_each(|j| matrix[(i, j)] = correlation(x[i], x[j]) + if i == j { noise } else { 0.0 });
        }
        Kriging::new(&matrix, y).unwrap()
    }

    const X: [f64; 5] = [0.0, 0.4, 1.1, 1.9, 2.5];
    const Y: [f64; 5] = [1.0, 0.2, -0.7, 0.4, 1.9];

    /// Values of numpy 2: the formulas with inverse matrices.
    #[test]
    fn known_predictions() {
        let kriging = known(&X, &Y, 0.01);
        assert!((kriging.likelihood() - 1.0711154510992176).abs() < 1e-9, "{}", kriging.likelihood());
        for (x, mean, deviation) in
            [(0.7, -0.3763733016573202, 0.22864337010429814), (3.0, 1.586149735495914, 0.7464497811222335)]
        {
            let at = kriging.at(&X.map(|other| correlation(x, other)));
            assert!((at.mean - mean).abs() < 1e-10 && (at.deviation - deviation).abs() < 1e-10, "{at:?}");
        }
    }

    #[test]
    fn known_places_are_known() {
        let kriging = known(&X, &Y, 0.0);
        for (x, y) in X.iter().zip(Y) {
            let at = kriging.at(&X.map(|other| correlation(*x, other)));
            assert!((at.mean - y).abs() < 1e-9 && at.deviation < 1e-6);
        }
        // Far away there is only the mean.
        assert!(kriging.at(&[0.0; 5]).deviation > kriging.variance.sqrt());
    }

    /// For a standard normal value and 0 as the least it is the density at 0.
    #[test]
    fn known_improvements() {
        let at = |mean, deviation| Expected { mean, deviation }.improvement(0.0);
        assert!((at(0.0, 1.0) - 0.398942280401432).abs() < 1e-14);
        assert!((at(1.0, 1.0) - 0.08331547058768629).abs() < 1e-14);
        assert_eq!((at(-2.0, 0.0), at(2.0, 0.0)), (2.0, 0.0));
    }

    #[test]
    fn what_is_no_correlation() {
        let mut matrix = Matrix::zeros(2, 2);
        assert!(Kriging::new(&matrix, &[1.0, 2.0]).is_none());
        (0..4).for_each(|ij| matrix[(ij / 2, ij % 2)] = 1.0);
        assert!(Kriging::new(&matrix, &[1.0, 2.0]).is_none());
        assert!(Kriging::new(&Matrix::zeros(0, 0), &[]).is_none());
    }
}
