//! `hpcast map`: which rank should run where.

mod replay;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use hpcast_mapping::{Load, Mapping, Traffic, map};
use hpcast_mpi::Setup;
use hpcast_platform::diagnostic::Source;
use hpcast_platform::placement::{Plan, Policy, rank_file};
use hpcast_platform::{Machine, Routing};
use hpcast_report::{Cell, Column, Table, check_output, json, write_file};
use hpcast_units::{Bytes, Seconds, count};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::machine_options::MachineOptions;
use crate::outputs::OutputOptions;
use crate::print;
use crate::running::Running;
use replay::Replay;

/// Options of `hpcast map`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    machine: MachineOptions,
    /// What ranks send to each other, as `hpcast run --traffic` writes it
    #[arg(long, value_name = "FILE.csv")]
    traffic: PathBuf,
    /// Where each rank should run, for `hpcast run --rank-file` and for Open MPI
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write what changes to a file; `-` prints it instead of the summary
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut running = Running::begin("map".into());
    let is_printed = options.json.as_deref() == Some(Path::new("-"));
    let inputs: Vec<&Path> = options.machine.inputs().chain([options.traffic.as_path()]).collect();
    for path in [&options.output].into_iter().chain(options.json.iter().filter(|_| !is_printed)) {
        check_output(path, inputs.iter().copied())?;
    }
    let machine = options.machine.load(None, true)?;
    let traffic = Traffic::parse(&Source::read(&options.traffic)?)?;
    inputs.into_iter().for_each(|path| running.add_input(path));
    let (ranks, seed) = (traffic.ranks(), options.machine.seed);
    let placement = options.machine.place(&machine, ranks, seed)?;
    let nodes: Vec<u32> = (0..ranks).map(|rank| placement.node(rank)).collect();
    let mapping = map(&traffic, &nodes, &machine, seed);
    let simulated = options.simulated(&traffic, [&nodes, &mapping.nodes], &machine, &running)?;
    let change = Change { mapping: &mapping, machine: &machine, network: options.machine.network_name(), simulated };
    let comment = [
        format!("made by hpcast map: {} ranks on {}, seed {seed}", count(ranks.into()), machine.name),
        change.hop_bytes(),
        change.replayed(),
    ];
    write_file(&options.output, rank_file::write(&comment, &mapping.nodes, &machine.site()).as_bytes())?;
    let (provenance, used) = running.end();
    let mut document = change.json();
    document["provenance"] = json!(provenance);
    document["cpu_seconds"] = json!(used.cpu_seconds);
    if is_printed {
        return print(&json::document(&document));
    }
    if let Some(path) = &options.json {
        write_file(path, json::document(&document).as_bytes())?;
    }
    print(&format!("{}written to {}\n", change.text(), options.output.display()))
}

impl Options {
    /// What the traffic takes with ranks on these nodes, before and after.
    fn simulated(
        &self,
        traffic: &Traffic,
        orders: [&[u32]; 2],
        machine: &Rc<Machine>,
        running: &Running,
    ) -> Result<Simulated, Failure> {
        let replay = Rc::new(Replay::of(traffic));
        let seed = self.machine.seed;
        let mut seconds = [0.0; 2];
        for (number, nodes) in orders.into_iter().enumerate() {
            if number == 1 && orders[0] == orders[1] {
                seconds[1] = seconds[0];
                break;
            }
            // Whether ranks fit was asked before.
            let plan = Plan { policy: Policy::List(nodes.to_vec()), oversubscribe: true, ..Plan::default() };
            let placement = machine.place_as(&plan, traffic.ranks());
            let placement = placement.map_err(|error| Failure::input(error.to_string()))?;
            let network = self.machine.network(machine, &OutputOptions::default(), seed);
            let part = number as f64 / 2.0..(number + 1) as f64 / 2.0;
            let setup = Setup {
                seed,
                interrupt: Some(running.interrupt()),
                progress: running.progress(part, |_, _| Vec::new()),
                ..Setup::new(traffic.ranks(), machine.clone(), placement, network)
            };
            seconds[number] = replay.run(setup)?.simulated.as_secs();
        }
        Ok(Simulated { replay, seconds })
    }
}

/// What a replay of the traffic found.
struct Simulated {
    replay: Rc<Replay>,
    /// Before and after.
    seconds: [f64; 2],
}

/// What a mapping changes.
struct Change<'m> {
    mapping: &'m Mapping,
    machine: &'m Machine,
    /// The network model.
    network: String,
    simulated: Simulated,
}

