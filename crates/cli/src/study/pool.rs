//! Workers on this computer: options, and runs done by them.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use hpcast_study::document::{Document, Fingerprint};
use hpcast_study::execute::local::{Crew, CrewError};
use hpcast_study::execute::{Ended, Task, memory};
use hpcast_study::run::Inputs;
use hpcast_units::Bytes;

use crate::failure::Failure;
use crate::running::Running;

/// The words that make a worker of this program.
pub(super) const WORK: [&str; 2] = ["study", "work"];

/// What a process of a worker takes by itself, and what a rank and a node add: skeletons take about a kilobyte a rank.
/// Only the first runs are judged by it, the others by what those have used.
const PROCESS_BYTES: u64 = 24 << 20;
const RANK_BYTES: u64 = 4 << 10;

/// How many runs at a time.
#[derive(Args, Clone)]
pub(crate) struct Pool {
    /// Runs at a time, or tasks of a job array (default: as many as there are cores here, or 64 tasks)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=4096))]
    workers: Option<u32>,
    /// Memory that runs may use together (default: most of what is free)
    #[arg(long, value_name = "SIZE")]
    memory: Option<Bytes>,
}

impl Pool {
    /// The number that was asked for.
    pub fn given(&self) -> Option<usize> {
        self.workers.map(|workers| workers as usize)
    }

    /// Runs at a time.
    pub fn workers(&self) -> usize {
        self.given().unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// A run that is to be done.
    pub fn task(number: usize, inputs: Inputs) -> Task {
        Task { number, memory_bytes: memory_bytes(&inputs), inputs }
    }

    /// Does runs whose words name files in a folder.
    pub fn run(
        &self,
        folder: &Path,
        tasks: &[Task],
        documents: &BTreeMap<Fingerprint, Document>,
        running: &Running,
        keep: impl FnMut(Vec<Ended>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let program = program()?;
        let worker = || {
            let mut command = Command::new(&program);
            command.args(WORK).arg("--with-parent");
            if !folder.as_os_str().is_empty() {
                command.current_dir(folder);
            }
            // Ctrl-C is for us: we stop them when all that is finished is kept.
            command.process_group(0);
            command
        };
        let interrupt = running.interrupt();
        let crew = Crew {
            workers: self.workers(),
            memory_bytes: self.memory.map_or_else(memory::available, |memory| memory.get()),
            worker: &worker,
            interrupt: &interrupt,
        };
        crew.run(tasks, documents, keep).map_err(|error| match error {
            CrewError::Keep(failure) => failure,
            CrewError::Start(_) => Failure::input(error.to_string()),
        })
    }
}

/// This program, which does runs when it is called as a worker.
pub(super) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::input(format!("cannot find hpcast: {error}")))
}

/// About how much memory a run needs, as far as its words tell.
fn memory_bytes(inputs: &Inputs) -> u64 {
    let after = |option: &str| {
        let place = inputs.words.iter().position(|word| word == option)?;
        inputs.words.get(place + 1)
    };
    let ranks = ["-n", "--ranks"].into_iter().find_map(|option| after(option)?.parse().ok());
    let grid = after("--grid").and_then(|grid| {
        let (rows, columns) = grid.split_once('x')?;
        Some(rows.parse::<u64>().ok()? * columns.parse::<u64>().ok()?)
    });
    PROCESS_BYTES + ranks.or(grid).unwrap_or(0) * RANK_BYTES
}
