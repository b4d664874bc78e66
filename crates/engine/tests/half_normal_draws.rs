//! Keyed draws of half-normal noise have that distribution, in the middle and in the tail.

use hpcast_engine::Key;
use hpcast_stats::{HalfNormal, normal};

/// |Z|: its expectation is sqrt(2/pi), its variance 1 - 2/pi.
const FOLDED: HalfNormal = HalfNormal { expectation: 0.797_884_560_802_865_4, deviation: 0.602_810_275_243_437_4 };

#[test]
fn ten_million_draws_are_half_normal() {
    are_half_normal(10_000_000);
}

/// A hundred times as many, so that the tail beyond five deviations is checked too.
#[test]
#[ignore = "a billion draws take up to a minute when optimised, and many otherwise: `make test-slow` runs it"]
fn a_billion_draws_are_half_normal() {
    are_half_normal(1_000_000_000);
}

fn are_half_normal(draws: u64) {
    const BINS: usize = 1000;
    let stream = Key::new(2026).purpose("noise");
    let edges: Vec<f64> = (1..BINS).map(|i| normal::quantile(0.5 + 0.5 * i as f64 / BINS as f64)).collect();
    let beyond = [3.0, 4.0, 5.0].map(|sigma| (sigma, 2.0 * normal::cdf(-sigma)));
    let (mut bins, mut tails) = ([0_u64; BINS], [0_u64; 3]);
    let (mut sum, mut squares, mut products, mut last) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..draws {
        // A thousand entities, as ranks draw in turn.
        let z = FOLDED.draw(stream.word((i % 1000) as u32, i / 1000));
        bins[edges.partition_point(|&edge| edge <= z)] += 1;
        (0..3).filter(|&k| z > beyond[k].0).for_each(|k| tails[k] += 1);
        sum += z - FOLDED.expectation;
        squares += z * z;
        products += (z - FOLDED.expectation) * last;
        last = z - FOLDED.expectation;
    }
    let n = draws as f64;
    // Of |Z|: variance 0.363 of the mean of z, 2 of that of z squared, 0.363^2 of that of neighbours' products.
    assert!((sum / n).abs() < 4.0 * (0.363 / n).sqrt(), "mean is off by {:e}", sum / n);
    assert!((squares / n - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "mean square is {}", squares / n);
    assert!((products / n).abs() < 4.0 * 0.363 / n.sqrt(), "neighbours go together: {:e}", products / n);
    let expected = n / BINS as f64;
    let chi_squared: f64 = bins.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let freedom = (BINS - 1) as f64;
    assert!((chi_squared - freedom).abs() < 4.0 * (2.0 * freedom).sqrt(), "chi-squared is {chi_squared}");
    for ((sigma, probability), count) in beyond.into_iter().zip(tails) {
        let expected = n * probability;
        assert!((count as f64 - expected).abs() < 4.0 * expected.sqrt(), "beyond {sigma}: {count} for {expected}");
    }
}
