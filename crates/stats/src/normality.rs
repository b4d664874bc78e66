//! Whether values are normal.
//!
//! A small p value says that they are not. A large one says that they may be, and with few values that is little.

use crate::distributions::ChiSquared;
use crate::multivariate::{self, MultivariateError};
use crate::normal;

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// What the test measures: the larger, the less normal; for kurtosis in either direction.
    pub statistic: f64,
    /// The probability of one that large if the values were normal.
    pub p: f64,
}

/// Why values cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NormalityError {
    /// The p value would mean nothing.
    #[error("{found} values are too few for a test: {needed} are needed")]
    TooFew {
        /// Values.
        found: usize,
        /// How many it must be.
        needed: usize,
    },
    /// NaN or infinite.
    #[error("value {place} is not a finite number")]
    NotFinite {
        /// From 0.
        place: usize,
    },
    /// All are equal.
    #[error("all values are equal")]
    NoSpread,
}

impl NormalityError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            NormalityError::TooFew { .. } => "measure more values",
            NormalityError::NotFinite { .. } => "leave that value out, or correct it",
            NormalityError::NoSpread => "use the value itself: there is no noise",
        }
    }
}

/// The test of T. W. Anderson and D. A. Darling (1954) for a normal distribution with the values' own mean and variance.
///
/// The p value is that of R. B. D'Agostino, M. A. Stephens, "Goodness-of-fit techniques", 1986, table 4.9.
pub fn anderson_darling(values: &[f64]) -> Result<Test, NormalityError> {
    const NEEDED: usize = 8;
    if let Some(place) = values.iter().position(|value| !value.is_finite()) {
        return Err(NormalityError::NotFinite { place });
    }
    if values.len() < NEEDED {
        return Err(NormalityError::TooFew { found: values.len(), needed: NEEDED });
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let mut z: Vec<f64> = values.iter().map(|x| (x - mean) / deviation).collect();
    z.sort_by(f64::total_cmp);
    if deviation == 0.0 || z[0] == z[z.len() - 1] {
        return Err(NormalityError::NoSpread);
    }
    let term = |(i, (low, high)): (usize, (&f64, &f64))| {
        (2 * i + 1) as f64 * (normal::cdf(*low).ln() + normal::cdf(-high).ln())
    };
    let sum: f64 = z.iter().zip(z.iter().rev()).enumerate().map(term).sum();
    let statistic = -n - sum / n;
    Ok(Test { statistic, p: anderson_darling_p(statistic * (1.0 + 0.75 / n + 2.25 / (n * n))) })
}

fn anderson_darling_p(a: f64) -> f64 {
    let p = match a {
        ..0.2 => 1.0 - (-13.436 + 101.14 * a - 223.73 * a * a).exp(),
        ..0.34 => 1.0 - (-8.318 + 42.796 * a - 59.938 * a * a).exp(),
        ..0.6 => (0.9177 - 4.279 * a - 1.38 * a * a).exp(),
        ..13.0 => (1.2937 - 5.709 * a + 0.0186 * a * a).exp(),
        _ => 0.0,
    };
    p.clamp(0.0, 1.0)
}

/// The outcome for several variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mardia {
    /// Whether they are lopsided: the statistic is chi-squared.
    pub skewness: Test,
    /// Whether their tails are too heavy or too light: the statistic is standard normal.
    pub kurtosis: Test,
}

/// The tests of K. V. Mardia, "Measures of multivariate skewness and kurtosis with applications", Biometrika 57(3), 1970,
/// with the variables' own mean and covariance. The p values are those of many samples.
pub fn mardia<S: AsRef<[f64]>>(samples: &[S]) -> Result<Mardia, MultivariateError> {
    let mean = multivariate::mean(samples)?;
    let (count, variables) = (samples.len() as f64, mean.len());
    if samples.len() <= variables + 1 {
        return Err(MultivariateError::TooFew { found: samples.len(), needed: variables + 2 });
    }
    let root = multivariate::cholesky(&multivariate::covariance(samples, &mean, count))?;
    if let Some(variable) = (0..variables).find(|&i| root[(i, i)] == 0.0) {
        return Err(MultivariateError::Singular { variable });
    }
    // Sums of products of three variables, made independent and of variance 1: their squares are the skewness.
    let (mut thirds, mut fourth) = (vec![0.0; variables.pow(3)], 0.0);
    let mut z = vec![0.0; variables];
    for sample in samples {
        for (i, value) in sample.as_ref().iter().enumerate() {
            let known: f64 = (0..i).map(|j| root[(i, j)] * z[j]).sum();
            z[i] = (value - mean[i] - known) / root[(i, i)];
        }
        fourth += z.iter().map(|z| z * z).sum::<f64>().powi(2);
        for (place, third) in thirds.iter_mut().enumerate() {
            *third += z[place / variables.pow(2)] * z[place / variables % variables] * z[place % variables];
        }
    }
    let skewness: f64 = thirds.iter().map(|third| (third / count).powi(2)).sum();
    let p = variables as f64;
    Ok(Mardia {
        skewness: skewness_test(count * skewness / 6.0, p),
        kurtosis: kurtosis_test((fourth / count - p * (p + 2.0)) / (8.0 * p * (p + 2.0) / count).sqrt()),
    })
}

