//! How a response goes with a factor, all others taken together.

use std::collections::BTreeMap;

use hpcast_stats::{Sample, local};

use super::anova::is_wide;
use super::{AnalysisError, CONFIDENCE, data};
use crate::frame::Frame;

/// More values are not smoothed all: the time grows with their square.
const MOST_VALUES: usize = 3000;

/// The mean at a level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelMean {
    /// The number of the level.
    pub level: usize,
    /// Values with it.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Where the mean of all such values lies with 95 % confidence; nothing for a single value.
    pub interval: Option<(f64, f64)>,
    /// The least and the greatest value.
    pub extremes: (f64, f64),
}

/// A smooth curve over the numbers of a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Smooth {
    /// Places on the curve, with a band of 95 % confidence; `x` are numbers of the factor.
    pub places: Vec<local::Place>,
    /// Whether lines were fitted to logarithms of the numbers.
    pub logarithmic: bool,
    /// Values that it was made of: every second or third row where there are very many.
    pub count: usize,
}

/// Means by level.
pub fn by_level(frame: &Frame, response: usize, factor: usize) -> Result<Vec<LevelMean>, AnalysisError> {
    data::check_factor(frame, factor)?;
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (row, value) in data::known(frame, response)? {
        groups.entry(frame.factors[factor].values[row]).or_default().push(value);
    }
    let mean = |(level, values): (usize, Vec<f64>)| {
        let sample = Sample::of(&values)?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let interval = sample.interval(CONFIDENCE);
        Some(LevelMean { level, count: sample.count, mean: sample.mean, interval, extremes: (least, most) })
    };
    Ok(groups.into_iter().filter_map(mean).collect())
}

/// A curve at evenly spread places, by local regression; nothing unless the factor has numbers, at least three different
/// ones.
pub fn smooth(frame: &Frame, response: usize, factor: usize, places: usize) -> Result<Option<Smooth>, AnalysisError> {
    data::check_factor(frame, factor)?;
    let known = data::known(frame, response)?;
    let every = known.len().div_ceil(MOST_VALUES);
    let known: Vec<(usize, f64)> = known.into_iter().step_by(every).collect();
    let numbers: Option<Vec<f64>> = known.iter().map(|&(row, _)| frame.level(factor, row).number).collect();
    let Some(numbers) = numbers else { return Ok(None) };
    let logarithmic = is_wide(&numbers);
    let x: Vec<f64> = numbers.iter().map(|number| if logarithmic { number.ln() } else { *number }).collect();
    let y: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let low = x.iter().copied().fold(f64::INFINITY, f64::min);
    let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let last = places.max(2) - 1;
    let at: Vec<f64> = (0..=last).map(|i| low + (high - low) * i as f64 / last as f64).collect();
    let back = |place: local::Place| local::Place { x: if logarithmic { place.x.exp() } else { place.x }, ..place };
    let found = local::curve(&x, &y, local::SPAN, &at, CONFIDENCE);
    Ok(found.map(|places| Smooth { places: places.into_iter().map(back).collect(), logarithmic, count: x.len() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::data::tests::frame;

    /// 1, 2, 3 and their mean: the quantile of Student's t for two degrees of freedom is 4.302652729749462.
    #[test]
    fn means_by_level() {
        let rows =
            [(vec![0], Some(1.0)), (vec![0], Some(2.0)), (vec![2], Some(5.0)), (vec![0], Some(3.0)), (vec![1], None)];
        let frame = frame(&["a"], &rows);
        let means = by_level(&frame, 0, 0).unwrap();
        assert_eq!(
            means.iter().map(|mean| (mean.level, mean.count, mean.mean)).collect::<Vec<_>>(),
            [(0, 3, 2.0), (2, 1, 5.0)]
        );
        let (low, high) = means[0].interval.unwrap();
        let half = 4.302652729749462 / 3f64.sqrt();
        assert!((low - 2.0 + half).abs() < 1e-12 && (high - 2.0 - half).abs() < 1e-12);
        assert_eq!((means[0].extremes, means[1].interval), ((1.0, 3.0), None));
        assert!(by_level(&frame, 0, 1).is_err());
    }

    #[test]
    fn logarithms_are_lines() {
        let rows: Vec<_> = (0..12).map(|i| (vec![i], Some(i as f64))).collect();
        let mut frame = frame(&["size"], &rows);
        for (i, level) in frame.factors[0].levels.iter_mut().enumerate() {
            level.number = Some((i as f64).exp2());
        }
        let curve = smooth(&frame, 0, 0, 12).unwrap().unwrap();
        assert!(curve.logarithmic && curve.count == 12);
        assert!(curve.places.iter().all(|place| (place.y - place.x.log2()).abs() < 1e-9));
        frame.factors[0].levels[3].number = None;
        assert_eq!(smooth(&frame, 0, 0, 12), Ok(None));
    }
}
