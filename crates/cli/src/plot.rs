//! `hpcast plot`: columns of a table as a picture, for studies of several runs.

use std::path::PathBuf;

use clap::Args;
use hpcast_calibrate::table::{TableError, TextRow, TextTable};
use hpcast_report::{Axis, Plot, Quantity, Series, Spacing, check_output, write_file};

use crate::failure::Failure;
use crate::print;

/// Options of `hpcast plot`.
#[derive(Args)]
pub(crate) struct Options {
    /// The table, with names of columns in its first line
    table: PathBuf,
    /// Column of the horizontal axis
    #[arg(long, value_name = "COLUMN")]
    x: String,
    /// Column of the vertical axis; `_seconds`, `_bytes`, `_bytes_per_second` and `gflops` at its end are units
    #[arg(long, value_name = "COLUMN")]
    y: String,
    /// Columns that say which line a row belongs to (default: all rows are one)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    series: Vec<String>,
    /// Equal ratios look equal on the horizontal axis
    #[arg(long)]
    log_x: bool,
    /// The same on the vertical axis
    #[arg(long)]
    log_y: bool,
    /// What stands above (default: the name of the file)
    #[arg(long)]
    title: Option<String>,
    /// What stands below, in small print
    #[arg(long, default_value = "")]
    note: String,
    /// The picture
    #[arg(short, long, value_name = "FILE.svg")]
    output: PathBuf,
}

/// Ends of names of columns that are units, and what one of them is in base units. The longest come first.
const UNITS: [(&str, Quantity, f64); 4] = [
    ("bytes_per_second", Quantity::Bandwidth, 1.0),
    ("seconds", Quantity::Seconds, 1.0),
    ("gflops", Quantity::FlopRate, 1e9),
    ("bytes", Quantity::Size, 1.0),
];

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    check_output(&options.output, [options.table.as_path()])?;
    let path = options.table.display();
    let text = std::fs::read_to_string(&options.table)
        .map_err(|error| Failure::input(format!("cannot read {path}: {error}; name a table in CSV")))?;
    let plot = options.plot(&text).map_err(|error| Failure::input(format!("{path}: {error}")))?;
    write_file(&options.output, plot.svg().as_bytes())?;
    let points: usize = plot.series.iter().map(|series| series.points.len()).sum();
    let output = options.output.display();
    print(&format!("{output}: {points} points, lines: {}\n", plot.series.len()))
}

impl Options {
    fn plot(&self, text: &str) -> Result<Plot, TableError> {
        let table = TextTable::read(text)?;
        let (x, y) = (Unit::of(&self.x), Unit::of(&self.y));
        let names = self.series.iter().map(|name| table.place(name)).collect::<Result<Vec<_>, _>>()?;
        let mut series: Vec<Series> = Vec::new();
        // Columns are looked for even if there is no row.
        let places = [table.place(&self.x)?, table.place(&self.y)?];
        for row in table.rows.iter().filter(|row| places.iter().all(|place| !row.cells[*place].is_empty())) {
            let point = (table.number(row, &self.x)? * x.factor, table.number(row, &self.y)? * y.factor);
            let name = self.name(row, &names);
            match series.iter_mut().find(|series| series.name == name) {
                Some(line) => line.points.push(point),
                None => series.push(Series { name, points: vec![point], ..Series::default() }),
            }
        }
        if series.is_empty() {
            return Err(TableError::Empty);
        }
        for line in &mut series {
            line.points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        let spacing = |logarithmic| if logarithmic { Spacing::Logarithmic } else { Spacing::Linear };
        let title = self.title.clone().unwrap_or_else(|| self.table.display().to_string());
        Ok(Plot {
            title,
            x: Axis::new(x.label, x.quantity, spacing(self.log_x)),
            y: Axis::new(y.label, y.quantity, spacing(self.log_y)),
            series,
            note: self.note.clone(),
        })
    }

    /// The line that a row belongs to; all rows are one without columns that tell.
    fn name(&self, row: &TextRow, places: &[usize]) -> String {
        let words: Vec<&str> =
            places.iter().map(|place| row.cells[*place].as_str()).filter(|word| !word.is_empty()).collect();
        if places.is_empty() { self.y.clone() } else { words.join(", ") }
    }
}

/// What the name of a column says.
struct Unit {
    label: String,
    quantity: Quantity,
    factor: f64,
}

impl Unit {
    fn of(column: &str) -> Unit {
        let found = UNITS.iter().find_map(|(end, quantity, factor)| {
            let rest = column.strip_suffix(end).filter(|rest| rest.is_empty() || rest.ends_with('_'))?;
            Some((rest.trim_end_matches('_'), *quantity, *factor))
        });
        let (rest, quantity, factor) = found.unwrap_or((column, Quantity::Count, 1.0));
        let label = match (rest, quantity) {
            ("", Quantity::Seconds) => "time".into(),
            ("", Quantity::Size) => "size".into(),
            ("", Quantity::Bandwidth) => "bandwidth".into(),
            ("", _) => "speed".into(),
            (rest, _) => rest.replace('_', " "),
        };
        Unit { label, quantity, factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_tell_units() {
        let of = |column| {
            let Unit { label, quantity, factor } = Unit::of(column);
            (label, quantity, factor)
        };
        assert_eq!(of("mean_seconds"), ("mean".into(), Quantity::Seconds, 1.0));
        assert_eq!(of("bandwidth_bytes_per_second"), ("bandwidth".into(), Quantity::Bandwidth, 1.0));
        assert_eq!(of("forecast_gflops"), ("forecast".into(), Quantity::FlopRate, 1e9));
        assert_eq!(of("size_bytes"), ("size".into(), Quantity::Size, 1.0));
        assert_eq!(of("seconds"), ("time".into(), Quantity::Seconds, 1.0));
        assert_eq!(of("top switches"), ("top switches".into(), Quantity::Count, 1.0));
        assert_eq!(of("kilobytes"), ("kilobytes".into(), Quantity::Count, 1.0));
    }
}
