//! Ordinary and weighted least squares: closed forms.

use std::ops::Range;

use super::misfit::{Misfit, best_of};
use super::moments::Moments;
use super::sample::Sample;
use super::{Line, PiecewiseError};

/// Rounding errors of a residual, as a part of y: some dozens of operations.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Which errors are squared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// y - f(x).
    One,
    /// (y - f(x)) / x, equation 5.9 of the thesis with w(x) = 1/x. With u = 1/x and v = y/x this is v - (slope +
    /// intercept u): an ordinary regression with the two parameters swapped.
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
    pub(super) fn new(sample: &'a Sample, weight: Weight) -> Result<LeastSquares<'a>, PiecewiseError> {
        let leaves = sample.groups().next_power_of_two();
        let mut tree = vec![Moments::default(); 2 * leaves];
        for group in 0..sample.groups() {
            let points = sample.points(&(group..group + 1)).iter();
            tree[leaves + group] = points.fold(Moments::default(), |sum, &point| sum.join(&weight.moments(point)));
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node].join(&tree[2 * node + 1]);
        }
        if !tree[1].is_finite() {
            return Err(PiecewiseError::Overflow);
        }
        Ok(LeastSquares { sample, weight, tree })
    }

    fn leaves(&self) -> &[Moments] {
        &self.tree[self.tree.len() / 2..]
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
    fn of(&self, groups: Range<usize>) -> f64 {
        self.moments(groups).residual
    }

    /// All cuts in one pass over the groups and one back.
    fn best_cut(&self, groups: Range<usize>) -> Option<usize> {
        let cuts = self.sample.cuts(&groups);
        let leaves = self.leaves();
        let mut right = self.moments(cuts.end..groups.end);
        let mut add = |group: usize| {
            right = leaves[group].join(&right);
            right.residual
        };
        let mut rights: Vec<f64> = cuts.clone().rev().map(&mut add).collect();
        rights.reverse();
        let mut left = self.moments(groups.start..cuts.start);
        let both = cuts.zip(rights).map(|(at, right)| {
            let misfit = left.residual + right;
            left = left.join(&leaves[at]);
            (at, misfit)
        });
        best_of(both, self.floor(groups.clone()))
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
