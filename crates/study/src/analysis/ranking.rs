//! Points from the best to the worst, and which of them cannot be told apart.
//!
//! Each two points are compared by Welch's t test, which lets points differ in their noise; p values are adjusted by
//! Holm's method, so that with 95 % confidence no pair at all is wrongly said to differ. Where runs have no chance and no
//! repetitions, the forecast's own uncertainty is all that is known; without that there is an order and nothing more.

use std::collections::BTreeMap;

use hpcast_stats::sample::holm;
use hpcast_stats::{Sample, Uncertain};

use super::{AnalysisError, CONFIDENCE, data, letters};
use crate::frame::{Better, Frame};

/// More points are not compared each with each; only those as good as the best are found.
const MOST_LETTERS: usize = 200;

/// Points from the best to the worst.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The best first; equal ones in the order of the design.
    pub places: Vec<Place>,
    /// What differences are judged by.
    pub evidence: Evidence,
}

/// A point in the ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The number of the point.
    pub point: usize,
    /// Runs.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Where the true mean lies with 95 % confidence; nothing where no noise is known.
    pub interval: Option<(f64, f64)>,
    /// Whether it cannot be told from the best.
    pub best: bool,
    /// Groups to which it belongs: points that share one cannot be told apart. None where that is not known, or where
    /// there are too many points or groups.
    pub groups: Vec<usize>,
}

/// What differences are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Repetitions of each point.
    Repetitions,
    /// Repetitions of some points; the others are taken to have the mean noise of these.
    SomeRepetitions,
    /// The uncertainty of each forecast.
    Uncertainty,
    /// Both.
    RepetitionsAndUncertainty,
    /// Nothing: the order is all there is.
    Nothing,
}

impl Ranking {
    /// Of all points with values; `uncertainty` is, for each row, the standard deviation of the forecast's error.
    pub fn new(frame: &Frame, response: usize, uncertainty: Option<&[f64]>) -> Result<Ranking, AnalysisError> {
        let known = data::known(frame, response)?;
        let mut runs: BTreeMap<usize, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for (row, value) in known {
            let (values, own) = runs.entry(frame.points[row]).or_default();
            values.push(value);
            own.extend(uncertainty.and_then(|all| all.get(row)).filter(|own| own.is_finite() && **own >= 0.0));
        }
        let better = data::response(frame, response)?.better;
        let mut candidates: Vec<Candidate> = runs.into_iter().filter_map(Candidate::new).collect();
        candidates.sort_by(|a, b| match better {
            Better::Lower => a.sample.mean.total_cmp(&b.sample.mean),
            Better::Higher => b.sample.mean.total_cmp(&a.sample.mean),
        });
        Ok(rank(&candidates))
    }

    /// The best point: the first of the order, which chance may have favoured over its equals.
    pub fn best(&self) -> Option<&Place> {
        self.places.first()
    }

    /// All points that cannot be told from the best, itself included.
    pub fn as_good_as_best(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.best)
    }
}

struct Candidate {
    point: usize,
    sample: Sample,
    /// The variance of the forecast's error, which repetitions do not make smaller.
    uncertainty: Option<f64>,
}

impl Candidate {
    fn new((point, (values, uncertainty)): (usize, (Vec<f64>, Vec<f64>))) -> Option<Candidate> {
        let deviation = Sample::of(&uncertainty).filter(|own| own.count == values.len()).map(|own| own.mean);
        Some(Candidate { point, sample: Sample::of(&values)?, uncertainty: deviation.map(|u| u * u) })
    }
}

