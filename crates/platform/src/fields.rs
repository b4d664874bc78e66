//! Reading TOML key by key: every value typed, every mistake reported with its place, and no key left unread.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use hpcast_units::UnitError;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Diagnostics, Source, nearest};

/// Something in a file that can be read but makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key in question, such as `network.levels[1].latency`.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// The tables of a text, or what is wrong with its syntax.
pub fn parse(source: &Arc<Source>) -> Result<Spanned<DeTable<'_>>, Diagnostics> {
    let (root, errors) = DeTable::parse_recoverable(&source.text);
    if errors.is_empty() {
        return Ok(root);
    }
    let mut diagnostics = Diagnostics::new();
    for error in errors {
        let message = format!("this is not TOML: {}", error.message());
        let place = error.span().unwrap_or(0..0);
        diagnostics.push(Diagnostic::error(message, "a line is `key = value` or `[section]`").at(source, place));
    }
    Err(diagnostics)
}

/// What was found while reading.
pub struct Reader {
    /// The file.
    pub source: Arc<Source>,
    /// What kind of file it is, for messages: `a machine file`.
    kind: &'static str,
    /// What is wrong with it.
    pub diagnostics: Diagnostics,
    /// What it left open, and what was taken instead.
    pub assumed: Vec<String>,
    /// Place of every value, by its key, such as `network.levels[1].latency`.
    places: BTreeMap<String, Range<usize>>,
    /// Keys whose values could not be read.
    broken: BTreeSet<String>,
}

impl Reader {
    /// Nothing was found yet in a file of that kind, such as `a machine file`.
    pub fn new(source: Arc<Source>, kind: &'static str, root: &Spanned<DeTable<'_>>) -> Reader {
        let mut places = BTreeMap::new();
        index(root.get_ref(), "", &mut places);
        Reader { source, kind, diagnostics: Diagnostics::new(), assumed: Vec::new(), places, broken: BTreeSet::new() }
    }

    /// Something is wrong with the value of this key.
    pub fn fail(&mut self, key: &str, message: impl Into<String>, remedy: impl Into<String>) {
        let place = self.place(key);
        self.broken.insert(key.into());
        self.diagnostics.push(Diagnostic::error(message, remedy).at(&self.source, place));
    }

    /// Reports what a check has found, unless the value in question could not even be read.
    pub fn report(&mut self, problem: &Problem) {
        if self.broken.iter().any(|broken| is_within(broken, &problem.key) || is_within(&problem.key, broken)) {
            return;
        }
        let place = self.place(&problem.key);
        // One value may stand for several, such as the links of all levels.
        if self.broken.iter().any(|broken| self.places.get(broken) == Some(&place)) {
            return;
        }
        let diagnostic = Diagnostic::error(&problem.message, &problem.remedy).at(&self.source, place);
        if !self.diagnostics.iter().any(|earlier| *earlier == diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether values in this section could not be read.
    pub fn is_broken(&self, section: &str) -> bool {
        self.broken.iter().any(|key| is_within(key, section))
    }

    /// A diagnostic about another file was given: what this key stands for cannot be used.
    pub fn fail_elsewhere(&mut self, key: &str, diagnostic: Diagnostic) {
        self.broken.insert(key.into());
        self.diagnostics.push(diagnostic);
    }

    /// The place of a key, or else of the nearest thing that was written in its stead.
    pub fn place(&self, key: &str) -> Range<usize> {
        if let Some(place) = self.places.get(key) {
            return place.clone();
        }
        // The links of a fat tree may be given once for all levels.
        if let Some((_, last)) = key.strip_prefix("network.levels[").and_then(|rest| rest.split_once("].")) {
            return self.place(&format!("network.{last}"));
        }
        // So may those of other networks, for all kinds of links that are not given.
        if let Some((link, last)) = key.rsplit_once('.')
            && link.starts_with("network.")
            && link.ends_with("-link")
            && !self.places.contains_key(link)
        {
            return self.place(&format!("network.{last}"));
        }
        match key.rfind(['.', '[']) {
            Some(end) => self.place(&key[..end]),
            None => 0..0,
        }
    }
}

/// Whether `key` is `section` or something in it.
fn is_within(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn index(table: &DeTable<'_>, prefix: &str, places: &mut BTreeMap<String, Range<usize>>) {
    for (key, value) in table {
        index_value(value, &format!("{prefix}{}", key.get_ref()), places);
    }
}

fn index_value(value: &Spanned<DeValue<'_>>, key: &str, places: &mut BTreeMap<String, Range<usize>>) {
    places.insert(key.into(), value.span());
    match value.get_ref() {
        DeValue::Table(table) => index(table, &format!("{key}."), places),
        DeValue::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                index_value(item, &format!("{key}[{i}]"), places);
            }
        }
        _ => {}
    }
}

/// A table of the file. Asking for a key makes it known; what is never asked for is an unknown key.
pub struct Section<'t> {
    path: String,
    /// `None` if the file has no such table.
    table: Option<&'t DeTable<'t>>,
    known: Vec<&'t str>,
}

