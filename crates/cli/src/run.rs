//! `hpcast run`: simulates a program and reports.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use hpcast_apps::{Finding, Measurement, Parameters, Program};
use hpcast_models::compute::{Chance, ModelFile, Seeds};
use hpcast_mpi::Setup;
use hpcast_mpi::collectives::{Library, Selection};
use hpcast_platform::Machine;
use hpcast_report::{
    Axis, Cell, Column, Estimate, Plot, Quantity, RunReport, Series, Spacing, Table, Totals, check_output, json, text,
    write_file,
};
use hpcast_units::Time;

use crate::failure::Failure;
use crate::hpl::chance;
use crate::machine_options::MachineOptions;
use crate::outputs::{OutputOptions, Results, Watchers};
use crate::running::Running;
use crate::sizes::Sizes;

/// Options of `hpcast run`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    what: ProgramOptions,
    /// Number of ranks
    #[arg(short = 'n', long, value_name = "RANKS")]
    ranks: u32,
    #[command(flatten)]
    machine: MachineOptions,
    /// Model file: what messages cost, in place of what the machine file says
    #[arg(long, value_name = "FILE.toml")]
    models: Option<PathBuf>,
    /// Every message costs what is expected, although the model file or machine file says that they vary
    #[arg(long)]
    no_noise: bool,
    /// Run so many times, each time with the next seed, and say where 95 % of runs lie
    #[arg(long, default_value_t = 1, value_name = "RUNS", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    repeat: u64,
    /// What each run draws anew: `calls`, single messages; `network`, what they cost, as far as the model file knows its
    /// errors (default: `calls` for a single run, else both)
    #[arg(long, value_name = "SOURCES", value_delimiter = ',', value_parser = chance(VARYING))]
    vary: Option<Vec<Chance>>,
    /// MPI library whose rules choose the collective algorithms: openmpi or mpich
    #[arg(long, default_value_t = Library::OpenMpi, value_name = "LIBRARY")]
    mpi: Library,
    /// Algorithm of a collective, such as `allreduce=ring` (see `hpcast collectives`); may be given several times
    #[arg(long, value_name = "OPERATION=ALGORITHM")]
    coll: Vec<String>,
    /// Plot the time over the size
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    outputs: OutputOptions,
}

/// A built-in program and what it is told.
#[derive(Args)]
pub(crate) struct ProgramOptions {
    /// The program (see `hpcast programs`)
    pub program: Program,
    /// Bytes of a message, or of the data of a collective: `1000B`, `8B..1MiB` (doubling), or a list with commas
    #[arg(long, default_value = "8B", value_name = "SIZES")]
    pub size: Sizes,
    /// Iterations
    #[arg(long, default_value_t = 1, value_name = "ITERATIONS")]
    pub count: u64,
    /// Root of a collective
    #[arg(long, default_value_t = 0, value_name = "RANK")]
    root: u32,
    /// Call collectives in the background (MPI_Iallreduce and so on)
    #[arg(long)]
    nonblocking: bool,
    /// Time that each iteration of a halo exchange computes, or that passes beside a collective in the background
    #[arg(long, default_value = "0 s", value_name = "TIME")]
    compute: Time,
    /// Rounds in flight of random-traffic
    #[arg(long, default_value_t = 4, value_name = "ROUNDS")]
    window: usize,
}

impl ProgramOptions {
    /// Finds out before a run of so many ranks what would go wrong in it.
    pub fn check(&self, ranks: u32) -> Result<(), Failure> {
        if self.root >= ranks {
            let last = ranks.max(1) - 1;
            return Err(Failure::input(format!("--root {} is no rank; ranks are 0 to {last}", self.root)));
        }
        if self.count == 0 {
            return Err(Failure::input("--count 0 runs nothing; ask for at least 1"));
        }
        Ok(())
    }

    /// For messages of a size.
    pub fn parameters(&self, bytes: u64, seed: u64) -> Parameters {
        Parameters {
            bytes,
            count: self.count,
            root: self.root,
            window: self.window,
            compute: self.compute,
            background: self.nonblocking,
            seed,
        }
    }
}

