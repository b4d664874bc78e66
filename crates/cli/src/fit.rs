//! `hpcast fit`: models from measurements.

mod network;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use hpcast_calibrate::kernel::{self, Calls, KernelError, Recipe};
use hpcast_calibrate::table::{Table, TableError};
use hpcast_models::compute::{DataFile, Kernel, Made, ModelFile, Noise, Term, TermError};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::{Provenance, check_writable, write_file};
use hpcast_stats::Elimination;
use hpcast_units::count;

use crate::failure::Failure;
use crate::fit_cluster::FitCluster;
use crate::fit_roofline::FitRoofline;
use crate::running::BUILD;
use crate::{model, print};

/// What to fit.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Fit how long a kernel takes, to measured calls (CSV: a row a call)
    Kernel(Box<FitKernel>),
    /// Fit rate, bandwidth and overheads of a kernel, to measured calls (CSV: a row a call)
    Roofline(Box<FitRoofline>),
    /// Fit how processors and days differ, to daily fits of a kernel (CSV: a row a processor and day)
    Cluster(FitCluster),
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
    /// The column of an argument, if it has another name than in the terms: M=rows
    #[arg(long, value_name = "ARGUMENT=COLUMN")]
    argument: Vec<String>,
    /// The column of durations, in seconds (default: seconds, duration or time)
    #[arg(long, value_name = "COLUMN")]
    seconds: Option<String>,
    /// One model for all processors, although the table tells them apart by columns node and socket (or cpu)
    #[arg(long)]
    alike: bool,
    /// Only rows whose column has this value: jobid=1960066
    #[arg(long, value_name = "COLUMN=VALUE")]
    only: Vec<String>,
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
    /// Not at all
    None,
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
        check_writable(&self.output)?;
        let source = Source::read(&self.calls)?;
        let recipe = self.recipe()?;
        let columns = self.columns(&source, &recipe)?;
        let names: Vec<&str> = columns.all().collect();
        let only = pairs("--only", &self.only)?;
        let table = Table::read(&source.text, &names, &only).map_err(|error| unreadable(&source, &error))?;
        let kernel = fit(&table, &columns, &recipe).map_err(|error| match error {
            FitFailure::Table(error) => Failure::from(unreadable(&source, &error)),
            FitFailure::Kernel(error) => Diagnostic::error(error.to_string(), error.remedy()).within(&source).into(),
        })?;
        let mut file = file_to_fill(self.add_to.as_deref(), &self.calls)?;
        file.made = Some(made(&self.calls, &source, table.rows() as u64, file.made.take()));
        let text = describe(&self.kernel, &kernel);
        file.kernels.insert(self.kernel.clone(), kernel);
        write_file(&self.output, file.to_toml().as_bytes())?;
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
        Ok(Recipe {
            terms,
            pinned,
            elimination: Elimination { level: self.level, ..Elimination::default() },
            noise: match self.noise {
                NoiseChoice::HalfNormal => Some(Noise::HalfNormal),
                NoiseChoice::Normal => Some(Noise::Normal),
                NoiseChoice::None => None,
            },
        })
    }

    /// Which columns hold what.
    fn columns(&self, source: &Arc<Source>, recipe: &Recipe) -> Result<Columns, Failure> {
        let header = Table::header(&source.text).map_err(|error| unreadable(source, &error))?;
        let find = |names: &[&str]| {
            let same = |name: &&&str| header.iter().any(|column| column.eq_ignore_ascii_case(name));
            names.iter().find(same).map(|name| (*name).to_owned())
        };
        let renamed = pairs("--argument", &self.argument)?;
        let mut arguments: Vec<(String, String)> = Vec::new();
        for name in recipe.terms.iter().flat_map(Term::names) {
            if !arguments.iter().any(|(known, _)| known == name) {
                let column = renamed.iter().find(|(argument, _)| argument == name).map(|(_, column)| column.as_str());
                arguments.push((name.to_owned(), column.unwrap_or(name).to_owned()));
            }
        }
        let usual = || find(&["seconds", "duration", "time"]).unwrap_or_else(|| "seconds".into());
        let processor = find(&["node"]).zip(find(&["socket", "cpu"])).filter(|_| !self.alike);
        Ok(Columns { arguments, seconds: self.seconds.clone().unwrap_or_else(usual), processor })
    }
}

