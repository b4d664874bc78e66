//! Tables of measurements: comma-separated values with a header.

use std::collections::BTreeMap;
use std::io::Read;

/// A table that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// Not a table.
    #[error("line {line}: {problem}")]
    Malformed {
        /// Line of the file, from 1.
        line: u64,
        /// What is wrong.
        problem: String,
    },
    /// A column is needed that is not there.
    #[error("there is no column `{wanted}`; the columns are {}", .there.join(", "))]
    NoColumn {
        /// The column asked for.
        wanted: String,
        /// What there is.
        there: Vec<String>,
    },
    /// Not a number that can be used.
    #[error("line {line}: `{text}` in column `{column}` is {problem}")]
    BadNumber {
        /// Line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No rows.
    #[error("the table has no such rows")]
    Empty,
}

impl TableError {
    /// The line in question.
    pub fn line(&self) -> Option<u64> {
        match self {
            TableError::Malformed { line, .. } | TableError::BadNumber { line, .. } => Some(*line),
            TableError::NoColumn { .. } | TableError::Empty => None,
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            TableError::Malformed { .. } => "correct the line",
            TableError::NoColumn { .. } => {
                "name the column that holds it, such as `--argument M=rows` or `--seconds duration`"
            }
            TableError::BadNumber { .. } => "write a plain number, or leave the row out",
            TableError::Empty => {
                "write a row for each measurement below the header, and take back conditions that no row fulfils"
            }
        }
    }
}

/// Columns of numbers, by name, all of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: BTreeMap<String, Vec<f64>>,
    header: Vec<String>,
    rows: usize,
}

impl Table {
    /// Reads these columns of a table, of the rows whose columns hold certain texts; names are compared without regard to
    /// case. No wanted column may hold anything but numbers that are not negative.
    pub fn read(text: &str, wanted: &[&str], only: &[(String, String)]) -> Result<Table, TableError> {
        let mut reader = reader(text);
        let header = names(&mut reader)?;
        let mut places = Vec::new();
        for name in wanted {
            let place = find(&header, name).ok_or_else(|| no_column(&header, name))?;
            places.push((place, Vec::new()));
        }
        let mut conditions = Vec::new();
        for (name, text) in only {
            conditions.push((find(&header, name).ok_or_else(|| no_column(&header, name))?, text));
        }
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(malformed)? {
            if conditions.iter().any(|(place, text)| record.get(*place) != Some(text.as_str())) {
                continue;
            }
            let line = record.position().map_or(0, csv::Position::line);
            for (place, values) in &mut places {
                let text = record.get(*place).unwrap_or_default();
                let bad = |problem| TableError::BadNumber {
                    line,
                    column: header[*place].clone(),
                    text: text.into(),
                    problem,
                };
                let value: f64 = text.parse().map_err(|_| bad("no number"))?;
                if !value.is_finite() {
                    return Err(bad("not finite"));
                }
                if value < 0.0 {
                    return Err(bad("negative"));
                }
                values.push(value);
            }
        }
        let rows = places.first().map_or(0, |(_, values)| values.len());
        if rows == 0 {
            return Err(TableError::Empty);
        }
        let columns =
            wanted.iter().map(|name| (*name).to_owned()).zip(places.into_iter().map(|(_, values)| values)).collect();
        Ok(Table { columns, header, rows })
    }

    /// The names of all columns of a table.
    pub fn header(text: &str) -> Result<Vec<String>, TableError> {
        names(&mut reader(text))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A column that was asked for.
    pub fn column(&self, name: &str) -> Result<&[f64], TableError> {
        self.columns.get(name).map(Vec::as_slice).ok_or_else(|| no_column(&self.header, name))
    }
}

/// A table of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    header: Vec<String>,
    /// In the order of the file.
    pub rows: Vec<TextRow>,
}

/// A row of a [`TextTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// One a column.
    pub cells: Vec<String>,
}

