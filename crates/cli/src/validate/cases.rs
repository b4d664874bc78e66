//! From the rows of published tables to forecasts that can be made: everything is read and checked before anything runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Parser};
use hpcast_calibrate::table::{TextRow, TextTable};
use hpcast_models::compute::ModelFile;
use hpcast_platform::MachineFile;
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_units::count;

use super::part::{Conditions, Line, Part, Recipe};
use crate::call_table::in_table;
use crate::failure::Failure;
use crate::running::Running;
use crate::{fit, hpl, machine, model};

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

/// Words of a command line.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Words<T: Args> {
    #[command(flatten)]
    given: T,
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
        self.note(Path::new(&part.source.name));
        let table = part.table.as_deref().map(|name| self.table(name)).transpose()?;
        let mut all = Vec::new();
        for (number, line) in part.lines.iter().enumerate().filter(|(_, line)| line.quick || !quick) {
            let mut cases = match &table {
                Some(published) => self.published(part, number, published, quick)?,
                None => vec![self.single(part, number)?],
            };
            if cases.is_empty() && !quick {
                let message = format!("no row of {} is selected by the line `{}`", table_name(part), line.name);
                return Err(Diagnostic::error(message, "correct its `select`").within(&part.source).into());
            }
            // Sorted by place on the axis; equal places stay as they are in the table.
            cases.sort_by(|one, other| one.x.unwrap_or(0.0).total_cmp(&other.x.unwrap_or(0.0)));
            all.append(&mut cases);
        }
        Ok(all)
    }

    fn table(&mut self, name: &str) -> Result<Published, Failure> {
        let path = self.data.join(name);
        let source = Source::read(&path)?;
        self.note(&path);
        let table = TextTable::read(&source.text)
            .map_err(|error| in_table(&source, error.line(), &error.to_string(), error.remedy()))?;
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
        for row in &published.table.rows {
            let row = Row { published, row };
            let wanted = [&part.select, &line.select].into_iter().chain(quick.then_some(&part.quick));
            if !wanted
                .map(|conditions| row.meets(conditions))
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .all(|met| met)
            {
                continue;
            }
            let recipe = row.resolve(&line.recipe)?;
            let x = part.axis.as_deref().map(|column| row.number(column)).transpose()?;
            let name = match &part.case {
                Some(template) => row.fill(template)?,
                None => part.axis_name().zip(x).map_or(String::new(), |(axis, x)| format!("{axis} = {}", amount(x))),
            };
            let key = format!("{name}\n{x:?}\n{recipe:?}");
            let place = match places.get(&key) {
                Some(place) => *place,
                None => {
                    let against = line.against_hpl.as_deref().map(|more| self.prepare(part, line, &recipe.with(more)));
                    let forecast = self.prepare(part, line, &recipe)?;
                    let against = against.transpose()?;
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
                cases[place].reference.push(row.positive(&part.value)?);
            }
            if let Some(cost) = &part.cost {
                cases[place].cost.push(row.number(cost)?);
            }
        }
        Ok(cases)
    }

    /// The case of a line that needs no table.
    fn single(&mut self, part: &Part, number: usize) -> Result<Case, Failure> {
        let line = &part.lines[number];
        let recipe = Resolved::from(&line.recipe);
        let forecast = self.prepare(part, line, &recipe)?;
        let against =
            line.against_hpl.as_deref().map(|more| self.prepare(part, line, &recipe.with(more))).transpose()?;
        let reference = line.reference.into_iter().collect();
        Ok(Case { line: number, name: String::new(), x: None, reference, cost: Vec::new(), forecast, against })
    }

    fn prepare(&mut self, part: &Part, line: &Line, recipe: &Resolved) -> Result<Prepared, Failure> {
        let unclear = |key: &str, error: &clap::Error| {
            let text = error.to_string();
            let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let message = format!("line `{}`, {key}: {message}", line.name);
            Diagnostic::error(message, format!("correct `{key}` of {}", line.key)).within(&part.source)
        };
        let machine = match (&recipe.machine, &recipe.platform) {
            (Some(file), _) => self.machine_file(&part.folder.join(file), &recipe.machine_changes)?,
            (None, words) => {
                let words = words.as_deref().unwrap_or_default();
                let parsed = Words::<machine::Platform>::try_parse_from(words.split_whitespace());
                let mut platform = parsed.map_err(|error| unclear("platform", &error))?.given;
                platform.file = self.data.join(&platform.file);
                self.platform(words, &platform)?
            }
        };
        let models = match (&recipe.models, &recipe.kernels) {
            (Some(file), _) => Some(self.model_file(&part.folder.join(file), &recipe.model_changes)?),
            (None, Some(words)) => {
                let parsed = Words::<model::Tables>::try_parse_from(words.split_whitespace());
                let mut tables = parsed.map_err(|error| unclear("kernels", &error))?.given;
                tables.dgemm = self.data.join(&tables.dgemm);
                tables.kernels = tables.kernels.map(|kernels| self.data.join(kernels));
                Some(self.tables(words, &tables, recipe)?)
            }
            (None, None) => None,
        };
        let named = ["-m", recipe.machine.as_deref().unwrap_or("machine")];
        let parsed = Words::<hpl::Options>::try_parse_from(named.into_iter().chain(recipe.hpl.split_whitespace()));
        Ok(Prepared { options: parsed.map_err(|error| unclear("hpl", &error))?.given, machine, models })
    }

    fn machine_file(&mut self, path: &Path, changes: &str) -> Result<Arc<MachineFile>, Failure> {
        let key = format!("{}\n{changes}", path.display());
        if let Some(machine) = self.machines.get(&key) {
            return Ok(machine.clone());
        }
        self.note(path);
        let source = changed(path, changes)?;
        let machine = Arc::new(MachineFile::parse(&source, path.parent().unwrap_or(Path::new("")))?);
        self.machines.insert(key, machine.clone());
        Ok(machine)
    }

    fn platform(&mut self, words: &str, platform: &machine::Platform) -> Result<Arc<MachineFile>, Failure> {
        if let Some(machine) = self.machines.get(words) {
            return Ok(machine.clone());
        }
        let machine = Arc::new(platform.import()?.machine);
        self.note(&platform.file);
        self.machines.insert(words.to_owned(), machine.clone());
        Ok(machine)
    }

    fn model_file(&mut self, path: &Path, changes: &str) -> Result<Arc<ModelFile>, Failure> {
        let key = format!("{}\n{changes}", path.display());
        if let Some(models) = self.models.get(&key) {
            return Ok(models.clone());
        }
        self.note(path);
        let models = Arc::new(ModelFile::parse(&changed(path, changes)?)?);
        self.models.insert(key, models.clone());
        Ok(models)
    }

    fn tables(&mut self, words: &str, tables: &model::Tables, recipe: &Resolved) -> Result<Arc<ModelFile>, Failure> {
        let key = format!("{words}\n{:?} {:?}", recipe.network, recipe.days);
        if let Some(models) = self.models.get(&key) {
            return Ok(models.clone());
        }
        let mut models = tables.file()?;
        self.note(&tables.dgemm);
        tables.kernels.iter().for_each(|path| self.note(path));
        if let Some(file) = &recipe.network {
            let path = self.data.join(file);
            models.network = Some(model::published_network(&Source::read(&path)?, None)?);
            self.note(&path);
        }
        if let Some(file) = &recipe.days {
            let path = self.data.join(file);
            fit::add_days(&mut models, "dgemm", &Source::read(&path)?)?;
            self.note(&path);
        }
        let models = Arc::new(models);
        self.models.insert(key, models.clone());
        Ok(models)
    }
}

