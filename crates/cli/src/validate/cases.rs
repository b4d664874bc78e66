//! From the rows of published tables to forecasts that can be made: everything is read and checked before anything runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::error::{ContextKind, ContextValue};
use hpcast_calibrate::table::{TextRow, TextTable};
use hpcast_models::compute::ModelFile;
use hpcast_platform::MachineFile;
use hpcast_platform::diagnostic::{Diagnostic, Diagnostics, Source};
use hpcast_study::key_path::merge;
use hpcast_units::count;

use super::part::{Condition, Conditions, Line, Part, Recipe, Written, unsuited};
use super::template::fill;
use crate::call_table::in_table;
use crate::failure::Failure;
use crate::running::Running;
use crate::{fit, hpl, machine, model, words};

/// A forecast, ready to be made.
pub(super) struct Prepared {
    pub options: hpl::Options,
    pub machine: Arc<MachineFile>,
    pub models: Option<Arc<ModelFile>>,
}

/// What is forecast, and what it is compared with.
pub(super) struct Case {
    /// Number of its line.
    pub line: usize,
    pub name: String,
    pub x: Option<f64>,
    pub reference: Vec<f64>,
    pub cost: Vec<f64>,
    pub forecast: Prepared,
    /// The forecast that is the reference, where none is published.
    pub against: Option<Prepared>,
}

impl Case {
    /// What has to be forecast for it.
    pub fn forecasts(&self) -> impl Iterator<Item = &Prepared> {
        std::iter::once(&self.forecast).chain(&self.against)
    }

    /// About how much there is to simulate.
    pub fn weight(&self) -> f64 {
        self.forecasts().map(|forecast| forecast.options.weight()).sum()
    }
}

/// Which case it is, for messages.
struct Place<'p> {
    part: &'p Part,
    line: &'p Line,
    case: &'p str,
}

impl Place<'_> {
    fn name(&self) -> String {
        case_name(&self.line.name, self.case)
    }

    /// Something is wrong with what stands at this key, or with the file that it names.
    fn wrong(&self, key: &str, failure: impl Into<Failure>) -> Failure {
        let name = self.name();
        let mut said = Diagnostics::new();
        match failure.into() {
            Failure::Interrupted => return Failure::Interrupted,
            Failure::Input(message) | Failure::Program(message) => {
                let (message, remedy) = message.rsplit_once("; ").unwrap_or((&message, ""));
                said.push(self.part.error(key, format!("{name}: {message}"), remedy));
            }
            Failure::Files(found) => {
                for diagnostic in found.iter() {
                    said.push(match diagnostic.place {
                        Some(_) => diagnostic.clone(),
                        None => {
                            self.part.error(key, format!("{name}: {}", diagnostic.message), diagnostic.remedy.as_str())
                        }
                    });
                }
                if found.iter().all(|diagnostic| diagnostic.place.is_some()) {
                    let message = format!("{name}: what this names cannot be used");
                    said.push(self.part.error(key, message, "correct what is said above, or name something else"));
                }
            }
        }
        said.into()
    }

    /// Options that are written as words of a command line.
    fn options<T: Args>(&self, first: Option<String>, texts: &[Written]) -> Result<T, Failure> {
        let words = texts.iter().flat_map(|text| text.text.split_whitespace().map(String::from));
        Ok(words::options(first.into_iter().chain(words)).map_err(|error| self.unclear(texts, &error))?)
    }

    /// What clap says, at the text that it is about.
    fn unclear(&self, texts: &[Written], error: &clap::Error) -> Diagnostic {
        let option = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(option)) => option.split(' ').next().unwrap_or_default(),
            _ => "",
        };
        let has = |text: &&Written| text.text.split([' ', '\n', '\t', '=']).any(|word| word == option);
        let text = texts.iter().rfind(has).or(texts.last());
        let key = text.map_or(self.line.key.as_str(), |text| text.key.as_str());
        let (message, remedy) = words::said(error);
        self.part.error(key, format!("{}: {message}", self.name()), remedy)
    }
}

/// Reads each file once.
pub(super) struct Library<'r> {
    /// The folder with the published tables.
    data: PathBuf,
    running: &'r mut Running,
    machines: BTreeMap<String, Arc<MachineFile>>,
    models: BTreeMap<String, Arc<ModelFile>>,
    noted: Vec<PathBuf>,
}

