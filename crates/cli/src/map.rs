//! `hpcast map`: which rank should run where.

use std::path::{Path, PathBuf};

use clap::Args;
use hpcast_mapping::{Load, Mapping, Traffic, map};
use hpcast_platform::Machine;
use hpcast_platform::diagnostic::Source;
use hpcast_platform::placement::rank_file;
use hpcast_report::{Cell, Column, Table, check_writable, json, write_file};
use hpcast_units::{Bytes, Seconds, count};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::machine_options::MachineOptions;
use crate::print;
use crate::running::Running;

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
    check_writable(&options.output)?;
    options.json.as_deref().filter(|_| !is_printed).map(check_writable).transpose()?;
    let machine = options.machine.load(None, true)?;
    let traffic = Traffic::parse(&Source::read(&options.traffic)?)?;
    options.machine.inputs().chain([options.traffic.as_path()]).for_each(|path| running.add_input(path));
    let (ranks, seed) = (traffic.ranks(), options.machine.seed);
    let placement = options.machine.place(&machine, ranks, seed)?;
    let nodes: Vec<u32> = (0..ranks).map(|rank| placement.node(rank)).collect();
    let mapping = map(&traffic, &nodes, &machine, seed);
    let change = Change { mapping: &mapping, machine: &machine };
    let comment = [
        format!("made by hpcast map: {} ranks on {}, seed {seed}", count(ranks.into()), machine.name),
        change.hop_bytes(),
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

/// What a mapping changes.
struct Change<'m> {
    mapping: &'m Mapping,
    machine: &'m Machine,
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

    fn text(&self) -> String {
        let Mapping { nodes, before, after, is_cut_short } = self.mapping;
        let mut text = format!(
            "map: {} ranks on {}\n{}\n\n{}\nMost loaded link\n  before: {}\n  after:  {}{}\n\n",
            count(nodes.len() as u64),
            self.machine.name,
            self.hop_bytes(),
            self.table().text(),
            self.busiest(before),
            self.busiest(after),
            gain(before.busiest_seconds, after.busiest_seconds),
        );
        if *is_cut_short {
            text += "Warning: it stopped before nothing gained any more, since that would take too long\n\n";
        }
        text
    }

    fn json(&self) -> Value {
        let side = |load: &Load| {
            json!({
                "hop_bytes": load.hop_bytes as f64,
                "between_nodes_bytes": load.between_nodes.get(),
                "busiest_link": load.busiest.map(|link| self.machine.interconnect.link_name(link)),
                "busiest_link_bytes": load.busiest_bytes,
                "busiest_link_seconds": load.busiest_seconds,
            })
        };
        json!({
            "machine": self.machine.name,
            "ranks": self.mapping.nodes.len(),
            "nodes": self.mapping.nodes,
            "before": side(&self.mapping.before),
            "after": side(&self.mapping.after),
            "links": self.table(),
            "cut_short": self.mapping.is_cut_short,
        })
    }
}

fn change(old: f64, new: f64) -> Cell {
    if old > 0.0 { Cell::Share(new / old - 1.0) } else { Cell::Empty }
}

/// How much less it is.
fn gain(old: f64, new: f64) -> String {
    if old > 0.0 { format!(" ({:+.1} %)", 100.0 * (new / old - 1.0)) } else { String::new() }
}
