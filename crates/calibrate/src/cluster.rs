//! How processors and days differ, from coefficients that were fitted on many processors on many days.
//!
//! Moments are matched (T. Cornebize's thesis, section 5.2.2): what days change is the covariance around each processor's mean,
//! and how processors differ is the covariance of these means, less what the days leave in them. The days are split
//! further: what two processors of a node have in common on a day, and what two of different nodes have.

mod adopt;
mod groups;
mod table;

pub use adopt::{AdoptError, adopt};
pub use table::Columns;

use std::collections::BTreeMap;

use hpcast_models::compute::population::{Days, Group, Population, PopulationError};
use hpcast_models::compute::{Kernel, Row, Term};
use hpcast_stats::{Matrix, MultivariateNormal, StudentT, eigen, normality};

/// Coefficients that were fitted on many processors, on many days.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DailyFits {
    /// The terms.
    pub terms: Vec<Term>,
    /// One a processor and day.
    pub fits: Vec<DailyFit>,
}

/// The coefficients of a processor on a day.
#[derive(Clone, Debug, PartialEq)]
pub struct DailyFit {
    /// Node and socket.
    pub processor: (u32, u32),
    /// As the table writes it.
    pub day: String,
    /// Those of the expectation, one a term, and those of the deviation, none or one a term.
    pub coefficients: Vec<f64>,
}

/// Why there is no population.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClusterError {
    /// One processor says nothing about how they differ.
    #[error("{found} processors are too few to tell how they differ: {needed} are needed")]
    Processors {
        /// Processors.
        found: usize,
        /// How many it must be.
        needed: usize,
    },
    /// One day says nothing about how they differ.
    #[error("no processor was measured on two days")]
    Days,
    /// Squares that are infinite or zero.
    #[error("the coefficients are too large or too small to be squared")]
    NoFigures,
    /// Nothing that can be drawn from.
    #[error(transparent)]
    Population(#[from] PopulationError),
}

impl ClusterError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            ClusterError::Processors { .. } => "measure more processors",
            ClusterError::Days => {
                "measure the same processors on several days; `--day` names the column that tells them apart"
            }
            ClusterError::NoFigures => "give the coefficients in seconds",
            ClusterError::Population(error) => error.remedy(),
        }
    }
}

/// A population, and what there is to know of it.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// With the population, and a row for each processor that was measured: its mean.
    pub kernel: Kernel,
    /// Different nodes.
    pub nodes: usize,
    /// Different processors.
    pub processors: usize,
    /// Different days.
    pub days: usize,
    /// Coefficient by coefficient.
    pub spreads: Vec<Spread>,
    /// The BIC of populations with one group, two groups and so on: the lowest was taken.
    pub bic: Vec<f64>,
    /// What the model leaves out.
    pub warnings: Vec<String>,
}

/// How one coefficient differs: standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The term.
    pub term: Term,
    /// Of the deviation, or else of the expectation.
    pub is_deviation: bool,
    /// The mean of all processors.
    pub mean: f64,
    /// From processor to processor.
    pub processors: f64,
    /// From day to day on all processors alike.
    pub machine: f64,
    /// From day to day on all of a node alike, beside that.
    pub node: f64,
    /// From day to day on each processor, beside that.
    pub processor: f64,
    /// Processors whose days may be normal: the hypothesis is not rejected at the level 0.05.
    pub normal: usize,
    /// Processors with enough days to tell.
    pub tested: usize,
}

/// A group has days of its own if there are so many for each of its coefficients.
const ENOUGH_DAYS: usize = 5;

/// The level of tests that are reported.
const LEVEL: f64 = 0.05;

/// What was measured on a processor.
struct Processor {
    place: (u32, u32),
    mean: Vec<f64>,
    /// Number of the day, and the difference from the mean.
    days: Vec<(usize, Vec<f64>)>,
}

