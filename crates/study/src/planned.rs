//! From a study file to runs: each point of the design with the files and words that belong to it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use hpcast_calibrate::table::TextTable;
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_units::AnyQuantity;
use toml::{Table, Value};

use crate::design::{Domain, MOST_POINTS, Setting, Structure};
use crate::document::{Document, Fingerprint, Original};
use crate::file::{DesignSpec, Edit, Study, StudyFactor, StudyLevel, Values, Which, is_size};
use crate::key_path::merge;
use crate::run::Inputs;

/// So many rows of a table are tried before the first run.
const MOST_TRIALS: usize = 100;

/// Digits that count where a value is multiplied.
const DIGITS: usize = 12;

/// A run that is to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// The number of its combination.
    pub point: u64,
    /// Which run of that combination it is.
    pub repetition: u64,
    /// The level of each factor, and as a number.
    pub levels: Vec<(String, Option<f64>)>,
    /// What it depends on.
    pub inputs: Inputs,
}

/// All runs of a study, in the order of its design.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The runs.
    pub runs: Vec<PlannedRun>,
    /// The files that they read.
    pub documents: BTreeMap<Fingerprint, Document>,
    /// How the points belong together.
    pub structure: Structure,
}

/// A run that shows whether a level makes sense.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The key of the level in the study's file.
    pub key: String,
    /// The run.
    pub run: PlannedRun,
    /// The files that it reads.
    pub documents: BTreeMap<Fingerprint, Document>,
}

/// What each factor is set to.
type Point = Vec<StudyLevel>;

/// Makes runs of a study one by one, for those who choose points themselves.
pub struct Planner<'s> {
    maker: Maker<'s>,
}

impl<'s> Planner<'s> {
    /// For a hpcast of that version.
    pub fn new(study: &'s Study, version: &str) -> Result<Planner<'s>, Diagnostic> {
        Ok(Planner { maker: Maker::new(study, version)? })
    }

    /// The run at a point, with more words; options that are given again replace those of the program.
    pub fn run(&mut self, number: u64, point: &[Setting], more: &[String]) -> Result<PlannedRun, Diagnostic> {
        let factors = &self.maker.study.factors;
        let levels: Point = point.iter().zip(factors).map(|(setting, factor)| level(factor, *setting)).collect();
        let mut run = self.maker.run(number, 0, &levels)?;
        for (option, has_value) in options(more) {
            remove_option(&mut run.inputs.words, option, has_value);
        }
        run.inputs.words.extend(more.iter().cloned());
        Ok(run)
    }

    /// The files that all runs so far read.
    pub fn documents(&self) -> &BTreeMap<Fingerprint, Document> {
        &self.maker.documents
    }
}

impl Study {
    /// How many runs the study has, without making them.
    pub fn count(&self) -> Result<u128, Diagnostic> {
        let points = match &self.design {
            DesignSpec::Plan(plan) => plan.count(&self.domains()).map_err(|error| self.unfit(&error))?,
            DesignSpec::List { file } => self.table(file)?.rows.len() as u128,
        };
        Ok(points.saturating_mul(self.repetitions.into()))
    }

    /// All runs, for a hpcast of that version.
    pub fn plan(&self, version: &str) -> Result<Planned, Diagnostic> {
        let (points, structure) = self.points()?;
        let mut maker = Maker::new(self, version)?;
        let mut runs = Vec::with_capacity(points.len() * self.repetitions as usize);
        for (number, point) in (0..).zip(&points) {
            for repetition in 0..u64::from(self.repetitions) {
                runs.push(maker.run(number, repetition, point)?);
            }
        }
        Ok(Planned { runs, documents: maker.documents, structure })
    }

    /// A few runs in which every level occurs, and the key of the level in question: what is wrong with one of them is
    /// likely to be wrong with the level.
    pub fn trials(&self, version: &str) -> Result<Vec<Trial>, Diagnostic> {
        let mut points: Vec<(String, Point)> = Vec::new();
        let all: Vec<Vec<(String, StudyLevel)>> = match &self.design {
            DesignSpec::List { .. } => Vec::new(),
            DesignSpec::Plan(_) => self.factors.iter().map(every_level).collect(),
        };
        if let DesignSpec::List { .. } = &self.design {
            let listed = with_new_levels(self.points()?.0);
            points.extend(listed.take(MOST_TRIALS).map(|point| ("design.file".into(), point)));
        }
        let base: Point = all.iter().filter_map(|levels| Some(levels.first()?.1.clone())).collect();
        for (place, levels) in all.iter().enumerate() {
            for (key, level) in levels.iter().skip(usize::from(place > 0)) {
                let mut point = base.clone();
                point[place] = level.clone();
                points.push((key.clone(), point));
            }
        }
        let mut trials = Vec::new();
        for (key, point) in points {
            let mut maker = Maker::new(self, version)?;
            let run = maker.run(0, 0, &point)?;
            trials.push(Trial { key, run, documents: maker.documents });
        }
        Ok(trials)
    }

