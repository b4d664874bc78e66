//! The best shape near another one: Gauss-Newton steps, halved until they help.

use super::shape::{Shape, Span};

const MOST_HALVINGS: usize = 6;

/// The logarithmic errors of a shape, d = ln y - ln g(x).
#[derive(Clone, Copy, Debug)]
pub(super) struct Errors {
    /// Mean: the logarithm of the best factor.
    pub(super) level: f64,
    /// Squared deviations from the mean, added up.
    pub(super) misfit: f64,
    /// The change of ln r that would make them least if g were linear in it.
    pub(super) step: f64,
}

/// Something that knows the errors of shapes.
pub(super) trait Landscape {
    fn errors(&self, shape: &Shape) -> Errors;
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) steps: usize,
    /// The smallest gain that is worth another step, as a part of the misfit.
    pub(super) gain: f64,
    /// Misfits that need not get better.
    pub(super) enough: f64,
}

/// Goes down from a shape as long as it pays.
pub(super) fn descend(land: &impl Landscape, start: Shape, span: Span, patience: Patience) -> (Shape, Errors) {
    let mut here = (start, land.errors(&start));
    for _ in 0..patience.steps {
        let Some(next) = lower(land, here, span) else { break };
        let gain = here.1.misfit - next.1.misfit;
        here = next;
        if gain <= patience.gain * here.1.misfit || here.1.misfit <= patience.enough {
            break;
        }
    }
    here
}

fn lower(land: &impl Landscape, (shape, errors): (Shape, Errors), span: Span) -> Option<(Shape, Errors)> {
    let mut step = errors.step;
    for _ in 0..MOST_HALVINGS {
        let next = shape.moved(step, span);
        let found = land.errors(&next);
        if found.misfit < errors.misfit {
            return Some((next, found));
        }
        step /= 2.0;
    }
    None
}
