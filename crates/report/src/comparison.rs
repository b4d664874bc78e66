//! Forecasts beside what they should be: differences, bounds, verdicts.

use std::fmt::Write;

use hpcast_units::{Bytes, count};
use serde::Serialize;

use crate::csv;
use crate::interval::Estimate;
use crate::provenance::Provenance;
use crate::resources::Used;
use crate::table::{Cell, Column, Table};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// How long a run takes, in seconds.
    Seconds,
    /// How fast it is, in Gflop/s.
    Gflops,
}

/// What differences may not exceed. Shares of the reference, such as 0.02.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bound {
    /// Of every point.
    pub worst: Option<f64>,
    /// Of the absolute differences of all points.
    pub mean: Option<f64>,
    /// The part of all runs that must lie within the intervals that forecasts give to 95 % of runs.
    pub coverage: Option<f64>,
    /// No difference may exceed what the forecast says that it may be off by.
    pub within_uncertainty: bool,
    /// CPU time of a forecast.
    pub cpu_seconds: Option<f64>,
    /// Memory of the whole process at its peak.
    pub memory_bytes: Option<u64>,
}

/// One case: a forecast, and what it is compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedPoint {
    /// Which case it is, for people.
    pub case: String,
    /// Where it stands on the horizontal axis, if there is one.
    pub x: Option<f64>,
    /// The runs that it is compared with; none where there is only the cost to look at.
    pub reference: Vec<f64>,
    /// The runs of the forecast, one a seed.
    pub forecast: Vec<f64>,
    /// What the forecast may be off by, as a share.
    pub uncertainty: f64,
    /// The part of it that other seeds do not show.
    pub bias: f64,
    /// Floating-point operations of a run, which make times speeds.
    pub flops: f64,
    /// Which shortcuts were taken.
    pub mode: String,
    /// What a forecast has cost, all seeds together.
    pub cpu_seconds: f64,
    /// What the reference has cost its authors, where they tell: seconds of wall-clock time.
    pub reference_cost: Option<f64>,
}

/// Points that belong together: a line of a plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedLine {
    /// Its name.
    pub name: String,
    /// What its points are held to.
    pub bound: Bound,
    /// In the order of the axis.
    pub points: Vec<ComparedPoint>,
}

/// Forecasts and what they are compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// A short name.
    pub name: String,
    /// What is compared with what.
    pub title: String,
    /// More about it.
    pub about: String,
    /// Where the reference comes from.
    pub origin: String,
    /// What the reference is: `measured`, `published`.
    pub against: String,
    /// What is compared.
    pub measure: Measure,
    /// The name of the horizontal axis, if there is one.
    pub axis: Option<String>,
    /// The lines.
    pub lines: Vec<ComparedLine>,
    /// Cases that were not run, because it was stopped.
    pub missing: usize,
    /// Cases whose forecasts could not be made.
    pub failed: Vec<FailedCase>,
    /// Memory of the process at its peak, when the last case was finished.
    pub peak_memory_bytes: Option<u64>,
}

/// A case whose forecast could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedCase {
    /// Its line.
    pub line: String,
    /// Which case it is, for people; empty if the line has only one.
    pub case: String,
    /// What went wrong.
    pub message: String,
}

impl FailedCase {
    /// What people read of it.
    pub(crate) fn text(&self) -> String {
        let FailedCase { line, case, message } = self;
        if case.is_empty() { format!("{line}: {message}") } else { format!("{line}, {case}: {message}") }
    }
}

/// How large differences are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Differences {
    /// The mean of their absolute values.
    pub mean: f64,
    /// The one with the largest absolute value.
    pub worst: f64,
    /// The mean with signs: whether forecasts are too high or too low.
    pub bias: f64,
}

