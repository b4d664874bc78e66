//! `hpcast model show`: what a model file says, and how well it fits what was measured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hpcast_calibrate::kernel::{Agreement, Calls};
use hpcast_models::compute::{Arguments, BoundKernel, CallTable, Kernel, MOST_ARGUMENTS, ModelFile};
use hpcast_platform::diagnostic::Source;
use hpcast_report::{FitPlot, FitPoint, check_output, sha256, write_file};
use hpcast_units::count;

use super::curves::{MOST_CALLS, Walk, expression};
use super::summary::{by_duration, details, head, summary};
use crate::call_table::{CallData, CallOptions};
use crate::failure::Failure;
use crate::print;

/// Options of `hpcast model show`.
#[derive(Args)]
pub(crate) struct Show {
    /// The model file
    file: PathBuf,
    /// All about this kernel (default: the only one)
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Draw the kernel's model with the calls that it was fitted to, if their table is beside the file or here
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Measured calls to compare the kernel's model with
    #[arg(long, value_name = "FILE.csv")]
    data: Option<PathBuf>,
    /// Only this processor
    #[arg(long, value_name = "NODE.SOCKET")]
    processor: Option<String>,
    #[command(flatten)]
    columns: CallOptions,
}

impl Show {
    pub fn run(&self) -> Result<(), Failure> {
        self.svg
            .iter()
            .try_for_each(|path| check_output(path, [self.file.as_path()].into_iter().chain(self.data.as_deref())))?;
        let file = ModelFile::load(&self.file)?;
        let wants_one = self.kernel.is_some() || self.svg.is_some() || self.data.is_some() || self.processor.is_some();
        if !wants_one && file.kernels.len() != 1 {
            return print(&summary(&file));
        }
        let (name, kernel) = super::chosen(&file, self.kernel.as_deref())?;
        let looked_at = if wants_one { self.look_at(&file, name, kernel)? } else { String::new() };
        print(&format!("{}\n{}{looked_at}", head(&file), details(name, kernel)))
    }

    /// Compares with measured calls, and draws.
    fn look_at(&self, file: &ModelFile, name: &str, kernel: &Kernel) -> Result<String, Failure> {
        let one = self.processor.as_deref().map(|text| processor(text, kernel)).transpose()?;
        let arguments = arguments(kernel)?;
        let mut text = String::new();
        let mut notes = Vec::new();
        let found = self.find_data(file, kernel)?;
        let mut data = None;
        if let Some(found) = &found {
            let layout = self.columns.layout(&found.source, &arguments, own_table(kernel))?;
            data = Some(CallData::read(&found.source, layout)?);
            notes.push(format!("Calls: {}. {}", found.source.name, found.remark).trim_end().to_owned());
        } else if let Some(missing) = own_table(kernel) {
            notes.push(format!("The table {} is not here: name it with --data.", missing.file));
        }
        text.extend(notes.iter().map(|note| format!("\n{note}\n")));
        let calls = data.as_ref().map(|data| only(data.calls(&arguments), one));
        let kept = calls.as_ref().map(OwnedCalls::calls);
        if let Some(calls) = &kept {
            if calls.seconds.is_empty() {
                let (node, socket) = one.unwrap_or_default();
                return Err(Failure::input(format!(
                    "no call was measured on node {node}, socket {socket}; choose another --processor"
                )));
            }
            let is_new = self.data.is_some() || one.is_some() || found.is_some_and(|found| !found.remark.is_empty());
            if is_new {
                let Agreement { sizes, relative_error, ranges } = Agreement::new(kernel, calls);
                let (points, percent) = (count(calls.seconds.len() as u64), 100.0 * relative_error);
                text += &format!("{points} calls of {} sizes, mean error {percent:.2} %\n\n", count(sizes));
                text += &by_duration(&ranges);
            }
        }
        if let Some(path) = &self.svg {
            write_file(path, plot(file, name, kernel, kept.as_ref(), one, notes).svg().as_bytes())?;
            text += &format!("\nwritten: {}\n", path.display());
        }
        Ok(text)
    }

