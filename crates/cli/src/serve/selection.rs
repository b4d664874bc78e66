//! Runs of all studies, filtered, sorted and a page at a time. The stores do the work; what they give is merged.

use std::cmp::Ordering;

use hpcast_report::served::{RunColumn, RunLine, RunsPage, Selection};
use hpcast_report::study::figure;
use hpcast_study::store::{Condition, Query, StudyRecord, StudyRow};

use super::shelf::{Seen, Shelf};
use crate::failure::Failure;
use crate::runs::Opened;

/// Runs on a page.
const AT_ONCE: u64 = 100;

/// The page that somebody asks for.
pub(super) fn page(shelf: &Shelf, selection: Selection) -> RunsPage {
    let (studies, _) = shelf.look();
    let names = studies.iter().map(|study| (study.number.to_string(), study.record.title.clone())).collect();
    let is_chosen = |study: &Seen| selection.study.is_empty() || study.number.to_string() == selection.study;
    let chosen: Vec<Seen> = studies.into_iter().filter(is_chosen).collect();
    let (found, problem) =
        match conditions(&selection.filter).and_then(|given| found(shelf, &chosen, &given, &selection)) {
            Ok(found) => (found, None),
            Err(failure) => (Found::default(), Some(failure.message())),
        };
    let columns = columns(&chosen);
    let line = |(study, row): &(usize, StudyRow)| line(&chosen[*study], row, &columns);
    RunsPage {
        lines: found.rows.iter().map(line).collect(),
        found: found.count,
        at_once: AT_ONCE,
        studies: names,
        problem,
        columns,
        selection: Selection { page: found.page, ..selection },
    }
}

/// Conditions with commas or `and` between them, as on the page of a study.
fn conditions(filter: &str) -> Result<Vec<Condition>, Failure> {
    let parts = filter.split(',').flat_map(|part| part.split(" and ")).map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| Ok(part.parse()?)).collect()
}

/// Rows with the places of their studies.
#[derive(Default)]
struct Found {
    rows: Vec<(usize, StudyRow)>,
    /// All that there are, on this page and others.
    count: u64,
    /// The page that they are on: the last one if there is none such.
    page: u64,
}

/// A study that has the columns that are asked for.
struct Suited {
    /// Its place in the list.
    place: usize,
    opened: Opened,
    /// Rows that meet the conditions.
    count: u64,
}

fn found(shelf: &Shelf, studies: &[Seen], given: &[Condition], selection: &Selection) -> Result<Found, Failure> {
    let sort = Some(selection.sort.clone()).filter(|sort| !sort.is_empty());
    let query = Query { conditions: given.to_vec(), sort, descending: selection.descending, ..Query::default() };
    let suited = suited(shelf, studies, &query)?;
    let count = suited.iter().map(|study| study.count).sum();
    let page = selection.page.min(u64::saturating_sub(count, 1) / AT_ONCE);
    let skip = page * AT_ONCE;
    let rows = match query.sort {
        Some(_) if suited.len() > 1 => merged(studies, suited, &query, skip)?,
        _ => one_after_the_other(suited, &query, skip)?,
    };
    Ok(Found { rows, count, page })
}

/// Studies that can be asked. One without such a column has nothing to show; only if none has it is that a mistake.
fn suited(shelf: &Shelf, studies: &[Seen], query: &Query) -> Result<Vec<Suited>, Failure> {
    let mut suited = Vec::new();
    let mut unsuited = None;
    let nothing = Query { limit: Some(0), ..query.clone() };
    for (place, study) in studies.iter().enumerate() {
        let Some(shelved) = shelf.get(study.number) else { continue };
        let mut opened = shelved.open()?;
        let count = opened.rows(&nothing).and_then(|_| Ok(opened.store.count(opened.id, &opened.study, query)?));
        match count {
            Ok(count) => suited.push(Suited { place, opened, count }),
            Err(failure) => unsuited = Some(failure),
        }
    }
    match unsuited {
        Some(failure) if suited.is_empty() => Err(failure),
        _ => Ok(suited),
    }
}

/// The rows of one study, then those of the next.
fn one_after_the_other(suited: Vec<Suited>, query: &Query, mut skip: u64) -> Result<Vec<(usize, StudyRow)>, Failure> {
    let mut rows = Vec::new();
    for Suited { place, mut opened, count } in suited {
        let wanted = AT_ONCE - rows.len() as u64;
        if skip < count && wanted > 0 {
            let part = Query { limit: Some(wanted), skip, ..query.clone() };
            rows.extend(opened.rows(&part)?.into_iter().map(|row| (place, row)));
        }
        skip = skip.saturating_sub(count);
    }
    Ok(rows)
}

/// The rows of all studies in one order. Any of the first rows of each may be among the first of all.
fn merged(studies: &[Seen], suited: Vec<Suited>, query: &Query, skip: u64) -> Result<Vec<(usize, StudyRow)>, Failure> {
    let first = Query { limit: Some(skip.saturating_add(AT_ONCE)), ..query.clone() };
    let mut rows: Vec<(usize, StudyRow)> = Vec::new();
    for Suited { place, mut opened, .. } in suited {
        rows.extend(opened.rows(&first)?.into_iter().map(|row| (place, row)));
    }
    let sort = query.sort.as_deref().unwrap_or_default();
    let value = |(place, row): &(usize, StudyRow)| value(&studies[*place].record, row, sort);
    rows.sort_by(|one, other| value(one).compare(&value(other), query.descending));
    Ok(rows.into_iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).take(AT_ONCE as usize).collect())
}

