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
        None if !squares_well(x) || !squares_well(y) => Err(PiecewiseError::OutOfRange { index, x, y }),
        None => Ok(()),
    }
}

fn squares_well(value: f64) -> bool {
    value == 0.0 || (1e-70..=1e70).contains(&value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(points: &[(f64, f64)]) -> Sample {
        Sample::new(points, Objective::Ordinary).expect("good points")
    }

    fn refused(points: &[(f64, f64)], objective: Objective) -> PiecewiseError {
        Sample::new(points, objective).err().expect("an error")
    }

    #[test]
    fn equal_x_form_a_group_in_whatever_order_they_came() {
        let sample = sample(&[(3.0, 1.0), (1.0, 5.0), (2.0, 0.0), (1.0, 4.0), (3.0, 0.5)]);
        assert_eq!(sample.groups(), 3);
        assert_eq!(sample.points(&(0..1)), [(1.0, 4.0), (1.0, 5.0)]);
        assert_eq!(sample.points(&(1..3)), [(2.0, 0.0), (3.0, 0.5), (3.0, 1.0)]);
    }

    #[test]
    fn a_cut_leaves_four_points_at_two_places_on_both_sides() {
        let single: Vec<(f64, f64)> = (0..10).map(|i| (f64::from(i), 0.0)).collect();
        assert_eq!(sample(&single).cuts(&(0..10)), 4..7);
        assert!(sample(&single).cuts(&(0..7)).is_empty());
        let double: Vec<(f64, f64)> = (0..10).map(|i| (f64::from(i / 5), 0.0)).collect();
        assert!(sample(&double).cuts(&(0..2)).is_empty());
        let twice: Vec<(f64, f64)> = (0..12).map(|i| (f64::from(i / 2), 0.0)).collect();
        assert_eq!(sample(&twice).cuts(&(0..6)), 2..5);
    }

    #[test]
    fn bad_points_are_named() {
        let line = |x: f64, y: f64| [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0), (x, y)];
        let too_few = refused(&line(0.0, 0.0)[..3], Objective::Ordinary);
        assert_eq!(too_few, PiecewiseError::TooFew { found: 3, needed: 4 });
        assert!(matches!(
            refused(&line(5.0, f64::NAN), Objective::Ordinary),
            PiecewiseError::NotFinite { index: 4, .. }
        ));
        let infinite = refused(&line(f64::INFINITY, 1.0), Objective::Logarithmic);
        assert!(matches!(infinite, PiecewiseError::NotFinite { index: 4, .. }));
        assert!(matches!(refused(&line(1e200, 1.0), Objective::Ordinary), PiecewiseError::OutOfRange { index: 4, .. }));
        let one_place = refused(&[(2.0, 1.0); 6], Objective::Ordinary);
        assert_eq!(one_place, PiecewiseError::OnePlace { points: 6, x: 2.0 });
    }

    #[test]
    fn signs_matter_where_the_objective_divides_or_takes_logarithms() {
        let line = |x: f64, y: f64| [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0), (x, y)];
        for (x, y, bad) in [(0.0, 1.0, true), (-1.0, 1.0, true), (5.0, 0.0, false), (5.0, -1.0, false)] {
            assert!(Sample::new(&line(x, y), Objective::Ordinary).is_ok());
            assert_eq!(Sample::new(&line(x, y), Objective::Weighted).is_err(), bad, "({x}, {y})");
            let error = refused(&line(x, y), Objective::Logarithmic);
            assert!(matches!(error, PiecewiseError::NotPositive { index: 4, .. }), "({x}, {y})");
        }
        let text = refused(&line(5.0, 0.0), Objective::Logarithmic).to_string();
        assert!(text.contains("point 4 is (5, 0)") && text.contains("leave the point out"), "{text}");
    }
}
