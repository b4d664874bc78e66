//! What is expected of points that were not tried: kriging over levels and ranges.
//!
//! Two points are the closer correlated the fewer factors differ, and by how much each factor tells is found by maximum
//! likelihood: exp(-sum of theta times distance). For levels without order this is a model of main effects and all
//! interactions, in which those of many factors are small. Values are taken by their logarithms where all are positive,
//! since factors rather multiply than add. Runs of other kinds are shifted by what they differ from full ones on average,
//! and count as correlated with these.

use hpcast_stats::Matrix;
use hpcast_stats::kriging::{Expected, Kriging};

use super::space::Space;
use crate::design::Setting;
use crate::frame::Better;

/// What factors may tell.
const THETAS: [f64; 9] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
/// Where the search for it begins: levels that differ, and kinds of runs.
const START: usize = 3;
/// The same for ranges and levels in order, whose distances are mostly small.
const START_ORDERED: usize = 5;
/// Noise, as a part of the variance.
const NOISES: [f64; 4] = [1e-6, 1e-4, 1e-2, 1e-1];
/// How often all are adjusted in turn.
const SWEEPS: usize = 3;
/// How far, in units of ln theta, values may lie from where they begin before they must be worth it: few runs tell little.
const LOOSE: f64 = 2.0;
/// Of more runs the best and the latest are used: the time grows with the third power.
const MOST: usize = 150;

/// A run and what it found.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub point: Vec<Setting>,
    pub fidelity: usize,
    pub value: f64,
}

/// The model.
pub(super) struct Surrogate {
    space: Space,
    known: Vec<Known>,
    full: usize,
    /// One a factor, and the last one for kinds of runs.
    thetas: Vec<usize>,
    noise: usize,
    kriging: Kriging,
    least: f64,
}

impl Surrogate {
    /// From all runs with results; nothing if there is none.
    pub fn new(space: &Space, known: Vec<Known>, full: usize, better: Better) -> Option<Surrogate> {
        let mut known = losses(known, better);
        shift(&mut known, full);
        let known = chosen(known);
        let of_full = known.iter().filter(|run| run.fidelity == full).map(|run| run.value);
        let least = of_full.fold(f64::INFINITY, f64::min);
        let least = if least.is_finite() { least } else { known.iter().map(|run| run.value).fold(least, f64::min) };
        let mut fit = Fit { space, known: &known, full, distances: distances(space, &known) };
        let (thetas, noise, kriging) = fit.best()?;
        Some(Surrogate { space: space.clone(), known, full, thetas, noise, kriging, least })
    }

    /// What a full run is expected to give, as a loss.
    pub fn at(&self, point: &[Setting]) -> Expected {
        let correlation = |run: &Known| {
            let far: f64 = (0..self.space.factors())
                .map(|factor| {
                    THETAS[self.thetas[factor]] * self.space.distance(factor, point[factor], run.point[factor])
                })
                .sum();
            let kind = self.full.abs_diff(run.fidelity) as f64 * THETAS[self.thetas[self.space.factors()]];
            (-far - kind).exp()
        };
        self.kriging.at(&self.known.iter().map(correlation).collect::<Vec<_>>())
    }

    /// How much better than the best a full run is expected to be.
    pub fn improvement(&self, point: &[Setting]) -> f64 {
        self.at(point).improvement(self.least)
    }

    /// Takes it that a full run of this point gives what is expected: D. Ginsbourger, R. Le Riche, L. Carraro, "Kriging is
    /// well-suited to parallelize optimization", 2010.
    pub fn suppose(&mut self, point: &[Setting]) {
        let value = self.at(point).mean;
        self.known.push(Known { point: point.to_vec(), fidelity: self.full, value });
        let fit = Fit {
            space: &self.space,
            known: &self.known,
            full: self.full,
            distances: distances(&self.space, &self.known),
        };
        match fit.kriging(&self.thetas, self.noise) {
            Some(kriging) => self.kriging = kriging,
            None => {
                self.known.pop();
            }
        }
    }
}

/// Values of which little is good, by their logarithms where all are positive.
fn losses(mut known: Vec<Known>, better: Better) -> Vec<Known> {
    let positive = known.iter().all(|run| run.value > 0.0);
    for run in &mut known {
        let value = if positive { run.value.ln() } else { run.value };
        run.value = if better == Better::Higher { -value } else { value };
    }
    known
}

