//! The rows of a study for other programs: CSV and Parquet.
//!
//! Rows come in the order of the design, whoever has done them when; nothing is written that differs between two equal
//! studies, unless costs are asked for.

mod parquet;

use crate::run::Cost;
use crate::store::{StudyRecord, StudyRow};
pub use parquet::{ParquetError, parquet};

/// A row with what its run has cost, if that was asked.
pub struct ExportedRow {
    /// The row.
    pub row: StudyRow,
    /// What its run has cost.
    pub cost: Option<Cost>,
}

/// Names of columns that say what a run has cost.
const COSTS: [&str; 3] = ["wall_seconds", "cpu_seconds", "memory_bytes"];

/// All rows as CSV (RFC 4180) with a header line. Numbers are as short as they can be without losing a bit.
pub fn csv(study: &StudyRecord, rows: &[ExportedRow], with_costs: bool) -> String {
    let mut text = String::new();
    let mut header: Vec<&str> = vec!["row", "point", "repetition", "seed"];
    header.extend(study.factors.iter().map(|factor| factor.name.as_str()));
    header.extend(study.responses.iter().map(|response| response.name.as_str()));
    header.push("status");
    if with_costs {
        header.extend(COSTS);
    }
    line(&mut text, header.into_iter().map(String::from));
    for ExportedRow { row, cost } in rows {
        let mut cells = [row.row, row.point, row.repetition, row.seed].map(|number| number.to_string()).to_vec();
        cells.extend(row.levels.iter().map(|(level, _)| level.clone()));
        cells.extend(row.responses.iter().map(|value| number(*value)));
        cells.push(if row.is_done { "done" } else { "failed" }.into());
        if with_costs {
            let cost = cost.unwrap_or_default();
            let memory = cost.memory_bytes.map_or(String::new(), |bytes| bytes.to_string());
            cells.extend([number(Some(cost.wall_seconds)), number(Some(cost.cpu_seconds)), memory]);
        }
        line(&mut text, cells);
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn line(text: &mut String, cells: impl IntoIterator<Item = String>) {
    for (place, cell) in cells.into_iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            text.push_str(&format!("\"{}\"", cell.replace('"', "\"\"")));
        } else {
            text.push_str(&cell);
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Fingerprint;
    use crate::store::{FactorColumn, ResponseColumn};

    pub(super) fn study() -> StudyRecord {
        let factor =
            |name: &str| FactorColumn { name: name.into(), levels: Vec::new(), numeric: false, continuous: false };
        StudyRecord {
            name: "s".into(),
            title: "t".into(),
            question: String::new(),
            file: String::new(),
            design: "full".into(),
            factors: vec![factor("a, b"), factor("size")],
            responses: vec![ResponseColumn { name: "seconds".into(), higher_is_better: false }],
            baseline: Vec::new(),
            rows: 2,
            version: String::new(),
            created: String::new(),
        }
    }

    pub(super) fn rows() -> Vec<ExportedRow> {
        let row = |number: u64, value: Option<f64>| StudyRow {
            row: number,
            point: number,
            repetition: 0,
            seed: 7,
            key: Fingerprint("k".into()),
            is_done: value.is_some(),
            levels: vec![("say \"x\"".into(), None), ("1 KiB".into(), Some(1024.0))],
            responses: vec![value],
        };
        let cost = Cost { wall_seconds: 0.5, cpu_seconds: 0.25, memory_bytes: Some(1) };
        vec![ExportedRow { row: row(0, Some(0.1)), cost: Some(cost) }, ExportedRow { row: row(1, None), cost: None }]
    }

    #[test]
    fn rows_are_lines() {
        let plain = csv(&study(), &rows(), false);
        let expected = "row,point,repetition,seed,\"a, b\",size,seconds,status\n\
                        0,0,0,7,\"say \"\"x\"\"\",1 KiB,0.1,done\n1,1,0,7,\"say \"\"x\"\"\",1 KiB,,failed\n";
        assert_eq!(plain, expected);
        let costs = csv(&study(), &rows(), true);
        assert!(
            costs.contains("done,0.5,0.25,1\n") && costs.contains("status,wall_seconds,cpu_seconds,memory_bytes\n")
        );
    }
}
