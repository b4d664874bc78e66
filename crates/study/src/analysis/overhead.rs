//! How much worse than a base line: "12 % slower than with one switch".

use std::collections::BTreeMap;

use super::compare::{Overall, geometric};
use super::{AnalysisError, data};
use crate::frame::{Better, Frame};

/// What others are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseLine {
    /// A point: every other one is compared with it.
    Point(usize),
    /// A level of a factor: every point is compared with the one that has this level and is the same otherwise.
    Level {
        /// The factor.
        factor: usize,
        /// The level.
        level: usize,
    },
}

/// How much worse a level is, or a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Overhead {
    /// The number of the point, or of the level.
    pub of: usize,
    /// Pairs that were compared.
    pub count: usize,
    /// What is paid more than with the base line, as a part of it: 0.12 is 12 % slower, negative is faster. Of a response
    /// of which little is good it is value / base - 1, of one of which much is good base / value - 1, which is the time
    /// if the response is a speed. Over several pairs the geometric mean of quotients, with its interval.
    pub overhead: Overall,
}

/// Overheads of all levels or points but the base line itself. Only positive values have any.
pub fn overheads(frame: &Frame, response: usize, base: BaseLine) -> Result<Vec<Overhead>, AnalysisError> {
    let better = data::response(frame, response)?.better;
    let cost = |value: f64| match better {
        Better::Lower => value.ln(),
        Better::Higher => -value.ln(),
    };
    let costs: Costs = means(frame, response)?
        .into_iter()
        .filter(|(_, (_, value))| *value > 0.0)
        .map(|(levels, (point, value))| (levels, (point, cost(value))))
        .collect();
    let quotients = match base {
        BaseLine::Point(point) => with_point(&costs, point)?,
        BaseLine::Level { factor, level } => with_level(frame, &costs, factor, level)?,
    };
    let overhead = |(of, logarithms): (usize, Vec<f64>)| {
        let Overall { value, interval } = geometric(&logarithms)?;
        let overhead = Overall { value: value - 1.0, interval: interval.map(|(low, high)| (low - 1.0, high - 1.0)) };
        Some(Overhead { of, count: logarithms.len(), overhead })
    };
    Ok(quotients.into_iter().filter_map(overhead).collect())
}

/// For each combination of levels its first point and what it costs.
type Costs = BTreeMap<Vec<usize>, (usize, f64)>;

/// The means of all combinations.
fn means(frame: &Frame, response: usize) -> Result<Costs, AnalysisError> {
    let mut sums: BTreeMap<Vec<usize>, (usize, f64, f64)> = BTreeMap::new();
    for (row, value) in data::known(frame, response)? {
        let sum = sums.entry(data::levels(frame, row)).or_insert((frame.points[row], 0.0, 0.0));
        *sum = (sum.0, sum.1 + value, sum.2 + 1.0);
    }
    Ok(sums.into_iter().map(|(levels, (point, sum, count))| (levels, (point, sum / count))).collect())
}

fn with_point(costs: &Costs, point: usize) -> Result<BTreeMap<usize, Vec<f64>>, AnalysisError> {
    let base = costs.values().find(|(own, _)| *own == point).ok_or(AnalysisError::NoBaseLine)?.1;
    Ok(costs.values().filter(|(own, _)| *own != point).map(|(own, cost)| (*own, vec![cost - base])).collect())
}

fn with_level(
    frame: &Frame,
    costs: &Costs,
    factor: usize,
    level: usize,
) -> Result<BTreeMap<usize, Vec<f64>>, AnalysisError> {
    data::check_factor(frame, factor)?;
    let count = frame.factors[factor].levels.len();
    if level >= count {
        return Err(AnalysisError::Unknown { what: "level", number: level, count });
    }
    let mut quotients: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (levels, (_, cost)) in costs.iter().filter(|(levels, _)| levels[factor] != level) {
        let mut partner = levels.clone();
        partner[factor] = level;
        if let Some((_, base)) = costs.get(&partner) {
            quotients.entry(levels[factor]).or_default().push(cost - base);
        }
    }
    if quotients.is_empty() { Err(AnalysisError::NoBaseLine) } else { Ok(quotients) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::data::tests::frame;

    /// Level 1 takes 10 % and 21 % more than level 0, level 2 half in the only point that has a partner.
    fn study() -> Frame {
        let rows = [(0, 0, 10.0), (1, 0, 11.0), (2, 0, 5.0), (0, 1, 100.0), (1, 1, 121.0), (2, 2, 7.0)];
        frame(&["a", "b"], &rows.map(|(a, b, y)| (vec![a, b], Some(y))))
    }

    #[test]
    fn levels_against_a_level() {
        let found = overheads(&study(), 0, BaseLine::Level { factor: 0, level: 0 }).unwrap();
        assert_eq!(found.iter().map(|own| (own.of, own.count)).collect::<Vec<_>>(), [(1, 2), (2, 1)]);
        assert!((found[0].overhead.value - ((1.1f64 * 1.21).sqrt() - 1.0)).abs() < 1e-12);
        assert!(found[0].overhead.interval.is_some_and(|(low, high)| low < 0.1 && high > 0.21));
        assert!((found[1].overhead.value + 0.5).abs() < 1e-12 && found[1].overhead.interval.is_none());
    }

    #[test]
    fn points_against_a_point_and_speeds() {
        let mut frame = study();
        let found = overheads(&frame, 0, BaseLine::Point(0)).unwrap();
        assert!(found.len() == 5 && (found[0].overhead.value - 0.1).abs() < 1e-12 && found[0].of == 1);
        frame.responses[0].better = Better::Higher;
        let found = overheads(&frame, 0, BaseLine::Point(0)).unwrap();
        assert!((found[0].overhead.value - (10.0 / 11.0 - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn no_base_line() {
        let message = |base| overheads(&study(), 0, base).unwrap_err().to_string();
        assert!(message(BaseLine::Point(9)).starts_with("the base line has no values"));
        assert!(message(BaseLine::Level { factor: 0, level: 3 }).ends_with("; use a number below 3"));
        assert!(message(BaseLine::Level { factor: 2, level: 0 }).starts_with("there is no factor 2"));
    }
}