impl<'r> Library<'r> {
    pub fn new(data: PathBuf, running: &'r mut Running) -> Library<'r> {
        Library { data, running, machines: BTreeMap::new(), models: BTreeMap::new(), noted: Vec::new() }
    }

    fn note(&mut self, path: &Path) {
        if !self.noted.iter().any(|noted| noted == path) {
            self.running.add_input(path);
            self.noted.push(path.to_owned());
        }
    }

    /// All cases of a part, line by line, in the order of the axis.
    pub fn cases(&mut self, part: &Part, quick: bool) -> Result<Vec<Case>, Failure> {
        self.note(part.file());
        let table = part.table.as_ref().map(|name| self.table(part, name)).transpose()?;
        if let Some(published) = &table {
            published.check(part)?;
        }
        let mut all = Vec::new();
        for (number, _) in part.lines.iter().enumerate().filter(|(_, line)| line.quick || !quick) {
            let mut cases = match &table {
                Some(published) => self.published(part, number, published, quick)?,
                None => vec![self.single(part, number)?],
            };
            // Sorted by place on the axis; equal places stay as they are in the table.
            cases.sort_by(|one, other| one.x.unwrap_or(0.0).total_cmp(&other.x.unwrap_or(0.0)));
            all.append(&mut cases);
        }
        Ok(all)
    }

    fn table(&mut self, part: &Part, name: &Written) -> Result<Published, Failure> {
        let path = self.data.join(&name.text);
        let source = Source::read(&path).map_err(|error| part.error(&name.key, error.message, error.remedy))?;
        self.note(&path);
        let table = TextTable::read(&source.text).map_err(|error| {
            let mut wrong = Diagnostics::from(in_table(&source, error.line(), &error.to_string(), error.remedy()));
            wrong.push(part.error(&name.key, "this table cannot be used", "correct what is said above"));
            wrong
        })?;
        Ok(Published { table, source })
    }

    /// Rows that ask for the same forecast are runs of one case.
    fn published(
        &mut self,
        part: &Part,
        number: usize,
        published: &Published,
        quick: bool,
    ) -> Result<Vec<Case>, Failure> {
        let line = &part.lines[number];
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut cases: Vec<Case> = Vec::new();
        for row in published.rows() {
            if !row.is_of(part, line)? || quick && !row.meets(&part.quick)? {
                continue;
            }
            let recipe = row.resolve(&line.recipe)?;
            let wrong =
                |column: &Written, case: &str, error: Failure| Place { part, line, case }.wrong(&column.key, error);
            let x = part.axis.as_ref().map(|column| row.number(&column.text).map_err(|error| wrong(column, "", error)));
            let x = x.transpose()?;
            let name = match &part.case {
                Some(template) => row.fill(&template.text)?,
                None => part.axis_name().zip(x).map_or(String::new(), |(axis, x)| format!("{axis} = {}", amount(x))),
            };
            let texts: Vec<&str> = recipe.texts().map(|text| text.text.as_str()).collect();
            let key = format!("{name}\n{x:?}\n{texts:?}");
            let place = match places.get(&key) {
                Some(place) => *place,
                None => {
                    let place = Place { part, line, case: &name };
                    let forecast = self.prepare(&place, &recipe)?;
                    let more = line.against_hpl.as_ref().map(|more| row.fill_written(more)).transpose()?;
                    let against = more.map(|more| self.prepare(&place, &recipe.with(more))).transpose()?;
                    places.insert(key, cases.len());
                    cases.push(Case {
                        line: number,
                        name,
                        x,
                        reference: Vec::new(),
                        cost: Vec::new(),
                        forecast,
                        against,
                    });
                    cases.len() - 1
                }
            };
            if line.against_hpl.is_none() {
                let value = row.positive(&part.value.text);
                let case = &mut cases[place];
                case.reference.push(value.map_err(|error| wrong(&part.value, &case.name, error))?);
            }
            if let Some(cost) = &part.cost {
                let seconds = row.number(&cost.text);
                let case = &mut cases[place];
                case.cost.push(seconds.map_err(|error| wrong(cost, &case.name, error))?);
            }
        }
        Ok(cases)
    }

    /// The case of a line that needs no table.
    fn single(&mut self, part: &Part, number: usize) -> Result<Case, Failure> {
        let line = &part.lines[number];
        let place = Place { part, line, case: "" };
        let forecast = self.prepare(&place, &line.recipe)?;
        let against = line.against_hpl.clone().map(|more| self.prepare(&place, &line.recipe.with(more))).transpose()?;
        let reference = line.reference.into_iter().collect();
        Ok(Case { line: number, name: String::new(), x: None, reference, cost: Vec::new(), forecast, against })
    }

    /// Reads what a forecast needs, and finds out whether it can be made.
    fn prepare(&mut self, place: &Place<'_>, recipe: &Recipe) -> Result<Prepared, Failure> {
        let named = recipe.machine.as_ref().or(recipe.platform.as_ref()).cloned().unwrap_or_default();
        let machine = match recipe.machine {
            Some(_) => self.machine_file(place, &named, &recipe.machine_changes)?,
            None => self.platform(place, &named)?,
        };
        let models = match (&recipe.models, &recipe.kernels) {
            (Some(file), _) => Some(self.model_file(place, file, &recipe.model_changes)?),
            (None, Some(words)) => Some(self.tables(place, words, recipe)?),
            (None, None) => None,
        };
        let file = match recipe.machine {
            Some(_) => named.text.as_str(),
            None => named.text.split_whitespace().next().unwrap_or_default(),
        };
        // Columns may hold options, too.
        for words in &recipe.hpl {
            if let Some((word, remedy)) = unsuited(&words.text) {
                let message = format!("{}: `{word}` has no place in a part", place.name());
                return Err(place.part.error(&words.key, message, remedy).into());
            }
        }
        let options: hpl::Options = place.options(Some(format!("--machine={file}")), &recipe.hpl)?;
        let built = machine.build().map_err(|error| place.wrong(&named.key, error))?;
        let key = recipe.hpl.last().map_or(place.line.key.as_str(), |last| last.key.as_str());
        hpl::check(&options, built, models.as_deref().cloned()).map_err(|error| place.wrong(key, error))?;
        Ok(Prepared { options, machine, models })
    }

    fn machine_file(
        &mut self,
        place: &Place<'_>,
        file: &Written,
        changes: &[Written],
    ) -> Result<Arc<MachineFile>, Failure> {
        let path = place.part.folder.join(&file.text);
        let key = key_of(&path, changes);
        if let Some(machine) = self.machines.get(&key) {
            return Ok(machine.clone());
        }
        let source = changed(place, file, &path, changes)?;
        let parsed = MachineFile::parse(&source, path.parent().unwrap_or(Path::new("")));
        let machine = Arc::new(parsed.map_err(|error| place.wrong(&changes.last().unwrap_or(file).key, error))?);
        self.note(&path);
        self.machines.insert(key, machine.clone());
        Ok(machine)
    }

    fn platform(&mut self, place: &Place<'_>, words: &Written) -> Result<Arc<MachineFile>, Failure> {
        if let Some(machine) = self.machines.get(&words.text) {
            return Ok(machine.clone());
        }
        let mut platform: machine::Platform = place.options(None, std::slice::from_ref(words))?;
        platform.file = self.data.join(&platform.file);
        let machine = Arc::new(platform.import().map_err(|error| place.wrong(&words.key, error))?.machine);
        self.note(&platform.file);
        self.machines.insert(words.text.clone(), machine.clone());
        Ok(machine)
    }

    fn model_file(
        &mut self,
        place: &Place<'_>,
        file: &Written,
        changes: &[Written],
    ) -> Result<Arc<ModelFile>, Failure> {
        let path = place.part.folder.join(&file.text);
        let key = key_of(&path, changes);
        if let Some(models) = self.models.get(&key) {
            return Ok(models.clone());
        }
        let parsed = ModelFile::parse(&changed(place, file, &path, changes)?);
        let models = Arc::new(parsed.map_err(|error| place.wrong(&changes.last().unwrap_or(file).key, error))?);
        self.note(&path);
        self.models.insert(key, models.clone());
        Ok(models)
    }

    fn tables(&mut self, place: &Place<'_>, words: &Written, recipe: &Recipe) -> Result<Arc<ModelFile>, Failure> {
        let text = |written: &Option<Written>| written.as_ref().map(|written| written.text.clone());
        let key = format!("{}\n{:?} {:?}", words.text, text(&recipe.network), text(&recipe.days));
        if let Some(models) = self.models.get(&key) {
            return Ok(models.clone());
        }
        let mut tables: model::Tables = place.options(None, std::slice::from_ref(words))?;
        tables.dgemm = self.data.join(&tables.dgemm);
        tables.kernels = tables.kernels.map(|kernels| self.data.join(kernels));
        let mut models = tables.file().map_err(|error| place.wrong(&words.key, error))?;
        self.note(&tables.dgemm);
        tables.kernels.iter().for_each(|path| self.note(path));
        if let Some(file) = &recipe.network {
            let path = self.data.join(&file.text);
            let read = |path| model::published_network(&Source::read(path)?, None);
            models.network = Some(read(&path).map_err(|error| place.wrong(&file.key, error))?);
            self.note(&path);
        }
        if let Some(file) = &recipe.days {
            let path = self.data.join(&file.text);
            let mut add = |path| fit::add_days(&mut models, "dgemm", &Source::read(path)?);
            add(&path).map_err(|error| place.wrong(&file.key, error))?;
            self.note(&path);
        }
        let models = Arc::new(models);
        self.models.insert(key, models.clone());
        Ok(models)
    }
}

/// A file with changes.
fn key_of(path: &Path, changes: &[Written]) -> String {
    let changes: Vec<&str> = changes.iter().map(|change| change.text.as_str()).collect();
    format!("{}\n{changes:?}", path.display())
}

/// How people call a case.
pub(super) fn case_name(line: &str, case: &str) -> String {
    if case.is_empty() { format!("line `{line}`") } else { format!("line `{line}`, {case}") }
}

/// A published table.
struct Published {
    table: TextTable,
    source: Arc<Source>,
}

impl Published {
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.table.rows.iter().map(|row| Row { published: self, row })
    }

