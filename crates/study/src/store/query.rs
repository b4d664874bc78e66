//! Rows of a study's table: which of them, in which order, how many.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use hpcast_units::AnyQuantity;

use super::database::{Cell, Database, Kind};
use super::{StoreError, StudyId, StudyRecord};
use crate::document::Fingerprint;
use crate::run::Cost;

/// A run of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// Its number in the design.
    pub row: u64,
    /// The number of its combination.
    pub point: u64,
    /// Which run of that combination it is.
    pub repetition: u64,
    /// Its seed.
    pub seed: u64,
    /// The run.
    pub key: Fingerprint,
    /// Whether it has found something.
    pub is_done: bool,
    /// The level of each factor, and as a number.
    pub levels: Vec<(String, Option<f64>)>,
    /// The value of each response.
    pub responses: Vec<Option<f64>>,
}

/// How a column is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Relation {
    /// Longer ones first, so that `<=` is not taken for `<`.
    const ALL: [(&'static str, Relation); 6] = [
        ("!=", Relation::Unequal),
        ("<=", Relation::AtMost),
        (">=", Relation::AtLeast),
        ("=", Relation::Equal),
        ("<", Relation::Less),
        (">", Relation::More),
    ];

    fn sql(self) -> &'static str {
        match self {
            Relation::Equal => "=",
            Relation::Unequal => "<>",
            Relation::Less => "<",
            Relation::AtMost => "<=",
            Relation::More => ">",
            Relation::AtLeast => ">=",
        }
    }
}

/// What rows are asked for, such as `nb=256` or `gflops>1000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    column: String,
    relation: Relation,
    value: String,
}

/// A text is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no condition; write one such as `nb=256`, `bandwidth>=10GB/s` or `status!=done`")]
pub struct ConditionError(String);

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let wrong = || ConditionError(text.into());
        let place = text.find(['=', '<', '>', '!']).ok_or_else(wrong)?;
        let (column, rest) = text.split_at(place);
        let found = Relation::ALL.iter().find_map(|(sign, relation)| Some((*relation, rest.strip_prefix(sign)?)));
        let (relation, value) = found.ok_or_else(wrong)?;
        if column.trim().is_empty() || value.trim().is_empty() {
            return Err(wrong());
        }
        Ok(Condition { column: column.trim().into(), relation, value: value.trim().into() })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = Relation::ALL.iter().find(|(_, relation)| *relation == self.relation).map_or("", |(sign, _)| sign);
        write!(f, "{}{sign}{}", self.column, self.value)
    }
}

/// Which rows, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What they must meet, all of it.
    pub conditions: Vec<Condition>,
    /// The column that they are sorted by; otherwise they come in the order of the design.
    pub sort: Option<String>,
    /// Whether the largest come first.
    pub descending: bool,
    /// At most so many.
    pub limit: Option<u64>,
    /// After so many.
    pub skip: u64,
}

/// The table of a study.
pub(super) fn table(id: StudyId) -> String {
    format!("hpcast_study_{}", id.0)
}

/// A name as SQL takes it, whatever it is.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The number of a factor.
fn number_of(name: &str) -> String {
    quoted(&format!("{name} as a number"))
}

/// The columns that only this study has: two a factor, one a response.
pub(super) fn columns(study: &StudyRecord) -> Vec<(String, Kind)> {
    let factors = study
        .factors
        .iter()
        .flat_map(|factor| [(quoted(&factor.name), Kind::Text), (number_of(&factor.name), Kind::Number)]);
    factors.chain(study.responses.iter().map(|response| (quoted(&response.name), Kind::Number))).collect()
}

/// The column of that name, and whether it holds numbers; for a factor that depends on what it is compared with.
fn column(study: &StudyRecord, name: &str, with: Option<&str>) -> Result<(String, Kind), StoreError> {
    let is_number = |text: Option<&str>| text.is_none_or(|text| AnyQuantity::parse(text).is_some());
    if let Some(factor) = study.factors.iter().find(|factor| factor.name == name) {
        let by_number = factor.numeric && is_number(with);
        return Ok(if by_number { (number_of(name), Kind::Number) } else { (quoted(name), Kind::Text) });
    }
    if study.responses.iter().any(|response| response.name == name) {
        return Ok((quoted(name), Kind::Number));
    }
    match name {
        "row" | "point" | "repetition" | "seed" => Ok((name.into(), Kind::Whole)),
        "status" | "key" => Ok((name.into(), Kind::Text)),
        _ => {
            let names = study.factors.iter().map(|factor| &factor.name);
            let names: Vec<&str> =
                names.chain(study.responses.iter().map(|response| &response.name)).map(String::as_str).collect();
            Err(StoreError::Unknown(format!(
                "the study has no column `{name}`; it has {}, row, point, repetition, seed, status, key",
                names.join(", ")
            )))
        }
    }
}

/// Levels of one kind are not compared with a value of another.
fn check_unit(study: &StudyRecord, condition: &Condition) -> Result<(), StoreError> {
    let noun = |text: &str| AnyQuantity::parse(text).and_then(AnyQuantity::noun);
    let factor = study.factors.iter().find(|factor| factor.name == condition.column);
    let level = factor.and_then(|factor| factor.levels.first());
    match (level.and_then(|level| noun(level)), noun(&condition.value)) {
        (Some(own), Some(other)) if own != other => Err(StoreError::Unknown(format!(
            "`{condition}`: a {other} cannot be compared with `{}`, which is a {own}; write it in a unit of {own}",
            condition.column
        ))),
        _ => Ok(()),
    }
}

