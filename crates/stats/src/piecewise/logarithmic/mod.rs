//! The logarithmic objective (thesis, equation 5.14): no closed form, and neither parameter negative.

mod cells;
mod descent;
mod on_points;
mod polynomial;
mod shape;

use std::ops::Range;

use super::Line;
use super::misfit::{Misfit, best_of};
use super::sample::Sample;
use cells::Cells;
use descent::{Errors, Landscape, Patience, descend};
use on_points::OnPoints;
use shape::{Shape, Span};

/// Relative errors that count as none: those of the polynomials, with a margin. No time is measured that well.
const ROUNDING: f64 = 1e-7;
/// Cuts tried at once. Where there are more places, the search closes in on the best.
const CUTS: usize = 64;

/// Logarithmic errors of the points.
pub(super) struct Logarithmic<'a> {
    sample: &'a Sample,
    cells: Cells,
}

impl<'a> Logarithmic<'a> {
    pub(super) fn new(sample: &'a Sample) -> Logarithmic<'a> {
        Logarithmic { sample, cells: Cells::new(sample) }
    }

    fn span(&self, groups: &Range<usize>) -> Span {
        Span { from: self.sample.x(groups.start), to: self.sample.x(groups.end - 1) }
    }

    /// The best shape: near the best of a few, or one of the ends.
    fn search(&self, groups: Range<usize>) -> (Shape, Errors) {
        let span = self.span(&groups);
        let patience = Patience { steps: 20, gain: 1e-4, enough: self.floor(groups.clone()) };
        let run = self.cells.run(groups);
        let best = descend(&run, run.best_known(span), span, patience);
        let ends = [Shape::PROPORTIONAL, Shape::CONSTANT].map(|end| (end, run.errors(&end)));
        ends.into_iter().fold(best, |best, end| if end.1.misfit < best.1.misfit { end } else { best })
    }
}

impl Misfit for Logarithmic<'_> {
    fn of(&self, groups: Range<usize>) -> f64 {
        self.search(groups).1.misfit
    }

    fn best_cut(&self, groups: Range<usize>) -> Option<usize> {
        let mut cuts = self.sample.cuts(&groups);
        let floor = self.floor(groups.clone());
        loop {
            let step = cuts.len().div_ceil(CUTS).max(1);
            let both = |at: usize| (at, self.of(groups.start..at) + self.of(at..groups.end));
            let best = best_of(cuts.clone().step_by(step).map(both), floor)?;
            if step == 1 {
                return Some(best);
            }
            cuts = cuts.start.max((best + 1).saturating_sub(step))..cuts.end.min(best + step);
        }
    }

    fn floor(&self, groups: Range<usize>) -> f64 {
        ROUNDING * ROUNDING * self.sample.count(&groups) as f64
    }

    fn line(&self, groups: Range<usize>) -> Line {
        let (shape, errors) = self.search(groups.clone());
        let land = OnPoints { points: self.sample.points(&groups), factor: errors.level.exp() };
        let patience = Patience { steps: 100, gain: 1e-15, enough: 0.0 };
        let (shape, errors) = descend(&land, shape, self.span(&groups), patience);
        shape.times(land.factor * errors.level.exp())
    }

    fn of_line(&self, groups: Range<usize>, line: Line) -> f64 {
        self.sample.points(&groups).iter().map(|&(x, y)| (y / line.at(x)).ln().powi(2)).sum()
    }
}
