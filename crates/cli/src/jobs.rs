//! `hpcast jobs`: several jobs that share a machine.
//!
//! All ranks are ranks of one simulation, each job with a world of its own. What a job takes alone comes from the same
//! simulation in which the other jobs do nothing, so that only their messages differ.

mod file;
mod places;

use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;
use hpcast_apps::Body;
use hpcast_mpi::collectives::{Library, Selection};
use hpcast_mpi::{Outcome, RunError, Setup, World};
use hpcast_platform::Machine;
use hpcast_platform::placement::{Plan, Policy};
use hpcast_report::{Cell, Column, RunReport, Table, Totals, json, text};
use hpcast_units::{Time, count};

use crate::failure::Failure;
use crate::machine_options::MachineOptions;
use crate::outputs::{OutputOptions, Results, Watchers};
use crate::running::Running;
use file::{Job, JobFile};

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
    options.outputs.check()?;
    options.machine.refuse_places("a job's own keys say where it runs")?;
    let machine = options.machine.load(None, true)?;
    let file = JobFile::load(&options.file)?;
    options.machine.inputs().chain([options.file.as_path()]).for_each(|path| running.add_input(path));
    let nodes = places::place(&file, &machine, options.machine.seed)?;
    let together = Together { options, machine, jobs: &file.jobs, nodes, running: &running };
    let watchers = Watchers::new(&options.outputs, together.ranks())?;
    let steps = file.jobs.len() as f64 + 1.0;
    let shared = together.simulate(None, &watchers, 0.0..1.0 / steps)?;
    let mut table = table();
    let mut first = 0;
    for (number, job) in file.jobs.iter().enumerate() {
        let part = (number as f64 + 1.0) / steps..(number as f64 + 2.0) / steps;
        let alone = match file.jobs.len() {
            1 => None,
            _ => Some(together.simulate(Some(number), &Watchers::new(&OutputOptions::default(), 0)?, part)?),
        };
        let ranks = first..first + job.ranks as usize;
        first = ranks.end;
        let end = |outcome: &Outcome| outcome.ranks[ranks.clone()].iter().map(|rank| rank.finished).max();
        let ends = end(&shared).unwrap_or_default();
        let alone = alone.as_ref().and_then(end).unwrap_or(ends);
        table.push(row(job, &together.nodes[number], ends, alone));
    }
    let totals = Totals::from(shared);
    let mut report = RunReport::of(&totals, &together.machine.interconnect, options.outputs.every_rank);
    report.program = format!("{} jobs", count(file.jobs.len() as u64));
    options.machine.describe(&together.machine, &mut report);
    report.parameters.push(("mpi".into(), options.mpi.to_string().into()));
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

fn table() -> Table {
    Table::new([
        Column::new("job", "job"),
        Column::new("program", "program"),
        Column::new("ranks", "ranks"),
        Column::new("nodes", "nodes"),
        Column::new("start", "start_seconds"),
        Column::new("end", "end_seconds"),
        Column::new("duration", "duration_seconds"),
        Column::new("alone", "alone_seconds"),
        Column::new("slowdown", "slowdown"),
    ])
}

fn row(job: &Job, nodes: &[u32], ends: Time, alone: Time) -> [Cell; 9] {
    let mut used = nodes.to_vec();
    used.sort_unstable();
    used.dedup();
    let seconds = |time: Time| Cell::Seconds(time.as_secs());
    let (duration, alone) = (ends.since(job.start), alone.since(job.start));
    let slowdown = if alone > Time::ZERO { Cell::Ratio(duration.as_secs() / alone.as_secs()) } else { Cell::Empty };
    [
        Cell::Text(job.name.clone()),
        Cell::Text(job.program.name()),
        Cell::Count(job.ranks.into()),
        Cell::Count(used.len() as u64),
        seconds(job.start),
        seconds(ends),
        seconds(duration),
        seconds(alone),
        slowdown,
    ]
}

/// Jobs on a machine, ready to be simulated.
struct Together<'o> {
    options: &'o Options,
    machine: Rc<Machine>,
    jobs: &'o [Job],
    /// The node of each rank, for each job.
    nodes: Vec<Vec<u32>>,
    running: &'o Running,
}

impl Together<'_> {
    fn ranks(&self) -> u32 {
        self.jobs.iter().map(|job| job.ranks).sum()
    }

    /// All jobs, or one while the others do nothing.
    fn simulate(
        &self,
        only: Option<usize>,
        watchers: &Watchers,
        part: std::ops::Range<f64>,
    ) -> Result<Outcome, Failure> {
        let Options { machine: options, mpi, .. } = self.options;
        let (machine, ranks) = (&self.machine, self.ranks());
        // Whether ranks fit was asked for each job.
        let plan = Plan { policy: Policy::List(self.nodes.concat()), oversubscribe: true, ..Plan::default() };
        let placement = machine.place_as(&plan, ranks).map_err(|error| Failure::input(error.to_string()))?;
        let setup = Setup {
            seed: options.seed,
            selection: Selection::of(*mpi),
            worlds: self.jobs.iter().map(|job| World { ranks: job.ranks, start: job.start }).collect(),
            observer: watchers.observer(),
            interrupt: Some(self.running.interrupt()),
            progress: self.running.progress(part, |_, _| Vec::new()),
            ..Setup::new(ranks, machine.clone(), placement, options.network.build(machine, options.seed))
        };
        let is_run = |number: usize| only.is_none_or(|only| only == number);
        let body = |(number, job): (usize, &Job)| is_run(number).then(|| job.body(options.seed));
        let mut bodies: Vec<Option<Body>> = self.jobs.iter().enumerate().map(body).collect();
        let ranks_of = |(number, job): (usize, &Job)| std::iter::repeat_n(number, job.ranks as usize);
        let mut owners = self.jobs.iter().enumerate().flat_map(ranks_of);
        let outcome = hpcast_mpi::run(setup, |rank| match owners.next().and_then(|number| bodies[number].as_mut()) {
            Some(body) => body(rank),
            None => Box::pin(async {}),
        });
        outcome.map_err(|error| match error {
            RunError::Deadlock(_) => {
                Failure::from(error).of("ranks are numbered through all jobs, in the order of the file")
            }
            error => error.into(),
        })
    }
}
