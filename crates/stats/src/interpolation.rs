//! Interpolation between points.

/// A smooth curve through points: cubic pieces that never overshoot between two points.
///
/// Source: F. N. Fritsch, R. E. Carlson, "Monotone piecewise cubic interpolation", SIAM J. Numer. Anal. 17(2), 1980, with
/// the slopes of F. N. Fritsch, J. Butland, "A method for constructing local monotone piecewise cubic interpolants", 1984.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    slopes: Vec<f64>,
}

impl Curve {
    /// Through these points, in any order.
    ///
    /// # Panics
    /// If there are none, or two at the same place.
    pub fn through(points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        let mut points: Vec<(f64, f64)> = points.into_iter().collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(!points.is_empty(), "a curve needs a point");
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0), "one point at a place");
        let slopes = slopes(&points);
        Curve { points, slopes }
    }

    /// The value at `x`; beyond the first and last point the curve goes on straight.
    pub fn at(&self, x: f64) -> f64 {
        let last = self.points.len() - 1;
        let after = self.points.partition_point(|point| point.0 <= x);
        if after == 0 || after > last {
            let end = if after == 0 { 0 } else { last };
            return self.points[end].1 + (x - self.points[end].0) * self.slopes[end];
        }
        let ((x0, y0), (x1, y1)) = (self.points[after - 1], self.points[after]);
        let (d0, d1) = (self.slopes[after - 1], self.slopes[after]);
        let width = x1 - x0;
        let t = (x - x0) / width;
        let (t2, t3) = (t * t, t * t * t);
        (2.0 * t3 - 3.0 * t2 + 1.0) * y0
            + (t3 - 2.0 * t2 + t) * width * d0
            + (3.0 * t2 - 2.0 * t3) * y1
            + (t3 - t2) * width * d1
    }
}

fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let secants: Vec<(f64, f64)> = points
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].0, (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)))
        .collect();
    let inner = |left: (f64, f64), right: (f64, f64)| {
        if left.1 * right.1 <= 0.0 {
            return 0.0;
        }
        let (a, b) = (2.0 * right.0 + left.0, right.0 + 2.0 * left.0);
        (a + b) / (a / left.1 + b / right.1)
    };
    // The parabola through three points, unless it would overshoot.
    let outer = |near: (f64, f64), far: (f64, f64)| {
        let slope = ((2.0 * near.0 + far.0) * near.1 - near.0 * far.1) / (near.0 + far.0);
        if slope * near.1 <= 0.0 {
            0.0
        } else if near.1 * far.1 <= 0.0 && slope.abs() > 3.0 * near.1.abs() {
            3.0 * near.1
        } else {
            slope
        }
    };
    match secants[..] {
        [] => vec![0.0],
        [(_, slope)] => vec![slope; 2],
        [first, second, ..] => {
            let mut slopes = vec![outer(first, second)];
            slopes.extend(secants.windows(2).map(|pair| inner(pair[0], pair[1])));
            let [.., before, last] = secants[..] else { unreachable!("at least two") };
            slopes.push(outer(last, before));
            slopes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_through_its_points_and_is_straight_where_they_are() {
        let curve = Curve::through([(2.0, 5.0), (0.0, 1.0), (3.0, 7.0), (7.0, 15.0)]);
        for x in [-1.0, 0.0, 0.3, 2.0, 2.9, 5.0, 7.0, 9.0] {
            assert!((curve.at(x) - (2.0 * x + 1.0)).abs() < 1e-12, "{x}: {}", curve.at(x));
        }
        assert_eq!(Curve::through([(1.0, 4.0)]).at(9.0), 4.0);
        assert_eq!(Curve::through([(1.0, 4.0), (2.0, 6.0)]).at(3.0), 8.0);
    }

    #[test]
    fn is_close_to_a_parabola_and_never_overshoots() {
        let parabola = |x: f64| x * x + 3.0;
        let curve = Curve::through((0..=10).map(|i| (f64::from(i), parabola(f64::from(i)))));
        for i in 0..=100 {
            let x = f64::from(i) / 10.0;
            assert!((curve.at(x) - parabola(x)).abs() < 0.1, "{x}: {}", curve.at(x));
        }
        let step = Curve::through([(0.0, 0.0), (1.0, 0.0), (2.0, 1.0), (3.0, 1.0)]);
        assert!((0..=300).all(|i| (-1e-12..=1.0 + 1e-12).contains(&step.at(f64::from(i) / 100.0))));
    }
}
