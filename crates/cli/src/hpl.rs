//! `hpcast hpl`: forecasts High Performance Linpack.

mod choices;
mod recording;

use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;
use hpcast_apps::hpl::{Hpl, HplDat, HplFinding, HplModels, HplParameters, Pivots, SampleSize, SwapKind};
use hpcast_models::compute::ModelFile;
use hpcast_mpi::Setup;
use hpcast_platform::Machine;
use hpcast_platform::placement::Placement;
use hpcast_report::{HplReport, HplRun, HplTimes, RunReport, Totals, account, json, xhpl};
use hpcast_units::{Bytes, count};
use serde_json::Value;

use crate::failure::Failure;
use crate::machine_options::MachineOptions;
use crate::outputs::{OutputOptions, Results, Watchers};
use crate::running::Running;
use choices::{Choices, Chosen, form};

/// Options of `hpcast hpl`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    machine: MachineOptions,
    /// Model file: how long kernels take (default: a roofline of the machine file's speeds)
    #[arg(long, value_name = "FILE.toml")]
    models: Option<PathBuf>,
    #[command(flatten)]
    choices: Choices,
    /// Kernels take the same time in every call
    #[arg(long)]
    no_noise: bool,
    /// Run with so many seeds, one after the other, and give the mean with its confidence interval
    #[arg(long, default_value_t = 1, value_name = "RUNS", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    repeat: u64,
    /// Simulate every message
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    outputs: OutputOptions,
    /// Write what each rank did to a folder
    #[arg(long, hide = true, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Read the pivot rows from a file
    #[arg(long, hide = true, value_name = "FILE")]
    pivots: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut running = Running::begin("hpl".into());
    options.outputs.check()?;
    let machine = options.machine.load()?;
    running.add_input(&options.machine.path);
    let chosen = options.choices.choose(&options.machine, &machine)?;
    let models = options.models.as_deref().map(ModelFile::load).transpose()?;
    for path in [&options.choices.dat, &options.models, &options.pivots].into_iter().flatten() {
        running.add_input(path);
    }
    let benchmark = Benchmark { options, machine, models, running };
    benchmark.run(&chosen)
}

impl Options {
    fn seeds(&self) -> impl Iterator<Item = u64> + Clone {
        let first = self.machine.seed;
        (0..self.repeat).map(move |more| first.wrapping_add(more))
    }
}

/// HPL on a machine, ready to be simulated with each choice of parameters.
struct Benchmark<'o> {
    options: &'o Options,
    machine: Rc<Machine>,
    models: Option<ModelFile>,
    running: Running,
}

