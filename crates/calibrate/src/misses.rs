//! What a model misses: features of the data that anybody would see in a plot.

use hpcast_stats::Mixture;

use crate::kernel::{Size, mean};

/// Groups of sizes, from the shortest calls to the longest, that are looked at one by one.
const GROUPS: usize = 10;
/// A group is off if its mean is, by this part.
const OFF: f64 = 0.05;
/// And by so many of its own standard errors.
const SURE: f64 = 4.0;
/// Modes are apart if their means are, by so many deviations of the wider one.
const APART: f64 = 4.0;
/// A mode with fewer of the calls than this is no mode.
const RARE: f64 = 0.002;
/// Calls that are looked at for modes.
const LOOKED_AT: usize = 4000;

/// Warnings, in sentences. `residuals` are measured less modelled means, size by size.
pub(crate) fn find(sizes: &[&Size], residuals: &[f64]) -> Vec<String> {
    let mut warnings = off(sizes, residuals);
    warnings.extend(modes(sizes));
    warnings
}

/// Ranges of durations where the model is off: a curve, or a jump, that its terms do not have.
fn off(sizes: &[&Size], residuals: &[f64]) -> Vec<String> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| sizes[a].seconds.total_cmp(&sizes[b].seconds));
    let mut warnings = Vec::new();
    for group in order.chunks(sizes.len().div_ceil(GROUPS).max(3)) {
        let errors: Vec<f64> = group.iter().map(|&size| residuals[size] / sizes[size].seconds).collect();
        let centre = mean(errors.iter().copied());
        let variance = mean(errors.iter().map(|error| (error - centre).powi(2))) / errors.len() as f64;
        if centre.abs() > OFF && centre.abs() > SURE * variance.sqrt() {
            let [first, last] = [group[0], group[group.len() - 1]].map(|size| sizes[size].seconds);
            let which = if centre > 0.0 { "too short" } else { "too long" };
            let percent = 100.0 * centre.abs();
            warnings.push(format!("calls of {first:.2e} to {last:.2e} s are modelled {percent:.0} % {which}"));
        }
    }
    warnings
}

/// Calls that are now and then much slower than others of the same size.
fn modes(sizes: &[&Size]) -> Option<String> {
    let relative = sizes.iter().filter(|size| size.calls.len() > 2).flat_map(|size| {
        // Around the median, which a few slow calls do not move.
        let mut calls = size.calls.clone();
        calls.sort_by(f64::total_cmp);
        let median = calls[calls.len() / 2];
        calls.into_iter().map(move |call| call / median)
    });
    let relative: Vec<f64> = relative.collect();
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
    Some(format!("{share:.1} % of the calls take {times:.2} times as long as others of the same size: there are modes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(seconds: f64, calls: Vec<f64>) -> Size {
        Size { arguments: vec![], seconds, calls }
    }

    #[test]
    fn a_jump_and_modes_are_seen_and_mere_noise_is_not() {
        let jitter = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 23) - 1.0;
        let quiet: Vec<Size> = (1..200)
            .map(|i| size(f64::from(i), (0..20).map(|k| f64::from(i) * (1.0 + 0.02 * jitter(20 * i + k))).collect()))
            .collect();
        let sizes: Vec<&Size> = quiet.iter().collect();
        let noise: Vec<f64> = (1..200).map(|i| f64::from(i) * 0.02 * jitter(i)).collect();
        assert_eq!(find(&sizes, &noise), Vec::<String>::new());
        let jump: Vec<f64> =
            (1..200).map(|i| if i < 40 { 0.2 * f64::from(i) } else { noise[i as usize - 1] }).collect();
        let found = find(&sizes, &jump);
        assert!(found[0].contains("modelled 20 % too short"), "{found:?}");
        let slow: Vec<Size> = quiet
            .iter()
            .map(|quiet| {
                let mut calls = quiet.calls.clone();
                calls[0] *= 3.0;
                size(quiet.seconds, calls)
            })
            .collect();
        let found = find(&slow.iter().collect::<Vec<_>>(), &noise);
        assert!(found.len() == 1 && found[0].contains("5.0 % of the calls take 2.9"), "{found:?}");
    }
}