fn skewness_test(statistic: f64, variables: f64) -> Test {
    let freedom = variables * (variables + 1.0) * (variables + 2.0) / 6.0;
    Test { statistic, p: ChiSquared { freedom }.above(statistic) }
}

fn kurtosis_test(statistic: f64) -> Test {
    Test { statistic, p: 2.0 * normal::cdf(-statistic.abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} for {expected}");
    }

    fn exponential(n: u32) -> Vec<f64> {
        (0..n).map(|i| -(1.0 - (f64::from(i) + 0.5) / f64::from(n)).ln()).collect()
    }

    /// Values of statsmodels 0.15: stats.diagnostic.normal_ad.
    #[test]
    fn known_values_of_anderson_and_darling() {
        for (values, statistic, p) in [
            (vec![4.1, 5.3, 4.7, 6.2, 5.0, 4.4, 5.9, 5.5, 4.9, 5.1], 0.11928108546339544, 0.9822234871621446),
            (vec![1.0, 1.1, 1.0, 1.2, 0.9, 1.1, 3.0, 9.0], 1.6482147191528362, 9.472563244702086e-05),
            (exponential(30), 1.3651631045048944, 0.0012586112594105605),
            (exponential(9), 0.4349451954989121, 0.229345684490151),
        ] {
            let test = anderson_darling(&values).unwrap();
            assert_close(test.statistic, statistic);
            assert_close(test.p, p);
        }
    }

    #[test]
    fn normal_values_pass_and_others_do_not() {
        let normal: Vec<f64> = (0..500).map(|i| 5.0 + 2.0 * normal::quantile((f64::from(i) + 0.5) / 500.0)).collect();
        assert!(anderson_darling(&normal).unwrap().p > 0.99);
        assert!(anderson_darling(&exponential(500)).unwrap().p < 1e-20);
        assert!(anderson_darling(&exponential(50_000)).unwrap().p == 0.0);
    }

    /// Of samples that are drawn anew each time, one in twenty fails at the level 0.05.
    #[test]
    fn p_values_are_even_for_normal_values() {
        // SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
        let uniform = |i: u64| {
            let x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            (x ^ x >> 31) >> 11
        };
        let sample = |s: u64| -> Vec<f64> {
            let draw = |i: u64| normal::quantile((uniform(s * 1000 + i + 1) as f64 + 0.5) / (1u64 << 53) as f64);
            (0..40).map(draw).collect()
        };
        let failed = (0..2000).filter(|&s| anderson_darling(&sample(s)).unwrap().p < 0.05).count();
        assert!((70..130).contains(&failed), "{failed}");
    }

    /// Values of numpy by the definition: sums over all pairs of samples.
    #[test]
    fn known_values_of_mardia() {
        let samples: Vec<[f64; 3]> = (1..=60)
            .map(|i| {
                let [a, b, c] = [7919, 104_729, 1_299_709].map(|step| f64::from(i * step % 97) / 97.0);
                [a, 1e-9 * (b * b + a), 1e6 * c * c * c]
            })
            .collect();
        let found = mardia(&samples).unwrap();
        assert_close(found.skewness.statistic, 24.590541915128355);
        assert_close(found.skewness.p, 0.006178087774998404);
        assert_close(found.kurtosis.statistic, -1.915360727197845);
        assert_close(found.kurtosis.p, 0.055446515967279335);
    }

    #[test]
    fn what_cannot_be_tested_is_said() {
        let error = |values: &[f64]| anderson_darling(values).unwrap_err();
        assert_eq!(error(&[1.0; 9]), NormalityError::NoSpread);
        assert_eq!(error(&[1.0; 3]), NormalityError::TooFew { found: 3, needed: 8 });
        assert_eq!(error(&[f64::NAN]), NormalityError::NotFinite { place: 0 });
        assert!(!error(&[]).remedy().is_empty());
        let doubled: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i), f64::from(2 * i)]).collect();
        assert_eq!(mardia(&doubled).unwrap_err(), MultivariateError::Singular { variable: 1 });
        assert_eq!(mardia(&doubled[..3]).unwrap_err(), MultivariateError::TooFew { found: 3, needed: 4 });
    }
}
