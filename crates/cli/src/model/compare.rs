//! `hpcast model compare`: what changed from one model file to another.

use std::path::{Path, PathBuf};

use clap::Args;
use hpcast_calibrate::compare::{Change, Comparison, Extreme, Model, compare};
use hpcast_models::compute::{BoundKernel, Kernel, ModelFile, RooflineFigures, Row, Term};
use hpcast_report::{Cell, Column, ComparisonPlot, Curves, ProcessorRatio, Table, check_output, json, write_file};
use serde_json::{Value, json};

use super::curves::Walk;
use super::summary::formula;
use crate::failure::Failure;
use crate::print;

/// Options of `hpcast model compare`.
#[derive(Args)]
pub(crate) struct Compare {
    /// The model file to compare with
    before: PathBuf,
    /// The model file that is compared
    after: PathBuf,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Write all processors and figures to a file; `-` prints them instead of the text
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,
    /// Draw both models of a kernel, and how processors changed
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

/// A difference is more than chance if that makes one as large less often than this. There may be hundreds of processors.
const LEVEL: f64 = 0.001;
/// Processors that are listed, at most: those that changed most.
const LISTED: usize = 10;

/// A kernel that both files have.
struct Pair<'f> {
    name: &'f str,
    kernels: [&'f Kernel; 2],
    comparison: Comparison,
}

impl Compare {
    pub fn run(&self) -> Result<(), Failure> {
        let is_file = |path: &&PathBuf| *path != Path::new("-");
        self.json
            .iter()
            .filter(is_file)
            .chain(&self.svg)
            .try_for_each(|path| check_output(path, [self.before.as_path(), &self.after]))?;
        let files = [ModelFile::load(&self.before)?, ModelFile::load(&self.after)?];
        let pairs = self.pairs(&files)?;
        if let Some(path) = &self.svg {
            let [pair] = &pairs[..] else {
                let names: Vec<&str> = pairs.iter().map(|pair| pair.name).collect();
                let which = if names.is_empty() { "none".into() } else { names.join(", ") };
                return Err(Failure::input(format!(
                    "--svg draws one kernel: choose it with --kernel; both have {which}"
                )));
            };
            write_file(path, plot(&files, self.names(), pair).svg().as_bytes())?;
        }
        let document = self.json.as_ref().map(|_| json::document(&self.document(&files, &pairs)));
        if let (Some(path), Some(document)) = (&self.json, &document) {
            if path == Path::new("-") {
                return print(document);
            }
            write_file(path, document.as_bytes())?;
        }
        print(&self.text(&files, &pairs))
    }

    fn names(&self) -> [String; 2] {
        [&self.before, &self.after].map(|path| path.display().to_string())
    }

    fn pairs<'f>(&self, files: &'f [ModelFile; 2]) -> Result<Vec<Pair<'f>>, Failure> {
        if let Some(name) = &self.kernel {
            for (file, path) in files.iter().zip(self.names()) {
                if !file.kernels.contains_key(name) {
                    let known: Vec<&str> = file.kernels.keys().map(String::as_str).collect();
                    return Err(Failure::input(format!("{path} has no kernel `{name}`; it has {}", known.join(", "))));
                }
            }
        }
        let mut pairs = Vec::new();
        for (name, before) in &files[0].kernels {
            let Some(after) = files[1].kernels.get(name) else { continue };
            if self.kernel.as_ref().is_some_and(|wanted| wanted != name) {
                continue;
            }
            let model = |kernel, file: &ModelFile| Model { kernel, first_node: file.first_node };
            let comparison = compare(model(before, &files[0]), model(after, &files[1])).map_err(|error| {
                Failure::input(format!(
                    "{name}: {error}; compare models of the same sizes, or another one with --kernel"
                ))
            })?;
            pairs.push(Pair { name, kernels: [before, after], comparison });
        }
        Ok(pairs)
    }

    fn text(&self, files: &[ModelFile; 2], pairs: &[Pair]) -> String {
        let [before, after] = self.names();
        let mut text = format!("A: {}, {before}\nB: {}, {after}\n", files[0].name, files[1].name);
        for (label, names) in [("only in A", lacking(files, 0)), ("only in B", lacking(files, 1))] {
            if !names.is_empty() && self.kernel.is_none() {
                text += &format!("{label}: {}\n", names.join(", "));
            }
        }
        for pair in pairs {
            text += &format!("\n{}", describe(pair));
        }
        text
    }

    fn document(&self, files: &[ModelFile; 2], pairs: &[Pair]) -> Value {
        let kernels: serde_json::Map<String, Value> =
            pairs.iter().map(|pair| (pair.name.to_owned(), values(pair))).collect();
        let [before, after] = self.names();
        json!({
            "before": { "file": before, "name": files[0].name },
            "after": { "file": after, "name": files[1].name },
            "only_before": lacking(files, 0),
            "only_after": lacking(files, 1),
            "kernels": kernels,
        })
    }
}

