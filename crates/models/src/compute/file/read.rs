//! Reads model files: every mistake has a place and a remedy.

use std::collections::{BTreeMap, BTreeSet};

use hpcast_platform::fields::{Reader, Section};

use super::super::kernel::{CallTable, ErrorRange, Fit, Kernel, Row};
use super::super::noise::{Mode, Noise};
use super::super::term::{Term, TermError, is_name};
use super::{DataFile, Made, ModelFile, UNLISTED, population, roofline};

pub(super) fn file(reader: &mut Reader, mut root: Section<'_>) -> ModelFile {
    let name = root.text(reader, "name").map(String::from);
    let name = root.needed(reader, "name", name, "name = \"my models\"");
    let source = root.text(reader, "source").map(String::from);
    let first_node = root.whole(reader, "first-node").unwrap_or(0);
    let unlisted = root.choice(reader, "unlisted", &UNLISTED).unwrap_or_default();
    let mut made = root.section(reader, "made");
    let made = made.exists().then(|| how_made(reader, &mut made));
    let mut kernels = BTreeMap::new();
    let mut section = root.section(reader, "kernel");
    for (name, mut section) in section.tables(reader) {
        let kernel = if section.keys().any(|key| key == "roofline") {
            roofline::kernel(reader, &mut section, name)
        } else {
            kernel(reader, &mut section)
        };
        section.finish(reader);
        kernels.extend(kernel.map(|kernel| (name.to_owned(), kernel)));
    }
    let mut network = root.section(reader, "network");
    let network = network.exists().then(|| super::network::read(reader, &mut network));
    root.finish(reader);
    ModelFile { name, source, made, first_node, unlisted, kernels, network }
}

fn how_made(reader: &mut Reader, section: &mut Section<'_>) -> Made {
    let mut text = |key: &'static str| section.text(reader, key).unwrap_or_default().to_owned();
    let (by, on, command) = (text("by"), text("on"), text("command"));
    let mut data = Vec::new();
    for mut file in
        section.sections(reader, "data", "{ file = \"calls.csv\", rows = 1000, sha256 = \"...\" }").unwrap_or_default()
    {
        data.push(DataFile {
            file: file.text(reader, "file").unwrap_or_default().to_owned(),
            sha256: file.text(reader, "sha256").unwrap_or_default().to_owned(),
            rows: file.whole(reader, "rows").unwrap_or(0),
        });
        file.finish(reader);
    }
    section.finish(reader);
    Made { by, on, command, data }
}

const TERMS: &str = "[\"1\", \"M*N*K\"]";

fn kernel(reader: &mut Reader, section: &mut Section<'_>) -> Option<Kernel> {
    let texts = section.texts(reader, "terms", TERMS);
    let texts = section.needed(reader, "terms", texts, &format!("terms = {TERMS}"));
    let mut terms: Vec<Term> = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let key = format!("{}[{i}]", section.key("terms"));
        if let Some(term) = term(reader, &key, text) {
            if terms.contains(&term) {
                reader.fail(&key, format!("`{term}` is there twice"), "write each term once");
            }
            terms.push(term);
        }
    }
    let split = section.text(reader, "split");
    let split = split.and_then(|text| term(reader, &section.key("split"), text));
    let noise = noise(reader, section);
    let measured = measured(reader, section);
    let mut rows = rows(reader, section, texts.len(), None)?;
    rows.extend(processors(reader, section, |reader, section, processor| {
        self::rows(reader, section, texts.len(), processor)
    }));
    if split.is_none() && rows.iter().any(|row| row.below.is_some()) {
        let remedy = "name the argument that decides between the pieces, such as `split = \"N\"`";
        reader.fail(&section.key("terms"), "there are pieces, but no `split`", remedy);
    }
    let mut fit = section.section(reader, "fit");
    let fit = fit.exists().then(|| how_well(reader, &mut fit));
    let mut population = section.section(reader, "population");
    if terms.len() != texts.len() {
        return None;
    }
    let population = if population.exists() { population::read(reader, &mut population, &terms, &rows) } else { None };
    Some(Kernel { terms, roofline: None, split, noise, rows, measured, population, fit })
}

