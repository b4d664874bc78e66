//! What the search for breakpoints asks of an objective.

use std::ops::Range;

use super::Line;
use super::sample::Sample;

/// Squared errors of the best lines, in the measure of an objective.
pub(super) trait Misfit {
    /// Cuts tried at once. Where there are more places, the search closes in on the best.
    const CUTS: usize;

    /// The points.
    fn sample(&self) -> &Sample;

    /// Of the best line through these groups.
    fn of(&self, groups: Range<usize>) -> f64;

    /// Of the best lines on both sides of some cuts through these groups: the first of `cuts` and each `step`th after it.
    fn of_cuts(&self, groups: Range<usize>, cuts: Range<usize>, step: usize) -> Vec<f64>;

    /// What rounding alone may cause: smaller misfits differ by chance.
    fn floor(&self, groups: Range<usize>) -> f64;

    /// The best line.
    fn line(&self, groups: Range<usize>) -> Line;

    /// The misfit of this line.
    fn of_line(&self, groups: Range<usize>, line: Line) -> f64;

    /// The best place to cut these groups in two, if they can be cut; the first if several are equally good.
    fn best_cut(&self, groups: Range<usize>) -> Option<usize> {
        let floor = self.floor(groups.clone());
        let mut cuts = self.sample().cuts(&groups);
        loop {
            let step = cuts.len().div_ceil(Self::CUTS).max(1);
            let misfits = self.of_cuts(groups.clone(), cuts.clone(), step);
            let best = cuts.start + step * first_least(misfits.into_iter().map(|misfit| misfit.max(floor)))?;
            if step == 1 {
                return Some(best);
            }
            cuts = cuts.start.max((best + 1).saturating_sub(step))..cuts.end.min(best + step);
        }
    }
}

fn first_least(values: impl Iterator<Item = f64>) -> Option<usize> {
    values.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map(|least| least.0)
}
