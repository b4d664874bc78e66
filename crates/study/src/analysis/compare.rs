//! Two studies beside each other, point by point.

use std::collections::BTreeMap;

use hpcast_stats::Sample;

use super::{AnalysisError, CONFIDENCE, data};
use crate::frame::Frame;

/// Two studies beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Points with values in both, in the order of the first study.
    pub points: Vec<Pair>,
    /// Points of the first and of the second study that have no partner.
    pub alone: (usize, usize),
    /// The mean difference, second less first, over the points; its interval is that of paired values.
    pub difference: Overall,
    /// The geometric mean of the quotients, second over first; nothing unless all values are positive.
    pub ratio: Option<Overall>,
}

/// A point in both studies.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Numbers of the point in the first and in the second study.
    pub points: (usize, usize),
    /// The means.
    pub means: (f64, f64),
    /// Second less first, with 95 % confidence by Welch's t; nothing unless both were repeated.
    pub interval: Option<(f64, f64)>,
}

/// A mean over all points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overall {
    /// The mean.
    pub value: f64,
    /// Where it lies with 95 % confidence, points taken as a sample; nothing for a single one.
    pub interval: Option<(f64, f64)>,
}

impl Pair {
    /// Second less first.
    pub fn difference(&self) -> f64 {
        self.means.1 - self.means.0
    }

    /// Second over first.
    pub fn ratio(&self) -> f64 {
        self.means.1 / self.means.0
    }
}

/// Points are matched by the words of their levels, factors by their names; a factor that one study lacks must not vary in
/// the other.
pub fn compare(first: &Frame, second: &Frame, response: &str) -> Result<Comparison, AnalysisError> {
    let (factors, others) = common_factors(first, second)?;
    let first = points(first, response, &factors)?;
    let mut second = points(second, response, &others)?;
    let (count, partners) = (first.len(), second.len());
    let mut pairs: Vec<Pair> = first
        .into_iter()
        .filter_map(|(words, (point, values))| {
            let (partner, others) = second.remove(&words)?;
            pair((point, &values), (partner, &others))
        })
        .collect();
    pairs.sort_by_key(|pair| pair.points.0);
    let matched = pairs.len();
    let differences: Vec<f64> = pairs.iter().map(Pair::difference).collect();
    let difference = overall(&differences).ok_or(AnalysisError::NoCommonPoints)?;
    let positive = pairs.iter().all(|pair| pair.means.0 > 0.0 && pair.means.1 > 0.0);
    let logarithms: Vec<f64> = pairs.iter().map(|pair| pair.ratio().ln()).collect();
    let ratio = if positive { geometric(&logarithms) } else { None };
    Ok(Comparison { points: pairs, alone: (count - matched, partners - matched), difference, ratio })
}

fn overall(values: &[f64]) -> Option<Overall> {
    let sample = Sample::of(values)?;
    Some(Overall { value: sample.mean, interval: sample.interval(CONFIDENCE) })
}

/// The geometric mean, from logarithms.
pub(super) fn geometric(logarithms: &[f64]) -> Option<Overall> {
    let overall = overall(logarithms)?;
    let interval = overall.interval.map(|(low, high)| (low.exp(), high.exp()));
    Some(Overall { value: overall.value.exp(), interval })
}

fn pair(first: (usize, &[f64]), second: (usize, &[f64])) -> Option<Pair> {
    let (a, b) = (Sample::of(first.1)?, Sample::of(second.1)?);
    let interval = a.estimate().zip(b.estimate()).map(|(a, b)| b.minus(&a).interval(CONFIDENCE));
    Some(Pair { points: (first.0, second.0), means: (a.mean, b.mean), interval })
}

/// Numbers of the factors that both studies have, in the same order for both.
fn common_factors(first: &Frame, second: &Frame) -> Result<(Vec<usize>, Vec<usize>), AnalysisError> {
    let find = |frame: &Frame, name: &str| frame.factors.iter().position(|factor| factor.name == name);
    for (one, other) in [(first, second), (second, first)] {
        let varies = |values: &[usize]| values.iter().any(|value| *value != values[0]);
        let lost = one.factors.iter().find(|factor| find(other, &factor.name).is_none() && varies(&factor.values));
        if let Some(factor) = lost {
            return Err(AnalysisError::Ambiguous { factor: factor.name.clone() });
        }
    }
    let pairs =
        first.factors.iter().enumerate().filter_map(|(number, factor)| Some((number, find(second, &factor.name)?)));
    Ok(pairs.unzip())
}

