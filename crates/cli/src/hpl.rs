//! `hpcast hpl`: forecasts High Performance Linpack.

mod chances;
mod choices;
mod eviction;
mod found;
mod program;
mod real;
mod recording;
mod turn;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use clap::Args;
use hpcast_apps::hpl::{Hpl, HplDat, HplFinding, HplModels, HplParameters, Leg, Pivots, SampleSize, SwapKind};
use hpcast_models::compute::{Chance, ModelFile, Seeds};
use hpcast_mpi::{Outcome, Setup};
use hpcast_platform::Machine;
use hpcast_platform::placement::Placement;
use hpcast_report::{
    HplComparison, HplCurve, HplReport, HplRun, RunReport, Stopwatch, account, check_output, hpl_plot, json,
    write_file, xhpl,
};
use hpcast_units::{Bytes, count};
use serde_json::Value;

use crate::failure::Failure;
use crate::machine_options::MachineOptions;
use crate::outputs::{OutputOptions, Results, Watchers};
use crate::running::Running;
pub(crate) use chances::chance;
use chances::{Chances, Draw};
pub(crate) use choices::Chosen;
use choices::form;
use eviction::Eviction;
pub(crate) use found::{Found, JOINTLY};
pub(crate) use program::HplOptions;
use real::{RealHpl, RealOptions, RealRun};
use turn::Turn;

/// Of the work of a run that is also executed, about how much the skeleton takes.
const SKELETON_SHARE: f64 = 0.1;

/// Options of `hpcast hpl`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    machine: MachineOptions,
    #[command(flatten)]
    hpl: HplOptions,
    #[command(flatten)]
    chances: Chances,
    #[command(flatten)]
    eviction: Eviction,
    #[command(flatten)]
    real: RealOptions,
    /// Of long runs simulate so many stretches; fewer are faster, and less sure
    /// (default: 6 to 12, and more where that takes less than a minute)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(3..=1000),
        conflicts_with_all = ["exact", "gantt", "trace", "traffic", "link_load", "link_heat", "record"])]
    samples: Option<u64>,
    /// Plot the speed, and what the time goes to, from the first panel to the last (of the fastest run)
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    outputs: OutputOptions,
    /// Write what each rank did to a folder
    #[arg(long, hide = true, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Read the pivot rows from a file
    #[arg(long, hide = true, value_name = "FILE", conflicts_with_all = ["equal_pivots", "first_pivots"])]
    pivots: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut running = Running::begin("hpl".into());
    let inputs: Vec<&Path> = options.machine.inputs().chain(options.hpl.models.as_deref()).collect();
    options.outputs.check(&inputs)?;
    options.plot.as_deref().map(|path| check_output(path, inputs)).transpose()?;
    let models = options.hpl.models.as_deref().map(ModelFile::load).transpose()?;
    let machine = options.machine.load(models.as_ref(), !options.hpl.no_noise)?;
    options.machine.inputs().for_each(|path| running.add_input(path));
    let chosen = options.hpl.choices.choose(&options.machine, &options.eviction, &machine)?;
    for path in [&options.hpl.choices.dat, &options.hpl.models, &options.pivots].into_iter().flatten() {
        running.add_input(path);
    }
    let mut benchmark = Benchmark::new(options, machine, models, running)?;
    benchmark.real = options.real.prepare(options.hpl.choices.copy_panels)?;
    benchmark.run(&chosen)
}

/// Simulates all that the options ask for and prints nothing. Machine and models are these, whatever the options say.
pub(crate) fn forecast(
    options: &Options,
    machine: Machine,
    models: Option<ModelFile>,
    running: Running,
) -> Result<Found, Failure> {
    let (benchmark, _, jobs) = Benchmark::of_one(options, machine, models, running)?;
    let mut found = Found::default();
    benchmark.run_all(&jobs, &mut Watchers::new(&options.outputs, 0)?, &mut found)?;
    Ok(found)
}

/// The same, as it is reported; what it has cost is not told.
pub(crate) fn report(
    options: &Options,
    machine: Machine,
    models: Option<ModelFile>,
    running: Running,
) -> Result<HplReport, Failure> {
    let (benchmark, chosen, jobs) = Benchmark::of_one(options, machine, models, running)?;
    let mut found = Found::default();
    benchmark.run_all(&jobs, &mut Watchers::new(&options.outputs, 0)?, &mut found)?;
    Ok(benchmark.report(&chosen, &jobs, &found))
}

