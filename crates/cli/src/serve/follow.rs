//! A study that is followed: what has come since somebody has looked, without reading everything for everybody.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hpcast_report::served::Standing;
use hpcast_report::study::{Edition, Findings, Served, analyses, html, is_shown, news};
use hpcast_study::store::{Query, StudyRecord, StudyRow};
use serde_json::{Value, json};

use super::shelf::{SHARE, Shelved};
use crate::failure::Failure;
use crate::study::uncertainty;

/// The store is not asked more often than that.
const PAUSE: Duration = Duration::from_millis(500);

/// A page has about so many rows; of larger studies it has a part.
const MOST_ROWS: u64 = 50_000;

/// What is known of a study.
#[derive(Default)]
pub(super) struct Followed {
    record: Option<StudyRecord>,
    /// Another study of the same name begins another one, and so does another server.
    generation: u64,
    /// In the order of the design.
    rows: Vec<StudyRow>,
    /// How sure each row's forecast is by itself, if that is known.
    uncertainty: Option<Vec<f64>>,
    /// Numbers of rows in the order in which they came; one that has changed comes again.
    order: Vec<u64>,
    standing: Standing,
    /// When the store was asked, and how long that took.
    asked: Option<(Instant, Duration)>,
    /// The answer and the tables, and for how many rows they were made.
    findings: (usize, String, String),
}

impl Followed {
    /// The page of the study.
    pub fn page(&mut self, shelved: &Shelved, number: usize) -> Result<String, Failure> {
        self.update(shelved)?;
        let Some(record) = &self.record else { return Ok(String::new()) };
        let served = Served {
            address: format!("/study/{number}"),
            runs: format!("/runs?study={number}"),
            edition: self.edition(),
            standing: self.standing,
            one_of: one_of(record),
        };
        Ok(html(&Findings::new(record, &self.rows, self.uncertainty.as_deref()), Some(&served)))
    }

    /// What has come since an edition.
    pub fn news(&mut self, shelved: &Shelved, since: Edition) -> Result<Value, Failure> {
        self.update(shelved)?;
        let now = self.edition();
        let mut told = json!({
            "generation": now.generation,
            "length": now.length,
            "ended": self.rows.len(),
            "standing": self.standing.html(),
        });
        if since.generation == now.generation && since.length < now.length {
            let one_of = self.record.as_ref().map_or(1, one_of);
            let mut fresh: Vec<u64> = self.order[since.length..].to_vec();
            fresh.retain(|row| is_shown(*row, one_of));
            fresh.sort_unstable();
            fresh.dedup();
            told["rows"] = news(fresh.iter().filter_map(|row| self.row(*row)));
            let (answer, tables) = self.findings();
            told["answer"] = answer.into();
            told["analyses"] = tables.into();
        }
        Ok(told)
    }

    fn edition(&self) -> Edition {
        Edition { generation: self.generation, length: self.order.len() }
    }

    /// What follows from the rows, worked out once for all who ask.
    fn findings(&mut self) -> (&str, &str) {
        if self.findings.0 != self.order.len()
            && let Some(record) = &self.record
        {
            let findings = Findings::new(record, &self.rows, self.uncertainty.as_deref());
            self.findings = (self.order.len(), findings.answer(), analyses(&findings));
        }
        (&self.findings.1, &self.findings.2)
    }

    /// Asks the store, unless that was done a moment ago.
    fn update(&mut self, shelved: &Shelved) -> Result<(), Failure> {
        if self.asked.is_some_and(|(when, took)| when.elapsed() < PAUSE.max(SHARE * took)) {
            return Ok(());
        }
        let start = Instant::now();
        let mut opened = shelved.open()?;
        let standing = shelved.standing(&mut opened)?;
        let is_new = self.record.as_ref() != Some(&opened.study);
        if is_new || (standing.done, standing.failed) != (self.standing.done, self.standing.failed) {
            let rows = opened.rows(&Query::default())?;
            if is_new || rows.len() < self.rows.len() {
                self.begin(opened.study);
            }
            let is_known = |row: &StudyRow| self.row(row.row) == Some(row);
            let fresh: Vec<u64> = rows.iter().filter(|row| !is_known(row)).map(|row| row.row).collect();
            self.order.extend(fresh);
            if let Some(record) = &self.record {
                self.uncertainty = uncertainty(&mut opened.store, record, &rows)?;
            }
            self.rows = rows;
        }
        self.standing = standing;
        self.asked = Some((start, start.elapsed()));
        Ok(())
    }

    fn begin(&mut self, record: StudyRecord) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let generation = now.max(self.generation + 1);
        *self = Followed { record: Some(record), generation, ..Followed::default() };
    }

    fn row(&self, number: u64) -> Option<&StudyRow> {
        self.rows.binary_search_by_key(&number, |row| row.row).ok().map(|place| &self.rows[place])
    }
}

/// A page shows about one row of so many.
fn one_of(record: &StudyRecord) -> u64 {
    record.rows.div_ceil(MOST_ROWS).max(1)
}
