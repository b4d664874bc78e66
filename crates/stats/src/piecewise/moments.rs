//! Sums over points that give the regression line through them, and that can be joined.

/// Number, means, centred sums and squared residuals of points.
///
/// Everything that is added up is positive or a product of differences from means, so nothing cancels when sizes go to
/// 1e9 and times down to 1e-7. In particular the residual sum is never the difference of two large sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    count: f64,
    mean_x: f64,
    mean_y: f64,
    /// Sum of (x - mean)^2.
    xx: f64,
    /// Sum of (x - mean)(y - mean).
    xy: f64,
    /// Squared residuals of the regression line.
    pub(super) residual: f64,
    /// Sum of y^2.
    pub(super) square: f64,
}

impl Moments {
    pub(super) fn of_point(x: f64, y: f64) -> Moments {
        Moments { count: 1.0, mean_x: x, mean_y: y, square: y * y, ..Moments::default() }
    }

    pub(super) fn slope(&self) -> f64 {
        if self.xx > 0.0 { self.xy / self.xx } else { 0.0 }
    }

    pub(super) fn intercept(&self) -> f64 {
        self.mean_y - self.slope() * self.mean_x
    }

    /// Of the points of both.
    ///
    /// Centred sums: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing
    /// sample variances", 1979. The residuals grow by what it costs to give both the same slope, and then the same line.
    #[inline]
    pub(super) fn join(&self, other: &Moments) -> Moments {
        if self.count == 0.0 || other.count == 0.0 {
            return if self.count == 0.0 { *other } else { *self };
        }
        let count = self.count + other.count;
        let share = other.count / count;
        let both = self.count * share;
        let (dx, dy) = (other.mean_x - self.mean_x, other.mean_y - self.mean_y);
        let (xx, xy) = (self.xx + other.xx, self.xy + other.xy);
        let (slope, stiffness) = if xx > 0.0 { (xy / xx, xx / (xx + both * dx * dx)) } else { (0.0, flat(dx)) };
        let offset = dy - slope * dx;
        Moments {
            count,
            mean_x: self.mean_x + share * dx,
            mean_y: self.mean_y + share * dy,
            xx: xx + both * dx * dx,
            xy: xy + both * dx * dy,
            residual: self.residual + other.residual + self.turning(other) + both * offset * offset * stiffness,
            square: self.square + other.square,
        }
    }

    /// What it costs to give two clouds of points the same slope.
    fn turning(&self, other: &Moments) -> f64 {
        if self.xx == 0.0 || other.xx == 0.0 {
            return 0.0;
        }
        let turn = self.slope() - other.slope();
        // In this order neither of the products overflows.
        (self.xx * turn) * (other.xx / (self.xx + other.xx) * turn)
    }
}

/// Points at two places lie on a line whatever their height; at one place they do not.
fn flat(dx: f64) -> f64 {
    if dx == 0.0 { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(points: &[(f64, f64)]) -> Moments {
        points.iter().fold(Moments::default(), |sum, &(x, y)| sum.join(&Moments::of_point(x, y)))
    }

    #[test]
    fn nothing_is_lost_between_sizes_of_1e9_and_noise_of_1e_12() {
        // Residuals that are orthogonal to every line: +1 -1 -1 +1 over evenly spaced x.
        let noise = |i: i32| if i % 4 == 0 || i % 4 == 3 { 1e-12 } else { -1e-12 };
        let points: Vec<(f64, f64)> = (0..400)
            .map(|i| (1e9 + 1e3 * f64::from(i), noise(i)))
            .map(|(x, noise)| (x, 1e-7 + 1e-14 * (x - 1e9) + noise))
            .collect();
        let found = of(&points);
        assert!((found.residual / 400e-24 - 1.0).abs() < 1e-6, "{}", found.residual);
        assert!((found.slope() / 1e-14 - 1.0).abs() < 1e-6, "{}", found.slope());
        let joined = of(&points[..123]).join(&of(&points[123..]));
        assert!((joined.residual / found.residual - 1.0).abs() < 1e-6, "{}", joined.residual);
    }

    #[test]
    fn points_at_one_or_two_places_have_the_residuals_of_their_means() {
        assert_eq!(of(&[(1.0, 2.0), (1.0, 4.0)]).residual, 2.0);
        assert_eq!(of(&[(1.0, 2.0), (5.0, 4.0)]).residual, 0.0);
        let two_by_two = of(&[(1.0, 2.0), (1.0, 4.0), (5.0, 0.0), (5.0, 6.0)]);
        assert_eq!(two_by_two.residual, 2.0 + 18.0);
        assert_eq!((two_by_two.slope(), two_by_two.intercept()), (0.0, 3.0));
    }
}
