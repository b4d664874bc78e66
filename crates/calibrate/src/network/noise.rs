//! What single messages differ by: modes of a range of sizes.

use hpcast_platform::protocol::Mode;
use hpcast_stats::Mixture;

/// Residuals that are looked at: their quantiles, evenly spread.
const LOOKED_AT: usize = 6000;

/// Modes of a base that has this expectation, from what calls differ by. None if there is no noise to be seen.
pub(super) fn modes(residuals: &[f64], expectation: f64, most: usize) -> Vec<Mode> {
    let mut sorted = residuals.to_vec();
    sorted.sort_by(f64::total_cmp);
    let step = sorted.len().div_ceil(LOOKED_AT).max(1);
    let looked_at: Vec<f64> = sorted.iter().copied().skip(step / 2).step_by(step).collect();
    let Ok(mixture) = Mixture::fit(&looked_at, most) else { return Vec::new() };
    // The line says what is expected; chance must not change it.
    let shift = expectation - mixture.expectation();
    let mode = |mode: &hpcast_stats::Mode| Mode {
        share: mode.weight,
        mean: mode.mean + shift,
        deviation: mode.deviation,
    };
    mixture.modes().iter().map(mode).collect()
}

/// Modes of single messages, from those of half a ping-pong, which is the mean of two. Of a slow ping-pong one message was
/// slow: so half as many messages are, by twice as much. The expectation stays.
pub(super) fn of_one_in_two(modes: Vec<Mode>) -> Vec<Mode> {
    let Some(main) = modes.iter().copied().max_by(|a, b| a.share.total_cmp(&b.share)) else { return modes };
    let usual = Mode { share: (1.0 + main.share) / 2.0, deviation: main.deviation * 2f64.sqrt(), ..main };
    let single = |mode: &Mode| match *mode == main {
        true => usual,
        false => Mode {
            share: mode.share / 2.0,
            mean: 2.0 * mode.mean - main.mean,
            deviation: (4.0 * mode.deviation.powi(2) - usual.deviation.powi(2)).max(main.deviation.powi(2)).sqrt(),
        },
    };
    let singles: Vec<Mode> = modes.iter().map(single).collect();
    // A mode much faster than the usual one is no sum of two: then leave things as they are.
    if singles.iter().all(|mode| mode.mean >= 0.0) { singles } else { modes }
}