/// For the words of each point its number and values. Points with the same words are one.
type Points = BTreeMap<Vec<String>, (usize, Vec<f64>)>;

fn points(frame: &Frame, response: &str, factors: &[usize]) -> Result<Points, AnalysisError> {
    let number = frame.responses.iter().position(|own| own.name == response);
    let number = number.ok_or_else(|| AnalysisError::NoCommonResponse { response: response.into() })?;
    let mut points = Points::new();
    for (row, value) in data::known(frame, number)? {
        let words = factors.iter().map(|&factor| frame.level(factor, row).text.clone()).collect();
        points.entry(words).or_insert((frame.points[row], Vec::new())).1.push(value);
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::data::tests::frame;

    fn study(names: &[&str], values: &[(Vec<usize>, f64)]) -> Frame {
        frame(names, &values.iter().map(|(levels, value)| (levels.clone(), Some(*value))).collect::<Vec<_>>())
    }

    /// Values of scipy 1.17: ttest_rel's confidence interval, of the values and, as exp, of their logarithms.
    #[test]
    fn known_differences() {
        let (a, b) = ([10.0, 20.0, 30.0, 40.0], [11.0, 21.5, 33.5, 42.0]);
        let rows =
            |values: [f64; 4]| values.iter().enumerate().map(|(i, y)| (vec![i / 2, i % 2], *y)).collect::<Vec<_>>();
        // The second study has its factors the other way round, and a point more.
        let mut other: Vec<_> = rows(b).into_iter().map(|(levels, y)| (vec![levels[1], levels[0]], y)).collect();
        other.push((vec![2, 0], 1.0));
        let found = compare(&study(&["a", "b"], &rows(a)), &study(&["b", "a"], &other), "time").unwrap();
        assert_eq!((found.points.len(), found.alone), (4, (0, 1)));
        let (low, high) = found.difference.interval.unwrap();
        assert!((found.difference.value - 2.0).abs() < 1e-12);
        assert!((low - 0.2812825590708459).abs() < 1e-10 && (high - 3.7187174409291543).abs() < 1e-10);
        let ratio = found.ratio.unwrap();
        let (low, high) = ratio.interval.unwrap();
        assert!((ratio.value - 1.0851218292159153).abs() < 1e-12);
        assert!((low - 1.0395914516636888).abs() < 1e-10 && (high - 1.132646274030556).abs() < 1e-10);
        assert!((found.points[2].ratio() - 33.5 / 30.0).abs() < 1e-15 && found.points[2].interval.is_none());
    }

    #[test]
    fn repeated_points_have_intervals() {
        let one = study(&["a"], &[(vec![0], 20.1), (vec![0], 19.8), (vec![0], 21.3), (vec![0], 20.7), (vec![0], 19.9)]);
        let two = study(&["a"], &[(vec![0], 22.9), (vec![0], 21.0), (vec![0], 24.4), (vec![0], 23.1)]);
        let found = compare(&one, &two, "time").unwrap();
        // As in the tests of samples, with the other sign.
        let (low, high) = found.points[0].interval.unwrap();
        assert!((low - 0.3875190590925546).abs() < 1e-10 && (high - 4.592480940907443).abs() < 1e-10);
        assert_eq!(found.difference.interval, None);
    }

    #[test]
    fn what_cannot_be_compared() {
        let one = study(&["a"], &[(vec![0], 1.0), (vec![1], 2.0)]);
        let message = |other: &Frame, response| compare(&one, other, response).unwrap_err().to_string();
        assert!(message(&study(&["b"], &[(vec![0], 1.0)]), "time").starts_with("`a` varies in one study only"));
        assert!(message(&one, "speed").starts_with("the studies have no response `speed` in common"));
        let mut other = one.clone();
        other.factors[0].levels.iter_mut().for_each(|level| level.text.push('x'));
        assert!(message(&other, "time").starts_with("no point with values is in both"));
    }
}
