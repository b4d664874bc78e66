//! `hpcast validate`: forecasts beside published measurements and simulations, held to bounds.

mod cases;
mod part;
mod pool;
mod template;

use std::path::{Path, PathBuf};

use clap::Args;
use hpcast_report::comparison::{FailedCase, json, verdict};
use hpcast_report::comparison_page::html;
use hpcast_report::{
    ComparedLine, ComparedPoint, Comparison, Measure, Stopwatch, check_writable, comparison_plot, write_file,
};
use hpcast_units::count;

use crate::failure::Failure;
use crate::print;
use crate::running::Running;
use cases::{Case, Library, case_name};
use part::{Line, Part};
use pool::{Crew, Forecast, Made};

/// Where parts are looked for by their names.
const PARTS: &str = "validation";
/// Where the data is, unless somebody says otherwise: beside the repository.
const DATA: &str = "../shared/data";
const DATA_VARIABLE: &str = "HPCAST_DATA";
/// What programs read of it.
const RESULTS: &str = "results.json";

/// Options of `hpcast validate`.
#[derive(Args)]
pub(crate) struct Options {
    /// Parts to run: names of the folder `validation`, or files (default: all of the folder but the slow ones)
    parts: Vec<String>,
    /// Folder with the published data (default: the variable HPCAST_DATA, or ../shared/data)
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Write tables, plots and a page for all of it to this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Only a few cases of each part
    #[arg(long)]
    quick: bool,
    /// Forecasts at a time (default: one a core); results do not depend on it
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=4096))]
    threads: Option<u64>,
    /// List the parts and run nothing
    #[arg(long)]
    list: bool,
    /// Read and check everything and run nothing (default: all parts, slow ones, too)
    #[arg(long, conflicts_with = "list")]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let parts = options.load()?;
    if options.list {
        let slow = |part: &Part| if part.slow { " (slow: runs only if it is named)" } else { "" };
        let lines = parts.iter().map(|part| format!("{:<16}{}{}\n", part.name, part.title, slow(part)));
        return print(&lines.collect::<String>());
    }
    let data = options.data();
    if let Some(part) = parts.iter().find(|part| part.needs_data() && !data.is_dir()) {
        return Err(no_data(&data, &part.name));
    }
    let mut running = Running::begin("validate".into());
    let mut library = Library::new(data, &mut running);
    let cases = parts.iter().map(|part| library.cases(part, options.quick)).collect::<Result<Vec<_>, _>>()?;
    if options.check {
        let lines = parts.iter().zip(&cases).map(|(part, cases)| {
            let forecasts = cases.iter().flat_map(Case::forecasts).count();
            format!(
                "{:<16}{:>6} cases, {:>6} forecasts\n",
                part.name,
                count(cases.len() as u64),
                count(forecasts as u64)
            )
        });
        return print(&lines.collect::<String>());
    }
    if let Some(folder) = &options.output {
        let failed = |error| Failure::input(format!("cannot create the folder {}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        check_writable(&folder.join(RESULTS))?;
    }
    let weights: Vec<f64> = cases.iter().map(|cases| cases.iter().map(Case::weight).sum()).collect();
    let whole: f64 = weights.iter().sum();
    let mut comparisons = Vec::new();
    let mut failed = None;
    let mut done = 0.0;
    for ((part, cases), weight) in parts.iter().zip(cases).zip(weights) {
        let share = done / whole..(done + weight) / whole;
        done += weight;
        let (comparison, failure) = compare(part, cases, Crew { threads: options.threads(), running: &running, share });
        running.print(&format!("{}\n", comparison.text()))?;
        if let Some(folder) = &options.output {
            write_part(folder, &comparison)?;
        }
        let complete = comparison.is_complete();
        comparisons.push(comparison);
        failed = failure;
        if !complete {
            break;
        }
    }
    let (mut provenance, used) = running.end();
    provenance.threads = options.threads();
    if let Some(folder) = &options.output {
        write_file(&folder.join(RESULTS), json(&comparisons, &provenance, &used).as_bytes())?;
        write_file(&folder.join("index.html"), html(&comparisons, &provenance, &used).as_bytes())?;
        print(&format!("written: {}\n", folder.join("index.html").display()))?;
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    if !comparisons.iter().all(Comparison::is_complete) {
        return Err(Failure::Interrupted);
    }
    let broken: Vec<&str> =
        comparisons.iter().filter(|part| part.broken() > 0).map(|part| part.name.as_str()).collect();
    if !broken.is_empty() {
        return Err(Failure::Program(format!("bounds are broken in {}", broken.join(", "))));
    }
    print(&format!("{}\n", verdict(&comparisons)))
}

impl Options {
    /// The parts that were named, or all that are not slow.
    fn load(&self) -> Result<Vec<Part>, Failure> {
        let named = |name: &String| name.contains('/') || name.ends_with(".toml");
        let mut files: Vec<PathBuf> = Vec::new();
        if self.parts.is_empty() || !self.parts.iter().all(named) {
            files = part_files()?;
        }
        if self.parts.is_empty() {
            let mut parts = files.iter().map(|file| Part::load(file)).collect::<Result<Vec<_>, _>>()?;
            parts.retain(|part| self.list || self.check || !part.slow);
            return Ok(parts);
        }
        let mut parts = Vec::new();
        for name in &self.parts {
            let file = match named(name) {
                true => PathBuf::from(name),
                false => files.iter().find(|file| stem(file) == *name).cloned().ok_or_else(|| {
                    let known: Vec<String> = files.iter().map(|file| stem(file)).collect();
                    Failure::input(format!("there is no part `{name}`; the parts are {}", known.join(", ")))
                })?,
            };
            parts.push(Part::load(&file)?);
        }
        let mut names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("two parts are called `{}`; their results would overwrite each other", pair[0]);
            return Err(Failure::input(message + ": rename one"));
        }
        Ok(parts)
    }

    fn data(&self) -> PathBuf {
        let variable = || std::env::var_os(DATA_VARIABLE).map(PathBuf::from);
        self.data.clone().or_else(variable).unwrap_or_else(|| DATA.into())
    }

    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, |threads| threads as usize)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files of the folder of parts, by name.
fn part_files() -> Result<Vec<PathBuf>, Failure> {
    let nothing = || {
        Failure::input(format!(
            "there is no folder `{PARTS}` with parts here; run this in hpcast's repository, or name the files of parts"
        ))
    };
    let entries = std::fs::read_dir(PARTS).map_err(|_| nothing())?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    if files.is_empty() { Err(nothing()) } else { Ok(files) }
}

fn no_data(folder: &Path, part: &str) -> Failure {
    Failure::input(format!(
        "the part `{part}` needs published data, and there is no folder {}; get the tables that the part \
         names (published with T. Cornebize's theses, github.com/Ezibenroc) and put them there, or name their folder \
         with --data or {DATA_VARIABLE}",
        folder.display()
    ))
}

fn write_part(folder: &Path, comparison: &Comparison) -> Result<(), Failure> {
    write_file(&folder.join(format!("{}.csv", comparison.name)), comparison.csv().as_bytes())?;
    if let Some(picture) = comparison_plot::svg(comparison) {
        write_file(&folder.join(format!("{}.svg", comparison.name)), picture.as_bytes())?;
    }
    Ok(())
}

/// Makes the forecasts of a part; says which has failed first, if one has.
fn compare(part: &Part, cases: Vec<Case>, crew: Crew<'_>) -> (Comparison, Option<Failure>) {
    let forecasts: Vec<_> = cases.iter().flat_map(Case::forecasts).collect();
    let Made { found, mut failed } = crew.run(&part.name, &forecasts);
    let line = |line: &Line| ComparedLine { name: line.name.clone(), bound: line.bound, points: Vec::new() };
    let mut comparison = Comparison {
        name: part.name.clone(),
        title: part.title.clone(),
        about: part.about.clone(),
        origin: part.origin.clone(),
        against: part.against.clone(),
        measure: part.measure,
        axis: part.axis_name().map(String::from),
        lines: part.lines.iter().map(line).collect(),
        missing: 0,
        failed: Vec::new(),
        peak_memory_bytes: Stopwatch::start().read().peak_memory_bytes,
    };
    let mut first = None;
    let mut found = found.into_iter().enumerate();
    for case in &cases {
        let made: Vec<(usize, Option<Forecast>)> = found.by_ref().take(case.forecasts().count()).collect();
        let line = &mut comparison.lines[case.line];
        if let Some(failure) = made.iter().find_map(|(place, _)| failed.remove(place)) {
            let (line, case) = (line.name.clone(), case.name.clone());
            let name = format!("{}, {}", part.name, case_name(&line, &case));
            comparison.failed.push(FailedCase { line, case, message: failure.message() });
            first.get_or_insert_with(|| failure.of(&name));
            continue;
        }
        match made.into_iter().map(|(_, forecast)| forecast).collect::<Option<Vec<_>>>().as_deref() {
            Some([forecast, against @ ..]) => line.points.push(point(part, case, forecast, against.first())),
            _ => comparison.missing += 1,
        }
    }
    comparison.lines.retain(|line| !line.points.is_empty());
    (comparison, first)
}

fn point(part: &Part, case: &Case, forecast: &Forecast, against: Option<&Forecast>) -> ComparedPoint {
    let values = |forecast: &Forecast| match part.measure {
        Measure::Seconds => forecast.seconds.clone(),
        Measure::Gflops => forecast.gflops.clone(),
    };
    let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    ComparedPoint {
        case: case.name.clone(),
        x: case.x,
        reference: against.map_or_else(|| case.reference.clone(), values),
        forecast: values(forecast),
        uncertainty: forecast.uncertainty,
        bias: forecast.bias,
        flops: forecast.gflops[0] * 1e9 * forecast.seconds[0],
        mode: forecast.mode.clone(),
        cpu_seconds: forecast.cpu_seconds,
        reference_cost: mean(&case.cost).or_else(|| against.map(|against| against.cpu_seconds)),
    }
}
