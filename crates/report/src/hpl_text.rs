//! What people read below the output of xhpl: where the time went and what that means.

use hpcast_units::{FlopRate, Seconds, count};

use crate::hpl::{Combination, HplReport, KernelTime};
use crate::hpl_real;
use crate::interval::Estimate;
use crate::table::{Cell, Column, Table};
use crate::text::{cost, join, lines, links, list, messages};

/// Kernels with a smaller share of the time are put together.
const WORTH_A_LINE: f64 = 0.001;

/// The account. Its lines are indented: programs that read xhpl's output look for lines that begin with W.
pub fn account(report: &HplReport) -> String {
    let run = &report.run;
    let mut paragraphs = vec![heading(report)];
    // Who stops the first run has no results.
    if !report.combinations.is_empty() {
        paragraphs.push(result(report));
        if report.combinations.len() > 1 {
            paragraphs.push(combinations(report));
        }
        paragraphs.push(hpl_real::text(&report.real));
        paragraphs.extend(report.combinations.iter().map(sources));
        paragraphs.extend([phases(report), kernels(report), links(run)]);
    }
    paragraphs.extend([
        cost(run, report.uncertainty == 0.0),
        list("Assumed", &run.assumptions),
        list("Warnings", &run.warnings),
    ]);
    let indented = |line: &str| if line.is_empty() { "\n".into() } else { format!("  {line}\n") };
    join(&paragraphs).lines().map(indented).collect()
}

fn repeated(report: &HplReport) -> bool {
    report.combinations.iter().any(|combination| combination.runs > 1)
}

fn heading(report: &HplReport) -> String {
    let run = &report.run;
    let nodes = count(run.machine.nodes.into());
    let machine = format!("{} ({nodes} nodes, {})", run.machine.name, run.machine.topology);
    let shown = |(name, value): &(String, serde_json::Value)| match name.as_str() {
        "routing" => value.as_str().map(|word| format!("routing {word}, ")),
        "ugal-threshold" => Some(format!("{name} {value}, ")),
        _ => None,
    };
    let routing: String = run.parameters.iter().filter_map(shown).collect();
    let (version, network, seed) = (&run.provenance.version, &run.network, run.seed);
    format!("hpcast {version}: HPL on {machine}, network model {network}, {routing}seed {seed}\n")
}

fn result(report: &HplReport) -> String {
    let run = &report.run;
    let gflops = |gflops: f64| FlopRate::new(gflops * 1e9).human();
    let several = report.combinations.len() > 1;
    let only = &report.combinations[0];
    let mut time = Seconds::new(if several { run.simulated_seconds } else { only.seconds.mean }).human();
    let mut speed = gflops(report.gflops);
    if let (Some(seconds), Some(spread), false) = (only.seconds.prediction_95, only.gflops.prediction_95, several) {
        time = Seconds::new(only.seconds.mean).human_between(seconds);
        speed = FlopRate::new(only.gflops.mean * 1e9).human_between(spread * 1e9);
        speed += &format!(" (95 % of runs; {} were simulated)", count(only.runs as u64));
    } else if report.uncertainty > 0.0 && !several {
        time += &format!(" +- {:.2} %", 100.0 * report.uncertainty);
    }
    if let Some(peak) = report.peak_gflops.filter(|peak| *peak > 0.0) {
        speed += &format!(", {:.1} % of the peak of the nodes used ({})", 100.0 * report.gflops / peak, gflops(peak));
    }
    let idle = report.idle_share;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut entries = vec![
        (if several { "All runs" } else { "Simulated time" }, time),
        (if several { "Fastest" } else { "Performance" }, speed),
        ("Idle", format!("{} of a rank's time, {} to {}", percent(idle.mean), percent(idle.min), percent(idle.max))),
        ("Messages", messages(run)),
    ];
    if !report.limit.is_empty() {
        entries.push(("Limit", report.limit.clone()));
    }
    lines(&entries)
}

