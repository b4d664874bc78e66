//! `hpcast study`: many forecasts that differ in a few factors.

mod archive;
mod comparison;
mod execution;
mod external;
mod figures;
mod folder;
mod png;
mod pool;
mod record;
mod report;
mod summary;
mod uncertainty;
mod worker;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use hpcast_platform::MachineFile;
use hpcast_platform::diagnostic::{Diagnostic, Diagnostics, Source};
use hpcast_study::file::Study;
use hpcast_study::planned::{Planned, Trial};
use hpcast_units::count;

use crate::failure::Failure;
use crate::running::BUILD;
pub(crate) use execution::{note, origin_folder, value as figure_of};
pub(crate) use external::{Prepared, refusal};
pub(crate) use figures::of_json as figures_of;
pub(crate) use folder::{Folder, holds, is_in_use, location};
pub(crate) use pool::Pool;
pub(crate) use record::record;
pub(crate) use uncertainty::uncertainty;
use worker::Library;

/// Studies with more runs are not begun by mistake.
const MANY: u128 = 100_000;

/// More runs are not begun at all: they would not fit into memory.
const MOST: u128 = 10_000_000;

/// What to do about too many runs.
const FEWER: &str = "choose fewer levels or points, a fractional design or a Latin hypercube";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Do the runs of a study, or those that are missing
    Run(Box<RunOptions>),
    /// Say what a study would do, and whether anything is wrong with it
    Check(CheckOptions),
    /// Say what a study has found: a page, Markdown, pictures
    Report(report::ReportOptions),
    /// Say in what two studies differ, combination by combination
    Compare(comparison::CompareOptions),
    /// Pack a study, its runs and what came of them into one file
    Archive(archive::ArchiveOptions),
    /// Do all runs of an archive again, and compare
    Repeat(archive::RepeatOptions),
    /// Compare a repetition with its archive, byte for byte
    Verify(archive::VerifyOptions),
    /// Do the runs that are read from standard input
    #[command(hide = true)]
    Work {
        /// End when whoever has started it ends
        #[arg(long)]
        with_parent: bool,
    },
}

/// Options of `hpcast study run`.
#[derive(Args)]
pub(crate) struct RunOptions {
    /// The study
    file: PathBuf,
    /// Folder for the results; what is there already is not done again
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Where the runs are done
    #[arg(long, value_enum, default_value = "local", value_name = "PLACE")]
    on: Place,
    #[command(flatten)]
    pool: Pool,
    /// Options of sbatch, such as `--partition=short --time=60 --mem=4G`
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, default_value = "", hide_default_value = true)]
    slurm: String,
    /// Keep results in this PostgreSQL database (`postgres://user@host/name`) or SQLite file, and not in the folder
    #[arg(long, value_name = "URL|FILE")]
    store: Option<String>,
    /// Begin also a study of very many runs
    #[arg(long)]
    yes: bool,
}

/// Options of `hpcast study check`.
#[derive(Args)]
pub(crate) struct CheckOptions {
    /// The study
    file: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Place {
    /// On this computer
    Local,
    /// On a cluster: job arrays of Slurm
    Slurm,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(options) => execution::run(options),
        Command::Check(options) => check(options),
        Command::Report(options) => report::run(options),
        Command::Compare(options) => comparison::run(options),
        Command::Archive(options) => archive::archive(options),
        Command::Repeat(options) => archive::repeat(options),
        Command::Verify(options) => archive::verify(options),
        Command::Work { with_parent } => worker::work(*with_parent),
    }
}

