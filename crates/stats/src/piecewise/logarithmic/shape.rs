//! Lines up to a factor: the logarithmic objective leaves one number to search for.

use super::super::Line;

/// How far a step may go, as a logarithm of the ratio: beyond, the linearisation means nothing.
const LONGEST_STEP: f64 = 2.0;

/// How much smaller a parameter may become at once: the ends, where it is 0, are not a place to go on from.
const SHORTEST_STRETCH: f64 = 0.1;

/// Shapes tried first are a factor of e^2 apart, and so much beyond the interval on both sides: the misfit changes slowly
/// with the ratio, since a shape takes three such steps from nearly proportional to nearly constant.
const STRIDE: f64 = 2.0;
const MARGIN: f64 = 5.0;

/// A line divided by its slope or by its intercept, neither of them negative.
///
/// ln(a x + b) = ln c + ln g(x): the best factor c for a shape g is known at once, from the mean of ln y - ln g(x). What is
/// left is the ratio r = b/a between 0 (a line through the origin) and infinity (a constant).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) slope: f64,
    pub(super) intercept: f64,
}

/// The interval of x that a shape is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Shape {
    pub(super) const PROPORTIONAL: Shape = Shape { slope: 1.0, intercept: 0.0 };
    pub(super) const CONSTANT: Shape = Shape { slope: 0.0, intercept: 1.0 };

    /// With this ratio of intercept and slope.
    pub(super) fn with_ratio(ratio: f64) -> Shape {
        if ratio <= 1.0 { Shape { slope: 1.0, intercept: ratio } } else { Shape { slope: 1.0 / ratio, intercept: 1.0 } }
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        self.slope * x + self.intercept
    }

    /// Derivative of ln g(x) by ln r, up to a constant: the part of the intercept in the value.
    pub(super) fn lever(&self, x: f64) -> f64 {
        self.intercept / self.at(x)
    }

    pub(super) fn times(&self, factor: f64) -> Line {
        Line { intercept: self.intercept * factor, slope: self.slope * factor }
    }

    /// Whether it is neither proportional nor constant all over the span.
    pub(super) fn bends_within(&self, span: Span) -> bool {
        let ratio = self.intercept / self.slope;
        ratio > span.from * (-MARGIN).exp() && ratio < span.to * MARGIN.exp()
    }

    /// The shape a step of ln r further. Near its ends ln g is linear in the intercept, or in the slope, rather than in
    /// ln r; there the step is taken in these.
    pub(super) fn moved(&self, step: f64, span: Span) -> Shape {
        let ratio = self.intercept / self.slope;
        let factor = if ratio < span.from {
            (1.0 + step).clamp(SHORTEST_STRETCH, LONGEST_STEP.exp() * span.from / ratio)
        } else if ratio > span.to {
            1.0 / (1.0 - step).clamp(SHORTEST_STRETCH, LONGEST_STEP.exp() * ratio / span.to)
        } else {
            step.clamp(-LONGEST_STEP, LONGEST_STEP).exp()
        };
        Shape::with_ratio(ratio * factor)
    }
}

/// Shapes that bend within the span, with ratios that are evenly spread.
pub(super) fn shapes_between(span: Span) -> Vec<Shape> {
    let least = span.from.ln() - MARGIN;
    let steps = ((span.to.ln() + MARGIN - least) / STRIDE).ceil() as usize;
    (0..=steps).map(|step| Shape::with_ratio((least + STRIDE * step as f64).exp())).collect()
}
