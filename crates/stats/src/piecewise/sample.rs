//! Points in order, those with equal x together.

use std::ops::Range;

use super::{Objective, PiecewiseError};

/// Points of the shortest segment: slope, intercept, noise and breakpoint are four parameters, and there must not be more
/// parameters than points. Shorter ones would fit anything.
pub(super) const SHORTEST: usize = 4;

/// Checked points in the order of x. Those with equal x form a group, and only whole groups belong to a segment.
pub(super) struct Sample {
    points: Vec<(f64, f64)>,
    /// Index of each group's first point, and at the end the number of points.
    starts: Vec<usize>,
}

impl Sample {
    pub(super) fn new(points: &[(f64, f64)], objective: Objective) -> Result<Sample, PiecewiseError> {
        points.iter().enumerate().try_for_each(|(index, &point)| check(index, point, objective))?;
        if points.len() < SHORTEST {
            return Err(PiecewiseError::TooFew { found: points.len(), needed: SHORTEST });
        }
        let mut points = points.to_vec();
        // By y as well: sums must not depend on the order in which the points came.
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let changes = (1..points.len()).filter(|&i| points[i].0 != points[i - 1].0);
        let starts: Vec<usize> = [0].into_iter().chain(changes).chain([points.len()]).collect();
        if starts.len() == 2 {
            return Err(PiecewiseError::OnePlace { points: points.len(), x: points[0].0 });
        }
        Ok(Sample { points, starts })
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of points in these groups.
    pub(super) fn count(&self, groups: &Range<usize>) -> usize {
        self.starts[groups.end] - self.starts[groups.start]
    }

    /// The points of these groups.
    pub(super) fn points(&self, groups: &Range<usize>) -> &[(f64, f64)] {
        &self.points[self.starts[groups.start]..self.starts[groups.end]]
    }

    /// Where the points of this group are.
    pub(super) fn x(&self, group: usize) -> f64 {
        self.points[self.starts[group]].0
    }

    /// Where these groups may be cut in two: all places that leave a segment on both sides.
    pub(super) fn cuts(&self, groups: &Range<usize>) -> Range<usize> {
        let mut first = groups.start + 2;
        while first < groups.end && !self.bears_segment(&(groups.start..first)) {
            first += 1;
        }
        let mut last = groups.end.saturating_sub(2);
        while last > groups.start && !self.bears_segment(&(last..groups.end)) {
            last -= 1;
        }
        first..(last + 1).max(first)
    }

    fn bears_segment(&self, groups: &Range<usize>) -> bool {
        groups.len() >= 2 && self.count(groups) >= SHORTEST
    }
}

fn check(index: usize, (x, y): (f64, f64), objective: Objective) -> Result<(), PiecewiseError> {
    let what = match objective {
        Objective::Ordinary => None,
        Objective::Weighted => (x <= 0.0).then_some("x"),
        Objective::Logarithmic => (x <= 0.0 || y <= 0.0).then_some("x and y"),
    };
    match what {
        _ if !x.is_finite() || !y.is_finite() => Err(PiecewiseError::NotFinite { index, x, y }),
        Some(what) => Err(PiecewiseError::NotPositive { index, x, y, objective, what }),
        None => Ok(()),
    }
}
