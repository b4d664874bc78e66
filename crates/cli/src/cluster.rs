//! `hpcast cluster`: clusters that do not exist, like one that does.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hpcast_models::compute::ModelFile;
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::check_output;
use hpcast_units::count;

use crate::failure::Failure;
use crate::{fit, model, print};

/// No machine has more, and their file would be gigabytes.
const MOST_PROCESSORS: u64 = 5_000_000;

/// What to do with clusters.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Draw the processors of a cluster on a day, as a model file
    Generate(Generate),
}

/// Options of `hpcast cluster generate`.
#[derive(Args)]
pub(crate) struct Generate {
    /// A model file that says how processors and days differ, as `hpcast fit cluster` writes it
    file: PathBuf,
    /// How many nodes
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: u32,
    /// Sockets of a node
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    sockets: u32,
    /// Which day: processors keep their means, but no day is like another
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    day: u32,
    /// Which cluster: another seed gives other processors
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// Keep the processors that the file lists, and draw only their day
    #[arg(long)]
    measured: bool,
    /// The model file to write
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Generate(generate) => generate.run(),
    }
}

impl Generate {
    fn run(&self) -> Result<(), Failure> {
        check_output(&self.output, [self.file.as_path()])?;
        let source = Source::read(&self.file)?;
        let mut file = ModelFile::parse(&source)?;
        if u64::from(self.nodes) * u64::from(self.sockets) > MOST_PROCESSORS {
            let most = count(MOST_PROCESSORS);
            return Err(Failure::input(format!("a model file lists at most {most} processors; choose fewer nodes")));
        }
        let mut drawn = 0;
        let last = file.first_node.checked_add(self.nodes).ok_or_else(|| {
            Failure::input(format!("--nodes {}: the numbers of nodes end at {}", self.nodes, u32::MAX))
        })?;
        for kernel in file.kernels.values_mut().filter(|kernel| kernel.population.is_some()) {
            if !self.measured {
                kernel.rows.retain(|row| row.processor.is_none());
            }
            let nodes = file.first_node..last;
            let processors = nodes.flat_map(|node| (0..self.sockets).map(move |socket| (node, socket)));
            *kernel = kernel.of_cluster(self.seed, processors).on_day(self.seed, self.day).without_population();
            drawn += 1;
        }
        if drawn == 0 {
            let remedy = "name a file of `hpcast fit cluster`, or add `[[kernel.NAME.population.groups]]`";
            return Err(Diagnostic::error("no kernel says how processors differ", remedy).within(&source).into());
        }
        file.name = format!("{}, cluster {} on day {}", file.name, self.seed, self.day);
        file.made = Some(fit::made(&self.file, &source, 0, file.made.take()));
        model::write(&file, &self.output)?;
        let (nodes, processors) = (u64::from(self.nodes), u64::from(self.nodes) * u64::from(self.sockets));
        print(&format!(
            "written: {}\n{} processors of {} nodes\n\n{}",
            self.output.display(),
            count(processors),
            count(nodes),
            model::summary(&file)
        ))
    }
}
