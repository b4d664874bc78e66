//! What runs have found, kept: one SQLite file in the study's folder, or PostgreSQL for a team.
//!
//! Runs are kept by what they depend on, so that none is done twice. A study is a table of its own: a row a run, with
//! factors and responses as columns; it can be made again from the runs.

mod database;
mod query;
mod schema;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::document::{Document, Fingerprint};
use crate::frame::Better;
use crate::run::{Cost, Ending, Inputs, Outputs};
pub use database::StoreError;
use database::{Cell, Database, Kind, without_password};
pub use query::{Condition, ConditionError, Query, StudyRow};

/// The name of the store in a study's folder.
pub const FILE: &str = "runs.sqlite";

/// Keys that are asked for at once.
const AT_ONCE: usize = 400;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    Server(String),
}

impl Location {
    /// An address of a server, a study's folder, or a file.
    pub fn of(text: &str) -> Location {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Location::Server(text.into());
        }
        let path = Path::new(text);
        Location::File(if path.is_dir() { path.join(FILE) } else { path.into() })
    }

    /// Whether both are the same store, whatever passwords they are opened with.
    pub fn is_same(&self, other: &Location) -> bool {
        match (self, other) {
            (Location::Server(one), Location::Server(other)) => without_password(one) == without_password(other),
            _ => self == other,
        }
    }
}

/// A word of a command as others may see it: an address of a server has no password.
pub fn shown(word: &str) -> String {
    let (option, value) = match word.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
        _ => (String::new(), word),
    };
    match Location::of(value) {
        Location::Server(url) => option + &without_password(&url),
        Location::File(_) => word.into(),
    }
}

/// A column of a study's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorColumn {
    /// What it is called.
    pub name: String,
    /// All levels, in the order of the study; empty for a range.
    pub levels: Vec<String>,
    /// Whether all values are numbers.
    pub numeric: bool,
    /// Whether values in between are as good.
    pub continuous: bool,
}

/// A column of a study's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseColumn {
    /// What it is called.
    pub name: String,
    /// Whether much of it is good.
    pub higher_is_better: bool,
}

impl ResponseColumn {
    /// Which values are good.
    pub fn better(&self) -> Better {
        if self.higher_is_better { Better::Higher } else { Better::Lower }
    }
}

/// A study in a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRecord {
    /// What tells it from others in the store.
    pub name: String,
    /// In a line.
    pub title: String,
    /// What one wants to know.
    pub question: String,
    /// The text of its file.
    pub file: String,
    /// The kind of its design.
    pub design: String,
    /// What was varied.
    pub factors: Vec<FactorColumn>,
    /// What is looked at.
    pub responses: Vec<ResponseColumn>,
    /// The combination that others are compared with.
    pub baseline: Vec<(String, String)>,
    /// Runs when all is done.
    pub rows: u64,
    /// The hpcast that began it.
    pub version: String,
    /// When it began, UTC, ISO 8601.
    pub created: String,
}

/// The number of a study in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyId(i64);

/// A run in a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// What tells it from others.
    pub key: Fingerprint,
    /// What it depends on.
    pub inputs: Inputs,
    /// How it has ended.
    pub ending: Ending,
}

/// A store that is open.
pub struct Store {
    database: Database,
}

impl Store {
    /// Opens a store, or makes one.
    pub fn open(location: &Location) -> Result<Store, StoreError> {
        let mut database = match location {
            Location::File(path) => Database::file(path)?,
            Location::Server(url) => Database::server(url)?,
        };
        schema::prepare(&mut database)?;
        Ok(Store { database })
    }

    /// Opens a store that must be there.
    pub fn open_existing(location: &Location) -> Result<Store, StoreError> {
        if let Location::File(path) = location
            && !path.is_file()
        {
            return Err(StoreError::Absent { path: path.clone() });
        }
        Store::open(location)
    }

