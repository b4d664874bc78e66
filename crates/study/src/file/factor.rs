//! What a study varies: a factor with its levels, or with a range.

use std::path::PathBuf;

use hpcast_platform::fields::{Reader, Section};
use hpcast_units::AnyQuantity;
use toml::de::DeValue;
use toml::{Table, Value};

use super::{table, toml_value, words};
use crate::design::{Range, Scale};
use crate::key_path::KeyPath;

/// Of the two files that a run reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The machine file.
    Machine,
    /// The model file.
    Models,
}

/// What a factor sets.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// An option of the program; true and false turn it on and off.
    Option(String),
    /// Values of a file.
    Keys(Which, Vec<KeyPath>),
    /// What stands in braces in the program's words.
    Template,
    /// Each level says for itself.
    Own,
}

/// What a level changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// More words for the program.
    Words(Vec<String>),
    /// Another value.
    Set(Which, KeyPath, Value),
    /// A value that is so many times the one in the file.
    Times(Which, KeyPath, f64),
    /// Other values.
    Merge(Which, Table),
    /// Another file.
    Replace(Which, PathBuf),
}

/// A level of a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyLevel {
    /// As people write it.
    pub text: String,
    /// In base units, if it is a number.
    pub number: Option<f64>,
    /// What it changes.
    pub edits: Vec<Edit>,
}

/// A range of values.
#[derive(Clone, Copy, Debug)]
pub struct QuantityRange {
    range: Range,
    /// Something of the same kind.
    kind: AnyQuantity,
    /// Whether only whole numbers are meant.
    whole: bool,
    /// Whether values in the file are multiplied by it.
    times: bool,
}

/// The values of a factor.
#[derive(Clone, Debug)]
pub enum Values {
    /// Some.
    Levels(Vec<StudyLevel>),
    /// All in between.
    Range(QuantityRange),
}

/// A factor.
#[derive(Clone, Debug)]
pub struct StudyFactor {
    /// What it is called.
    pub name: String,
    /// Its key in the file, for messages.
    pub key: String,
    /// What it sets.
    pub target: Target,
    /// To what.
    pub values: Values,
}

/// Digits that count where values are drawn or multiplied: more would only make names long.
const DIGITS: usize = 6;

impl QuantityRange {
    /// The level at a place, 0 to 1.
    pub fn at(&self, place: f64, target: &Target) -> StudyLevel {
        let value = self.range.at(place);
        let value = if self.whole { rounded(value).round() } else { rounded(value) };
        let quantity = self.kind.with(value);
        let value = match quantity.noun() {
            Some(_) => Value::String(quantity.to_string()),
            None if self.whole => Value::Integer(value as i64),
            None => Value::Float(value),
        };
        level(target, &value, self.times)
    }
}

/// Whether it counts bytes.
pub(crate) fn is_size(quantity: AnyQuantity) -> bool {
    quantity.noun() == Some("size")
}

fn rounded(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

impl StudyFactor {
    /// Its values, in words.
    pub fn describe(&self) -> String {
        match &self.values {
            Values::Levels(levels) if levels.is_empty() => "as the table says".into(),
            Values::Levels(levels) => levels.iter().map(|level| level.text.as_str()).collect::<Vec<_>>().join(", "),
            Values::Range(range) => {
                let end = |place| range.at(place, &self.target).text;
                format!("from {} to {}", end(0.0), end(1.0))
            }
        }
    }

    /// What this factor sets although an earlier one has set or multiplied it.
    pub(super) fn undone_of(&self, earlier: &StudyFactor) -> Option<String> {
        match (&self.target, &earlier.target) {
            (Target::Option(own), Target::Option(other)) => (own == other).then(|| own.clone()),
            (Target::Keys(own, keys), Target::Keys(other, known)) if own == other && !self.multiplies() => {
                keys.iter().find(|key| known.contains(key)).map(KeyPath::to_string)
            }
            _ => None,
        }
    }

    /// Whether it multiplies what is in the file.
    fn multiplies(&self) -> bool {
        match &self.values {
            Values::Levels(levels) => {
                levels.iter().flat_map(|level| &level.edits).any(|edit| matches!(edit, Edit::Times(..)))
            }
            Values::Range(range) => range.times,
        }
    }

    /// All words that its levels may add to the program's.
    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        let levels = match &self.values {
            Values::Levels(levels) => levels.as_slice(),
            Values::Range(_) => &[],
        };
        fn words(edit: &Edit) -> &[String] {
            match edit {
                Edit::Words(words) => words,
                _ => &[],
            }
        }
        levels.iter().flat_map(|level| &level.edits).flat_map(words)
    }

    /// The level that a cell of a table means.
    pub fn level_of(&self, text: &str) -> Option<StudyLevel> {
        match (&self.target, &self.values) {
            (_, Values::Levels(levels)) if !levels.is_empty() => {
                levels.iter().find(|level| level.text == text).cloned()
            }
            (Target::Own, _) => None,
            (target, _) => {
                let value = match (text.parse(), text.parse()) {
                    (Ok(whole), _) => Value::Integer(whole),
                    (_, Ok(number)) => Value::Float(number),
                    _ => Value::String(text.into()),
                };
                Some(level(target, &value, false))
            }
        }
    }
}

