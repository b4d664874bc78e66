//! Noise with modes: calls that are now and then much slower (T. Cornebize's thesis, section 5.1, N').

use hpcast_models::compute::Mode;
use hpcast_stats::Mixture;

use super::{Fitted, Size};

/// At most so many modes.
const MOST: usize = 4;
/// Of more values than this, some are taken: evenly from the shortest to the longest, so that no mode is lost.
const LOOKED_AT: usize = 8000;
/// Calls of a size whose mean can be told from them.
const FEWEST: usize = 3;

/// The modes of relative durations; none if all are alike. Their number is that with the least BIC.
pub(super) fn find(fitted: &[Fitted]) -> Option<Vec<Mode>> {
    let mut ratios: Vec<f64> = fitted.iter().flat_map(among_their_like).collect();
    if ratios.is_empty() {
        let ratio = |one: &Fitted| one.size.seconds / one.model;
        ratios = fitted.iter().filter(|one| one.model > 0.0).map(ratio).collect();
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
        deviation: mode.deviation / unit,
    };
    Some(mixture.modes().iter().map(mode).collect())
}

/// Calls over the mean of their size: what the model is off by is no noise. Means follow their calls, and the fewer there are
/// the more; what calls differ by is corrected for that.
fn among_their_like(one: &Fitted) -> Vec<f64> {
    let Size { calls, seconds, .. } = one.size;
    if calls.len() < FEWEST || *seconds <= 0.0 {
        return Vec::new();
    }
    let wider = (calls.len() as f64 / (calls.len() - 1) as f64).sqrt();
    calls.iter().map(|call| 1.0 + wider * (call / seconds - 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!((modes.iter().map(|mode| mode.share * mode.mean).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
