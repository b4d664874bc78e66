//! How many segments are worth their parameters.

/// Bayesian information criterion: K ln S + S ln(RSS / S), with S points and K = 4N + 3 parameters for N breakpoints (slope,
/// intercept and noise of each segment, and the breakpoints): thesis, section 5.3.3. Dividing by S, as the published program
/// does, moves all values alike. A misfit below `floor` is as good as none, and counts as `floor`.
///
/// The published program (pycewise 0.1.4) departs from the text: for logarithms it takes S RSS instead of S ln RSS, which
/// cuts noise into pieces where points are many, and no breakpoint counts that gains less than |log2 min(y)^2|, which depends
/// on the unit of y. Here the text counts, so there may be more breakpoints than it finds, with a lesser criterion.
pub(super) fn bic(points: usize, segments: usize, misfit: f64, floor: f64) -> f64 {
    let count = points as f64;
    let parameters = (4 * segments - 1) as f64;
    parameters * count.ln() + count * (misfit.max(floor).max(f64::MIN_POSITIVE) / count).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakpoint_costs_four_parameters() {
        let (one, two) = (bic(100, 1, 5.0, 0.0), bic(100, 2, 5.0, 0.0));
        assert!((two - one - 4.0 * 100f64.ln()).abs() < 1e-12);
        assert!((one - (3.0 * 100f64.ln() + 100.0 * 0.05f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn below_the_floor_all_are_alike() {
        assert_eq!(bic(100, 1, 1e-30, 1e-20), bic(100, 1, 0.0, 1e-20));
        assert!(bic(100, 1, 0.0, 0.0).is_finite());
    }
}
