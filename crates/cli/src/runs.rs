//! `hpcast runs`: what the runs of studies have found.

mod difference;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hpcast_report::study::figure;
use hpcast_report::{check_writable, write_file};
use hpcast_study::export::{self, ExportedRow};
use hpcast_study::run::Inputs;
use hpcast_study::store::{Condition, Location, Query, RunRecord, Store, StudyId, StudyRecord, StudyRow};
use hpcast_units::{Bytes, Seconds, count};

use crate::failure::Failure;
use crate::{print, study};

/// So many rows are shown unless more are asked for.
const SHOWN: u64 = 20;
/// A number with fewer digits is a row; more are the beginning of a key.
const ROW_DIGITS: usize = 12;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List runs: all, or those that meet conditions
    List(ListOptions),
    /// Show all that is known of a run
    Show(ShowOptions),
    /// Say in what two runs differ
    Diff(DiffOptions),
    /// Write the rows of a study to files
    Export(ExportOptions),
}

/// Which study.
#[derive(Args)]
struct Which {
    /// The folder of a study, a store file, or postgres://...
    place: String,
    /// The study, if the store has several
    #[arg(long, value_name = "NAME")]
    study: Option<String>,
}

#[derive(Args)]
struct Filter {
    /// Only runs with this, such as `nb=256`, `gflops>1000` or `status=failed`; may be given several times
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Sort by a column (default: the order of the design)
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// The largest first
    #[arg(long)]
    reverse: bool,
}

#[derive(Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    filter: Filter,
    /// Show so many
    #[arg(long, default_value_t = SHOWN, value_name = "ROWS")]
    limit: u64,
    /// Leave out so many before
    #[arg(long, default_value_t = 0, value_name = "ROWS")]
    skip: u64,
}

#[derive(Args)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    which: Which,
    /// The number of its row, or the beginning of its key
    run: String,
    /// Print its whole report as JSON
    #[arg(long, conflicts_with_all = ["machine", "models"])]
    json: bool,
    /// Print its machine file
    #[arg(long, conflicts_with = "models")]
    machine: bool,
    /// Print its model file
    #[arg(long)]
    models: bool,
}

#[derive(Args)]
pub(crate) struct DiffOptions {
    #[command(flatten)]
    which: Which,
    /// A run: the number of its row, or the beginning of its key
    first: String,
    /// Another
    second: String,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("file").required(true).multiple(true))]
pub(crate) struct ExportOptions {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    filter: Filter,
    /// Write rows to a file, or `-` for standard output
    #[arg(long, value_name = "FILE.csv", group = "file")]
    csv: Option<PathBuf>,
    /// Write rows to a file for data frames
    #[arg(long, value_name = "FILE.parquet", group = "file")]
    parquet: Option<PathBuf>,
    /// Add what runs have cost: time and memory, which differ from one study to an equal one
    #[arg(long)]
    costs: bool,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(options) => list(options),
        Command::Show(options) => show(options),
        Command::Diff(options) => diff(options),
        Command::Export(options) => write(options),
    }
}

/// A study in an open store.
pub(crate) struct Opened {
    pub store: Store,
    pub id: StudyId,
    pub study: StudyRecord,
}

impl Opened {
    /// By the folder of a study, a file or an address.
    pub fn new(place: &str, name: Option<&str>) -> Result<Opened, Failure> {
        Opened::at(&location(place)?, name)
    }

    /// By where the store is.
    pub fn at(location: &Location, name: Option<&str>) -> Result<Opened, Failure> {
        let mut store = Store::open_existing(location)?;
        let (id, study) = store.study(name)?;
        Ok(Opened { store, id, study })
    }

    pub fn rows(&mut self, query: &Query) -> Result<Vec<StudyRow>, Failure> {
        Ok(self.store.rows(self.id, &self.study, query)?)
    }

    /// A run by the number of its row, or by the beginning of its key.
    pub fn run(&mut self, text: &str) -> Result<RunRecord, Failure> {
        let is_row = text.len() < ROW_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_row {
            return Ok(self.store.run(text)?);
        }
        let condition: Condition = format!("row={text}").parse()?;
        let rows = self.rows(&Query { conditions: vec![condition], ..Query::default() })?;
        let absent =
            || Failure::input(format!("row {text} has not been run; `hpcast runs list` shows those that have"));
        let row = rows.first().ok_or_else(absent)?;
        Ok(self.store.run(&row.key.0)?)
    }
}

/// Where a study's results are.
pub(crate) fn location(place: &str) -> Result<Location, Failure> {
    let path = Path::new(place);
    if path.is_dir() { study::location(path) } else { Ok(Location::of(place)) }
}

impl Filter {
    fn query(&self) -> Query {
        Query {
            conditions: self.conditions.clone(),
            sort: self.sort.clone(),
            descending: self.reverse,
            ..Query::default()
        }
    }
}

