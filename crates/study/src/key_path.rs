//! Where a value stands in a TOML file: `network.levels[1].bandwidth`.

use std::fmt;
use std::str::FromStr;

use toml::{Table, Value};

/// The way to a value: names of tables, and places in lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath {
    first: String,
    rest: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Place(usize),
}

/// Why a value cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is no way at all.
    #[error("`{0}` is no key; write one such as `network.bandwidth` or `network.levels[1].latency`")]
    Syntax(String),
    /// Something on the way is no table, or no list that long.
    #[error("there is no `{0}` in the file; write a key that is there, or one of a section that is there")]
    Absent(String),
}

impl FromStr for KeyPath {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<KeyPath, KeyError> {
        let wrong = || KeyError::Syntax(text.into());
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, places) = part.split_once('[').map_or((part, None), |(name, places)| (name, Some(places)));
            let is_of_key = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            if name.is_empty() || !name.chars().all(is_of_key) {
                return Err(wrong());
            }
            steps.push(Step::Key(name.into()));
            for place in places.into_iter().flat_map(|places| places.split('[')) {
                let place = place.strip_suffix(']').and_then(|place| place.parse().ok());
                steps.push(Step::Place(place.ok_or_else(wrong)?));
            }
        }
        match steps.remove(0) {
            Step::Key(first) => Ok(KeyPath { first, rest: steps }),
            Step::Place(_) => Err(wrong()),
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.first)?;
        for step in &self.rest {
            match step {
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Place(place) => write!(f, "[{place}]")?,
            }
        }
        Ok(())
    }
}

impl KeyPath {
    /// The value, if it is there.
    pub fn get<'t>(&self, table: &'t Table) -> Option<&'t Value> {
        self.rest.iter().try_fold(table.get(&self.first)?, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Place(place) => value.get(place),
        })
    }

    /// Puts a value there. Tables on the way are made where there are none: files leave out what is usual.
    pub fn set(&self, table: &mut Table, value: Value) -> Result<(), KeyError> {
        let absent = || KeyError::Absent(self.to_string());
        let empty = || Value::Table(Table::new());
        let mut place = table.entry(&self.first).or_insert_with(empty);
        for step in &self.rest {
            place = match (step, place) {
                (Step::Key(key), Value::Table(inner)) => inner.entry(key).or_insert_with(empty),
                (Step::Place(place), Value::Array(items)) => items.get_mut(*place).ok_or_else(absent)?,
                _ => return Err(absent()),
            };
        }
        *place = value;
        Ok(())
    }
}

/// Replaces values of a table; tables within it are changed, not replaced.
pub fn merge(table: &mut Table, changes: &Table) {
    for (key, value) in changes {
        match (table.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(changes)) => merge(inner, changes),
            (_, value) => {
                table.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> KeyPath {
        text.parse().unwrap()
    }

    #[test]
    fn ways_lead_into_tables_and_lists() {
        let mut table: Table = "[network]\nlevels = [{ up = 1 }, { up = 2 }]\n".parse().unwrap();
        assert_eq!(path("network.levels[1].up").get(&table), Some(&Value::Integer(2)));
        assert_eq!(path("network.levels[2].up").get(&table), None);
        path("network.levels[0].up").set(&mut table, Value::Integer(7)).unwrap();
        path("mpi.between.latency").set(&mut table, Value::String("1 us".into())).unwrap();
        assert_eq!(path("network.levels[0].up").get(&table), Some(&Value::Integer(7)));
        assert_eq!(path("mpi.between.latency").get(&table), Some(&Value::String("1 us".into())));
    }

    #[test]
    fn what_leads_nowhere() {
        let mut table: Table = "a = 1\nb = [1]\n".parse().unwrap();
        for wrong in ["a.x", "b[3]", "b.x", "a[0]"] {
            assert_eq!(path(wrong).set(&mut table, Value::Integer(0)), Err(KeyError::Absent(wrong.into())), "{wrong}");
        }
        for wrong in ["", "a..b", "[1]", "a[x]", "a[1", "a b", "a[1]x"] {
            assert!(wrong.parse::<KeyPath>().is_err(), "{wrong}");
        }
        assert_eq!(path("a.b[1][2].c-d").to_string(), "a.b[1][2].c-d");
    }

    #[test]
    fn changes_replace_values_and_keep_the_rest() {
        let mut table: Table = "[a]\nb = 1\nc = 2\n".parse().unwrap();
        merge(&mut table, &"a.b = [3]\nd.e = 'new'".parse().unwrap());
        assert_eq!(table, "[a]\nb = [3]\nc = 2\n[d]\ne = 'new'\n".parse().unwrap());
    }
}
