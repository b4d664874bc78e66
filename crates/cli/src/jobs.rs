//! `hpcast jobs`: several jobs that share a machine.
//!
//! All ranks are ranks of one simulation, each job with a world of its own. What a job takes alone comes from the same
//! simulation in which the other jobs do nothing, so that only their messages differ.

mod file;
mod hpl;
mod places;

use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;
use hpcast_apps::Body;
use hpcast_apps::hpl::HplProcesses;
use hpcast_apps::script::Script;
use hpcast_mpi::collectives::{Library, Selection};
use hpcast_mpi::{Outcome, RunError, Setup};
use hpcast_platform::Machine;
use hpcast_platform::diagnostic::Diagnostics;
use hpcast_platform::placement::{Placement, Plan, Policy};
use hpcast_report::{Cell, Column, RunReport, Table, Totals, json, text};
use hpcast_units::{Time, count};

use crate::failure::Failure;
use crate::hpl::nodes_used;
use crate::machine_options::MachineOptions;
use crate::outputs::{OutputOptions, Results, Watchers};
use crate::run::ProgramOptions;
use crate::running::Running;
use file::{Job, JobFile, JobProgram};
use hpl::{HplJob, PlacedHpl, Surroundings};

/// Options of `hpcast jobs`.
#[derive(Args)]
pub(crate) struct Options {
    /// The jobs
    file: PathBuf,
    #[command(flatten)]
    machine: MachineOptions,
    /// MPI library whose rules choose the collective algorithms: openmpi or mpich
    #[arg(long, default_value_t = Library::OpenMpi, value_name = "LIBRARY")]
    mpi: Library,
    #[command(flatten)]
    outputs: OutputOptions,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut running = Running::begin("jobs".into());
    options.outputs.check(&options.machine.inputs().chain([options.file.as_path()]).collect::<Vec<_>>())?;
    options.machine.refuse_places("a job's own keys say where it runs")?;
    let file = JobFile::load(&options.file)?;
    let machine = options.machine.load(hpl::messages(&file)?, true)?;
    options.machine.inputs().chain([options.file.as_path()]).for_each(|path| running.add_input(path));
    file.jobs.iter().flat_map(Job::inputs).for_each(|path| running.add_input(path));
    let jobs = placed(&file, options, &machine)?;
    let together = Together { options, machine, jobs, running: &running };
    let watchers = Watchers::new(&options.outputs, together.ranks())?;
    let steps = together.jobs.len() as f64 + 1.0;
    let shared = together.simulate(None, &watchers, 0.0..1.0 / steps)?;
    let mut table = together.table();
    let mut warnings = Vec::new();
    let mut first = 0;
    for (number, placed) in together.jobs.iter().enumerate() {
        let part = (number as f64 + 1.0) / steps..(number as f64 + 2.0) / steps;
        let alone = match together.jobs.len() {
            1 => None,
            _ => Some(together.simulate(Some(number), &Watchers::new(&OutputOptions::default(), 0)?, part)?.outcome),
        };
        let ranks = first..first + placed.job.ranks as usize;
        first = ranks.end;
        let end = |outcome: &Outcome| outcome.ranks[ranks.clone()].iter().map(|rank| rank.finished).max();
        let ends = end(&shared.outcome).unwrap_or_default();
        let alone = alone.as_ref().and_then(end).unwrap_or(ends);
        table.push(placed.row(ends, alone, table.columns().len()));
        warnings.extend(placed.warnings(shared.hpl[number].as_deref()));
    }
    let totals = Totals::from(shared.outcome);
    let mut report = RunReport::of(&totals, &together.machine.interconnect, options.outputs.every_rank);
    report.program = format!("{} jobs", count(file.jobs.len() as u64));
    options.machine.describe(&together.machine, &mut report);
    let (policy, per_node) = (|job: &Job| job.policy.is_some(), |job: &Job| job.ranks_per_node.is_some());
    MachineOptions::places_are_said(file.jobs.iter().all(policy), file.jobs.iter().all(per_node), &mut report);
    report.parameters.push(("mpi".into(), options.mpi.to_string().into()));
    report.assumptions.extend(together.jobs.iter().flat_map(Placed::assumptions));
    report.warnings.extend(warnings);
    report.table = table;
    let machine = together.machine.clone();
    running.finish(&mut report);
    let results = Results {
        report: &report,
        totals: &totals,
        machine: &machine,
        json: json::document(&report),
        text: text::summary(&report),
    };
    options.outputs.write(&results, watchers)
}