/// Kernels that only this file has.
fn lacking(files: &[ModelFile; 2], which: usize) -> Vec<&str> {
    let other = &files[1 - which].kernels;
    files[which].kernels.keys().filter(|name| !other.contains_key(*name)).map(String::as_str).collect()
}

fn describe(pair: &Pair) -> String {
    let Pair { name, kernels, comparison } = pair;
    let mut text = format!("{name}\n");
    text += &coefficients(kernels);
    let Some(overall) = comparison.overall else {
        return text + "B / A             a model expects no time: there is no ratio\n";
    };
    let ranges: Vec<String> =
        comparison.ranges.iter().map(|(name, [least, most])| format!("{name} {least} to {most}")).collect();
    let over = match (ranges.is_empty(), comparison.is_measured) {
        (true, _) => String::new(),
        (false, true) => format!(", over {}", ranges.join(", ")),
        (false, false) => format!(", over {} (assumed: not all ranges are known)", ranges.join(", ")),
    };
    text += &format!("B / A             {:.4} on the geometric mean{}{over}\n", overall.ratio, doubt(&overall));
    if overall.error.is_some_and(|error| error > 0.0) && overall.freedom.is_none() {
        text += "                  as if errors were known exactly: a file does not say its degrees of freedom\n";
    }
    text += &format!("largest size      {:.4}\n", overall.largest);
    if let Some([most, least]) = &comparison.extremes {
        text += &format!(
            "most              {}\nleast             {}\n",
            extreme(comparison, most),
            extreme(comparison, least)
        );
    }
    text += &match comparison.noise.map(|noise| 100.0 * noise) {
        [0.0, 0.0] => "noise             none in both\n".to_owned(),
        [a, b] if a > 0.0 => format!("noise             A {a:.2} %, B {b:.2} % of the duration: {:.2} times\n", b / a),
        [a, b] => format!("noise             A {a:.2} %, B {b:.2} % of the duration\n"),
    };
    text + &most_changed(comparison)
}

/// How sure a ratio is.
fn doubt(change: &Change) -> String {
    let (Some([low, high]), Some(p)) = (change.interval(), change.p()) else { return String::new() };
    let verdict = if p < LEVEL { "more than chance" } else { "may be chance" };
    format!(" ({low:.4} to {high:.4}: {verdict})")
}

fn extreme(comparison: &Comparison, extreme: &Extreme) -> String {
    let sizes = comparison.ranges.iter().zip(&extreme.arguments);
    let mut at: Vec<String> = sizes.map(|((name, _), value)| format!("{name} = {value}")).collect();
    at.extend(extreme.processor.map(|(node, socket)| format!("node {node}, socket {socket}")));
    let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
    format!("{:.4}{at}", extreme.ratio)
}

/// Coefficients of processors that are not listed. Of models in pieces only the formulas.
fn coefficients([a, b]: &[&Kernel; 2]) -> String {
    if a.split.is_some() || b.split.is_some() {
        return format!("A                 {}\nB                 {}\n", formula(a), formula(b));
    }
    let sides = [a, b].map(|kernel| figures(kernel));
    let mut names: Vec<&String> = sides[0].iter().map(|(name, _)| name).collect();
    names
        .extend(sides[1].iter().map(|(name, _)| name).filter(|name| !sides[0].iter().any(|(known, _)| known == *name)));
    let mut table = Table::new(["term", "A", "B", "B / A"].map(|name| Column::new(name, name)));
    for name in names {
        let [first, second] =
            [0, 1].map(|side: usize| sides[side].iter().find(|(known, _)| known == name).map(|(_, value)| *value));
        let cell = |number: Option<f64>| number.map_or(Cell::Empty, |number| Cell::Text(format!("{number:.4e}")));
        let ratio = first.zip(second).filter(|(first, _)| *first != 0.0).map(|(first, second)| second / first);
        let ratio = ratio.map_or(Cell::Empty, |ratio| Cell::Text(format!("{ratio:.4}")));
        table.push([Cell::Text(name.clone()), cell(first), cell(second), ratio]);
    }
    let roofs = [a, b].map(|kernel| kernel.roofline.as_ref().map(|model| model.roofs.word()));
    if roofs.iter().any(Option::is_some) {
        let [first, second] = roofs.map(|word| word.map_or(Cell::Empty, |word| Cell::Text(word.into())));
        table.push([Cell::Text("roofs".into()), first, second, Cell::Empty]);
    }
    table.text()
}

/// Coefficients by their terms, or what a roofline has instead, but for rates without a limit.
fn figures(kernel: &Kernel) -> Vec<(String, f64)> {
    let Some(row) = kernel.rows.first() else { return Vec::new() };
    let terms = kernel.terms.iter().map(Term::to_string).zip(row.seconds.iter().copied());
    let roofline = row.roofline.iter().flat_map(RooflineFigures::named);
    let limits = roofline.filter(|(_, value)| value.is_finite()).map(|(name, value)| (name.to_owned(), value));
    terms.chain(limits).collect()
}

