//! The normal distribution of several variables that go together, such as the parameters of a processor from day to day.

use crate::matrix::Matrix;
use crate::normal;

/// A variable of which the ones before leave less, relative to its variance, follows from them.
const SINGULAR: f64 = 1e-12;
/// What rounding leaves of a variance of 1.
const ROUNDING: f64 = 1e-13;

/// A normal distribution of several variables.
#[derive(Clone, Debug, PartialEq)]
pub struct MultivariateNormal {
    mean: Vec<f64>,
    covariance: Matrix,
    /// The covariance is this lower triangle times its transpose.
    factor: Matrix,
}

/// Why there is no such distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MultivariateError {
    /// One sample says nothing about a variance.
    #[error("{found} samples are too few: {needed} are needed")]
    TooFew {
        /// Samples.
        found: usize,
        /// How many it must be.
        needed: usize,
    },
    /// Not the same variables.
    #[error("sample {sample} has {found} values and not {expected}")]
    Length {
        /// From 0.
        sample: usize,
        /// Its values.
        found: usize,
        /// Those of the first sample, or of the mean.
        expected: usize,
    },
    /// NaN or infinite.
    #[error("variable {variable} of sample {sample} is not a finite number")]
    NotFinite {
        /// From 0.
        sample: usize,
        /// From 0.
        variable: usize,
    },
    /// No variables have such a covariance.
    #[error("the covariance is not that of any variables: it has no root at variable {variable}")]
    NotPositive {
        /// From 0.
        variable: usize,
    },
    /// A variable that the others determine.
    #[error("variable {variable} is constant or follows from the ones before")]
    Singular {
        /// From 0.
        variable: usize,
    },
}

impl MultivariateError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            MultivariateError::TooFew { .. } => "give more samples",
            MultivariateError::Length { .. } => "give every sample the same variables",
            MultivariateError::NotFinite { .. } => "leave that sample out, or correct it",
            MultivariateError::NotPositive { .. } => {
                "use a symmetric covariance whose correlations fit together, such as that of samples"
            }
            MultivariateError::Singular { .. } => "leave that variable out",
        }
    }
}

impl MultivariateNormal {
    /// With this mean and covariance, which may be singular: some variables then follow from others.
    pub fn new(mean: Vec<f64>, covariance: Matrix) -> Result<MultivariateNormal, MultivariateError> {
        if covariance.rows() != mean.len() || covariance.columns() != mean.len() {
            let found = covariance.rows().min(covariance.columns());
            return Err(MultivariateError::Length { sample: 0, found, expected: mean.len() });
        }
        let factor = cholesky(&covariance)?;
        Ok(MultivariateNormal { mean, covariance, factor })
    }

    /// Always the same.
    pub fn constant(mean: Vec<f64>) -> MultivariateNormal {
        let zeros = || Matrix::zeros(mean.len(), mean.len());
        MultivariateNormal { covariance: zeros(), factor: zeros(), mean }
    }

    /// With the mean and the covariance of samples; the latter over one less than their number.
    pub fn of_samples<S: AsRef<[f64]>>(samples: &[S]) -> Result<MultivariateNormal, MultivariateError> {
        if samples.len() < 2 {
            return Err(MultivariateError::TooFew { found: samples.len(), needed: 2 });
        }
        let mean = mean(samples)?;
        let covariance = covariance(samples, &mean, samples.len() as f64 - 1.0);
        MultivariateNormal::new(mean, covariance)
    }