impl RunOptions {
    /// What the study is called.
    fn name(&self) -> String {
        self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The hpcast that runs: another one may come to other results.
pub(crate) fn version() -> String {
    match BUILD.commit {
        Some(commit) => format!("{} {commit}", BUILD.version),
        None => BUILD.version.into(),
    }
}

fn check(options: &CheckOptions) -> Result<(), Failure> {
    let study = Study::load(&options.file)?;
    let runs = study.count()?;
    check_levels(&study)?;
    let mut text = format!("{}\n", study.title);
    for factor in &study.factors {
        text += &format!("  {}: {}\n", factor.name, factor.describe());
    }
    let times =
        if study.repetitions > 1 { format!(", each {} times", count(study.repetitions.into())) } else { String::new() };
    let runs = count(runs.try_into().unwrap_or(u64::MAX));
    crate::print(&format!("{text}{runs} runs ({} design{times})\n", study.design.name()))
}

/// All runs of a study. Everything that can be found out before the first run is.
fn plan(study: &Study, yes: bool) -> Result<Planned, Failure> {
    let runs = study.count()?;
    if runs > MOST || (runs > MANY && !yes) {
        let remedy = match runs > MOST {
            true => format!("{FEWER}: up to {} runs can be begun, with --yes", count(MOST as u64)),
            false => format!("add --yes if you mean it, or {FEWER}"),
        };
        let runs = count(runs.try_into().unwrap_or(u64::MAX));
        return Err(study.error("design", format!("the study has {runs} runs"), remedy).into());
    }
    check_levels(study)?;
    Ok(study.plan(&version())?)
}

/// Finds out whether every level of every factor means something. Trials differ from the first in one level each.
pub(crate) fn check_levels(study: &Study) -> Result<(), Failure> {
    let mut failures = Vec::new();
    let trials = study.trials(&version())?;
    for trial in &trials {
        failures.push(failure_of(study, trial)?);
    }
    let Some(wrong) = failures.iter().position(Option::is_some) else { return Ok(()) };
    let Trial { key, run, .. } = &trials[wrong];
    let key = match failures.iter().position(Option::is_none) {
        // If the first fails and another does not, the level is to blame in which they differ.
        Some(cured) if wrong == 0 => first_level(&trials[cured].key),
        Some(_) => key.clone(),
        None => match factor_to_blame(study)? {
            Some(key) => key,
            None => {
                check_machine(study)?;
                "program".into()
            }
        },
    };
    let levels: Vec<&str> = run.levels.iter().map(|(text, _)| text.as_str()).collect();
    let mut diagnostics = Diagnostics::new();
    for failure in failures.iter().skip(wrong).take(1).flatten() {
        for (message, remedy) in said(failure, &levels.join(", ")) {
            diagnostics.push(study.error(&key, message, remedy));
        }
    }
    Err(diagnostics.into())
}

/// What is wrong with the machine file before anything is changed in it is said where it stands.
fn check_machine(study: &Study) -> Result<(), Failure> {
    if study.machine_changes.is_empty() {
        let path = study.folder.join(&study.machine);
        MachineFile::parse(&Source::read(&path)?, path.parent().unwrap_or(Path::new("")))?.build()?;
    }
    Ok(())
}

/// What is wrong with a trial, if anything is.
fn failure_of(study: &Study, trial: &Trial) -> Result<Option<Failure>, Failure> {
    let mut library = Library::default();
    trial.documents.iter().for_each(|(fingerprint, document)| library.add(fingerprint.clone(), document.clone()));
    Ok(folder::within(&study.folder, || library.check(&trial.run.inputs))?.err())
}

/// The key of the factor without which everything would be right, such as one of a key that no machine has.
fn factor_to_blame(study: &Study) -> Result<Option<String>, Failure> {
    for factor in 0..study.factors.len() {
        if let Some(trial) = study.without_changes_of(factor, &version())?
            && failure_of(study, &trial)?.is_none()
        {
            return Ok(Some(trial.key));
        }
    }
    Ok(None)
}

/// The first level of the factor whose level has this key, such as `factor[1].levels[0]`.
fn first_level(key: &str) -> String {
    key.rfind('[').map_or(key.into(), |place| format!("{}[0]", &key[..place]))
}

/// What is wrong with a combination of levels, and what to do about it.
fn said(failure: &Failure, levels: &str) -> Vec<(String, String)> {
    match failure {
        Failure::Files(diagnostics) => {
            let one =
                |diagnostic: &Diagnostic| (format!("{levels}: {}", diagnostic.message), diagnostic.remedy.clone());
            diagnostics.iter().map(one).collect()
        }
        other => {
            let message = other.message();
            let (message, remedy) = message.rsplit_once("; ").unwrap_or((&message, "correct the level"));
            vec![(format!("{levels}: {message}"), remedy.into())]
        }
    }
}