    /// The table that was named, or the one that the model was fitted to.
    fn find_data(&self, file: &ModelFile, kernel: &Kernel) -> Result<Option<Found>, Failure> {
        if let Some(path) = &self.data {
            return Ok(Some(Found { source: Source::read(path)?, remark: String::new() }));
        }
        let Some(table) = own_table(kernel) else { return Ok(None) };
        let beside = self.file.parent().unwrap_or(Path::new("")).join(&table.file);
        let Some(path) = [beside, PathBuf::from(&table.file)].into_iter().find(|path| path.is_file()) else {
            return Ok(None);
        };
        let source = Source::read(&path)?;
        let hash = sha256(source.text.as_bytes());
        let data = file.made.iter().flat_map(|made| &made.data);
        let is_same = data.filter(|data| data.file == table.file).any(|data| data.sha256 == hash);
        let differs = "It is not the table that the model was fitted to: its SHA-256 differs.";
        Ok(Some(Found { source, remark: if is_same { String::new() } else { differs.into() } }))
    }
}

fn plot(
    file: &ModelFile,
    name: &str,
    kernel: &Kernel,
    calls: Option<&Calls>,
    one: Option<(u32, u32)>,
    mut notes: Vec<String>,
) -> FitPlot {
    let where_ = one.map_or(String::new(), |(node, socket)| format!(", node {node}, socket {socket}"));
    if let Some(fit) = &kernel.fit {
        let percent = 100.0 * fit.relative_error;
        notes.push(format!("R squared {:.6}, mean error {percent:.2} % of a size's mean.", fit.r_squared));
        notes.extend(fit.warnings.iter().map(|warning| format!("Warning: {warning}.")));
    }
    let unknown = kernel.arguments().into_iter().any(|argument| !kernel.measured.contains_key(argument));
    if unknown && calls.is_none() {
        notes.push("The file does not say which sizes were measured: these are assumed.".into());
    }
    let mut plot = FitPlot { title: format!("{name}{where_}: {}", file.name), notes, ..FitPlot::default() };
    let walks = Walk::all(&[kernel], &kernel.measured);
    if calls.is_none() || expression(kernel).is_some() {
        plot.curves = walks.iter().map(|walk| walk.curves(kernel, one)).collect();
    }
    if let Some(calls) = calls {
        fill(&mut plot, kernel, calls);
    }
    plot
}

/// A table that was found.
struct Found {
    source: Arc<Source>,
    /// What is odd about it.
    remark: String,
}

/// The table that a model was fitted to.
fn own_table(kernel: &Kernel) -> Option<&CallTable> {
    kernel.fit.as_ref()?.data.as_ref()
}

/// Node and socket, as in 13.1; the model must list them.
fn processor(text: &str, kernel: &Kernel) -> Result<(u32, u32), Failure> {
    let pair = text.split_once('.').and_then(|(node, socket)| Some((node.parse().ok()?, socket.parse().ok()?)));
    let Some((node, socket)) = pair else {
        return Err(Failure::input(format!("--processor {text}: write node and socket, such as 13.1")));
    };
    if kernel.rows.iter().any(|row| row.processor == Some((node, socket))) {
        return Ok((node, socket));
    }
    let listed: Vec<String> = kernel
        .processors()
        .filter_map(|rows| rows[0].processor)
        .map(|(node, socket)| format!("{node}.{socket}"))
        .collect();
    Err(Failure::input(match &listed[..] {
        [] => format!("--processor {text}: the model is the same for all processors"),
        [only] => format!("--processor {text}: the model lists only {only}"),
        [first, .., last] => format!("--processor {text}: the model does not list it; it lists {first} to {last}"),
    }))
}

