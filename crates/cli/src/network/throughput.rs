//! `hpcast network throughput`: how much every node can send before messages pile up.

use clap::Args;
use hpcast_models::network::{Pattern, Stuck, Throughput, Traffic, injection, measure, most_rate, saturation};
use hpcast_platform::{Machine, Routing};
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

/// With fewer messages chance decides.
const ENOUGH: u64 = 1000;

struct Row {
    pattern: Pattern,
    routing: &'static str,
    /// What links allow; `None` where ways follow the load, so that no fixed load of links says it.
    most: Option<f64>,
    /// `None` if it keeps up with nothing.
    found: Option<Throughput>,
    curve: Vec<(f64, f64)>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    options.common.check()?;
    let machine = Machine::load(&options.common.path)?;
    let routings = options.routings(&machine)?;
    options.check_traffic(&machine)?;
    if matches!(options.network, NetworkModel::Packet) {
        super::check_packets(&machine)?;
    }
    let mut running = Running::begin("throughput".into());
    running.add_input(&options.common.path);
    let cases: Vec<(Routing, Pattern)> =
        routings.iter().flat_map(|&routing| options.patterns.iter().map(move |&pattern| (routing, pattern))).collect();
    let mut rows = Vec::new();
    for (number, &(routing, pattern)) in cases.iter().enumerate() {
        let share = |number: usize| number as f64 / cases.len() as f64;
        let mut progress = running.progress(share(number)..share(number + 1), |_, _| Vec::new());
        let mut tell = |done: f64| progress.iter_mut().for_each(|tell| tell(done, hpcast_units::Time::ZERO));
        rows.push(
            options.row(&machine, routing, pattern, &mut tell).map_err(|stuck| Failure::input(stuck.to_string()))?,
        );
        if running.interrupt().load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
    }
    let (provenance, used) = running.end();
    let table = table(&rows);
    let warnings = options.warnings(&machine, &rows);
    // One for all of them.
    let threshold = routings.iter().find_map(|routing| routing.threshold());
    let mut title = format!(
        "{}: {}, {} model{}; rates are what every node sends",
        machine.name,
        machine.interconnect.topology().describe(),
        options.network.name(),
        threshold.map(|threshold| format!(", UGAL with threshold {threshold}")).unwrap_or_default(),
    );
    warnings.iter().for_each(|warning| title += &format!("\nwarning: {warning}"));
    let document = json!({
        "command": "network throughput", "machine": machine.name, "network": options.network.name(),
        "message_bytes": options.bytes(&machine), "messages": options.messages, "seed": options.common.seed,
        "ugal_threshold": threshold, "rows": table, "warnings": warnings, "provenance": provenance, "used": used,
    });
    options.common.write(&title, &table, document, || options.plot(&machine, &rows).svg())
}

impl Options {
    fn bytes(&self, machine: &Machine) -> u64 {
        self.message.map_or(u64::from(machine.packets.size), Bytes::get)
    }

    /// Whether there is traffic at all.
    fn check_traffic(&self, machine: &Machine) -> Result<(), Failure> {
        if machine.nodes.count < 2 {
            let message = "a machine of one node has no traffic between nodes: take a machine with several nodes";
            return Err(Failure::input(message));
        }
        if self.bytes(machine) == 0 {
            return Err(Failure::input("--message 0B: messages without bytes have no rate: write --message 4KiB"));
        }
        Ok(())
    }

    fn warnings(&self, machine: &Machine, rows: &[Row]) -> Vec<String> {
        let mut warnings = Vec::new();
        let messages = u64::from(self.messages) * u64::from(machine.nodes.count);
        if messages < ENOUGH {
            let enough = ENOUGH.div_ceil(machine.nodes.count.into());
            warnings.push(format!("{messages} messages are few, and rates rough: write --messages {enough} or more"));
        }
        for Row { pattern, routing, .. } in rows.iter().filter(|row| row.found.is_none()) {
            warnings.push(format!("{pattern}, {routing}: the network kept up with no rate that was tried"));
        }
        warnings
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

    fn row(
        &self,
        machine: &Machine,
        routing: Routing,
        pattern: Pattern,
        tell: &mut dyn FnMut(f64),
    ) -> Result<Row, Stuck> {
        let mut machine = machine.clone();
        machine.interconnect = machine.interconnect.routed(routing);
        let machine = std::rc::Rc::new(machine);
        let seed = self.common.seed;
        let traffic = Traffic { pattern, bytes: self.bytes(&machine), rate: 0.0, messages: self.messages, seed };
        let limit = injection(&machine);
        // Where ways follow the load, links may carry more than they would if ways did not.
        let most = (!routing.looks_at_load()).then(|| most_rate(&machine, pattern, seed).min(limit));
        let network = || self.network.build(&machine, seed);
        let found = saturation(network, &machine, &traffic, most.unwrap_or(limit))?;
        tell(0.5);
        let mut curve = Vec::new();
        if let (Some(found), true) = (found, self.common.svg.is_some()) {
            for (number, share) in SHARES.into_iter().enumerate() {
                tell(0.5 + 0.5 * number as f64 / SHARES.len() as f64);
                let rate = share * found.rate;
                let seen = measure(&mut *network(), &machine, &Traffic { rate, ..traffic })?;
                curve.push((seen.offered, seen.latency.as_secs()));
            }
        }
        let routing = routing.word(machine.interconnect.topology());
        Ok(Row { pattern, routing, most, found, curve })
    }

    fn plot(&self, machine: &Machine, rows: &[Row]) -> Plot {
        let series = rows.iter().map(|row| Series {
            name: format!("{}, {}", row.pattern, row.routing),
            points: row.curve.clone(),
            ..Series::default()
        });
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

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        Column::new("pattern", "pattern"),
        Column::new("routing", "routing"),
        Column::new("links allow", "most_bytes_per_second"),
        Column::new("keeps up with", "accepted_bytes_per_second"),
        Column::new("of that", "share"),
        Column::new("message takes", "latency_seconds"),
    ]);
    let rate = |rate: Option<f64>| rate.map_or(Cell::Empty, Cell::Bandwidth);
    for Row { pattern, routing, most, found, .. } in rows {
        let kept_up = found.map(|found| found.rate);
        table.push([
            Cell::Text(pattern.to_string()),
            Cell::Text((*routing).into()),
            rate(*most),
            rate(kept_up),
            kept_up.zip(*most).map_or(Cell::Empty, |(rate, most)| Cell::Share(rate / most)),
            found.map_or(Cell::Empty, |found| Cell::Seconds(found.latency.as_secs())),
        ]);
    }
    table
}
