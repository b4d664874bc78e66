//! `hpcast study run`: does what is missing, and keeps everything as soon as it is known.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hpcast_report::write_file;
use hpcast_study::document::Fingerprint;
use hpcast_study::execute::slurm::{Cluster, ClusterError};
use hpcast_study::execute::{Ended, Task};
use hpcast_study::file::{DesignSpec, Figure, ResponseSpec, Study};
use hpcast_study::planned::{Planned, PlannedRun};
use hpcast_study::run::Outputs;
use hpcast_study::store::{RunRecord, Store, StudyId, StudyRecord, StudyRow, shown};
use hpcast_units::{Time, count};

use super::folder::Folder;
use super::pool::{self, Pool, WORK};
use super::{Place, RunOptions, plan, summary, version};
use crate::failure::Failure;
use crate::running::Running;

/// Tasks of a job array, unless the user says otherwise.
const CLUSTER_TASKS: usize = 64;

/// What is kept survives a crash of the system after this long at the latest.
const SETTLE: Duration = Duration::from_secs(1);

/// The commands that have written to a study's folder, in it.
pub(super) const COMMANDS: &str = "commands.log";
/// Where the words of a study's runs name files: the study's own folder.
const ORIGIN_FOLDER: &str = "folder.txt";

pub(super) fn run(options: &RunOptions) -> Result<(), Failure> {
    let study = Study::load(&options.file)?;
    let planned = plan(&study, options.yes)?;
    let record = record(options, &study, &planned);
    do_study(options, &study, &planned, &record)
}

/// Does the runs of a study that are missing.
pub(super) fn do_study(
    options: &RunOptions,
    study: &Study,
    planned: &Planned,
    record: &StudyRecord,
) -> Result<(), Failure> {
    let running = Running::begin("study".into());
    let folder = Folder::open(&options.out, study, options.store.as_deref())?;
    note(&options.out, study)?;
    let mut store = Store::open(&folder.location)?;
    let id = store.begin_study(record)?;
    let documents: Vec<_> = planned.documents.iter().map(|(key, document)| (key.clone(), document)).collect();
    store.add_documents(&documents)?;
    let mut keeper = Keeper::new(study, planned, store, id)?;
    let found = keeper.found();
    let tasks = keeper.tasks();
    let work = Work { options, study, planned, tasks: &tasks, running: &running };
    let result = if tasks.is_empty() { Ok(()) } else { work.run(&mut keeper) };
    let interrupted = running.interrupt().load(Ordering::Relaxed);
    running.end();
    result?;
    keeper.store.settle()?;
    crate::print(&summary::text(record, &mut keeper, found)?)?;
    match keeper.failed.first() {
        _ if interrupted => Err(Failure::Interrupted),
        Some(first) => Err(Failure::Program(format!(
            "{} of {} runs have failed; the first: {first}",
            count(keeper.failed.len() as u64),
            count(planned.runs.len() as u64)
        ))),
        None => Ok(()),
    }
}

/// Notes who has written to the folder, and where the study is.
pub(crate) fn note(out: &Path, study: &Study) -> Result<(), Failure> {
    let path = out.join(COMMANDS);
    let wrong = |error: std::io::Error| Failure::input(format!("cannot write {}: {error}", path.display()));
    let words: Vec<String> = std::env::args().map(|word| shown(&word)).collect();
    let date = hpcast_report::utc(std::time::SystemTime::now());
    let mut log = std::fs::OpenOptions::new().create(true).append(true).open(&path).map_err(wrong)?;
    writeln!(log, "{date}  {}  {}", version(), words.join(" ")).map_err(wrong)?;
    let folder = absolute(&study.folder)?;
    Ok(write_file(&out.join(ORIGIN_FOLDER), folder.display().to_string().as_bytes())?)
}

/// Where the words of a study's runs name files, by the folder of its results; empty if that is not known.
pub(crate) fn origin_folder(folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(folder.join(ORIGIN_FOLDER)).unwrap_or_default();
    PathBuf::from(text.trim())
}

/// Runs that are to be done.
struct Work<'w> {
    options: &'w RunOptions,
    study: &'w Study,
    planned: &'w Planned,
    tasks: &'w [Task],
    running: &'w Running,
}