/// Matches the moments, with one group of processors or several, up to `most`, whichever has the lowest BIC.
pub fn fit(daily: &DailyFits, most: usize) -> Result<Cluster, ClusterError> {
    let (processors, days) = processors(daily);
    let count = daily.fits.first().map_or(0, |fit| fit.coefficients.len());
    let needed = count + 2;
    if processors.len() < needed {
        return Err(ClusterError::Processors { found: processors.len(), needed });
    }
    if processors.iter().all(|processor| processor.days.len() < 2) {
        return Err(ClusterError::Days);
    }
    // Covariances are multiplied by each other.
    if daily.fits.iter().flat_map(|fit| &fit.coefficients).any(|value| !value.powi(4).is_finite()) {
        return Err(ClusterError::NoFigures);
    }
    let parts = day_parts(&processors.iter().collect::<Vec<_>>(), days, count);
    let means: Vec<&[f64]> = processors.iter().map(|processor| processor.mean.as_slice()).collect();
    // What the days leave in a mean; what they change on all processors alike does not make these differ.
    let inverse = processors.iter().map(|processor| 1.0 / processor.days.len() as f64).sum::<f64>();
    let left = combine(&[(inverse / means.len() as f64, &parts[1]), (inverse / means.len() as f64, &parts[2])]);
    let places: Vec<(u32, u32)> = processors.iter().map(|processor| processor.place).collect();
    let found = groups::fit(&means, &places, &left, most).ok_or(ClusterError::NoFigures)?;
    let mut warnings = unlike_sockets(&processors, &daily.terms);
    warnings.extend(found.warning);
    let mut groups = Vec::new();
    for (number, (share, mean, covariance)) in found.groups.into_iter().enumerate() {
        let members: Vec<&Processor> =
            processors.iter().zip(&found.members).filter(|(_, group)| **group == number).map(|(own, _)| own).collect();
        let freedom: usize = members.iter().map(|processor| processor.days.len() - 1).sum();
        let own = (freedom >= ENOUGH_DAYS * count).then(|| day_parts(&members, days, count));
        let [machine, node, processor] = own.unwrap_or_else(|| parts.clone());
        groups.push(Group {
            share,
            processors: MultivariateNormal::new(mean, covariance).map_err(PopulationError::from)?,
            days: Days::new(machine, node, processor).map_err(PopulationError::from)?,
        });
    }
    let population = Population::new(&daily.terms, groups, found.grouped)?;
    let spreads = spreads(daily, &processors, &population, &parts);
    let mut rows = vec![population.expectation()];
    let row = |(processor, group): (&Processor, &usize)| {
        let (seconds, deviation) = processor.mean.split_at(daily.terms.len());
        Row {
            processor: Some(processor.place),
            group: *group as u32,
            seconds: seconds.into(),
            deviation: deviation.into(),
            ..Row::default()
        }
    };
    rows.extend(processors.iter().zip(&found.members).map(row));
    let mut kernel = Kernel::new(daily.terms.clone(), rows);
    kernel.population = Some(population);
    let mut nodes: Vec<u32> = places.iter().map(|(node, _)| *node).collect();
    nodes.dedup();
    Ok(Cluster { kernel, nodes: nodes.len(), processors: places.len(), days, spreads, bic: found.bic, warnings })
}

/// The fits of a processor, by the number of the day.
type ByDay<'f> = BTreeMap<usize, Vec<&'f [f64]>>;

/// By node and socket, and the number of days. Several fits of a processor on a day are averaged.
fn processors(daily: &DailyFits) -> (Vec<Processor>, usize) {
    let mut numbers: BTreeMap<&str, usize> = daily.fits.iter().map(|fit| (fit.day.as_str(), 0)).collect();
    numbers.values_mut().enumerate().for_each(|(number, day)| *day = number);
    let mut by_place: BTreeMap<(u32, u32), ByDay> = BTreeMap::new();
    for fit in &daily.fits {
        let day = numbers[fit.day.as_str()];
        by_place.entry(fit.processor).or_default().entry(day).or_default().push(&fit.coefficients);
    }
    let processor = |(place, days): ((u32, u32), ByDay)| {
        let days: Vec<(usize, Vec<f64>)> = days.iter().map(|(day, fits)| (*day, mean(fits))).collect();
        let mean = mean(&days.iter().map(|(_, values)| values.as_slice()).collect::<Vec<_>>());
        let away = |values: &[f64]| values.iter().zip(&mean).map(|(value, mean)| value - mean).collect();
        let days = days.iter().map(|(day, values)| (*day, away(values))).collect();
        Processor { place, mean, days }
    };
    (by_place.into_iter().map(processor).collect(), numbers.len())
}

