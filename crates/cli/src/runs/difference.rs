//! In what two runs differ: what they were told, and what came of it.

use std::collections::BTreeSet;

use hpcast_study::document::Fingerprint;
use hpcast_study::store::{RunRecord, Store};
use toml::{Table, Value};

use crate::failure::Failure;

/// Both sides of what differs, a line each.
pub(super) fn text(store: &mut Store, first: &RunRecord, second: &RunRecord) -> Result<String, Failure> {
    let mut lines: Vec<(String, String, String)> = Vec::new();
    let mut unless_equal = |name: &str, one: String, other: String| {
        if one != other {
            lines.push((name.into(), one, other));
        }
    };
    let (one, other) = (&first.inputs, &second.inputs);
    unless_equal("words", one.words.join(" "), other.words.join(" "));
    unless_equal("seed", one.seed.to_string(), other.seed.to_string());
    unless_equal("hpcast", one.version.clone(), other.version.clone());
    for file in one.files.keys().chain(other.files.keys()).collect::<BTreeSet<_>>() {
        let short = |side: Option<&Fingerprint>| side.map_or("none".into(), |side| side.short().to_owned());
        unless_equal(file, short(one.files.get(file)), short(other.files.get(file)));
    }
    lines.extend(files(store, "machine", Some(&one.machine), Some(&other.machine))?);
    lines.extend(files(store, "models", one.models.as_ref(), other.models.as_ref())?);
    let mut text = if lines.is_empty() { "The inputs are equal.\n".into() } else { String::new() };
    for (name, one, other) in lines {
        text += &format!("{name}\n  - {one}\n  + {other}\n");
    }
    Ok(text + &figures(first, second))
}

/// The keys in which two files differ.
fn files(
    store: &mut Store,
    what: &str,
    one: Option<&Fingerprint>,
    other: Option<&Fingerprint>,
) -> Result<Vec<(String, String, String)>, Failure> {
    if one == other {
        return Ok(Vec::new());
    }
    let mut read = |side: Option<&Fingerprint>| -> Result<BTreeSet<(String, String)>, Failure> {
        let Some(side) = side else { return Ok(BTreeSet::new()) };
        let table: Table = store.document(side)?.text.parse().unwrap_or_default();
        let mut keys = BTreeSet::new();
        flatten(what, &Value::Table(table), &mut keys);
        Ok(keys)
    };
    let (one, other) = (read(one)?, read(other)?);
    let names: BTreeSet<&String> = one.symmetric_difference(&other).map(|(key, _)| key).collect();
    let value = |side: &BTreeSet<(String, String)>, name: &String| {
        side.iter().find(|(key, _)| key == name).map_or("none".into(), |(_, value)| value.clone())
    };
    Ok(names.into_iter().map(|name| (name.clone(), value(&one, name), value(&other, name))).collect())
}

fn flatten(key: &str, value: &Value, keys: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Table(table) => table.iter().for_each(|(name, value)| flatten(&format!("{key}.{name}"), value, keys)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, item)| flatten(&format!("{key}[{place}]"), item, keys));
        }
        plain => {
            keys.insert((key.into(), plain.to_string()));
        }
    }
}

fn figures(first: &RunRecord, second: &RunRecord) -> String {
    let (Ok(one), Ok(other)) = (&first.ending.result, &second.ending.result) else {
        let side = |record: &RunRecord| record.ending.result.as_ref().err().cloned().unwrap_or("it is done".into());
        return format!("result\n  - {}\n  + {}\n", side(first), side(second));
    };
    let mut text = String::new();
    for (name, value) in &one.figures {
        let Some(with) = other.figures.get(name).filter(|with| *with != value) else { continue };
        let change = if *value == 0.0 { String::new() } else { format!("  ({:+.2} %)", 100.0 * (with / value - 1.0)) };
        text += &format!("{name}\n  - {value}\n  + {with}{change}\n");
    }
    if text.is_empty() { "The results are equal.\n".into() } else { text }
}
