//! `hpcast network`: what a machine's network does with made-up traffic.

mod compare;
mod throughput;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::{Args, Subcommand};
use hpcast_models::network::PacketNetwork;
use hpcast_platform::Machine;
use hpcast_report::{Table, check_output, csv, json, write_file};
use serde_json::Value;

use crate::failure::Failure;
use crate::machine_options::RoutingOptions;
use crate::print;

/// What to do with a network.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Find how much every node can send, for patterns of traffic and routings
    Throughput(throughput::Options),
    /// Run the same messages under the flow model and the packet model, and say how far apart they are
    Compare(compare::Options),
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Throughput(options) => throughput::run(options),
        Command::Compare(options) => compare::run(options),
    }
}

/// What all of them need.
#[derive(Args)]
struct Common {
    /// Machine file
    #[arg(short = 'm', long = "machine", value_name = "FILE.toml")]
    path: PathBuf,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The table as CSV
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// The table as JSON, with how it came about; `-` prints it
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,
    /// The table as a picture
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

impl Common {
    /// Whether what is to be written can be.
    fn check(&self) -> Result<(), Failure> {
        let files = self.csv.iter().chain(self.json.iter().filter(|path| !is_dash(path))).chain(&self.svg);
        files.into_iter().try_for_each(|path| Ok(check_output(path, [self.path.as_path()])?))
    }

    fn load(&self, routing: &RoutingOptions) -> Result<Rc<Machine>, Failure> {
        Ok(Rc::new(routing.apply(Machine::load(&self.path)?)?))
    }

    /// Prints and writes the table.
    fn write(&self, title: &str, table: &Table, document: Value, svg: impl FnOnce() -> String) -> Result<(), Failure> {
        if let Some(path) = &self.csv {
            write_file(path, csv::plain(table).as_bytes())?;
        }
        if let Some(path) = &self.svg {
            write_file(path, svg().as_bytes())?;
        }
        let document = json::document(&document);
        match &self.json {
            Some(path) if is_dash(path) => return print(&document),
            Some(path) => write_file(path, document.as_bytes())?,
            None => {}
        }
        print(&format!("{title}\n\n{}", table.text()))
    }
}

/// Whether the packet model can take the machine.
fn check_packets(machine: &Machine) -> Result<(), Failure> {
    PacketNetwork::check(machine).map_err(|error| Failure::input(error.to_string()))
}

fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}
