//! Values of a study file that go into other files as they are.

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// A table without its places.
pub(super) fn table(table: &DeTable<'_>) -> Table {
    table.iter().map(|(key, item)| (key.get_ref().to_string(), value(item.get_ref()))).collect()
}

/// A value without its place.
pub(super) fn value(item: &DeValue<'_>) -> Value {
    match item {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix());
            whole.map_or_else(|_| Value::Float(number.as_str().parse().unwrap_or(f64::INFINITY)), Value::Integer)
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Boolean(*flag),
        DeValue::Datetime(date) => Value::Datetime(*date),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| value(item.get_ref())).collect()),
        DeValue::Table(inner) => Value::Table(table(inner)),
    }
}

/// As people write it, without quotes.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    }
}