/// The rows of listed processors.
pub(super) fn processors(
    reader: &mut Reader,
    section: &mut Section<'_>,
    mut rows: impl FnMut(&mut Reader, &mut Section<'_>, Option<(u32, u32)>) -> Option<Vec<Row>>,
) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    let mut known = BTreeSet::new();
    for mut processor in section.sections(reader, "processors", "{ node = 0, socket = 0, ... }").unwrap_or_default() {
        let node = processor.whole(reader, "node");
        let node = processor.needed(reader, "node", node, "node = 0");
        let socket = processor.whole(reader, "socket").unwrap_or(0);
        if !known.insert((node, socket)) {
            let message = format!("node {node}, socket {socket} is there twice");
            reader.fail(&processor.key("node"), message, "write each processor once");
        }
        let group = processor.whole(reader, "group").unwrap_or(0);
        let found = rows(reader, &mut processor, Some((node, socket))).unwrap_or_default();
        all.extend(found.into_iter().map(|row| Row { group, ..row }));
        processor.finish(reader);
    }
    all
}

pub(super) fn term(reader: &mut Reader, key: &str, text: &str) -> Option<Term> {
    match text.parse() {
        Ok(term) => Some(term),
        Err(error) => {
            let error: TermError = error;
            reader.fail(key, error.to_string(), TermError::REMEDY);
            None
        }
    }
}

pub(super) fn noise(reader: &mut Reader, section: &mut Section<'_>) -> Noise {
    let words = [("half-normal", Noise::HalfNormal), ("normal", Noise::Normal)];
    let word = section.choice(reader, "noise", &words);
    let Some(list) = section.sections(reader, "modes", "{ share = 0.9, mean = 0.95, deviation = 0.01 }") else {
        return word.unwrap_or_default();
    };
    if word.is_some() {
        reader.fail(&section.key("noise"), "there are `noise` and `modes`", "write only one of them");
    }
    let mut modes = Vec::new();
    for mut mode in list {
        let mut number = |key: &'static str, example: &str| {
            let number = mode.number(reader, key);
            mode.needed(reader, key, number, example)
        };
        modes.push(Mode {
            share: number("share", "share = 0.9"),
            mean: number("mean", "mean = 0.95"),
            deviation: number("deviation", "deviation = 0.01"),
        });
        mode.finish(reader);
    }
    let sum: f64 = modes.iter().map(|mode| mode.share).sum();
    if (sum - 1.0).abs() > 1e-6 || modes.iter().any(|mode| mode.share < 0.0 || mode.deviation < 0.0) {
        let message = format!("the shares of the modes add up to {sum}, or a share or deviation is negative");
        reader.fail(&section.key("modes"), message, "write shares that add up to 1, and no negative numbers");
    }
    Noise::Modes(modes)
}

pub(super) fn measured(reader: &mut Reader, section: &mut Section<'_>) -> BTreeMap<String, [f64; 2]> {
    let mut ranges = section.section(reader, "measured");
    let mut measured = BTreeMap::new();
    for name in ranges.keys() {
        match ranges.numbers(reader, name, "[1, 10000]").unwrap_or_default()[..] {
            [least, most] if least <= most && is_name(name) => {
                measured.insert(name.to_owned(), [least, most]);
            }
            _ => reader.fail(
                &ranges.key(name),
                format!("`{name}` is no range of an argument"),
                "write the name of an argument, and the least and the most that was measured: `M = [1, 10000]`",
            ),
        }
    }
    measured
}

/// The coefficients of a processor, in one piece or several.
fn rows(
    reader: &mut Reader,
    section: &mut Section<'_>,
    terms: usize,
    processor: Option<(u32, u32)>,
) -> Option<Vec<Row>> {
    let Some(pieces) = section.sections(reader, "pieces", "{ below = 1000, seconds = [1e-6, 5e-11] }") else {
        return Some(vec![row(reader, section, terms, processor)?]);
    };
    let mut rows = Vec::new();
    for mut piece in pieces {
        let below = piece.number(reader, "below");
        let row = row(reader, &mut piece, terms, processor);
        piece.finish(reader);
        rows.push(Row { below, ..row? });
    }
    let limits: Vec<f64> = rows.iter().map(|row| row.below.unwrap_or(f64::INFINITY)).collect();
    let ends_open = rows.last().is_some_and(|row| row.below.is_none());
    if !ends_open || limits.windows(2).any(|pair| pair[0] >= pair[1]) {
        let remedy = "write the pieces in the order of `below`; the last one has none";
        reader.fail(&section.key("pieces"), "these are not the pieces of a line", remedy);
        return None;
    }
    Some(rows)
}