/// What is no number is within no bound.
fn exceeds(value: f64, most: f64) -> bool {
    value.is_nan() || value > most
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl ComparedPoint {
    /// The forecast relative to the reference: 0.01 is 1 % too much. `None` without a reference.
    pub fn difference(&self) -> Option<f64> {
        (!self.reference.is_empty()).then(|| mean(&self.forecast) / mean(&self.reference) - 1.0)
    }

    /// How many of the runs that it is compared with lie where the forecast expects 95 % of runs to lie; `None` where a
    /// single seed tells nothing of that.
    pub fn covered(&self) -> Option<usize> {
        let estimate = Estimate::of(&self.forecast, self.bias * mean(&self.forecast));
        let half = estimate.prediction_95.filter(|_| !self.reference.is_empty())?;
        Some(self.reference.iter().filter(|value| (**value - estimate.mean).abs() <= half).count())
    }

    fn breaks(&self, bound: &Bound) -> bool {
        let off = self.difference().map_or(0.0, f64::abs);
        bound.worst.is_some_and(|worst| exceeds(off, worst))
            || bound.within_uncertainty && exceeds(off, self.uncertainty)
            || bound.cpu_seconds.is_some_and(|most| exceeds(self.cpu_seconds, most))
    }

    /// Mean speed of the reference and of the forecast, in flop/s.
    pub(crate) fn speeds(&self, measure: Measure) -> (Option<f64>, f64) {
        let speed = |value: f64| match measure {
            Measure::Seconds => self.flops / value,
            Measure::Gflops => value * 1e9,
        };
        ((!self.reference.is_empty()).then(|| speed(mean(&self.reference))), speed(mean(&self.forecast)))
    }
}

impl ComparedLine {
    /// How far off it is; `None` if nothing is compared.
    pub fn differences(&self) -> Option<Differences> {
        differences(self.points.iter())
    }

    /// The part of all runs that lie within the intervals of the forecasts; `None` where there is none.
    pub fn coverage(&self) -> Option<f64> {
        let covered: Vec<(usize, usize)> =
            self.points.iter().filter_map(|point| Some((point.covered()?, point.reference.len()))).collect();
        let runs: usize = covered.iter().map(|(_, runs)| runs).sum();
        (runs > 0).then(|| covered.iter().map(|(covered, _)| covered).sum::<usize>() as f64 / runs as f64)
    }

    /// Whether its points are held to a bound.
    fn is_bounded(&self) -> bool {
        !self.points.is_empty() && Bound { memory_bytes: None, ..self.bound } != Bound::default()
    }

    /// How many bounds are broken.
    pub fn broken(&self) -> usize {
        let points = self.points.iter().filter(|point| point.breaks(&self.bound)).count();
        let off = self.differences().is_some_and(|off| self.bound.mean.is_some_and(|most| exceeds(off.mean, most)));
        // Where there are no intervals, nothing lies within them.
        let bare = self.bound.coverage.is_some_and(|least| self.coverage().is_none_or(|found| found < least));
        points + usize::from(off) + usize::from(bare)
    }
}

fn differences<'p>(points: impl Iterator<Item = &'p ComparedPoint>) -> Option<Differences> {
    let all: Vec<f64> = points.filter_map(ComparedPoint::difference).collect();
    let worst = all.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    let absolute: Vec<f64> = all.iter().map(|off| off.abs()).collect();
    Some(Differences { mean: mean(&absolute), worst, bias: mean(&all) })
}

impl Bound {
    /// In words; empty if nothing is bounded.
    pub fn describe(&self) -> String {
        let percent = |share: f64| format!("{} %", (share * 1e4).round() / 1e2);
        let mut words = Vec::new();
        words.extend(self.worst.map(|worst| format!("each within {}", percent(worst))));
        words.extend(self.mean.map(|mean| format!("mean within {}", percent(mean))));
        words.extend(self.coverage.map(|least| format!("95 % intervals hold at least {} of the runs", percent(least))));
        words.extend(self.within_uncertainty.then(|| "each within its uncertainty".into()));
        words.extend(self.cpu_seconds.map(|seconds| format!("{:.0} minutes of CPU each", seconds / 60.0)));
        words.extend(self.memory_bytes.map(|bytes| format!("{} of memory", Bytes::new(bytes))));
        words.join(", ")
    }
}

impl Comparison {
    /// How far off all of it is; `None` if nothing is compared.
    pub fn differences(&self) -> Option<Differences> {
        differences(self.lines.iter().flat_map(|line| &line.points))
    }

    /// How many bounds are broken.
    pub fn broken(&self) -> usize {
        let memory = self.lines.iter().filter_map(|line| line.bound.memory_bytes).min();
        let too_much = memory.zip(self.peak_memory_bytes).is_some_and(|(most, used)| used > most);
        self.lines.iter().map(ComparedLine::broken).sum::<usize>() + usize::from(too_much)
    }

