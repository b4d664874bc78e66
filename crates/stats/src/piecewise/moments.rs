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

    pub(super) fn is_finite(&self) -> bool {
        [self.xx, self.xy, self.residual, self.square].into_iter().all(f64::is_finite)
    }

    /// Of the points of both.
    ///
    /// Centred sums: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing
    /// sample variances", 1979. The residuals grow by what it costs to give both the same slope, and then the same line.
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
        self.xx * (other.xx / (self.xx + other.xx)) * turn * turn
    }
}

/// Points at two places lie on a line whatever their height; at one place they do not.
fn flat(dx: f64) -> f64 {
    if dx == 0.0 { 1.0 } else { 0.0 }
}
