//! `hpcast study compare`: two studies beside each other, combination by combination.

use std::path::PathBuf;

use clap::Args;
use hpcast_report::study::figure;
use hpcast_report::{check_output, csv, write_file};
use hpcast_study::Frame;
use hpcast_study::analysis::compare::{Comparison, Overall, Pair, compare};
use hpcast_study::store::Query;
use hpcast_units::count;

use crate::failure::Failure;
use crate::runs::Opened;

/// So many combinations are shown: those that differ most.
const SHOWN: usize = 15;

/// Options of `hpcast study compare`.
#[derive(Args)]
pub(crate) struct CompareOptions {
    /// The folder of a study, a store file, or postgres://...
    first: String,
    /// Of the other study, likewise
    second: String,
    /// The first study, if its store has several
    #[arg(long, value_name = "NAME")]
    study: Option<String>,
    /// The other study, if its store has several
    #[arg(long, value_name = "NAME")]
    other_study: Option<String>,
    /// What is compared (default: the first response of the first study that both have)
    #[arg(long, value_name = "NAME")]
    response: Option<String>,
    /// Write all combinations to a file
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
}

pub(super) fn run(options: &CompareOptions) -> Result<(), Failure> {
    options.csv.as_deref().map(|path| check_output(path, [])).transpose()?;
    let first = Side::read(&options.first, options.study.as_deref())?;
    let second = Side::read(&options.second, options.other_study.as_deref())?;
    let both = format!("{} and {}", options.first, options.second);
    let common: Vec<&str> = first.responses().filter(|name| second.responses().any(|other| other == *name)).collect();
    let asked = options.response.as_deref().or(common.first().copied());
    let response = asked.filter(|name| common.contains(name)).ok_or_else(|| match common.len() {
        0 => Failure::input(format!("{both} have no response in common; compare studies that look at the same")),
        _ => Failure::input(format!("--response: {both} have in common only {}; choose one", common.join(", "))),
    })?;
    let comparison = compare(&first.frame, &second.frame, response)
        .map_err(|error| Failure::input(format!("{both} cannot be compared: {error}")))?;
    if let Some(path) = &options.csv {
        write_file(path, table(&first, &comparison).as_bytes())?;
    }
    crate::print(&text(&first, &second, response, &comparison))
}

/// One of the two studies.
struct Side {
    title: String,
    frame: Frame,
}

impl Side {
    fn read(place: &str, name: Option<&str>) -> Result<Side, Failure> {
        let mut opened = Opened::new(place, name)?;
        let rows = opened.store.rows(opened.id, &opened.study, &Query::default())?;
        Ok(Side { frame: Frame::of(&opened.study, &rows), title: opened.study.title })
    }

    fn responses(&self) -> impl Iterator<Item = &str> {
        self.frame.responses.iter().map(|response| response.name.as_str())
    }

    /// The levels of a point, factor by factor.
    fn levels(&self, point: usize) -> Vec<&str> {
        let row = self.frame.points.iter().position(|other| *other == point);
        let level = |row: usize| self.frame.factors.iter().map(move |factor| &*factor.levels[factor.values[row]].text);
        row.map(|row| level(row).collect()).unwrap_or_default()
    }
}

fn text(first: &Side, second: &Side, response: &str, comparison: &Comparison) -> String {
    let mut text =
        format!("first   {}\nsecond  {}\n\n{response}, the second against the first\n", first.title, second.title);
    if let Some(ratio) = &comparison.ratio {
        text += &format!("  on the whole  {}\n", times(ratio));
    }
    let Overall { value, interval } = comparison.difference;
    text += &format!("  difference    {}{}\n", figure(value), between(interval, figure));
    let apart = comparison.points.iter().filter(|pair| is_apart(pair)).count() as u64;
    let pairs = comparison.points.len() as u64;
    text += &match comparison.points.iter().all(|pair| pair.interval.is_none()) {
        true => format!("  combinations  {} in both, none of them repeated in both\n", count(pairs)),
        false => {
            format!("  combinations  {} in both, {} differ by more than chance (95 %)\n", count(pairs), count(apart))
        }
    };
    let (alone, others) = comparison.alone;
    if alone + others > 0 {
        text +=
            &format!("  left out      {} of the first, {} of the second\n", count(alone as u64), count(others as u64));
    }
    let mut pairs: Vec<&Pair> = comparison.points.iter().collect();
    pairs.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    text += "\nWhere they differ most\n";
    for pair in pairs.iter().take(SHOWN) {
        let (before, after) = pair.means;
        let sure = if is_apart(pair) {
            ""
        } else if pair.interval.is_some() {
            "  (may be chance)"
        } else {
            ""
        };
        let levels = first.levels(pair.points.0).join(", ");
        text +=
            &format!("  {:+7.2} %  {} -> {}  {levels}{sure}\n", percent(pair.ratio()), figure(before), figure(after));
    }
    text
}

/// A quotient as a difference in percent, with its interval.
fn times(ratio: &Overall) -> String {
    let percent_text = |value: f64| format!("{:+.2} %", percent(value));
    format!("{}{}", percent_text(ratio.value), between(ratio.interval, percent_text))
}

fn between(interval: Option<(f64, f64)>, tell: impl Fn(f64) -> String) -> String {
    interval.map_or(String::new(), |(low, high)| format!(", {} to {} with 95 % confidence", tell(low), tell(high)))
}

fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

fn distance(pair: &Pair) -> f64 {
    pair.ratio().ln().abs()
}

/// Whether no difference at all is unlikely.
fn is_apart(pair: &Pair) -> bool {
    pair.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

/// All combinations, in the order of the first study.
fn table(first: &Side, comparison: &Comparison) -> String {
    let names = first.frame.factors.iter().map(|factor| factor.name.as_str());
    let heads = ["first", "second", "ratio", "difference_low", "difference_high"];
    let mut lines = vec![names.chain(heads).map(String::from).collect::<Vec<_>>()];
    for pair in &comparison.points {
        let (low, high) = pair.interval.unzip();
        let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let numbers = [
            pair.means.0.to_string(),
            pair.means.1.to_string(),
            pair.ratio().to_string(),
            optional(low),
            optional(high),
        ];
        lines.push(first.levels(pair.points.0).into_iter().map(String::from).chain(numbers).collect());
    }
    let mut text = String::new();
    lines.iter().for_each(|fields| csv::line(&mut text, fields.iter().map(String::as_str)));
    text
}