    /// Whether anything was held to a bound.
    pub fn is_bounded(&self) -> bool {
        let memory_is_known = self.peak_memory_bytes.is_some();
        self.lines.iter().any(|line| line.is_bounded() || line.bound.memory_bytes.is_some() && memory_is_known)
    }

    /// Whether every case was run.
    pub fn is_complete(&self) -> bool {
        self.missing == 0 && self.failed.is_empty()
    }

    /// In words, such as `all bounds hold`.
    pub fn verdict(&self) -> String {
        let mut verdict = match self.broken() {
            0 if !self.is_complete() => "no bound is broken so far".into(),
            0 if self.lines.is_empty() => "no case was run".into(),
            0 if !self.is_bounded() => "shown without a bound".into(),
            0 => "all bounds hold".into(),
            broken => broken_bounds(broken),
        };
        let cases = |number: usize| match number {
            1 => "1 case".into(),
            number => format!("{} cases", count(number as u64)),
        };
        if !self.failed.is_empty() {
            verdict += &format!("; {} failed", cases(self.failed.len()));
        }
        if self.missing > 0 {
            verdict += &format!("; stopped with {} missing", cases(self.missing));
        }
        verdict
    }

    fn value(&self, value: f64) -> Cell {
        match self.measure {
            Measure::Seconds => Cell::Seconds(value),
            Measure::Gflops => Cell::Gflops(value),
        }
    }

    /// The columns that a comparison of this kind has, as (header, key): those that hold the same whenever it is repeated.
    fn columns(&self) -> Vec<Column> {
        let unit = match self.measure {
            Measure::Seconds => "seconds",
            Measure::Gflops => "gflops",
        };
        let against = self.against.as_str();
        [
            ("line", "line".to_owned()),
            ("case", "case".into()),
            ("runs", "reference_runs".into()),
            (against, format!("reference_{unit}")),
            ("lowest", format!("reference_lowest_{unit}")),
            ("highest", format!("reference_highest_{unit}")),
            ("seeds", "seeds".into()),
            ("forecast", format!("forecast_{unit}")),
            ("lowest", format!("forecast_lowest_{unit}")),
            ("highest", format!("forecast_highest_{unit}")),
            ("uncertainty", "uncertainty".into()),
            ("difference", "difference".into()),
            ("covered", "covered_runs".into()),
            ("mode", "mode".into()),
            ("bound", "verdict".into()),
        ]
        .map(|(header, key)| Column::new(header, key))
        .into()
    }

    fn cells(&self, line: &ComparedLine, point: &ComparedPoint) -> Vec<Cell> {
        let of = |values: &[f64], pick: fn(&[f64]) -> f64| match values {
            [] => Cell::Empty,
            values => self.value(pick(values)),
        };
        let low = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let verdict = match (point.breaks(&line.bound), line.bound == Bound::default()) {
            (_, true) => "none",
            (true, _) => "BROKEN",
            (false, _) => "holds",
        };
        vec![
            Cell::Text(line.name.clone()),
            Cell::Text(point.case.clone()),
            Cell::Count(point.reference.len() as u64),
            of(&point.reference, mean),
            of(&point.reference, low),
            of(&point.reference, high),
            Cell::Count(point.forecast.len() as u64),
            of(&point.forecast, mean),
            of(&point.forecast, low),
            of(&point.forecast, high),
            Cell::Share(point.uncertainty),
            point.difference().map_or(Cell::Empty, Cell::Share),
            point.covered().map_or(Cell::Empty, |covered| Cell::Count(covered as u64)),
            Cell::Text(point.mode.clone()),
            Cell::Text(verdict.into()),
        ]
    }

    /// All cases, a row each; nothing in it varies between two equal runs.
    pub fn table(&self) -> Table {
        let mut table = Table::new(self.columns());
        for line in &self.lines {
            line.points.iter().for_each(|point| table.push(self.cells(line, point)));
        }
        table
    }

    /// All cases as CSV (RFC 4180).
    pub fn csv(&self) -> String {
        csv::plain(&self.table())
    }

