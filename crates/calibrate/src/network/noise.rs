//! What single messages differ by: modes of a range of sizes.

use hpcast_models::network::draw;
use hpcast_platform::protocol::{Mode, Piece};
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
    let mode =
        |mode: &hpcast_stats::Mode| Mode { share: mode.weight, mean: mode.mean + shift, deviation: mode.deviation };
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

/// By how much draws exceed their expectation on the mean, because none is negative.
pub(super) fn excess(modes: &[Mode]) -> f64 {
    const DRAWS: u64 = 4096;
    let piece = Piece::noisy(0, 0.0, modes.to_vec());
    let word = |number: u64| (u64::MAX / DRAWS) * number + u64::MAX / DRAWS / 2;
    (0..DRAWS).map(|number| draw(&piece, 0, word(number))).sum::<f64>() / DRAWS as f64 - piece.base
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(share: f64, mean: f64, deviation: f64) -> Mode {
        Mode { share, mean, deviation }
    }

    #[test]
    fn a_slow_message_in_two_makes_a_slow_ping_pong() {
        let single = of_one_in_two(vec![mode(0.9, 10.0, 1.0), mode(0.1, 30.0, 2.0)]);
        let root = 2f64.sqrt();
        assert_eq!(single, [mode(0.95, 10.0, root), mode(0.05, 50.0, 14f64.sqrt())]);
        // The mean of two of them is a ping-pong again: 2 x 0.95 x 0.05 of them are slow, by half of 40.
        let mean: f64 = single.iter().map(|mode| mode.share * mode.mean).sum();
        assert!((mean - 12.0).abs() < 1e-12);
        let fast = vec![mode(0.9, 10.0, 1.0), mode(0.1, 3.0, 1.0)];
        assert_eq!(of_one_in_two(fast.clone()), fast);
        assert!(of_one_in_two(Vec::new()).is_empty());
    }

    #[test]
    fn only_what_would_be_negative_adds_to_the_expectation() {
        assert!(excess(&[mode(1.0, 10.0, 1.0)]).abs() < 1e-3);
        assert!(excess(&[mode(0.5, -10.0, 0.0), mode(0.5, 12.0, 0.0)]) > 4.9);
        assert_eq!(excess(&[]), 0.0);
    }

    #[test]
    fn modes_are_found_and_their_expectation_is_that_of_the_line() {
        let residual = |i: u32| {
            let jitter = f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24) - 0.5;
            if i.is_multiple_of(10) { 9.0 + jitter } else { -1.0 + 0.2 * jitter }
        };
        let residuals: Vec<f64> = (0..20_000).map(residual).collect();
        let found = modes(&residuals, 5.0, 2);
        assert!(
            (found[0].share - 0.9).abs() < 0.01 && (found[1].mean - found[0].mean - 10.0).abs() < 0.05,
            "{found:?}"
        );
        let expectation: f64 = found.iter().map(|mode| mode.share * mode.mean).sum();
        assert!((expectation - 5.0).abs() < 1e-9);
        assert!(modes(&[1.0; 50], 5.0, 2).is_empty() && modes(&[], 5.0, 2).is_empty());
    }
}
