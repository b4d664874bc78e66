//! Where one piece of a model ends and the next begins.

use std::collections::BTreeMap;

use hpcast_models::compute::Term;
use hpcast_stats::piecewise::{self, Objective, Strategy};

use super::sample::{Sample, mean};
use super::{KernelError, Recipe, value};

/// A piece has at least so many sizes more than terms on each processor.
const SPARE: usize = 2;

/// The values of the split at which pieces end, in order; none if there is only one piece.
pub(super) fn limits(samples: &[Sample], recipe: &Recipe, names: &[&str]) -> Result<Vec<f64>, KernelError> {
    let Some(split) = &recipe.split else { return Ok(Vec::new()) };
    if !recipe.pieces_at.is_empty() {
        let mut limits = recipe.pieces_at.clone();
        limits.sort_by(f64::total_cmp);
        limits.dedup();
        return Ok(limits);
    }
    if !recipe.terms.contains(split) || recipe.terms.iter().any(|term| term != split && *term != Term::one()) {
        return Err(KernelError::NoLine { split: split.to_string() });
    }
    let values: Vec<Vec<f64>> = samples
        .iter()
        .map(|sample| sample.sizes.iter().map(|size| value(split, names, &size.arguments)).collect())
        .collect();
    let points = points(samples, &values);
    let found = piecewise::fit(&points, Objective::Logarithmic, Strategy::Both).map_err(KernelError::Pieces)?;
    let ends = found.segments.windows(2).map(|pair| round_between(pair[0].to, pair[1].from)).collect();
    Ok(supported(ends, &values, recipe.terms.len() + SPARE))
}

/// One point for each value of the split. What a processor is slower by than others says nothing of pieces, and is divided
/// out.
fn points(samples: &[Sample], values: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let pairs = |place: usize| values[place].iter().copied().zip(samples[place].sizes.iter().map(|size| size.seconds));
    let usable = |(x, y): &(f64, f64)| *x > 0.0 && *y > 0.0;
    let speed = |place: usize| mean(pairs(place).filter(usable).map(|(x, y)| (y / x).ln())).exp();
    let first = speed(0);
    let mut by_value: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for place in 0..samples.len() {
        let slow = speed(place) / first;
        for (x, y) in pairs(place).filter(usable) {
            // Positive numbers are in the order of their bits.
            by_value.entry(x.to_bits()).or_default().push(y / slow);
        }
    }
    by_value.into_iter().map(|(x, seconds)| (f64::from_bits(x), mean(seconds.into_iter()))).collect()
}

/// Only limits that leave every processor enough sizes in each piece.
fn supported(limits: Vec<f64>, values: &[Vec<f64>], fewest: usize) -> Vec<f64> {
    let enough = |from: f64, to: f64| {
        values.iter().all(|values| values.iter().filter(|value| (from..to).contains(value)).count() >= fewest)
    };
    let mut kept: Vec<f64> = Vec::new();
    for limit in limits {
        if enough(kept.last().copied().unwrap_or(f64::NEG_INFINITY), limit) {
            kept.push(limit);
        }
    }
    while kept.last().is_some_and(|last| !enough(*last, f64::INFINITY)) {
        kept.pop();
    }
    kept
}

/// A number with few digits, above the first and at most the second.
fn round_between(low: f64, high: f64) -> f64 {
    let middle = (low * high).sqrt();
    let rounded = (0..17).filter_map(|digits| format!("{middle:.digits$e}").parse().ok());
    rounded.into_iter().find(|number| low < *number && *number <= high).unwrap_or(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_round_and_between() {
        assert_eq!(round_between(29_117.0, 31_250.0), 30_000.0);
        assert_eq!(round_between(29_900.0, 29_950.0), 29_920.0);
        assert_eq!(round_between(1.0, 2.0), 1.4);
        let next = f64::from_bits(1.5f64.to_bits() + 1);
        assert_eq!(round_between(1.5, next), next);
    }

    #[test]
    fn limits_leave_enough_on_each_side() {
        let values = [(1..=20).map(f64::from).collect(), (1..=20).map(|i| f64::from(2 * i)).collect()];
        assert_eq!(supported(vec![2.0, 10.0, 12.0, 16.0, 19.0], &values, 4), [10.0]);
        assert_eq!(supported(vec![18.0], &values, 4), [0.0; 0]);
        assert_eq!(supported(vec![], &values, 4), [0.0; 0]);
    }
}
