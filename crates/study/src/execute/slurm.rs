//! Runs on a cluster: job arrays of Slurm, which all that it needs is a folder that all nodes see.
//!
//! A batch is a folder `slurm/NUMBER` in the study's folder. For each task of its array there is a file of requests, and
//! the task writes answers to another, line by line. Whoever follows reads them; nobody has to: what is written is
//! gathered by the next who looks. Runs that have not come back when a job has ended are sent again, in another batch.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::protocol::{Answer, Remembered, Request, line};
use super::{Ended, Task};
use crate::document::{Document, Fingerprint};
use crate::run::{Cost, Ending};

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(500);
/// A run is sent so often.
const ATTEMPTS: usize = 3;
/// The scheduler is asked once in so many looks: it has other things to do.
const LOOKS: u32 = 4;
/// So often in a row the scheduler may give no answer, for ten minutes: controllers are busy, or begun again, and jobs go on.
const PATIENCE: u32 = 300;
/// The name of the file that says which job a batch is.
const JOB: &str = "job";

/// A cluster that this computer can send jobs to.
pub struct Cluster<'c> {
    /// The folder for batches, seen by all nodes.
    pub folder: PathBuf,
    /// The program that does runs when it is called with these words.
    pub program: PathBuf,
    /// The words.
    pub words: Vec<String>,
    /// The folder that it runs in.
    pub place: PathBuf,
    /// What jobs are called.
    pub name: String,
    /// Tasks of an array, at most.
    pub tasks: usize,
    /// More options of sbatch.
    pub options: Vec<String>,
    /// Set by those who do not want to wait any more.
    pub interrupt: &'c AtomicBool,
}

/// Why runs cannot be done on a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError<E> {
    /// There is no Slurm.
    #[error("Slurm is not here: `{command}` cannot be run ({problem}); log in where it is, or leave out --on slurm")]
    Absent {
        /// What was tried.
        command: String,
        /// What the system says.
        problem: io::Error,
    },
    /// Slurm does not want it.
    #[error(
        "Slurm refuses: `{command}` says: {said}; see with `sinfo` whether Slurm answers here, and correct the options after --slurm"
    )]
    Refused {
        /// What was tried.
        command: String,
        /// What it says.
        said: String,
    },
    /// The folder cannot be used.
    #[error("{}: {problem}; the study's folder must be writable here and on all nodes", path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// What the system says.
        problem: io::Error,
    },
    /// What is found cannot be kept.
    #[error(transparent)]
    Keep(E),
}

/// A batch that was sent.
struct Batch {
    folder: PathBuf,
    /// By which Slurm calls it.
    job: String,
    /// Runs by the numbers that its requests give them.
    keys: HashMap<usize, Fingerprint>,
    /// How far each file of answers was read.
    read: BTreeMap<PathBuf, usize>,
    running: bool,
}

/// What is still to come.
struct Wanted<'t> {
    tasks: HashMap<Fingerprint, &'t Task>,
    sent: HashMap<Fingerprint, usize>,
}

