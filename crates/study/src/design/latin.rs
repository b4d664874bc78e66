//! Latin hypercubes: each factor's range is cut into as many strata as there are points, and each stratum is used once.
//!
//! M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting values of input variables in
//! the analysis of output from a computer code", Technometrics 21, 1979. Of a few drawn, the one is taken whose nearest
//! two points are farthest apart (M. E. Johnson, L. M. Moore, D. Ylvisaker, "Minimax and maximin distance designs",
//! J. Stat. Plan. Inference 26, 1990). Levels get as many points each as can be; points of levels alone may be equal.

use hpcast_engine::random::Key;

use super::{DesignError, Domain, Setting, settings};

/// Hypercubes to choose from.
const DRAWS: u32 = 30;
/// Comparisons of points that the choice may take: about a second.
const COMPARISONS: usize = 50_000_000;

pub(super) fn count(points: usize) -> Result<u128, DesignError> {
    if points == 0 { Err(DesignError::NoPoints) } else { Ok(points as u128) }
}

pub(super) fn points(domains: &[Domain], points: usize, seed: u64) -> Vec<Vec<Setting>> {
    let affordable = COMPARISONS / points.saturating_mul(points).saturating_mul(domains.len()).max(1);
    let draws = DRAWS.min(u32::try_from(affordable).unwrap_or(DRAWS)).max(1);
    let mut best: (f64, Vec<Vec<Setting>>) = (f64::NEG_INFINITY, Vec::new());
    for draw in 0..draws {
        let places = hypercube(domains.len(), points, seed, draw);
        let drawn: Vec<_> = places.iter().map(|place| settings(domains, place.iter().copied())).collect();
        let distance = if draws == 1 { 0.0 } else { least_distance(&drawn) };
        if distance > best.0 {
            best = (distance, drawn);
        }
    }
    best.1
}

/// Places in [0, 1), a row a point; `draw` tells several ones of a seed apart.
pub(super) fn hypercube(factors: usize, points: usize, seed: u64, draw: u32) -> Vec<Vec<f64>> {
    let (order, inside) = (Key::new(seed).purpose("Latin order"), Key::new(seed).purpose("Latin place"));
    let mut places = vec![vec![0.0; factors]; points];
    for factor in 0..factors {
        // Draws in the upper half keep hypercubes of different numbers of factors alike.
        let entity = draw << 16 | factor as u32 & 0xffff;
        let mut strata: Vec<usize> = (0..points).collect();
        order.shuffle(&mut strata, entity);
        for (index, (place, stratum)) in places.iter_mut().zip(strata).enumerate() {
            place[factor] = (stratum as f64 + inside.uniform(entity, index as u64)) / points as f64;
        }
    }
    places
}

/// The square of the distance of the two points that are nearest to each other. Levels are equal or not: they have no order.
fn least_distance(points: &[Vec<Setting>]) -> f64 {
    let difference = |a: &Setting, b: &Setting| match (a, b) {
        (Setting::Coordinate(a), Setting::Coordinate(b)) => (a - b).powi(2),
        _ => f64::from(a != b),
    };
    let distance = |a: &[Setting], b: &[Setting]| a.iter().zip(b).map(|(a, b)| difference(a, b)).sum();
    let pairs = points.iter().enumerate().flat_map(|(i, a)| points[..i].iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| distance(a, b)).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_one_is_no_worse_than_the_first() {
        let domains = [Domain::Range; 3];
        for seed in 0..20 {
            let first: Vec<_> =
                hypercube(3, 12, seed, 0).into_iter().map(|p| settings(&domains, p.into_iter())).collect();
            assert!(least_distance(&points(&domains, 12, seed)) >= least_distance(&first));
        }
    }
}