    /// Keeps documents; those that are there stay.
    pub fn add_documents(&mut self, documents: &[(Fingerprint, &Document)]) -> Result<(), StoreError> {
        self.database.together(|database| {
            for (fingerprint, document) in documents {
                let sql = "INSERT INTO hpcast_document (fingerprint, name, content) VALUES ($1, $2, $3) \
                           ON CONFLICT DO NOTHING";
                let content = serde_json::to_string(document).unwrap_or_default();
                let row = [Cell::from(fingerprint.0.as_str()), document.name.as_str().into(), Cell::Text(content)];
                database.execute(sql, &row)?;
            }
            Ok(())
        })
    }

    /// A document.
    pub fn document(&mut self, fingerprint: &Fingerprint) -> Result<Document, StoreError> {
        let sql = "SELECT content FROM hpcast_document WHERE fingerprint = $1";
        let rows = self.database.query(sql, &[fingerprint.0.as_str().into()], &[Kind::Text])?;
        let content = rows.into_iter().next().and_then(|row| row.into_iter().next());
        let Some(Cell::Text(content)) = content else {
            return Err(StoreError::Unknown(format!("the store has no document {}", fingerprint.short())));
        };
        parsed(&content, "a document")
    }

    /// Begins a study, or goes on with it. One of that name that has other columns is replaced; its runs stay.
    pub fn begin_study(&mut self, study: &StudyRecord) -> Result<StudyId, StoreError> {
        self.database.together(|database| schema::begin_study(database, study))
    }

    /// Removes rows that are not for the run that they should be for, such as those of a table that has been changed since.
    pub fn remove_stale(
        &mut self,
        id: StudyId,
        is_right: impl Fn(u64, &Fingerprint) -> bool,
    ) -> Result<(), StoreError> {
        self.database.together(|database| {
            let rows = schema::keys(database, id)?;
            let stale = rows.iter().filter(|(row, key)| !is_right(*row, key));
            stale.into_iter().try_for_each(|(row, _)| schema::remove_row(database, id, *row))
        })
    }

    /// All studies, the oldest first.
    pub fn studies(&mut self) -> Result<Vec<(StudyId, StudyRecord)>, StoreError> {
        let sql = "SELECT id, record FROM hpcast_study ORDER BY id";
        let rows = self.database.query(sql, &[], &[Kind::Whole, Kind::Text])?;
        let study = |row: Vec<Cell>| match <[Cell; 2]>::try_from(row) {
            Ok([Cell::Whole(id), Cell::Text(record)]) => Ok((StudyId(id), parsed(&record, "a study")?)),
            _ => Err(StoreError::Damaged { what: "a study".into(), problem: "it has no record".into() }),
        };
        rows.into_iter().map(study).collect()
    }

    /// A study by its name, or the only one.
    pub fn study(&mut self, name: Option<&str>) -> Result<(StudyId, StudyRecord), StoreError> {
        let mut studies = self.studies()?;
        let names: Vec<String> = studies.iter().map(|(_, study)| study.name.clone()).collect();
        match name {
            Some(name) => {
                let place = names.iter().position(|known| known == name).ok_or_else(|| {
                    StoreError::Unknown(format!("there is no study `{name}`; there are {}", names.join(", ")))
                })?;
                Ok(studies.swap_remove(place))
            }
            None if studies.len() == 1 => Ok(studies.swap_remove(0)),
            None if studies.is_empty() => Err(StoreError::Unknown(format!("{} has no studies", self.database.place()))),
            None => Err(StoreError::Unknown(format!(
                "{} has {} studies; choose one with --study: {}",
                self.database.place(),
                studies.len(),
                names.join(", ")
            ))),
        }
    }

    /// Which of these runs have found something, with their figures.
    pub fn finished(
        &mut self,
        keys: &[&Fingerprint],
    ) -> Result<HashMap<Fingerprint, BTreeMap<String, f64>>, StoreError> {
        let mut found = HashMap::new();
        for keys in keys.chunks(AT_ONCE) {
            let places: Vec<String> = (1..=keys.len()).map(|number| format!("${number}")).collect();
            let sql =
                format!("SELECT key, figures FROM hpcast_run WHERE status = 'done' AND key IN ({})", places.join(", "));
            let values: Vec<Cell> = keys.iter().map(|key| key.0.as_str().into()).collect();
            for row in self.database.query(&sql, &values, &[Kind::Text, Kind::Text])? {
                if let [Cell::Text(key), Cell::Text(figures)] = &row[..] {
                    found.insert(Fingerprint(key.clone()), parsed(figures, "the figures of a run")?);
                }
            }
        }
        Ok(found)
    }

