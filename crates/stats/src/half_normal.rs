//! The half-normal distribution, shifted: short durations have a lower limit and a tail to the right.

mod table;

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
    /// Nothing is further below the expectation than so many deviations: sqrt(2 / (pi - 2)).
    pub const BELOW: f64 = 1.323_608_096_788_512_7;

    /// The draw that belongs to 64 random bits: the larger they are as a number, the further it is in the tail.
    #[inline]
    pub fn draw(&self, word: u64) -> f64 {
        self.expectation + self.deviation * table::draw(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_moments_and_the_lower_limit_that_it_says() {
        let distribution = HalfNormal { expectation: 10.0, deviation: 2.0 };
        let n = 1_000_000;
        let draws: Vec<f64> = (0..n).map(|i| distribution.draw(u64::MAX / n * i + u64::MAX / n / 2)).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((mean - 10.0).abs() < 1e-5 && (variance.sqrt() - 2.0).abs() < 1e-4, "{mean} {}", variance.sqrt());
        // The thesis' code: the support starts at expectation - 1.3236 deviation.
        assert!((distribution.draw(0) - (10.0 - HalfNormal::BELOW * 2.0)).abs() < 1e-4);
        assert!((HalfNormal::BELOW - (2.0 / (std::f64::consts::PI - 2.0)).sqrt()).abs() < 1e-15);
    }
}
