//! What a model file says, for people.

use hpcast_apps::hpl::HplKernel;
use hpcast_models::compute::{
    Arguments, BoundKernel, ErrorRange, Fit, Kernel, ModelFile, Noise, RooflineFigures, RooflineModel, Roofs, Row,
    Term, Unlisted,
};
use hpcast_report::{Cell, Column, Table};
use hpcast_units::{FlopRate, Seconds, count};

/// Where a file comes from, and what holds for all its kernels.
pub(crate) fn head(file: &ModelFile) -> String {
    let mut text = format!("{}\n", file.name);
    text.extend(file.source.as_ref().map(|source| format!("source: {source}\n")));
    if let Some(made) = &file.made {
        text += &format!("made by {} on {}: hpcast {}\n", made.by, made.on, made.command);
        for data in &made.data {
            let digits: String = data.sha256.chars().take(12).collect();
            let rows = if data.rows > 0 { format!(" {} rows,", count(data.rows)) } else { String::new() };
            text += &format!("data: {},{rows} SHA-256 {digits}...\n", data.file);
        }
    }
    text += match file.unlisted {
        Unlisted::Free => "kernels that are not listed take no time\n",
        Unlisted::Roofline => "kernels that are not listed: roofline of the machine\n",
    };
    text + &format!("the machine's first node is called {}\n", file.first_node)
}

/// All kernels, a line each; what is wrong with their fits below.
pub(crate) fn summary(file: &ModelFile) -> String {
    let mut text = head(file) + "\n";
    let is_fitted = file.kernels.values().any(|kernel| kernel.fit.is_some());
    let columns = ["kernel", "processors", "noise", "mean error", "seconds"].into_iter();
    let columns = columns.filter(|name| is_fitted || *name != "mean error");
    let mut table = Table::new(columns.map(|name| Column::new(name, name)));
    for (name, kernel) in &file.kernels {
        let processors = match kernel.processors().count() - 1 {
            0 => Cell::Text("all alike".into()),
            processors => Cell::Text(count(processors as u64)),
        };
        let error = kernel.fit.as_ref().map_or(Cell::Empty, |fit| Cell::Share(fit.relative_error));
        let mut row = vec![Cell::Text(name.clone()), processors, Cell::Text(noise(kernel))];
        row.extend(is_fitted.then_some(error));
        row.push(Cell::Text(formula(kernel)));
        table.push(row);
    }
    text += &table.text();
    text.extend(file.kernels.get("dgemm").and_then(dgemm_speed));
    text.extend(file.network.as_ref().map(|network| format!("\n{}", super::network::show(network))));
    for (name, fit) in file.kernels.iter().filter_map(|(name, kernel)| Some((name, kernel.fit.as_ref()?))) {
        text.extend(fit.warnings.iter().map(|warning| format!("warning: {name}: {warning}\n")));
    }
    text
}

/// All that is known of a kernel.
pub(crate) fn details(name: &str, kernel: &Kernel) -> String {
    let mut text = format!("{name} = {} s\n", formula(kernel));
    let mut line = |label: &str, says: String| text += &format!("{label:<17} {says}\n");
    if let Some(fit) = &kernel.fit {
        line("calls", format!("{}, of {} sizes", count(fit.points), count(fit.sizes)));
    }
    let range = |(name, [least, most]): (&String, &[f64; 2])| format!("{name} {least} to {most}");
    if !kernel.measured.is_empty() {
        line("measured", kernel.measured.iter().map(range).collect::<Vec<_>>().join(", "));
    }
    line("processors", count((kernel.processors().count() - 1).max(1) as u64));
    line("noise", noise(kernel));
    if let Noise::Modes(modes) = &kernel.noise {
        for mode in modes {
            let (share, mean, deviation) = (100.0 * mode.share, mode.mean, mode.deviation);
            line("", format!("{share:.1} % of the calls: {mean:.3} +- {deviation:.3} times the duration"));
        }
    }
    if let Some(fit) = &kernel.fit {
        text += &how_well(fit);
    }
    text.extend(dgemm_speed(kernel).filter(|_| name == "dgemm"));
    text
}

fn how_well(fit: &Fit) -> String {
    let dropped: Vec<String> = fit.dropped.iter().map(Term::to_string).collect();
    let left_out = if dropped.is_empty() { "none".into() } else { dropped.join(", ") };
    let mut text = format!(
        "R squared         {:.6}\nmean error        {:.2} % of a size's mean\nterms left out    {left_out}\n",
        fit.r_squared,
        100.0 * fit.relative_error,
    );
    if !fit.ranges.is_empty() {
        text += &format!("\n{}", by_duration(&fit.ranges));
    }
    text.extend(fit.warnings.iter().map(|warning| format!("warning: {warning}\n")));
    text
}

/// How far off a model is, from short calls to long ones.
pub(crate) fn by_duration(ranges: &[ErrorRange]) -> String {
    let columns = ["calls that take", "sizes", "mean error", "bias"];
    let mut table = Table::new(columns.map(|name| Column::new(name, name)));
    for range in ranges {
        let [from, to] = range.seconds.map(|seconds| Seconds::new(seconds).human());
        let words = Cell::Text(format!("{from} to {to}"));
        table.push([words, Cell::Count(range.sizes), Cell::Share(range.error), Cell::Share(range.bias)]);
    }
    table.text()
}

/// The family of its noise.
pub(crate) fn noise(kernel: &Kernel) -> String {
    match &kernel.noise {
        _ if !kernel.is_noisy() => "none".into(),
        Noise::HalfNormal => "half-normal".into(),
        Noise::Normal => "normal".into(),
        Noise::Modes(modes) => format!("{} modes", modes.len()),
    }
}

/// What a call takes where nothing else is said: a sum over the terms, piece by piece.
pub(crate) fn formula(kernel: &Kernel) -> String {
    let Some(rows) = kernel.processors().next() else { return String::new() };
    let pieces = rows.iter().map(|row| match (&kernel.split, row.below) {
        (Some(split), Some(below)) => format!("{} where {split} < {below}", sum(kernel, row)),
        _ => sum(kernel, row),
    });
    pieces.collect::<Vec<_>>().join("; ")
}

fn sum(kernel: &Kernel, row: &Row) -> String {
    if let (Some(model), Some(figures)) = (&kernel.roofline, &row.roofline) {
        return roofline(model, figures);
    }
    let mut text = String::new();
    for (term, coefficient) in kernel.terms.iter().zip(&row.seconds).filter(|(_, number)| **number != 0.0) {
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

/// A product this large runs as fast as it gets.
const LARGE: u64 = 4096;

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
