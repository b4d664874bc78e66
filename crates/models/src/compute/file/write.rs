//! Model files as text. Numbers are written with all their digits: what is read back is the same.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::super::kernel::{CallTable, ErrorRange, Fit, Kernel, Row};
use super::super::noise::Noise;
use super::{Made, ModelFile, UNLISTED, Unlisted, population, roofline};

pub(super) fn file(file: &ModelFile) -> String {
    let mut text = format!("name = {}\n", quoted(&file.name));
    if let Some(source) = &file.source {
        let _ = writeln!(text, "source = {}", quoted(source));
    }
    let (word, _) = UNLISTED[usize::from(file.unlisted == Unlisted::Free)];
    let _ = writeln!(text, "first-node = {}\nunlisted = \"{word}\"", file.first_node);
    if let Some(made) = &file.made {
        text += &how_made(made);
    }
    for (name, kernel) in &file.kernels {
        let _ = writeln!(text, "\n[kernel.{}]", key(name));
        text += &write_kernel(name, kernel);
        if let Some(found) = &kernel.population {
            text += &population::write(found, &format!("kernel.{}.population", key(name)));
        }
        if let Some(fit) = &kernel.fit {
            let _ = writeln!(text, "[kernel.{}.fit]", key(name));
            text += &how_well(fit);
        }
    }
    text.extend(file.network.as_ref().map(super::network::write));
    text
}

fn how_made(made: &Made) -> String {
    let Made { by, on, command, data } = made;
    let mut text = format!("\n[made]\nby = {}\non = {}\ncommand = {}\n", quoted(by), quoted(on), quoted(command));
    text += "data = [\n";
    for data in data {
        let (file, sha256) = (quoted(&data.file), quoted(&data.sha256));
        let rows = if data.rows > 0 { format!("rows = {}, ", data.rows) } else { String::new() };
        let _ = writeln!(text, "    {{ file = {file}, {rows}sha256 = {sha256} }},");
    }
    text + "]\n"
}

fn write_kernel(name: &str, kernel: &Kernel) -> String {
    let terms: Vec<String> = kernel.terms.iter().map(|term| format!("\"{term}\"")).collect();
    let mut text = match &kernel.roofline {
        Some(model) => roofline::write_model(model, name),
        None => format!("terms = [{}]\n", terms.join(", ")),
    };
    if let Some(split) = &kernel.split {
        let _ = writeln!(text, "split = \"{split}\"");
    }
    match &kernel.noise {
        Noise::HalfNormal => {}
        Noise::Normal => text += "noise = \"normal\"\n",
        Noise::Modes(modes) => {
            text += "modes = [\n";
            for mode in modes {
                let (share, mean, deviation) = (number(mode.share), number(mode.mean), number(mode.deviation));
                let _ = writeln!(text, "    {{ share = {share}, mean = {mean}, deviation = {deviation} }},");
            }
            text += "]\n";
        }
    }
    if !kernel.measured.is_empty() {
        let range = |(name, [least, most]): (&String, &[f64; 2])| {
            format!("{} = [{}, {}]", key(name), number(*least), number(*most))
        };
        let ranges: Vec<String> = kernel.measured.iter().map(range).collect();
        let _ = writeln!(text, "measured = {{ {} }}", ranges.join(", "));
    }
    let mut processors = kernel.processors();
    text.extend(processors.next().map(|rows| fields(rows).join("\n") + "\n"));
    let mut listed = processors.peekable();
    if listed.peek().is_some() {
        text += "processors = [\n";
        for rows in listed {
            let (node, socket) = rows[0].processor.unwrap_or_default();
            let group = if rows[0].group > 0 { format!("group = {}, ", rows[0].group) } else { String::new() };
            let _ = writeln!(text, "    {{ node = {node}, socket = {socket}, {group}{} }},", fields(rows).join(", "));
        }
        text += "]\n";
    }
    text
}

/// The coefficients of a processor, in one piece or several.
fn fields(rows: &[Row]) -> Vec<String> {
    if let [row] = rows {
        return coefficients(row);
    }
    let piece = |row: &Row| {
        let below = row.below.map(|below| format!("below = {}", number(below)));
        format!("{{ {} }}", below.into_iter().chain(coefficients(row)).collect::<Vec<_>>().join(", "))
    };
    vec![format!("pieces = [{}]", rows.iter().map(piece).collect::<Vec<_>>().join(", "))]
}

fn coefficients(row: &Row) -> Vec<String> {
    if let Some(figures) = &row.roofline {
        return vec![roofline::write_figures(figures)];
    }
    [("seconds", &row.seconds), ("deviation", &row.deviation), ("covariance", &row.covariance)]
        .into_iter()
        .filter(|(key, numbers)| *key == "seconds" || !numbers.is_empty())
        .map(|(key, numbers)| format!("{key} = {}", list(numbers)))
        .chain(row.freedom.map(|freedom| format!("freedom = {freedom}")))
        .collect()
}

fn how_well(fit: &Fit) -> String {
    let texts = |list: Vec<String>| list.join(", ");
    let dropped = texts(fit.dropped.iter().map(|term| format!("\"{term}\"")).collect());
    let warnings = texts(fit.warnings.iter().map(|warning| quoted(warning)).collect());
    let mut text = format!(
        "points = {}\nsizes = {}\nr-squared = {}\nrelative-error = {}\ndropped = [{dropped}]\nwarnings = [{warnings}]\n",
        fit.points,
        fit.sizes,
        number(fit.r_squared),
        number(fit.relative_error),
    );
    if !fit.ranges.is_empty() {
        text += "ranges = [\n";
        for ErrorRange { seconds, sizes, error, bias } in &fit.ranges {
            let (seconds, error, bias) = (list(seconds), number(*error), number(*bias));
            let _ = writeln!(text, "    {{ seconds = {seconds}, sizes = {sizes}, error = {error}, bias = {bias} }},");
        }
        text += "]\n";
    }
    text.extend(fit.data.as_ref().map(call_table));
    text
}

fn call_table(table: &CallTable) -> String {
    let pairs = |pairs: &BTreeMap<String, String>| {
        let pairs = pairs.iter().map(|(left, right)| format!("{} = {}", key(left), quoted(right)));
        format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
    };
    let CallTable { file, arguments, seconds, processor, only } = table;
    let mut parts = vec![format!("file = {}", quoted(file)), format!("seconds = {}", quoted(seconds))];
    parts.extend((!arguments.is_empty()).then(|| format!("arguments = {}", pairs(arguments))));
    parts.extend(processor.as_ref().map(|(n, s)| format!("processor = [{}, {}]", quoted(n), quoted(s))));
    parts.extend((!only.is_empty()).then(|| format!("only = {}", pairs(only))));
    format!("data = {{ {} }}\n", parts.join(", "))
}

pub(super) fn list(numbers: &[f64]) -> String {
    format!("[{}]", numbers.iter().map(|number| self::number(*number)).collect::<Vec<_>>().join(", "))
}

/// All digits, and few where few are enough.
pub(super) fn number(number: f64) -> String {
    let plain = format!("{number:?}");
    let short = format!("{number:e}");
    if plain.len() <= short.len() + 2 { plain } else { short }
}

/// As a TOML key, which needs no quotes if it is a plain word.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

/// As a TOML string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            _ => out.push(c),
        }
    }
    out + "\""
}