impl Cluster<'_> {
    /// Does all tasks, those first that were sent before. `keep` is given what has come back, and called with nothing when
    /// nothing has for a while. Who interrupts it leaves jobs as they are: their numbers come back.
    pub fn run<E>(
        &self,
        tasks: &[Task],
        documents: &BTreeMap<Fingerprint, Document>,
        mut keep: impl FnMut(Vec<Ended>) -> Result<(), E>,
    ) -> Result<Vec<String>, ClusterError<E>> {
        let mut wanted =
            Wanted { tasks: tasks.iter().map(|task| (task.inputs.key(), task)).collect(), sent: HashMap::new() };
        let mut batches = self.earlier()?;
        let mut silent = 0;
        for look in 0.. {
            if look % LOOKS == 0 {
                silent = match ask(&mut batches) {
                    Ok(()) => 0,
                    Err(ClusterError::Refused { .. }) if silent < PATIENCE => silent + 1,
                    Err(error) => return Err(error),
                };
            }
            // Answers that were written before the job ended are read after it was asked for.
            let mut ended = Vec::new();
            for batch in &mut batches {
                ended.extend(
                    batch.gather(&mut wanted).map_err(|(path, problem)| ClusterError::Folder { path, problem })?,
                );
            }
            keep(ended).map_err(ClusterError::Keep)?;
            if wanted.tasks.is_empty() {
                return Ok(Vec::new());
            }
            let on_the_way: BTreeSet<&Fingerprint> =
                batches.iter().filter(|batch| batch.running).flat_map(|batch| batch.keys.values()).collect();
            let mut missing: Vec<&Task> =
                wanted.tasks.iter().filter(|(key, _)| !on_the_way.contains(key)).map(|(_, task)| *task).collect();
            missing.sort_by_key(|task| task.number);
            let lost = wanted.give_up(&missing);
            missing.retain(|task| !lost.contains(&task.number));
            keep(lost.into_iter().map(|number| Ended { number, ending: never_came_back() }).collect())
                .map_err(ClusterError::Keep)?;
            if !missing.is_empty() {
                missing.iter().for_each(|task| *wanted.sent.entry(task.inputs.key()).or_default() += 1);
                batches.push(self.send(&missing, documents)?);
            }
            if self.interrupt.load(Ordering::Relaxed) {
                return Ok(batches.into_iter().filter(|batch| batch.running).map(|batch| batch.job).collect());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(Vec::new())
    }

    /// The batches of those who came before.
    fn earlier<E>(&self) -> Result<Vec<Batch>, ClusterError<E>> {
        let wrong = |problem| ClusterError::Folder { path: self.folder.clone(), problem };
        std::fs::create_dir_all(&self.folder).map_err(wrong)?;
        let mut folders: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(wrong)? {
            folders.push(entry.map_err(wrong)?.path());
        }
        folders.sort();
        // A batch without a job was never sent.
        Ok(folders.into_iter().filter_map(|folder| Batch::read(folder).ok()).collect())
    }

    /// Sends runs, a few to each task of an array.
    fn send<E>(&self, tasks: &[&Task], documents: &BTreeMap<Fingerprint, Document>) -> Result<Batch, ClusterError<E>> {
        let number = (1..).find(|number| !self.folder.join(format!("{number:04}")).exists()).unwrap_or(1);
        let folder = self.folder.join(format!("{number:04}"));
        let wrong = |problem| ClusterError::Folder { path: folder.clone(), problem };
        std::fs::create_dir_all(&folder).map_err(wrong)?;
        let size = tasks.len().div_ceil(self.tasks.max(1));
        // Neighbours of a design take about as long: each task gets some of all.
        let count = tasks.len().div_ceil(size);
        for place in 0..count {
            let own: Vec<&Task> = tasks.iter().skip(place).step_by(count).copied().collect();
            std::fs::write(folder.join(format!("{place}.in")), requests(&own, documents)).map_err(wrong)?;
        }
        let script = folder.join("job.sh");
        std::fs::write(&script, self.script(&folder)).map_err(wrong)?;
        let mut command = Command::new("sbatch");
        command.args(["--parsable", "--export=ALL", &format!("--array=0-{}", count - 1)]);
        command.arg(format!("--job-name={}", self.name)).arg(format!("--output={}/%a.log", folder.display()));
        let said = said(command.args(&self.options).arg(&script))?;
        let job = said.trim().split(';').next().unwrap_or_default().to_owned();
        std::fs::write(folder.join(JOB), &job).map_err(wrong)?;
        let keys = tasks.iter().map(|task| (task.number, task.inputs.key())).collect();
        Ok(Batch { folder, job, keys, read: BTreeMap::new(), running: true })
    }

    /// What a task of the array does. One that Slurm runs again writes to another file.
    fn script(&self, folder: &Path) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        format!(
            "#!/bin/sh\ncd {place} || exit 1\nbatch={folder}/$SLURM_ARRAY_TASK_ID\n\
             exec {program} {words} < \"$batch.in\" > \"$batch.${{SLURM_RESTART_COUNT:-0}}.out\"\n",
            place = quoted(&self.place.display().to_string()),
            folder = quoted(&folder.display().to_string()),
            program = quoted(&self.program.display().to_string()),
            words = words.join(" "),
        )
    }
}

/// Lines for a worker: each document before the first run that needs it.
fn requests(tasks: &[&Task], documents: &BTreeMap<Fingerprint, Document>) -> String {
    let mut remembered = Remembered::default();
    let mut text = String::new();
    for Task { number, inputs, .. } in tasks {
        for fingerprint in std::iter::once(&inputs.machine).chain(&inputs.models) {
            if let Some(document) = documents.get(fingerprint)
                && !remembered.contains(fingerprint)
            {
                remembered.add(fingerprint.clone());
                text += &line(&Request::Document { fingerprint: fingerprint.clone(), document: document.clone() });
            }
        }
        text += &line(&Request::Run { number: *number, inputs: inputs.clone() });
    }
    text
}

impl Wanted<'_> {
    /// Those among the missing that were sent often enough.
    fn give_up(&mut self, missing: &[&Task]) -> Vec<usize> {
        let mut lost = Vec::new();
        for task in missing {
            let key = task.inputs.key();
            if self.sent.get(&key).is_some_and(|sent| *sent >= ATTEMPTS) {
                self.tasks.remove(&key);
                lost.push(task.number);
            }
        }
        lost
    }
}

fn never_came_back() -> Ending {
    let message =
        format!("it was sent to the cluster {ATTEMPTS} times and never came back; its log is in the folder `slurm`");
    Ending { result: Err(message), cost: Cost::default(), host: String::new(), finished: String::new() }
}