/// What would go wrong in [`forecast`] before it simulates anything.
pub(crate) fn check(options: &Options, machine: Machine, models: Option<ModelFile>) -> Result<(), Failure> {
    Benchmark::of_one(options, machine, models, Running::within(Arc::default(), Arc::default())).map(drop)
}

impl Options {
    /// About how much there is to simulate, as far as the options tell.
    pub fn weight(&self) -> f64 {
        let panels: f64 =
            self.hpl.choices.n.iter().flat_map(|n| self.hpl.choices.nb.iter().map(move |nb| *n / *nb + 1)).sum::<u64>()
                as f64;
        let ranks: f64 = self.hpl.choices.grid.iter().map(|grid| f64::from(grid.size())).sum();
        panels.max(1.0) * ranks.max(1.0) * self.chances.runs() as f64
    }

    fn sample_size(&self, parameters: &HplParameters) -> SampleSize {
        match self.samples {
            Some(stretches) => SampleSize { stretches, ..SampleSize::default() },
            None => SampleSize::usual(parameters),
        }
    }
}

/// HPL on a machine, ready to be simulated with each choice of parameters.
struct Benchmark<'o> {
    options: &'o Options,
    machine: Rc<Machine>,
    models: Option<ModelFile>,
    /// What differs from run to run.
    vary: Vec<Chance>,
    /// Each combination is run with all of them.
    draws: Vec<Draw>,
    /// The program itself, if it is to be run, too.
    real: Option<RealHpl>,
    running: Running,
}

