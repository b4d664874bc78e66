//! The half-normal distribution, shifted: short durations have a lower limit and a tail to the right.

use std::f64::consts::FRAC_2_PI;

use crate::normal;

/// A half-normal distribution given by its expectation and standard deviation.
///
/// Source: T. Cornebize's thesis (2021), equation 5.1. With a negative deviation it is mirrored: the tail is on the left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfNormal {
    /// Its expectation.
    pub expectation: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

impl HalfNormal {
    /// The draw that belongs to a uniform number in [0, 1).
    #[inline]
    pub fn draw(&self, uniform: f64) -> f64 {
        // Standard deviation of |Z|, whose expectation is sqrt(2/pi).
        let spread = (1.0 - FRAC_2_PI).sqrt();
        let z = normal::quantile(0.5 + 0.5 * uniform);
        self.expectation + self.deviation / spread * (z - FRAC_2_PI.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_moments_and_the_lower_limit_that_it_says() {
        let distribution = HalfNormal { expectation: 10.0, deviation: 2.0 };
        let n = 1_000_000;
        let draws: Vec<f64> = (0..n).map(|i| distribution.draw((f64::from(i) + 0.5) / f64::from(n))).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((mean - 10.0).abs() < 1e-4 && (variance.sqrt() - 2.0).abs() < 1e-3, "{mean} {}", variance.sqrt());
        // The thesis' code: the support starts at expectation - 1.3236 deviation.
        assert!((distribution.draw(0.0) - (10.0 - 1.3236 * 2.0)).abs() < 1e-4);
    }
}
