//! Expectation-maximisation: A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood from incomplete data via the EM
//! algorithm", J. R. Statist. Soc. B 39(1), 1977.

use std::f64::consts::TAU;

use super::{Mixture, MixtureError, Mode};

/// A mode is at least this wide, as a part of the spread of all values: likelihood has no upper limit for a mode that
/// shrinks onto one value, or onto values that a clock has rounded to the same.
const NARROWEST: f64 = 1e-3;

/// A mode that holds fewer values than this has collapsed onto outliers.
const FEWEST: f64 = 3.0;

/// Steps to tell which start is best, and until a mixture must have settled.
const TRIAL: usize = 20;
const STEPS: usize = 500;

/// If the logarithm of the likelihood grows by less a step, it has settled: a difference of 0.5 is within chance.
const SETTLED: f64 = 1e-5;

pub fn best(values: &[f64], most: usize) -> Result<Mixture, MixtureError> {
    if most == 0 {
        return Err(MixtureError::NoModes);
    }
    let data = Data::new(values)?;
    let mut best = data.settle(data.slices(1)).ok_or(MixtureError::TooFew { found: values.len() })?;
    let mut last = best.clone();
    for count in 2..=most {
        let Some(start) = data.best_start(&last, count) else { break };
        let Some(mixture) = data.settle(start) else { break };
        if mixture.bic < best.bic {
            best = mixture.clone();
        }
        last = mixture;
    }
    Ok(best)
}

struct Data {
    sorted: Vec<f64>,
    narrowest: f64,
}

impl Data {
    fn new(values: &[f64]) -> Result<Data, MixtureError> {
        let found = values.len();
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            return Err(MixtureError::NotFinite { place });
        }
        if (found as f64) < FEWEST {
            return Err(MixtureError::TooFew { found });
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        if sorted[0] == sorted[found - 1] {
            return Err(MixtureError::NoSpread { found });
        }
        // Of the middle half, which a few values far away do not change; unless that half is all the same.
        let middle = sorted[found * 3 / 4] - sorted[found / 4];
        let spread = if middle > 0.0 { middle } else { moments(&sorted).deviation };
        Ok(Data { narrowest: NARROWEST * spread, sorted })
    }

    /// As many slices of equally many values, one after the other.
    fn slices(&self, count: usize) -> Vec<Mode> {
        let edge = |i: usize| i * self.sorted.len() / count;
        let slice = |i: usize| &self.sorted[edge(i)..edge(i + 1).max(edge(i) + 1)];
        (0..count).map(|i| Mode { weight: 1.0 / count as f64, ..self.widen(moments(slice(i))) }).collect()
    }

    fn widen(&self, mode: Mode) -> Mode {
        Mode { deviation: mode.deviation.max(self.narrowest), ..mode }
    }

    /// A few steps from each start show which leads furthest. The starts are slices, and the mixture of one mode less with
    /// one of them split in two: either side by side, or a narrow one within a wide one.
    fn best_start(&self, smaller: &Mixture, count: usize) -> Option<Vec<Mode>> {
        let splits = (0..smaller.modes.len()).flat_map(|place| {
            [(1.0, 1.0, 0.5), (0.0, 3.0, 0.9)]
                .map(|(apart, wider, share)| split(&smaller.modes, place, apart, wider, share))
        });
        let starts = splits.chain((count <= self.sorted.len()).then(|| self.slices(count)));
        let trials = starts.filter_map(|start| self.climb(start, TRIAL));
        trials.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(modes, _)| modes)
    }

    fn settle(&self, start: Vec<Mode>) -> Option<Mixture> {
        let (mut modes, log_likelihood) = self.climb(start, STEPS)?;
        modes.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let parameters = 3.0 * modes.len() as f64 - 1.0;
        let bic = parameters * (self.sorted.len() as f64).ln() - 2.0 * log_likelihood;
        Some(Mixture { modes, log_likelihood, bic })
    }

    /// Steps until it has settled; nothing if a mode collapses.
    fn climb(&self, mut modes: Vec<Mode>, steps: usize) -> Option<(Vec<Mode>, f64)> {
        let mut last = f64::NEG_INFINITY;
        for _ in 0..steps {
            let (next, log_likelihood) = self.step(&modes)?;
            modes = next;
            if (log_likelihood - last).abs() <= SETTLED {
                break;
            }
            last = log_likelihood;
        }
        self.step(&modes).map(|(_, log_likelihood)| (modes, log_likelihood))
    }

    /// Better modes, and the likelihood of the given ones.
    fn step(&self, modes: &[Mode]) -> Option<(Vec<Mode>, f64)> {
        let scales: Vec<(f64, f64)> = modes
            .iter()
            .map(|mode| ((mode.weight / (mode.deviation * TAU.sqrt())).ln(), 0.5 / mode.deviation.powi(2)))
            .collect();
        let mut sums = vec![[0.0; 3]; modes.len()];
        let mut parts = vec![0.0_f64; modes.len()];
        let mut log_likelihood = 0.0;
        for &x in &self.sorted {
            for ((part, mode), (front, factor)) in parts.iter_mut().zip(modes).zip(&scales) {
                *part = front - factor * (x - mode.mean).powi(2);
            }
            let largest = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // Logarithms until here: the parts may be too small for a number.
            parts.iter_mut().for_each(|part| *part = (*part - largest).exp());
            let total: f64 = parts.iter().sum();
            log_likelihood += largest + total.ln();
            for ((sum, mode), part) in sums.iter_mut().zip(modes).zip(&parts) {
                let share = part / total;
                // Around the old mean: nothing cancels.
                let distance = x - mode.mean;
                *sum = [sum[0] + share, sum[1] + share * distance, sum[2] + share * distance * distance];
            }
        }
        let next = sums.iter().zip(modes).map(|(&[count, first, second], mode)| {
            let shift = first / count;
            let variance = (second / count - shift * shift).max(0.0);
            let weight = count / self.sorted.len() as f64;
            (count >= FEWEST).then(|| self.widen(Mode { weight, mean: mode.mean + shift, deviation: variance.sqrt() }))
        });
        Some((next.collect::<Option<Vec<Mode>>>()?, log_likelihood))
    }
}

/// Two modes in the place of one; the first gets `share` of it.
fn split(modes: &[Mode], place: usize, apart: f64, wider: f64, share: f64) -> Vec<Mode> {
    let mut modes = modes.to_vec();
    let Mode { weight, mean, deviation } = modes[place];
    modes[place] = Mode { weight: weight * share, mean: mean - apart * deviation, deviation };
    let second = Mode { weight: weight * (1.0 - share), mean: mean + apart * deviation, deviation: deviation * wider };
    modes.push(second);
    modes
}

fn moments(values: &[f64]) -> Mode {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    Mode { weight: 1.0, mean, deviation: variance.sqrt() }
}
