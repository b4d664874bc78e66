//! Logarithmic errors, point by point: exact, for the final lines.

use super::descent::{Errors, Landscape};
use super::shape::Shape;

/// Points, and the factor that brings shapes close to them: ln(y / f) of nearly equal values has no rounding error to
/// speak of, other than ln y - ln f.
pub(super) struct OnPoints<'a> {
    pub(super) points: &'a [(f64, f64)],
    pub(super) factor: f64,
}

impl OnPoints<'_> {
    fn deviations(&self, shape: &Shape) -> impl Iterator<Item = (f64, f64)> {
        let (shape, factor) = (*shape, self.factor);
        self.points.iter().map(move |&(x, y)| ((y / (factor * shape.at(x))).ln(), shape.lever(x)))
    }
}

impl Landscape for OnPoints<'_> {
    fn errors(&self, shape: &Shape) -> Errors {
        let count = self.points.len() as f64;
        let sums = self.deviations(shape).fold((0.0, 0.0), |sum, (d, g)| (sum.0 + d, sum.1 + g));
        let (level, lever) = (sums.0 / count, sums.1 / count);
        let (mut dd, mut dg, mut gg) = (0.0, 0.0, 0.0);
        for (d, g) in self.deviations(shape) {
            let (d, g) = (d - level, g - lever);
            dd += d * d;
            dg += d * g;
            gg += g * g;
        }
        Errors { level, misfit: dd, step: if gg > 0.0 { dg / gg } else { 0.0 } }
    }
}
