//! `hpcast model`: model files, which say how long kernels take.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use hpcast_apps::hpl::HplKernel;
use hpcast_calibrate::import::{ImportError, KernelTable, import_dgemm};
use hpcast_models::compute::{Arguments, BoundKernel, Kernel, ModelFile, Row, Unlisted};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::{Cell, Column, Table, check_writable, write_file};
use hpcast_units::{FlopRate, count};

use crate::failure::Failure;
use crate::print;

/// What to do with a model file.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a model file of published tables (CSV)
    Import {
        #[command(flatten)]
        tables: Tables,
        /// The model file to write
        #[arg(short, long, value_name = "FILE.toml")]
        output: PathBuf,
    },
    /// Show the kernels of a model file
    Show {
        /// The model file
        file: PathBuf,
    },
}

/// Published tables, and what to take from them.
#[derive(Args)]
pub(crate) struct Tables {
    /// Table of dgemm models, a row a processor or a row a node
    pub dgemm: PathBuf,
    /// Which set of the table: its `model_id` or `cluster_id`
    #[arg(long, value_name = "NAME")]
    set: String,
    /// Table of the other kernels; those that it does not list take no time
    #[arg(long, value_name = "KERNELS.csv")]
    pub kernels: Option<PathBuf>,
    /// What the table calls the machine's first node (default: the smallest number that it has)
    #[arg(long, value_name = "NUMBER")]
    first_node: Option<u32>,
    /// These kernels take no time
    #[arg(long, value_name = "KERNELS", value_delimiter = ',')]
    free: Vec<String>,
    /// No kernel varies from call to call
    #[arg(long)]
    no_noise: bool,
    /// Only these kernels vary from call to call
    #[arg(long, value_name = "KERNELS", value_delimiter = ',', conflicts_with = "no_noise")]
    no_noise_except: Option<Vec<String>>,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Import { tables, output } => import(tables, output),
        Command::Show { file } => print(&show(&ModelFile::load(file)?)),
    }
}

fn import(tables: &Tables, output: &Path) -> Result<(), Failure> {
    check_writable(output)?;
    let file = tables.file()?;
    write_file(output, file.to_toml().as_bytes())?;
    print(&format!("written: {}\n\n{}", output.display(), show(&file)))
}

impl Tables {
    /// The models that the tables hold.
    pub fn file(&self) -> Result<ModelFile, Failure> {
        let source = Source::read(&self.dgemm)?;
        let dgemm = import_dgemm(&source.text, &self.set).map_err(|error| unreadable(&source, &error))?;
        let mut file = ModelFile {
            name: format!("{}, set {}", stem(&self.dgemm), self.set),
            source: Some(self.sources()),
            first_node: self.first_node.unwrap_or_else(|| smallest_node(&dgemm)),
            ..ModelFile::default()
        };
        if let Some(path) = &self.kernels {
            let source = Source::read(path)?;
            file.kernels = KernelTable::read(&source.text).map_err(|error| unreadable(&source, &error))?.kernels;
            file.unlisted = Unlisted::Free;
        }
        file.kernels.insert("dgemm".into(), dgemm);
        for name in &self.free {
            check_name(&file, name)?;
            file.kernels.insert(name.clone(), Kernel::free());
        }
        let noisy = match &self.no_noise_except {
            Some(names) => names,
            None if self.no_noise => &Vec::new(),
            None => return Ok(file),
        };
        noisy.iter().try_for_each(|name| check_name(&file, name))?;
        for (name, kernel) in &mut file.kernels {
            if !noisy.contains(name) {
                *kernel = std::mem::take(kernel).without_noise();
            }
        }
        Ok(file)
    }

