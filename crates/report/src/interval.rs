//! The mean of a few measurements and how sure it is.

use serde::Serialize;

/// A mean with its confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval (Student's t); `None` for a single measurement.
    pub confidence_95: Option<f64>,
}

impl Estimate {
    /// Of these measurements.
    pub fn of(values: &[f64]) -> Estimate {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let confidence_95 = (values.len() > 1).then(|| {
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
            student_975(values.len() - 1) * (variance / count).sqrt()
        });
        Estimate { mean, confidence_95 }
    }
}

/// The quantile 0.975 of Student's t distribution (any table of it).
fn student_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
        2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518,
        2.0484, 2.0452, 2.0423,
    ];
    match TABLE.get(degrees.wrapping_sub(1)) {
        Some(quantile) => *quantile,
        // The expansion of Cornish and Fisher around the normal distribution (Abramowitz and Stegun, 26.7.5).
        None => {
            let (z, degrees) = (1.959_964_f64, degrees as f64);
            let first = (z.powi(3) + z) / 4.0;
            let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
            z + first / degrees + second / degrees.powi(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_student() {
        let estimate = Estimate::of(&[10.0, 12.0, 14.0]);
        assert_eq!(estimate.mean, 12.0);
        let half = 4.3027 * 2.0 / 3f64.sqrt();
        assert!(estimate.confidence_95.is_some_and(|found| (found - half).abs() < 1e-9));
        assert_eq!(Estimate::of(&[5.0]), Estimate { mean: 5.0, confidence_95: None });
    }

    #[test]
    fn quantiles_go_on_smoothly() {
        assert!((student_975(31) - 2.0395).abs() < 1e-4);
        assert!((student_975(120) - 1.9799).abs() < 1e-4);
        assert!((student_975(1_000_000) - 1.95996).abs() < 1e-4);
        assert!((1..100).all(|degrees| student_975(degrees) > student_975(degrees + 1)));
    }
}
