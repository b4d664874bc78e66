//! Runs on this computer: some processes, each doing one run after the other.
//!
//! Processes and not threads: a run that dies takes nobody with it, and what it uses of memory can be told. What is found
//! does not depend on how many there are.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::memory::Experience;
use super::protocol::{Answer, Remembered, Request, line};
use super::{Ended, Task};
use crate::document::{Document, Fingerprint};
use crate::run::{Cost, Ending, Inputs};

/// Time between two looks at who wants it to stop.
const PAUSE: Duration = Duration::from_millis(100);
/// A run whose worker has died is tried so often.
const ATTEMPTS: u32 = 2;

/// Who does the runs.
pub struct Crew<'c> {
    /// Processes at a time.
    pub workers: usize,
    /// Memory that they may use together.
    pub memory_bytes: u64,
    /// Makes the command that begins a worker; requests and answers go through its standard input and output.
    pub worker: &'c (dyn Fn() -> Command + Sync),
    /// Set by those who want it to stop.
    pub interrupt: &'c AtomicBool,
}

/// Why runs cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum CrewError<E> {
    /// No worker can be started.
    #[error("no worker can be started ({0}); check that this program can still be run")]
    Start(std::io::Error),
    /// What is found cannot be kept.
    #[error(transparent)]
    Keep(E),
}

/// What the threads share.
struct Shared<'t> {
    tasks: &'t [Task],
    queue: Mutex<Queue>,
    changed: Condvar,
    memory_bytes: u64,
}

#[derive(Default)]
struct Queue {
    next: usize,
    in_flight: u64,
    experience: Experience,
    stopped: bool,
}

