//! How sure a fitted line is: the covariance of its intercept and slope, as that of a kernel's coefficients.
//!
//! The squares that a fit made least are, near its line, those of a linear fit with weights; the scatter around the line says
//! how large they are by chance. Where ranges end is taken as known.

use hpcast_stats::least_squares::{Column, fit};

/// Degrees of freedom from which on the scatter around a line says something.
const FEWEST: usize = 2;

/// A mean duration that a line goes through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub bytes: f64,
    pub seconds: f64,
    /// What its error counts in the fit.
    pub weight: f64,
}

/// The lower triangle for a line through these points. A figure that the fit has put at its bound is what it is: the other
/// one was fitted alone. None if there are too few points, or nothing to be fitted.
pub(super) fn covariance(points: &[Point], [intercept, slope]: [f64; 2], is_free: [bool; 2]) -> Option<[f64; 3]> {
    let ones = vec![1.0; points.len()];
    let bytes: Vec<f64> = points.iter().map(|point| point.bytes).collect();
    let columns = [Column { name: "a message", values: &ones }, Column { name: "a byte", values: &bytes }];
    let fitted: Vec<Column> =
        columns.into_iter().zip(is_free).filter(|(_, is_free)| *is_free).map(|(c, _)| c).collect();
    let known = |point: &Point| match is_free {
        [true, true] => 0.0,
        [true, false] => slope * point.bytes,
        _ => intercept,
    };
    let values: Vec<f64> = points.iter().map(|point| point.seconds - known(point)).collect();
    let weights: Vec<f64> = points.iter().map(|point| point.weight).collect();
    let found = fit(&fitted, &values, Some(&weights)).ok().filter(|found| found.freedom >= FEWEST)?;
    let triangle = match is_free {
        [true, true] => [found.covariance[(0, 0)], found.covariance[(1, 0)], found.covariance[(1, 1)]],
        [true, false] => [found.covariance[(0, 0)], 0.0, 0.0],
        _ => [0.0, 0.0, found.covariance[(0, 0)]],
    };
    triangle.iter().all(|number| number.is_finite()).then_some(triangle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(bytes: f64, seconds: f64) -> Point {
        Point { bytes, seconds, weight: 1.0 }
    }

    /// By hand: points 0, 1, 2, 3 with errors 1, -1, -1, 1 have a scatter of 4 / 2; the mean of x is 1.5, its squares around
    /// that add up to 5.
    #[test]
    fn errors_are_those_of_the_textbook() {
        let line = |x: f64, error: f64| point(x, 10.0 + 3.0 * x + error);
        let points = [line(0.0, 1.0), line(1.0, -1.0), line(2.0, -1.0), line(3.0, 1.0)];
        let close = |found: Option<[f64; 3]>, expected: [f64; 3]| {
            let found = found.unwrap();
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        };
        close(covariance(&points, [10.0, 3.0], [true, true]), [2.0 * (0.25 + 2.25 / 5.0), -2.0 * 1.5 / 5.0, 2.0 / 5.0]);
        // A slope that is known: the mean of four values whose scatter is 4 / 3.
        close(covariance(&points, [10.0, 3.0], [true, false]), [1.0 / 3.0, 0.0, 0.0]);
        let through_zero: Vec<Point> = points.iter().map(|p| point(p.bytes, p.seconds - 10.0)).collect();
        let scatter = 4.0 / 3.0;
        close(covariance(&through_zero, [0.0, 3.0], [false, true]), [0.0, 0.0, scatter / 14.0]);
        assert_eq!(covariance(&points, [10.0, 3.0], [false, false]), None);
        assert_eq!(covariance(&points[..3], [10.0, 3.0], [true, true]), None, "one degree of freedom");
    }
}