impl Work<'_> {
    /// Does it all and keeps what comes of it.
    fn run(&self, keeper: &mut Keeper<'_>) -> Result<(), Failure> {
        let done = Rc::new(Cell::new(0));
        let (told, total) = (done.clone(), self.tasks.len() as u64);
        let details = move |_: f64, _: Time| vec![format!("{} of {} runs", count(told.get()), count(total))];
        let mut tell = self.running.progress(0.0..1.0, details);
        let mut settled = Instant::now();
        let keep = |ended: Vec<Ended>| -> Result<(), Failure> {
            done.set(done.get() + ended.len() as u64);
            keeper.keep(ended)?;
            if settled.elapsed() > SETTLE {
                keeper.store.settle()?;
                settled = Instant::now();
            }
            if let Some(tell) = &mut tell {
                tell(done.get() as f64 / total as f64, Time::ZERO);
            }
            Ok(())
        };
        match self.options.on {
            Place::Local => {
                self.options.pool.run(&self.study.folder, self.tasks, &self.planned.documents, self.running, keep)
            }
            Place::Slurm => self.on_cluster(keep),
        }
    }

    /// Sends runs to Slurm and waits for them. Who does not want to wait any more is told which jobs go on.
    fn on_cluster(&self, keep: impl FnMut(Vec<Ended>) -> Result<(), Failure>) -> Result<(), Failure> {
        let (options, interrupt) = (self.options, self.running.interrupt());
        let cluster = Cluster {
            folder: absolute(&options.out)?.join("slurm"),
            program: pool::program()?,
            words: WORK.map(String::from).to_vec(),
            place: absolute(&self.study.folder)?,
            name: format!("hpcast-{}", options.name()),
            tasks: options.pool.given().unwrap_or(CLUSTER_TASKS),
            options: options.slurm.split_whitespace().map(String::from).collect(),
            interrupt: &interrupt,
        };
        let jobs = cluster.run(self.tasks, &self.planned.documents, keep).map_err(|error| match error {
            ClusterError::Keep(failure) => failure,
            other => Failure::input(other.to_string()),
        })?;
        if jobs.is_empty() {
            return Ok(());
        }
        let jobs = jobs.join(" ");
        self.running.print(&format!(
            "Slurm goes on with job {jobs}: the same command gathers what comes of it, `scancel {jobs}` stops it\n"
        ))
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().map_err(|error| Failure::input(format!("cannot use {}: {error}", path.display())))
}

/// What the store knows of the study. A table has levels that its factors do not name.
fn record(options: &RunOptions, study: &Study, planned: &Planned) -> StudyRecord {
    let mut record = super::record(study, options.name(), planned.runs.len() as u64);
    if let DesignSpec::List { .. } = study.design {
        for (place, factor) in record.factors.iter_mut().enumerate() {
            factor.levels = listed(planned, place);
            factor.numeric = planned.runs.iter().all(|run| run.levels[place].1.is_some());
        }
    }
    record
}

/// The levels of a table, each once, in its order.
fn listed(planned: &Planned, place: usize) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    for run in &planned.runs {
        let text = &run.levels[place].0;
        if !levels.contains(text) {
            levels.push(text.clone());
        }
    }
    levels
}

/// Keeps what runs have found.
pub(super) struct Keeper<'s> {
    study: &'s Study,
    planned: &'s Planned,
    pub store: Store,
    pub id: StudyId,
    /// The rows that each run is for, the first of them first.
    rows: HashMap<Fingerprint, Vec<usize>>,
    keys: Vec<Fingerprint>,
    /// Whether the row needs a run.
    missing: Vec<bool>,
    /// Runs that have ended since.
    pub ended: usize,
    /// What went wrong with runs that found nothing.
    pub failed: Vec<String>,
    /// Whether the responses have been found in a run.
    responses_known: bool,
}

