//! How many segments are worth their parameters.

/// Bayesian information criterion: K ln S + S ln(RSS / S), with S points and K = 4N + 3 parameters for N breakpoints (slope,
/// intercept and noise of each segment, and the breakpoints): thesis, section 5.3.3. Dividing by S, as the published program
/// does, moves all values alike. A misfit below `floor` is as good as none, and counts as `floor`.
pub(super) fn bic(points: usize, segments: usize, misfit: f64, floor: f64) -> f64 {
    let count = points as f64;
    let parameters = (4 * segments - 1) as f64;
    parameters * count.ln() + count * (misfit.max(floor).max(f64::MIN_POSITIVE) / count).ln()
}
