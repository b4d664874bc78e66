//! `hpcast fit`: models from measurements.

mod cluster;
mod network;
mod roofline;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use hpcast_calibrate::kernel::{self, Errors, Recipe};
use hpcast_models::compute::{CallTable, DataFile, Kernel, Made, ModelFile, Noise, Term, TermError};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::{Provenance, check_output, sha256};
use hpcast_stats::Elimination;

pub(crate) use cluster::add_days;

use crate::call_table::{CallData, CallOptions};
use crate::failure::Failure;
use crate::running::BUILD;
use crate::{model, print};

/// What to fit.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Fit how long a kernel takes, to measured calls (CSV: a row a call)
    Kernel(Box<FitKernel>),
    /// Fit rate, bandwidth and overheads of a kernel, to measured calls (CSV: a row a call)
    Roofline(Box<roofline::FitRoofline>),
    /// Fit how processors and days differ, to daily fits of a kernel (CSV: a row a processor and day)
    Cluster(cluster::FitCluster),
    /// Fit what messages cost, to measured sends, receives and ping-pongs (CSV: a row a call)
    Network(Box<network::FitNetwork>),
}

/// Options of `hpcast fit kernel`.
#[derive(Args)]
pub(crate) struct FitKernel {
    /// Measured calls: a column for each argument, one for the duration, and, if processors differ, node and socket
    calls: PathBuf,
    /// What model files call the kernel, such as dgemm
    #[arg(long, value_name = "NAME")]
    kernel: String,
    /// Terms to choose from, such as 1,M*N*K,M*N; those that explain nothing are left out
    #[arg(long, value_name = "TERMS", value_delimiter = ',', required = true)]
    terms: Vec<String>,
    /// Terms that are kept in any case; `all` keeps them all
    #[arg(long, value_name = "TERMS", value_delimiter = ',')]
    keep: Vec<String>,
    /// Terms are kept if there is less than this chance that they explain nothing
    #[arg(long, default_value_t = Elimination::default().level, value_name = "PROBABILITY")]
    level: f64,
    #[command(flatten)]
    columns: CallOptions,
    /// In pieces: what decides between them, such as M*N. Where the terms are 1 and this, breakpoints are found
    #[arg(long, value_name = "TERM")]
    split: Option<String>,
    /// Where the pieces end: values of --split
    #[arg(long, value_name = "VALUES", value_delimiter = ',', requires = "split")]
    pieces_at: Vec<f64>,
    /// Which errors are to be small (default: absolute; in pieces: relative)
    #[arg(long, value_enum)]
    errors: Option<ErrorChoice>,
    /// How calls of one size differ
    #[arg(long, value_enum, default_value_t)]
    noise: NoiseChoice,
    /// Add the kernel to this model file instead of making a new one
    #[arg(long, value_name = "FILE.toml")]
    add_to: Option<PathBuf>,
    /// The model file to write
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum NoiseChoice {
    /// With a lower limit and a tail to the right
    #[default]
    HalfNormal,
    /// Symmetric
    Normal,
    /// Each call has one of several modes, which are found in the calls
    Modes,
    /// Not at all
    None,
}

#[derive(Clone, Copy, ValueEnum)]
enum ErrorChoice {
    /// Seconds: long calls count most
    Absolute,
    /// Parts of the duration: all sizes count alike
    Relative,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Kernel(options) => options.run(),
        Command::Roofline(options) => options.run(),
        Command::Cluster(options) => options.run(),
        Command::Network(options) => options.run(),
    }
}

impl FitKernel {
    fn run(&self) -> Result<(), Failure> {
        check_output(&self.output, [self.calls.as_path()])?;
        let source = Source::read(&self.calls)?;
        let recipe = self.recipe()?;
        let arguments = arguments(&recipe);
        let layout = CallTable { file: file_name(&self.calls), ..self.columns.layout(&source, &arguments, None)? };
        let data = CallData::read(&source, layout.clone())?;
        let mut kernel = kernel::fit(&data.calls(&arguments), &recipe)
            .map_err(|error| Diagnostic::error(error.to_string(), error.remedy()).within(&source))?;
        let mut file = file_to_fill(self.add_to.as_deref(), &self.calls)?;
        file.made = Some(made(&self.calls, &source, data.rows(), file.made.take()));
        if let Some(fit) = &mut kernel.fit {
            fit.data = Some(layout);
        }
        number_nodes(&mut file, &kernel);
        let text = model::details(&self.kernel, &kernel);
        file.kernels.insert(self.kernel.clone(), kernel);
        model::write(&file, &self.output)?;
        print(&format!("written: {}\n\n{text}", self.output.display()))
    }

