//! Where results go: options of every command that simulates.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;
use hpcast_platform::{Machine, draw};
use hpcast_report::{
    GanttRecorder, Observers, OutputFile, RunReport, Totals, TraceWriter, TrafficRecorder, check_output, csv, gantt,
    link_load, links, write_file,
};
use hpcast_units::Time;

use crate::failure::Failure;
use crate::print;

/// Files to write.
#[derive(Args, Default)]
pub(crate) struct OutputOptions {
    /// Write everything about the run to a file; `-` prints it instead of the summary
    #[arg(long, value_name = "FILE.json")]
    pub json: Option<PathBuf>,
    /// Write the table to a file
    #[arg(long, value_name = "FILE.csv")]
    pub csv: Option<PathBuf>,
    /// Draw what every rank did when (few ranks)
    #[arg(long, value_name = "FILE.svg")]
    pub gantt: Option<PathBuf>,
    /// Write what every rank did when, for Perfetto or Chrome (many ranks)
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Write messages and bytes from each rank to each other, collectives as the messages that they are made of
    #[arg(long, value_name = "FILE.csv")]
    pub traffic: Option<PathBuf>,
    /// Draw the network with the load of its links
    #[arg(long, value_name = "FILE.svg")]
    pub links: Option<PathBuf>,
    /// Write the load of every link over time to a file
    #[arg(long, value_name = "FILE.csv")]
    pub link_load: Option<PathBuf>,
    /// Draw the load of the links over time, kinds of links and the busiest ones below each other
    #[arg(long, value_name = "FILE.svg")]
    pub link_heat: Option<PathBuf>,
    /// List every rank in the JSON, however many there are
    #[arg(long)]
    pub every_rank: bool,
}

/// What there is to write.
pub(crate) struct Results<'r> {
    pub report: &'r RunReport,
    pub totals: &'r Totals,
    pub machine: &'r Machine,
    /// The whole report for programs.
    pub json: String,
    /// For people; if some of it was printed before, what is left of it.
    pub text: String,
}

impl OutputOptions {
    /// Finds out before the run what would go wrong after it; the inputs are not overwritten.
    pub fn check(&self, inputs: &[&Path]) -> Result<(), Failure> {
        let pictures = [&self.gantt, &self.links, &self.link_heat];
        let outputs = [&self.json, &self.csv, &self.trace, &self.traffic, &self.link_load].into_iter().chain(pictures);
        for path in outputs.flatten().filter(|path| *path != Path::new("-")) {
            check_output(path, inputs.iter().copied())?;
        }
        Ok(())
    }

    /// Whether links have to be watched over time.
    pub fn watches_links(&self) -> bool {
        self.link_load.is_some() || self.link_heat.is_some()
    }

    fn write_loads(&self, results: &Results<'_>) -> Result<(), Failure> {
        let Results { report, totals, machine, .. } = results;
        if !self.watches_links() {
            return Ok(());
        }
        let Some(timeline) = &totals.timeline else {
            return Err(Failure::input(
                "the load of links over time is known only where all of a run was simulated: leave out --samples, or add --exact",
            ));
        };
        if let Some(path) = &self.link_load {
            write_file(path, link_load::csv(timeline, &machine.interconnect).as_bytes())?;
        }
        if let Some(path) = &self.link_heat {
            let title = format!("{} on {}: load of the links over time", report.program, report.machine.name);
            write_file(path, link_load::svg(timeline, &machine.interconnect, &title).as_bytes())?;
        }
        Ok(())
    }

    /// Whether standard output is for programs.
    pub fn prints_json(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    pub fn write(&self, results: &Results<'_>, watchers: Watchers) -> Result<(), Failure> {
        let Results { report, totals, machine, .. } = results;
        if let Some(path) = &self.csv {
            write_file(path, csv::table(report).as_bytes())?;
        }
        if let Some(path) = &self.links {
            let loads = links::loads(&machine.interconnect, &totals.link_bytes, totals.simulated);
            let title = format!("{} on {}: load of the links", report.program, report.machine.name);
            write_file(path, draw::svg(machine.interconnect.topology(), &title, Some(&loads)).as_bytes())?;
        }
        self.write_loads(results)?;
        watchers.write(self, report)?;
        if self.prints_json() {
            return print(&results.json);
        }
        if let Some(path) = &self.json {
            write_file(path, results.json.as_bytes())?;
        }
        print(&results.text)
    }
}

/// Who watches the ranks: a Gantt chart, a trace, a table of traffic, or nobody.
pub(crate) struct Watchers {
    observers: Rc<RefCell<Observers>>,
    gantt: Option<Rc<RefCell<GanttRecorder>>>,
    trace: Option<Rc<RefCell<TraceWriter<OutputFile>>>>,
    traffic: Option<Rc<RefCell<TrafficRecorder>>>,
}

impl Watchers {
    pub fn new(options: &OutputOptions, ranks: u32) -> Result<Watchers, Failure> {
        let mut observers = Observers::default();
        let mut watchers = Watchers { observers: Rc::default(), gantt: None, trace: None, traffic: None };
        if options.gantt.is_some() {
            let recorder = GanttRecorder::new(ranks).map_err(|error| Failure::input(error.to_string()))?;
            let recorder = Rc::new(RefCell::new(recorder));
            observers.add(recorder.clone());
            watchers.gantt = Some(recorder);
        }
        if let Some(path) = &options.trace {
            let trace = Rc::new(RefCell::new(TraceWriter::new(OutputFile::create(path)?, true)));
            observers.add(trace.clone());
            watchers.trace = Some(trace);
        }
        if options.traffic.is_some() {
            let recorder = Rc::new(RefCell::new(TrafficRecorder::new(ranks)));
            observers.add(recorder.clone());
            watchers.traffic = Some(recorder);
        }
        watchers.observers = Rc::new(RefCell::new(observers));
        Ok(watchers)
    }

    /// The next simulation begins at this time of the run.
    pub fn start_at(&mut self, start: Time) {
        self.observers.borrow_mut().start_at(start);
    }

    pub fn observer(&self) -> Option<Box<dyn hpcast_mpi::Observer>> {
        if self.observers.borrow().is_empty() { None } else { Some(Box::new(self.observers.clone())) }
    }

    fn write(self, options: &OutputOptions, report: &RunReport) -> Result<(), Failure> {
        if let (Some(path), Some(recorder)) = (&options.gantt, &self.gantt) {
            let title = format!("{} on {}", report.program, report.machine.name);
            write_file(path, gantt::svg(&recorder.borrow(), &title).as_bytes())?;
        }
        if let (Some(path), Some(trace)) = (&options.trace, &self.trace) {
            let file = trace.borrow_mut().finish();
            file.map_err(|error| Failure::input(format!("cannot write {}: {error}", path.display())))?.finish()?;
        }
        if let (Some(path), Some(recorder)) = (&options.traffic, &self.traffic) {
            write_file(path, recorder.borrow().to_csv(report).as_bytes())?;
        }
        Ok(())
    }
}
