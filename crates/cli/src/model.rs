//! `hpcast model`: model files, which say how long kernels take.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use hpcast_apps::hpl::HplKernel;
use hpcast_calibrate::import::{ImportError, KernelTable, import_dgemm};
use hpcast_models::compute::{
    Arguments, BoundKernel, Kernel, ModelFile, RooflineFigures, RooflineModel, Roofs, Row, Term, Unlisted,
};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::{Cell, Column, Table, check_writable, write_file};
use hpcast_units::{FlopRate, count};

use crate::failure::Failure;
use crate::{model_network, print};

/// What to do with a model file.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a model file of published tables (CSV)
    Import(Import),
    /// Make the network part of a model file of published parameters (CSV) or mixtures (JSON)
    ImportNetwork(model_network::ImportNetwork),
    /// Show the kernels of a model file
    Show {
        /// The model file
        file: PathBuf,
    },
}

/// Options of `hpcast model import`.
#[derive(Args)]
pub(crate) struct Import {
    /// Table of dgemm models, a row a processor or a row a node
    dgemm: PathBuf,
    /// Which set of the table: its `model_id` or `cluster_id`
    #[arg(long, value_name = "NAME")]
    set: String,
    /// Table of the other kernels; those that it does not list take no time
    #[arg(long, value_name = "KERNELS.csv")]
    kernels: Option<PathBuf>,
    /// The model file to write
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
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
        Command::Import(import) => import.run(),
        Command::ImportNetwork(import) => import.run(),
        Command::Show { file } => print(&show(&ModelFile::load(file)?)),
    }
}

impl Import {
    fn run(&self) -> Result<(), Failure> {
        check_writable(&self.output)?;
        let file = self.file()?;
        write_file(&self.output, file.to_toml().as_bytes())?;
        print(&format!("written: {}\n\n{}", self.output.display(), show(&file)))
    }

    fn file(&self) -> Result<ModelFile, Failure> {
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

pub(crate) fn show(file: &ModelFile) -> String {
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
    text.extend(file.network.as_ref().map(|network| format!("\n{}", model_network::show(network))));
    text
}

/// What a call takes where nothing else is said: a sum over the terms.
pub(crate) fn formula(kernel: &Kernel) -> String {
    let [first, ..] = &kernel.rows[..] else { return String::new() };
    if let (Some(model), Some(figures)) = (&kernel.roofline, &first.roofline) {
        return roofline(model, figures);
    }
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

/// Overheads, and one or both of the roofs.
fn roofline(model: &RooflineModel, figures: &RooflineFigures) -> String {
    let sum = |parts: &[(Term, f64)]| {
        let part = |(term, factor): &(Term, f64)| match term.to_string().as_str() {
            "1" => format!("{factor}"),
            term if *factor == 1.0 => term.to_owned(),
            term => format!("{factor} {term}"),
        };
        let parts: Vec<String> = parts.iter().map(part).collect();
        if parts.len() == 1 { parts[0].clone() } else { format!("({})", parts.join(" + ")) }
    };
    let RooflineFigures { rate, bandwidth, overhead, step, .. } = *figures;
    let mut beside = Vec::new();
    if overhead > 0.0 {
        beside.push(format!("{overhead:.4e}"));
    }
    if step > 0.0 && !model.work.steps.is_empty() {
        beside.push(format!("{step:.4e} {}", sum(&model.work.steps)));
    }
    let roof = |parts: &[(Term, f64)], rate: f64| format!("{} / {rate:.4e}", sum(parts));
    let roofs: Vec<String> = [(&model.work.flops, rate), (&model.work.bytes, bandwidth)]
        .into_iter()
        .filter(|(parts, rate)| !parts.is_empty() && rate.is_finite())
        .map(|(parts, rate)| roof(parts, rate))
        .collect();
    match (&roofs[..], model.roofs) {
        ([flops, bytes], Roofs::Longest) => beside.push(format!("max({flops}, {bytes})")),
        _ => beside.extend(roofs),
    }
    if beside.is_empty() { "0".into() } else { beside.join(" + ") }
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