    fn recipe(&self) -> Result<Recipe, Failure> {
        let terms = terms(&self.terms)?;
        let pinned = if self.keep == ["all"] { terms.clone() } else { self::terms(&self.keep)? };
        if let Some(unknown) = pinned.iter().find(|term| !terms.contains(term)) {
            return Err(Failure::input(format!("--keep: `{unknown}` is none of the terms; add it to --terms")));
        }
        if !(self.level > 0.0 && self.level <= 1.0) {
            return Err(Failure::input("--level is a probability: write a number between 0 and 1, such as 0.001"));
        }
        let split = self.split.as_deref().map(term).transpose()?;
        if let Some(end) = self.pieces_at.iter().find(|end| !(end.is_finite() && **end > 0.0)) {
            return Err(Failure::input(format!("--pieces-at {end}: write numbers above zero, such as 30000")));
        }
        Ok(Recipe {
            terms,
            pinned,
            elimination: Elimination { level: self.level, ..Elimination::default() },
            noise: match self.noise {
                NoiseChoice::HalfNormal => Some(Noise::HalfNormal),
                NoiseChoice::Normal => Some(Noise::Normal),
                NoiseChoice::Modes => Some(Noise::Modes(Vec::new())),
                NoiseChoice::None => None,
            },
            errors: match (self.errors, &split) {
                (Some(ErrorChoice::Relative), _) | (None, Some(_)) => Errors::Relative,
                (Some(ErrorChoice::Absolute), _) | (None, None) => Errors::Absolute,
            },
            split,
            pieces_at: self.pieces_at.clone(),
        })
    }
}

/// An empty file that is called as the table, unless it is to be added to another.
fn file_to_fill(add_to: Option<&Path>, table: &Path) -> Result<ModelFile, Failure> {
    Ok(match add_to {
        Some(path) => ModelFile::load(path)?,
        None => ModelFile { name: stem(table), ..ModelFile::default() },
    })
}

/// The first kernel that lists processors says what nodes are called.
fn number_nodes(file: &mut ModelFile, kernel: &Kernel) {
    let nodes = |kernel: &Kernel| kernel.rows.iter().filter_map(|row| row.processor).map(|(node, _)| node).min();
    if file.kernels.values().all(|known| nodes(known).is_none()) {
        file.first_node = nodes(kernel).unwrap_or(file.first_node);
    }
}

/// How a file was made of measurements, after what it was made of before.
pub(crate) fn made(path: &Path, source: &Source, rows: u64, before: Option<Made>) -> Made {
    let provenance = Provenance::now(BUILD, std::env::args(), 1);
    let mut data = before.map_or_else(Vec::new, |made| made.data);
    let new = DataFile { file: file_name(path), sha256: sha256(source.text.as_bytes()), rows };
    if !data.contains(&new) {
        data.push(new);
    }
    Made {
        by: format!("hpcast {}", BUILD.version),
        on: provenance.date.chars().take(10).collect(),
        command: provenance.command.into_iter().skip(1).collect::<Vec<_>>().join(" "),
        data,
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The arguments that the terms are made of, each once.
fn arguments(recipe: &Recipe) -> Vec<&str> {
    let mut arguments: Vec<&str> = Vec::new();
    for name in recipe.terms.iter().chain(&recipe.split).flat_map(Term::names) {
        if !arguments.contains(&name) {
            arguments.push(name);
        }
    }
    arguments
}

fn term(text: &str) -> Result<Term, Failure> {
    text.parse().map_err(|error: TermError| Failure::input(format!("{error}; {}", TermError::REMEDY)))
}

fn terms(texts: &[String]) -> Result<Vec<Term>, Failure> {
    texts.iter().map(|text| term(text)).collect()
}

pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
