//! The tables of a store, in SQL that SQLite and PostgreSQL both know.

use super::database::{Cell, Database, Kind};
use super::query::{StudyRow, columns, table};
use super::{RunRecord, StoreError, StudyId, StudyRecord, parsed};
use crate::document::Fingerprint;

/// The format of the tables. One that a newer hpcast has written is left alone.
const FORMAT: i64 = 1;

const TABLES: &str = "\
CREATE TABLE IF NOT EXISTS hpcast_store (format BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS hpcast_document (
    fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL, content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS hpcast_run (
    key TEXT PRIMARY KEY, inputs TEXT NOT NULL, status TEXT NOT NULL, figures TEXT, report TEXT, warnings TEXT,
    message TEXT, wall_seconds DOUBLE PRECISION, cpu_seconds DOUBLE PRECISION, memory_bytes BIGINT, host TEXT,
    finished TEXT);
CREATE TABLE IF NOT EXISTS hpcast_study (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
";

/// Makes the tables, unless they are there.
pub(super) fn prepare(database: &mut Database) -> Result<(), StoreError> {
    database.batch(TABLES)?;
    let formats = database.query("SELECT format FROM hpcast_store", &[], &[Kind::Whole])?;
    match formats.first().and_then(|row| row[0].whole()) {
        Some(found) if found > FORMAT => Err(StoreError::Newer { place: database.place(), found, known: FORMAT }),
        Some(_) => Ok(()),
        None => database.execute("INSERT INTO hpcast_store (format) VALUES ($1)", &[Cell::Whole(FORMAT)]).map(drop),
    }
}

/// A study of that name, with its columns.
pub(super) fn begin_study(database: &mut Database, study: &StudyRecord) -> Result<StudyId, StoreError> {
    let sql = "SELECT id, record FROM hpcast_study WHERE name = $1";
    let known = database.query(sql, &[study.name.as_str().into()], &[Kind::Whole, Kind::Text])?;
    if let Some([Cell::Whole(id), Cell::Text(record)]) = known.first().map(Vec::as_slice) {
        let (id, earlier): (StudyId, StudyRecord) = (StudyId(*id), parsed(record, "a study")?);
        let goes_on =
            (&earlier.factors, &earlier.responses, &earlier.file) == (&study.factors, &study.responses, &study.file);
        let created = if goes_on { earlier.created } else { study.created.clone() };
        let update = "UPDATE hpcast_study SET record = $1 WHERE id = $2";
        database.execute(update, &[record_of(&StudyRecord { created, ..study.clone() }), Cell::Whole(id.0)])?;
        if goes_on {
            return Ok(id);
        }
        database.batch(&format!("DROP TABLE IF EXISTS {}", table(id)))?;
        return create(database, id, study);
    }
    let last = database.query("SELECT MAX(id) FROM hpcast_study", &[], &[Kind::Whole])?;
    let id = StudyId(last.first().and_then(|row| row[0].whole()).unwrap_or(0) + 1);
    let row = [Cell::Whole(id.0), study.name.as_str().into(), record_of(study)];
    database.execute("INSERT INTO hpcast_study (id, name, record) VALUES ($1, $2, $3)", &row)?;
    create(database, id, study)
}

fn record_of(study: &StudyRecord) -> Cell {
    Cell::Text(serde_json::to_string(study).unwrap_or_default())
}

fn create(database: &mut Database, id: StudyId, study: &StudyRecord) -> Result<StudyId, StoreError> {
    let mut definitions = vec![
        "row BIGINT PRIMARY KEY".to_owned(),
        "point BIGINT NOT NULL".into(),
        "repetition BIGINT NOT NULL".into(),
        "seed BIGINT NOT NULL".into(),
        "key TEXT NOT NULL".into(),
        "status TEXT NOT NULL".into(),
    ];
    definitions.extend(columns(study).into_iter().map(|(name, kind)| match kind {
        Kind::Text => format!("{name} TEXT"),
        Kind::Number | Kind::Whole => format!("{name} DOUBLE PRECISION"),
    }));
    database.batch(&format!("CREATE TABLE {} ({})", table(id), definitions.join(", ")))?;
    Ok(id)
}

/// Keeps a run; one that failed before is replaced.
pub(super) fn add_run(database: &mut Database, run: &RunRecord) -> Result<(), StoreError> {
    let sql = "INSERT INTO hpcast_run (key, inputs, status, figures, report, warnings, message, wall_seconds, \
               cpu_seconds, memory_bytes, host, finished) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
               ON CONFLICT (key) DO UPDATE SET status = excluded.status, figures = excluded.figures, \
               report = excluded.report, warnings = excluded.warnings, message = excluded.message, \
               wall_seconds = excluded.wall_seconds, cpu_seconds = excluded.cpu_seconds, \
               memory_bytes = excluded.memory_bytes, host = excluded.host, finished = excluded.finished \
               WHERE hpcast_run.status <> 'done'";
    let text = |value: Option<String>| value.map_or(Cell::Null, Cell::Text);
    let outputs = run.ending.result.as_ref().ok();
    let json = |value: Result<String, _>| value.unwrap_or_default();
    let cost = run.ending.cost;
    let row = [
        Cell::from(run.key.0.as_str()),
        Cell::Text(json(serde_json::to_string(&run.inputs))),
        Cell::from(if outputs.is_some() { "done" } else { "failed" }),
        text(outputs.map(|outputs| json(serde_json::to_string(&outputs.figures)))),
        text(outputs.map(|outputs| outputs.report.clone())),
        text(outputs.map(|outputs| json(serde_json::to_string(&outputs.warnings)))),
        Cell::optional(run.ending.result.as_ref().err().map(String::as_str)),
        Cell::from(cost.wall_seconds),
        Cell::from(cost.cpu_seconds),
        cost.memory_bytes.map_or(Cell::Null, Cell::from),
        Cell::from(run.ending.host.as_str()),
        Cell::from(run.ending.finished.as_str()),
    ];
    database.execute(sql, &row).map(drop)
}

/// The run of each row.
pub(super) fn keys(database: &mut Database, id: StudyId) -> Result<Vec<(u64, Fingerprint)>, StoreError> {
    let rows = database.query(&format!("SELECT row, key FROM {}", table(id)), &[], &[Kind::Whole, Kind::Text])?;
    let key = |row: Vec<Cell>| match <[Cell; 2]>::try_from(row) {
        Ok([Cell::Whole(row), Cell::Text(key)]) => Some((row as u64, Fingerprint(key))),
        _ => None,
    };
    Ok(rows.into_iter().filter_map(key).collect())
}

pub(super) fn remove_row(database: &mut Database, id: StudyId, row: u64) -> Result<(), StoreError> {
    database.execute(&format!("DELETE FROM {} WHERE row = $1", table(id)), &[Cell::from(row)]).map(drop)
}

/// Keeps a row; one that is there is replaced.
pub(super) fn add_row(database: &mut Database, id: StudyId, row: &StudyRow) -> Result<(), StoreError> {
    let mut values = vec![
        Cell::from(row.row),
        Cell::from(row.point),
        Cell::from(row.repetition),
        Cell::from(row.seed),
        Cell::from(row.key.0.as_str()),
        Cell::from(if row.is_done { "done" } else { "failed" }),
    ];
    for (text, number) in &row.levels {
        values.extend([Cell::from(text.as_str()), number.map_or(Cell::Null, Cell::from)]);
    }
    values.extend(row.responses.iter().map(|value| value.map_or(Cell::Null, Cell::from)));
    let places: Vec<String> = (1..=values.len()).map(|number| format!("${number}")).collect();
    remove_row(database, id, row.row)?;
    let (table, places) = (table(id), places.join(", "));
    database.execute(&format!("INSERT INTO {table} VALUES ({places})"), &values).map(drop)
}
