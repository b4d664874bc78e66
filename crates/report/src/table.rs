//! Tables of quantities: the same table prints aligned for people, as CSV, and as JSON rows.
//!
//! People get fitting units in every cell; programs get plain numbers in base units (bytes, seconds, bytes per second),
//! so a column's key should end in its unit: `mean_seconds`.

use hpcast_units::{Bandwidth, Bytes, FlopRate, Seconds, count};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// One value with what it means.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A whole number of things.
    Count(u64),
    /// A size that somebody chose, in bytes; people see every digit of it.
    Size(u64),
    /// An amount of data that was counted, in bytes; people see three digits of it.
    Data(f64),
    /// A duration in seconds.
    Seconds(f64),
    /// Bytes per second.
    Bandwidth(f64),
    /// Billions of floating-point operations per second.
    Gflops(f64),
    /// A part of a whole, 0 to 1.
    Share(f64),
    /// How many times something else.
    Ratio(f64),
    /// Nothing to say here.
    Empty,
}

impl Cell {
    /// For people: the number, and its unit if it has one.
    fn parts(&self) -> (String, String) {
        let whole = match self {
            Cell::Text(text) => return (text.clone(), String::new()),
            Cell::Count(number) => return (count(*number), String::new()),
            Cell::Empty => return ("-".into(), String::new()),
            Cell::Share(share) => return (format!("{:.1}", share * 100.0), "%".into()),
            Cell::Ratio(ratio) => return (format!("{ratio:.3}"), String::new()),
            Cell::Size(bytes) => Bytes::new(*bytes).to_string(),
            Cell::Data(bytes) => data(*bytes),
            Cell::Seconds(seconds) => Seconds::new(*seconds).human(),
            Cell::Bandwidth(rate) => Bandwidth::new(*rate).human(),
            Cell::Gflops(rate) => FlopRate::new(*rate * 1e9).human(),
        };
        match whole.rsplit_once(' ') {
            Some((number, unit)) => (number.into(), unit.into()),
            None => (whole, String::new()),
        }
    }

    /// For programs: the bare value.
    pub(crate) fn plain(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Count(number) | Cell::Size(number) => number.to_string(),
            // The shortest digits that give back the same number, with an exponent where that is shorter.
            Cell::Data(x)
            | Cell::Seconds(x)
            | Cell::Bandwidth(x)
            | Cell::Gflops(x)
            | Cell::Share(x)
            | Cell::Ratio(x) => {
                format!("{x:?}")
            }
            Cell::Empty => String::new(),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Count(number) | Cell::Size(number) => serializer.serialize_u64(*number),
            Cell::Data(x)
            | Cell::Seconds(x)
            | Cell::Bandwidth(x)
            | Cell::Gflops(x)
            | Cell::Share(x)
            | Cell::Ratio(x) => serializer.serialize_f64(*x),
            Cell::Empty => serializer.serialize_none(),
        }
    }
}

/// An amount of data with three digits: `4.2 GiB`.
pub(crate) fn data(bytes: f64) -> String {
    Bytes::new(bytes.round() as u64).human()
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name for people.
    pub header: String,
    /// Its name in CSV and JSON, with the base unit: `mean_seconds`.
    pub key: String,
}

impl Column {
    /// A column with both its names.
    pub fn new(header: impl Into<String>, key: impl Into<String>) -> Column {
        Column { header: header.into(), key: key.into() }
    }
}