    /// What people read of each case: columns and rows of text.
    pub(crate) fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let any = |has: fn(&ComparedPoint) -> bool| self.lines.iter().flat_map(|line| &line.points).any(has);
        let several = any(|point| point.reference.len() > 1);
        let seeds = any(|point| point.forecast.len() > 1);
        let covered = any(|point| point.covered().is_some() && point.reference.len() > 1);
        let cost = any(|point| point.reference_cost.is_some());
        let mut header = vec!["line", "case", &self.against];
        header.extend(several.then_some("runs"));
        header.push("forecast");
        header.extend(seeds.then_some("seeds"));
        header.push("difference");
        header.extend(covered.then_some("within 95 %"));
        header.extend(["uncertainty", "mode", "CPU s"]);
        header.extend(cost.then_some("theirs, s"));
        header.push("bound");
        let mut rows = Vec::new();
        for line in &self.lines {
            for point in &line.points {
                let mut row = vec![line.name.clone(), point.case.clone(), self.shown(&point.reference)];
                row.extend(several.then(|| point.reference.len().to_string()));
                row.push(self.shown(&point.forecast));
                row.extend(seeds.then(|| point.forecast.len().to_string()));
                row.push(point.difference().map_or("-".into(), signed_percent));
                let within = |covered: usize| format!("{covered} of {}", point.reference.len());
                row.extend(covered.then(|| point.covered().map_or("-".into(), within)));
                row.push(format!("{:.2} %", 100.0 * point.uncertainty));
                row.push(point.mode.clone());
                row.push(format!("{:.1}", point.cpu_seconds));
                row.extend(cost.then(|| point.reference_cost.map_or("-".into(), |cost| format!("{cost:.0}"))));
                row.push(match (point.breaks(&line.bound), line.bound == Bound::default()) {
                    (_, true) => "-".into(),
                    (true, _) => "BROKEN".into(),
                    (false, _) => "holds".into(),
                });
                rows.push(row);
            }
        }
        (header.into_iter().map(String::from).collect(), rows)
    }

    /// A mean, with the range where there are several values.
    fn shown(&self, values: &[f64]) -> String {
        let number = |value: f64| match value {
            _ if value >= 1e5 => count(value.round() as u64),
            _ if value >= 1e3 => format!("{value:.1}"),
            _ => format!("{value:.2}"),
        };
        let unit = match self.measure {
            Measure::Seconds => "s",
            Measure::Gflops => "Gflop/s",
        };
        match values {
            [] => "-".into(),
            [value] => format!("{} {unit}", number(*value)),
            values => {
                let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                format!("{} ({} to {}) {unit}", number(mean(values)), number(low), number(high))
            }
        }
    }

    /// How far off each line is, and the whole: name, bound, mean, worst, bias, runs within intervals, verdict.
    pub(crate) fn summary(&self) -> Vec<[String; 7]> {
        let row = |name: &str, bound: String, off: Option<Differences>, coverage: Option<f64>, broken: String| {
            let of = |pick: fn(&Differences) -> String| off.as_ref().map_or("-".into(), pick);
            [
                name.to_owned(),
                if bound.is_empty() { "none".into() } else { bound },
                of(|off| format!("{:.2} %", 100.0 * off.mean)),
                of(|off| signed_percent(off.worst)),
                of(|off| signed_percent(off.bias)),
                coverage.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share)),
                broken,
            ]
        };
        let mut rows: Vec<[String; 7]> = Vec::new();
        for line in &self.lines {
            let verdict = match (line.broken(), line.bound == Bound::default()) {
                (_, true) => "-".into(),
                (0, _) => "holds".into(),
                (broken, _) => format!("{broken} BROKEN"),
            };
            rows.push(row(&line.name, line.bound.describe(), line.differences(), line.coverage(), verdict));
        }
        rows
    }

    /// What is printed: cases, lines, verdict.
    pub fn text(&self) -> String {
        let (header, rows) = self.rows();
        let mut text = format!("{}: {}\n\n{}", self.name, self.title, aligned(&header, &rows));
        let header = SUMMARY.map(String::from);
        let summary: Vec<Vec<String>> = self.summary().into_iter().map(Vec::from).collect();
        let _ = write!(text, "\n{}\n{}: {}\n", aligned(&header, &summary), self.name, self.verdict());
        for failed in &self.failed {
            let _ = writeln!(text, "failed: {}", failed.text());
        }
        text
    }
}

