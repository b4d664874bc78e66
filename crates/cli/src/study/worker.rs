//! A worker of a study: does the runs that it is told, one after the other.
//!
//! What it is told comes as lines on standard input, what comes of it goes as lines to standard output
//! (`hpcast_study::execute::protocol`). Several workers know nothing of each other.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use hpcast_models::compute::ModelFile;
use hpcast_platform::MachineFile;
use hpcast_platform::diagnostic::Source;
use hpcast_report::{Stopwatch, json};
use hpcast_study::document::{Document, Fingerprint};
use hpcast_study::execute::protocol::{Answer, Remembered, Request, line};
use hpcast_study::run::{Cost, Ending, Inputs, Outputs};
use tempfile::TempDir;

use super::{external, figures};
use crate::failure::Failure;
use crate::running::Running;
use crate::{hpl, launch, run, words};

/// Does runs until nobody asks for more, or until whoever has started it is gone.
pub(super) fn work(with_parent: bool) -> Result<(), Failure> {
    if with_parent {
        // Who waits for the results may be killed without a chance to stop us.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    }
    let mut library = Library::default();
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    for heard in input.lines() {
        let heard = heard.map_err(|error| Failure::input(format!("cannot read what is to be done: {error}")))?;
        let request = serde_json::from_str(&heard)
            .map_err(|error| Failure::input(format!("`hpcast study work` is for hpcast itself: {error}")))?;
        match request {
            Request::Document { fingerprint, document } => library.add(fingerprint, document),
            Request::Run { number, inputs } => {
                let answer = line(&Answer { number, ending: library.run(&inputs) });
                // Nobody listens any more: nothing is left to do.
                if output.write_all(answer.as_bytes()).and_then(|()| output.flush()).is_err() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// The files that runs need, each read once.
#[derive(Default)]
pub(super) struct Library {
    remembered: Remembered,
    documents: HashMap<Fingerprint, Document>,
    machines: HashMap<Fingerprint, Arc<MachineFile>>,
    models: HashMap<Fingerprint, ModelFile>,
}

impl Library {
    pub fn add(&mut self, fingerprint: Fingerprint, document: Document) {
        if let Some(forgotten) = self.remembered.add(fingerprint.clone()) {
            self.documents.remove(&forgotten);
            self.machines.remove(&forgotten);
            self.models.remove(&forgotten);
        }
        self.documents.insert(fingerprint, document);
    }

    /// Does a run, and says what it has cost.
    fn run(&mut self, inputs: &Inputs) -> Ending {
        forget_peak();
        let stopwatch = Stopwatch::start();
        let result = self.outputs(inputs).map_err(|failure| failure.message());
        let used = stopwatch.read();
        Ending {
            result,
            cost: Cost {
                wall_seconds: used.wall_seconds,
                cpu_seconds: used.cpu_seconds,
                memory_bytes: used.peak_memory_bytes,
            },
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            finished: hpcast_report::utc(std::time::SystemTime::now()),
        }
    }

    fn outputs(&mut self, inputs: &Inputs) -> Result<Outputs, Failure> {
        let program = Program::of(inputs)?;
        let (machine, models) = self.files(inputs)?;
        let running = Running::within(Arc::default(), Arc::default());
        let costs = figures::of_machine(&machine.build()?);
        match program {
            Program::Hpl(options) => {
                let report = hpl::report(&options, machine.build()?, models, running)?;
                Ok(Outputs {
                    figures: figures::of_hpl(&report).into_iter().chain(costs).collect(),
                    warnings: report.run.warnings.clone(),
                    report: json::without_costs(&report),
                })
            }
            Program::BuiltIn(options) => {
                let report = run::report(&options, machine.build()?, models, &running)?;
                Ok(Outputs {
                    figures: figures::of_run(&report).into_iter().chain(costs).collect(),
                    warnings: report.warnings.clone(),
                    report: json::without_costs(&report),
                })
            }
            Program::Other => {
                let mut outputs = external::run(inputs, &self.documents)?;
                outputs.figures.extend(costs);
                Ok(outputs)
            }
        }
    }

    /// What would go wrong before anything is simulated.
    pub fn check(&mut self, inputs: &Inputs) -> Result<(), Failure> {
        let program = Program::of(inputs)?;
        let (machine, models) = self.files(inputs)?;
        match program {
            Program::Hpl(options) => hpl::check(&options, machine.build()?, models),
            Program::BuiltIn(options) => run::check(&options, machine.build()?, models),
            Program::Other => machine.build().map(drop).map_err(Failure::from),
        }
    }

    fn files(&mut self, inputs: &Inputs) -> Result<(Arc<MachineFile>, Option<ModelFile>), Failure> {
        let machine = self.machine(&inputs.machine)?;
        let models = inputs.models.as_ref().map(|models| self.model(models)).transpose()?;
        Ok((machine, models))
    }

    fn document(&self, fingerprint: &Fingerprint) -> Result<&Document, Failure> {
        let absent = || Failure::input(format!("the file {} did not come with the run", fingerprint.short()));
        self.documents.get(fingerprint).ok_or_else(absent)
    }

    fn machine(&mut self, fingerprint: &Fingerprint) -> Result<Arc<MachineFile>, Failure> {
        if let Some(machine) = self.machines.get(fingerprint) {
            return Ok(machine.clone());
        }
        let document = self.document(fingerprint)?;
        let folder = beside(document)?;
        let path = folder.as_ref().map_or(Path::new(""), TempDir::path);
        let machine = Arc::new(MachineFile::parse(&source(document), path)?);
        self.machines.insert(fingerprint.clone(), machine.clone());
        Ok(machine)
    }

    fn model(&mut self, fingerprint: &Fingerprint) -> Result<ModelFile, Failure> {
        if !self.models.contains_key(fingerprint) {
            let models = ModelFile::parse(&source(self.document(fingerprint)?))?;
            self.models.insert(fingerprint.clone(), models);
        }
        Ok(self.models[fingerprint].clone())
    }
}

fn source(document: &Document) -> Arc<Source> {
    Source::new(document.name.as_str(), document.text.as_str())
}

/// A folder with the files that a document names, as long as it is read.
fn beside(document: &Document) -> Result<Option<TempDir>, Failure> {
    if document.files.is_empty() {
        return Ok(None);
    }
    external::folder_with(&document.files).map(Some)
}

/// The most memory of the run to come is not that of the ones before (proc(5)).
fn forget_peak() {
    // Without it the figure is too high at worst.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// What a run is.
enum Program {
    Hpl(Box<hpl::Options>),
    BuiltIn(Box<run::Options>),
    /// Any other command, which is run as users run it.
    Other,
}

impl Program {
    fn of(inputs: &Inputs) -> Result<Program, Failure> {
        let machine = ["--machine=machine".to_owned(), format!("--seed={}", inputs.seed)];
        let words = || inputs.words.iter().skip(1).cloned().chain(machine);
        let wrong = |error: clap::Error| {
            let (message, remedy) = words::said(&error);
            Failure::input(format!("{message}; {remedy}"))
        };
        // The words of a real program are its own business.
        let is_name = |word: &&String| word.contains('/') || word.parse::<hpcast_apps::Program>().is_ok();
        let is_built_in = inputs.words.iter().find(is_name).is_some_and(|word| !word.contains('/'));
        match inputs.words.first().map(String::as_str) {
            Some("hpl") if !inputs.words.iter().any(|word| word == "--real") => {
                words::options(words()).map(|options| Program::Hpl(Box::new(options))).map_err(wrong)
            }
            Some("run") if is_built_in || !is_program(inputs) => {
                words::options(words()).map(|options| Program::BuiltIn(Box::new(options))).map_err(wrong)
            }
            Some("hpl" | "run" | "jobs") => Ok(Program::Other),
            Some(other) => Err(Failure::input(format!(
                "`{other}` is nothing that can be studied; write `hpl`, `run PROGRAM` or `jobs FILE`, and options"
            ))),
            None => Err(Failure::input("the study has no program; write `program = \"hpl --n 20000\"`")),
        }
    }
}

/// Whether the words of `run` name a file or a command of the system.
fn is_program(inputs: &Inputs) -> bool {
    let words = std::iter::once("hpcast").chain(inputs.words.iter().map(String::as_str)).map(Into::into).collect();
    let is_built_in = |name: &str| name.parse::<hpcast_apps::Program>().is_ok();
    launch::rewritten(words, is_built_in).get(1).is_some_and(|word| word == "run-program")
}