impl Crew<'_> {
    /// Does all tasks. `keep` is given what has ended, and a call with nothing whenever nothing has for a while.
    pub fn run<E>(
        &self,
        tasks: &[Task],
        documents: &BTreeMap<Fingerprint, Document>,
        mut keep: impl FnMut(Vec<Ended>) -> Result<(), E>,
    ) -> Result<(), CrewError<E>> {
        let shared =
            Shared { tasks, queue: Mutex::default(), changed: Condvar::new(), memory_bytes: self.memory_bytes };
        let children: Vec<Mutex<Option<Child>>> =
            (0..self.workers.clamp(1, tasks.len().max(1))).map(|_| Mutex::default()).collect();
        std::thread::scope(|scope| {
            let (sender, ended) = mpsc::channel();
            for child in &children {
                let (sender, shared) = (sender.clone(), &shared);
                scope.spawn(move || {
                    let worker = Worker { start: self.worker, child, documents, speaking: None };
                    if let Err(error) = worker.work(shared, &sender) {
                        // Nobody listens any more only when all is over.
                        let _ = sender.send(Err(error));
                    }
                });
            }
            drop(sender);
            let result = self.collect(&ended, &mut keep);
            if result.is_err() || self.interrupt.load(Ordering::Relaxed) {
                shared.stop();
                children.iter().for_each(kill);
            }
            result
        })
    }

    /// Keeps what comes until all workers have gone, or somebody wants it to stop.
    fn collect<E>(
        &self,
        ended: &mpsc::Receiver<Result<Ended, std::io::Error>>,
        keep: &mut impl FnMut(Vec<Ended>) -> Result<(), E>,
    ) -> Result<(), CrewError<E>> {
        loop {
            let mut batch = Vec::new();
            match ended.recv_timeout(PAUSE) {
                Ok(first) => {
                    batch.push(first.map_err(CrewError::Start)?);
                    for more in ended.try_iter() {
                        batch.push(more.map_err(CrewError::Start)?);
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
            }
            keep(batch).map_err(CrewError::Keep)?;
            if self.interrupt.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panics leaves these as they are between two runs.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill(child: &Mutex<Option<Child>>) {
    if let Some(mut child) = locked(child).take() {
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Shared<'_> {
    /// The next task, once there is memory for it.
    fn take(&self) -> Option<(&Task, u64)> {
        let mut queue = locked(&self.queue);
        loop {
            let task = self.tasks.get(queue.next)?;
            if queue.stopped {
                return None;
            }
            let need = queue.experience.forecast(task.memory_bytes);
            // What needs more than there is runs alone.
            if queue.in_flight == 0 || queue.in_flight + need <= self.memory_bytes {
                queue.next += 1;
                queue.in_flight += need;
                return Some((task, need));
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_back(&self, task: &Task, need: u64, used: Option<u64>) {
        let mut queue = locked(&self.queue);
        queue.in_flight -= need;
        if let Some(used) = used {
            queue.experience.learn(task.memory_bytes, used);
        }
        self.changed.notify_all();
    }

    fn stop(&self) {
        locked(&self.queue).stopped = true;
        self.changed.notify_all();
    }

    fn is_stopped(&self) -> bool {
        locked(&self.queue).stopped
    }
}

/// A worker and those who speak with it.
struct Worker<'w> {
    start: &'w (dyn Fn() -> Command + Sync),
    child: &'w Mutex<Option<Child>>,
    documents: &'w BTreeMap<Fingerprint, Document>,
    speaking: Option<Conversation>,
}

/// Nothing has been said to a process that is not there.
struct Conversation {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    remembered: Remembered,
}

impl Worker<'_> {
    fn work(
        mut self,
        shared: &Shared<'_>,
        sender: &mpsc::Sender<Result<Ended, std::io::Error>>,
    ) -> Result<(), std::io::Error> {
        while let Some((task, need)) = shared.take() {
            let start = Instant::now();
            let mut ending = None;
            for attempt in 1..=ATTEMPTS {
                ending = self.ask(task, shared)?;
                if ending.is_some() || shared.is_stopped() {
                    break;
                }
                let why = self.end();
                if attempt == ATTEMPTS {
                    ending = Some(died(&why, start.elapsed()));
                }
            }
            let used = ending.as_ref().and_then(|ending: &Ending| ending.cost.memory_bytes);
            shared.give_back(task, need, used);
            let Some(ending) = ending else { break };
            if sender.send(Ok(Ended { number: task.number, ending })).is_err() {
                break;
            }
        }
        self.speaking = None;
        self.end();
        Ok(())
    }

    /// What comes of a task; nothing if the worker has died.
    fn ask(&mut self, task: &Task, shared: &Shared<'_>) -> Result<Option<Ending>, std::io::Error> {
        if self.speaking.is_none() {
            self.speaking = Some(self.begin()?);
            // Whoever stops kills only those that were there by then.
            if shared.is_stopped() {
                kill(self.child);
            }
        }
        let documents = self.documents;
        let conversation = self.speaking.as_mut();
        let answer = conversation.and_then(|conversation| conversation.ask(task.number, &task.inputs, documents));
        if answer.is_none() {
            self.speaking = None;
        }
        Ok(answer)
    }

    fn begin(&self) -> Result<Conversation, std::io::Error> {
        let mut child = (self.start)().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let gone = || std::io::Error::other("it has no input or output");
        let input = child.stdin.take().ok_or_else(gone)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(gone)?);
        *locked(self.child) = Some(child);
        Ok(Conversation { input, output, remembered: Remembered::default() })
    }

    /// Waits for a process that has closed its output, or whose input is closed, and says how it ended.
    fn end(&self) -> String {
        match locked(self.child).take().map(|mut child| child.wait()) {
            Some(Ok(status)) => status.to_string(),
            Some(Err(error)) => error.to_string(),
            None => "it was stopped".into(),
        }
    }
}

impl Conversation {
    fn ask(&mut self, number: usize, inputs: &Inputs, documents: &BTreeMap<Fingerprint, Document>) -> Option<Ending> {
        let mut said = String::new();
        for fingerprint in std::iter::once(&inputs.machine).chain(&inputs.models) {
            if !self.remembered.contains(fingerprint) {
                self.remembered.add(fingerprint.clone());
                let document = documents.get(fingerprint)?.clone();
                said += &line(&Request::Document { fingerprint: fingerprint.clone(), document });
            }
        }
        said += &line(&Request::Run { number, inputs: inputs.clone() });
        self.input.write_all(said.as_bytes()).ok()?;
        let mut heard = String::new();
        self.output.read_line(&mut heard).ok()?;
        let answer: Answer = serde_json::from_str(&heard).ok()?;
        (answer.number == number).then_some(answer.ending)
    }
}

/// How a run ends whose worker has died.
fn died(status: &str, wall: Duration) -> Ending {
    let memory = if status.contains("signal: 9") { "; perhaps there was not enough memory" } else { "" };
    Ending {
        result: Err(format!("the process that ran it has died ({status}){memory}")),
        cost: Cost { wall_seconds: wall.as_secs_f64(), ..Cost::default() },
        host: String::new(),
        finished: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A worker that answers each run with its number; one kills itself.
    const SCRIPT: &str = r#"
while read -r line; do
    case $line in
    *document*) ;;
    *'"deadly"'*) kill -9 $$ ;;
    *) number=${line#*number\":}; number=${number%%,*}
       echo "{\"number\":$number,\"ending\":{\"result\":{\"Ok\":{\"figures\":{\"n\":$number},\"report\":\"\",\"warnings\":[]}},\"cost\":{\"wall_seconds\":0,\"cpu_seconds\":0,\"memory_bytes\":1000},\"host\":\"\",\"finished\":\"\"}}" ;;
    esac
done
"#;

    fn tasks(count: usize, deadly: usize) -> Vec<Task> {
        let inputs = |number| Inputs {
            words: vec![if number == deadly { "deadly".into() } else { "run".into() }],
            machine: Fingerprint("m".into()),
            models: None,
            seed: 0,
            files: BTreeMap::new(),
            version: String::new(),
        };
        (0..count).map(|number| Task { number, inputs: inputs(number), memory_bytes: 100 }).collect()
    }

    fn documents() -> BTreeMap<Fingerprint, Document> {
        let document = Document { name: "m.toml".into(), text: "x".repeat(200_000), files: Vec::new() };
        [(Fingerprint("m".into()), document)].into()
    }

    fn run(workers: usize, memory_bytes: u64) -> Vec<Ended> {
        let worker = || {
            let mut command = Command::new("sh");
            command.args(["-c", SCRIPT]);
            command
        };
        let crew = Crew { workers, memory_bytes, worker: &worker, interrupt: &AtomicBool::new(false) };
        let mut all = Vec::new();
        let keep = |ended: Vec<Ended>| {
            all.extend(ended);
            Ok::<(), std::io::Error>(())
        };
        crew.run(&tasks(40, 7), &documents(), keep).unwrap();
        all.sort_by_key(|ended| ended.number);
        all
    }

    #[test]
    fn all_is_done_whoever_does_it() {
        for (workers, memory) in [(1, u64::MAX), (3, u64::MAX), (3, 150), (90, 1000)] {
            let all = run(workers, memory);
            assert_eq!(all.iter().map(|ended| ended.number).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
            for Ended { number, ending } in all {
                match ending.result {
                    Ok(outputs) => assert_eq!(outputs.figures["n"], number as f64),
                    Err(message) => {
                        assert_eq!(number, 7);
                        assert!(message.contains("signal: 9"), "{message}");
                    }
                }
            }
        }
    }

    #[test]
    fn it_stops_when_it_is_told() {
        let worker = || {
            let mut command = Command::new("sh");
            command.args(["-c", "exec sleep 100"]);
            command
        };
        let interrupt = AtomicBool::new(true);
        let crew = Crew { workers: 2, memory_bytes: u64::MAX, worker: &worker, interrupt: &interrupt };
        let start = Instant::now();
        crew.run(&tasks(10, 99), &documents(), |_| Ok::<(), std::io::Error>(())).unwrap();
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn what_cannot_be_kept_stops_it() {
        let worker = || {
            let mut command = Command::new("sh");
            command.args(["-c", SCRIPT]);
            command
        };
        let crew = Crew { workers: 2, memory_bytes: u64::MAX, worker: &worker, interrupt: &AtomicBool::new(false) };
        let full = crew.run(&tasks(10, 99), &documents(), |_| Err(std::io::Error::other("the disk is full")));
        assert!(matches!(full, Err(CrewError::Keep(_))));
        let none = || Command::new("/nowhere/hpcast");
        let crew = Crew { worker: &none, ..crew };
        let absent = crew.run(&tasks(10, 99), &documents(), |_| Ok::<(), std::io::Error>(()));
        assert!(matches!(absent, Err(CrewError::Start(_))));
    }
}
