//! What several runs tell: their mean, how sure it is, and where another run will lie.

use hpcast_stats::StudentT;
use serde::Serialize;

/// The mean of some runs, with intervals around it (Student's t).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval of the mean; `None` for a single run.
    pub confidence_95: Option<f64>,
    /// Half the width of the interval that another run lies in, with a probability of 95 %; what was not simulated is
    /// counted in. `None` for a single run.
    pub prediction_95: Option<f64>,
}

impl Estimate {
    /// Of the values of runs, which may all be off by `unsimulated` because not everything was simulated.
    pub fn of(values: &[f64], unsimulated: f64) -> Estimate {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if values.len() < 2 {
            return Estimate { mean, confidence_95: None, prediction_95: None };
        }
        let freedom = count - 1.0;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom;
        let wide = half_width(variance, freedom);
        Estimate {
            mean,
            confidence_95: Some(wide / count.sqrt()),
            prediction_95: Some((wide * (1.0 + 1.0 / count).sqrt()).hypot(unsimulated)),
        }
    }
}

/// Half the width of the interval that holds 95 % of what varies so much, where the variance is an estimate with these
/// degrees of freedom.
pub(crate) fn half_width(variance: f64, freedom: f64) -> f64 {
    StudentT { freedom }.quantile(0.975) * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_student() {
        let estimate = Estimate::of(&[10.0, 12.0, 14.0], 0.0);
        assert_eq!(estimate.mean, 12.0);
        // From a table: the quantile 0.975 with two degrees of freedom.
        let wide = 4.302_653 * 2.0;
        let close =
            |found: Option<f64>, expected: f64| assert!(found.is_some_and(|found| (found - expected).abs() < 1e-5));
        close(estimate.confidence_95, wide / 3f64.sqrt());
        close(estimate.prediction_95, wide * (4.0 / 3.0f64).sqrt());
        close(Estimate::of(&[10.0, 12.0, 14.0], 3.0).prediction_95, (wide * (4.0 / 3.0f64).sqrt()).hypot(3.0));
        let single = Estimate::of(&[5.0], 1.0);
        assert_eq!((single.mean, single.confidence_95, single.prediction_95), (5.0, None, None));
    }
}