/// What differs from run to run.
const VARYING: [Chance; 2] = [Chance::Calls, Chance::Network];

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut running = Running::begin(options.what.program.to_string());
    options.check()?;
    let models = options.load_models()?;
    let machine = options.machine.load(models.as_ref(), !options.no_noise)?;
    options.machine.inputs().for_each(|path| running.add_input(path));
    options.models.iter().for_each(|path| running.add_input(path));
    let experiment = Experiment::new(options, machine, models)?;
    let mut watchers = Watchers::new(&options.outputs, options.ranks)?;
    let measured = experiment.measure(&mut watchers, &running)?;
    let mut report = experiment.report(&measured);
    running.finish(&mut report);
    if let Some(path) = &options.plot {
        write_file(path, experiment.plot(measured.points).svg().as_bytes())?;
    }
    let (machine, report, totals) = (&*experiment.machine, &report, &measured.totals);
    let results = Results { report, totals, machine, json: json::document(report), text: text::summary(report) };
    options.outputs.write(&results, watchers)?;
    if measured.interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Simulates all that the options ask for and prints nothing. Machine and models are these, whatever the options say; what
/// it has cost is not told.
pub(crate) fn report(
    options: &Options,
    machine: Machine,
    models: Option<ModelFile>,
    running: &Running,
) -> Result<RunReport, Failure> {
    let experiment = Experiment::on(options, machine, models)?;
    let measured = experiment.measure(&mut Watchers::new(&options.outputs, 0)?, running)?;
    if measured.interrupted { Err(Failure::Interrupted) } else { Ok(experiment.report(&measured)) }
}

/// What would go wrong in [`report`] before it simulates anything.
pub(crate) fn check(options: &Options, machine: Machine, models: Option<ModelFile>) -> Result<(), Failure> {
    Experiment::on(options, machine, models).map(drop)
}

impl Options {
    /// Finds out before the run what would go wrong after it.
    fn check(&self) -> Result<(), Failure> {
        let inputs: Vec<&Path> = self.machine.inputs().chain(self.models.as_deref()).collect();
        self.outputs.check(&inputs)?;
        self.plot.as_deref().map(|path| check_output(path, inputs)).transpose()?;
        self.what.check(self.ranks)
    }

    /// A model file, which is of use only if it says something of messages.
    fn load_models(&self) -> Result<Option<ModelFile>, Failure> {
        let Some(path) = &self.models else { return Ok(None) };
        let file = ModelFile::load(path)?;
        if file.network.is_none() {
            return Err(Failure::input(format!(
                "{} says nothing of messages; add a section [network] to it, or leave --models out",
                path.display()
            )));
        }
        Ok(Some(file))
    }

    /// The models, if what they say of messages is to be drawn for each run.
    fn unsure(&self, models: Option<ModelFile>) -> Result<Option<ModelFile>, Failure> {
        let models = models.filter(|file| file.knows(Chance::Network, 0));
        if models.is_none() && self.vary.as_ref().is_some_and(|asked| asked.contains(&Chance::Network)) {
            return Err(Failure::input(
                "--vary network: there is no model file that says how sure its figures are; `hpcast fit network` fits what \
                 messages cost and says how sure that is",
            ));
        }
        Ok(models.filter(|_| self.varies(Chance::Network)))
    }

    fn varies(&self, chance: Chance) -> bool {
        let usually = self.repeat > 1 || chance == Chance::Calls;
        self.vary.as_ref().map_or(usually, |asked| asked.contains(&chance))
    }

    /// Of the run with this number.
    fn seed(&self, number: u64) -> u64 {
        self.machine.seed.wrapping_add(number)
    }

    fn selection(&self) -> Result<Selection, Failure> {
        let mut selection = Selection::of(self.mpi);
        for choice in &self.coll {
            selection.choose(choice).map_err(|error| Failure::input(format!("--coll {choice}: {error}")))?;
        }
        selection.check(self.ranks).map_err(|error| Failure::input(format!("--coll: {error}")))?;
        Ok(selection)
    }

