//! How single calls of a kernel differ: what is drawn around the expectation.
//!
//! The families are those of T. Cornebize's thesis (2021), section 5.1: N-0 no noise, N-1 and N-2 a normal or half-normal
//! distribution whose deviation is constant or depends on the arguments, N' a mixture for calls that are now and then much
//! slower.

use hpcast_stats::{HalfNormal, normal};

/// The uniform number in [0, 1) that belongs to 64 random bits.
#[inline]
fn uniform(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// The family of distributions of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Noise {
    /// A lower limit and a tail to the right (equation 5.1).
    #[default]
    HalfNormal,
    /// Symmetric.
    Normal,
    /// Each call has one of these modes.
    Modes(Vec<Mode>),
}

/// A mode of a mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// How many of all calls have it.
    pub share: f64,
    /// How long they take, in times of the expectation.
    pub mean: f64,
    /// How much they differ, in times of the expectation.
    pub deviation: f64,
}

impl Noise {
    /// The duration of a call, never negative, for 64 random bits.
    #[inline]
    pub fn draw(&self, expectation: f64, deviation: f64, word: u64) -> f64 {
        let drawn = match self {
            Noise::HalfNormal => HalfNormal { expectation, deviation }.draw(word),
            Noise::Normal => expectation + deviation * normal::draw(uniform(word)),
            Noise::Modes(modes) => expectation * draw_mode(modes, uniform(word)),
        };
        drawn.max(0.0)
    }

    /// The standard deviation of calls; `deviation` is that of the distributions with one mode.
    pub fn deviation(&self, expectation: f64, deviation: f64) -> f64 {
        let Noise::Modes(modes) = self else { return deviation.abs() };
        let centre: f64 = modes.iter().map(|mode| mode.share * mode.mean).sum();
        let variance = |mode: &Mode| mode.share * (mode.deviation.powi(2) + (mode.mean - centre).powi(2));
        expectation.abs() * modes.iter().map(variance).sum::<f64>().sqrt()
    }

    /// Below it lies the part `p` of all calls.
    pub fn quantile(&self, expectation: f64, deviation: f64, p: f64) -> f64 {
        match self {
            Noise::Modes(modes) => expectation * quantile_of_modes(modes, p),
            // The more bits are set, the longer the call; with a negative deviation it is the other way round.
            _ => {
                let p = if deviation < 0.0 { 1.0 - p } else { p };
                self.draw(expectation, deviation, (p * (u64::MAX as f64)) as u64)
            }
        }
    }
}

/// By bisection: between the modes there is no formula.
fn quantile_of_modes(modes: &[Mode], p: f64) -> f64 {
    let below = |x: f64| -> f64 {
        let part = |mode: &Mode| match mode.deviation {
            0.0 => f64::from(x >= mode.mean),
            deviation => normal::cdf((x - mode.mean) / deviation),
        };
        modes.iter().map(|mode| mode.share * part(mode)).sum()
    };
    let (mut low, mut high) = (0.0, modes.iter().map(|mode| mode.mean + 10.0 * mode.deviation).fold(1.0, f64::max));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        (low, high) = if below(middle) < p { (middle, high) } else { (low, middle) };
    }
    high
}

/// One uniform number chooses the mode, and what is left of it the place in it.
fn draw_mode(modes: &[Mode], mut uniform: f64) -> f64 {
    for mode in modes {
        if uniform < mode.share {
            return mode.mean + mode.deviation * normal::draw(uniform / mode.share);
        }
        uniform -= mode.share;
    }
    // Shares that add up to a little less than one.
    modes.last().map_or(1.0, |mode| mode.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of draws that belong to evenly spread numbers.
    fn moments(noise: &Noise, expectation: f64, deviation: f64) -> (f64, f64) {
        let count = 200_000;
        let step = u64::MAX / count;
        let draws: Vec<f64> = (0..count).map(|i| noise.draw(expectation, deviation, i * step + step / 2)).collect();
        let mean = draws.iter().sum::<f64>() / count as f64;
        (mean, (draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / count as f64).sqrt())
    }

    #[test]
    fn have_the_moments_that_they_say() {
        for noise in [Noise::HalfNormal, Noise::Normal] {
            let (mean, deviation) = moments(&noise, 10.0, 0.5);
            assert!((mean - 10.0).abs() < 1e-3 && (deviation - 0.5).abs() < 1e-3, "{noise:?}: {mean} {deviation}");
        }
        let mode = |share, mean, deviation| Mode { share, mean, deviation };
        let noise = Noise::Modes(vec![mode(0.9, 0.8, 0.01), mode(0.1, 2.8, 0.1)]);
        let (mean, deviation) = moments(&noise, 5.0, 0.0);
        // Within the modes, and between them: 0.9 x 0.2^2 + 0.1 x 1.8^2.
        let expected = 5.0 * (0.9 * 1e-4 + 0.1 * 1e-2 + 0.9 * 0.04 + 0.1 * 3.24f64).sqrt();
        assert!((mean - 5.0).abs() < 1e-3 && (deviation - expected).abs() < 1e-3, "{mean} {deviation}");
    }

    #[test]
    fn quantiles_and_deviations_are_those_of_the_draws() {
        let mode = |share, mean, deviation| Mode { share, mean, deviation };
        let modes = Noise::Modes(vec![mode(0.9, 0.8, 0.01), mode(0.1, 2.8, 0.1)]);
        for (noise, deviation) in [(modes, 0.0), (Noise::Normal, 0.3), (Noise::HalfNormal, 0.3)] {
            let step = u64::MAX / 10_000;
            let mut draws: Vec<f64> = (0..10_000).map(|i| noise.draw(5.0, deviation, i * step + step / 2)).collect();
            draws.sort_by(f64::total_cmp);
            for (place, p) in [(250, 0.025_05), (5000, 0.500_05), (9750, 0.975_05)] {
                let quantile = noise.quantile(5.0, deviation, p);
                assert!((quantile - draws[place]).abs() < 1e-2, "{noise:?} {p}: {quantile} {}", draws[place]);
            }
            let (_, measured) = moments(&noise, 5.0, deviation);
            assert!((noise.deviation(5.0, deviation) - measured).abs() < 1e-3, "{noise:?}");
        }
        // A mode without width is a step.
        let steps = Noise::Modes(vec![mode(0.5, 0.5, 0.0), mode(0.5, 1.5, 0.0)]);
        assert!(
            (steps.quantile(2.0, 0.0, 0.3) - 1.0).abs() < 1e-9 && (steps.quantile(2.0, 0.0, 0.7) - 3.0).abs() < 1e-9
        );
    }

    #[test]
    fn no_call_takes_less_than_nothing() {
        assert_eq!(Noise::Normal.draw(1.0, 5.0, u64::MAX / 100), 0.0);
    }
}
