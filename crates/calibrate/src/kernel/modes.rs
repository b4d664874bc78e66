//! Noise with modes: calls that are now and then much slower (T. Cornebize's thesis, section 5.1, N').

use hpcast_models::compute::Mode;
use hpcast_stats::Mixture;

/// At most so many modes.
const MOST: usize = 4;
/// Of more values than this, some are taken: evenly from the shortest to the longest, so that no mode is lost.
const LOOKED_AT: usize = 8000;

/// The modes of durations over their expectation; none if all are alike. Their number is that with the least BIC.
pub(super) fn find(mut ratios: Vec<f64>) -> Option<Vec<Mode>> {
    ratios.sort_by(f64::total_cmp);
    let count = ratios.len();
    if count > LOOKED_AT {
        ratios = (0..LOOKED_AT).map(|i| ratios[i * count / LOOKED_AT + count / LOOKED_AT / 2]).collect();
    }
    let mixture = Mixture::fit(&ratios, MOST).ok()?;
    // What is expected is the model's part: modes only share it out.
    let unit = mixture.expectation();
    let mode = |mode: &hpcast_stats::Mode| Mode {
        share: mode.weight,
        mean: mode.mean / unit,
        deviation: mode.deviation / unit,
    };
    Some(mixture.modes().iter().map(mode).collect())
}