/// The conditions as SQL, and the values in them.
fn filter(study: &StudyRecord, conditions: &[Condition]) -> Result<(String, Vec<Cell>), StoreError> {
    let (mut terms, mut values) = (Vec::new(), Vec::new());
    for condition in conditions {
        check_unit(study, condition)?;
        let (name, kind) = column(study, &condition.column, Some(&condition.value))?;
        let number = AnyQuantity::parse(&condition.value).map(AnyQuantity::get);
        let value = match (kind, number) {
            (Kind::Text, _) => Cell::from(condition.value.as_str()),
            (Kind::Number, Some(number)) => Cell::from(number),
            (Kind::Whole, Some(number)) => Cell::Whole(number as i64),
            (_, None) => {
                let text = format!("`{condition}`: `{}` holds numbers; compare it with one", condition.column);
                return Err(StoreError::Unknown(text));
            }
        };
        values.push(value);
        terms.push(format!("{name} {} ${}", condition.relation.sql(), values.len()));
    }
    let filter = if terms.is_empty() { String::new() } else { format!(" WHERE {}", terms.join(" AND ")) };
    Ok((filter, values))
}

pub(super) fn count(
    database: &mut Database,
    id: StudyId,
    study: &StudyRecord,
    query: &Query,
) -> Result<u64, StoreError> {
    let (filter, values) = filter(study, &query.conditions)?;
    let sql = format!("SELECT COUNT(*) FROM {}{filter}", table(id));
    let rows = database.query(&sql, &values, &[Kind::Whole])?;
    Ok(rows.first().and_then(|row| row[0].whole()).unwrap_or(0).unsigned_abs())
}

pub(super) fn rows(
    database: &mut Database,
    id: StudyId,
    study: &StudyRecord,
    query: &Query,
) -> Result<Vec<StudyRow>, StoreError> {
    let own = columns(study);
    let (filter, values) = filter(study, &query.conditions)?;
    let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    let mut sql =
        format!("SELECT row, point, repetition, seed, key, status, {} FROM {}{filter}", names.join(", "), table(id));
    let direction = if query.descending { "DESC" } else { "ASC" };
    sql += &match &query.sort {
        // Rows that have no value come last in both databases.
        Some(name) => {
            let name = column(study, name, None)?.0;
            format!(" ORDER BY ({name} IS NULL), {name} {direction}, row")
        }
        None => format!(" ORDER BY row {direction}"),
    };
    if let Some(limit) = query.limit {
        sql += &format!(" LIMIT {limit} OFFSET {}", query.skip);
    }
    let mut kinds = vec![Kind::Whole, Kind::Whole, Kind::Whole, Kind::Whole, Kind::Text, Kind::Text];
    kinds.extend(own.iter().map(|(_, kind)| *kind));
    let found = database.query(&sql, &values, &kinds)?;
    Ok(found.into_iter().map(|cells| study_row(study, cells)).collect())
}

pub(super) fn costs(database: &mut Database, id: StudyId) -> Result<HashMap<u64, Cost>, StoreError> {
    let sql = format!(
        "SELECT s.row, r.wall_seconds, r.cpu_seconds, r.memory_bytes FROM {} s JOIN hpcast_run r ON r.key = s.key",
        table(id)
    );
    let rows = database.query(&sql, &[], &[Kind::Whole, Kind::Number, Kind::Number, Kind::Whole])?;
    let cost = |row: Vec<Cell>| {
        let cost = Cost {
            wall_seconds: row[1].number().unwrap_or(0.0),
            cpu_seconds: row[2].number().unwrap_or(0.0),
            memory_bytes: row[3].whole().and_then(|bytes| bytes.try_into().ok()),
        };
        (row[0].whole().unwrap_or(0).unsigned_abs(), cost)
    };
    Ok(rows.into_iter().map(cost).collect())
}

pub(super) fn last_change(database: &mut Database, id: StudyId) -> Result<Option<String>, StoreError> {
    let sql = format!("SELECT MAX(r.finished) FROM {} s JOIN hpcast_run r ON r.key = s.key", table(id));
    let rows = database.query(&sql, &[], &[Kind::Text])?;
    let last = rows.into_iter().flatten().next().filter(|last| *last != Cell::Null);
    Ok(last.map(Cell::text))
}

fn study_row(study: &StudyRecord, cells: Vec<Cell>) -> StudyRow {
    let mut cells = cells.into_iter();
    let mut next = || cells.next().unwrap_or(Cell::Null);
    let mut whole = || next().whole().unwrap_or(0) as u64;
    let [row, point, repetition, seed] = [whole(), whole(), whole(), whole()];
    let key = Fingerprint(next().text());
    let is_done = next().text() == "done";
    let levels = study.factors.iter().map(|_| (next().text(), next().number())).collect();
    let responses = study.responses.iter().map(|_| next().number()).collect();
    StudyRow { row, point, repetition, seed, key, is_done, levels, responses }
}
