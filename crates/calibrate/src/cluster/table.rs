//! Tables of daily fits: a row a processor and day.

use hpcast_models::compute::Term;

use super::{DailyFit, DailyFits};
use crate::table::{TableError, TextRow, TextTable};

/// Which columns hold what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The coefficients of the expectation.
    pub seconds: Vec<(Term, String)>,
    /// Those of the deviation; terms that are not here have none.
    pub deviation: Vec<(Term, String)>,
    /// What tells days apart.
    pub day: String,
    /// The number of the node.
    pub node: String,
    /// The number of the socket; without, a node is one processor.
    pub socket: Option<String>,
}

impl Columns {
    /// The usual names, as in the tables of T. Cornebize's thesis: `intercept` and `mnk` are the coefficients of `1` and
    /// `M*N*K`, and those of the deviation have `sigma_` before them or `_residual` behind.
    pub fn usual(header: &[String]) -> Columns {
        let term = |name: &str| -> Option<Term> {
            let text = match name {
                "intercept" => "1",
                "mnk" => "M*N*K",
                "mn" => "M*N",
                "mk" => "M*K",
                "nk" => "N*K",
                _ => return None,
            };
            text.parse().ok()
        };
        let find = |names: &[&str]| {
            let same = |name: &&&str| header.iter().any(|column| column.eq_ignore_ascii_case(name));
            names.iter().find(same).map(|name| (*name).to_owned())
        };
        let mut columns = Columns {
            day: find(&["date", "day"]).unwrap_or_else(|| "date".into()),
            node: "node".into(),
            socket: find(&["socket", "cpu"]),
            ..Columns::default()
        };
        for name in header {
            let lower = name.to_ascii_lowercase();
            let deviation = lower.strip_prefix("sigma_").or_else(|| lower.strip_suffix("_residual"));
            for (list, found) in
                [(&mut columns.seconds, term(&lower)), (&mut columns.deviation, deviation.and_then(term))]
            {
                // The first of two columns of one name counts.
                let new = found.filter(|term| !list.iter().any(|(known, _)| known == term));
                list.extend(new.map(|term| (term, name.clone())));
            }
        }
        columns
    }
}

impl DailyFits {
    /// Reads a table.
    pub fn read(text: &str, columns: &Columns) -> Result<DailyFits, TableError> {
        let table = TextTable::read(text)?;
        let day = table.place(&columns.day)?;
        let terms: Vec<Term> = columns.seconds.iter().map(|(term, _)| term.clone()).collect();
        let deviation: Vec<Option<&str>> = match columns.deviation.is_empty() {
            true => Vec::new(),
            false => terms.iter().map(|term| column_of(&columns.deviation, term)).collect(),
        };
        let mut fits = Vec::new();
        for row in &table.rows {
            let number = |name: &str| table.number(row, name);
            let mut coefficients = Vec::new();
            for (_, name) in &columns.seconds {
                coefficients.push(number(name)?);
            }
            for name in &deviation {
                coefficients.push(name.map_or(Ok(0.0), number)?);
            }
            let node = whole(&table, row, &columns.node)?;
            let socket = columns.socket.as_ref().map_or(Ok(0), |name| whole(&table, row, name))?;
            fits.push(DailyFit { processor: (node, socket), day: row.cells[day].clone(), coefficients });
        }
        if fits.is_empty() {
            return Err(TableError::Empty);
        }
        Ok(DailyFits { terms, fits })
    }
}

fn column_of<'c>(columns: &'c [(Term, String)], wanted: &Term) -> Option<&'c str> {
    columns.iter().find(|(term, _)| term == wanted).map(|(_, name)| name.as_str())
}

fn whole(table: &TextTable, row: &TextRow, column: &str) -> Result<u32, TableError> {
    let text = &row.cells[table.place(column)?];
    let bad = || TableError::BadNumber {
        line: row.line,
        column: column.into(),
        text: text.clone(),
        problem: "no whole number",
    };
    text.parse().map_err(|_| bad())
}