/// An empty file that is called as the table, unless it is to be added to another.
fn file_to_fill(add_to: Option<&Path>, table: &Path) -> Result<ModelFile, Failure> {
    Ok(match add_to {
        Some(path) => ModelFile::load(path)?,
        None => ModelFile { name: stem(table), ..ModelFile::default() },
    })
}

/// How a file was made of that table, in addition to what was in it before.
pub(crate) fn made(path: &Path, source: &Source, rows: u64, before: Option<Made>) -> Made {
    let mut provenance = Provenance::now(BUILD, std::env::args(), 1);
    provenance.add_input(path, source.text.as_bytes());
    let sha256 = provenance.inputs.remove(0).sha256;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut data = before.map_or_else(Vec::new, |made| made.data);
    data.push(DataFile { file, sha256, rows });
    Made {
        by: format!("hpcast {}", BUILD.version),
        on: provenance.date.chars().take(10).collect(),
        command: provenance.command.into_iter().skip(1).collect::<Vec<_>>().join(" "),
        data,
    }
}

/// Columns of a table.
struct Columns {
    /// Argument and column.
    arguments: Vec<(String, String)>,
    seconds: String,
    /// Node and socket.
    processor: Option<(String, String)>,
}

impl Columns {
    fn all(&self) -> impl Iterator<Item = &str> {
        let arguments = self.arguments.iter().map(|(_, column)| column.as_str());
        let processor = self.processor.iter().flat_map(|(node, socket)| [node.as_str(), socket.as_str()]);
        arguments.chain([self.seconds.as_str()]).chain(processor)
    }
}

enum FitFailure {
    Table(TableError),
    Kernel(KernelError),
}

fn fit(table: &Table, columns: &Columns, recipe: &Recipe) -> Result<Kernel, FitFailure> {
    let column = |name: &str| table.column(name).map_err(FitFailure::Table);
    let mut calls = Calls { arguments: Vec::new(), seconds: column(&columns.seconds)?, processors: Vec::new() };
    for (argument, name) in &columns.arguments {
        calls.arguments.push((argument.clone(), column(name)?));
    }
    if let Some((node, socket)) = &columns.processor {
        let (nodes, sockets) = (column(node)?, column(socket)?);
        calls.processors = nodes.iter().zip(sockets).map(|(node, socket)| (*node as u32, *socket as u32)).collect();
    }
    kernel::fit(&calls, recipe).map_err(FitFailure::Kernel)
}

fn terms(texts: &[String]) -> Result<Vec<Term>, Failure> {
    let read = |text: &String| {
        text.parse().map_err(|error: TermError| Failure::input(format!("{error}; {}", TermError::REMEDY)))
    };
    texts.iter().map(read).collect()
}

/// What stands before and after the equals signs.
pub(crate) fn pairs(option: &str, texts: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let pair = |text: &String| match text.split_once('=') {
        Some((left, right)) => Ok((left.trim().to_owned(), right.trim().to_owned())),
        None => Err(Failure::input(format!("{option} {text}: write two names with `=` between them"))),
    };
    texts.iter().map(pair).collect()
}

pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

pub(crate) fn unreadable(source: &Arc<Source>, error: &TableError) -> Diagnostic {
    model::in_table(source, error.line(), &error.to_string(), error.remedy())
}

/// What came of it, for people.
pub(crate) fn describe(name: &str, kernel: &Kernel) -> String {
    let mut text = format!("{name} = {} s\n", model::formula(kernel));
    if let Some(fit) = &kernel.fit {
        let dropped: Vec<String> = fit.dropped.iter().map(Term::to_string).collect();
        let left_out = if dropped.is_empty() { "none".into() } else { dropped.join(", ") };
        text += &format!(
            "calls             {}, of {} sizes\nprocessors        {}\nR squared         {:.6}\n\
             mean error        {:.2} % of a size's mean\nterms left out    {left_out}\n",
            count(fit.points),
            count(fit.sizes),
            (kernel.processors().count() - 1).max(1),
            fit.r_squared,
            100.0 * fit.relative_error,
        );
        for warning in &fit.warnings {
            text += &format!("warning: {warning}\n");
        }
    }
    text
}