/// A job where it runs.
struct Placed<'j> {
    job: &'j Job,
    placement: Placement,
    program: Ready<'j>,
}

/// A program that can be started.
enum Ready<'j> {
    BuiltIn(&'j ProgramOptions),
    Script(&'j Script),
    Hpl(Box<PlacedHpl>),
}

/// Finds places for all jobs.
fn placed<'j>(file: &'j JobFile, options: &Options, machine: &Rc<Machine>) -> Result<Vec<Placed<'j>>, Diagnostics> {
    let places = places::place(file, machine, options.machine.seed)?;
    let counted = options.outputs.traffic.is_some();
    let surroundings = Surroundings { options: &options.machine, machine, counted };
    let placed = |(job, placement): (&'j Job, Placement)| {
        let program = match &job.program {
            JobProgram::BuiltIn(options) => Ready::BuiltIn(options),
            JobProgram::Script(_, _, script) => Ready::Script(script),
            JobProgram::Hpl(hpl) => Ready::Hpl(Box::new(PlacedHpl::new(file, job, hpl, &placement, &surroundings)?)),
        };
        Ok(Placed { job, placement, program })
    };
    file.jobs.iter().zip(places).map(placed).collect()
}

impl Placed<'_> {
    /// What its ranks do, and where to look for what HPL's did.
    fn body(&self, seed: u64) -> (Body, Option<Rc<HplProcesses>>) {
        match &self.program {
            Ready::BuiltIn(options) => {
                let bytes = options.size.bytes().first().copied().unwrap_or(0);
                let parameters = options.parameters(bytes, self.job.seed(seed));
                (options.program.body(self.job.ranks, parameters), None)
            }
            Ready::Script(script) => ((*script).clone().body(), None),
            Ready::Hpl(hpl) => {
                let processes = hpl.processes(&self.placement);
                (processes.clone().body(), Some(processes))
            }
        }
    }

    fn hpl(&self) -> Option<&PlacedHpl> {
        match &self.program {
            Ready::Hpl(hpl) => Some(hpl),
            Ready::BuiltIn(_) | Ready::Script(_) => None,
        }
    }

    /// What was taken where its program says nothing.
    fn assumptions(&self) -> impl Iterator<Item = String> {
        self.hpl().into_iter().flat_map(|hpl| &hpl.assumptions).map(|assumed| self.named(assumed))
    }

    fn warnings(&self, processes: Option<&HplProcesses>) -> Vec<String> {
        let of_models = self.job.hpl().zip(processes).map(|(hpl, processes)| hpl.beyond_measured(processes));
        let of_memory = self.hpl().and_then(|hpl| hpl.warning.clone());
        of_memory.iter().chain(of_models.iter().flatten()).map(|warning| self.named(warning)).collect()
    }

    fn named(&self, text: &str) -> String {
        format!("job `{}`: {text}", self.job.name)
    }

    /// Its row of the table, whose last column may be speeds.
    fn row(&self, ends: Time, alone: Time, columns: usize) -> Vec<Cell> {
        let job = self.job;
        let seconds = |time: Time| Cell::Seconds(time.as_secs());
        let (duration, alone) = (ends.since(job.start), alone.since(job.start));
        let ratio = || Cell::Ratio(duration.as_secs() / alone.as_secs());
        let speed = |hpl: &HplJob| Cell::Gflops(hpl.parameters().flops() / duration.as_secs() / 1e9);
        let took_time = duration > Time::ZERO && alone > Time::ZERO;
        let mut row = vec![
            Cell::Text(job.name.clone()),
            Cell::Text(job.program.name()),
            Cell::Count(job.ranks.into()),
            Cell::Count(nodes_used(&self.placement).into()),
            seconds(job.start),
            seconds(ends),
            seconds(duration),
            seconds(alone),
            if took_time { ratio() } else { Cell::Empty },
            job.hpl().filter(|_| took_time).map_or(Cell::Empty, speed),
        ];
        row.truncate(columns);
        row
    }
}