    /// The distribution of the first variables alone.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn first(&self, count: usize) -> MultivariateNormal {
        let part = |matrix: &Matrix| {
            let mut part = Matrix::zeros(count, count);
            (0..count * count).for_each(|ij| part[(ij / count, ij % count)] = matrix[(ij / count, ij % count)]);
            part
        };
        // A root of the whole holds those of its corners.
        let (covariance, factor) = (part(&self.covariance), part(&self.factor));
        MultivariateNormal { mean: self.mean[..count].into(), covariance, factor }
    }

    /// The expectations of the variables.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance of the variables.
    pub fn covariance(&self) -> &Matrix {
        &self.covariance
    }

    /// The draw that belongs to uniform numbers in [0, 1), one a variable.
    ///
    /// # Panics
    /// If there is not one a variable.
    pub fn draw(&self, uniforms: &[f64]) -> Vec<f64> {
        assert_eq!(uniforms.len(), self.mean.len(), "one uniform number a variable");
        let z: Vec<f64> = uniforms.iter().map(|&uniform| normal::draw(uniform)).collect();
        let draw = |i: usize| self.mean[i] + (0..=i).map(|j| self.factor[(i, j)] * z[j]).sum::<f64>();
        (0..z.len()).map(draw).collect()
    }
}

/// The means of the variables.
pub(crate) fn mean<S: AsRef<[f64]>>(samples: &[S]) -> Result<Vec<f64>, MultivariateError> {
    let first = samples.first().map_or(&[][..], |first| first.as_ref());
    let expected = first.len();
    // Around the first: what is constant has no variance, not even by rounding.
    let mut sums = vec![0.0; expected];
    for (sample, values) in samples.iter().enumerate() {
        let values = values.as_ref();
        if values.len() != expected {
            return Err(MultivariateError::Length { sample, found: values.len(), expected });
        }
        if let Some(variable) = values.iter().position(|value| !value.is_finite()) {
            return Err(MultivariateError::NotFinite { sample, variable });
        }
        sums.iter_mut().zip(values.iter().zip(first)).for_each(|(sum, (value, first))| *sum += value - first);
    }
    Ok(sums.iter().zip(first).map(|(sum, first)| first + sum / samples.len() as f64).collect())
}

/// The sums of products around the mean, over `count`.
pub(crate) fn covariance<S: AsRef<[f64]>>(samples: &[S], mean: &[f64], count: f64) -> Matrix {
    let mut matrix = Matrix::zeros(mean.len(), mean.len());
    for sample in samples {
        let away: Vec<f64> = sample.as_ref().iter().zip(mean).map(|(value, mean)| value - mean).collect();
        for (i, x) in away.iter().enumerate() {
            away.iter().enumerate().for_each(|(j, y)| matrix[(i, j)] += x * y / count);
        }
    }
    matrix
}

/// The lower triangle whose product with its transpose is the matrix (A.-L. Cholesky, 1910); zero on the diagonal where a
/// variable follows from the ones before.
pub fn cholesky(matrix: &Matrix) -> Result<Matrix, MultivariateError> {
    let n = matrix.rows();
    // In units of the deviations, which differ by many orders.
    let units: Vec<f64> = (0..n).map(|i| matrix[(i, i)].abs().sqrt()).collect();
    let mut correlation = Matrix::zeros(n, n);
    for (i, j) in (0..n * n).map(|ij| (ij / n, ij % n)) {
        let unit = units[i] * units[j];
        let is_symmetric = (matrix[(i, j)] - matrix[(j, i)]).abs() <= 1e-9 * unit;
        if !is_symmetric || (unit == 0.0 && matrix[(i, j)] != 0.0) {
            return Err(MultivariateError::NotPositive { variable: i.max(j) });
        }
        correlation[(i, j)] = if unit > 0.0 { matrix[(i, j)] / unit } else { 0.0 };
    }
    let mut factor = pivoted_root(correlation)?;
    make_lower(&mut factor);
    (0..n * n).for_each(|ij| factor[(ij / n, ij % n)] *= units[ij / n]);
    Ok(factor)
}