    /// The first of these trials as it would be if a factor changed no file: if that is right, the factor is to blame.
    pub fn without_changes_of(&self, factor: usize, version: &str) -> Result<Option<Trial>, Diagnostic> {
        let point = match &self.design {
            DesignSpec::List { .. } => self.points()?.0.into_iter().next(),
            DesignSpec::Plan(_) => {
                self.factors.iter().map(|factor| Some(every_level(factor).into_iter().next()?.1)).collect()
            }
        };
        let Some(mut point) = point else { return Ok(None) };
        point[factor].edits.retain(|edit| edit.of().is_none());
        let mut maker = Maker::new(self, version)?;
        let run = maker.run(0, 0, &point)?;
        Ok(Some(Trial { key: self.factors[factor].key.clone(), run, documents: maker.documents }))
    }

    /// How the points belong together; nothing for a table, and where there is no such design.
    pub fn structure(&self) -> Option<Structure> {
        match &self.design {
            DesignSpec::Plan(plan) => plan.make(&self.domains(), self.seed).ok().map(|design| design.structure),
            DesignSpec::List { .. } => None,
        }
    }

    /// What each factor may be set to.
    pub fn domains(&self) -> Vec<Domain> {
        let domain = |factor: &StudyFactor| match &factor.values {
            Values::Levels(levels) => {
                let baseline = self.baseline.iter().find(|(name, _)| *name == factor.name);
                let base = baseline.and_then(|(_, text)| levels.iter().position(|level| level.text == *text));
                Domain::Levels { count: levels.len(), base: base.unwrap_or(0) }
            }
            Values::Range(_) => Domain::Range,
        };
        self.factors.iter().map(domain).collect()
    }

    fn points(&self) -> Result<(Vec<Point>, Structure), Diagnostic> {
        match &self.design {
            DesignSpec::Plan(plan) => {
                let design = plan.make(&self.domains(), self.seed).map_err(|error| self.unfit(&error))?;
                let point = |settings: &Vec<Setting>| {
                    settings.iter().zip(&self.factors).map(|(setting, factor)| level(factor, *setting)).collect()
                };
                Ok((design.points.iter().map(point).collect(), design.structure))
            }
            DesignSpec::List { file } => Ok((self.listed(file)?, Structure::Plain)),
        }
    }

    /// Something is wrong with the design. Factors are named by their numbers there.
    fn unfit(&self, error: &crate::design::DesignError) -> Diagnostic {
        let mut said = error.to_string();
        for (number, factor) in self.factors.iter().enumerate() {
            said = said.replace(&format!("factor {number} "), &format!("the factor `{}` ", factor.name));
        }
        let (message, remedy) = said.split_once("; ").unwrap_or((&said, ""));
        self.error("design", message, remedy)
    }

    fn table(&self, file: &Path) -> Result<TextTable, Diagnostic> {
        let path = self.folder.join(file);
        let source = Source::read(&path).map_err(|error| self.error("design.file", error.message, error.remedy))?;
        TextTable::read(&source.text)
            .map_err(|error| self.error("design.file", format!("{}: {error}", path.display()), error.remedy()))
    }