fn broken_bounds(broken: usize) -> String {
    if broken == 1 { "1 bound is broken".into() } else { format!("{} bounds are broken", count(broken as u64)) }
}

/// What has come out of all comparisons, in words. Nothing holds where nothing was bounded.
pub fn verdict(comparisons: &[Comparison]) -> String {
    let broken = comparisons.iter().map(Comparison::broken).sum();
    let complete = comparisons.iter().all(Comparison::is_complete);
    let verdict = match broken {
        0 if !comparisons.iter().any(Comparison::is_bounded) => "no bound was checked".into(),
        0 if !complete => "no bound is broken so far".into(),
        0 => "all bounds hold".into(),
        broken => broken_bounds(broken),
    };
    if complete { verdict } else { format!("stopped before its end; {verdict}") }
}

/// All comparisons for programs.
pub fn json(comparisons: &[Comparison], provenance: &Provenance, used: &Used) -> String {
    let parts = comparisons.iter().map(|comparison| {
        let mut part = serde_json::to_value(comparison).unwrap_or_default();
        part["differences"] = serde_json::json!(comparison.differences());
        part["broken"] = comparison.broken().into();
        part["verdict"] = comparison.verdict().into();
        part
    });
    let parts: Vec<serde_json::Value> = parts.collect();
    let document = serde_json::json!({
        "parts": parts,
        "verdict": verdict(comparisons),
        "provenance": provenance,
        "used": used,
    });
    format!("{document:#}\n")
}

/// Headers of [`Comparison::summary`].
pub(crate) const SUMMARY: [&str; 7] =
    ["line", "bound", "mean difference", "worst", "on average", "runs within 95 %", "verdict"];

/// A difference with its sign.
pub(crate) fn signed_percent(share: f64) -> String {
    format!("{:+.2} %", 100.0 * share)
}

