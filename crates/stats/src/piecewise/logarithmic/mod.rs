//! The logarithmic objective (thesis, equation 5.14): no closed form, and neither parameter negative.

mod cells;
mod descent;
mod on_points;
mod polynomial;
mod shape;

use std::ops::Range;

use super::Line;
use super::misfit::Misfit;
use super::sample::Sample;
use cells::Cells;
use descent::{Errors, Landscape, Patience, descend};
use on_points::OnPoints;
use shape::{Shape, Span};

/// Relative errors that count as none: those of the polynomials, with a margin. No time is measured that well.
const ROUNDING: f64 = 1e-7;

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
    const CUTS: usize = 64;

    fn sample(&self) -> &Sample {
        self.sample
    }

    fn of(&self, groups: Range<usize>) -> f64 {
        self.search(groups).1.misfit
    }

    fn of_cuts(&self, groups: Range<usize>, cuts: Range<usize>, step: usize) -> Vec<f64> {
        cuts.step_by(step).map(|at| self.of(groups.start..at) + self.of(at..groups.end)).collect()
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

#[cfg(test)]
mod tests {
    use super::super::Objective;
    use super::*;

    /// Sizes over nine decades, and times that follow a line up to some noise.
    fn sample(intercept: f64, slope: f64, noise: f64) -> Sample {
        let x = |i: i32| (0.05 * f64::from(i)).exp();
        let y = |i: i32| (intercept + slope * x(i)) * (noise * (f64::from(i) * 77.0).sin()).exp();
        let points: Vec<(f64, f64)> = (0..400).map(|i| (x(i), y(i))).collect();
        Sample::new(&points, Objective::Logarithmic).expect("good points")
    }

    #[test]
    fn cells_judge_shapes_like_the_points_themselves() {
        let sample = sample(1e-6, 1e-10, 0.3);
        let misfit = Logarithmic::new(&sample);
        for groups in [0..400, 3..9, 50..333, 390..400] {
            let (run, land) =
                (misfit.cells.run(groups.clone()), OnPoints { points: sample.points(&groups), factor: 1.0 });
            let shapes = (-10..30).map(|exponent| Shape::with_ratio(f64::from(exponent).exp()));
            for shape in shapes.filter(|shape| shape.bends_within(misfit.span(&groups))) {
                let (quick, exact) = (run.errors(&shape), land.errors(&shape));
                assert!((quick.misfit - exact.misfit).abs() < 1e-8 * exact.misfit.max(1e-4), "{groups:?}, {shape:?}");
                assert!((quick.level - exact.level).abs() < 1e-8, "{groups:?}, {shape:?}");
                assert!((quick.step - exact.step).abs() < 1e-4 * exact.step.abs().max(1e-4), "{groups:?}, {shape:?}");
            }
        }
    }

    #[test]
    fn lines_without_noise_are_found_to_the_last_digits() {
        for (intercept, slope) in [(4e-8, 2e-11), (1e-5, 2e-10), (0.0, 5e-11), (3.0, 0.0), (1e-3, 1e3), (1e-30, 1e-40)]
        {
            let sample = sample(intercept, slope, 0.0);
            let misfit = Logarithmic::new(&sample);
            let line = misfit.line(0..400);
            assert!(misfit.of_line(0..400, line) < 400.0 * 1e-29, "{intercept}, {slope}: {line:?}");
        }
    }

    #[test]
    fn no_other_line_is_better() {
        for noise in [0.01, 0.3, 2.0] {
            let sample = sample(1e-6, 1e-10, noise);
            let misfit = Logarithmic::new(&sample);
            for groups in [0..400, 20..60, 200..230, 380..400] {
                let best = misfit.line(groups.clone());
                assert!(best.intercept >= 0.0 && best.slope >= 0.0, "{best:?}");
                let least = misfit.of_line(groups.clone(), best);
                for (up, turn) in
                    [(1.001, 1.0), (0.999, 1.0), (1.0, 1.001), (1.0, 0.999), (1.001, 1.001), (0.999, 0.999)]
                {
                    let other = Line { intercept: best.intercept * up, slope: best.slope * turn };
                    assert!(misfit.of_line(groups.clone(), other) >= least, "{noise}, {groups:?}");
                }
            }
        }
    }

    #[test]
    fn steeper_than_proportional_is_proportional_and_falling_is_constant() {
        let points = |power: i32| (1..50).map(|i| (f64::from(i), f64::from(i).powi(power))).collect::<Vec<_>>();
        let line = |power: i32| {
            let sample = Sample::new(&points(power), Objective::Logarithmic).expect("good points");
            Logarithmic::new(&sample).line(0..49)
        };
        assert_eq!(line(2).intercept, 0.0);
        assert_eq!(line(-1).slope, 0.0);
    }
}