    /// Whether it has what the part wants of it.
    fn check(&self, part: &Part) -> Result<(), Failure> {
        let mut wrong = Diagnostics::new();
        for (column, key) in part.columns() {
            if let Err(error) = self.table.place(column) {
                let diagnostic = part.error(key, format!("{}: {error}", self.source.name), error.remedy());
                // What the part says for all lines is wrong once.
                if !wrong.iter().any(|earlier| *earlier == diagnostic) {
                    wrong.push(diagnostic);
                }
            }
        }
        if wrong.has_errors() {
            wrong.sort();
            return Err(wrong.into());
        }
        let mut met: BTreeSet<&str> = BTreeSet::new();
        for line in &part.lines {
            let mut selected = 0;
            for row in self.rows() {
                if row.is_of(part, line)? {
                    selected += 1;
                    for (conditions, more) in &line.recipe.also {
                        if row.meets(conditions)? {
                            met.insert(&more.key);
                        }
                    }
                }
            }
            if selected == 0 {
                let message = format!("no row of {} is selected by the line `{}`", self.source.name, line.name);
                return Err(part.error(&format!("{}.select", line.key), message, "correct its `select`").into());
            }
        }
        let mut also = part.lines.iter().flat_map(|line| &line.recipe.also);
        if let Some((_, more)) = also.find(|(_, more)| !met.contains(more.key.as_str())) {
            let message = format!("no row of {} that is compared is selected by this `also`", self.source.name);
            return Err(part.error(&more.key, message, "correct its `select`, or remove it").into());
        }
        Ok(())
    }
}

