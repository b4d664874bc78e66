//! What the search for breakpoints asks of an objective.

use std::ops::Range;

use super::Line;

/// Squared errors of the best lines, in the measure of an objective.
pub(super) trait Misfit {
    /// Of the best line through these groups.
    fn of(&self, groups: Range<usize>) -> f64;

    /// The best place to cut these groups in two, if they can be cut.
    fn best_cut(&self, groups: Range<usize>) -> Option<usize>;

    /// What rounding alone may cause: smaller misfits differ by chance.
    fn floor(&self, groups: Range<usize>) -> f64;

    /// The best line.
    fn line(&self, groups: Range<usize>) -> Line;

    /// The misfit of this line.
    fn of_line(&self, groups: Range<usize>, line: Line) -> f64;
}

/// The best of some cuts, each with the misfit of both sides; the first of those that are equally good.
pub(super) fn best_of(cuts: impl Iterator<Item = (usize, f64)>, floor: f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (at, misfit) in cuts.map(|(at, misfit)| (at, misfit.max(floor))) {
        if best.is_none_or(|best| misfit < best.1) {
            best = Some((at, misfit));
        }
    }
    best.map(|best| best.0)
}