/// The processors that changed otherwise than the mean of all, most of all those first.
fn most_changed(comparison: &Comparison) -> String {
    let mut order: Vec<&((u32, u32), Change)> = comparison.processors.iter().collect();
    if order.len() < 2 {
        return String::new();
    }
    order.sort_by(|(_, a), (_, b)| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    let mut table =
        Table::new(["node", "socket", "changed by", "largest size", ""].map(|name| Column::new(name, name)));
    for ((node, socket), change) in order.iter().take(LISTED) {
        let (node, socket) = (Cell::Count(u64::from(*node)), Cell::Count(u64::from(*socket)));
        let which = if change.ratio > 1.0 { "slower" } else { "faster" };
        let says = format!("{which}{}", doubt(change));
        let shares = [change.ratio, change.largest].map(|ratio| Cell::Share(ratio - 1.0));
        table.push([node, socket].into_iter().chain(shares).chain([Cell::Text(says)]));
    }
    let slower = order.iter().filter(|(_, change)| change.ratio > 1.0).count();
    format!("processors        {} slower, {} not; most changed:\n{}", slower, order.len() - slower, table.text())
}

fn values(pair: &Pair) -> Value {
    let Pair { kernels, comparison, .. } = pair;
    let change = |change: &Change| {
        let (interval, p, freedom) = (change.interval(), change.p(), change.freedom);
        json!({ "ratio": change.ratio, "interval": interval, "p": p, "degrees_of_freedom": freedom })
    };
    let extreme = |extreme: &Extreme| {
        let arguments: serde_json::Map<String, Value> = comparison
            .ranges
            .iter()
            .zip(&extreme.arguments)
            .map(|((name, _), value)| (name.clone(), json!(value)))
            .collect();
        let (node, socket) = extreme.processor.unzip();
        json!({ "ratio": extreme.ratio, "arguments": arguments, "node": node, "socket": socket })
    };
    let processors: Vec<Value> = comparison
        .processors
        .iter()
        .map(|((node, socket), one)| {
            let mut value = change(one);
            value["node"] = json!(node);
            value["socket"] = json!(socket);
            value
        })
        .collect();
    let ranges: serde_json::Map<String, Value> =
        comparison.ranges.iter().map(|(name, range)| (name.clone(), json!(range))).collect();
    let roofline = |row: &Row| -> Option<Value> {
        Some(row.roofline?.named().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect())
    };
    let model = |kernel: &Kernel| {
        let rows: Vec<Value> = kernel
            .processors()
            .next()
            .unwrap_or_default()
            .iter()
            .map(|row| json!({ "below": row.below, "seconds": row.seconds, "roofline": roofline(row) }))
            .collect();
        let terms: Vec<String> = kernel.terms.iter().map(ToString::to_string).collect();
        let roofs = kernel.roofline.as_ref().map(|model| model.roofs.word());
        json!({ "terms": terms, "split": kernel.split.as_ref().map(ToString::to_string), "roofs": roofs, "pieces": rows })
    };
    json!({
        "before": model(kernels[0]),
        "after": model(kernels[1]),
        "ranges": ranges,
        "ranges_are_measured": comparison.is_measured,
        "overall": comparison.overall.as_ref().map(change),
        "most": comparison.extremes.as_ref().map(|[most, _]| extreme(most)),
        "least": comparison.extremes.as_ref().map(|[_, least]| extreme(least)),
        "relative_noise": comparison.noise,
        "processors": processors,
    })
}

fn plot(files: &[ModelFile; 2], paths: [String; 2], pair: &Pair) -> ComparisonPlot {
    let ranges = pair.comparison.ranges.iter().cloned().collect();
    let curves = Walk::all(&pair.kernels, &ranges).into_iter().map(|walk| {
        let both = pair.kernels.iter().zip(&paths).enumerate();
        let curve = |(place, (kernel, path)): (usize, (&&Kernel, &String))| {
            let bound = BoundKernel::new(kernel, &walk.arguments()).ok()?;
            Some(walk.curve(&bound, 0, path.clone(), Some(place)))
        };
        Curves { argument: walk.label.clone(), curves: both.filter_map(curve).collect() }
    });
    let ratio = |((node, socket), change): &((u32, u32), Change)| ProcessorRatio {
        processor: (*node, *socket),
        ratio: change.ratio,
        interval: change.interval(),
    };
    let mut notes = vec![format!("A: {} ({}). B: {} ({}).", files[0].name, paths[0], files[1].name, paths[1])];
    if let Some(overall) = pair.comparison.overall {
        let percent = 100.0 * (overall.ratio - 1.0);
        let which = if percent >= 0.0 { "longer" } else { "shorter" };
        let percent = percent.abs();
        notes.push(format!("B takes {percent:.2} % {which} than A, on the geometric mean over sizes and processors."));
    }
    ComparisonPlot {
        title: format!("{}: B beside A", pair.name),
        names: ["A".into(), "B".into()],
        notes,
        curves: curves.collect(),
        processors: pair.comparison.processors.iter().map(ratio).collect(),
    }
}