fn mean(vectors: &[&[f64]]) -> Vec<f64> {
    let count = vectors.len() as f64;
    (0..vectors[0].len()).map(|place| vectors.iter().map(|vector| vector[place]).sum::<f64>() / count).collect()
}

/// A sum of products of differences, and how many independent ones it is worth.
struct Products {
    sum: Matrix,
    freedom: f64,
}

impl Products {
    fn new(count: usize) -> Products {
        Products { sum: Matrix::zeros(count, count), freedom: 0.0 }
    }

    fn add(&mut self, factor: f64, vector: &[f64]) {
        for (i, j) in pairs(vector.len()) {
            self.sum[(i, j)] += factor * vector[i] * vector[j];
        }
    }

    fn covariance(&self) -> Matrix {
        combine(&[(if self.freedom > 0.0 { 1.0 / self.freedom } else { 0.0 }, &self.sum)])
    }
}

/// Some processors on one day.
#[derive(Clone, Default)]
struct Company {
    processors: f64,
    /// Sum of one over their days.
    inverse: f64,
    /// Sum of their differences.
    sum: Vec<f64>,
}

impl Company {
    fn add(&mut self, processor: &Processor, away: &[f64]) {
        self.processors += 1.0;
        self.inverse += 1.0 / processor.days.len() as f64;
        self.sum.resize(away.len(), 0.0);
        self.sum.iter_mut().zip(away).for_each(|(sum, value)| *sum += value);
    }

    /// Pairs of different processors, each worth a little less than one since the differences are from the measured means;
    /// exact where all processors have the same days.
    fn freedom(&self) -> f64 {
        (self.processors - 1.0).max(0.0) * (self.processors - self.inverse)
    }
}

/// What a day changes on all processors, on those of a node beside that, and on each beside that.
///
/// The sum of products over pairs is the square of the sum less the squares.
fn day_parts(processors: &[&Processor], days: usize, count: usize) -> [Matrix; 3] {
    let [mut single, mut mates, mut others] = [(); 3].map(|()| Products::new(count));
    let mut all = vec![Company::default(); days];
    let mut nodes: BTreeMap<(u32, usize), Company> = BTreeMap::new();
    for processor in processors {
        single.freedom += processor.days.len() as f64 - 1.0;
        for (day, away) in &processor.days {
            single.add(1.0, away);
            mates.add(-1.0, away);
            all[*day].add(processor, away);
            nodes.entry((processor.place.0, *day)).or_default().add(processor, away);
        }
    }
    for company in nodes.values() {
        mates.add(1.0, &company.sum);
        mates.freedom += company.freedom();
        others.add(-1.0, &company.sum);
        others.freedom -= company.freedom();
    }
    for company in &all {
        others.add(1.0, &company.sum);
        others.freedom += company.freedom();
    }
    let total = single.covariance();
    let common = if others.freedom > 0.5 { others.covariance() } else { Matrix::zeros(count, count) };
    // Without a second socket nobody knows what belongs to the node: it is the processor's.
    let in_node = if mates.freedom > 0.5 { mates.covariance() } else { common.clone() };
    let machine = nearest(&common, &total);
    let node = nearest(&combine(&[(1.0, &in_node), (-1.0, &machine)]), &total);
    let processor = nearest(&combine(&[(1.0, &total), (-1.0, &machine), (-1.0, &node)]), &total);
    [machine, node, processor]
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count * count).map(move |ij| (ij / count, ij % count))
}

fn combine(parts: &[(f64, &Matrix)]) -> Matrix {
    let count = parts[0].1.rows();
    let mut sum = Matrix::zeros(count, count);
    for (factor, matrix) in parts {
        pairs(count).for_each(|place| sum[place] += factor * matrix[place]);
    }
    sum
}

