//! `hpcast machine`: check, show, draw and import machine files.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hpcast_platform::diagnostic::Source;
use hpcast_platform::draw;
use hpcast_platform::import::simgrid::{self, Release};
use hpcast_platform::machine::{Figures, Machine};
use hpcast_report::{check_writable, write_file};
use hpcast_units::count;

use crate::failure::Failure;
use crate::print;

/// What to do with a machine file.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Say whether a machine file is right, and what is wrong with it
    Check {
        /// The machine file
        file: PathBuf,
    },
    /// Show a machine with what follows from its file: switches, cables, bisection bandwidth, ...
    Show {
        /// The machine file
        file: PathBuf,
    },
    /// Draw a machine's network as an SVG picture
    Draw {
        /// The machine file
        file: PathBuf,
        /// The picture
        #[arg(short, long, value_name = "FILE.svg")]
        output: PathBuf,
    },
    /// Make a machine file of a SimGrid platform file
    Import {
        #[command(flatten)]
        platform: Platform,
        /// The machine file to write
        #[arg(short, long, value_name = "FILE.toml")]
        output: PathBuf,
    },
}

/// A SimGrid platform, and how to read it.
#[derive(Args)]
pub(crate) struct Platform {
    /// The platform file (XML)
    pub file: PathBuf,
    /// The SimGrid whose reading of the file is followed: 3.32, or 2018 for platforms of Cornebize's thesis
    #[arg(long, default_value = "3.32", value_name = "VERSION")]
    simgrid: String,
    /// Sockets that share the cores of a node, which a platform file does not tell
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    sockets: u32,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Check { file } => {
            let machine = Machine::load(file)?;
            print(&format!("{}: right, {} nodes\n", file.display(), count(u64::from(machine.nodes.count))))
        }
        Command::Show { file } => print(&show(&Machine::load(file)?)),
        Command::Draw { file, output } => {
            check_writable(output)?;
            let machine = Machine::load(file)?;
            write_file(output, draw::svg(machine.interconnect.topology(), &machine.name, None).as_bytes())?;
            print(&format!("drawn to {}\n", output.display()))
        }
        Command::Import { platform, output } => import(platform, output),
    }
}

fn show(machine: &Machine) -> String {
    let figures = Figures::of(machine);
    let mut rows: Vec<(&str, String)> = vec![
        ("machine", machine.name.clone()),
        ("network", figures.topology.clone()),
        ("nodes", count(u64::from(figures.nodes))),
        ("cores", count(figures.cores)),
        ("switches", count(u64::from(figures.switches))),
        ("cables", count(figures.cables)),
        ("links", format!("{} (directed)", count(u64::from(figures.links)))),
        (
            "bisection bandwidth",
            format!(
                "{}{}",
                if figures.bisection_is_exact { "" } else { "at most " },
                figures.bisection_bandwidth.human()
            ),
        ),
        ("diameter", format!("{} links", figures.diameter)),
        ("largest latency", figures.worst_latency.human()),
    ];
    if figures.unused_ports > 0 {
        rows.push(("unused ports", count(u64::from(figures.unused_ports))));
    }
    rows.extend(figures.memory.map(|memory| ("memory", memory.human())));
    rows.extend(figures.peak.map(|peak| ("peak", peak.human())));
    rows.extend(figures.sustained.map(|sustained| ("sustained", sustained.human())));
    let mut text: String = rows.iter().map(|(name, value)| format!("{name:<22}{value}\n")).collect();
    for assumed in &machine.assumed {
        text += &format!("assumed: {assumed}\n");
    }
    text
}

impl Platform {
    /// Reads the platform.
    pub fn import(&self) -> Result<simgrid::Import, Failure> {
        let release: Release = self.simgrid.parse()?;
        let source = Source::read(&self.file)?;
        let mut import = simgrid::import(&source, release)?;
        let (nodes, sockets) = (&mut import.machine.nodes, self.sockets);
        if !nodes.cores_per_socket.is_multiple_of(sockets) {
            let cores = nodes.cores_per_socket;
            return Err(Failure::input(format!(
                "the {cores} cores of a node cannot be shared evenly by {sockets} sockets"
            )));
        }
        nodes.sockets = sockets;
        nodes.cores_per_socket /= sockets;
        Ok(import)
    }
}

fn import(platform: &Platform, output: &Path) -> Result<(), Failure> {
    check_writable(output)?;
    let import = platform.import()?;
    let files = import.files(&output.to_string_lossy());
    // The graph first: a machine file never stands without the graph that it names.
    for (name, text) in files.iter().rev() {
        write_file(Path::new(name), text.as_bytes())?;
    }
    for (name, _) in &files {
        print(&format!("written: {name}\n"))?;
    }
    if !import.warnings.is_empty() {
        eprintln!("{}", import.warnings.render(false).trim_end());
    }
    Ok(())
}