impl<'t> Section<'t> {
    /// The whole file.
    pub fn root(table: &'t DeTable<'t>) -> Section<'t> {
        Section { path: String::new(), table: Some(table), known: Vec::new() }
    }

    fn new(path: String, table: Option<&'t DeTable<'t>>) -> Section<'t> {
        Section { path, table, known: Vec::new() }
    }

    /// Whether the file has it.
    pub fn exists(&self) -> bool {
        self.table.is_some()
    }

    /// The full name of a key of this section.
    pub fn key(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    /// The keys that it has.
    pub fn keys(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        self.table.into_iter().flatten().map(|(key, _)| key.get_ref().as_ref())
    }

    /// The value as it stands.
    pub fn value(&mut self, key: &'t str) -> Option<&'t DeValue<'t>> {
        self.known.push(key);
        self.table.and_then(|table| table.get(key)).map(Spanned::get_ref)
    }

    /// A table within this one; without any keys if there is none.
    pub fn section(&mut self, reader: &mut Reader, key: &'static str) -> Section<'t> {
        let path = self.key(key);
        let table = match self.value(key) {
            Some(DeValue::Table(table)) => Some(table),
            Some(other) => {
                let name = if path.contains('[') { format!("`{key}`") } else { format!("[{path}]") };
                reader.fail(&path, format!("{name} is a table, not {}", noun(other)), "write its keys and values");
                None
            }
            None => None,
        };
        Section::new(path, table)
    }

    /// All tables within this one, whatever their names.
    pub fn tables(&mut self, reader: &mut Reader) -> Vec<(&'t str, Section<'t>)> {
        let mut tables = Vec::new();
        for (key, value) in self.table.into_iter().flatten() {
            let (name, path) = (key.get_ref().as_ref(), self.key(key.get_ref()));
            self.known.push(name);
            match value.get_ref() {
                DeValue::Table(table) => tables.push((name, Section::new(path, Some(table)))),
                other => {
                    let message = format!("[{path}] is a table, not {}", noun(other));
                    reader.fail(&path, message, "write its keys and values");
                }
            }
        }
        tables
    }

    /// A list of plain numbers.
    pub fn numbers(&mut self, reader: &mut Reader, key: &'t str, example: &str) -> Option<Vec<f64>> {
        let describe = |value: &DeValue<'_>| format!("`{key}` must hold plain numbers, not {}", noun(value));
        self.list(reader, key, &format!("write a list of numbers: `{key} = {example}`"), number, describe)
    }

    /// A list of texts.
    pub fn texts(&mut self, reader: &mut Reader, key: &'static str, example: &str) -> Option<Vec<&'t str>> {
        let describe = |value: &DeValue<'_>| format!("`{key}` must hold texts, not {}", noun(value));
        let text = |value: &'t DeValue<'t>| match value {
            DeValue::String(text) => Some(text.as_ref()),
            _ => None,
        };
        self.list(reader, key, &format!("write a list of texts: `{key} = {example}`"), text, describe)
    }

    /// A list of whole numbers.
    pub fn wholes(&mut self, reader: &mut Reader, key: &'static str, example: &str) -> Option<Vec<u32>> {
        let describe = |value: &DeValue<'_>| bad_whole(key, value);
        self.list(reader, key, &format!("write a list of whole numbers: `{key} = {example}`"), whole, describe)
    }

    /// A list, item by item; `describe` says what is wrong with one that cannot be read.
    fn list<T>(
        &mut self,
        reader: &mut Reader,
        key: &'t str,
        remedy: &str,
        read: impl Fn(&'t DeValue<'t>) -> Option<T>,
        describe: impl Fn(&DeValue<'_>) -> String,
    ) -> Option<Vec<T>> {
        let path = self.key(key);
        let DeValue::Array(items) = self.value(key)? else {
            reader.fail(&path, format!("`{key}` must be a list"), remedy);
            return None;
        };
        let mut list = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            match read(item.get_ref()) {
                Some(value) => list.push(value),
                None => reader.fail(&format!("{path}[{i}]"), describe(item.get_ref()), remedy),
            }
        }
        Some(list)
    }

    /// The tables of a list; `None` if there is no list.
    pub fn sections(&mut self, reader: &mut Reader, key: &'static str, example: &str) -> Option<Vec<Section<'t>>> {
        let path = self.key(key);
        let remedy = format!("write `{key} = [{example}, ...]`");
        let DeValue::Array(items) = self.value(key)? else {
            reader.fail(&path, format!("`{key}` must be a list"), remedy);
            return None;
        };
        if items.is_empty() {
            reader.fail(&path, format!("the list `{key}` is empty"), remedy);
            return None;
        }
        let mut sections = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let path = format!("{path}[{i}]");
            match item.get_ref() {
                DeValue::Table(table) => sections.push(Section::new(path, Some(table))),
                other => reader.fail(&path, format!("expected a table, not {}", noun(other)), remedy.clone()),
            }
        }
        Some(sections)
    }

    /// A text.
    pub fn text(&mut self, reader: &mut Reader, key: &'t str) -> Option<&'t str> {
        match self.value(key)? {
            DeValue::String(text) => Some(text),
            other => {
                let remedy = format!("write it in quotes: `{key} = \"...\"`");
                reader.fail(&self.key(key), format!("`{key}` must be a text, not {}", noun(other)), remedy);
                None
            }
        }
    }

    /// A number with a unit.
    pub fn quantity<T: FromStr<Err = UnitError>>(&mut self, reader: &mut Reader, key: &'t str) -> Option<T> {
        self.parsed(reader, key, str::parse)
    }

    /// A number with a unit, read by a function.
    pub fn parsed<T>(
        &mut self,
        reader: &mut Reader,
        key: &'t str,
        parse: impl Fn(&str) -> Result<T, UnitError>,
    ) -> Option<T> {
        let path = self.key(key);
        let (text, quoted) = match self.value(key)? {
            DeValue::String(text) => (text.to_string(), true),
            DeValue::Integer(number) => (number.to_string(), false),
            DeValue::Float(number) => (number.to_string(), false),
            other => {
                let remedy = format!("write a number and a unit in quotes: `{key} = \"...\"`");
                reader.fail(&path, format!("`{key}` cannot be {}", noun(other)), remedy);
                return None;
            }
        };
        match parse(&text) {
            Ok(value) => Some(value),
            Err(UnitError::BareNumber { text, unit, .. }) => {
                let remedy = format!("write `{key} = \"{text} {unit}\"`: a bare number has no unit");
                reader.fail(&path, format!("`{key}` has no unit"), remedy);
                None
            }
            Err(error) => {
                let quotes = if quoted { "" } else { ", in quotes" };
                reader.fail(&path, error.message(), format!("{}{quotes}", error.remedy()));
                None
            }
        }
    }

    /// A whole number.
    pub fn whole<T: TryFrom<i64>>(&mut self, reader: &mut Reader, key: &'static str) -> Option<T> {
        let value = self.value(key)?;
        let number = whole(value);
        if number.is_none() {
            reader.fail(&self.key(key), bad_whole(key, value), "write a whole number without quotes and unit");
        }
        number
    }

    /// A pure number.
    pub fn number(&mut self, reader: &mut Reader, key: &'t str) -> Option<f64> {
        let value = self.value(key)?;
        let number = number(value);
        if number.is_none() {
            let remedy = "write a number without quotes and unit, such as 0.95";
            reader.fail(&self.key(key), format!("`{key}` must be a plain number, not {}", noun(value)), remedy);
        }
        number
    }

    /// True or false.
    pub fn flag(&mut self, reader: &mut Reader, key: &'static str) -> Option<bool> {
        match self.value(key)? {
            DeValue::Boolean(flag) => Some(*flag),
            other => {
                reader.fail(&self.key(key), format!("`{key}` cannot be {}", noun(other)), "write `true` or `false`");
                None
            }
        }
    }

    /// One of several words.
    pub fn choice<T: Clone>(&mut self, reader: &mut Reader, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(reader, key)?;
        let found = choices.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let words = || choices.iter().map(|(word, _)| *word);
            let remedy = match nearest(text, words()) {
                Some(word) => format!("did you mean `\"{word}\"`?"),
                None => {
                    format!("write {}", words().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or "))
                }
            };
            reader.fail(&self.key(key), format!("`{text}` is no {}", key.replace('-', " ")), remedy);
        }
        found.map(|(_, value)| value.clone())
    }

    /// Insists on a value; `example` is how it would look in the file.
    pub fn needed<T: Default>(&mut self, reader: &mut Reader, key: &str, value: Option<T>, example: &str) -> T {
        let absent = self.table.is_some_and(|table| !table.contains_key(key));
        if value.is_none() && absent {
            let place = if self.path.is_empty() { "the file".into() } else { format!("[{}]", self.path) };
            let key = self.key(key);
            reader.fail(&key, format!("`{key}` is missing"), format!("add `{example}` to {place}"));
        }
        value.unwrap_or_default()
    }

    /// Takes a default where nothing is written, and says so.
    pub fn assumed<T: Display>(&self, reader: &mut Reader, key: &str, value: Option<T>, default: T) -> T {
        let written = self.table.is_some_and(|table| table.contains_key(key));
        if !written {
            reader.assumed.push(format!("{} = {default}", self.key(key)));
        }
        value.unwrap_or(default)
    }

    /// Reports the keys that nobody asked for.
    pub fn finish(&self, reader: &mut Reader) {
        let Some(table) = self.table else { return };
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if self.known.contains(&name) {
                continue;
            }
            let place = if self.path.is_empty() { reader.kind.into() } else { format!("`{}`", self.path) };
            let remedy = match nearest(name, self.known.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => {
                    let mut known = self.known.clone();
                    known.sort_unstable();
                    known.dedup();
                    format!("{place} may have {}", known.join(", "))
                }
            };
            let diagnostic = Diagnostic::error(format!("unknown key `{name}` in {place}"), remedy);
            reader.diagnostics.push(diagnostic.at(&reader.source, key.span()));
        }
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let number: Option<f64> = match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) => number.to_string().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

fn whole<T: TryFrom<i64>>(value: &DeValue<'_>) -> Option<T> {
    let DeValue::Integer(number) = value else { return None };
    i64::from_str_radix(number.as_str(), number.radix()).ok().and_then(|number| T::try_from(number).ok())
}

fn bad_whole(key: &str, value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(number) if number.as_str().starts_with('-') => format!("`{key}` is negative"),
        DeValue::Integer(number) => format!("`{key}`: {number} is too large"),
        other => format!("`{key}` must be a whole number, not {}", noun(other)),
    }
}

fn noun(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
