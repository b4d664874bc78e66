//! Local regression: a curve through scattered values, with a band of confidence.
//!
//! W. S. Cleveland, S. J. Devlin, "Locally weighted regression: an approach to regression analysis by local fitting",
//! J. Am. Stat. Assoc. 83, 1988: at each place a line through the nearest values, which count the less the farther away.

use crate::distributions::StudentT;

/// The part of the values that a line is fitted to.
pub const SPAN: f64 = 0.75;

/// A place on the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Where.
    pub x: f64,
    /// The curve.
    pub y: f64,
    /// Between these lies the true curve, with the confidence that was asked for; nothing where no noise can be estimated.
    pub band: Option<(f64, f64)>,
}

/// The curve at some places; nothing with fewer than three different x, or with numbers that are not finite.
pub fn curve(x: &[f64], y: &[f64], span: f64, at: &[f64], confidence: f64) -> Option<Vec<Place>> {
    if x.len() != y.len() || !x.iter().chain(y).all(|value| value.is_finite()) {
        return None;
    }
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    if sorted.len() < 3 {
        return None;
    }
    let smoother = Smoother { x, near: ((span * x.len() as f64).ceil() as usize).clamp(1, x.len()), least: sorted };
    let noise = smoother.noise(y);
    let place = |&at: &f64| {
        let weights = smoother.weights(at);
        let value = dot(&weights, y);
        let band = noise.map(|(variance, freedom)| {
            let error = (variance * dot(&weights, &weights)).sqrt();
            let half = StudentT { freedom }.quantile(0.5 + 0.5 * confidence) * error;
            (value - half, value + half)
        });
        Place { x: at, y: value, band }
    };
    Some(at.iter().map(place).collect())
}

struct Smoother<'a> {
    x: &'a [f64],
    near: usize,
    /// All different x, in order.
    least: Vec<f64>,
}

impl Smoother<'_> {
    /// What each value counts for the curve at a place.
    fn weights(&self, at: f64) -> Vec<f64> {
        let mut distances: Vec<f64> = self.x.iter().map(|x| (x - at).abs()).collect();
        let (_, &mut farthest, _) = distances.select_nth_unstable_by(self.near - 1, f64::total_cmp);
        // A line needs two places that count; the farthest one counts nothing.
        let width = farthest.max(self.third(at));
        let tricube = |x: &f64| (1.0 - ((x - at).abs() / width).min(1.0).powi(3)).powi(3);
        let weights: Vec<f64> = self.x.iter().map(tricube).collect();
        let total: f64 = weights.iter().sum();
        let mean = dot(&weights, self.x) / total;
        let squares: f64 = weights.iter().zip(self.x).map(|(weight, x)| weight * (x - mean).powi(2)).sum();
        let slope = |x: f64| if squares > 0.0 { (at - mean) * (x - mean) / squares } else { 0.0 };
        weights.iter().zip(self.x).map(|(weight, x)| weight * (1.0 / total + slope(*x))).collect()
    }

    /// How far the third of the different x is that are nearest.
    fn third(&self, at: f64) -> f64 {
        let mut distances: Vec<f64> = self.least.iter().map(|x| (x - at).abs()).collect();
        *distances.select_nth_unstable_by(2, f64::total_cmp).1
    }

    /// The variance of the values around the curve, and its degrees of freedom.
    fn noise(&self, y: &[f64]) -> Option<(f64, f64)> {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for (row, (x, value)) in self.x.iter().zip(y).enumerate() {
            let weights = self.weights(*x);
            squares += (value - dot(&weights, y)).powi(2);
            // The trace of (I - L)(I - L)'.
            freedom += 1.0 - 2.0 * weights[row] + dot(&weights, &weights);
        }
        (freedom > 0.5).then_some((squares / freedom, freedom))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of numpy 2: the hat matrix of weighted least squares at each place, and scipy's quantile of t.
    #[test]
    fn known_curve() {
        let x = [0.2, 0.5, 1.1, 1.9, 2.4, 3.0, 3.3, 4.1, 4.8, 5.0];
        let y = [1.0, 1.4, 2.1, 2.0, 2.9, 3.7, 3.2, 2.5, 2.6, 1.9];
        let expected = [
            (0.2, 1.1191762640142313, 0.4754154553814137, 1.7629370726470488),
            (2.0, 2.518529066080851, 2.102650222120553, 2.934407910041149),
            (4.9, 2.295932672631765, 1.691146137025866, 2.900719208237664),
        ];
        let found = curve(&x, &y, SPAN, &expected.map(|place| place.0), 0.95).unwrap();
        for (place, (_, y, low, high)) in found.iter().zip(expected) {
            let band = place.band.unwrap();
            assert!((place.y - y).abs() < 1e-12 && (band.0 - low).abs() < 1e-10 && (band.1 - high).abs() < 1e-10);
        }
    }

    #[test]
    fn lines_are_kept() {
        let x: Vec<f64> = (0..20).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| 3.0 - 0.5 * x).collect();
        for place in curve(&x, &y, SPAN, &[0.0, 7.3, 19.0], 0.95).unwrap() {
            let (low, high) = place.band.unwrap();
            assert!((place.y - (3.0 - 0.5 * place.x)).abs() < 1e-12 && high - low < 1e-11);
        }
    }

    #[test]
    fn few_places_and_many_values() {
        let x = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0];
        let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| x + 0.1 * (i % 2) as f64).collect();
        for place in curve(&x, &y, 0.3, &[1.0, 1.5, 2.0, 3.0], 0.95).unwrap() {
            assert!((place.y - place.x - 0.05).abs() < 1e-12 && place.band.is_some_and(|(low, high)| high > low));
        }
        assert_eq!(curve(&[1.0, 2.0], &[1.0, 2.0], 1.0, &[1.0], 0.95), None);
        assert_eq!(curve(&[1.0, 2.0, f64::NAN], &[1.0, 2.0, 3.0], 1.0, &[1.0], 0.95), None);
    }
}