impl<'s> Keeper<'s> {
    fn new(study: &'s Study, planned: &'s Planned, mut store: Store, id: StudyId) -> Result<Keeper<'s>, Failure> {
        let keys: Vec<Fingerprint> = planned.runs.iter().map(|run| run.inputs.key()).collect();
        let mut rows: HashMap<Fingerprint, Vec<usize>> = HashMap::new();
        for (number, key) in keys.iter().enumerate() {
            rows.entry(key.clone()).or_default().push(number);
        }
        let known = store.finished(&keys.iter().collect::<Vec<_>>())?;
        let missing = keys.iter().map(|key| !known.contains_key(key)).collect();
        let mut keeper = Keeper {
            study,
            planned,
            store,
            id,
            rows,
            keys,
            missing,
            ended: 0,
            failed: Vec::new(),
            responses_known: false,
        };
        let mut kept = Vec::new();
        for (number, key) in keeper.keys.iter().enumerate() {
            if let Some(figures) = known.get(key) {
                let outputs = Outputs { figures: figures.clone(), ..Outputs::default() };
                kept.push(keeper.row(number, Some(&outputs)));
            }
        }
        let Keeper { store, keys, .. } = &mut keeper;
        store.remove_stale(id, |row, key| keys.get(row as usize) == Some(key))?;
        store.add(id, &[], &kept)?;
        Ok(keeper)
    }

    /// Rows that needed no run.
    fn found(&self) -> usize {
        self.missing.iter().filter(|missing| !**missing).count()
    }

    /// What is to be done: each different run once, in the order of the design.
    fn tasks(&self) -> Vec<Task> {
        let is_first = |number: &usize| self.missing[*number] && self.rows[&self.keys[*number]][0] == *number;
        let task = |number: usize| Pool::task(number, self.planned.runs[number].inputs.clone());
        (0..self.keys.len()).filter(is_first).map(task).collect()
    }

    fn keep(&mut self, ended: Vec<Ended>) -> Result<(), Failure> {
        if ended.is_empty() {
            return Ok(());
        }
        self.ended += ended.len();
        let (mut runs, mut rows) = (Vec::new(), Vec::new());
        for Ended { number, ending } in ended {
            match &ending.result {
                Ok(outputs) => self.check_responses(outputs)?,
                Err(message) => {
                    let levels: Vec<&str> =
                        self.planned.runs[number].levels.iter().map(|(text, _)| text.as_str()).collect();
                    self.failed.push(format!("{}: {message}", levels.join(", ")));
                }
            }
            let key = self.keys[number].clone();
            rows.extend(self.rows[&key].iter().map(|row| self.row(*row, ending.result.as_ref().ok())));
            runs.push(RunRecord { key, inputs: self.planned.runs[number].inputs.clone(), ending });
        }
        Ok(self.store.add(self.id, &runs, &rows)?)
    }

    fn row(&self, number: usize, outputs: Option<&Outputs>) -> StudyRow {
        let PlannedRun { point, repetition, levels, inputs } = &self.planned.runs[number];
        let value = |response: &ResponseSpec| outputs.and_then(|outputs| value(&response.figure, outputs));
        StudyRow {
            row: number as u64,
            point: *point,
            repetition: *repetition,
            seed: inputs.seed,
            key: self.keys[number].clone(),
            is_done: outputs.is_some(),
            levels: levels.clone(),
            responses: self.study.responses.iter().map(value).collect(),
        }
    }

    /// A response that no run has is a mistake in the study: it is found out with the first run.
    fn check_responses(&mut self, outputs: &Outputs) -> Result<(), Failure> {
        if self.responses_known {
            return Ok(());
        }
        for response in &self.study.responses {
            let names = match &response.figure {
                Figure::Named(name) => vec![name],
                Figure::Ratio(one, other) => vec![one, other],
            };
            if let Some(name) = names.into_iter().find(|name| !outputs.figures.contains_key(*name)) {
                let known: Vec<&str> = outputs.figures.keys().map(String::as_str).collect();
                let message = format!("runs of this study have no figure `{name}`");
                let remedy = format!("choose one of {}", known.join(", "));
                return Err(self.study.error(&response.key, message, remedy).into());
            }
        }
        self.responses_known = true;
        Ok(())
    }
}

/// What a run says of a figure.
pub(crate) fn value(figure: &Figure, outputs: &Outputs) -> Option<f64> {
    let named = |name: &String| outputs.figures.get(name).copied();
    match figure {
        Figure::Named(name) => named(name),
        Figure::Ratio(one, other) => Some(named(one)? / named(other)?).filter(|ratio| ratio.is_finite()),
    }
}
