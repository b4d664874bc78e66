//! Noise with modes: calls that are now and then much slower (T. Cornebize's thesis, section 5.1, N').

use std::f64::consts::FRAC_PI_2;

use hpcast_models::compute::Mode;
use hpcast_stats::Mixture;

use super::Fitted;

/// At most so many modes.
const MOST: usize = 4;
/// Of more values than this, some are taken: evenly from the shortest to the longest, so that no mode is lost.
const LOOKED_AT: usize = 8000;
/// Calls of a size whose median can be told from them.
const FEWEST: usize = 3;

/// The modes of relative durations; none if all are alike. Their number is that with the least BIC.
pub(super) fn find(fitted: &[Fitted]) -> Option<Vec<Mode>> {
    let mut ratios: Vec<f64> = fitted.iter().flat_map(among_the_others).collect();
    let mut wider = 1.0;
    if ratios.is_empty() {
        let ratio = |one: &Fitted| one.size.seconds / one.model;
        ratios = fitted.iter().filter(|one| one.model > 0.0).map(ratio).collect();
    } else {
        // Medians differ, too: of n calls with normal noise, their variance is pi / 2 n of it.
        let others =
            ratios.len() as f64 / fitted.iter().filter(|one| one.size.calls.len() >= FEWEST).count() as f64 - 1.0;
        wider = (1.0 + FRAC_PI_2 / others).sqrt();
    }
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
        deviation: mode.deviation / unit / wider,
    };
    Some(mixture.modes().iter().map(mode).collect())
}

/// Each call over the median of the others of its size: what the model is off by is no noise, a slow call would move a
/// mean, and a call that has a part in its own measure would look like it.
fn among_the_others(one: &Fitted) -> Vec<f64> {
    let mut calls = one.size.calls.clone();
    calls.sort_by(f64::total_cmp);
    let others = calls.len().saturating_sub(1);
    if calls.len() < FEWEST || calls[0] <= 0.0 {
        return Vec::new();
    }
    let ratio = |call: usize| {
        let other = |place: usize| calls[if place < call { place } else { place + 1 }];
        calls[call] / (0.5 * (other((others - 1) / 2) + other(others / 2)))
    };
    (0..calls.len()).map(ratio).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Size;

    #[test]
    fn modes_are_found_although_the_model_is_off() {
        // One call of 20 takes three times as long.
        let size = |i: u32| {
            let call = |k: u32| {
                f64::from(i) * (1.0 + 0.001 * f64::from((7 * i + 3 * k) % 11)) * if k == 0 { 3.0 } else { 1.0 }
            };
            let calls: Vec<f64> = (0..20).map(call).collect();
            Size { arguments: vec![], seconds: calls.iter().sum::<f64>() / 20.0, calls }
        };
        let sizes: Vec<Size> = (1..60).map(size).collect();
        let wrong = |size| Fitted { size, model: 17.0, deviation: 0.0 };
        let modes = find(&sizes.iter().map(wrong).collect::<Vec<_>>()).unwrap();
        let slow: Vec<&Mode> = modes.iter().filter(|mode| mode.mean > 2.0).collect();
        assert!((slow.iter().map(|mode| mode.share).sum::<f64>() - 0.05).abs() < 1e-3, "{modes:?}");
        assert!((slow[0].mean / modes[0].mean - 3.0).abs() < 0.1, "{modes:?}");
        assert!(
            modes.iter().all(|mode| mode.mean > 0.9),
            "none for those that share a size with a slow one: {modes:?}"
        );
        assert!((modes.iter().map(|mode| mode.share * mode.mean).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