fn rank(candidates: &[Candidate]) -> Ranking {
    let (evidence, estimates) = estimates(candidates);
    let p = |i: usize, j: usize| estimates.as_ref().map_or(1.0, |all| all[i].minus(&all[j]).p());
    let few = estimates.is_some() && candidates.len() <= MOST_LETTERS;
    let groups = if few { letters_of(candidates.len(), p) } else { None };
    // The same tests decide both, where all pairs are compared.
    let with_best: Vec<bool> = if let Some(groups) = &groups {
        groups.iter().map(|own| own.iter().any(|group| groups[0].contains(group))).collect()
    } else if estimates.is_some() {
        let adjusted = holm(&(1..candidates.len()).map(|other| p(0, other)).collect::<Vec<_>>());
        [true].into_iter().chain(adjusted.into_iter().map(|p| p >= 1.0 - CONFIDENCE)).collect()
    } else {
        candidates.iter().map(|other| other.sample.mean == candidates[0].sample.mean).collect()
    };
    let place = |(number, candidate): (usize, &Candidate)| Place {
        point: candidate.point,
        count: candidate.sample.count,
        mean: candidate.sample.mean,
        interval: estimates.as_ref().map(|all| all[number].interval(CONFIDENCE)),
        best: with_best[number],
        groups: groups.as_ref().map_or(Vec::new(), |groups| groups[number].clone()),
    };
    Ranking { places: candidates.iter().enumerate().map(place).collect(), evidence }
}

fn letters_of(count: usize, p: impl Fn(usize, usize) -> f64) -> Option<Vec<Vec<usize>>> {
    let place = |i: usize, j: usize| j * (j - 1) / 2 + i;
    let all: Vec<f64> = (0..count).flat_map(|j| (0..j).map(move |i| (i, j))).map(|(i, j)| p(i, j)).collect();
    let adjusted = holm(&all);
    letters::groups(count, |i, j| adjusted[place(i, j)] < 1.0 - CONFIDENCE)
}

/// Means with their errors, if there is any way to know these.
fn estimates(candidates: &[Candidate]) -> (Evidence, Option<Vec<Uncertain>>) {
    let repeated = candidates.iter().filter(|candidate| candidate.sample.count > 1).count();
    let uncertain = !candidates.is_empty() && candidates.iter().all(|candidate| candidate.uncertainty.is_some());
    let evidence = match (repeated, uncertain) {
        (0, false) => return (Evidence::Nothing, None),
        (0, true) => Evidence::Uncertainty,
        (_, true) => Evidence::RepetitionsAndUncertainty,
        (all, false) if all == candidates.len() => Evidence::Repetitions,
        _ => Evidence::SomeRepetitions,
    };
    let pooled = pooled(candidates);
    let estimate = |candidate: &Candidate| {
        let value = candidate.sample.mean;
        let single = Uncertain { value, variance: pooled.0, freedom: pooled.1 };
        let own = candidate.sample.estimate().unwrap_or(single);
        if uncertain { own.with_variance(candidate.uncertainty.unwrap_or(0.0)) } else { own }
    };
    (evidence, Some(candidates.iter().map(estimate).collect()))
}