impl Benchmark<'_> {
    fn run(self, chosen: &Chosen) -> Result<(), Failure> {
        let options = self.options;
        let jobs = self.jobs(chosen)?;
        let most_ranks = jobs.iter().map(Job::ranks).max().unwrap_or(0);
        let mut watchers = Watchers::new(&options.outputs, most_ranks)?;
        let (mut runs, mut totals, mut times) = (Vec::new(), Totals::default(), HplTimes::default());
        let seeds = options.seeds();
        let whole: f64 = jobs.iter().map(Job::weight).sum::<f64>() * seeds.clone().count() as f64;
        let (mut done, mut interrupted) = (0.0, false);
        let mut shortcuts = Shortcuts::default();
        for (job, seed) in jobs.iter().flat_map(|job| seeds.clone().map(move |seed| (job, seed))) {
            watchers.start_at(totals.simulated);
            let part = done / whole..(done + job.weight()) / whole;
            done += job.weight();
            let finding = match self.simulate(job, seed, part, &watchers) {
                Err(Failure::Interrupted) => {
                    interrupted = true;
                    break;
                }
                finding => finding?,
            };
            runs.push(job.result(seed, &finding));
            shortcuts.add(&job.parameters, &finding);
            times.add(&finding.account, job.ranks());
            totals.add(finding.outcome);
            if let (Some(folder), Some(recorded)) = (&options.record, finding.recorded) {
                recording::write(folder, recorded)?;
            }
        }
        let mut report = RunReport::of(&totals, &self.machine.interconnect, options.outputs.every_rank);
        self.describe(&mut report, chosen, &jobs);
        if !options.exact {
            report.assumptions.extend(shortcuts.describe());
        }
        if interrupted {
            report.warnings.push(format!(
                "interrupted: {} of {} runs are finished",
                runs.len(),
                jobs.len() * seeds.count()
            ));
        }
        let Benchmark { machine, running, .. } = self;
        running.finish(&mut report);
        let peak = machine.nodes.flops.map(|flops| flops.get() / 1e9);
        let report = HplReport::new(report, &runs, &times, peak);
        let results = Results {
            report: &report.run,
            totals: &totals,
            machine: &machine,
            json: json::document(&report),
            text: format!("{}\n{}", xhpl::text(&chosen.dat, &runs), account(&report)),
        };
        options.outputs.write(&results, watchers)?;
        if interrupted { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// All that is to be run, checked: what can go wrong goes wrong here.
    fn jobs(&self, chosen: &Chosen) -> Result<Vec<Job>, Failure> {
        let options = self.options;
        if (options.record.is_some() || options.pivots.is_some()) && (chosen.runs.len() > 1 || options.repeat > 1) {
            return Err(Failure::input("--record and --pivots are for a single run; choose one"));
        }
        let job = |parameters: &HplParameters| {
            let placement = options.machine.place(&self.machine, parameters.grid.size(), options.machine.seed)?;
            let pivots = options.pivots.as_deref().map(|path| recording::pivots(path, parameters.n)).transpose()?;
            let nodes = nodes_used(&placement, &self.machine);
            Ok(Job { parameters: *parameters, models: self.models(parameters)?, pivots, nodes })
        };
        chosen.runs.iter().map(job).collect()
    }

    fn models(&self, parameters: &HplParameters) -> Result<HplModels, Failure> {
        let options = self.options;
        let on_node = options.machine.ranks_per_node(&self.machine, parameters.grid.size());
        let models = HplModels::new(self.models.as_ref(), &self.machine, on_node).ok_or_else(|| {
            Failure::input(format!(
                "{} does not say how fast a node computes; add `flops` or `sustained-flops` to its [nodes], or name a \
                 model file that lists all kernels with --models",
                options.machine.path.display()
            ))
        })?;
        Ok(if options.no_noise { models.without_noise() } else { models })
    }

    fn simulate(&self, job: &Job, seed: u64, part: Range<f64>, watchers: &Watchers) -> Result<HplFinding, Failure> {
        let options = self.options;
        let setup = |stretch: Range<f64>| -> Result<Setup, Failure> {
            let within = |share: f64| part.start + share * (part.end - part.start);
            Ok(Setup {
                ranks: job.ranks(),
                machine: self.machine.clone(),
                placement: options.machine.place(&self.machine, job.ranks(), seed)?,
                network: options.machine.network(&self.machine),
                // HPL has its own collectives.
                selection: Default::default(),
                observer: watchers.observer(),
                interrupt: Some(self.running.interrupt()),
                progress: self.running.progress(within(stretch.start)..within(stretch.end)),
            })
        };
        let hpl = Hpl {
            parameters: job.parameters,
            models: job.models.clone(),
            pivots: match &job.pivots {
                Some(listed) => listed.clone(),
                None if options.choices.equal_pivots => Pivots::equal(seed),
                None => Pivots::random(seed),
            },
            seed,
            record: options.record.is_some(),
            jointly: !options.exact,
        };
        // Who watches or records wants to see all of it.
        if options.exact || options.record.is_some() || watchers.observer().is_some() {
            return Ok(hpl.run(setup(0.0..1.0)?)?);
        }
        hpl.sample(SampleSize::default(), setup)
    }

    /// What was asked, what was assumed, and what a planner should know.
    fn describe(&self, report: &mut RunReport, chosen: &Chosen, jobs: &[Job]) {
        let options = self.options;
        report.program = "hpl".into();
        report.ranks = jobs.iter().map(Job::ranks).max().unwrap_or(0);
        report.parameters = parameters(&chosen.dat);
        let mut parameter = |name: &str, value: Value| report.parameters.push((name.into(), value));
        parameter("copy_panels", options.choices.copy_panels.into());
        parameter("equal_pivots", options.choices.equal_pivots.into());
        parameter("noise", jobs.iter().any(|job| job.models.is_noisy()).into());
        parameter("models", self.models.as_ref().map(|file| file.name.clone()).into());
        parameter("repeat", options.repeat.into());
        parameter("exact", options.exact.into());
        options.machine.describe(&self.machine, report);
        report.assumptions.extend(chosen.assumed.iter().cloned());
        for job in jobs {
            let new: Vec<&String> =
                job.models.assumed.iter().filter(|assumed| !report.assumptions.contains(assumed)).collect();
            report.assumptions.extend(new.into_iter().cloned());
            let warning = job.memory_warning(&self.machine);
            report.warnings.extend(warning.filter(|warning| !report.warnings.contains(warning)));
        }
    }
}

/// What was not simulated message by message.
#[derive(Default)]
struct Shortcuts {
    /// Of all runs.
    panels: u64,
    simulated: u64,
    /// The largest of all runs, as a part of the time.
    uncertainty: f64,
}

impl Shortcuts {
    fn add(&mut self, parameters: &HplParameters, finding: &HplFinding) {
        self.panels += parameters.panels();
        self.simulated += finding.simulated_panels;
        self.uncertainty = self.uncertainty.max(finding.uncertainty.as_secs() / finding.time.as_secs());
    }

    fn describe(&self) -> Vec<String> {
        let mut shortcuts =
            vec!["panels are factored without contention on the links (--exact simulates every message)".to_owned()];
        if self.simulated < self.panels {
            shortcuts.push(format!(
                "{} of {} panels were simulated and the rest interpolated (--exact simulates all)",
                count(self.simulated),
                count(self.panels),
            ));
        }
        shortcuts.push(format!("what is not simulated may change the time by {:.2} %", 100.0 * self.uncertainty));
        shortcuts
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
}

impl Job {
    fn ranks(&self) -> u32 {
        self.parameters.grid.size()
    }

    /// About how much there is to simulate.
    fn weight(&self) -> f64 {
        f64::from(self.ranks()) * self.parameters.panels() as f64
    }

    fn result(&self, seed: u64, finding: &HplFinding) -> HplRun {
        HplRun {
            parameters: self.parameters,
            seed,
            seconds: finding.time.as_secs(),
            uncertainty: finding.uncertainty.as_secs(),
            gflops: finding.gflops(&self.parameters),
            nodes: self.nodes,
        }
    }

    /// A matrix that the nodes have no room for.
    fn memory_warning(&self, machine: &Machine) -> Option<String> {
        let (n, nodes) = (self.parameters.n, self.nodes);
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
}

/// Nodes with ranks on them.
fn nodes_used(placement: &Placement, machine: &Machine) -> u32 {
    let mut used = vec![false; machine.nodes.count as usize];
    (0..placement.ranks()).for_each(|rank| used[placement.node(rank) as usize] = true);
    used.into_iter().filter(|used| *used).count() as u32
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