    fn table(&self) -> Table {
        let mut columns = vec![Column::new("size", "size_bytes")];
        match self.what.program {
            Program::Collective(_) => columns.push(Column::new("algorithm", "algorithm")),
            _ => columns.push(Column::new("bandwidth", "bandwidth_bytes_per_second")),
        }
        columns.push(Column::new("mean time", "mean_seconds"));
        if self.repeat > 1 {
            columns.push(Column::new("95 % within +-", "prediction_95_seconds"));
        }
        columns.extend([Column::new("fastest", "min_seconds"), Column::new("slowest", "max_seconds")]);
        Table::new(columns)
    }
}

/// A program on a machine, ready to be simulated for each size.
struct Experiment<'o> {
    options: &'o Options,
    machine: Rc<Machine>,
    /// Models of which each run draws what messages cost.
    unsure: Option<ModelFile>,
    selection: Selection,
}

/// What was simulated.
struct Measured {
    totals: Totals,
    table: Table,
    /// Sizes, and the mean time of each.
    points: Vec<(f64, f64)>,
    interrupted: bool,
}

/// How long iterations took, in several runs.
struct Times {
    seconds: Estimate,
    min: Time,
    max: Time,
}

impl Times {
    fn of(runs: &[Measurement]) -> Times {
        let means: Vec<f64> = runs.iter().map(Measurement::mean).collect();
        Times {
            seconds: Estimate::of(&means, 0.0),
            min: runs.iter().map(|run| run.min).min().unwrap_or_default(),
            max: runs.iter().map(|run| run.max).max().unwrap_or_default(),
        }
    }
}