impl Batch {
    /// One that was sent before.
    fn read(folder: PathBuf) -> io::Result<Batch> {
        let job = std::fs::read_to_string(folder.join(JOB))?.trim().to_owned();
        let mut keys = HashMap::new();
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != "in") {
                continue;
            }
            for said in std::fs::read_to_string(&path)?.lines() {
                if let Ok(Request::Run { number, inputs }) = serde_json::from_str(said) {
                    keys.insert(number, inputs.key());
                }
            }
        }
        Ok(Batch { folder, job, keys, read: BTreeMap::new(), running: true })
    }

    /// What has come back since the last look.
    fn gather(&mut self, wanted: &mut Wanted<'_>) -> Result<Vec<Ended>, (PathBuf, io::Error)> {
        let mut ended = Vec::new();
        let entries = std::fs::read_dir(&self.folder).map_err(|problem| (self.folder.clone(), problem))?;
        for entry in entries {
            let path = entry.map_err(|problem| (self.folder.clone(), problem))?.path();
            if path.extension().is_none_or(|ending| ending != "out") {
                continue;
            }
            let read = self.read.entry(path.clone()).or_default();
            let content = from(&path, *read).map_err(|problem| (path.clone(), problem))?;
            // The last line may be half written.
            let Some(end) = content.iter().rposition(|byte| *byte == b'\n') else { continue };
            *read += end + 1;
            for said in content[..end].split(|byte| *byte == b'\n') {
                let Ok(Answer { number, ending }) = serde_json::from_slice(said) else { continue };
                let task = self.keys.get(&number).and_then(|key| wanted.tasks.remove(key));
                ended.extend(task.map(|task| Ended { number: task.number, ending }));
            }
        }
        Ok(ended)
    }
}

/// The rest of a file.
fn from(path: &Path, place: usize) -> io::Result<Vec<u8>> {
    use std::io::{Read, Seek};
    let mut file = std::fs::File::open(path)?;
    file.seek(io::SeekFrom::Start(place as u64))?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// Asks the scheduler which batches still wait or run. Those that it says nothing of are taken to go on.
fn ask<E>(batches: &mut [Batch]) -> Result<(), ClusterError<E>> {
    for batch in batches.iter_mut().filter(|batch| batch.running) {
        batch.running = is_running(&batch.job)?;
    }
    Ok(())
}

/// Whether any task of a job waits or runs.
fn is_running<E>(job: &str) -> Result<bool, ClusterError<E>> {
    match said(Command::new("squeue").args(["--noheader", "--format=%T", "--jobs", job])) {
        Ok(states) => Ok(!states.trim().is_empty()),
        // Slurm forgets jobs some minutes after their end.
        Err(ClusterError::Refused { said, .. }) if said.contains("Invalid job id") => Ok(false),
        Err(error) => Err(error),
    }
}

fn said<E>(command: &mut Command) -> Result<String, ClusterError<E>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|problem| ClusterError::Absent { command: name.clone(), problem })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(ClusterError::Refused { command: name, said });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Inputs;

    fn task(number: usize) -> Task {
        let inputs = Inputs {
            words: vec!["run".into(), number.to_string()],
            machine: Fingerprint("m".into()),
            models: None,
            seed: 0,
            files: BTreeMap::new(),
            version: String::new(),
        };
        Task { number, inputs, memory_bytes: 0 }
    }

    #[test]
    fn half_a_line_is_no_answer_yet() {
        let folder = tempfile::tempdir().unwrap();
        let tasks = [task(0), task(1)];
        let mut wanted =
            Wanted { tasks: tasks.iter().map(|task| (task.inputs.key(), task)).collect(), sent: HashMap::new() };
        let documents: BTreeMap<_, _> =
            [(Fingerprint("m".into()), Document { name: "m".into(), text: "t".into(), files: Vec::new() })].into();
        let said = requests(&tasks.iter().collect::<Vec<_>>(), &documents);
        assert_eq!(said.lines().count(), 3);
        std::fs::write(folder.path().join("0.in"), said).unwrap();
        std::fs::write(folder.path().join(JOB), "17\n").unwrap();
        let mut batch = Batch::read(folder.path().into()).unwrap();
        assert_eq!((batch.job.as_str(), batch.keys.len()), ("17", 2));
        let answers: String = (0..2).map(|number| line(&Answer { number, ending: never_came_back() })).collect();
        let half = answers.len() - 20;
        std::fs::write(folder.path().join("0.0.out"), &answers[..half]).unwrap();
        let numbers = |ended: Vec<Ended>| ended.iter().map(|ended| ended.number).collect::<Vec<_>>();
        assert_eq!(numbers(batch.gather(&mut wanted).unwrap()), [0]);
        assert!(batch.gather(&mut wanted).unwrap().is_empty());
        std::fs::write(folder.path().join("0.0.out"), &answers).unwrap();
        // A task that was run again says the same once more.
        std::fs::write(folder.path().join("0.1.out"), &answers).unwrap();
        assert_eq!(numbers(batch.gather(&mut wanted).unwrap()), [1]);
        assert!(wanted.tasks.is_empty());
    }

    #[test]
    fn runs_are_not_sent_for_ever() {
        let tasks = [task(0), task(1)];
        let mut wanted = Wanted {
            tasks: tasks.iter().map(|task| (task.inputs.key(), task)).collect(),
            sent: [(tasks[1].inputs.key(), ATTEMPTS)].into(),
        };
        assert_eq!(wanted.give_up(&tasks.iter().collect::<Vec<_>>()), [1]);
        assert_eq!(wanted.tasks.len(), 1);
    }
}
