//! Calls that are now and then much slower than others of the same size.

use hpcast_stats::Mixture;

use crate::kernel::Fitted;

/// Modes are apart if their means are, by so many deviations of the wider one.
const APART: f64 = 4.0;
/// A mode with fewer of the calls than this is no mode.
const RARE: f64 = 0.002;
/// Calls that are looked at.
const LOOKED_AT: usize = 4000;

pub(super) fn find(fitted: &[Fitted]) -> Option<String> {
    let repeated = fitted.iter().map(|fitted| fitted.size).filter(|size| size.calls.len() > 2);
    // Around the median, which a few slow calls do not move.
    let medians = repeated.map(|size| (size, size.median())).filter(|(_, median)| *median > 0.0);
    let relative: Vec<f64> =
        medians.flat_map(|(size, median)| size.calls.iter().map(move |call| call / median)).collect();
    let step = relative.len().div_ceil(LOOKED_AT).max(1);
    let looked_at: Vec<f64> = relative.into_iter().step_by(step).collect();
    let mixture = Mixture::fit(&looked_at, 3).ok()?;
    let main = mixture.modes().iter().max_by(|a, b| a.weight.total_cmp(&b.weight))?;
    let other = mixture
        .modes()
        .iter()
        .filter(|mode| mode.weight > RARE)
        .find(|mode| (mode.mean - main.mean).abs() > APART * mode.deviation.max(main.deviation))?;
    let share = 100.0 * other.weight;
    let times = other.mean / main.mean;
    Some(format!(
        "{share:.1} % of the calls take {times:.2} times as long as others of the same size: there are modes; try \
         --noise modes"
    ))
}