/// What is smaller, relative to the variance that gives the unit, is zero.
const ZERO: f64 = 1e-9;

/// The covariance that is nearest to a difference of covariances, which may have negative eigenvalues by chance, in the
/// units of another one.
fn nearest(matrix: &Matrix, units: &Matrix) -> Matrix {
    let count = matrix.rows();
    let unit = |place: usize| if units[(place, place)] > 0.0 { units[(place, place)].sqrt() } else { 1.0 };
    let mut scaled = Matrix::zeros(count, count);
    pairs(count).for_each(|(i, j)| scaled[(i, j)] = matrix[(i, j)] / (unit(i) * unit(j)));
    let mut near = eigen::map(&scaled, |value| value.max(0.0));
    let is_zero: Vec<bool> = (0..count).map(|i| near[(i, i)] < ZERO).collect();
    for (i, j) in pairs(count) {
        near[(i, j)] = if is_zero[i] || is_zero[j] { 0.0 } else { near[(i, j)] * unit(i) * unit(j) };
    }
    near
}

fn spreads(daily: &DailyFits, processors: &[Processor], population: &Population, days: &[Matrix; 3]) -> Vec<Spread> {
    let expectation = population.expectation();
    let expected = [expectation.seconds, expectation.deviation].concat();
    let terms = daily.terms.len();
    let mut spreads = Vec::new();
    for (place, mean) in expected.into_iter().enumerate() {
        let [machine, node, processor] = days.each_ref().map(|part| part[(place, place)].sqrt());
        // Within the groups and between them.
        let variance = population.groups().iter().map(|group| {
            let away = group.processors.mean()[place] - mean;
            group.share * (group.processors.covariance()[(place, place)] + away * away)
        });
        let tests: Vec<f64> = processors
            .iter()
            .map(|processor| processor.days.iter().map(|(_, away)| away[place]).collect::<Vec<f64>>())
            .filter_map(|days| normality::anderson_darling(&days).ok())
            .map(|test| test.p)
            .collect();
        spreads.push(Spread {
            term: daily.terms[place % terms].clone(),
            is_deviation: place >= terms,
            mean,
            processors: variance.sum::<f64>().sqrt(),
            machine,
            node,
            processor,
            normal: tests.iter().filter(|p| **p >= LEVEL).count(),
            tested: tests.len(),
        });
    }
    spreads
}

/// Chance by which sockets that are alike may look as different as these.
const CHANCE: f64 = 0.001;

/// Sockets that differ from the first one of their node: such as those that get the air that others have warmed.
fn unlike_sockets(processors: &[Processor], terms: &[Term]) -> Vec<String> {
    let means: BTreeMap<(u32, u32), &[f64]> =
        processors.iter().map(|processor| (processor.place, processor.mean.as_slice())).collect();
    let last = means.keys().map(|(_, socket)| *socket).max().unwrap_or(0);
    let mut warnings = Vec::new();
    for (socket, (place, term)) in
        (1..=last.min(64)).flat_map(|socket| terms.iter().enumerate().map(move |t| (socket, t)))
    {
        let pairs = means.iter().filter(|((_, socket), _)| *socket == 0);
        let parts: Vec<f64> = pairs
            .filter_map(|((node, _), first)| Some(means.get(&(*node, socket))?[place] / first[place] - 1.0))
            .collect();
        let count = parts.len() as f64;
        let mean = parts.iter().sum::<f64>() / count;
        if parts.len() < 3 || mean == 0.0 || !mean.is_finite() {
            continue;
        }
        let variance = parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let p = StudentT { freedom: count - 1.0 }.two_sided(mean / (variance / count).sqrt());
        if p < CHANCE {
            warnings.push(format!(
                "the coefficient of {term} is {:.1} % {} on socket {socket} than on socket 0: the model has no such order",
                100.0 * mean.abs(),
                if mean > 0.0 { "larger" } else { "smaller" },
            ));
        }
    }
    warnings
}

#[cfg(test)]
mod tests;