/// A level that sets what the factor sets.
fn level(target: &Target, value: &Value, times: bool) -> StudyLevel {
    let text = toml_value::text(value);
    let number = match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::String(text) => AnyQuantity::parse(text).map(AnyQuantity::get),
        _ => None,
    };
    let edits = match target {
        Target::Option(option) => match value {
            Value::Boolean(true) => vec![Edit::Words(vec![option.clone()])],
            Value::Boolean(false) => Vec::new(),
            _ => vec![Edit::Words(vec![option.clone(), text.clone()])],
        },
        Target::Keys(which, keys) if times => {
            keys.iter().map(|key| Edit::Times(*which, key.clone(), number.unwrap_or(1.0))).collect()
        }
        Target::Keys(which, keys) => keys.iter().map(|key| Edit::Set(*which, key.clone(), value.clone())).collect(),
        Target::Template | Target::Own => Vec::new(),
    };
    StudyLevel { text, number, edits }
}

/// Reads a `[[factor]]`.
pub(super) fn read(reader: &mut Reader, mut section: Section<'_>, number: usize) -> StudyFactor {
    let key = format!("factor[{number}]");
    let name = section.text(reader, "name").map(String::from);
    let name = section.needed(reader, "name", name, "name = \"nb\"");
    let target = read_target(reader, &mut section, &key);
    let (values, target) = read_values(reader, &mut section, &key, target);
    section.finish(reader);
    StudyFactor { name, key, target, values }
}

fn read_target(reader: &mut Reader, section: &mut Section<'_>, key: &str) -> Target {
    let option = section.text(reader, "option").map(String::from);
    let machine = keys(reader, section, "machine");
    let model = keys(reader, section, "model");
    let given = [option.is_some(), machine.is_some(), model.is_some()].into_iter().filter(|given| *given).count();
    if given > 1 {
        let remedy = "keep one of them; a level that sets several things has a [[factor.level]]";
        reader.fail(key, "the factor sets several things: `option`, `machine`, `model`", remedy);
    }
    match (option, machine, model) {
        (Some(option), ..) => {
            if !option.starts_with('-') {
                let remedy = format!("write `option = \"--{option}\"`");
                reader.fail(&format!("{key}.option"), format!("`{option}` is no option"), remedy);
            }
            Target::Option(option)
        }
        (_, Some(keys), _) => Target::Keys(Which::Machine, keys),
        (_, _, Some(keys)) => Target::Keys(Which::Models, keys),
        _ => Target::Template,
    }
}

/// One key, or several that are set together.
fn keys(reader: &mut Reader, section: &mut Section<'_>, key: &'static str) -> Option<Vec<KeyPath>> {
    let texts = match section.value(key)? {
        DeValue::Array(_) => section.texts(reader, key, "[\"network.bandwidth\"]")?,
        _ => vec![section.text(reader, key)?],
    };
    let mut paths = Vec::new();
    for text in texts {
        match text.parse() {
            Ok(path) => paths.push(path),
            Err(error) => {
                let error: crate::key_path::KeyError = error;
                let said = error.to_string();
                let (message, remedy) = said.split_once("; ").unwrap_or((&said, ""));
                reader.fail(&section.key(key), message, remedy);
            }
        }
    }
    Some(paths)
}

/// Keys that say what the values of a factor are.
const VALUES: [&str; 4] = ["levels", "times", "range", "level"];

/// The values that a factor has, and what it sets if that is what its levels say.
fn read_values(reader: &mut Reader, section: &mut Section<'_>, key: &str, target: Target) -> (Values, Target) {
    let given: Vec<&str> = VALUES.into_iter().filter(|name| section.keys().any(|key| key == *name)).collect();
    if let [first, second, ..] = given[..] {
        // A range of multiples has both words.
        if [first, second] != ["times", "range"] {
            reader.fail(key, format!("both `{first}` and `{second}` say what the values are"), "keep one of them");
        }
    }
    let scales = [("linear", Scale::Linear), ("logarithmic", Scale::Logarithmic)];
    let scale = section.choice(reader, "scale", &scales);
    if given.contains(&"range") {
        let times = given.contains(&"times") && section.flag(reader, "times").unwrap_or(false);
        let range = read_range(reader, section, key, scale.unwrap_or(Scale::Linear), times);
        return (range.map_or(Values::Levels(Vec::new()), Values::Range), target);
    }
    if scale.is_some() {
        reader.fail(&format!("{key}.scale"), "only a range has a scale", "write `range = [from, to]`, or remove it");
    }
    match given.first() {
        Some(&"level") => (Values::Levels(read_own(reader, section, key)), Target::Own),
        Some(&"times") => {
            let factors = section.numbers(reader, "times", "[0.1, 1, 10]").unwrap_or_default();
            if !matches!(target, Target::Keys(..)) {
                let remedy = "say which values are multiplied with `machine` or `model`";
                reader.fail(&format!("{key}.times"), "only values of a file can be multiplied", remedy);
            }
            (Values::Levels(factors.into_iter().map(|number| level(&target, &plain(number), true)).collect()), target)
        }
        Some(_) => (Values::Levels(read_levels(reader, section, key, &target)), target),
        None => {
            // Whoever has misspelt one of them is told that there are these.
            for name in VALUES {
                section.value(name);
            }
            (Values::Levels(Vec::new()), target)
        }
    }
}