/// A row of it.
struct Row<'p> {
    published: &'p Published,
    row: &'p TextRow,
}

impl Row<'_> {
    /// The text of a column; whole numbers are written as such.
    fn text(&self, column: &str) -> Result<String, Failure> {
        let source = &self.published.source;
        let place = self.published.table.place(column);
        let place = place.map_err(|error| in_table(source, error.line(), &error.to_string(), error.remedy()))?;
        Ok(tidy(&self.row.cells[place]))
    }

    fn number(&self, column: &str) -> Result<f64, Failure> {
        let source = &self.published.source;
        let number = self.published.table.number(self.row, column);
        Ok(number.map_err(|error| in_table(source, error.line(), &error.to_string(), error.remedy()))?)
    }

    /// A time or a speed.
    fn positive(&self, column: &str) -> Result<f64, Failure> {
        let number = self.number(column)?;
        if number <= 0.0 {
            let message = format!("`{number}` in column `{column}` is not positive");
            let remedy = "a reference is a time or a speed";
            return Err(in_table(&self.published.source, Some(self.row.line), &message, remedy).into());
        }
        Ok(number)
    }

    /// Whether a line of a part compares it.
    fn is_of(&self, part: &Part, line: &Line) -> Result<bool, Failure> {
        Ok(self.meets(&part.select)? && self.meets(&line.select)?)
    }

    fn meets(&self, conditions: &Conditions) -> Result<bool, Failure> {
        for Condition { column, values, .. } in conditions {
            let text = self.text(column)?;
            if !values.iter().any(|value| tidy(value) == text) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Replaces `{column}` by the value of the column.
    fn fill(&self, template: &str) -> Result<String, Failure> {
        fill(template, |column| self.text(column))
    }

    fn fill_written(&self, written: &Written) -> Result<Written, Failure> {
        Ok(Written { key: written.key.clone(), text: self.fill(&written.text)? })
    }

    /// The recipe of one case, with the options that are for its rows.
    fn resolve(&self, recipe: &Recipe) -> Result<Recipe, Failure> {
        let one = |written: &Option<Written>| written.as_ref().map(|written| self.fill_written(written)).transpose();
        let list = |list: &[Written]| list.iter().map(|written| self.fill_written(written)).collect::<Result<_, _>>();
        let mut hpl: Vec<Written> = list(&recipe.hpl)?;
        for (conditions, more) in &recipe.also {
            if self.meets(conditions)? {
                hpl.push(self.fill_written(more)?);
            }
        }
        Ok(Recipe {
            machine: one(&recipe.machine)?,
            platform: one(&recipe.platform)?,
            machine_changes: list(&recipe.machine_changes)?,
            models: one(&recipe.models)?,
            kernels: one(&recipe.kernels)?,
            network: one(&recipe.network)?,
            days: one(&recipe.days)?,
            model_changes: list(&recipe.model_changes)?,
            hpl,
            also: Vec::new(),
        })
    }
}

/// `16.0` is how some tables write 16.
fn tidy(text: &str) -> String {
    match text.trim().strip_suffix(".0") {
        Some(whole) if whole.parse::<i64>().is_ok() => whole.into(),
        _ => text.trim().into(),
    }
}

fn amount(x: f64) -> String {
    if x.fract() == 0.0 && (0.0..1e15).contains(&x) { count(x as u64) } else { x.to_string() }
}

/// A TOML file with some of its values replaced.
fn changed(place: &Place<'_>, file: &Written, path: &Path, changes: &[Written]) -> Result<Arc<Source>, Failure> {
    let source = Source::read(path).map_err(|error| place.wrong(&file.key, error))?;
    if changes.iter().all(|change| change.text.trim().is_empty()) {
        return Ok(source);
    }
    let parse = |text: &str, what: &str, key: &str| {
        let wrong = |error: toml::de::Error| place.wrong(key, Failure::input(format!("{what}: {}", error.message())));
        text.parse::<toml::Table>().map_err(wrong)
    };
    let mut table = parse(&source.text, &source.name, &file.key)?;
    for Written { key, text } in changes {
        merge(&mut table, &parse(text, &format!("changes of {}: `{}`", source.name, text.trim()), key)?);
    }
    Ok(Source::new(format!("{} with changes", source.name), table.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fill_templates() {
        let text = "N,P,Q,topology\n65536.0,4.0,8.0,\"2;16,32\"\n";
        let published = Published { table: TextTable::read(text).unwrap(), source: Source::new("x.csv", text) };
        let row = Row { published: &published, row: &published.table.rows[0] };
        let fill = |template: &str| row.fill(template).ok().unwrap();
        assert_eq!(fill("--n {N} --grid {P}x{Q}"), "--n 65536 --grid 4x8");
        assert_eq!(fill("a = { b = '{topology}' } {"), "a = { b = '2;16,32' } {");
        assert!(row.fill("{NB}").is_err());
        let is = |column: &str, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            row.meets(&vec![Condition { key: String::new(), column: column.into(), values }]).ok().unwrap()
        };
        assert!(is("N", &["1", "65536"]) && !is("P", &["8"]));
    }
}
