//! What a message costs, where that is drawn: a line over its size whose base has modes.
//!
//! T. Cornebize's thesis (2021), section 5.3.1: piecewise linear, with a mixture for each range of sizes (N'-1).

use hpcast_platform::protocol::{Mode, Piece};
use hpcast_stats::HalfNormal;

/// Seconds for a message of that size, never negative, for 64 random bits. The mean of many is what the piece expects: a
/// mode that is wider than its own mean is drawn as wide as can be without times below zero.
pub fn draw(piece: &Piece, size: u64, word: u64) -> f64 {
    let of_size = piece.per_byte * size as f64;
    let Some((mode, word)) = choose(&piece.modes, word) else { return (piece.base + of_size).max(0.0) };
    let expectation = (mode.mean + of_size).max(0.0);
    let deviation = mode.deviation.min(expectation / HalfNormal::BELOW);
    // Rounding may lead below zero.
    HalfNormal { expectation, deviation }.draw(word).max(0.0)
}

/// The bits, as a number from 0 to 1, choose the mode, and what is left of it the place in the mode.
fn choose(modes: &[Mode], word: u64) -> Option<(&Mode, u64)> {
    const WORDS: f64 = (1u128 << 64) as f64;
    let mut place = word as f64 / WORDS;
    let (last, others) = modes.split_last()?;
    let chosen = others.iter().find(|mode| {
        let is_in = place < mode.share;
        place -= if is_in { 0.0 } else { mode.share };
        is_in
    });
    let mode = chosen.unwrap_or(last);
    Some((mode, (place / mode.share * WORDS) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evenly(count: u64) -> impl Iterator<Item = u64> {
        let step = u64::MAX / count;
        (0..count).map(move |i| i * step + step / 2)
    }

    #[test]
    fn modes_have_their_shares_means_and_deviations() {
        let modes = [(0.02, 45e-6, 4e-6), (0.28, 9e-6, 1e-6), (0.7, 2e-6, 1e-7)];
        let modes: Vec<Mode> = modes.map(|(share, mean, deviation)| Mode { share, mean, deviation }).to_vec();
        let piece = Piece::noisy(0, 1e-10, modes.clone());
        let draws: Vec<f64> = evenly(500_000).map(|word| draw(&piece, 10_000, word) - 1e-6).collect();
        let limits = [30e-6, 5e-6, 0.0];
        let mut above = f64::INFINITY;
        for (mode, limit) in modes.iter().zip(limits) {
            let own: Vec<f64> = draws.iter().copied().filter(|draw| (limit..above).contains(draw)).collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            let variance = own.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / own.len() as f64;
            assert!((own.len() as f64 / 500_000.0 - mode.share).abs() < 1e-4, "{mode:?}");
            assert!((mean / mode.mean - 1.0).abs() < 1e-3, "{mode:?}: {mean}");
            assert!((variance.sqrt() / mode.deviation - 1.0).abs() < 1e-2, "{mode:?}: {variance}");
            above = limit;
        }
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean / piece.base - 1.0).abs() < 1e-3, "{mean} {}", piece.base);
    }

    #[test]
    fn nothing_takes_less_than_no_time_and_what_has_no_modes_is_not_drawn() {
        let piece = Piece::noisy(0, 0.0, vec![Mode { share: 1.0, mean: 1e-6, deviation: 9e-6 }]);
        let draws: Vec<f64> = evenly(100_000).map(|word| draw(&piece, 1, word)).collect();
        assert!(draws.iter().all(|draw| *draw >= 0.0) && draws[0] < 1e-10);
        // As expected all the same.
        assert!((draws.iter().sum::<f64>() / 1e5 / piece.base - 1.0).abs() < 1e-3);
        let plain = Piece { base: 2e-6, per_byte: 1e-9, ..Piece::default() };
        assert!(evenly(3).all(|word| draw(&plain, 1000, word) == 3e-6));
    }
}