fn list(options: &ListOptions) -> Result<(), Failure> {
    let mut opened = Opened::new(&options.which.place, options.which.study.as_deref())?;
    let query = Query { limit: Some(options.limit), skip: options.skip, ..options.filter.query() };
    let all = opened.store.count(opened.id, &opened.study, &query)?;
    let rows = opened.rows(&query)?;
    let study = &opened.study;
    let mut lines = vec![vec!["row".to_owned()]];
    lines[0].extend(study.factors.iter().map(|factor| factor.name.clone()));
    lines[0].extend(study.responses.iter().map(|response| response.name.clone()));
    lines[0].extend(["seed".into(), "key".into()]);
    for row in &rows {
        let mut line = vec![row.row.to_string()];
        line.extend(row.levels.iter().map(|(text, _)| text.clone()));
        // A run that has ended well may still lack a figure, such as the load of links where there are none.
        let value = |value: &Option<f64>| match value {
            Some(value) => figure(*value),
            None if row.is_done => "-".into(),
            None => "failed".into(),
        };
        line.extend(row.responses.iter().map(value));
        line.extend([row.seed.to_string(), row.key.short().to_owned()]);
        lines.push(line);
    }
    let mut text = aligned(&lines);
    let shown = rows.len() as u64;
    if all > shown {
        text += &format!("{} of {} runs; --limit and --skip show others\n", count(shown), count(all));
    }
    print(&text)
}

/// Columns below each other, as wide as they must be.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}

fn show(options: &ShowOptions) -> Result<(), Failure> {
    let mut opened = Opened::new(&options.which.place, options.which.study.as_deref())?;
    let record = opened.run(&options.run)?;
    if options.json {
        return match &record.ending.result {
            Ok(outputs) => print(&format!("{}\n", outputs.report)),
            Err(message) => Err(Failure::input(format!("the run has failed and has no report: {message}"))),
        };
    }
    if options.machine {
        return print(&opened.store.document(&record.inputs.machine)?.text);
    }
    let models = record.inputs.models.clone();
    if options.models {
        let models = models.ok_or_else(|| Failure::input("the run has no model file: its machine file says it all"))?;
        return print(&opened.store.document(&models)?.text);
    }
    let machine = opened.store.document(&record.inputs.machine)?.name;
    let models = models.map(|models| opened.store.document(&models)).transpose()?.map(|document| document.name);
    print(&described(&record, &machine, models.as_deref()))
}

fn described(record: &RunRecord, machine: &str, models: Option<&str>) -> String {
    let lines = facts(record, machine, models, "--machine prints it");
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    lines.iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect()
}

/// What is known of a run, by name; `machine_at` says where its machine file can be seen.
pub(crate) fn facts(
    record: &RunRecord,
    machine: &str,
    models: Option<&str>,
    machine_at: &str,
) -> Vec<(String, String)> {
    let Inputs { seed, version, .. } = &record.inputs;
    let ending = &record.ending;
    let mut facts = vec![
        ("run", record.key.0.clone()),
        ("command", record.inputs.command(machine, models)),
        ("machine", format!("{machine} as changed by the study ({}; {machine_at})", record.inputs.machine.short())),
        ("seed", seed.to_string()),
        ("hpcast", version.clone()),
        ("host", format!("{}, {}", ending.host, ending.finished)),
        ("cost", cost(record)),
    ];
    match &ending.result {
        Ok(outputs) => {
            facts.extend(outputs.figures.iter().map(|(name, value)| (name.as_str(), value.to_string())));
            facts.extend(outputs.warnings.iter().map(|warning| ("warning", warning.clone())));
        }
        Err(message) => facts.push(("failed", message.clone())),
    }
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn cost(record: &RunRecord) -> String {
    let cost = record.ending.cost;
    let memory = cost.memory_bytes.map_or(String::new(), |bytes| format!(", {}", Bytes::new(bytes).human()));
    format!(
        "{} of CPU, {} on the wall{memory}",
        Seconds::new(cost.cpu_seconds).human(),
        Seconds::new(cost.wall_seconds).human()
    )
}

fn diff(options: &DiffOptions) -> Result<(), Failure> {
    let mut opened = Opened::new(&options.which.place, options.which.study.as_deref())?;
    let (first, second) = (opened.run(&options.first)?, opened.run(&options.second)?);
    print(&difference::text(&mut opened.store, &first, &second)?)
}

fn write(options: &ExportOptions) -> Result<(), Failure> {
    if options.parquet.as_deref().is_some_and(is_output) {
        return Err(Failure::input("Parquet is nothing to read on a terminal; name a file with --parquet"));
    }
    for path in [&options.csv, &options.parquet].into_iter().flatten().filter(|path| !is_output(path)) {
        check_writable(path)?;
    }
    let mut opened = Opened::new(&options.which.place, options.which.study.as_deref())?;
    let rows = opened.rows(&options.filter.query())?;
    let mut costs = match options.costs {
        true => opened.store.costs(opened.id)?,
        false => Default::default(),
    };
    let rows: Vec<ExportedRow> =
        rows.into_iter().map(|row| ExportedRow { cost: costs.remove(&row.row), row }).collect();
    if let Some(path) = &options.csv {
        let table = export::csv(&opened.study, &rows, options.costs);
        if is_output(path) {
            print(&table)?;
        } else {
            write_file(path, table.as_bytes())?;
        }
    }
    if let Some(path) = &options.parquet {
        let file = export::parquet(&opened.study, &rows, options.costs);
        write_file(path, &file.map_err(|error| Failure::input(error.to_string()))?)?;
    }
    Ok(())
}

/// Whether `-` is written, for standard output.
fn is_output(path: &Path) -> bool {
    path == Path::new("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let lines = [["a", "bb"], ["ccc", "d"]].map(|line| line.map(String::from).to_vec());
        assert_eq!(aligned(&lines), "  a  bb\nccc   d\n");
    }
}