/// What stands in a column, to be sorted by.
enum Value {
    Number(f64),
    Text(String),
    Nothing,
}

impl Value {
    /// As the stores do it: what has no value comes last, whichever way.
    fn compare(&self, other: &Value, descending: bool) -> Ordering {
        let order = match (self, other) {
            (Value::Nothing, Value::Nothing) => return Ordering::Equal,
            (Value::Nothing, _) => return Ordering::Greater,
            (_, Value::Nothing) => return Ordering::Less,
            (Value::Number(one), Value::Number(other)) => one.total_cmp(other),
            (Value::Text(one), Value::Text(other)) => one.cmp(other),
            (Value::Number(_), Value::Text(_)) => Ordering::Less,
            (Value::Text(_), Value::Number(_)) => Ordering::Greater,
        };
        if descending { order.reverse() } else { order }
    }
}

/// The study may have been replaced by another since its list was made, so that columns are missing.
fn value(study: &StudyRecord, row: &StudyRow, name: &str) -> Value {
    if let Some(place) = study.factors.iter().position(|factor| factor.name == name) {
        let Some((text, number)) = row.levels.get(place) else { return Value::Nothing };
        return number.filter(|_| study.factors[place].numeric).map_or(Value::Text(text.clone()), Value::Number);
    }
    if let Some(place) = study.responses.iter().position(|response| response.name == name) {
        return row.responses.get(place).copied().flatten().map_or(Value::Nothing, Value::Number);
    }
    match name {
        "row" => Value::Number(row.row as f64),
        "point" => Value::Number(row.point as f64),
        "repetition" => Value::Number(row.repetition as f64),
        "seed" => Value::Number(row.seed as f64),
        "status" => Value::Text(status(row).into()),
        "key" => Value::Text(row.key.0.clone()),
        _ => Value::Nothing,
    }
}

fn status(row: &StudyRow) -> &'static str {
    if row.is_done { "done" } else { "failed" }
}

/// The factors of a single study have columns of their own; of several only the responses can be compared.
fn columns(studies: &[Seen]) -> Vec<RunColumn> {
    let column = |name: &str, is_text: bool| RunColumn { name: name.into(), is_text, sorts: true };
    let mut columns = vec![column("row", false)];
    match studies {
        [study] => columns.extend(study.record.factors.iter().map(|factor| column(&factor.name, true))),
        _ => columns.extend(["study", "combination"].map(|name| RunColumn { sorts: false, ..column(name, true) })),
    }
    for response in studies.iter().flat_map(|study| &study.record.responses) {
        if !columns.iter().any(|known| known.name == response.name) {
            columns.push(column(&response.name, false));
        }
    }
    columns.extend([column("seed", false), column("status", true)]);
    columns
}

fn line(study: &Seen, row: &StudyRow, columns: &[RunColumn]) -> RunLine {
    let Seen { number, record, .. } = study;
    let cell = |column: &RunColumn| {
        if !column.sorts {
            let levels = record.factors.iter().zip(&row.levels);
            let levels: Vec<String> = levels.map(|(factor, (level, _))| format!("{} {level}", factor.name)).collect();
            return if column.name == "study" { record.title.clone() } else { levels.join(", ") };
        }
        if let Some(place) = record.factors.iter().position(|factor| factor.name == column.name) {
            return row.levels.get(place).map_or_else(String::new, |(level, _)| level.clone());
        }
        match value(record, row, &column.name) {
            Value::Number(_) if column.name == "seed" => row.seed.to_string(),
            Value::Number(_) if column.name == "row" => row.row.to_string(),
            Value::Number(value) => figure(value),
            Value::Text(text) => text,
            Value::Nothing => String::new(),
        }
    };
    RunLine {
        address: format!("/study/{number}/run/{}", row.key.short()),
        key: row.key.short().to_owned(),
        cells: columns.iter().map(cell).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_value_comes_last() {
        let mut values = [Value::Nothing, Value::Number(2.0), Value::Number(1.0)];
        let numbers = |values: &[Value]| -> Vec<Option<f64>> {
            values.iter().map(|value| if let Value::Number(number) = value { Some(*number) } else { None }).collect()
        };
        values.sort_by(|one, other| one.compare(other, false));
        assert_eq!(numbers(&values), [Some(1.0), Some(2.0), None]);
        values.sort_by(|one, other| one.compare(other, true));
        assert_eq!(numbers(&values), [Some(2.0), Some(1.0), None]);
    }

    #[test]
    fn filters_are_conditions_with_commas() {
        let given = conditions("nb=256, gflops>1000 and status!=failed").unwrap_or_default();
        let texts: Vec<String> = given.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["nb=256", "gflops>1000", "status!=failed"]);
        assert!(conditions("").is_ok_and(|given| given.is_empty()));
        assert!(conditions("fast").is_err());
    }
}