fn row(reader: &mut Reader, section: &mut Section<'_>, terms: usize, processor: Option<(u32, u32)>) -> Option<Row> {
    let seconds = section.numbers(reader, "seconds", "[1e-6, 5e-11]");
    let seconds = section.needed(reader, "seconds", seconds, "seconds = [1e-6, 5e-11]");
    let deviation = section.numbers(reader, "deviation", "[1e-7, 1e-12]").unwrap_or_default();
    let covariance = section.numbers(reader, "covariance", "[1e-14, 0, 1e-24]").unwrap_or_default();
    let freedom = section.whole(reader, "freedom");
    if freedom == Some(0) {
        let remedy = "write how many sizes were measured beyond the number of terms, or leave it out";
        reader.fail(&section.key("freedom"), "a covariance without degrees of freedom says nothing", remedy);
    }
    let pairs = terms * (terms + 1) / 2;
    for (key, numbers, count, what) in [
        ("seconds", &seconds, terms, "write one number for each of the terms"),
        ("deviation", &deviation, terms, "write one number for each of the terms"),
        ("covariance", &covariance, pairs, "write one number for each pair of terms: the lower triangle, row by row"),
    ] {
        let may_lack = key != "seconds";
        if numbers.len() != count && !(may_lack && numbers.is_empty()) {
            let message = format!("{} coefficients for {terms} terms", numbers.len());
            reader.fail(&section.key(key), message, what);
            return None;
        }
    }
    let row = Row { processor, seconds, deviation, covariance, freedom, ..Row::default() };
    if let Some(Err(error)) = row.distribution() {
        reader.fail(&section.key("covariance"), error.to_string(), error.remedy());
    }
    Some(row)
}

pub(super) fn how_well(reader: &mut Reader, section: &mut Section<'_>) -> Fit {
    let dropped = section.texts(reader, "dropped", TERMS).unwrap_or_default();
    let key = section.key("dropped");
    let fit = Fit {
        points: section.whole(reader, "points").unwrap_or(0),
        sizes: section.whole(reader, "sizes").unwrap_or(0),
        r_squared: section.number(reader, "r-squared").unwrap_or(0.0),
        relative_error: section.number(reader, "relative-error").unwrap_or(0.0),
        dropped: dropped.iter().filter_map(|text| term(reader, &key, text)).collect(),
        warnings: section.texts(reader, "warnings", "[]").unwrap_or_default().into_iter().map(String::from).collect(),
        ranges: error_ranges(reader, section),
        data: call_table(reader, section),
    };
    section.finish(reader);
    fit
}

fn error_ranges(reader: &mut Reader, section: &mut Section<'_>) -> Vec<ErrorRange> {
    let mut ranges = Vec::new();
    for mut range in section.sections(reader, "ranges", "{ seconds = [1e-6, 1e-5], sizes = 10 }").unwrap_or_default() {
        match range.numbers(reader, "seconds", "[1e-6, 1e-5]").unwrap_or_default()[..] {
            [from, to] => ranges.push(ErrorRange {
                seconds: [from, to],
                sizes: range.whole(reader, "sizes").unwrap_or(0),
                error: range.number(reader, "error").unwrap_or(0.0),
                bias: range.number(reader, "bias").unwrap_or(0.0),
            }),
            _ => reader.fail(&range.key("seconds"), "this is no range", "write where it begins and where it ends"),
        }
        range.finish(reader);
    }
    ranges
}

fn call_table(reader: &mut Reader, section: &mut Section<'_>) -> Option<CallTable> {
    let mut table = section.section(reader, "data");
    let file = table.text(reader, "file")?.to_owned();
    let seconds = table.text(reader, "seconds").unwrap_or("seconds").to_owned();
    let arguments = texts(reader, &mut table, "arguments");
    let only = texts(reader, &mut table, "only");
    let processor = match table.texts(reader, "processor", "[\"node\", \"socket\"]").unwrap_or_default()[..] {
        [] => None,
        [node, socket] => Some((node.to_owned(), socket.to_owned())),
        _ => {
            reader.fail(&table.key("processor"), "these are not two columns", "name those of node and socket");
            None
        }
    };
    table.finish(reader);
    Some(CallTable { file, arguments, seconds, processor, only })
}

fn texts(reader: &mut Reader, table: &mut Section<'_>, key: &'static str) -> BTreeMap<String, String> {
    let mut section = table.section(reader, key);
    section.keys().filter_map(|name| Some((name.to_owned(), section.text(reader, name)?.to_owned()))).collect()
}
