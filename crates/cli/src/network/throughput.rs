//! `hpcast network throughput`: how much every node can send before messages pile up.

use clap::Args;
use hpcast_models::network::{Pattern, Throughput, Traffic, measure, most_rate, saturation};
use hpcast_platform::{Interconnect, Machine, Routing};
use hpcast_report::{Axis, Cell, Column, Plot, Quantity, Series, Spacing, Table};
use hpcast_units::Bytes;
use serde_json::json;

use super::Common;
use crate::failure::Failure;
use crate::machine_options::{NetworkModel, Threshold};
use crate::running::Running;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    /// Patterns of traffic, with commas: uniform, transpose, shift:K, opposite, permutation, adversary
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "uniform,transpose,shift:1,adversary")]
    patterns: Vec<Pattern>,
    /// Routings, with commas; `all` for all that the network has (default: as the machine file says)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    routings: Vec<String>,
    #[command(flatten)]
    threshold: Threshold,
    /// Network model
    #[arg(long, value_enum, default_value = "packet")]
    network: NetworkModel,
    /// Size of every message (default: one packet)
    #[arg(long, value_name = "SIZE")]
    message: Option<Bytes>,
    /// Messages of every node while arrivals are counted; as many before
    #[arg(long, value_name = "NUMBER", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    messages: u32,
}

/// Shares of the greatest load at which the picture has points.
const SHARES: [f64; 9] = [0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0];

struct Row {
    pattern: Pattern,
    routing: &'static str,
    most: f64,
    found: Throughput,
    curve: Vec<(f64, f64)>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    options.common.check()?;
    let machine = Machine::load(&options.common.path)?;
    let routings = options.routings(&machine)?;
    let mut running = Running::begin("throughput".into());
    running.add_input(&options.common.path);
    let cases: Vec<(Routing, Pattern)> =
        routings.iter().flat_map(|&routing| options.patterns.iter().map(move |&pattern| (routing, pattern))).collect();
    let mut rows = Vec::new();
    for (number, &(routing, pattern)) in cases.iter().enumerate() {
        let share = |number: usize| number as f64 / cases.len() as f64;
        let mut progress = running.progress(share(number)..share(number + 1), |_, _| Vec::new());
        let mut tell = |done: f64| progress.iter_mut().for_each(|tell| tell(done, hpcast_units::Time::ZERO));
        rows.push(options.row(&machine, routing, pattern, &mut tell));
        if running.interrupt().load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
    }
    let (provenance, used) = running.end();
    let table = table(&rows);
    // One for all of them.
    let threshold = routings.iter().find_map(|routing| routing.threshold());
    let title = format!(
        "{}: {}, {} model{}; rates are what every node sends",
        machine.name,
        machine.interconnect.topology().describe(),
        options.network.name(),
        threshold.map(|threshold| format!(", UGAL with threshold {threshold}")).unwrap_or_default(),
    );
    let document = json!({
        "command": "network throughput", "machine": machine.name, "network": options.network.name(),
        "message_bytes": options.bytes(&machine), "messages": options.messages, "seed": options.common.seed,
        "ugal_threshold": threshold, "rows": table, "provenance": provenance, "used": used,
    });
    options.common.write(&title, &table, document, || options.plot(&machine, &rows).svg())
}

impl Options {
    fn bytes(&self, machine: &Machine) -> u64 {
        self.message.map_or(u64::from(machine.packets.size), Bytes::get)
    }

    fn routings(&self, machine: &Machine) -> Result<Vec<Routing>, Failure> {
        let topology = machine.interconnect.topology();
        let words: Vec<&str> = match &self.routings[..] {
            [] => return self.threshold.apply(vec![machine.interconnect.routing()], topology),
            [all] if all == "all" => Routing::words(topology),
            words => words.iter().map(String::as_str).collect(),
        };
        let named = |word: &str| {
            let found = Routing::named(word, machine.ugal_threshold, topology);
            found.map_err(|error| Failure::input(format!("--routings {word}: {error}")))
        };
        let routings = words.into_iter().map(named).collect::<Result<Vec<_>, _>>()?;
        self.threshold.apply(routings, topology)
    }

    fn row(&self, machine: &Machine, routing: Routing, pattern: Pattern, tell: &mut dyn FnMut(f64)) -> Row {
        let mut machine = machine.clone();
        machine.interconnect = machine.interconnect.routed(routing);
        let machine = std::rc::Rc::new(machine);
        let (interconnect, seed) = (&machine.interconnect, self.common.seed);
        let traffic = Traffic { pattern, bytes: self.bytes(&machine), rate: 0.0, messages: self.messages, seed };
        let limit = injection(interconnect);
        let most = most_rate(interconnect, pattern, seed).min(limit);
        // Where ways follow the load, links may carry more than they would if ways did not.
        let ceiling = if routing.looks_at_load() { limit } else { 1.1 * most };
        let network = || self.network.build(&machine, seed);
        let found = saturation(network, interconnect, &traffic, ceiling);
        tell(0.5);
        let at = |(number, share): (usize, f64)| {
            tell(0.5 + 0.5 * number as f64 / SHARES.len() as f64);
            let rate = share * found.accepted;
            let seen = measure(&mut *network(), interconnect, &Traffic { rate, ..traffic });
            (seen.offered, seen.latency.as_secs())
        };
        let shares = if self.common.svg.is_some() { &SHARES[..] } else { &[] };
        let curve = shares.iter().copied().enumerate().map(at).collect();
        let routing = routing.word(interconnect.topology());
        Row { pattern, routing, most, found, curve }
    }

    fn plot(&self, machine: &Machine, rows: &[Row]) -> Plot {
        let series = rows
            .iter()
            .map(|row| Series { name: format!("{}, {}", row.pattern, row.routing), points: row.curve.clone() });
        Plot {
            title: format!(
                "What messages take, by what every node sends: {}",
                machine.interconnect.topology().describe()
            ),
            x: Axis::new("sent by every node", Quantity::Bandwidth, Spacing::Linear),
            y: Axis::new("mean time of a message", Quantity::Seconds, Spacing::Logarithmic),
            series: series.collect(),
            note: format!(
                "{} model, messages of {}, up to the greatest rate that the network keeps up with",
                self.network.name(),
                Bytes::new(self.bytes(machine))
            ),
        }
    }
}

/// Bytes per second that the links of a node can take together.
fn injection(interconnect: &Interconnect) -> f64 {
    use hpcast_platform::topology::Vertex;
    let topology = interconnect.topology();
    let first = Vertex::Node(0);
    let leaves = |id: &u32| {
        let (tail, head) = topology.ends(*id);
        tail == first || (topology.is_shared(*id) && head == first)
    };
    (0..topology.links()).filter(leaves).map(|id| interconnect.capacity(id)).sum()
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        Column::new("pattern", "pattern"),
        Column::new("routing", "routing"),
        Column::new("links allow", "most_bytes_per_second"),
        Column::new("keeps up with", "accepted_bytes_per_second"),
        Column::new("of that", "share"),
        Column::new("message takes", "latency_seconds"),
    ]);
    for row in rows {
        table.push([
            Cell::Text(row.pattern.to_string()),
            Cell::Text(row.routing.into()),
            Cell::Bandwidth(row.most),
            Cell::Bandwidth(row.found.accepted),
            Cell::Share(row.found.accepted / row.most),
            Cell::Seconds(row.found.latency.as_secs()),
        ]);
    }
    table
}