impl TextTable {
    /// Reads all of a table.
    pub fn read(text: &str) -> Result<TextTable, TableError> {
        let mut reader = reader(text);
        let header = names(&mut reader)?;
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(malformed)?;
            let line = record.position().map_or(0, csv::Position::line);
            rows.push(TextRow { line, cells: record.iter().map(String::from).collect() });
        }
        Ok(TextTable { header, rows })
    }

    /// The names of all columns.
    pub fn columns(&self) -> &[String] {
        &self.header
    }

    /// The place of a column.
    pub fn place(&self, column: &str) -> Result<usize, TableError> {
        find(&self.header, column).ok_or_else(|| no_column(&self.header, column))
    }

    /// The number in a column of a row.
    pub fn number(&self, row: &TextRow, column: &str) -> Result<f64, TableError> {
        let text = &row.cells[self.place(column)?];
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        let (line, column, problem) = (row.line, column.to_owned(), "no number");
        number.ok_or_else(|| TableError::BadNumber { line, column, text: text.clone(), problem })
    }
}

/// A table below the comments in front of it.
type Below<'t> = std::io::Chain<std::io::Take<std::io::Repeat>, &'t [u8]>;

/// Lines in front that begin with `#` say how the table came about. Empty ones stand for them, so that lines are counted.
fn reader(text: &str) -> csv::Reader<Below<'_>> {
    let (mut table, mut comments) = (text, 0);
    while table.starts_with('#') {
        table = table.split_once('\n').map_or("", |(_, rest)| rest);
        comments += 1;
    }
    let below = std::io::repeat(b'\n').take(comments).chain(table.as_bytes());
    csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(below)
}

fn names(reader: &mut csv::Reader<Below<'_>>) -> Result<Vec<String>, TableError> {
    Ok(reader.headers().map_err(malformed)?.iter().map(String::from).collect())
}

fn find(header: &[String], name: &str) -> Option<usize> {
    let exact = header.iter().position(|column| column == name);
    exact.or_else(|| header.iter().position(|column| column.eq_ignore_ascii_case(name)))
}

fn no_column(header: &[String], name: &str) -> TableError {
    TableError::NoColumn { wanted: name.into(), there: header.to_vec() }
}

fn malformed(error: csv::Error) -> TableError {
    let line = error.position().map_or(1, csv::Position::line);
    let problem = match error.into_kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} columns where the header has {expected_len}")
        }
        _ => "not a table of comma-separated values".into(),
    };
    TableError::Malformed { line, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_whatever_their_case() {
        let table = Table::read("M, duration,node\n1,2.5,x\n3,4e-6,y\n", &["m", "duration"], &[]).unwrap();
        assert_eq!((table.rows(), table.column("m").unwrap()), (2, &[1.0, 3.0][..]));
        assert_eq!(table.column("duration").unwrap(), [2.5, 4e-6]);
        let only = [("Node".to_owned(), "y".to_owned())];
        let table = Table::read("M, duration,node\n1,2.5,x\n3,4e-6,y\n", &["m"], &only).unwrap();
        assert_eq!(table.column("m").unwrap(), [3.0]);
    }

    #[test]
    fn comments_in_front_are_no_table() {
        let text = "# a run, of 4 ranks\n# ranks: 4\nfrom,bytes\n0,5\n1,x\n#2,7\n";
        let table = TextTable::read(text).unwrap();
        let cells = |row: &TextRow| (row.line, row.cells.join(" "));
        assert_eq!(
            table.rows.iter().map(cells).collect::<Vec<_>>(),
            [4, 5, 6].into_iter().zip(["0 5", "1 x", "#2 7"].map(String::from)).collect::<Vec<_>>()
        );
        assert_eq!(
            Table::read(text, &["bytes"], &[]).unwrap_err().to_string(),
            "line 5: `x` in column `bytes` is no number"
        );
        assert_eq!(Table::header("# only this").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let message = |text: &str| Table::read(text, &["m"], &[]).unwrap_err().to_string();
        assert_eq!(message("a,b\n1,2\n"), "there is no column `m`; the columns are a, b");
        assert_eq!(message("m\n1\nx\n"), "line 3: `x` in column `m` is no number");
        assert_eq!(message("m\n1\nNaN\n"), "line 3: `NaN` in column `m` is not finite");
        assert_eq!(message("m\n-1\n"), "line 2: `-1` in column `m` is negative");
        assert_eq!(message("m,n\n1\n"), "line 2: 1 columns where the header has 2");
        assert_eq!(message("m\n"), "the table has no such rows");
    }
}
