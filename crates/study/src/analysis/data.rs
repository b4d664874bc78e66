//! Rows of a frame that have a value.

use std::collections::BTreeMap;

use super::AnalysisError;
use crate::frame::{Frame, Response};

/// The response of this number.
pub(super) fn response(frame: &Frame, response: usize) -> Result<&Response, AnalysisError> {
    let count = frame.responses.len();
    frame.responses.get(response).ok_or(AnalysisError::Unknown { what: "response", number: response, count })
}

/// Fails unless the frame has a factor of this number.
pub(super) fn check_factor(frame: &Frame, factor: usize) -> Result<(), AnalysisError> {
    let count = frame.factors.len();
    if factor < count { Ok(()) } else { Err(AnalysisError::Unknown { what: "factor", number: factor, count }) }
}

/// Numbers and values of the rows that have one; what is not finite is none.
pub(super) fn known(frame: &Frame, number: usize) -> Result<Vec<(usize, f64)>, AnalysisError> {
    let response = response(frame, number)?;
    let value = |(row, value): (usize, &Option<f64>)| value.filter(|value| value.is_finite()).map(|value| (row, value));
    let known: Vec<(usize, f64)> = response.values.iter().take(frame.rows()).enumerate().filter_map(value).collect();
    if known.is_empty() { Err(AnalysisError::NoValues { response: response.name.clone() }) } else { Ok(known) }
}

/// The levels of all factors in a row.
pub(super) fn levels(frame: &Frame, row: usize) -> Vec<usize> {
    frame.factors.iter().map(|factor| factor.values[row]).collect()
}

/// Values of each combination of levels. Points that a design has twice are one here.
pub(super) fn by_levels(frame: &Frame, known: &[(usize, f64)]) -> BTreeMap<Vec<usize>, Vec<f64>> {
    let mut groups: BTreeMap<Vec<usize>, Vec<f64>> = BTreeMap::new();
    for &(row, value) in known {
        groups.entry(levels(frame, row)).or_default().push(value);
    }
    groups
}

/// The mean of each point, by its number; nothing where no run has a value.
pub(super) fn point_means(frame: &Frame, number: usize) -> Result<Vec<Option<f64>>, AnalysisError> {
    let known = known(frame, number)?;
    let points = frame.points.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![(0.0, 0usize); points];
    for (row, value) in known {
        let sum = &mut sums[frame.points[row]];
        *sum = (sum.0 + value, sum.1 + 1);
    }
    Ok(sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / count as f64)).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::frame::{Better, Factor, Level};

    /// A frame of rows of levels and a value; points are combinations of levels, in the order in which they come.
    pub fn frame(names: &[&str], rows: &[(Vec<usize>, Option<f64>)]) -> Frame {
        let mut numbers: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let points = rows
            .iter()
            .map(|(levels, _)| {
                let next = numbers.len();
                *numbers.entry(levels.clone()).or_insert(next)
            })
            .collect();
        let factor = |(number, name): (usize, &&str)| {
            let values: Vec<usize> = rows.iter().map(|(levels, _)| levels[number]).collect();
            let count = values.iter().max().map_or(0, |last| last + 1);
            let level = |level: usize| Level { text: format!("{name}{level}"), number: Some(level as f64) };
            Factor { name: (*name).into(), levels: (0..count).map(level).collect(), continuous: false, values }
        };
        let values = rows.iter().map(|(_, value)| *value).collect();
        let response = Response { name: "time".into(), unit: "s".into(), better: Better::Lower, values };
        Frame { factors: names.iter().enumerate().map(factor).collect(), responses: vec![response], points }
    }

    #[test]
    fn what_is_not_finite_is_no_value() {
        let frame =
            frame(&["a"], &[(vec![0], Some(1.0)), (vec![1], Some(f64::NAN)), (vec![1], None), (vec![0], Some(2.0))]);
        assert_eq!(known(&frame, 0).unwrap(), [(0, 1.0), (3, 2.0)]);
        assert_eq!(point_means(&frame, 0).unwrap(), [Some(1.5), None]);
        assert!(known(&frame, 1).unwrap_err().to_string().ends_with("; use a number below 1"));
    }
}
