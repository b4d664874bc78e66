//! Groups of processors: a mixture of normal distributions of their means.
//!
//! A mean that was measured on a few days differs from the true one by what these days leave in it; a group is at least as
//! wide. In units in which this error is 1 in every direction, the likeliest covariance has the eigenvalues of the
//! observed one, but none below 1. Expectation-maximisation as in `hpcast_stats::mixture`.

use std::f64::consts::TAU;

use hpcast_models::compute::population::Grouped;
use hpcast_stats::multivariate::cholesky;
use hpcast_stats::{Matrix, eigen};

use super::{combine, pairs};

/// Part of the variance of all means that is added to the error: a coefficient may not vary from day to day at all.
const RIDGE: f64 = 1e-6;
/// Steps until a mixture must have settled, and what the logarithm of the likelihood may still grow by.
const STEPS: usize = 500;
const SETTLED: f64 = 1e-6;
/// Members for each coefficient that say enough about the covariances of a group.
const ENOUGH: f64 = 5.0;
/// Parts of the least likely members that a new group starts from.
const STARTS: [f64; 5] = [0.04, 0.08, 0.15, 0.3, 0.5];

/// The groups that were found.
pub(super) struct Found {
    /// Share, mean and covariance.
    pub groups: Vec<(f64, Vec<f64>, Matrix)>,
    pub grouped: Grouped,
    /// The group of each processor.
    pub members: Vec<usize>,
    pub bic: Vec<f64>,
    pub warning: Option<String>,
}

/// A group, in units of the error.
#[derive(Clone)]
struct Group {
    share: f64,
    mean: Vec<f64>,
    /// With the error.
    covariance: Matrix,
}

#[derive(Clone)]
struct Mixture {
    groups: Vec<Group>,
    likelihood: f64,
    bic: f64,
}

/// Means of processors, in units of the error; members of a unit are in the same group.
struct Sample {
    means: Vec<Vec<f64>>,
    units: Vec<Vec<usize>>,
}

/// Nothing if the means are so large or so small that there are no figures for their squares.
pub(super) fn fit(means: &[&[f64]], places: &[(u32, u32)], error: &Matrix, most: usize) -> Option<Found> {
    let whitening = Whitening::new(means, error);
    let white: Vec<Vec<f64>> = means.iter().map(|mean| whitening.apply(mean)).collect();
    let single = (0..means.len()).map(|member| vec![member]).collect();
    let mut by_node: Vec<Vec<usize>> = Vec::new();
    for (member, place) in places.iter().enumerate() {
        match by_node.last_mut().filter(|unit| places[unit[0]].0 == place.0) {
            Some(unit) => unit.push(member),
            None => by_node.push(vec![member]),
        }
    }
    let samples = [(Grouped::Processors, single), (Grouped::Nodes, by_node)]
        .map(|(grouped, units)| (grouped, Sample { means: white.clone(), units }));
    let mut best = (Grouped::Processors, samples[0].1.one_group()?);
    let mut bic = vec![best.1.bic];
    for (grouped, sample) in &samples {
        let mut last = sample.one_group()?;
        for groups in 2..=most {
            let Some(next) = sample.one_more(&last) else { break };
            if groups > bic.len() {
                bic.push(f64::INFINITY);
            }
            bic[groups - 1] = bic[groups - 1].min(next.bic);
            if next.bic < best.1.bic {
                best = (*grouped, next.clone());
            }
            last = next;
        }
    }
    let (grouped, mixture) = best;
    let sample = &samples[usize::from(grouped == Grouped::Nodes)].1;
    Some(sample.finish(mixture, grouped, bic, &whitening))
}

impl Sample {
    fn one_group(&self) -> Option<Mixture> {
        self.climb(vec![vec![1.0]; self.units.len()], 1)
    }