/// Jobs on a machine, ready to be simulated.
struct Together<'o> {
    options: &'o Options,
    machine: Rc<Machine>,
    jobs: Vec<Placed<'o>>,
    running: &'o Running,
}

/// What a simulation of jobs found.
struct Simulated {
    outcome: Outcome,
    /// For each job that is HPL.
    hpl: Vec<Option<Rc<HplProcesses>>>,
}

impl Together<'_> {
    fn ranks(&self) -> u32 {
        self.jobs.iter().map(|placed| placed.job.ranks).sum()
    }

    fn table(&self) -> Table {
        let columns = [
            Column::new("job", "job"),
            Column::new("program", "program"),
            Column::new("ranks", "ranks"),
            Column::new("nodes", "nodes"),
            Column::new("start", "start_seconds"),
            Column::new("end", "end_seconds"),
            Column::new("duration", "duration_seconds"),
            Column::new("alone", "alone_seconds"),
            Column::new("slowdown", "slowdown"),
        ];
        let is_hpl = self.jobs.iter().any(|placed| placed.hpl().is_some());
        Table::new(columns.into_iter().chain(is_hpl.then(|| Column::new("speed", "gflops"))))
    }

    /// All jobs, or one while the others do nothing.
    fn simulate(
        &self,
        only: Option<usize>,
        watchers: &Watchers,
        part: std::ops::Range<f64>,
    ) -> Result<Simulated, Failure> {
        let Options { machine: options, mpi, outputs, .. } = self.options;
        let (machine, ranks) = (&self.machine, self.ranks());
        let nodes = self.jobs.iter().flat_map(|placed| (0..placed.job.ranks).map(|rank| placed.placement.node(rank)));
        // Whether ranks fit was asked for each job.
        let plan = Plan { policy: Policy::List(nodes.collect()), oversubscribe: true, ..Plan::default() };
        let placement = machine.place_as(&plan, ranks).map_err(|error| Failure::input(error.to_string()))?;
        let network = match only {
            None => options.network(machine, outputs, options.seed),
            Some(_) => options.network(machine, &OutputOptions::default(), options.seed),
        };
        let setup = Setup {
            seed: options.seed,
            selection: Selection::of(*mpi),
            worlds: self.jobs.iter().map(|placed| placed.job.world()).collect(),
            observer: watchers.observer(),
            interrupt: Some(self.running.interrupt()),
            progress: self.running.progress(part, |_, _| Vec::new()),
            ..Setup::new(ranks, machine.clone(), placement, network)
        };
        let is_run = |number: usize| only.is_none_or(|only| only == number);
        let body = |(number, placed): (usize, &Placed<'_>)| match is_run(number) {
            true => placed.body(options.seed),
            false => (idle(), None),
        };
        let (mut bodies, hpl): (Vec<Body>, Vec<_>) = self.jobs.iter().enumerate().map(body).unzip();
        let ranks_of = |(number, placed): (usize, &Placed<'_>)| std::iter::repeat_n(number, placed.job.ranks as usize);
        let mut owners = self.jobs.iter().enumerate().flat_map(ranks_of);
        let outcome = hpcast_mpi::run(setup, |rank| bodies[owners.next().expect("every rank has a job")](rank));
        let outcome = outcome.map_err(|error| match error {
            RunError::Deadlock(_) => {
                Failure::from(error).of("ranks are numbered through all jobs, in the order of the file")
            }
            error => error.into(),
        })?;
        Ok(Simulated { outcome, hpl })
    }
}

/// Ranks that do nothing.
fn idle() -> Body {
    Box::new(|_| Box::pin(async {}))
}
