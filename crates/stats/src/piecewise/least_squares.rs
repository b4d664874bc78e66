//! Ordinary and weighted least squares: closed forms.

use std::ops::Range;

use super::Line;
use super::misfit::Misfit;
use super::moments::Moments;
use super::sample::Sample;

/// Rounding errors of a residual, as a part of y: some dozens of operations.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Which errors are squared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// y - f(x).
    One,
    /// (y - f(x)) / x, equation 5.9 of the thesis with w(x) = 1/x. With u = 1/x and v = y/x this is v - (slope +
    /// intercept u): an ordinary regression with the two parameters swapped. (Equations 5.10 to 5.13 weigh squares by w
    /// instead of w^2; their lines are not the best ones by 5.9.)
    PerX,
}

/// Moments of all groups, and of neighbouring groups taken together, two by two.
pub(super) struct LeastSquares<'a> {
    sample: &'a Sample,
    weight: Weight,
    /// A binary tree: the node i joins 2i and 2i + 1; the groups begin at `tree.len() / 2`.
    tree: Vec<Moments>,
}

impl<'a> LeastSquares<'a> {
    pub(super) fn new(sample: &'a Sample, weight: Weight) -> LeastSquares<'a> {
        let leaves = sample.groups().next_power_of_two();
        let mut tree = vec![Moments::default(); 2 * leaves];
        for group in 0..sample.groups() {
            let points = sample.points(&(group..group + 1)).iter();
            tree[leaves + group] = points.fold(Moments::default(), |sum, &point| sum.join(&weight.moments(point)));
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node].join(&tree[2 * node + 1]);
        }
        LeastSquares { sample, weight, tree }
    }

    fn moments(&self, groups: Range<usize>) -> Moments {
        let (mut left, mut right) = (Moments::default(), Moments::default());
        let (mut from, mut to) = (groups.start + self.tree.len() / 2, groups.end + self.tree.len() / 2);
        while from < to {
            if from % 2 == 1 {
                left = left.join(&self.tree[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                right = self.tree[to].join(&right);
            }
            (from, to) = (from / 2, to / 2);
        }
        left.join(&right)
    }
}

impl Misfit for LeastSquares<'_> {
    const CUTS: usize = 1024;

    fn sample(&self) -> &Sample {
        self.sample
    }

    fn of(&self, groups: Range<usize>) -> f64 {
        self.moments(groups).residual
    }

    /// One pass over the groups between the cuts, and one back.
    fn of_cuts(&self, groups: Range<usize>, cuts: Range<usize>, step: usize) -> Vec<f64> {
        let between = |from: usize| self.moments(from..(from + step).min(groups.end));
        let blocks: Vec<Moments> = cuts.clone().step_by(step).map(between).collect();
        let beyond = cuts.start + step * blocks.len();
        let mut right = self.moments(beyond.min(groups.end)..groups.end);
        let mut misfits = vec![0.0; blocks.len()];
        for (misfit, block) in misfits.iter_mut().zip(&blocks).rev() {
            right = block.join(&right);
            *misfit = right.residual;
        }
        let mut left = self.moments(groups.start..cuts.start);
        for (misfit, block) in misfits.iter_mut().zip(&blocks) {
            *misfit += left.residual;
            left = left.join(block);
        }
        misfits
    }

    fn floor(&self, groups: Range<usize>) -> f64 {
        ROUNDING * ROUNDING * self.moments(groups).square
    }

    /// Two rounds: the second fits what rounding left of the first.
    fn line(&self, groups: Range<usize>) -> Line {
        let first = self.weight.line(&self.moments(groups.clone()));
        let rest = self.sample.points(&groups).iter().map(|&(x, y)| self.weight.moments((x, y - first.at(x))));
        let rest = self.weight.line(&rest.fold(Moments::default(), |sum, point| sum.join(&point)));
        let second = Line { intercept: first.intercept + rest.intercept, slope: first.slope + rest.slope };
        let worse = self.of_line(groups.clone(), second) > self.of_line(groups, first);
        if worse { first } else { second }
    }

    fn of_line(&self, groups: Range<usize>, line: Line) -> f64 {
        let error = |&(x, y): &(f64, f64)| match self.weight {
            Weight::One => y - line.at(x),
            Weight::PerX => (y - line.at(x)) / x,
        };
        self.sample.points(&groups).iter().map(|point| error(point).powi(2)).sum()
    }
}

impl Weight {
    fn moments(self, (x, y): (f64, f64)) -> Moments {
        match self {
            Weight::One => Moments::of_point(x, y),
            Weight::PerX => Moments::of_point(1.0 / x, y / x),
        }
    }

    fn line(self, moments: &Moments) -> Line {
        match self {
            Weight::One => Line { intercept: moments.intercept(), slope: moments.slope() },
            Weight::PerX => Line { intercept: moments.slope(), slope: moments.intercept() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Objective;
    use super::*;

    fn sample() -> Sample {
        let y = |x: f64| if x < 40.0 { 3.0 + 0.5 * x } else { 9.0 + 0.1 * x };
        let points: Vec<(f64, f64)> = (1..100).map(f64::from).map(|x| (x, y(x) + (x * 77.0).sin())).collect();
        Sample::new(&points, Objective::Weighted).expect("good points")
    }

    #[test]
    fn cuts_are_judged_like_their_sides() {
        let sample = sample();
        for weight in [Weight::One, Weight::PerX] {
            let misfit = LeastSquares::new(&sample, weight);
            for step in [1, 3, 7] {
                let found = misfit.of_cuts(5..91, 9..80, step);
                for (at, found) in (9..80).step_by(step).zip(found) {
                    let sides = misfit.of(5..at) + misfit.of(at..91);
                    assert!((found - sides).abs() < 1e-12 * sides, "{weight:?}, {at}: {found} instead of {sides}");
                }
            }
            assert_eq!(misfit.best_cut(0..99), Some(39));
        }
    }

    #[test]
    fn no_other_line_is_better() {
        let sample = sample();
        for weight in [Weight::One, Weight::PerX] {
            let misfit = LeastSquares::new(&sample, weight);
            let best = misfit.line(10..60);
            let least = misfit.of_line(10..60, best);
            assert!((least - misfit.of(10..60)).abs() < 1e-12 * least);
            for (up, turn) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-4), (0.0, -1e-4)] {
                let other = Line { intercept: best.intercept + up, slope: best.slope + turn };
                assert!(misfit.of_line(10..60, other) > least);
            }
        }
    }
}