    /// The likeliest mixture with a group more.
    fn one_more(&self, smaller: &Mixture) -> Option<Mixture> {
        let count = smaller.groups.len();
        let old = self.responsibilities(&smaller.groups);
        let mut starts: Vec<Vec<Vec<f64>>> = Vec::new();
        // The least likely members become a group, or those on one side of a group along its longest axis.
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.sort_by(|&a, &b| old[a].1.total_cmp(&old[b].1));
        let with = |chosen: &dyn Fn(usize) -> bool| -> Vec<Vec<f64>> {
            let split = |unit: usize| {
                let stay = if chosen(unit) { 0.0 } else { 1.0 };
                old[unit].0.iter().map(|part| part * stay).chain([1.0 - stay]).collect()
            };
            (0..self.units.len()).map(split).collect()
        };
        for part in STARTS {
            let few = &order[..((self.units.len() as f64 * part).ceil() as usize).max(1)];
            starts.push(with(&|unit| few.contains(&unit)));
        }
        for group in 0..count {
            let (values, vectors) = eigen::symmetric(&smaller.groups[group].covariance);
            let longest = (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]))?;
            let side = |unit: usize| -> f64 {
                let away = |member: &usize| -> f64 {
                    let mean = &smaller.groups[group].mean;
                    let along = |i: usize| (self.means[*member][i] - mean[i]) * vectors[(i, longest)];
                    (0..mean.len()).map(along).sum()
                };
                self.units[unit].iter().map(away).sum()
            };
            let is_of_group = |unit: usize| old[unit].0[group] > 0.5;
            starts.push(with(&|unit| is_of_group(unit) && side(unit) > 0.0));
        }
        let mixtures = starts.into_iter().filter_map(|start| self.climb(start, count + 1));
        mixtures.max_by(|a, b| a.likelihood.total_cmp(&b.likelihood))
    }

    /// From parts that each unit has in the groups; nothing if a group collapses.
    fn climb(&self, start: Vec<Vec<f64>>, count: usize) -> Option<Mixture> {
        let mut parts = start;
        let mut last = f64::NEG_INFINITY;
        for _ in 0..STEPS {
            let groups = self.groups(&parts, count, 0.0)?;
            let next = self.responsibilities(&groups);
            let likelihood: f64 = next.iter().map(|(_, likelihood)| likelihood).sum();
            parts = next.into_iter().map(|(parts, _)| parts).collect();
            if !likelihood.is_finite() {
                return None;
            }
            if likelihood - last <= SETTLED {
                let width = self.means[0].len() as f64;
                let parameters = count as f64 * (1.0 + width + width * (width + 1.0) / 2.0) - 1.0;
                let bic = parameters * (self.means.len() as f64).ln() - 2.0 * likelihood;
                return Some(Mixture { groups, likelihood, bic });
            }
            last = likelihood;
        }
        None
    }

    /// The likeliest groups for these parts; `less` is taken from the count of members that a covariance is divided by.
    fn groups(&self, parts: &[Vec<f64>], count: usize, less: f64) -> Option<Vec<Group>> {
        let width = self.means[0].len();
        let mut groups = Vec::new();
        for group in 0..count {
            let members = || {
                self.units
                    .iter()
                    .zip(parts)
                    .flat_map(move |(unit, parts)| unit.iter().map(move |&member| (parts[group], &self.means[member])))
            };
            let weight: f64 = members().map(|(part, _)| part).sum();
            // Fewer say nothing about all covariances.
            if weight < width as f64 + 1.0 {
                return None;
            }
            let mean = |i: usize| members().map(|(part, mean)| part * mean[i]).sum::<f64>() / weight;
            let mean: Vec<f64> = (0..width).map(mean).collect();
            let mut covariance = Matrix::zeros(width, width);
            for (part, member) in members() {
                pairs(width).for_each(|(i, j)| {
                    covariance[(i, j)] += part * (member[i] - mean[i]) * (member[j] - mean[j]) / (weight - less);
                });
            }
            let share = parts.iter().map(|parts| parts[group]).sum::<f64>() / parts.len() as f64;
            groups.push(Group { share, mean, covariance: eigen::map(&covariance, |value| value.max(1.0)) });
        }
        Some(groups)
    }

    /// The parts of each unit in the groups, and the logarithm of its likelihood.
    fn responsibilities(&self, groups: &[Group]) -> Vec<(Vec<f64>, f64)> {
        let densities: Vec<Density> = groups.iter().map(Density::new).collect();
        let unit = |unit: &Vec<usize>| {
            let mut parts: Vec<f64> = densities
                .iter()
                .map(|density| {
                    density.share.ln() + unit.iter().map(|&i| density.logarithm(&self.means[i])).sum::<f64>()
                })
                .collect();
            let largest = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            parts.iter_mut().for_each(|part| *part = (*part - largest).exp());
            let total: f64 = parts.iter().sum();
            parts.iter_mut().for_each(|part| *part /= total);
            (parts, largest + total.ln())
        };
        self.units.iter().map(unit).collect()
    }

    /// Back to seconds, the largest group first.
    fn finish(&self, mut mixture: Mixture, grouped: Grouped, bic: Vec<f64>, whitening: &Whitening) -> Found {
        mixture.groups.sort_by(|a, b| b.share.total_cmp(&a.share));
        let parts: Vec<Vec<f64>> = self.responsibilities(&mixture.groups).into_iter().map(|(parts, _)| parts).collect();
        // One less than the members, as covariances of samples are: likelihood alone would make groups too narrow.
        let groups = self.groups(&parts, mixture.groups.len(), 1.0).unwrap_or(mixture.groups);
        let mut members = vec![0; self.means.len()];
        for (unit, parts) in self.units.iter().zip(&parts) {
            let group = (0..parts.len()).max_by(|&a, &b| parts[a].total_cmp(&parts[b])).unwrap_or(0);
            unit.iter().for_each(|&member| members[member] = group);
        }
        let members_of = |group: &Group| group.share * self.means.len() as f64;
        let is_small = |group: &Group| members_of(group) < ENOUGH * group.mean.len() as f64;
        let warning = groups.iter().position(is_small).filter(|_| groups.len() > 1).map(|group| {
            let members = members_of(&groups[group]);
            format!("group {} has {members:.0} processors, which say little about its covariances", group + 1)
        });
        let groups = groups
            .into_iter()
            .map(|group| {
                let beside = eigen::map(&group.covariance, |value| (value - 1.0).max(0.0));
                (group.share, whitening.undo(&group.mean), whitening.undo_covariance(&beside))
            })
            .collect();
        Found { groups, grouped, members, bic, warning }
    }
}

