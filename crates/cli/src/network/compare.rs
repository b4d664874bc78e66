//! `hpcast network compare`: the same messages under the flow model and under the packet model.

use std::rc::Rc;

use clap::Args;
use hpcast_models::network::{Pattern, Transfer, arrivals, message, messages};
use hpcast_platform::Machine;
use hpcast_report::{Axis, Cell, Column, Plot, Quantity, Series, Spacing, Table};
use hpcast_units::{Bytes, Time};
use serde_json::json;

use super::Common;
use crate::failure::Failure;
use crate::machine_options::{NetworkModel, RoutingOptions};
use crate::running::Running;
use crate::sizes::Sizes;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    routing: RoutingOptions,
    /// Sizes of messages: one, a list with commas, or a range that doubles, such as 64B..1MiB
    #[arg(long, value_name = "SIZES", default_value = "64B,1KiB,4KiB,16KiB,64KiB,256KiB,1MiB")]
    sizes: Sizes,
    /// Nodes that send to one other in the pattern `incast`
    #[arg(long, value_name = "NUMBER", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    incast: u32,
}

/// What is run.
const PATTERNS: [(&str, Kind); 8] = [
    ("alone", Kind::Alone),
    ("incast", Kind::Incast),
    ("shift:1", Kind::Of(Pattern::Shift(1), 1)),
    ("opposite", Kind::Of(Pattern::Opposite, 1)),
    ("permutation", Kind::Of(Pattern::Permutation, 1)),
    ("adversary", Kind::Of(Pattern::Adversary, 1)),
    ("uniform", Kind::Of(Pattern::Uniform, 1)),
    ("uniform x 8", Kind::Of(Pattern::Uniform, 8)),
];

#[derive(Clone, Copy)]
enum Kind {
    /// One message, to the opposite node.
    Alone,
    /// Many to one.
    Incast,
    /// So many messages of every node.
    Of(Pattern, u32),
}

impl Kind {
    fn messages(self, machine: &Machine, bytes: u64, options: &Options) -> Vec<Transfer> {
        let nodes = machine.nodes.count;
        match self {
            Kind::Alone => vec![message(0, nodes / 2, bytes)],
            Kind::Incast => {
                // From all over the machine.
                let senders = options.incast.min(nodes - 1);
                let step = (nodes - 1) / senders.max(1);
                (0..senders).map(|sender| message(1 + sender * step, 0, bytes)).collect()
            }
            Kind::Of(pattern, each) => messages(pattern, machine, each, bytes, options.common.seed),
        }
    }
}

struct Row {
    pattern: &'static str,
    bytes: u64,
    messages: usize,
    /// Until the last message has arrived, and what one takes on average: under flow, under packet.
    last: [f64; 2],
    mean: [f64; 2],
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    options.common.check()?;
    let machine = options.common.load(&options.routing)?;
    let topology = machine.interconnect.topology();
    if machine.nodes.count < 2 {
        return Err(Failure::input("a network of one node has nothing to compare: take a machine with several nodes"));
    }
    super::check_packets(&machine)?;
    let mut running = Running::begin("compare".into());
    running.add_input(&options.common.path);
    let sizes = options.sizes.bytes();
    let cases: Vec<(&'static str, Kind, u64)> =
        PATTERNS.iter().flat_map(|&(name, kind)| sizes.iter().map(move |&bytes| (name, kind, bytes))).collect();
    let all: u64 = cases.iter().map(|case| case.2).sum();
    let (mut rows, mut done) = (Vec::new(), 0);
    for &(pattern, kind, bytes) in &cases {
        let messages = kind.messages(&machine, bytes, options);
        rows.push(compare(&machine, pattern, bytes, &messages, options.common.seed)?);
        done += bytes;
        let share = done as f64 / all.max(1) as f64;
        running.progress(0.0..1.0, |_, _| Vec::new()).iter_mut().for_each(|tell| tell(share, Time::ZERO));
        if running.interrupt().load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
    }
    let (provenance, used) = running.end();
    let table = table(&rows);
    let packet = Bytes::new(machine.packets.size.into());
    let routing = machine.interconnect.routing();
    let title =
        format!("{}: {}, {}, packets of {packet}", machine.name, topology.describe(), routing.describe(topology));
    let document = json!({
        "command": "network compare", "machine": machine.name, "routing": routing.word(topology),
        "ugal_threshold": routing.threshold(),
        "packet_bytes": machine.packets.size, "seed": options.common.seed,
        "rows": table, "provenance": provenance, "used": used,
    });
    options.common.write(&title, &table, document, || plot(&machine, &rows).svg())
}

fn compare(
    machine: &Rc<Machine>,
    pattern: &'static str,
    bytes: u64,
    messages: &[Transfer],
    seed: u64,
) -> Result<Row, Failure> {
    let times = |model: NetworkModel| {
        let arrivals = arrivals(&mut *model.build(machine, seed), messages);
        let arrivals =
            arrivals.map_err(|stuck| Failure::input(format!("{pattern}, {} model: {stuck}", model.name())))?;
        let seconds: Vec<f64> = arrivals.iter().map(|time| time.as_secs()).collect();
        let last = seconds.iter().copied().fold(0.0, f64::max);
        Ok::<_, Failure>((last, seconds.iter().sum::<f64>() / seconds.len().max(1) as f64))
    };
    let times = [times(NetworkModel::Flow)?, times(NetworkModel::Packet)?];
    let (last, mean) = (times.map(|time| time.0), times.map(|time| time.1));
    Ok(Row { pattern, bytes, messages: messages.len(), last, mean })
}

/// By how much flow is off, as a share of packet.
fn difference([flow, packet]: [f64; 2]) -> f64 {
    if packet > 0.0 { flow / packet - 1.0 } else { 0.0 }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        Column::new("pattern", "pattern"),
        Column::new("size", "size_bytes"),
        Column::new("messages", "messages"),
        Column::new("all arrived, flow", "last_flow_seconds"),
        Column::new("packet", "last_packet_seconds"),
        Column::new("off by", "last_difference"),
        Column::new("mean, flow", "mean_flow_seconds"),
        Column::new("packet", "mean_packet_seconds"),
        Column::new("off by", "mean_difference"),
    ]);
    for row in rows {
        table.push([
            Cell::Text(row.pattern.into()),
            Cell::Size(row.bytes),
            Cell::Count(row.messages as u64),
            Cell::Seconds(row.last[0]),
            Cell::Seconds(row.last[1]),
            Cell::Share(difference(row.last)),
            Cell::Seconds(row.mean[0]),
            Cell::Seconds(row.mean[1]),
            Cell::Share(difference(row.mean)),
        ]);
    }
    table
}

fn plot(machine: &Machine, rows: &[Row]) -> Plot {
    let series = PATTERNS.iter().map(|&(name, _)| Series {
        name: name.into(),
        points: rows
            .iter()
            .filter(|row| row.pattern == name)
            .map(|row| (row.bytes as f64, difference(row.last)))
            .collect(),
        ..Series::default()
    });
    Plot {
        title: format!("How far flow is from packet: {}", machine.interconnect.topology().describe()),
        x: Axis::new("size of a message", Quantity::Size, Spacing::Logarithmic),
        y: Axis::new("until all have arrived, flow less packet", Quantity::Share, Spacing::Linear),
        series: series.collect(),
        note: format!("packets of {}", Bytes::new(machine.packets.size.into())),
    }
}
