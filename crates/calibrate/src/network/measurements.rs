//! Tables of measured messages: what was done, how large the message was, and how long it took.

use std::collections::BTreeMap;

use super::NetworkError;
use crate::table::{TableError, TextRow, TextTable};

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A blocking send, from call to return.
    Send,
    /// A non-blocking send, from call to return.
    Isend,
    /// A blocking receive, from call to return.
    Receive,
    /// A message there and one back.
    PingPong,
    /// A message from one end to the other: half a ping-pong.
    Transfer,
    /// A probe that finds nothing.
    Probe,
    /// A test that finds nothing.
    Test,
}

/// Where a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Between two nodes.
    Between,
    /// Inside a node.
    Inside,
}

impl Place {
    /// As files call it.
    pub fn word(self) -> &'static str {
        match self {
            Place::Between => "between",
            Place::Inside => "inside",
        }
    }

    fn of(word: &str) -> Option<Place> {
        Some(match word.to_ascii_lowercase().as_str() {
            "between" | "remote" => Place::Between,
            "inside" | "loopback" | "local" => Place::Inside,
            _ => return None,
        })
    }
}

/// What a word stands for: an operation, or nothing that is of use; and a place, where the word has one.
fn meaning(word: &str) -> Option<(Option<Operation>, Option<Place>)> {
    let word = word.to_ascii_lowercase().replace("ping-pong", "pingpong").replace("ping_pong", "pingpong");
    let word = word.strip_prefix("mpi_").unwrap_or(&word);
    let (word, place) = match word.rsplit_once(['_', '-']) {
        Some((word, last)) if Place::of(last).is_some() => (word, Place::of(last)),
        _ => (word, None),
    };
    let operation = match word {
        "send" => Operation::Send,
        "isend" => Operation::Isend,
        "receive" | "recv" => Operation::Receive,
        "pingpong" => Operation::PingPong,
        "transfer" => Operation::Transfer,
        "probe" | "iprobe" => Operation::Probe,
        "test" => Operation::Test,
        "ignore" => return Some((None, place)),
        _ => return None,
    };
    Some((Some(operation), place))
}

/// How to read a table.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Names of columns in place of `operation`, `size`, `seconds` and `where`.
    pub columns: Vec<(String, String)>,
    /// Only rows whose columns have these values.
    pub only: Vec<(String, String)>,
    /// What the table's own words for operations mean.
    pub operations: Vec<(String, String)>,
    /// The operation of all rows, if the table has no column for it.
    pub operation: Option<String>,
    /// Where messages go if the table does not say.
    pub place: Option<Place>,
}

/// More bytes than any message has.
const LARGEST: f64 = 1e15;

/// What columns are called, the first that is there counts.
const NAMES: [(&str, &[&str]); 4] = [
    ("operation", &["operation", "experiment", "dataset"]),
    ("size", &["size", "msg_size", "bytes"]),
    ("seconds", &["seconds", "duration", "time", "mean"]),
    ("where", &["where"]),
];

/// Measured durations.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// Size and seconds of each call.
    calls: BTreeMap<(Place, Operation), Vec<(f64, f64)>>,
}

impl Measurements {
    /// Reads a table.
    pub fn read(text: &str, reading: &Reading) -> Result<Measurements, NetworkError> {
        let table = TextTable::read(text)?;
        let columns = Columns::find(&table, reading)?;
        let mut conditions = Vec::new();
        for (column, value) in &reading.only {
            conditions.push((table.place(column)?, value));
        }
        let mut measurements = Measurements::default();
        for row in &table.rows {
            if conditions.iter().all(|(place, value)| row.cells[*place] == **value) {
                measurements.add(&table, row, &columns, reading)?;
            }
        }
        if measurements.calls.is_empty() { Err(TableError::Empty.into()) } else { Ok(measurements) }
    }

