//! What a study has found, as a table: a row a run, a column a factor or a response.

use std::collections::BTreeMap;

/// A value of a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// As people write it, such as `100Gbps`.
    pub text: String,
    /// As a number, in the base unit (bytes, seconds, bytes per second), where it is one.
    pub number: Option<f64>,
}

/// What was varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// What it is called.
    pub name: String,
    /// All its levels, each once, in the order of the study; for a range those that were drawn, in rising order.
    pub levels: Vec<Level>,
    /// Whether it is a number of which values in between are as good as these.
    pub continuous: bool,
    /// For each row, the number of its level.
    pub values: Vec<usize>,
}

/// Which values of a response are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Much, as of a speed.
    Higher,
    /// Little, as of a time.
    Lower,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// What it is called.
    pub name: String,
    /// Its unit, such as `s`; empty for a plain number.
    pub unit: String,
    /// Which values are good.
    pub better: Better,
    /// One a row; nothing where the run failed or has not been done.
    pub values: Vec<Option<f64>>,
}

/// What a study has found. Rows stand in the order of the design; those of one point differ in their seed only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// What was varied.
    pub factors: Vec<Factor>,
    /// What was found; the first is what the study is about.
    pub responses: Vec<Response>,
    /// For each row, the number of its point in the design.
    pub points: Vec<usize>,
}

impl Frame {
    /// The rows of each point for which the response is known.
    pub fn by_point(&self, response: &Response) -> BTreeMap<usize, Vec<f64>> {
        let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (point, value) in self.points.iter().zip(&response.values) {
            groups.entry(*point).or_default().extend(value);
        }
        groups
    }

    /// The level of a factor in a row.
    pub fn level(&self, factor: usize, row: usize) -> &Level {
        let factor = &self.factors[factor];
        &factor.levels[factor.values[row]]
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.points.len()
    }
}