    /// The rows of a table, whose columns are factors.
    fn listed(&self, file: &Path) -> Result<Vec<Point>, Diagnostic> {
        let table = self.table(file)?;
        if table.rows.len() as u128 > MOST_POINTS {
            return Err(self.error("design.file", format!("{} has too many rows", file.display()), "split it"));
        }
        if table.rows.is_empty() {
            let remedy = "add a row for each combination";
            return Err(self.error("design.file", format!("{} has no rows", file.display()), remedy));
        }
        let mut places = Vec::new();
        for factor in &self.factors {
            let place = table.place(&factor.name).map_err(|error| {
                let remedy = format!("add a column `{}` with a level of this factor in each row", factor.name);
                self.error("design.file", format!("{}: {error}", file.display()), remedy)
            });
            places.push(place?);
        }
        if let Some((_, column)) = table.columns().iter().enumerate().find(|(place, _)| !places.contains(place)) {
            let names: Vec<&str> = self.factors.iter().map(|factor| factor.name.as_str()).collect();
            let message = format!("{}: the column `{column}` is no factor", file.display());
            let remedy = format!("the factors are {}; add a [[factor]], or remove the column", names.join(", "));
            return Err(self.error("design.file", message, remedy));
        }
        let mut points = Vec::new();
        for row in &table.rows {
            let mut point = Point::new();
            for (factor, place) in self.factors.iter().zip(&places) {
                let cell = row.cells[*place].trim();
                point.push(factor.level_of(cell).ok_or_else(|| {
                    let message =
                        format!("{}, line {}: `{cell}` is no level of `{}`", file.display(), row.line, factor.name);
                    self.error("design.file", message, "write one of the factor's levels")
                })?);
            }
            points.push(point);
        }
        Ok(points)
    }
}

fn level(factor: &StudyFactor, setting: Setting) -> StudyLevel {
    match (&factor.values, setting) {
        (Values::Levels(levels), Setting::Level(number)) => levels[number].clone(),
        (Values::Range(range), Setting::Coordinate(place)) => range.at(place, &factor.target),
        // A design sets each factor to what its domain has.
        (Values::Levels(levels), Setting::Coordinate(_)) => levels[0].clone(),
        (Values::Range(range), Setting::Level(_)) => range.at(0.0, &factor.target),
    }
}

/// Those points that have a level which none before them has.
fn with_new_levels(points: Vec<Point>) -> impl Iterator<Item = Point> {
    let mut known = HashSet::new();
    points.into_iter().filter(move |point| {
        let new = point.iter().enumerate().filter(|(place, level)| known.insert((*place, level.text.clone())));
        new.count() > 0
    })
}

/// Each level with its key; of a range both ends.
fn every_level(factor: &StudyFactor) -> Vec<(String, StudyLevel)> {
    let key = &factor.key;
    match &factor.values {
        Values::Levels(levels) => {
            let list = if factor.target == crate::file::Target::Own { "level" } else { "levels" };
            let key = |number: usize| format!("{key}.{list}[{number}]");
            levels.iter().enumerate().map(|(number, level)| (key(number), level.clone())).collect()
        }
        Values::Range(range) => {
            [0.0, 1.0].map(|place| (format!("{key}.range"), range.at(place, &factor.target))).into()
        }
    }
}

/// Makes the inputs of runs. Files are read, changed and hashed once for each different change.
struct Maker<'s> {
    study: &'s Study,
    version: String,
    originals: HashMap<PathBuf, Original>,
    /// The document for each file and all that is changed in it.
    made: HashMap<String, Fingerprint>,
    documents: BTreeMap<Fingerprint, Document>,
    /// Words that are files, and those that are not.
    files: HashMap<String, Option<Fingerprint>>,
}