/// The density of a group.
struct Density<'g> {
    share: f64,
    mean: &'g [f64],
    root: Matrix,
    /// Logarithm of what stands before the exponential.
    front: f64,
}

impl Density<'_> {
    fn new(group: &Group) -> Density<'_> {
        // No eigenvalue is below 1.
        let root = cholesky(&group.covariance).unwrap_or_else(|_| group.covariance.clone());
        let width = group.mean.len();
        let front = -0.5 * width as f64 * TAU.ln() - (0..width).map(|i| root[(i, i)].ln()).sum::<f64>();
        Density { share: group.share, mean: &group.mean, root, front }
    }

    fn logarithm(&self, x: &[f64]) -> f64 {
        let away: Vec<f64> = x.iter().zip(self.mean).map(|(x, mean)| x - mean).collect();
        self.front - 0.5 * solve(&self.root, &away).iter().map(|z| z * z).sum::<f64>()
    }
}

/// Solves a lower triangle.
fn solve(root: &Matrix, b: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = Vec::with_capacity(b.len());
    for i in 0..b.len() {
        let known: f64 = (0..i).map(|j| root[(i, j)] * x[j]).sum();
        x.push((b[i] - known) / root[(i, i)]);
    }
    x
}

/// Units in which the error of a mean is 1 in every direction.
struct Whitening {
    units: Vec<f64>,
    root: Matrix,
}

impl Whitening {
    fn new(means: &[&[f64]], error: &Matrix) -> Whitening {
        let width = error.rows();
        let count = means.len() as f64;
        let variance = |i: usize| {
            let mean = means.iter().map(|values| values[i]).sum::<f64>() / count;
            means.iter().map(|values| (values[i] - mean).powi(2)).sum::<f64>() / count
        };
        // A coefficient that never changes has no unit of its own.
        let unit = |i: usize| (variance(i) + error[(i, i)]).sqrt();
        let units: Vec<f64> = (0..width).map(|i| if unit(i) > 0.0 { unit(i) } else { 1.0 }).collect();
        let mut scaled = combine(&[(1.0, error)]);
        pairs(width).for_each(|(i, j)| scaled[(i, j)] /= units[i] * units[j]);
        let positive = eigen::map(&scaled, |value| value.max(0.0) + RIDGE);
        let root = cholesky(&positive).unwrap_or(positive);
        Whitening { units, root }
    }

    fn apply(&self, mean: &[f64]) -> Vec<f64> {
        solve(&self.root, &mean.iter().zip(&self.units).map(|(value, unit)| value / unit).collect::<Vec<f64>>())
    }

    fn undo(&self, white: &[f64]) -> Vec<f64> {
        let value = |i: usize| (0..=i).map(|j| self.root[(i, j)] * white[j]).sum::<f64>() * self.units[i];
        (0..white.len()).map(value).collect()
    }

    fn undo_covariance(&self, white: &Matrix) -> Matrix {
        let width = white.rows();
        let mut half = Matrix::zeros(width, width);
        pairs(width).for_each(|(i, j)| half[(i, j)] = (0..=i).map(|k| self.root[(i, k)] * white[(k, j)]).sum());
        let mut covariance = Matrix::zeros(width, width);
        pairs(width).for_each(|(i, j)| covariance[(i, j)] = (0..=j).map(|k| half[(i, k)] * self.root[(j, k)]).sum());
        let mut units = Matrix::zeros(width, width);
        for (i, j) in pairs(width) {
            covariance[(i, j)] *= self.units[i] * self.units[j];
            units[(i, i)] = self.units[i].powi(2);
        }
        // What rounding has left of nothing is nothing.
        super::nearest(&covariance, &units)
    }
}