/// Rows of cells under named columns. As JSON: a list of objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row, which must have a cell for every column.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        assert_eq!(row.len(), self.columns.len(), "a row needs a cell for every column");
        self.rows.push(row);
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// The value of a column, by its key, in the last row.
    pub fn last(&self, key: &str) -> Option<&Cell> {
        let place = self.columns.iter().position(|column| column.key == key)?;
        self.rows.last().map(|row| &row[place])
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Aligned for a terminal: text to the left, numbers to the right with their units below each other.
    pub fn text(&self) -> String {
        let columns: Vec<Vec<String>> = (0..self.columns.len()).map(|column| self.aligned(column)).collect();
        let mut text = String::new();
        for line in 0..=self.rows.len() {
            let cells: Vec<&str> = columns.iter().map(|column| column[line].as_str()).collect();
            text.push_str(cells.join("   ").trim_end());
            text.push('\n');
        }
        text
    }

    /// A column's header and cells, all of the same width.
    fn aligned(&self, column: usize) -> Vec<String> {
        let header = &self.columns[column].header;
        let cells = || self.rows.iter().map(|row| &row[column]);
        let words = !self.is_empty() && cells().all(|cell| matches!(cell, Cell::Text(_) | Cell::Empty));
        let parts: Vec<(String, String)> = cells().map(Cell::parts).collect();
        let width = |text: &String| text.chars().count();
        let numbers = parts.iter().map(|(number, _)| width(number)).max().unwrap_or(0);
        let units = parts.iter().map(|(_, unit)| width(unit)).max().unwrap_or(0);
        let cell = |(number, unit): &(String, String)| match units {
            0 => format!("{number:>numbers$}"),
            _ => format!("{number:>numbers$} {unit:<units$}"),
        };
        let all = width(header).max(numbers + if units > 0 { 1 + units } else { 0 });
        if words {
            let left = |text: &String| format!("{text:<all$}");
            std::iter::once(left(header)).chain(parts.iter().map(|(text, _)| left(text))).collect()
        } else {
            let right = |text: &String| format!("{text:>all$}");
            std::iter::once(right(header)).chain(parts.iter().map(|parts| right(&cell(parts)))).collect()
        }
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Row<'a>(&'a [Column], &'a [Cell]);
        impl Serialize for Row<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(self.0.len()))?;
                for (column, cell) in self.0.iter().zip(self.1) {
                    map.serialize_entry(&column.key, cell)?;
                }
                map.end()
            }
        }
        let mut rows = serializer.serialize_seq(Some(self.rows.len()))?;
        for row in &self.rows {
            rows.serialize_element(&Row(&self.columns, row))?;
        }
        rows.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies() -> Table {
        let mut table = Table::new([
            Column::new("size", "size_bytes"),
            Column::new("mean", "mean_seconds"),
            Column::new("algorithm", "algorithm"),
            Column::new("rate", "bytes_per_second"),
        ]);
        table.push([Cell::Size(8), Cell::Seconds(1.5e-6), Cell::Text("ring".into()), Cell::Bandwidth(12.5e9)]);
        table.push([Cell::Size(65_536), Cell::Seconds(0.012_34), Cell::Text("tree, 2-ary".into()), Cell::Empty]);
        table
    }

    #[test]
    fn numbers_to_the_right_and_units_below_each_other() {
        let expected = [
            "  size      mean   algorithm          rate",
            " 8 B      1.5 us   ring          12.5 GB/s",
            "64 KiB   12.3 ms   tree, 2-ary      -",
            "",
        ];
        assert_eq!(latencies().text(), expected.join("\n"));
    }

    #[test]
    fn every_line_fits_its_header() {
        let mut table = Table::new([Column::new("a long header", "x"), Column::new("n", "y")]);
        table.push([Cell::Count(1), Cell::Count(1_000_000)]);
        assert_eq!(table.text(), "a long header           n\n            1   1,000,000\n");
    }

    #[test]
    fn a_table_without_rows_is_its_header() {
        assert_eq!(Table::new([Column::new("a", "a"), Column::new("b", "b")]).text(), "a   b\n");
    }

    #[test]
    fn json_rows_are_objects_with_plain_numbers() {
        assert_eq!(
            serde_json::to_string(&latencies()).unwrap(),
            "[{\"size_bytes\":8,\"mean_seconds\":1.5e-6,\"algorithm\":\"ring\",\"bytes_per_second\":12500000000.0},\
             {\"size_bytes\":65536,\"mean_seconds\":0.01234,\"algorithm\":\"tree, 2-ary\",\"bytes_per_second\":null}]"
        );
    }

    #[test]
    #[should_panic(expected = "a cell for every column")]
    fn short_rows_are_refused() {
        latencies().push([Cell::Empty]);
    }
}