/// The mean variance of a run, and its degrees of freedom; known to be zero where nothing is repeated.
fn pooled(candidates: &[Candidate]) -> (f64, f64) {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for candidate in candidates {
        let own = candidate.sample.count as f64 - 1.0;
        squares += own * candidate.sample.variance.unwrap_or(0.0);
        freedom += own;
    }
    if freedom > 0.0 { (squares / freedom, freedom) } else { (0.0, f64::INFINITY) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::data::tests::frame;

    fn repeated(points: &[&[f64]]) -> Frame {
        let rows: Vec<_> =
            points.iter().enumerate().flat_map(|(p, values)| values.iter().map(move |&y| (vec![p], Some(y)))).collect();
        frame(&["a"], &rows)
    }

    /// p values of scipy 1.17, ttest_ind(equal_var=False), adjusted by statsmodels 0.15, multipletests("holm"):
    /// 0-3 0.14, 0-1 0.02, 3-1 0.14, 0-2 0.0033, 3-2 0.0036, 1-2 0.01, 0-4 0.12, 3-4
    /// 0.13, 1-4 0.14, 2-4 0.98.
    #[test]
    fn known_groups() {
        let frame = repeated(&[
            &[5.1, 5.3, 4.9, 5.2],
            &[5.7, 5.6, 5.8, 5.7],
            &[7.9, 8.4, 8.1, 9.0],
            &[5.2, 5.5, 5.3, 5.6],
            &[6.9, 8.8, 7.6, 10.2],
        ]);
        let ranking = Ranking::new(&frame, 0, None).unwrap();
        let found: Vec<(usize, String)> = ranking
            .places
            .iter()
            .map(|place| (place.point, place.groups.iter().map(|&group| letters::name(group)).collect()))
            .collect();
        let expected = [(0, "a"), (3, "ab"), (1, "b"), (2, "c"), (4, "abc")];
        assert_eq!(found, expected.map(|(point, letters)| (point, letters.to_owned())));
        assert_eq!(ranking.evidence, Evidence::Repetitions);
    }

    #[test]
    fn order_alone() {
        let mut frame = repeated(&[&[3.0], &[1.0], &[2.0], &[1.0]]);
        let ranking = Ranking::new(&frame, 0, None).unwrap();
        assert_eq!(ranking.evidence, Evidence::Nothing);
        assert_eq!(ranking.places.iter().map(|place| place.point).collect::<Vec<_>>(), [1, 3, 2, 0]);
        assert!(ranking.places.iter().all(|place| place.interval.is_none() && place.groups.is_empty()));
        assert_eq!(ranking.as_good_as_best().count(), 2);
        frame.responses[0].better = Better::Higher;
        assert_eq!(Ranking::new(&frame, 0, None).unwrap().best().unwrap().point, 0);
    }

    /// Differences of 1 with errors of 0.1 and 1: fourteen standard errors and less than one.
    #[test]
    fn the_forecast_knows_its_error() {
        let frame = repeated(&[&[3.0], &[1.0], &[2.0]]);
        let ranking = Ranking::new(&frame, 0, Some(&[1.0, 0.1, 0.1])).unwrap();
        assert_eq!(ranking.evidence, Evidence::Uncertainty);
        let groups: Vec<_> = ranking.places.iter().map(|place| place.groups.clone()).collect();
        assert_eq!(groups, [vec![0], vec![1], vec![0, 1]]);
        let (low, high) = ranking.places[0].interval.unwrap();
        assert!((low - 0.804003601545946).abs() < 1e-12 && (high - 1.195996398454054).abs() < 1e-12);
    }

    #[test]
    fn points_without_repetitions_borrow_noise() {
        let ranking = Ranking::new(&repeated(&[&[3.0, 3.2, 2.8], &[1.0], &[3.1]]), 0, None).unwrap();
        assert_eq!(ranking.evidence, Evidence::SomeRepetitions);
        assert_eq!(ranking.places.iter().map(|place| place.best).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(ranking.places[1].groups, ranking.places[2].groups);
    }

    /// Runs without chance that were repeated: equal is equal, and anything else differs.
    #[test]
    fn repetitions_without_chance() {
        let ranking = Ranking::new(&repeated(&[&[0.1, 0.1], &[0.3, 0.3], &[0.1, 0.1]]), 0, None).unwrap();
        let groups: Vec<_> = ranking.places.iter().map(|place| (place.point, place.groups.clone())).collect();
        assert_eq!(groups, [(0, vec![0]), (2, vec![0]), (1, vec![1])]);
    }

    /// Many points with very different noise would take more groups than anybody can read, and are done with soon.
    #[test]
    fn many_points() {
        let noise = |i: u32, r: u32| f64::from((i * 31 + r * 17) % 64) / (1.0 + f64::from(i % 11));
        for count in [150, 400] {
            let all: Vec<Vec<f64>> =
                (0..count).map(|i| (0..5).map(|r| f64::from(i % 97) + noise(i, r)).collect()).collect();
            let ranking =
                Ranking::new(&repeated(&all.iter().map(|own| &own[..]).collect::<Vec<_>>()), 0, None).unwrap();
            assert!(ranking.places.len() == count as usize && (1..100).contains(&ranking.as_good_as_best().count()));
        }
    }
}