impl<'o> Experiment<'o> {
    fn new(options: &'o Options, machine: Rc<Machine>, models: Option<ModelFile>) -> Result<Experiment<'o>, Failure> {
        options.machine.place(&machine, options.ranks, options.machine.seed)?;
        let unsure = options.unsure(models)?;
        Ok(Experiment { options, selection: options.selection()?, machine, unsure })
    }

    /// On another machine than the options name.
    fn on(options: &'o Options, machine: Machine, models: Option<ModelFile>) -> Result<Experiment<'o>, Failure> {
        options.what.check(options.ranks)?;
        let machine = options.machine.routing.apply(machine)?;
        let machine = MachineOptions::with_messages(machine, models.as_ref(), !options.no_noise);
        Experiment::new(options, Rc::new(machine), models)
    }

    /// Runs all sizes, or those that are finished when it is stopped.
    fn measure(&self, watchers: &mut Watchers, running: &Running) -> Result<Measured, Failure> {
        let mut measured =
            Measured { totals: Totals::default(), table: self.options.table(), points: Vec::new(), interrupted: false };
        for (index, &bytes) in self.options.what.size.bytes().iter().enumerate() {
            match self.repeat(index, bytes, watchers, &mut measured.totals, running) {
                Ok(runs) => {
                    let times = Times::of(&runs);
                    measured.points.push((bytes as f64, times.seconds.mean));
                    measured.table.push(self.row(bytes, &times));
                }
                Err(Failure::Interrupted) => {
                    measured.interrupted = true;
                    break;
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(measured)
    }

    /// What was found, but for what it has cost.
    fn report(&self, measured: &Measured) -> RunReport {
        let options = self.options;
        let mut report = RunReport::of(&measured.totals, &self.machine.interconnect, options.outputs.every_rank);
        self.describe(&mut report);
        report.table = measured.table.clone();
        if measured.interrupted {
            report.stopped_after(measured.points.len(), options.what.size.bytes().len(), "sizes");
        }
        report
    }

    /// The machine of one run.
    fn drawn(&self, number: u64) -> Rc<Machine> {
        let Some(models) = &self.unsure else { return self.machine.clone() };
        let seeds = Seeds { network: Some(self.options.seed(number)), ..Seeds::default() };
        MachineOptions::with_drawn(&self.machine, &models.drawn(&seeds, 0, 0), !self.options.no_noise)
    }

    /// Runs one size with each seed.
    fn repeat(
        &self,
        index: usize,
        bytes: u64,
        watchers: &mut Watchers,
        totals: &mut Totals,
        running: &Running,
    ) -> Result<Vec<Measurement>, Failure> {
        let repeat = self.options.repeat;
        let whole = (self.options.what.size.bytes().len() as u64 * repeat) as f64;
        let mut runs = Vec::new();
        for number in 0..repeat {
            watchers.start_at(totals.simulated);
            let place = (index as u64 * repeat + number) as f64;
            let seed = self.options.seed(if self.options.varies(Chance::Calls) { number } else { 0 });
            let finding = self.simulate(
                &self.drawn(number),
                seed,
                bytes,
                watchers,
                running,
                place / whole..(place + 1.0) / whole,
            )?;
            totals.add(finding.outcome);
            runs.push(finding.iteration);
        }
        Ok(runs)
    }

    fn simulate(
        &self,
        machine: &Rc<Machine>,
        seed: u64,
        bytes: u64,
        watchers: &Watchers,
        running: &Running,
        part: Range<f64>,
    ) -> Result<Finding, Failure> {
        let options = self.options;
        let placement = options.machine.place(machine, options.ranks, seed)?;
        let network = options.machine.network(machine, &options.outputs, seed);
        let setup = Setup {
            seed,
            selection: self.selection.clone(),
            observer: watchers.observer(),
            interrupt: Some(running.interrupt()),
            progress: running.progress(part, |_, _| Vec::new()),
            ..Setup::new(options.ranks, machine.clone(), placement, network)
        };
        let parameters = options.what.parameters(bytes, seed);
        Ok(options.what.program.run(setup, parameters)?)
    }

    fn row(&self, bytes: u64, times: &Times) -> Vec<Cell> {
        let mean = times.seconds.mean;
        let second = match self.options.what.program {
            Program::Collective(operation) => {
                let blocking = &self.selection;
                let selection = if self.options.what.nonblocking { &blocking.for_nonblocking() } else { blocking };
                Cell::Text(operation.algorithm(selection, self.options.ranks, bytes))
            }
            _ if mean > 0.0 => Cell::Bandwidth(bytes as f64 / mean),
            _ => Cell::Empty,
        };
        let seconds = |time: Time| Cell::Seconds(time.as_secs());
        let mut row = vec![Cell::Size(bytes), second, Cell::Seconds(mean)];
        row.extend(times.seconds.prediction_95.map(Cell::Seconds));
        row.extend([seconds(times.min), seconds(times.max)]);
        row
    }

    /// What was asked.
    fn describe(&self, report: &mut RunReport) {
        let options = self.options;
        report.program = options.what.program.to_string();
        report.ranks = options.ranks;
        let mut parameter = |name: &str, value: serde_json::Value| report.parameters.push((name.to_owned(), value));
        parameter("size", options.what.size.text().into());
        parameter("count", options.what.count.into());
        if options.repeat > 1 {
            parameter("repeat", options.repeat.into());
        }
        if let Some(vary) = &options.vary {
            parameter("vary", vary.iter().map(|chance| chance.name()).collect::<Vec<_>>().join(",").into());
        }
        match options.what.program {
            Program::Collective(_) => {
                parameter("mpi", self.selection.library().to_string().into());
                if !options.coll.is_empty() {
                    parameter("coll", self.selection.choices().into());
                }
                parameter("root", options.what.root.into());
                parameter("nonblocking", options.what.nonblocking.into());
            }
            Program::RandomTraffic => parameter("window", options.what.window.into()),
            Program::Halo2d | Program::Halo3d => parameter("compute", options.what.compute.to_string().into()),
            _ => {}
        }
        options.machine.describe(&self.machine, report);
    }

    fn plot(&self, points: Vec<(f64, f64)>) -> Plot {
        let options = self.options;
        Plot {
            title: format!("{} of {} ranks on {}", options.what.program, options.ranks, self.machine.name),
            x: Axis::new("size", Quantity::Size, Spacing::Logarithmic),
            y: Axis::new("time", Quantity::Seconds, Spacing::Logarithmic),
            series: vec![Series { name: options.what.program.to_string(), points, ..Series::default() }],
            note: format!("network model: {}", options.machine.network_name()),
        }
    }
}