fn combinations(report: &HplReport) -> String {
    let columns = ["Variant", "N", "NB", "P", "Q", "runs", "time", "+-", "speed", "+-"];
    let mut table = Table::new(columns.map(|header| Column::new(header, header)));
    for combination in &report.combinations {
        let cell = |estimate: Estimate, cell: fn(f64) -> Cell| {
            [cell(estimate.mean), estimate.prediction_95.map_or(Cell::Empty, cell)]
        };
        let mut row = vec![
            Cell::Text(combination.variant.trim_start_matches('W').into()),
            Cell::Count(combination.n),
            Cell::Count(combination.nb),
            Cell::Count(combination.p.into()),
            Cell::Count(combination.q.into()),
            Cell::Count(combination.runs as u64),
        ];
        row.extend(cell(combination.seconds, Cell::Seconds));
        row.extend(cell(combination.gflops, Cell::Gflops));
        table.push(row);
    }
    let meaning = if repeated(report) { "95 % of runs lie within +-\n" } else { "" };
    table.text() + meaning
}

/// Where the differences of the runs come from, if that was asked.
fn sources(combination: &Combination) -> String {
    if combination.contributions.is_empty() {
        return String::new();
    }
    let first = format!("What runs of N {} differ by", count(combination.n));
    let columns = [first.as_str(), "time +-", "speed +-", "share"];
    let mut table = Table::new(columns.map(|header| Column::new(header, header)));
    for contribution in &combination.contributions {
        table.push([
            Cell::Text(format!("  {}", meaning(contribution.source))),
            Cell::Seconds(contribution.seconds_95),
            Cell::Gflops(contribution.gflops_95),
            Cell::Share(contribution.share),
        ]);
    }
    table.text()
}

fn meaning(source: &str) -> &str {
    match source {
        "calls" => "calls, messages, pivots",
        "coefficients" => "coefficients of the models",
        "nodes" => "which processors the machine has",
        "days" => "from day to day",
        "unsimulated" => "what was not simulated",
        other => other,
    }
}

fn phases(report: &HplReport) -> String {
    let columns = [("Time of a rank by phase", "phase"), ("mean", "mean"), ("share", "share")];
    let mut table = Table::new(columns.map(|(header, key)| Column::new(header, key)));
    for (name, time) in &report.phases {
        let name = format!("  {}", name.replace('_', " "));
        table.push([Cell::Text(name), Cell::Seconds(time.seconds), Cell::Share(time.share)]);
    }
    table.text()
}

fn kernels(report: &HplReport) -> String {
    let columns = [("Time of a rank by kernel", "kernel"), ("calls", "calls"), ("mean", "mean"), ("share", "share")];
    let mut table = Table::new(columns.map(|(header, key)| Column::new(header, key)));
    let mut row = |name: &str, time: KernelTime| {
        let name = Cell::Text(format!("  {name}"));
        table.push([name, Cell::Count(time.calls), Cell::Seconds(time.seconds), Cell::Share(time.share)]);
    };
    let mut others = KernelTime { calls: 0, seconds: 0.0, share: 0.0 };
    for (name, time) in &report.kernels {
        if time.share >= WORTH_A_LINE {
            row(name, *time);
        } else {
            others.calls += time.calls;
            others.seconds += time.seconds;
            others.share += time.share;
        }
    }
    if others.calls > 0 {
        row("others", others);
    }
    if table.is_empty() { String::new() } else { table.text() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpl::tests::example;

    #[test]
    fn the_whole_account() {
        let expected = "  \
hpcast 0.1.0: HPL on Frontera (8,008 nodes, fat tree), network model flow, seed 1

  All runs         8 s
  Fastest          5 Gflop/s, 25.0 % of the peak of the nodes used (20 Gflop/s)
  Idle             25.0 % of a rank's time, 0.0 % to 0.0 %
  Messages         16 with 256 KiB of data
  Limit            Computing limits: ranks update the matrix 56 % of the time and wait 25 %.

  Variant       N   NB   P   Q   runs   time     +-          speed             +-
  R11C2R4   1,000   32   2   2      2    3 s   22 s   3.75 Gflop/s   27.5 Gflop/s
  R11C2R4   2,000   32   2   2      1    2 s    -        5 Gflop/s      -
  95 % of runs lie within +-

  Time of a rank by phase     mean    share
    panel factorisation       1 s    12.5 %
";
        let account = account(&example());
        let (head, _) = account.split_at(account.find("    panel broadcast").expect("phases"));
        assert_eq!(head, expected, "{account}");
        assert!(account.contains("    dgemm                    1,000     4 s    50.0 %\n"), "{account}");
        assert!(account.lines().all(|line| line.is_empty() || line.starts_with("  ")), "{account}");
    }
}
