//! `hpcast fit network`: what messages cost, from measurements.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hpcast_calibrate::network::measurements::{Measurements, Place, Reading};
use hpcast_calibrate::network::{self, NetworkError, Recipe};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_platform::{Machine, Path};
use hpcast_report::check_output;
use hpcast_stats::piecewise::{Objective, Strategy};
use hpcast_units::{Bandwidth, Bytes};

use super::{file_to_fill, made};
use crate::call_table::{in_table, pairs};
use crate::failure::Failure;
use crate::{model, print};

/// Options of `hpcast fit network`.
#[derive(Args)]
pub(crate) struct FitNetwork {
    /// Measured calls: columns operation (isend, send, receive, ping-pong, ..), size, seconds and, if you like, where
    /// (between, inside)
    calls: PathBuf,
    /// The machine that it was measured on: its bandwidth, and which messages are detached
    #[arg(short = 'm', long = "machine", value_name = "FILE.toml",
        required_unless_present_all = ["bandwidth", "detached_below"])]
    machine: Option<PathBuf>,
    /// Bandwidth that factors are to multiply (default: the machine's)
    #[arg(long, value_name = "RATE")]
    bandwidth: Option<Bandwidth>,
    /// A send of a smaller message does not wait for the receiver (default: as the machine says)
    #[arg(long, value_name = "SIZE")]
    detached_below: Option<Bytes>,
    /// Smaller messages leave at once, whether or not the receiver is ready (default: as the machine says)
    #[arg(long, value_name = "SIZE")]
    eager_below: Option<Bytes>,
    /// Only rows whose column has this value: cluster=dahu
    #[arg(long, value_name = "COLUMN=VALUE")]
    only: Vec<String>,
    /// What the table's word for an operation means: ring=ping-pong; or, if it has no column for it, that of all rows
    #[arg(long, value_name = "WORD=OPERATION")]
    operation: Vec<String>,
    /// The column of operation, size, seconds or where, if it has another name: size=bytes
    #[arg(long, value_name = "KEY=COLUMN")]
    column: Vec<String>,
    /// Where messages went, if the table does not say
    #[arg(long = "where", value_enum, value_name = "PLACE")]
    place: Option<PlaceChoice>,
    /// Errors that are made as small as possible
    #[arg(long, value_enum, default_value_t)]
    objective: ObjectiveChoice,
    /// Modes of the noise in a range of sizes, at most; 0 for no noise
    #[arg(long, default_value_t = 4, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(0..=10))]
    modes: u8,
    /// As SMPI's calibration does it: take only the receive off half a ping-pong, not the send, and let the two take longer
    /// than it
    #[arg(long)]
    as_smpi: bool,
    /// Add to this model file instead of making a new one; of its network, what was measured anew is replaced
    #[arg(long, value_name = "FILE.toml")]
    add_to: Option<PathBuf>,
    /// The model file to write
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum PlaceChoice {
    /// Between two nodes
    Between,
    /// Inside a node
    Inside,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ObjectiveChoice {
    /// Relative ones: small and large messages count alike
    #[default]
    Logarithmic,
    /// In parts of the size
    Weighted,
    /// In seconds
    Ordinary,
}

impl FitNetwork {
    pub fn run(&self) -> Result<(), Failure> {
        check_output(&self.output, [self.calls.as_path()])?;
        let source = Source::read(&self.calls)?;
        let unreadable = |error: NetworkError| -> Failure { in_measurements(&source, &error).into() };
        let measured = Measurements::read(&source.text, &self.reading()?).map_err(unreadable)?;
        let mut found = network::fit(&measured, &self.recipe()?).map_err(unreadable)?;
        found.eager_below = self.eager_below.map(Bytes::get);
        found.detached_below = self.detached_below.map(Bytes::get);
        let mut file = file_to_fill(self.add_to.as_deref(), &self.calls)?;
        file.made = Some(made(&self.calls, &source, measured.rows(), file.made.take()));
        let text = model::show_network(&found);
        file.network = Some(file.network.take().unwrap_or_default().updated(found));
        model::write(&file, &self.output)?;
        print(&format!("written: {}\n\n{text}", self.output.display()))
    }

    fn reading(&self) -> Result<Reading, Failure> {
        let (named, alone): (Vec<String>, Vec<String>) =
            self.operation.iter().cloned().partition(|text| text.contains('='));
        if alone.len() > 1 {
            return Err(Failure::input("--operation: all rows have one operation; write WORD=OPERATION for more"));
        }
        let columns = pairs("--column", &self.column)?;
        let known = ["operation", "size", "seconds", "where"];
        if let Some((key, _)) = columns.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            return Err(Failure::input(format!("--column {key}: there are {}", known.join(", "))));
        }
        Ok(Reading {
            columns,
            only: pairs("--only", &self.only)?,
            operations: pairs("--operation", &named)?,
            operation: alone.into_iter().next(),
            place: self.place.map(|place| match place {
                PlaceChoice::Between => Place::Between,
                PlaceChoice::Inside => Place::Inside,
            }),
        })
    }

    fn recipe(&self) -> Result<Recipe, Failure> {
        let machine = self.machine.as_deref().map(Machine::load).transpose()?;
        if self.bandwidth.is_some_and(|bandwidth| bandwidth.get() < 1.0) {
            return Err(Failure::input(
                "--bandwidth: a link moves at least a byte a second; write such as `12.5 GB/s`",
            ));
        }
        let bandwidth = |to: u32| match (self.bandwidth, &machine) {
            (Some(bandwidth), _) => bandwidth.get(),
            (None, Some(machine)) => {
                let mut path = Path::default();
                machine.interconnect.path(0, to.min(machine.nodes.count - 1), &mut path);
                path.bandwidth
            }
            (None, None) => f64::INFINITY,
        };
        let detached = self.detached_below.map(Bytes::get);
        Ok(Recipe {
            objective: match self.objective {
                ObjectiveChoice::Logarithmic => Objective::Logarithmic,
                ObjectiveChoice::Weighted => Objective::Weighted,
                ObjectiveChoice::Ordinary => Objective::Ordinary,
            },
            strategy: Strategy::Both,
            modes: self.modes.into(),
            detached_below: detached.or(machine.as_ref().map(|machine| machine.mpi.detached_below)).unwrap_or(0),
            bandwidth: [bandwidth(1), bandwidth(0)],
            as_smpi: self.as_smpi,
        })
    }
}

fn in_measurements(source: &std::sync::Arc<Source>, error: &NetworkError) -> Diagnostic {
    in_table(source, error.line(), &error.to_string(), error.remedy())
}