impl<'o> Benchmark<'o> {
    fn new(
        options: &'o Options,
        machine: Rc<Machine>,
        models: Option<ModelFile>,
        running: Running,
    ) -> Result<Benchmark<'o>, Failure> {
        let processors = u64::from(machine.nodes.count) * u64::from(machine.nodes.sockets.max(1));
        let vary = options.chances.varying(options.machine.seed, models.as_ref(), processors)?;
        let draws = options.chances.draws(options.machine.seed, &vary);
        Ok(Benchmark { options, machine, models, vary, draws, real: None, running })
    }

    /// A single combination of parameters, ready to be simulated.
    fn of_one(
        options: &'o Options,
        machine: Machine,
        models: Option<ModelFile>,
        running: Running,
    ) -> Result<(Benchmark<'o>, Chosen, Vec<Job>), Failure> {
        let machine = options.machine.routing.apply(machine)?;
        let machine = Rc::new(MachineOptions::with_messages(machine, models.as_ref(), !options.hpl.no_noise));
        let chosen = options.hpl.choices.choose(&options.machine, &options.eviction, &machine)?;
        if chosen.runs.len() != 1 {
            let found = count(chosen.runs.len() as u64);
            return Err(Failure::input(format!(
                "a forecast is of one combination of parameters, not of {found}; write one value of each"
            )));
        }
        let benchmark = Benchmark::new(options, machine, models, running)?;
        let jobs = benchmark.jobs(&chosen)?;
        Ok((benchmark, chosen, jobs))
    }

    fn run(self, chosen: &Chosen) -> Result<(), Failure> {
        let options = self.options;
        let jobs = self.jobs(chosen)?;
        let most_ranks = jobs.iter().map(Job::ranks).max().unwrap_or(0);
        let mut watchers = Watchers::new(&options.outputs, most_ranks)?;
        self.print(&xhpl::opening(&chosen.dat))?;
        let mut found = Found::default();
        let interrupted = match self.run_all(&jobs, &mut watchers, &mut found) {
            Err(Failure::Interrupted) => true,
            result => result.map(|()| false)?,
        };
        let mut report = self.report(chosen, &jobs, &found);
        if interrupted {
            report.run.stopped_after(found.runs.len(), jobs.len() * self.draws.len(), "runs");
        }
        let Benchmark { machine, running, .. } = self;
        running.finish(&mut report.run);
        report.real = found.real;
        report.curve = found.fastest.as_ref().map(|(run, course)| HplCurve::new(run, course));
        if let (Some(path), Some(picture)) = (&options.plot, hpl_plot::svg(&report)) {
            write_file(path, picture.as_bytes())?;
        }
        let results = Results {
            report: &report.run,
            totals: &found.totals,
            machine: &machine,
            json: json::document(&report),
            text: format!(
                "{}\n{}",
                xhpl::closing(found.runs.iter().filter(|run| run.redrawn.is_none()).count()),
                account(&report)
            ),
        };
        options.outputs.write(&results, watchers)?;
        if interrupted { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// What runs have found, but for what they have cost.
    fn report(&self, chosen: &Chosen, jobs: &[Job], found: &Found) -> HplReport {
        let every_rank = self.options.outputs.every_rank;
        let mut report = RunReport::of(&found.totals, &self.machine.interconnect, every_rank);
        self.describe(&mut report, chosen, jobs);
        report.assumptions.extend(found.shortcuts.describe());
        if let Some(models) = &self.models {
            report.warnings.extend(found.times.beyond_measured(models));
        }
        let peak = self.machine.nodes.flops.map(|flops| flops.get() / 1e9);
        HplReport::new(report, &found.runs, &found.times, peak)
    }

    /// Runs everything, one after the other, and prints each result when it is known.
    fn run_all(&self, jobs: &[Job], watchers: &mut Watchers, found: &mut Found) -> Result<(), Failure> {
        let options = self.options;
        let whole = jobs.iter().map(Job::weight).sum::<f64>() * self.draws.len() as f64;
        let runs = jobs.len() * self.draws.len();
        let mut done = 0.0;
        for (job, draw) in jobs.iter().flat_map(|job| self.draws.iter().map(move |draw| (job, draw))) {
            watchers.start_at(found.totals.simulated);
            let part = done / whole..(done + job.weight()) / whole;
            done += job.weight();
            let turn = Turn { part, number: found.runs.len() + 1, of: runs };
            let own = if self.real.is_some() { 0.0..SKELETON_SHARE } else { 0.0..1.0 };
            let finding = self.simulate(job, draw, &turn.of_part(own), watchers)?;
            let run = job.result(draw, &finding);
            if draw.redrawn.is_none() {
                self.print(&xhpl::line(&run))?;
            }
            if let Some(real) = &self.real {
                let stopwatch = Stopwatch::start();
                let (seconds, outcome) = self.execute(real, job, draw, &turn.of_part(SKELETON_SHARE..1.0))?;
                found.real.push(HplComparison::new(&run, seconds, &outcome, stopwatch.read().cpu_seconds));
            }
            let recorded = found.add(run, finding);
            if let (Some(folder), Some(recorded)) = (&options.record, recorded) {
                recording::write(folder, recorded)?;
            }
        }
        Ok(())
    }

    /// Prints what xhpl prints, unless the JSON is printed instead.
    fn print(&self, text: &str) -> Result<(), Failure> {
        if self.options.outputs.prints_json() { Ok(()) } else { self.running.print(text) }
    }

    /// All that is to be run, checked: what can go wrong goes wrong here.
    fn jobs(&self, chosen: &Chosen) -> Result<Vec<Job>, Failure> {
        let options = self.options;
        if (options.record.is_some() || options.pivots.is_some()) && chosen.runs.len() * self.draws.len() > 1 {
            return Err(Failure::input("--record and --pivots are for a single run; choose one"));
        }
        let job = |parameters: &HplParameters| {
            let pivots = options.pivots.as_deref().map(|path| recording::pivots(path, parameters.n)).transpose()?;
            let models = self.models(parameters, self.drawn(&self.draws[0].seeds).as_ref())?;
            let (placement, left_out) = self.place(&self.machine, parameters, &models, options.machine.seed)?;
            Ok(Job { parameters: *parameters, models, pivots, nodes: nodes_used(&placement), left_out })
        };
        chosen.runs.iter().map(job).collect()
    }

    /// The models of one run.
    fn drawn(&self, seeds: &Seeds) -> Option<ModelFile> {
        let nodes = &self.machine.nodes;
        self.models.as_ref().map(|file| file.drawn(seeds, nodes.count, nodes.sockets))
    }

    fn models(&self, parameters: &HplParameters, drawn: Option<&ModelFile>) -> Result<HplModels, Failure> {
        let Options { machine, hpl, .. } = self.options;
        let on_node = machine.ranks_per_node(&self.machine, parameters.grid.size());
        hpl.kernels(drawn, &self.machine, on_node).map_err(|error| {
            let (message, remedy) = hpl.cannot_model(&error, &machine.path);
            Failure::input(format!("{message}; {remedy}"))
        })
    }

    /// Where ranks run, and the nodes that were left out.
    fn place(
        &self,
        machine: &Machine,
        parameters: &HplParameters,
        models: &HplModels,
        seed: u64,
    ) -> Result<(Placement, Vec<u32>), Failure> {
        let (options, eviction) = (&self.options.machine, &self.options.eviction);
        let ranks = parameters.grid.size();
        if eviction.evict == 0 {
            return Ok((options.place(machine, ranks, seed)?, Vec::new()));
        }
        let (stay, left_out) = eviction.divide(&options.nodes(machine, seed)?, machine, models, parameters)?;
        Ok((options.place_on(&stay, machine, ranks, seed)?, left_out))
    }

    fn simulate(&self, job: &Job, draw: &Draw, turn: &Turn, watchers: &Watchers) -> Result<HplFinding, Failure> {
        let options = self.options;
        let seed = draw.seeds.calls;
        let drawn = self.drawn(&draw.seeds);
        let machine = self.machine_of(draw, drawn.as_ref());
        let models = self.models(&job.parameters, drawn.as_ref())?;
        let (placement, _) = self.place(&machine, &job.parameters, &models, seed)?;
        let setup = |leg: Leg| -> Result<Setup, Failure> {
            let progress = self.running.progress(turn.within(&leg.share), turn.details(leg, job.parameters));
            Ok(Setup { observer: watchers.observer(), progress, ..self.setup(placement.clone(), &machine, seed) })
        };
        let hpl = Hpl {
            parameters: job.parameters,
            models,
            pivots: self.pivots(job, seed),
            seed,
            record: options.record.is_some(),
            // Who counts messages wants to see those of the panels, too.
            jointly: !options.hpl.exact && options.outputs.traffic.is_none(),
        };
        // Who watches or records wants to see all of it.
        if options.hpl.exact
            || options.record.is_some()
            || watchers.observer().is_some()
            || options.outputs.watches_links()
        {
            return Ok(hpl.run(setup(Leg::whole(&job.parameters))?)?);
        }
        hpl.sample(options.sample_size(&job.parameters), setup)
    }

    /// Runs the real HPL with the same models, pivots and machine; gives its seconds and what was simulated.
    fn execute(&self, real: &RealHpl, job: &Job, draw: &Draw, turn: &Turn) -> Result<(f64, Outcome), Failure> {
        let seed = draw.seeds.calls;
        let drawn = self.drawn(&draw.seeds);
        let machine = self.machine_of(draw, drawn.as_ref());
        let leg = Leg::whole(&job.parameters);
        let progress = self.running.progress(turn.within(&leg.share), turn.details(leg, job.parameters));
        let run = RealRun {
            parameters: &job.parameters,
            pivots: &self.pivots(job, seed),
            models: drawn.as_ref(),
            noise: !self.options.hpl.no_noise,
            ranks_per_node: self.options.machine.ranks_per_node(&machine, job.ranks()),
        };
        let models = self.models(&job.parameters, drawn.as_ref())?;
        let (placement, _) = self.place(&machine, &job.parameters, &models, seed)?;
        real.run(&run, Setup { progress, ..self.setup(placement, &machine, seed) })
    }

    /// The machine of one run: its network may be drawn.
    fn machine_of(&self, draw: &Draw, drawn: Option<&ModelFile>) -> Rc<Machine> {
        match (draw.seeds.network, drawn) {
            (Some(_), Some(drawn)) => MachineOptions::with_drawn(&self.machine, drawn, !self.options.hpl.no_noise),
            _ => self.machine.clone(),
        }
    }

    fn pivots(&self, job: &Job, seed: u64) -> Pivots {
        job.pivots.clone().unwrap_or_else(|| self.options.hpl.pivots(seed))
    }

    /// A simulation that nobody watches.
    fn setup(&self, placement: Placement, machine: &Rc<Machine>, seed: u64) -> Setup {
        let network = self.options.machine.network(machine, &self.options.outputs, seed);
        let setup = Setup::new(placement.ranks(), machine.clone(), placement, network);
        Setup { seed, interrupt: Some(self.running.interrupt()), ..setup }
    }

    /// What was asked, what was assumed, and what a planner should know.
    fn describe(&self, report: &mut RunReport, chosen: &Chosen, jobs: &[Job]) {
        let options = self.options;
        report.program = "hpl".into();
        report.ranks = jobs.iter().map(Job::ranks).max().unwrap_or(0);
        report.parameters = parameters(&chosen.dat);
        let mut parameter = |name: &str, value: Value| report.parameters.push((name.into(), value));
        parameter("copy_panels", options.hpl.choices.copy_panels.into());
        parameter("equal_pivots", options.hpl.choices.equal_pivots.into());
        parameter("first_pivots", options.hpl.choices.first_pivots.into());
        parameter("noise", (self.machine.mpi.is_noisy() || jobs.iter().any(|job| job.models.is_noisy())).into());
        parameter("models", self.models.as_ref().map(|file| file.name.clone()).into());
        options.chances.describe(&self.vary).into_iter().for_each(|(name, value)| parameter(name, value));
        parameter("evict", options.eviction.evict.into());
        parameter("exact", options.hpl.exact.into());
        parameter("samples", options.samples.into());
        options.machine.describe(&self.machine, report);
        report.assumptions.extend(chosen.assumed.iter().cloned());
        for job in jobs {
            let new: Vec<&String> =
                job.models.assumed.iter().filter(|assumed| !report.assumptions.contains(assumed)).collect();
            report.assumptions.extend(new.into_iter().cloned());
            report.assumptions.extend(job.told_left_out());
            let warning = memory_warning(job.parameters.n, job.nodes, &self.machine);
            report.warnings.extend(warning.filter(|warning| !report.warnings.contains(warning)));
        }
    }
}

/// A combination of parameters, to be run with each seed.
struct Job {
    parameters: HplParameters,
    models: HplModels,
    /// Those of a real run; else they are drawn.
    pivots: Option<Pivots>,
    /// Nodes with ranks on them.
    nodes: u32,
    /// Nodes that are too slow, in the first run.
    left_out: Vec<u32>,
}

impl Job {
    fn ranks(&self) -> u32 {
        self.parameters.grid.size()
    }

    /// Which nodes are not used.
    fn told_left_out(&self) -> Option<String> {
        let nodes: Vec<String> = self.left_out.iter().map(u32::to_string).collect();
        (!nodes.is_empty())
            .then(|| format!("nodes {} are left out: there dgemm is slowest (in the first run)", nodes.join(", ")))
    }

    /// About how much there is to simulate.
    fn weight(&self) -> f64 {
        f64::from(self.ranks()) * self.parameters.panels() as f64
    }

    fn result(&self, draw: &Draw, finding: &HplFinding) -> HplRun {
        HplRun {
            parameters: self.parameters,
            seed: draw.seed,
            redrawn: draw.redrawn,
            seconds: finding.time.as_secs(),
            uncertainty: finding.uncertainty.as_secs(),
            bias: finding.bias.as_secs(),
            gflops: finding.gflops(&self.parameters),
            nodes: self.nodes,
        }
    }
}

/// A matrix that so many nodes have no room for.
pub(crate) fn memory_warning(n: u64, nodes: u32, machine: &Machine) -> Option<String> {
    let memory = machine.nodes.memory?;
    let needed = 8.0 * (n as f64).powi(2) / f64::from(nodes);
    (needed > memory.get() as f64).then(|| {
        format!(
            "N {} does not fit: its matrix takes {} on each of {} nodes, which have {}; the real HPL would fail",
            count(n),
            Bytes::new(needed as u64).human(),
            count(nodes.into()),
            memory.human()
        )
    })
}

/// Nodes with ranks on them.
pub(crate) fn nodes_used(placement: &Placement) -> u32 {
    let nodes: HashSet<u32> = (0..placement.ranks()).map(|rank| placement.node(rank)).collect();
    nodes.len() as u32
}

/// A single value, or a list.
fn parameters(dat: &HplDat) -> Vec<(String, Value)> {
    fn list<T: Into<Value>>(values: impl Iterator<Item = T>) -> Value {
        let mut values: Vec<Value> = values.map(Into::into).collect();
        if values.len() == 1 { values.remove(0) } else { Value::Array(values) }
    }
    let numbers = |values: &[u64]| list(values.iter().copied());
    let mut parameters = vec![
        ("n", numbers(&dat.n)),
        ("nb", numbers(&dat.nb)),
        ("grid", list(dat.grids.iter().map(|(rows, columns)| format!("{rows}x{columns}")))),
        ("pmap", dat.order.name().into()),
        ("depth", list(dat.depth.iter().copied())),
        ("bcast", list(dat.broadcast.iter().map(|value| value.name()))),
        ("rfact", list(dat.rfact.iter().map(|value| value.name()))),
        ("ndiv", numbers(&dat.ndiv)),
        ("pfact", list(dat.pfact.iter().map(|value| value.name()))),
        ("nbmin", numbers(&dat.nbmin)),
        ("swap", dat.swap.name().into()),
    ];
    if dat.swap == SwapKind::Mix {
        parameters.push(("threshold", dat.swap_threshold.into()));
    }
    parameters.push(("l1", form(dat.l1_transposed).into()));
    parameters.push(("u", form(dat.u_transposed).into()));
    parameters.push(("equilibration", dat.equilibration.into()));
    parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