fn table_name(part: &Part) -> &str {
    part.table.as_deref().unwrap_or_default()
}

/// A published table.
struct Published {
    table: TextTable,
    source: Arc<Source>,
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

    fn meets(&self, conditions: &Conditions) -> Result<bool, Failure> {
        for (column, values) in conditions {
            let text = self.text(column)?;
            if !values.iter().any(|value| tidy(value) == text) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Replaces `{column}` by the value of the column.
    fn fill(&self, template: &str) -> Result<String, Failure> {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            filled += before;
            let name = after.split_once('}').filter(|(name, _)| !name.is_empty() && name.chars().all(is_of_a_name));
            match name {
                Some((name, behind)) => {
                    filled += &self.text(name)?;
                    rest = behind;
                }
                None => {
                    filled.push('{');
                    rest = after;
                }
            }
        }
        Ok(filled + rest)
    }

    fn resolve(&self, recipe: &Recipe) -> Result<Resolved, Failure> {
        let fill = |text: &Option<String>| text.as_deref().map(|text| self.fill(text)).transpose();
        let mut hpl = recipe.hpl.clone();
        for (conditions, more) in &recipe.also {
            if self.meets(conditions)? {
                hpl = format!("{hpl} {more}");
            }
        }
        Ok(Resolved {
            machine: fill(&recipe.machine)?,
            platform: fill(&recipe.platform)?,
            machine_changes: self.fill(&recipe.machine_changes)?,
            models: fill(&recipe.models)?,
            kernels: fill(&recipe.kernels)?,
            network: fill(&recipe.network)?,
            days: fill(&recipe.days)?,
            model_changes: self.fill(&recipe.model_changes)?,
            hpl: self.fill(&hpl)?,
        })
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
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

/// A recipe of one case.
#[derive(Clone, Debug)]
struct Resolved {
    machine: Option<String>,
    platform: Option<String>,
    machine_changes: String,
    models: Option<String>,
    kernels: Option<String>,
    network: Option<String>,
    days: Option<String>,
    model_changes: String,
    hpl: String,
}

impl From<&Recipe> for Resolved {
    fn from(recipe: &Recipe) -> Resolved {
        Resolved {
            machine: recipe.machine.clone(),
            platform: recipe.platform.clone(),
            machine_changes: recipe.machine_changes.clone(),
            models: recipe.models.clone(),
            kernels: recipe.kernels.clone(),
            network: recipe.network.clone(),
            days: recipe.days.clone(),
            model_changes: recipe.model_changes.clone(),
            hpl: recipe.hpl.clone(),
        }
    }
}

impl Resolved {
    /// With more options.
    fn with(&self, more: &str) -> Resolved {
        Resolved { hpl: format!("{} {more}", self.hpl), ..self.clone() }
    }
}

/// A TOML file with some of its values replaced.
fn changed(path: &Path, changes: &str) -> Result<Arc<Source>, Failure> {
    let source = Source::read(path)?;
    if changes.trim().is_empty() {
        return Ok(source);
    }
    let parse = |text: &str, what: &str| {
        let wrong = |error: toml::de::Error| Failure::input(format!("{what}: {}", error.message()));
        text.parse::<toml::Table>().map_err(wrong)
    };
    let mut table = parse(&source.text, &source.name)?;
    merge(&mut table, parse(changes, &format!("changes of {}: `{}`", source.name, changes.trim()))?);
    Ok(Source::new(format!("{} with changes", source.name), table.to_string()))
}

fn merge(table: &mut toml::Table, changes: toml::Table) {
    for (key, value) in changes {
        match (table.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(changes)) => merge(inner, changes),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
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
        assert!(row.meets(&vec![("N".into(), vec!["1".into(), "65536".into()])]).ok().unwrap());
        assert!(!row.meets(&vec![("P".into(), vec!["8".into()])]).ok().unwrap());
    }

    #[test]
    fn changes_replace_values_and_keep_the_rest() {
        let mut table: toml::Table = "[a]\nb = 1\nc = 2\n".parse().unwrap();
        merge(&mut table, "a.b = [3]\nd.e = 'new'".parse().unwrap());
        assert_eq!(table, "[a]\nb = [3]\nc = 2\n[d]\ne = 'new'\n".parse().unwrap());
    }
}