/// Some matrix whose product with its transpose is the given one. The variable of which most is left comes next: rounding
/// then stays rounding for singular matrices too (N. J. Higham, "Analysis of the Cholesky decomposition of a semi-definite
/// matrix", 1990).
fn pivoted_root(mut left: Matrix) -> Result<Matrix, MultivariateError> {
    let n = left.rows();
    let mut factor = Matrix::zeros(n, n);
    for column in 0..n {
        let pivot = (1..n).fold(0, |most, i| if left[(i, i)] > left[(most, most)] { i } else { most });
        if left[(pivot, pivot)] <= ROUNDING {
            break;
        }
        let root = left[(pivot, pivot)].sqrt();
        (0..n).for_each(|i| factor[(i, column)] = left[(i, pivot)] / root);
        for (i, j) in (0..n * n).map(|ij| (ij / n, ij % n)) {
            left[(i, j)] -= factor[(i, column)] * factor[(j, column)];
        }
    }
    let is_left = |i: usize| (0..n).any(|j| left[(i, j)].is_nan() || left[(i, j)].abs() > 2.0 * ROUNDING);
    (0..n).find(|&i| is_left(i)).map_or(Ok(factor), |variable| Err(MultivariateError::NotPositive { variable }))
}

/// Turns the rows until nothing is right of the diagonal (J. W. Givens, 1958), which leaves their products as they are.
fn make_lower(factor: &mut Matrix) {
    let n = factor.rows();
    for i in 0..n {
        if (i..n).map(|j| factor[(i, j)].powi(2)).sum::<f64>() <= SINGULAR {
            (i..n).for_each(|j| factor[(i, j)] = 0.0);
            continue;
        }
        for j in i + 1..n {
            let (x, y) = (factor[(i, i)], factor[(i, j)]);
            let length = x.hypot(y);
            if y == 0.0 {
                continue;
            }
            for row in i..n {
                let (a, b) = (factor[(row, i)], factor[(row, j)]);
                factor[(row, i)] = (x * a + y * b) / length;
                factor[(row, j)] = (x * b - y * a) / length;
            }
            factor[(i, j)] = 0.0;
        }
        if factor[(i, i)] < 0.0 {
            (i..n).for_each(|row| factor[(row, i)] = -factor[(row, i)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrix(rows: &[&[f64]]) -> Matrix {
        let mut matrix = Matrix::zeros(rows.len(), rows.len());
        for (i, row) in rows.iter().enumerate() {
            row.iter().enumerate().for_each(|(j, value)| matrix[(i, j)] = *value);
        }
        matrix
    }

    /// A. Cholesky's factor of a well-known matrix of whole numbers.
    #[test]
    fn root_of_a_matrix() {
        let found = cholesky(&matrix(&[&[4.0, 12.0, -16.0], &[12.0, 37.0, -43.0], &[-16.0, -43.0, 98.0]])).unwrap();
        let known = matrix(&[&[2.0, 0.0, 0.0], &[6.0, 1.0, 0.0], &[-8.0, 5.0, 3.0]]);
        for place in (0..9).map(|ij| (ij / 3, ij % 3)) {
            assert!((found[place] - known[place]).abs() < 1e-13, "{found:?}");
        }
    }

    #[test]
    fn mean_and_covariance_of_samples() {
        let normal = MultivariateNormal::of_samples(&[[1.0, 2.0], [3.0, 3.0], [5.0, 10.0]]).unwrap();
        assert_eq!(normal.mean(), [3.0, 5.0]);
        // (4 + 0 + 4) / 2, (6 + 0 + 10) / 2, (9 + 4 + 25) / 2.
        assert_eq!(*normal.covariance(), matrix(&[&[4.0, 8.0], &[8.0, 19.0]]));
    }

    #[test]
    fn draws_have_the_mean_and_the_covariance() {
        let given = matrix(&[&[1e-22, 4e-20, 0.0], &[4e-20, 4e-16, 0.0], &[0.0, 0.0, 0.0]]);
        let normal = MultivariateNormal::new(vec![7e-11, 1e-6, 3.0], given.clone()).unwrap();
        let n = 100_000;
        // Fractions of multiples of irrational numbers fill the cube evenly.
        let uniform = |i: usize, step: f64| (i as f64 * step + 0.5).fract();
        let steps = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3];
        let draws: Vec<Vec<f64>> = (0..n).map(|i| normal.draw(&steps.map(|step| uniform(i, step)))).collect();
        let found = MultivariateNormal::of_samples(&draws).unwrap();
        for i in 0..3 {
            assert!((found.mean()[i] / normal.mean()[i] - 1.0).abs() < 1e-4);
            for j in 0..3 {
                let unit = (given[(i, i)] * given[(j, j)]).sqrt();
                assert!((found.covariance()[(i, j)] - given[(i, j)]).abs() <= 1e-2 * unit, "{i} {j} {found:?}");
            }
        }
        assert!(draws.iter().all(|draw| draw[2] == 3.0));
    }

    #[test]
    fn the_first_variables_alone() {
        let of = |covariance, count: usize| MultivariateNormal::new((0..count).map(|i| i as f64).collect(), covariance);
        let all = matrix(&[&[4.0, 12.0, -16.0], &[12.0, 37.0, -43.0], &[-16.0, -43.0, 98.0]]);
        let (first, alone) = (of(all, 3).unwrap().first(2), of(matrix(&[&[4.0, 12.0], &[12.0, 37.0]]), 2).unwrap());
        assert_eq!((first.mean(), first.covariance()), (alone.mean(), alone.covariance()));
        let uniforms = [0.2, 0.9];
        for (first, alone) in first.draw(&uniforms).iter().zip(alone.draw(&uniforms)) {
            assert!((first - alone).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_no_covariance_is_an_error() {
        let error = |covariance: Matrix| {
            let error = MultivariateNormal::new(vec![0.0; 2], covariance).unwrap_err();
            assert!(!error.remedy().is_empty());
            error
        };
        let not_positive = MultivariateError::NotPositive { variable: 1 };
        assert_eq!(error(matrix(&[&[1.0, 2.0], &[2.0, 1.0]])), not_positive);
        assert_eq!(error(matrix(&[&[1.0, 0.5], &[0.4, 1.0]])), not_positive);
        assert_eq!(error(matrix(&[&[0.0, 0.5], &[0.5, 1.0]])), not_positive);
        let length = MultivariateError::Length { sample: 0, found: 1, expected: 2 };
        assert_eq!(error(matrix(&[&[1.0]])), length);
        let of_samples = |samples: &[Vec<f64>]| MultivariateNormal::of_samples(samples).unwrap_err().to_string();
        assert_eq!(of_samples(&[vec![1.0]]), "1 samples are too few: 2 are needed");
        assert_eq!(of_samples(&[vec![1.0], vec![1.0, 2.0]]), "sample 1 has 2 values and not 1");
        assert_eq!(of_samples(&[vec![1.0], vec![f64::NAN]]), "variable 0 of sample 1 is not a finite number");
    }

    proptest! {
        #[test]
        fn the_root_times_its_transpose_is_the_covariance(
            mut samples in prop::collection::vec(prop::array::uniform3(-1e3..1e3f64), 2..40),
            near in prop::option::of(-12..0i32),
        ) {
            // Variables that nearly follow from others are the hard ones.
            if let Some(power) = near {
                samples.iter_mut().for_each(|[x, y, _]| *y = *x + *y * 10f64.powi(power));
            }
            let normal = MultivariateNormal::of_samples(&samples).unwrap();
            let covariance = normal.covariance();
            for (i, j) in (0..9).map(|ij| (ij / 3, ij % 3)) {
                let product: f64 = (0..3).map(|k| normal.factor[(i, k)] * normal.factor[(j, k)]).sum();
                let unit = (covariance[(i, i)] * covariance[(j, j)]).sqrt();
                prop_assert!((product - covariance[(i, j)]).abs() <= 1e-5 * unit);
            }
        }
    }
}
