//! The summary that a user reads on the terminal after a run.

use hpcast_units::{Seconds, count};
use serde_json::Value;

use crate::progress::duration;
use crate::run_report::RunReport;
use crate::table::{Cell, Column, Table, data};

/// So many links are worth a line on the terminal.
const LINKS: usize = 5;

/// The whole summary, in paragraphs with an empty line between them.
pub fn summary(report: &RunReport) -> String {
    let paragraphs = [
        heading(report),
        if report.table.is_empty() { String::new() } else { report.table.text() },
        result(report),
        ranks(report),
        links(report),
        cost(report, true),
        list("Assumed", &report.assumptions),
        list("Warnings", &report.warnings),
    ];
    join(&paragraphs)
}

/// Paragraphs with an empty line between them.
pub(crate) fn join(paragraphs: &[String]) -> String {
    let paragraphs: Vec<&str> = paragraphs.iter().map(|text| text.trim_end_matches('\n')).collect();
    let paragraphs: Vec<&str> = paragraphs.into_iter().filter(|text| !text.is_empty()).collect();
    paragraphs.join("\n\n") + "\n"
}

fn heading(report: &RunReport) -> String {
    let machine = &report.machine;
    let ranks = if report.ranks == 1 { "1 rank".into() } else { format!("{} ranks", count(report.ranks.into())) };
    let mut text = format!("{}: {ranks} on {}", report.program, machine.name);
    if machine.nodes > 0 {
        text += &format!(" ({} nodes, {})", count(machine.nodes.into()), machine.topology);
    }
    let mut details = vec![format!("network model {}", report.network)];
    details.extend(report.parameters.iter().filter_map(|(name, value)| match value {
        Value::Bool(false) | Value::Null => None,
        Value::Bool(true) => Some(name.clone()),
        Value::String(value) if value.is_empty() => None,
        Value::String(value) => Some(format!("{name} {value}")),
        value => Some(format!("{name} {value}")),
    }));
    details.push(format!("seed {}", report.seed));
    text + "\n" + &details.join(", ")
}

fn result(report: &RunReport) -> String {
    lines(&[("Simulated time", Seconds::new(report.simulated_seconds).human()), ("Messages", messages(report))])
}

pub(crate) fn messages(report: &RunReport) -> String {
    match report.messages {
        0 => "none".into(),
        messages => format!("{} with {} of data", count(messages), data(report.bytes as f64)),
    }
}

fn ranks(report: &RunReport) -> String {
    let mut table = Table::new(
        [("Time of a rank", "activity"), ("mean", "mean"), ("share", "share")]
            .into_iter()
            .chain([("least", "min"), ("rank", "min_rank"), ("most", "max"), ("rank", "max_rank")])
            .map(|(header, key)| Column::new(header, key)),
    );
    let whole: f64 = report.rank_times.activities().iter().map(|(_, spread)| spread.mean_seconds).sum();
    if whole == 0.0 {
        return String::new();
    }
    for (activity, spread) in report.rank_times.activities() {
        table.push([
            Cell::Text(format!("  {}", activity.name())),
            Cell::Seconds(spread.mean_seconds),
            Cell::Share(spread.mean_seconds / whole),
            Cell::Seconds(spread.min_seconds),
            Cell::Count(spread.min_rank.into()),
            Cell::Seconds(spread.max_seconds),
            Cell::Count(spread.max_rank.into()),
        ]);
    }
    table.text()
}

pub(crate) fn links(report: &RunReport) -> String {
    if report.busiest_links.is_empty() {
        return String::new();
    }
    let columns = [("Busiest links", "name"), ("data", "bytes"), ("mean load", "load"), ("of", "capacity")];
    let mut table = Table::new(columns.map(|(header, key)| Column::new(header, key)));
    for link in report.busiest_links.iter().take(LINKS) {
        table.push([
            Cell::Text(format!("  {}", link.name)),
            Cell::Data(link.bytes),
            Cell::Share(link.load),
            Cell::Bandwidth(link.capacity_bytes_per_second),
        ]);
    }
    table.text() + &link_kinds(report)
}