/// Columns below each other; numbers end, words begin at the same place.
fn aligned(header: &[String], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let number = |text: &str| text == "-" || text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    // The first two are names, even where they begin with a number.
    let ends = |column: usize| column > 1 && rows.iter().all(|row| number(&row[column]));
    let mut text = String::new();
    for row in std::iter::once(header).chain(rows.iter().map(Vec::as_slice)) {
        let cells = row.iter().enumerate().map(|(column, cell)| match ends(column) {
            true => format!("{cell:>width$}", width = width(column)),
            false => format!("{cell:<width$}", width = width(column)),
        });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn point(case: &str, x: f64, reference: &[f64], forecast: &[f64]) -> ComparedPoint {
        ComparedPoint {
            case: case.into(),
            x: Some(x),
            reference: reference.into(),
            forecast: forecast.into(),
            uncertainty: 0.005,
            bias: 0.005,
            flops: 1e12,
            mode: "joint".into(),
            cpu_seconds: 2.0,
            reference_cost: None,
        }
    }

    pub(crate) fn example() -> Comparison {
        let bound = Bound { worst: Some(0.02), mean: Some(0.015), ..Bound::default() };
        let points = vec![point("N = 1,000", 1e3, &[10.0, 12.0], &[11.11]), point("N = 2,000", 2e3, &[80.0], &[79.2])];
        Comparison {
            name: "tiny".into(),
            title: "two runs & their <forecasts>".into(),
            about: "About it.".into(),
            origin: "made up".into(),
            against: "measured".into(),
            measure: Measure::Seconds,
            axis: Some("N".into()),
            lines: vec![ComparedLine { name: "a".into(), bound, points }],
            missing: 0,
            failed: Vec::new(),
            peak_memory_bytes: Some(1000),
        }
    }

    #[test]
    fn differences_are_of_means() {
        let off = example().differences().unwrap();
        assert!((off.mean - 0.01).abs() < 1e-12 && off.bias.abs() < 1e-12, "{off:?}");
        assert!((off.worst.abs() - 0.01).abs() < 1e-12);
        assert_eq!(example().verdict(), "all bounds hold");
    }

    #[test]
    fn each_bound_can_break() {
        let broken = |change: fn(&mut Bound)| {
            let mut comparison = example();
            change(&mut comparison.lines[0].bound);
            comparison.broken()
        };
        assert_eq!(broken(|bound| bound.worst = Some(0.009)), 2);
        assert_eq!(broken(|bound| bound.mean = Some(0.009)), 1);
        assert_eq!(broken(|bound| bound.within_uncertainty = true), 2);
        assert_eq!(broken(|bound| bound.cpu_seconds = Some(1.0)), 2);
        assert_eq!(broken(|bound| bound.memory_bytes = Some(999)), 1);
    }

    #[test]
    fn runs_lie_within_the_interval_or_not() {
        let mut comparison = example();
        assert_eq!(comparison.lines[0].coverage(), None);
        // Three forecasts around 11: Student's interval for one more is 4.303 x 0.1 x sqrt(4 / 3) = 0.497 to each side,
        // and 0.5 % of 11 beside that.
        let line = &mut comparison.lines[0];
        line.points[0] = point("N = 1,000", 1e3, &[10.45, 10.51, 11.49, 11.55], &[10.9, 11.0, 11.1]);
        assert_eq!((line.points[0].covered(), line.coverage()), (Some(2), Some(0.5)));
        line.bound = Bound { coverage: Some(0.5), ..Bound::default() };
        assert_eq!(comparison.broken(), 0);
        comparison.lines[0].bound.coverage = Some(0.51);
        assert_eq!(comparison.broken(), 1);
        assert!(comparison.text().contains("2 of 4") && comparison.text().contains("50.0 %"), "{}", comparison.text());
    }

    #[test]
    fn nothing_is_claimed_without_a_bound() {
        let mut comparison = example();
        comparison.lines[0].bound = Bound::default();
        assert_eq!((comparison.broken(), comparison.verdict().as_str()), (0, "shown without a bound"));
        assert_eq!(verdict(&[comparison.clone()]), "no bound was checked");
        assert_eq!(verdict(&[comparison.clone(), example()]), "all bounds hold");
        assert_eq!(verdict(&[]), "no bound was checked");
        comparison.missing = 3;
        assert_eq!(comparison.verdict(), "no bound is broken so far; stopped with 3 cases missing");
        assert_eq!(verdict(&[comparison]), "stopped before its end; no bound was checked");
    }

    #[test]
    fn memory_that_is_not_known_is_no_check() {
        let mut comparison = example();
        comparison.lines[0].bound = Bound { memory_bytes: Some(2000), ..Bound::default() };
        assert_eq!(verdict(&[comparison.clone()]), "all bounds hold");
        comparison.peak_memory_bytes = None;
        assert_eq!(verdict(&[comparison]), "no bound was checked");
    }

    #[test]
    fn what_failed_is_named() {
        let mut comparison = example();
        let failed = FailedCase { line: "a".into(), case: "N = 3,000".into(), message: "a deadlock".into() };
        comparison.failed.push(failed);
        comparison.missing = 1;
        assert!(!comparison.is_complete());
        assert_eq!(comparison.verdict(), "no bound is broken so far; 1 case failed; stopped with 1 case missing");
        assert!(comparison.text().ends_with("missing\nfailed: a, N = 3,000: a deadlock\n"), "{}", comparison.text());
        let json = json(&[comparison.clone()], &Provenance::default(), &Used::default());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["parts"][0]["failed"][0]["case"], "N = 3,000");
        assert_eq!(json["verdict"], "stopped before its end; no bound is broken so far");
        comparison.lines[0].bound.worst = Some(0.001);
        assert_eq!(verdict(&[comparison]), "stopped before its end; 2 bounds are broken");
    }

    #[test]
    fn what_is_no_number_is_within_no_bound() {
        let mut comparison = example();
        comparison.lines[0].points[1].forecast = vec![f64::NAN];
        assert_eq!(comparison.broken(), 2);
    }

    #[test]
    fn programs_get_plain_numbers() {
        let csv = example().csv();
        let mut lines = csv.lines();
        assert!(lines.next().unwrap().starts_with("line,case,reference_runs,reference_seconds,"));
        assert!(lines.next().unwrap().starts_with("a,\"N = 1,000\",2,11.0,10.0,12.0,1,11.11,"));
    }

    #[test]
    fn people_get_tables() {
        let text = example().text();
        assert!(text.contains("11.00 (10.00 to 12.00) s"), "{text}");
        assert!(text.contains("each within 2 %, mean within 1.5 %"), "{text}");
        assert!(text.ends_with("tiny: all bounds hold\n"), "{text}");
    }
}