    fn add(
        &mut self,
        table: &TextTable,
        row: &TextRow,
        columns: &Columns,
        reading: &Reading,
    ) -> Result<(), NetworkError> {
        let unknown = |text: &str, what| NetworkError::Unknown { line: row.line, text: text.into(), what };
        let word = match columns.operation {
            Some(place) => &row.cells[place],
            None => reading.operation.as_deref().unwrap_or_default(),
        };
        let said = reading.operations.iter().find(|(name, _)| name == word);
        // A place in the table's own word counts, whatever the word is said to mean.
        let own_place = word.rsplit_once(['_', '-']).and_then(|(_, last)| Place::of(last));
        let (operation, place) = match said {
            Some((_, said)) => meaning(said).ok_or_else(|| unknown(said, "an operation"))?,
            None => meaning(word).ok_or_else(|| unknown(word, "an operation"))?,
        };
        let Some(operation) = operation else { return Ok(()) };
        let place = match columns.place {
            Some(column) => {
                let word = &row.cells[column];
                Place::of(word).ok_or_else(|| unknown(word, "a place"))?
            }
            None => place.or(own_place).or(reading.place).unwrap_or(Place::Between),
        };
        let seconds = not_negative(table, row, &columns.seconds)?;
        let size = match operation {
            Operation::Probe | Operation::Test => 0.0,
            _ => bytes(table, row, columns.size.as_deref().unwrap_or("size"))?,
        };
        self.calls.entry((place, operation)).or_default().push((size, seconds));
        Ok(())
    }

    /// Size and seconds of all calls.
    pub(super) fn of(&self, place: Place, operation: Operation) -> &[(f64, f64)] {
        self.calls.get(&(place, operation)).map_or(&[], Vec::as_slice)
    }

    /// What a call took on the mean, wherever it was made.
    pub(super) fn mean(&self, operation: Operation) -> Option<f64> {
        let calls = [Place::Between, Place::Inside].into_iter().flat_map(|place| self.of(place, operation));
        let (count, sum) = calls.fold((0, 0.0), |(count, sum), (_, seconds)| (count + 1, sum + seconds));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Number of calls.
    pub fn rows(&self) -> u64 {
        self.calls.values().map(|calls| calls.len() as u64).sum()
    }
}

fn not_negative(table: &TextTable, row: &TextRow, column: &str) -> Result<f64, TableError> {
    let number = table.number(row, column)?;
    if number < 0.0 {
        let text = row.cells[table.place(column)?].clone();
        return Err(TableError::BadNumber { line: row.line, column: column.into(), text, problem: "negative" });
    }
    Ok(number)
}

fn bytes(table: &TextTable, row: &TextRow, column: &str) -> Result<f64, TableError> {
    let number = not_negative(table, row, column)?;
    if number.fract() != 0.0 || number > LARGEST {
        let text = row.cells[table.place(column)?].clone();
        let problem = "no number of bytes of a message";
        return Err(TableError::BadNumber { line: row.line, column: column.into(), text, problem });
    }
    Ok(number)
}

/// Where a table has what.
struct Columns {
    operation: Option<usize>,
    size: Option<String>,
    seconds: String,
    place: Option<usize>,
}

impl Columns {
    fn find(table: &TextTable, reading: &Reading) -> Result<Columns, TableError> {
        let column = |number: usize| -> Result<Option<&str>, TableError> {
            let (key, usual) = NAMES[number];
            if let Some((_, name)) = reading.columns.iter().find(|(named, _)| named == key) {
                return table.place(name).map(|_| Some(name.as_str()));
            }
            Ok(usual.iter().copied().find(|name| table.place(name).is_ok()))
        };
        let operation = match (column(0)?, &reading.operation) {
            (_, Some(_)) => None,
            (Some(name), None) => Some(table.place(name)?),
            (None, None) => Some(table.place("operation")?),
        };
        let seconds = column(2)?.map_or_else(|| table.place("seconds").map(|_| "seconds"), Ok)?.to_owned();
        let size = column(1)?.map(String::from);
        let place = column(3)?.map(|name| table.place(name)).transpose()?;
        Ok(Columns { operation, size, seconds, place })
    }
}