/// What the kinds of links carried, where they differ.
fn link_kinds(report: &RunReport) -> String {
    if report.link_kinds.len() < 2 {
        return String::new();
    }
    let columns = [
        ("Kinds of links", "kind"),
        ("links", "links"),
        ("data", "bytes"),
        ("mean load", "load"),
        ("greatest", "greatest"),
    ];
    let mut table = Table::new(columns.map(|(header, key)| Column::new(header, key)));
    for kind in &report.link_kinds {
        table.push([
            Cell::Text(format!("  {}", kind.kind)),
            Cell::Count(kind.links.into()),
            Cell::Data(kind.bytes),
            Cell::Share(kind.load),
            Cell::Share(kind.greatest_load),
        ]);
    }
    format!("\n{}", table.text())
}

/// What the simulation cost. The rate of messages tells nothing where some were not simulated.
pub(crate) fn cost(report: &RunReport, every_message: bool) -> String {
    let used = &report.used;
    let mut entries =
        vec![("Wall time", format!("{} ({} of CPU)", duration(used.wall_seconds), duration(used.cpu_seconds)))];
    if used.wall_seconds > 0.0 {
        let speed = Seconds::new(report.simulated_seconds / used.wall_seconds).human();
        let rate = count((report.messages as f64 / used.wall_seconds).round() as u64);
        let rate = if every_message { format!(", {rate} messages/s") } else { String::new() };
        entries.push(("Speed", format!("{speed} simulated per second{rate}")));
    }
    if let Some(peak) = used.peak_memory_bytes {
        entries.push(("Peak memory", data(peak as f64)));
    }
    lines(&entries)
}

/// Names and values below each other.
pub(crate) fn lines(entries: &[(&str, String)]) -> String {
    entries.iter().map(|(name, value)| format!("{name:<17}{value}\n")).collect()
}

pub(crate) fn list(title: &str, entries: &[String]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let entries: String = entries.iter().map(|entry| format!("  - {entry}\n")).collect();
    format!("{title}\n{entries}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_report::MachineInfo;
    use crate::run_report::tests::example;

    #[test]
    fn the_whole_summary() {
        let expected = "\
allreduce: 4 ranks on Frontera (8,008 nodes, fat tree)
network model flow, size 8 B..64 KiB, count 2, seed 1

  size     mean   algorithm
 8 B     1.5 us   recursive doubling
64 KiB   250 us   ring

Simulated time   2 ms
Messages         16 with 256 KiB of data

Time of a rank     mean    share     least   rank      most   rank
  compute        125 us    6.7 %      0 s       0    500 us      2
  send           100 us    5.3 %    100 us      0    100 us      0
  receive         50 us    2.7 %      0 s       3    100 us      1
  wait           1.6 ms   85.3 %   1.35 ms      2   1.85 ms      0

Busiest links           data   mean load          of
  node 3 -> leaf 0   128 KiB       0.5 %   12.5 GB/s

Wall time        12.5 ms (11 ms of CPU)
Speed            160 ms simulated per second, 1,280 messages/s
Peak memory      7 MiB

Assumed
  - no loopback is described: messages inside a node go through its switch

Warnings
  - 1 message was sent and never received
";
        assert_eq!(summary(&example()), expected);
    }

    #[test]
    fn what_there_is_not_is_left_out() {
        let machine = MachineInfo { name: "laptop".into(), ..MachineInfo::default() };
        let report =
            RunReport { program: "idle".into(), network: "ideal".into(), machine, ranks: 1, ..RunReport::default() };
        let expected = "idle: 1 rank on laptop\nnetwork model ideal, seed 0\n\nSimulated time   0 s\nMessages         none\n\n\
                        Wall time        0 s (0 s of CPU)\n";
        assert_eq!(summary(&report), expected);
    }
}