impl<'s> Maker<'s> {
    fn new(study: &'s Study, version: &str) -> Result<Maker<'s>, Diagnostic> {
        let mut maker = Maker {
            study,
            version: version.into(),
            originals: HashMap::new(),
            made: HashMap::new(),
            documents: BTreeMap::new(),
            files: HashMap::new(),
        };
        maker.original(&study.machine, "machine")?;
        study.models.as_deref().map(|models| maker.original(models, "models")).transpose()?;
        Ok(maker)
    }

    fn original(&mut self, file: &Path, key: &str) -> Result<&Original, Diagnostic> {
        let path = self.study.folder.join(file);
        if !self.originals.contains_key(&path) {
            let original = Original::read(&path).map_err(|error| match error.place {
                Some(_) => error,
                None => self.study.error(key, error.message, error.remedy),
            })?;
            self.originals.insert(path.clone(), original);
        }
        Ok(&self.originals[&path])
    }

    fn run(&mut self, point: u64, repetition: u64, levels: &Point) -> Result<PlannedRun, Diagnostic> {
        let study = self.study;
        let machine = self.document(Which::Machine, Some(&study.machine), levels)?;
        let models = self.document(Which::Models, study.models.as_deref(), levels)?;
        let words = words(study, levels);
        let mut files = BTreeMap::new();
        for word in &words {
            if let Some(fingerprint) = self.file(word) {
                files.insert(word.clone(), fingerprint);
            }
        }
        Ok(PlannedRun {
            point,
            repetition,
            levels: levels.iter().map(|level| (level.text.clone(), level.number)).collect(),
            inputs: Inputs {
                words,
                machine: machine.unwrap_or_default(),
                models,
                seed: study.seed.wrapping_add(repetition),
                files,
                version: self.version.clone(),
            },
        })
    }

    /// A file that a word names.
    fn file(&mut self, word: &str) -> Option<Fingerprint> {
        if let Some(known) = self.files.get(word) {
            return known.clone();
        }
        let path = self.study.folder.join(word);
        let content = if path.is_file() { std::fs::read(&path).ok() } else { None };
        let found = content.map(|content| Fingerprint::of_bytes(&content));
        self.files.insert(word.into(), found.clone());
        found
    }

    /// The document that a point needs.
    fn document(
        &mut self,
        which: Which,
        base: Option<&Path>,
        levels: &Point,
    ) -> Result<Option<Fingerprint>, Diagnostic> {
        let mut edits: Vec<(usize, &Edit)> = Vec::new();
        for (number, level) in levels.iter().enumerate() {
            edits.extend(level.edits.iter().filter(|edit| edit.of() == Some(which)).map(|edit| (number, edit)));
        }
        let replaced = edits.iter().rev().find_map(|(number, edit)| match edit {
            Edit::Replace(_, file) => Some((*number, file.as_path())),
            _ => None,
        });
        let key = match which {
            Which::Machine => "machine",
            Which::Models => "models",
        };
        let key = replaced.map_or(key, |(number, _)| self.study.factors[number].key.as_str());
        let Some(file) = replaced.map(|(_, file)| file).or(base) else {
            return match edits.first() {
                None => Ok(None),
                Some((number, _)) => {
                    let message = "there is no model file that could be changed";
                    Err(self.study.error(&self.study.factors[*number].key, message, "name one with `models`"))
                }
            };
        };
        let cached = format!("{which:?} {}\n{edits:?}", file.display());
        if let Some(made) = self.made.get(&cached) {
            return Ok(Some(made.clone()));
        }
        let study = self.study;
        let original = self.original(file, key)?;
        let mut table = original.table().clone();
        merge(&mut table, if which == Which::Machine { &study.machine_changes } else { &study.model_changes });
        for (number, edit) in &edits {
            apply(edit, &mut table).map_err(|error| {
                let factor = &study.factors[*number];
                let (message, remedy) = error.split_once("; ").unwrap_or((&error, ""));
                study.error(&factor.key, format!("{}: {message}", file.display()), remedy)
            })?;
        }
        let document = original.changed(&table);
        let fingerprint = document.fingerprint();
        self.documents.insert(fingerprint.clone(), document);
        self.made.insert(cached, fingerprint.clone());
        Ok(Some(fingerprint))
    }
}

impl Edit {
    /// The file that it changes.
    fn of(&self) -> Option<Which> {
        match self {
            Edit::Words(_) => None,
            Edit::Set(which, ..) | Edit::Times(which, ..) | Edit::Merge(which, _) | Edit::Replace(which, _) => {
                Some(*which)
            }
        }
    }
}

fn apply(edit: &Edit, table: &mut Table) -> Result<(), String> {
    match edit {
        Edit::Words(_) | Edit::Replace(..) => Ok(()),
        Edit::Merge(_, changes) => {
            merge(table, changes);
            Ok(())
        }
        Edit::Set(_, key, value) => key.set(table, value.clone()).map_err(|error| error.to_string()),
        Edit::Times(_, key, factor) => {
            let Some(value) = key.get(table) else {
                return Err(format!("there is no `{key}` that could be multiplied; write it into the file"));
            };
            let value = multiplied(value, *factor)
                .ok_or_else(|| format!("`{key}` is no number that could be multiplied; name one that is"))?;
            key.set(table, value).map_err(|error| error.to_string())
        }
    }
}

fn multiplied(value: &Value, factor: f64) -> Option<Value> {
    let product = |number: f64| format!("{:.*e}", DIGITS - 1, number * factor).parse::<f64>().ok();
    match value {
        Value::Integer(number) => {
            let product = product(*number as f64)?;
            // What is counted stays whole; at least one of it is left.
            Some(Value::Integer((product.round() as i64).max(i64::from(*number > 0))))
        }
        Value::Float(number) => product(*number).map(Value::Float),
        Value::String(text) => {
            let quantity = AnyQuantity::parse(text)?;
            let product = product(quantity.get())?;
            // Nothing is a part of a byte long.
            let product = if is_size(quantity) { product.round() } else { product };
            Some(Value::String(quantity.with(product).to_string()))
        }
        // Such as a table of values by size: each of them.
        Value::Array(items) => {
            items.iter().map(|item| multiplied(item, factor)).collect::<Option<_>>().map(Value::Array)
        }
        _ => None,
    }
}

/// The program's words at a point.
fn words(study: &Study, levels: &Point) -> Vec<String> {
    let more = levels.iter().flat_map(|level| &level.edits).filter_map(|edit| match edit {
        Edit::Words(words) => Some(words),
        _ => None,
    });
    let filled = |word: &String| {
        study
            .factors
            .iter()
            .zip(levels)
            .fold(word.clone(), |word, (factor, level)| word.replace(&format!("{{{}}}", factor.name), &level.text))
    };
    study.program.iter().chain(more.flatten()).map(filled).collect()
}

/// The options among words, and whether a value follows as a word of its own.
fn options(words: &[String]) -> impl Iterator<Item = (&str, bool)> {
    words.iter().enumerate().filter(|(_, word)| word.starts_with("--")).map(|(place, word)| {
        let follows = words.get(place + 1).is_some_and(|next| !next.starts_with("--"));
        match word.split_once('=') {
            Some((name, _)) => (name, true),
            None => (word.as_str(), follows),
        }
    })
}

/// Takes an option out of words, with its value.
fn remove_option(words: &mut Vec<String>, option: &str, has_value: bool) {
    while let Some(place) = words.iter().position(|word| word.split('=').next() == Some(option)) {
        let joined = words[place].contains('=');
        let end = if has_value && !joined { place + 2 } else { place + 1 };
        words.drain(place..end.min(words.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_given_again_replace_the_first() {
        let replaced = |words: &str, more: &str| {
            let list = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
            let (mut words, more) = (list(words), list(more));
            options(&more).for_each(|(option, has_value)| remove_option(&mut words, option, has_value));
            words.join(" ")
        };
        assert_eq!(replaced("hpl --samples 8 --n 5", "--samples 3 --network ideal"), "hpl --n 5");
        assert_eq!(replaced("hpl --samples=8 --n 5", "--samples 3"), "hpl --n 5");
        assert_eq!(replaced("hpl --samples 8 --n 5", "--n=3"), "hpl --samples 8");
        assert_eq!(replaced("run --exact halo2d", "--exact --count 1"), "run halo2d");
        assert_eq!(replaced("hpl --nbmin 2", "--nb 3"), "hpl --nbmin 2");
    }

    const STUDY: &str = r#"
title = "t"
program = "run halo2d -n {ranks}"
machine = "m.toml"
responses = ["seconds"]
machine-changes = { name = "changed" }
[[factor]]
name = "ranks"
levels = [16, 64]
[[factor]]
name = "bandwidth"
machine = ["network.bandwidth", "network.cable"]
times = [1, 0.1]
[[factor]]
name = "fast"
option = "--nonblocking"
levels = [false, true]
[design]
repetitions = 2
seed = 5
"#;
    const MACHINE: &str = "name = 'm'\n[network]\nbandwidth = '12.5 GB/s'\ncable = 4\n";

    fn study(text: &str) -> (tempfile::TempDir, Study) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("m.toml"), MACHINE).unwrap();
        let study = Study::parse(&Source::new("study.toml", text), folder.path());
        let study = study.unwrap_or_else(|error| panic!("{}", error.render(false)));
        (folder, study)
    }

    #[test]
    fn every_point_has_its_words_and_files() {
        let (_folder, study) = study(STUDY);
        assert_eq!(study.count().unwrap(), 16);
        let planned = study.plan("1").unwrap();
        assert_eq!((planned.runs.len(), planned.documents.len()), (16, 2));
        let first = &planned.runs[0];
        assert_eq!(first.inputs.words, ["run", "halo2d", "-n", "16"]);
        let last = planned.runs.last().unwrap();
        assert_eq!(last.inputs.words, ["run", "halo2d", "-n", "64", "--nonblocking"]);
        assert_eq!((last.inputs.seed, last.point, last.repetition), (6, 7, 1));
        assert_eq!(last.levels[1], ("0.1".into(), Some(0.1)));
        let machine: Table = planned.documents[&last.inputs.machine].text.parse().unwrap();
        assert_eq!(machine["network"]["bandwidth"].as_str(), Some("1.25 GB/s"));
        assert_eq!(machine["network"]["cable"].as_integer(), Some(1));
        assert_eq!(machine["name"].as_str(), Some("changed"));
        let keys: std::collections::BTreeSet<_> = planned.runs.iter().map(|run| run.inputs.key()).collect();
        assert_eq!(keys.len(), 16);
    }

    #[test]
    fn multiples_of_bytes_are_bytes() {
        let times = |text: &str, factor| multiplied(&Value::String(text.into()), factor);
        assert_eq!(times("64 KiB", 0.3333), Some(Value::String("21.843 kB".into())));
        assert_eq!(times("1.5 us", 0.3333), Some(Value::String("499.95 ns".into())));
    }

    #[test]
    fn trials_have_every_level() {
        let (_folder, study) = study(STUDY);
        let keys: Vec<String> = study.trials("1").unwrap().into_iter().map(|trial| trial.key).collect();
        assert_eq!(keys, ["factor[0].levels[0]", "factor[0].levels[1]", "factor[1].levels[1]", "factor[2].levels[1]"]);
    }

    #[test]
    fn rows_of_a_table_are_points() {
        let text =
            STUDY.replace("levels = [16, 64]\n", "").replace("[design]", "[design]\nkind = 'list'\nfile = 'p.csv'");
        let (folder, study) = study(&text);
        std::fs::write(folder.path().join("p.csv"), "ranks,bandwidth,fast\n9,0.1,true\n100,1,false\n").unwrap();
        let planned = study.plan("1").unwrap();
        assert_eq!(planned.runs.len(), 4);
        assert_eq!(planned.runs[0].inputs.words, ["run", "halo2d", "-n", "9", "--nonblocking"]);
        std::fs::write(folder.path().join("p.csv"), "ranks,bandwidth,fast\n9,0.3,true\n").unwrap();
        let error = study.plan("1").unwrap_err();
        assert!(error.message.contains("line 2: `0.3` is no level of `bandwidth`"), "{}", error.message);
        for (table, message, remedy) in [
            (
                "ranks,bandwidth,fast,nb\n9,0.1,true,3\n",
                "the column `nb` is no factor",
                "the factors are ranks, bandwidth, fast",
            ),
            ("ranks,bandwidth\n9,0.1\n", "there is no column `fast`", "add a column `fast`"),
            ("ranks,bandwidth,fast\n", "p.csv has no rows", "add a row"),
        ] {
            std::fs::write(folder.path().join("p.csv"), table).unwrap();
            let error = study.plan("1").unwrap_err();
            assert!(
                error.message.contains(message) && error.remedy.contains(remedy),
                "{}; {}",
                error.message,
                error.remedy
            );
        }
    }

    #[test]
    fn what_cannot_be_changed_is_said() {
        for (from, to, said) in [
            ("\"network.cable\"", "\"network.wire\"", "there is no `network.wire` that could be multiplied"),
            ("\"network.cable\"", "\"name\"", "`name` is no number"),
            ("machine = \"m.toml\"", "machine = \"n.toml\"", "there is no such file"),
        ] {
            let (_folder, study) = study(&STUDY.replace(from, to));
            let error = study.plan("1").unwrap_err();
            assert!(error.message.contains(said), "{}", error.message);
            assert!(error.place.is_some());
        }
    }

    #[test]
    fn a_billion_runs_are_counted_and_not_made() {
        let levels: Vec<String> = (0..1000).map(|level| level.to_string()).collect();
        let factor =
            |name: &str| format!("[[factor]]\nname = '{name}'\noption = '--{name}'\nlevels = [{}]\n", levels.join(","));
        let head = STUDY.split("[[factor]]").next().unwrap().replace(" -n {ranks}", "");
        let text = head + &factor("a") + &factor("b") + &factor("c");
        let (_folder, study) = study(&text);
        assert_eq!(study.count().unwrap(), 1_000_000_000);
        assert!(study.plan("1").is_err());
    }
}