impl Change<'_> {
    /// The links by kind, upper levels first.
    fn table(&self) -> Table {
        let Mapping { before, after, .. } = self.mapping;
        let mut table = Table::new([
            Column::new("links", "links"),
            Column::new("before", "before_bytes"),
            Column::new("after", "after_bytes"),
            Column::new("change", "change"),
            Column::new("most before", "most_before_bytes"),
            Column::new("most after", "most_after_bytes"),
        ]);
        let mut names: Vec<&str> = before.kinds.iter().map(|kind| kind.name.as_str()).collect();
        let only_after = after.kinds.iter().map(|kind| kind.name.as_str()).filter(|name| !names.contains(name));
        names.extend(only_after.collect::<Vec<_>>());
        for name in names {
            let of = |load: &Load| {
                let kind = load.kinds.iter().find(|kind| kind.name == name);
                kind.map_or((0.0, 0.0), |kind| (kind.bytes as f64, kind.most as f64))
            };
            let ((old, old_most), (new, new_most)) = (of(before), of(after));
            table.push([
                Cell::Text(name.into()),
                Cell::Data(old),
                Cell::Data(new),
                change(old, new),
                Cell::Data(old_most),
                Cell::Data(new_most),
            ]);
        }
        table
    }

    fn hop_bytes(&self) -> String {
        let [old, new] = [&self.mapping.before, &self.mapping.after].map(|load| load.hop_bytes);
        let human = |bytes: u128| Bytes::new(bytes.min(u128::from(u64::MAX)) as u64).human();
        format!(
            "bytes times links beyond the nodes' own: {} before, {} after{}",
            human(old),
            human(new),
            gain(old as f64, new as f64)
        )
    }

    fn busiest(&self, load: &Load) -> String {
        match load.busiest {
            Some(link) => format!(
                "{} carries {}, for {}",
                self.machine.interconnect.link_name(link),
                Bytes::new(load.busiest_bytes).human(),
                Seconds::new(load.busiest_seconds).human()
            ),
            None => "none carries anything".into(),
        }
    }

    /// The routing whose ways the forecast takes: one way for each pair of nodes.
    fn forecast_routing(&self) -> Routing {
        let routing = self.machine.interconnect.routing();
        if routing.is_fixed() { routing } else { Routing::Fixed }
    }

    /// What was simulated, and what came out.
    fn replayed(&self) -> String {
        let [old, new] = self.simulated.seconds;
        let human = |seconds: f64| Seconds::new(seconds).human();
        format!("simulated: {} before, {} after{}", human(old), human(new), gain(old, new))
    }

    /// What was simulated how.
    fn replay(&self) -> String {
        let interconnect = &self.machine.interconnect;
        let Replay { rounds, messages, share, .. } = &*self.simulated.replay;
        let of_all = if *share < 1.0 { format!(" ({:.2} % of the traffic)", 100.0 * share) } else { String::new() };
        format!(
            "{} messages{of_all}, rounds: {rounds}, network model {}, routing {}",
            count(*messages),
            self.network,
            interconnect.routing().describe(interconnect.topology())
        )
    }

    fn text(&self) -> String {
        let Mapping { nodes, before, after, is_cut_short } = self.mapping;
        let mut text = format!(
            "map: {} ranks on {}\nPredicted along the ways of {}\n{}\n\n{}\nMost loaded link\n  before: {}\n  after:  {}{}\n\n",
            count(nodes.len() as u64),
            self.machine.name,
            self.forecast_routing().word(self.machine.interconnect.topology()),
            self.hop_bytes(),
            self.table().text(),
            self.busiest(before),
            self.busiest(after),
            gain(before.busiest_seconds, after.busiest_seconds),
        );
        let [old, new] = self.simulated.seconds;
        text += &format!(
            "Simulated: {}\n  before: {}\n  after:  {}{}\n\n",
            self.replay(),
            Seconds::new(old).human(),
            Seconds::new(new).human(),
            gain(old, new)
        );
        if new > old {
            text += "Warning: simulated, the new order is slower than the old one\n\n";
        }
        if *is_cut_short {
            text += "Warning: it stopped before nothing gained any more, since that would take too long\n\n";
        }
        text
    }

    fn json(&self) -> Value {
        let side = |load: &Load, seconds: f64| {
            json!({
                "simulated_seconds": seconds,
                "hop_bytes": load.hop_bytes as f64,
                "between_nodes_bytes": load.between_nodes.get(),
                "busiest_link": load.busiest.map(|link| self.machine.interconnect.link_name(link)),
                "busiest_link_bytes": load.busiest_bytes,
                "busiest_link_seconds": load.busiest_seconds,
            })
        };
        let (topology, routing) = (self.machine.interconnect.topology(), self.machine.interconnect.routing());
        let Simulated { replay, seconds: [old, new] } = &self.simulated;
        let (old, new) = (*old, *new);
        json!({
            "machine": self.machine.name,
            "network": self.network,
            "routing": routing.word(topology),
            "ugal_threshold": routing.threshold(),
            "predicted_routing": self.forecast_routing().word(topology),
            "predicted_change": relative(self.mapping.before.busiest_seconds, self.mapping.after.busiest_seconds),
            "simulated_change": relative(old, new),
            "replayed": { "messages": replay.messages, "rounds": replay.rounds, "share": replay.share },
            "ranks": self.mapping.nodes.len(),
            "nodes": self.mapping.nodes,
            "before": side(&self.mapping.before, old),
            "after": side(&self.mapping.after, new),
            "links": self.table(),
            "cut_short": self.mapping.is_cut_short,
        })
    }
}

/// How much more it is, as a share.
fn relative(old: f64, new: f64) -> Option<f64> {
    (old > 0.0).then(|| new / old - 1.0)
}

fn change(old: f64, new: f64) -> Cell {
    relative(old, new).map_or(Cell::Empty, Cell::Share)
}

/// The same in words.
fn gain(old: f64, new: f64) -> String {
    relative(old, new).map(|change| format!(" ({:+.1} %)", 100.0 * change)).unwrap_or_default()
}
