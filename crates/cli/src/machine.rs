//! `hpcast machine`: check, show, draw, price and import machine files.

mod cost;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hpcast_platform::diagnostic::Source;
use hpcast_platform::draw;
use hpcast_platform::import::simgrid::{self, Release};
use hpcast_platform::import::{Format, Import, Unsaid, ibnetdiscover, slurm};
use hpcast_platform::machine::{Figures, Machine};
use hpcast_report::{check_output, write_file};
use hpcast_units::{Bandwidth, Seconds, count};

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
    /// Add up what a machine costs and draws, by the prices in its file
    Cost {
        /// The machine file, with a section [cost]
        file: PathBuf,
        /// Write it to a file; `-` prints it instead of the table
        #[arg(long, value_name = "FILE.json")]
        json: Option<PathBuf>,
    },
    /// Make a machine file of a SimGrid platform, Slurm's topology.conf or the output of ibnetdiscover
    Import {
        #[command(flatten)]
        platform: Platform,
        /// The machine file to write
        #[arg(short, long, value_name = "FILE.toml")]
        output: PathBuf,
    },
}

/// A description of a machine that was made for something else, and how to read it.
#[derive(Args)]
pub(crate) struct Platform {
    /// The file: a SimGrid platform (XML), a topology.conf of Slurm, or what ibnetdiscover printed
    pub file: PathBuf,
    /// The SimGrid whose reading of the file is followed: 3.32 (the default), or 2018 for platforms of Cornebize's thesis
    #[arg(long, value_name = "VERSION")]
    simgrid: Option<String>,
    /// Sockets that share the cores of a node, which no such file tells
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    sockets: u32,
    /// Bandwidth of cables whose speed the file does not tell (not SimGrid)
    #[arg(long, value_name = "BANDWIDTH")]
    bandwidth: Option<Bandwidth>,
    /// Latency of a cable with the switch at its end (not SimGrid)
    #[arg(long, value_name = "TIME")]
    latency: Option<Seconds>,
    /// Cores of a node (not SimGrid)
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    cores: Option<u32>,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Check { file } => {
            let machine = Machine::load(file)?;
            print(&format!("{}: right, {} nodes\n", file.display(), count(u64::from(machine.nodes.count))))
        }
        Command::Show { file } => print(&show(&Machine::load(file)?)),
        Command::Draw { file, output } => {
            check_output(output, [file.as_path()])?;
            let machine = Machine::load(file)?;
            write_file(output, draw::svg(machine.interconnect.topology(), &machine.name, None).as_bytes())?;
            print(&format!("drawn to {}\n", output.display()))
        }
        Command::Cost { file, json } => cost::run(file, json.as_ref()),
        Command::Import { platform, output } => import(platform, output),
    }
}

fn show(machine: &Machine) -> String {
    let figures = Figures::of(machine);
    let mut rows: Vec<(&str, String)> = vec![
        ("machine", machine.name.clone()),
        ("network", figures.topology.clone()),
        ("routing", machine.interconnect.routing().describe(machine.interconnect.topology())),
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
    /// Reads the file, in whatever format it is.
    pub fn import(&self) -> Result<Import, Failure> {
        let source = Source::read(&self.file)?;
        let format = Format::of(&source)?;
        self.check(format)?;
        let unsaid = Unsaid { bandwidth: self.bandwidth, latency: self.latency, cores: self.cores };
        let mut import = match format {
            Format::SimGrid => {
                let release: Release = self.simgrid.as_deref().map_or(Ok(Release::default()), str::parse)?;
                simgrid::import(&source, release)?
            }
            Format::Slurm => slurm::import(&source, &unsaid)?,
            Format::Ibnetdiscover => ibnetdiscover::import(&source, &unsaid)?,
        };
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

    /// Whether all options mean something for this format.
    fn check(&self, format: Format) -> Result<(), Failure> {
        let simgrid = format == Format::SimGrid;
        let options = [
            ("simgrid", self.simgrid.is_some(), !simgrid),
            ("bandwidth", self.bandwidth.is_some(), simgrid),
            ("latency", self.latency.is_some(), simgrid),
            ("cores", self.cores.is_some(), simgrid),
        ];
        if let Some((option, ..)) = options.into_iter().find(|(_, given, useless)| *given && *useless) {
            let noun = match format {
                Format::SimGrid => "a SimGrid platform, which tells it itself",
                Format::Slurm => "a topology.conf of Slurm",
                Format::Ibnetdiscover => "the output of ibnetdiscover",
            };
            return Err(Failure::input(format!(
                "--{option} means nothing for {}: it is {noun}; leave the option out",
                self.file.display()
            )));
        }
        if self.bandwidth.is_some_and(|bandwidth| bandwidth.get() <= 0.0) {
            return Err(Failure::input("--bandwidth must be greater than zero".to_owned()));
        }
        if self.latency.is_some_and(|latency| latency.get() < 0.0) {
            return Err(Failure::input("--latency must not be negative".to_owned()));
        }
        Ok(())
    }
}

fn import(platform: &Platform, output: &Path) -> Result<(), Failure> {
    check_output(output, [platform.file.as_path()])?;
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