/// Whole numbers are written as such.
fn plain(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 { Value::Integer(number as i64) } else { Value::Float(number) }
}

fn read_levels(reader: &mut Reader, section: &mut Section<'_>, key: &str, target: &Target) -> Vec<StudyLevel> {
    let path = format!("{key}.levels");
    let Some(DeValue::Array(items)) = section.value("levels") else {
        reader.fail(&path, "`levels` must be a list", "write `levels = [128, 256]`");
        return Vec::new();
    };
    if items.is_empty() {
        reader.fail(&path, "the list `levels` is empty", "write `levels = [128, 256]`");
    }
    let mut levels: Vec<StudyLevel> = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let made = level(target, &toml_value::value(item.get_ref()), false);
        if levels.iter().any(|earlier| earlier.text == made.text) {
            reader.fail(
                &format!("{path}[{number}]"),
                format!("the level `{}` is there twice", made.text),
                "remove one",
            );
        }
        levels.push(made);
    }
    levels
}

fn read_range(
    reader: &mut Reader,
    section: &mut Section<'_>,
    key: &str,
    scale: Scale,
    times: bool,
) -> Option<QuantityRange> {
    let path = format!("{key}.range");
    let remedy = "write `range = [1, 10]` or `range = [\"1 GB/s\", \"10 GB/s\"]`";
    let ends = match section.value("range") {
        Some(DeValue::Array(items)) => items.iter().map(|item| toml_value::value(item.get_ref())).collect(),
        _ => Vec::new(),
    };
    let [low, high] = &ends[..] else {
        reader.fail(&path, "a range has two ends", remedy);
        return None;
    };
    let are_whole = matches!((low, high), (Value::Integer(_), Value::Integer(_)));
    let quantity = |end: &Value| AnyQuantity::parse(&toml_value::text(end));
    let (Some(low), Some(high)) = (quantity(low), quantity(high)) else {
        reader.fail(&path, "the ends of a range are numbers, with or without a unit", remedy);
        return None;
    };
    if low.noun() != high.noun() {
        reader.fail(
            &path,
            "the two ends of the range are of different kinds",
            "write both with a unit of the same kind",
        );
        return None;
    }
    // Nothing is a part of a byte long.
    let whole = are_whole || is_size(low);
    match Range::new(low.get(), high.get(), scale) {
        Ok(range) => Some(QuantityRange { range, kind: low, whole, times }),
        Err(error) => {
            let said = error.to_string();
            let (message, remedy) = said.split_once("; ").unwrap_or((&said, ""));
            reader.fail(&path, message, remedy);
            None
        }
    }
}

/// Levels that set several things together.
fn read_own(reader: &mut Reader, section: &mut Section<'_>, key: &str) -> Vec<StudyLevel> {
    let example = "{ name = \"torus\", machine-file = \"torus.toml\" }";
    let mut levels = Vec::new();
    for (number, mut level) in section.sections(reader, "level", example).into_iter().flatten().enumerate() {
        let path = format!("{key}.level[{number}]");
        let text = level.text(reader, "name").map(String::from);
        let text = level.needed(reader, "name", text, "name = \"torus\"");
        let value = level.value("value").map(|item| toml_value::text(&toml_value::value(item)));
        let number = value.as_deref().unwrap_or(&text);
        let number = AnyQuantity::parse(number).map(AnyQuantity::get);
        let mut edits = Vec::new();
        for (which, file) in [(Which::Machine, "machine-file"), (Which::Models, "models-file")] {
            edits.extend(level.text(reader, file).map(|file| Edit::Replace(which, file.into())));
        }
        for (which, name) in [(Which::Machine, "machine"), (Which::Models, "model")] {
            let changes = table(reader, &mut level, name);
            if !changes.is_empty() {
                edits.push(Edit::Merge(which, changes));
            }
        }
        edits.extend(words(reader, &mut level, "options").map(Edit::Words));
        if edits.is_empty() && !reader.is_broken(&path) {
            let remedy = "add `options`, `machine-file`, `models-file`, `machine` or `model`; or `options = \"\"`";
            reader.fail(&path, "the level changes nothing", remedy);
        }
        level.finish(reader);
        levels.push(StudyLevel { text, number, edits });
    }
    levels
}