    fn sources(&self) -> String {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut text = format!("{} (set {})", name(&self.dgemm), self.set);
        if let Some(kernels) = &self.kernels {
            text += &format!(" and {}", name(kernels));
        }
        text
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn smallest_node(kernel: &Kernel) -> u32 {
    kernel.rows.iter().filter_map(|row| row.processor).map(|(node, _)| node).min().unwrap_or(0)
}

fn check_name(file: &ModelFile, name: &str) -> Result<(), Failure> {
    let known = HplKernel::ALL.iter().map(|kernel| kernel.name());
    if file.kernels.contains_key(name) || known.clone().any(|kernel| kernel == name) {
        return Ok(());
    }
    let known: Vec<&str> = known.collect();
    Err(Failure::input(format!("there is no kernel `{name}`; the kernels are {}", known.join(", "))))
}

fn unreadable(source: &Arc<Source>, error: &ImportError) -> Diagnostic {
    in_table(source, error.line(), &error.to_string(), error.remedy())
}

/// Where in a table something is wrong, and what to do about it.
pub(crate) fn in_table(source: &Arc<Source>, line: Option<u64>, message: &str, remedy: &str) -> Diagnostic {
    match line {
        Some(line) => {
            let message = message.strip_prefix(&format!("line {line}: ")).unwrap_or(message);
            Diagnostic::error(message, remedy).at(source, source.word(line as usize, 1))
        }
        None => Diagnostic::error(message, remedy).within(source),
    }
}

/// A product this large runs as fast as it gets.
const LARGE: u64 = 4096;

fn show(file: &ModelFile) -> String {
    let mut text = format!("{}\n", file.name);
    text.extend(file.source.as_ref().map(|source| format!("source: {source}\n")));
    text += match file.unlisted {
        Unlisted::Free => "kernels that are not listed take no time\n",
        Unlisted::Roofline => "kernels that are not listed: roofline of the machine\n",
    };
    text += &format!("the machine's first node is called {}\n\n", file.first_node);
    let columns = [("kernel", "kernel"), ("processors", "processors"), ("noise", "noise"), ("seconds", "seconds")];
    let mut table = Table::new(columns.map(|(header, key)| Column::new(header, key)));
    for (name, kernel) in &file.kernels {
        let processors = match kernel.processors().count() - 1 {
            0 => Cell::Text("all alike".into()),
            processors => Cell::Text(count(processors as u64)),
        };
        let noise = if kernel.is_noisy() { "yes" } else { "no" };
        table.push([Cell::Text(name.clone()), processors, Cell::Text(noise.into()), Cell::Text(formula(kernel))]);
    }
    text += &table.text();
    text.extend(file.kernels.get("dgemm").and_then(dgemm_speed));
    text
}

/// What a call takes where nothing else is said: a sum over the terms.
pub(crate) fn formula(kernel: &Kernel) -> String {
    let [first, ..] = &kernel.rows[..] else { return String::new() };
    let mut text = String::new();
    for (term, coefficient) in kernel.terms.iter().zip(&first.seconds).filter(|(_, number)| **number != 0.0) {
        let sign = match (text.is_empty(), *coefficient < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let term = if term.to_string() == "1" { String::new() } else { format!(" {term}") };
        text += &format!("{sign}{:.4e}{term}", coefficient.abs());
    }
    if text.is_empty() { "0".into() } else { text }
}

/// How fast a large matrix product is on the processors.
fn dgemm_speed(kernel: &Kernel) -> Option<String> {
    let bound = BoundKernel::new(kernel, HplKernel::Dgemm.arguments()).ok()?;
    let size = Arguments::new([LARGE as f64; 3]);
    let flops = 2.0 * (LARGE as f64).powi(3);
    let mut speeds: Vec<(f64, &Row)> = kernel
        .processors()
        .enumerate()
        .map(|(number, rows)| (flops / bound.expectation(number, &size), &rows[0]))
        .collect();
    if speeds.len() > 1 {
        // Those that are not listed do not exist.
        speeds.remove(0);
    }
    speeds.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mean = speeds.iter().map(|(speed, _)| speed).sum::<f64>() / speeds.len() as f64;
    let rate = |speed: f64| FlopRate::new(speed).human();
    let mut text = format!("\ndgemm with M = N = K = {}: {}", count(LARGE), rate(mean));
    if let ([slowest, .., fastest], true) = (&speeds[..], mean.is_finite()) {
        let which = |(speed, row): &(f64, &Row)| {
            let (node, socket) = row.processor.unwrap_or_default();
            format!("{} (node {node}, socket {socket})", rate(*speed))
        };
        text += &format!(" on the mean, slowest {}, fastest {}", which(slowest), which(fastest));
    }
    mean.is_finite().then_some(text + "\n")
}