/// Shifts runs of other kinds by what they differ from full ones where both are known, or, where no point has both, makes
/// their means the same.
fn shift(known: &mut [Known], full: usize) {
    let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let full_runs: Vec<(Vec<Setting>, f64)> =
        known.iter().filter(|run| run.fidelity == full).map(|run| (run.point.clone(), run.value)).collect();
    for fidelity in 0..full {
        let own: Vec<&Known> = known.iter().filter(|run| run.fidelity == fidelity).collect();
        let partner =
            |run: &&Known| full_runs.iter().find(|(point, _)| *point == run.point).map(|(_, full)| full - run.value);
        let shared: Vec<f64> = own.iter().filter_map(partner).collect();
        let all: Vec<f64> = own.iter().map(|run| run.value).collect();
        let of_full: Vec<f64> = full_runs.iter().map(|(_, value)| *value).collect();
        let by = mean(&shared).or_else(|| Some(mean(&of_full)? - mean(&all)?)).unwrap_or(0.0);
        known.iter_mut().filter(|run| run.fidelity == fidelity).for_each(|run| run.value += by);
    }
}

fn chosen(mut known: Vec<Known>) -> Vec<Known> {
    if known.len() > MOST {
        let latest = known.split_off(known.len() - MOST / 2);
        known.sort_by(|a, b| a.value.total_cmp(&b.value));
        known.truncate(MOST - latest.len());
        known.extend(latest);
    }
    known
}

/// For each factor, how far each two runs are apart.
fn distances(space: &Space, known: &[Known]) -> Vec<Vec<f64>> {
    let of = |factor: usize| {
        let pairs = known.iter().enumerate().flat_map(|(i, a)| known[..i].iter().map(move |b| (a, b)));
        pairs.map(|(a, b)| space.distance(factor, a.point[factor], b.point[factor])).collect()
    };
    (0..space.factors()).map(of).collect()
}

struct Fit<'a> {
    space: &'a Space,
    known: &'a [Known],
    full: usize,
    distances: Vec<Vec<f64>>,
}

impl Fit<'_> {
    /// Adjusts what each factor tells, one after the other, as long as the values become more likely.
    fn best(&mut self) -> Option<(Vec<usize>, usize, Kriging)> {
        let starts = starts(self.space);
        let penalty = |thetas: &[usize]| penalty(thetas, &starts);
        let mut thetas = starts.clone();
        let mut noise = 1;
        let mut best = self.kriging(&thetas, noise)?;
        let mut score = best.likelihood() - penalty(&thetas);
        let kinds = usize::from(self.full > 0);
        for _ in 0..SWEEPS {
            let before = score;
            for place in 0..self.space.factors() + kinds {
                for theta in 0..THETAS.len() {
                    let mut other = thetas.clone();
                    other[place] = theta;
                    let Some(kriging) = self.kriging(&other, noise) else { continue };
                    let likely = kriging.likelihood() - penalty(&other);
                    if likely > score {
                        (thetas, best, score) = (other, kriging, likely);
                    }
                }
            }
            for other in 0..NOISES.len() {
                let Some(kriging) = self.kriging(&thetas, other) else { continue };
                let likely = kriging.likelihood() - penalty(&thetas);
                if likely > score {
                    (noise, best, score) = (other, kriging, likely);
                }
            }
            if score <= before {
                break;
            }
        }
        Some((thetas, noise, best))
    }

    fn kriging(&self, thetas: &[usize], noise: usize) -> Option<Kriging> {
        let count = self.known.len();
        let mut matrix = Matrix::zeros(count, count);
        let mut pair = 0;
        for i in 0..count {
            matrix[(i, i)] = 1.0 + NOISES[noise];
            for j in 0..i {
                let far: f64 = self.distances.iter().zip(thetas).map(|(own, theta)| own[pair] * THETAS[*theta]).sum();
                let kinds = self.known[i].fidelity.abs_diff(self.known[j].fidelity) as f64;
                let correlation = (-far - kinds * THETAS[thetas[self.space.factors()]]).exp();
                (matrix[(i, j)], matrix[(j, i)]) = (correlation, correlation);
                pair += 1;
            }
        }
        let values: Vec<f64> = self.known.iter().map(|run| run.value).collect();
        Kriging::new(&matrix, &values)
    }
}

fn starts(space: &Space) -> Vec<usize> {
    let start = |factor: usize| if space.is_ordered(factor) { START_ORDERED } else { START };
    (0..space.factors()).map(start).chain([START]).collect()
}

/// Values far from where they begin must be worth it.
fn penalty(thetas: &[usize], starts: &[usize]) -> f64 {
    let away = |(theta, start): (&usize, &usize)| (THETAS[*theta] / THETAS[*start]).ln() / LOOSE;
    thetas.iter().zip(starts).map(|both| 0.5 * away(both).powi(2)).sum()
}
