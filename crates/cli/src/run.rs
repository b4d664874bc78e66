//! `hpcast run`: simulates a program and reports.

use std::cell::RefCell;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use hpcast_apps::{Finding, Parameters, Program};
use hpcast_models::network::{Circuit, Flow, Ideal, Network};
use hpcast_mpi::collectives::{Library, Selection};
use hpcast_mpi::{RunError, Setup};
use hpcast_platform::Machine;
use hpcast_platform::draw;
use hpcast_platform::placement::{Placement, Plan, Policy};
use hpcast_report::{
    Axis, Build, Cell, Column, GanttRecorder, MachineInfo, Observers, OutputFile, Plot, Progress, Provenance, Quantity,
    RunReport, Series, Spacing, Stopwatch, Table, Totals, TraceWriter, check_writable, csv, gantt, json, links, text,
    write_file,
};
use hpcast_units::Time;

use crate::failure::Failure;
use crate::print;
use crate::sizes::Sizes;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NetworkModel {
    /// Flows share links fairly (max-min)
    Flow,
    /// Delay, and contention at the end points only
    Ideal,
    /// The oldest flow gets all it can use, the next what is left
    Circuit,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PlacementPolicy {
    /// Fill one node after the other
    Block,
    /// Deal ranks over the nodes like cards
    Cyclic,
    /// Random places, drawn from the seed
    Random,
}

/// Options of `hpcast run`.
#[derive(Args)]
pub(crate) struct Options {
    /// The program (see `hpcast programs`)
    program: Program,
    /// Number of ranks
    #[arg(short = 'n', long, value_name = "RANKS")]
    ranks: u32,
    /// Machine file
    #[arg(short, long, value_name = "FILE.toml")]
    machine: PathBuf,
    /// Network model
    #[arg(long, value_enum, default_value = "flow")]
    network: NetworkModel,
    /// Bytes of a message, or of the data of a collective: `1000B`, `8B..1MiB` (doubling), or a list with commas
    #[arg(long, default_value = "8B", value_name = "SIZES")]
    size: Sizes,
    /// Iterations
    #[arg(long, default_value_t = 1, value_name = "ITERATIONS")]
    count: u64,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Allow more ranks than cores
    #[arg(long)]
    oversubscribe: bool,
    /// Ranks on each node (default: as many as it has cores)
    #[arg(long, value_name = "RANKS")]
    ranks_per_node: Option<u32>,
    /// How ranks are placed (default: as the machine file says)
    #[arg(long, value_enum)]
    placement: Option<PlacementPolicy>,
    /// MPI library whose rules choose the collective algorithms: openmpi or mpich
    #[arg(long, default_value_t = Library::OpenMpi, value_name = "LIBRARY")]
    mpi: Library,
    /// Algorithm of a collective, such as `allreduce=ring` (see `hpcast collectives`); may be given several times
    #[arg(long, value_name = "OPERATION=ALGORITHM")]
    coll: Vec<String>,
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
    /// Write everything about the run to a file; `-` prints it instead of the summary
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,
    /// Write the table to a file
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Plot the time over the size
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Draw what every rank did when (few ranks)
    #[arg(long, value_name = "FILE.svg")]
    gantt: Option<PathBuf>,
    /// Write what every rank did when, for Perfetto or Chrome (many ranks)
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,
    /// Draw the network with the load of its links
    #[arg(long, value_name = "FILE.svg")]
    links: Option<PathBuf>,
    /// List every rank in the JSON, however many there are
    #[arg(long)]
    every_rank: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let stopwatch = Stopwatch::start();
    let build = Build { version: env!("CARGO_PKG_VERSION"), commit: option_env!("HPCAST_COMMIT") };
    let mut provenance = Provenance::now(build, std::env::args(), 1);
    options.check_outputs()?;
    let machine = Rc::new(Machine::load(&options.machine)?);
    provenance.add_input(&options.machine, &fs::read(&options.machine).unwrap_or_default());
    let mut experiment = Experiment {
        options,
        progress: progress_line(options),
        placement: options.place(&machine)?,
        selection: options.selection()?,
        interrupt: stop_on_interrupt(),
        machine,
    };
    let mut watchers = Watchers::new(options)?;
    let mut totals = Totals::default();
    let mut table = options.table();
    let mut points = Vec::new();
    let mut interrupted = false;
    for (index, &bytes) in options.size.bytes().iter().enumerate() {
        watchers.start_at(totals.simulated);
        match experiment.simulate(index, bytes, &watchers) {
            Ok(finding) => {
                points.push((bytes as f64, finding.iteration.mean()));
                table.push(experiment.row(bytes, &finding));
                totals.add(finding.outcome);
            }
            Err(RunError::Interrupted) => {
                interrupted = true;
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    // Wipes the line before the summary.
    drop(experiment.progress.take());
    let mut report = RunReport::of(&totals, &experiment.machine.interconnect, options.every_rank);
    experiment.describe(&mut report);
    report.table = table;
    report.provenance = provenance;
    if interrupted {
        let done = points.len();
        report.warnings.push(format!("interrupted: {done} of {} sizes are finished", options.size.bytes().len()));
    }
    report.used = stopwatch.read();
    experiment.write(&report, &totals, points, watchers)?;
    if interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// A flag that Ctrl-C sets, so that what is finished can be kept. A second Ctrl-C ends the program.
fn stop_on_interrupt() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let setter = flag.clone();
    // Without the handler Ctrl-C ends the program at once, which is no reason not to run.
    let _ = ctrlc::set_handler(move || {
        if setter.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    flag
}

impl Options {
    fn outputs(&self) -> impl Iterator<Item = &Path> {
        [&self.json, &self.csv, &self.plot, &self.gantt, &self.trace, &self.links]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .filter(|path| *path != Path::new("-"))
    }

    /// Finds out before the run what would go wrong after it.
    fn check_outputs(&self) -> Result<(), Failure> {
        for path in self.outputs() {
            check_writable(path)?;
        }
        if self.root >= self.ranks {
            return Err(Failure::input(format!(
                "--root {} is no rank; ranks are 0 to {}",
                self.root,
                self.ranks.max(1) - 1
            )));
        }
        if self.count == 0 {
            return Err(Failure::input("--count 0 runs nothing; ask for at least 1"));
        }
        Ok(())
    }

    fn place(&self, machine: &Machine) -> Result<Placement, Failure> {
        let mut plan: Plan = machine.plan.clone();
        match self.placement {
            Some(PlacementPolicy::Block) => plan.policy = Policy::Block,
            Some(PlacementPolicy::Cyclic) => plan.policy = Policy::Cyclic,
            Some(PlacementPolicy::Random) => plan.policy = Policy::Random { seed: self.seed },
            None => {}
        }
        if self.oversubscribe {
            // As many on a node as it takes, whatever the machine file says.
            plan.oversubscribe = true;
            plan.ranks_per_node = None;
        }
        plan.ranks_per_node = self.ranks_per_node.or(plan.ranks_per_node);
        machine
            .place_as(&plan, self.ranks)
            .map_err(|error| Failure::input(format!("{}: {error}", self.machine.display())))
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
        match self.program {
            Program::Collective(_) => columns.push(Column::new("algorithm", "algorithm")),
            _ => columns.push(Column::new("bandwidth", "bandwidth_bytes_per_second")),
        }
        columns.extend([
            Column::new("mean time", "mean_seconds"),
            Column::new("fastest", "min_seconds"),
            Column::new("slowest", "max_seconds"),
        ]);
        Table::new(columns)
    }
}

/// A program on a machine, ready to be simulated for each size.
struct Experiment<'o> {
    options: &'o Options,
    machine: Rc<Machine>,
    placement: Placement,
    selection: Selection,
    interrupt: Arc<AtomicBool>,
    progress: Option<ProgressLine>,
}

/// A line on the terminal for what takes long.
type ProgressLine = Rc<RefCell<Progress<std::io::Stderr>>>;

fn progress_line(options: &Options) -> Option<ProgressLine> {
    let stderr = std::io::stderr();
    let label = options.program.to_string();
    stderr.is_terminal().then(|| Rc::new(RefCell::new(Progress::new(stderr, label))))
}

impl Experiment<'_> {
    fn simulate(&self, index: usize, bytes: u64, watchers: &Watchers) -> Result<Finding, RunError> {
        let options = self.options;
        let network: Box<dyn Network> = match options.network {
            NetworkModel::Flow => Box::new(Flow::new(self.machine.clone())),
            NetworkModel::Ideal => Box::new(Ideal::new(self.machine.clone())),
            NetworkModel::Circuit => Box::new(Circuit::new(self.machine.clone())),
        };
        let setup = Setup {
            ranks: options.ranks,
            machine: self.machine.clone(),
            placement: self.placement.clone(),
            network,
            selection: self.selection.clone(),
            observer: watchers.observer(),
            interrupt: Some(self.interrupt.clone()),
            progress: self.progress(index),
        };
        let parameters = Parameters {
            bytes,
            count: options.count,
            root: options.root,
            window: options.window,
            compute: options.compute,
            background: options.nonblocking,
            seed: options.seed,
        };
        options.program.run(setup, parameters)
    }

    /// Passes on how far this size has come as a part of all sizes.
    fn progress(&self, index: usize) -> Option<Box<dyn FnMut(f64)>> {
        let line = self.progress.clone()?;
        let sizes = self.options.size.bytes().len() as f64;
        Some(Box::new(move |fraction| line.borrow_mut().update((index as f64 + fraction) / sizes)))
    }

    fn row(&self, bytes: u64, finding: &Finding) -> Vec<Cell> {
        let iteration = finding.iteration;
        let mean = iteration.mean();
        let second = match self.options.program {
            Program::Collective(operation) => {
                let blocking = &self.selection;
                let selection = if self.options.nonblocking { &blocking.for_nonblocking() } else { blocking };
                Cell::Text(operation.algorithm(selection, self.options.ranks, bytes))
            }
            _ if mean > 0.0 => Cell::Bandwidth(bytes as f64 / mean),
            _ => Cell::Empty,
        };
        let seconds = |time: Time| Cell::Seconds(time.as_secs());
        vec![Cell::Size(bytes), second, Cell::Seconds(mean), seconds(iteration.min), seconds(iteration.max)]
    }

    /// What was asked.
    fn describe(&self, report: &mut RunReport) {
        let options = self.options;
        report.program = options.program.to_string();
        report.machine = MachineInfo::from(&*self.machine);
        report.network = format!("{:?}", options.network).to_lowercase();
        report.ranks = options.ranks;
        report.seed = options.seed;
        report.assumptions.extend(self.machine.assumed.iter().cloned());
        let mut parameter = |name: &str, value: serde_json::Value| report.parameters.push((name.to_owned(), value));
        parameter("size", options.size.text().into());
        parameter("count", options.count.into());
        if let Some(placement) = options.placement {
            parameter("placement", format!("{placement:?}").to_lowercase().into());
        }
        match options.program {
            Program::Collective(_) => {
                parameter("mpi", self.selection.library().to_string().into());
                if !options.coll.is_empty() {
                    parameter("coll", self.selection.choices().into());
                }
                parameter("root", options.root.into());
                parameter("nonblocking", options.nonblocking.into());
            }
            Program::RandomTraffic => parameter("window", options.window.into()),
            Program::Halo2d | Program::Halo3d => parameter("compute", options.compute.to_string().into()),
            _ => {}
        }
    }

    fn write(
        &self,
        report: &RunReport,
        totals: &Totals,
        points: Vec<(f64, f64)>,
        watchers: Watchers,
    ) -> Result<(), Failure> {
        let options = self.options;
        if let Some(path) = &options.csv {
            write_file(path, csv::table(report).as_bytes())?;
        }
        if let Some(path) = &options.plot {
            write_file(path, self.plot(points).svg().as_bytes())?;
        }
        if let Some(path) = &options.links {
            let loads = links::loads(&self.machine.interconnect, &totals.link_bytes, totals.simulated);
            let title = format!("{} on {}: load of the links", report.program, report.machine.name);
            let topology = self.machine.interconnect.topology();
            write_file(path, draw::svg(topology, &title, Some(&loads)).as_bytes())?;
        }
        watchers.write(options, report)?;
        match &options.json {
            Some(path) if path == Path::new("-") => print(&json::document(report)),
            Some(path) => {
                write_file(path, json::document(report).as_bytes())?;
                print(&text::summary(report))
            }
            None => print(&text::summary(report)),
        }
    }

    fn plot(&self, points: Vec<(f64, f64)>) -> Plot {
        let options = self.options;
        Plot {
            title: format!("{} of {} ranks on {}", options.program, options.ranks, self.machine.name),
            x: Axis::new("size", Quantity::Size, Spacing::Logarithmic),
            y: Axis::new("time", Quantity::Seconds, Spacing::Logarithmic),
            series: vec![Series { name: options.program.to_string(), points }],
            note: format!("network model: {:?}", options.network).to_lowercase(),
        }
    }
}

/// Who watches the ranks: a Gantt chart, a trace, or nobody.
struct Watchers {
    observers: Rc<RefCell<Observers>>,
    gantt: Option<Rc<RefCell<GanttRecorder>>>,
    trace: Option<Rc<RefCell<TraceWriter<OutputFile>>>>,
}

impl Watchers {
    fn new(options: &Options) -> Result<Watchers, Failure> {
        let mut observers = Observers::default();
        let mut watchers = Watchers { observers: Rc::default(), gantt: None, trace: None };
        if options.gantt.is_some() {
            let recorder = GanttRecorder::new(options.ranks).map_err(|error| Failure::input(error.to_string()))?;
            let recorder = Rc::new(RefCell::new(recorder));
            observers.add(recorder.clone());
            watchers.gantt = Some(recorder);
        }
        if let Some(path) = &options.trace {
            let trace = Rc::new(RefCell::new(TraceWriter::new(OutputFile::create(path)?, true)));
            observers.add(trace.clone());
            watchers.trace = Some(trace);
        }
        watchers.observers = Rc::new(RefCell::new(observers));
        Ok(watchers)
    }

    fn start_at(&mut self, start: Time) {
        self.observers.borrow_mut().start_at(start);
    }

    fn observer(&self) -> Option<Box<dyn hpcast_mpi::Observer>> {
        if self.observers.borrow().is_empty() { None } else { Some(Box::new(self.observers.clone())) }
    }

    fn write(self, options: &Options, report: &RunReport) -> Result<(), Failure> {
        if let (Some(path), Some(recorder)) = (&options.gantt, &self.gantt) {
            let title = format!("{} on {}", report.program, report.machine.name);
            write_file(path, gantt::svg(&recorder.borrow(), &title).as_bytes())?;
        }
        if let (Some(path), Some(trace)) = (&options.trace, &self.trace) {
            let file = trace.borrow_mut().finish();
            file.map_err(|error| Failure::input(format!("cannot write {}: {error}", path.display())))?.finish()?;
        }
        Ok(())
    }
}