    /// Keeps runs that have ended, and their rows: all or none.
    pub fn add(&mut self, study: StudyId, runs: &[RunRecord], rows: &[StudyRow]) -> Result<(), StoreError> {
        self.database.together(|database| {
            runs.iter().try_for_each(|run| schema::add_run(database, run))?;
            rows.iter().try_for_each(|row| schema::add_row(database, study, row))
        })
    }

    /// Makes what is kept survive a crash of the system, too.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        self.database.settle()
    }

    /// The rows of a study that have ended.
    pub fn rows(&mut self, id: StudyId, study: &StudyRecord, query: &Query) -> Result<Vec<StudyRow>, StoreError> {
        query::rows(&mut self.database, id, study, query)
    }

    /// How many rows meet the conditions.
    pub fn count(&mut self, id: StudyId, study: &StudyRecord, query: &Query) -> Result<u64, StoreError> {
        query::count(&mut self.database, id, study, query)
    }

    /// What the runs of each row have cost.
    pub fn costs(&mut self, id: StudyId) -> Result<HashMap<u64, Cost>, StoreError> {
        query::costs(&mut self.database, id)
    }

    /// When a run of a study has ended last, UTC, ISO 8601.
    pub fn last_change(&mut self, id: StudyId) -> Result<Option<String>, StoreError> {
        query::last_change(&mut self.database, id)
    }

    /// A run by its key, or by the beginning of it.
    pub fn run(&mut self, key: &str) -> Result<RunRecord, StoreError> {
        let sql = "SELECT key, inputs, status, figures, report, warnings, message, wall_seconds, cpu_seconds, \
                   memory_bytes, host, finished FROM hpcast_run WHERE key >= $1 AND key < $2 ORDER BY key LIMIT 2";
        let kinds = [
            Kind::Text,
            Kind::Text,
            Kind::Text,
            Kind::Text,
            Kind::Text,
            Kind::Text,
            Kind::Text,
            Kind::Number,
            Kind::Number,
            Kind::Whole,
            Kind::Text,
            Kind::Text,
        ];
        let mut rows = self.database.query(sql, &[key.into(), Cell::Text(format!("{key}g"))], &kinds)?;
        match rows.len() {
            0 => Err(StoreError::Unknown(format!(
                "there is no run `{key}`; `hpcast runs list` shows those that there are"
            ))),
            1 => run_record(rows.remove(0)),
            _ => Err(StoreError::Unknown(format!("`{key}` is the beginning of several runs; write more of it"))),
        }
    }
}

fn run_record(row: Vec<Cell>) -> Result<RunRecord, StoreError> {
    let row: Result<[Cell; 12], _> = row.try_into();
    let Ok([key, inputs, status, figures, report, warnings, message, wall, cpu, memory, host, finished]) = row else {
        return Err(StoreError::Damaged { what: "a run".into(), problem: "it has not all columns".into() });
    };
    let result = match status.text().as_str() {
        "done" => Ok(Outputs {
            figures: parsed(&figures.text(), "the figures of a run")?,
            report: report.text(),
            warnings: parsed(&warnings.text(), "the warnings of a run")?,
        }),
        _ => Err(message.text()),
    };
    let cost = Cost {
        wall_seconds: wall.number().unwrap_or(0.0),
        cpu_seconds: cpu.number().unwrap_or(0.0),
        memory_bytes: memory.whole().and_then(|bytes| bytes.try_into().ok()),
    };
    Ok(RunRecord {
        key: Fingerprint(key.text()),
        inputs: parsed(&inputs.text(), "the inputs of a run")?,
        ending: Ending { result, cost, host: host.text(), finished: finished.text() },
    })
}

fn parsed<T: for<'t> Deserialize<'t>>(text: &str, what: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Damaged { what: what.into(), problem: error.to_string() })
}

#[cfg(test)]
mod tests;
