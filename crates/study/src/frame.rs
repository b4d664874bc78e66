//! What a study has found, as a table: a row a run, a column a factor or a response.

use std::collections::{BTreeMap, HashMap};

use crate::store::{FactorColumn, StudyRecord, StudyRow};

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

impl Factor {
    /// A column: its levels in the order of the study, or those of a range in rising order.
    fn of(column: &FactorColumn, place: usize, rows: &[StudyRow]) -> Factor {
        let found = rows.iter().map(|row| &row.levels[place]);
        let mut levels: Vec<Level> =
            column.levels.iter().map(|text| Level { text: text.clone(), number: None }).collect();
        if levels.is_empty() {
            levels = found.clone().map(|(text, number)| Level { text: text.clone(), number: *number }).collect();
            let number = |level: &Level| level.number.unwrap_or(f64::NAN);
            levels.sort_by(|one, other| number(one).total_cmp(&number(other)).then_with(|| one.text.cmp(&other.text)));
            levels.dedup();
        }
        let places: HashMap<String, usize> =
            levels.iter().enumerate().map(|(number, level)| (level.text.clone(), number)).collect();
        let mut values = Vec::with_capacity(rows.len());
        for (text, number) in found {
            let level = places.get(text).copied().unwrap_or_else(|| {
                levels.push(Level { text: text.clone(), number: *number });
                levels.len() - 1
            });
            levels[level].number = levels[level].number.or(*number);
            values.push(level);
        }
        Factor { name: column.name.clone(), levels, continuous: column.continuous, values }
    }
}

impl Frame {
    /// The rows of a study; those that failed have no values.
    pub fn of(study: &StudyRecord, rows: &[StudyRow]) -> Frame {
        let factor = |(place, column): (usize, &FactorColumn)| Factor::of(column, place, rows);
        let response = |(place, column): (usize, &crate::store::ResponseColumn)| Response {
            name: column.name.clone(),
            unit: String::new(),
            better: column.better(),
            values: rows.iter().map(|row| row.responses[place]).collect(),
        };
        Frame {
            factors: study.factors.iter().enumerate().map(factor).collect(),
            responses: study.responses.iter().enumerate().map(response).collect(),
            points: rows.iter().map(|row| row.point as usize).collect(),
        }
    }

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