/// The arguments to look at: those of the terms, and others that were measured.
fn arguments(kernel: &Kernel) -> Result<Vec<&str>, Failure> {
    let mut names = kernel.arguments();
    for name in own_table(kernel).into_iter().flat_map(|table| table.arguments.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    match names.len() {
        0..=MOST_ARGUMENTS => Ok(names),
        more => Err(Failure::input(format!("the model has {more} arguments, and a call has at most {MOST_ARGUMENTS}"))),
    }
}

/// Calls of which some were left out.
struct OwnedCalls {
    arguments: Vec<(String, Vec<f64>)>,
    seconds: Vec<f64>,
    processors: Vec<(u32, u32)>,
}

impl OwnedCalls {
    fn calls(&self) -> Calls<'_> {
        Calls {
            arguments: self.arguments.iter().map(|(name, values)| (name.clone(), values.as_slice())).collect(),
            seconds: &self.seconds,
            processors: self.processors.clone(),
        }
    }
}

/// The calls of one processor, where one was asked for and the table tells them apart.
fn only(calls: Calls, one: Option<(u32, u32)>) -> OwnedCalls {
    let is_kept = |call: &usize| {
        let processor = calls.processors.get(*call);
        one.is_none() || processor.is_none() || processor == one.as_ref()
    };
    let kept: Vec<usize> = (0..calls.seconds.len()).filter(is_kept).collect();
    let take = |values: &[f64]| kept.iter().map(|&call| values[call]).collect();
    OwnedCalls {
        arguments: calls.arguments.iter().map(|(name, values)| (name.clone(), take(values))).collect(),
        seconds: take(calls.seconds),
        processors: kept.iter().filter_map(|&call| calls.processors.get(call).copied()).collect(),
    }
}

/// Groups of calls that the noise is drawn for.
const GROUPS: usize = 32;
/// Calls of each that are asked.
const FEW: usize = 8;

/// Adds what was measured.
fn fill(plot: &mut FitPlot, kernel: &Kernel, calls: &Calls) {
    let names: Vec<&str> = calls.arguments.iter().map(|(name, _)| name.as_str()).collect();
    let Ok(bound) = BoundKernel::new(kernel, &names) else { return };
    let product = expression(kernel);
    let place = |name: &str| names.iter().position(|known| *known == name);
    let mut order: Vec<(f64, usize, Arguments)> = Vec::new();
    for call in 0..calls.seconds.len() {
        let arguments: Vec<f64> = calls.arguments.iter().map(|(_, values)| values[call]).collect();
        let bare = Arguments::from_slice(&arguments);
        let processor = calls.processors.get(call).map_or(0, |(node, socket)| bound.processor(*node, *socket));
        let modelled = bound.expectation(processor, &bare);
        let x = product.as_ref().map_or(0.0, |term| term.value(|name| place(name).map_or(0.0, |i| arguments[i])));
        plot.calls.push(FitPoint { x, arguments, measured: calls.seconds[call], modelled });
        order.push((modelled, processor, bare));
    }
    plot.arguments = names.iter().map(|name| (*name).to_owned()).collect();
    if bound.is_noisy() {
        order.retain(|(modelled, ..)| *modelled > 0.0);
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [shortest, longest] = [order.first(), order.last()].map(|call| call.map_or(1.0, |call| call.0.ln()));
        let place = |modelled: f64| ((modelled.ln() - shortest) / (longest - shortest) * GROUPS as f64) as usize;
        for group in order.chunk_by(|a, b| place(a.0) == place(b.0)) {
            // A few of them: arguments differ, although durations do not.
            let few: Vec<_> = group.iter().step_by(group.len().div_ceil(FEW)).collect();
            let mean = |part: f64| {
                let parts = few
                    .iter()
                    .map(|(modelled, processor, arguments)| bound.quantile(*processor, arguments, part) / modelled);
                parts.sum::<f64>() / few.len() as f64
            };
            plot.noise.push((group[group.len() / 2].0, MOST_CALLS.map(mean)));
        }
        plot.noise.dedup_by(|a, b| a.0 == b.0);
    }
}
