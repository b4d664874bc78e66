//! Pictures of a run. Runs keep none, but the same command gives the same run: it is run again, one at a time, with the
//! options that draw, and what it finds is compared with what is kept.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hpcast_study::run::{Inputs, Outputs};
use serde_json::{Value, json};

use super::locked;
use crate::failure::Failure;
use crate::study::{Prepared, figures_of, refusal, version};

/// Runs whose pictures are kept.
const MOST: usize = 50;
/// Runs that may wait for their turn.
const MOST_WAITING: usize = 8;
/// A picture that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(600);
/// How soon the end of a run is noticed.
const PAUSE: Duration = Duration::from_millis(10);

/// What can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Gantt,
    LinkHeat,
    Links,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Gantt, Kind::LinkHeat, Kind::Links];

    /// As in addresses, and with `--` before it as an option.
    fn name(self) -> &'static str {
        match self {
            Kind::Gantt => "gantt",
            Kind::LinkHeat => "link-heat",
            Kind::Links => "links",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Kind::Gantt => "What every rank did when",
            Kind::LinkHeat => "Load of the links over time",
            Kind::Links => "Load of the links",
        }
    }

    /// The picture of that name.
    pub fn of(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A run whose pictures are wanted.
pub(super) struct Task {
    pub inputs: Inputs,
    pub prepared: Prepared,
    /// Where its words name files; empty for where the server is.
    pub folder: PathBuf,
    /// What it has found before.
    pub outputs: Outputs,
}

/// How far a picture is.
#[derive(Clone)]
enum State {
    Waiting,
    Running(Instant),
    Done { svg: Arc<str>, said: String },
    Failed(String),
}

/// The states of all pictures of a run.
type Drawing = Arc<Mutex<[State; Kind::ALL.len()]>>;

/// Pictures that were asked for.
pub(super) struct Pictures {
    known: Mutex<Known>,
    sender: Mutex<Option<Sender<(Task, Drawing)>>>,
    painter: Mutex<Option<JoinHandle<()>>>,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Known {
    drawings: HashMap<String, Drawing>,
    /// The oldest first.
    order: VecDeque<String>,
}

impl Pictures {
    pub fn new() -> Pictures {
        let (sender, receiver) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let painter = std::thread::spawn(move || paint(&receiver, &stopped));
        Pictures { known: Mutex::default(), sender: Mutex::new(Some(sender)), painter: Mutex::new(Some(painter)), stop }
    }

    /// Whether the pictures of a run have been asked for.
    pub fn contains(&self, run: &str) -> bool {
        locked(&self.known).drawings.contains_key(run)
    }

    /// Has the pictures of a run drawn.
    pub fn draw(&self, run: &str, task: Task) -> Result<(), Failure> {
        let mut known = locked(&self.known);
        if known.drawings.contains_key(run) {
            return Ok(());
        }
        let is_open = |drawing: &&Drawing| locked(drawing).iter().any(|state| matches!(state, State::Waiting));
        if known.drawings.values().filter(is_open).count() >= MOST_WAITING {
            return Err(Failure::input("others are being drawn; try again when they are done"));
        }
        let drawing: Drawing = Arc::new(Mutex::new([const { State::Waiting }; Kind::ALL.len()]));
        if let Some(sender) = &*locked(&self.sender) {
            // If nobody draws any more, the server is about to end.
            let _ = sender.send((task, drawing.clone()));
        }
        known.drawings.insert(run.into(), drawing);
        known.order.push_back(run.into());
        if known.order.len() > MOST
            && let Some(oldest) = known.order.pop_front()
        {
            known.drawings.remove(&oldest);
        }
        Ok(())
    }

    /// How far the pictures of a run are.
    pub fn states(&self, run: &str) -> Value {
        let drawing = locked(&self.known).drawings.get(run).cloned();
        let states = drawing.map(|drawing| locked(&drawing).clone());
        let pictures = states.iter().flatten().zip(Kind::ALL).map(|(state, kind)| described(kind, state));
        json!({ "pictures": pictures.collect::<Vec<_>>() })
    }

    /// A picture that is done.
    pub fn svg(&self, run: &str, kind: Kind) -> Option<Arc<str>> {
        let drawing = locked(&self.known).drawings.get(run).cloned()?;
        let place = Kind::ALL.iter().position(|known| *known == kind)?;
        match &locked(&drawing)[place] {
            State::Done { svg, .. } => Some(svg.clone()),
            _ => None,
        }
    }

    /// Ends what is being drawn.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        locked(&self.sender).take();
        if let Some(painter) = locked(&self.painter).take() {
            let _ = painter.join();
        }
    }
}

fn described(kind: Kind, state: &State) -> Value {
    let (name, said) = match state {
        State::Waiting => ("waiting", "waits for its turn".into()),
        State::Running(since) => ("running", format!("is being run again: {} s so far", since.elapsed().as_secs())),
        State::Done { said, .. } => ("done", said.clone()),
        State::Failed(message) => ("failed", message.clone()),
    };
    json!({ "kind": kind.name(), "title": kind.title(), "state": name, "said": said })
}

/// Draws what is asked for, one after the other.
fn paint(tasks: &Receiver<(Task, Drawing)>, stop: &AtomicBool) {
    for (task, drawing) in tasks {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            locked(&drawing)[place] = State::Running(Instant::now());
            let state = match task.picture(kind, stop) {
                Ok((svg, said)) => State::Done { svg: svg.into(), said },
                Err(failure) => State::Failed(failure.message()),
            };
            locked(&drawing)[place] = state;
        }
    }
}

impl Task {
    /// A picture, and whether the run was the same.
    fn picture(&self, kind: Kind, stop: &AtomicBool) -> Result<(String, String), Failure> {
        if let Some(obstacle) = obstacle(kind, &self.inputs) {
            return Err(Failure::input(obstacle));
        }
        let cannot = |error: std::io::Error| Failure::input(format!("cannot run it again: {error}"));
        let (picture, errors) = (self.prepared.path(kind.name()).with_extension("svg"), self.prepared.path("errors"));
        let option: [OsString; 2] = [format!("--{}", kind.name()).into(), picture.clone().into()];
        let mut command = self.prepared.command(&option);
        if !self.folder.as_os_str().is_empty() {
            command.current_dir(&self.folder);
        }
        let log = std::fs::File::create(&errors).map_err(cannot)?;
        // Ctrl-C is for the server, which ends it.
        let child = command.stdout(Stdio::null()).stderr(log).process_group(0).spawn().map_err(cannot)?;
        if !is_done(child, stop).map_err(cannot)? {
            return Err(refusal(&std::fs::read(&errors).unwrap_or_default()));
        }
        let svg = std::fs::read_to_string(&picture).map_err(cannot)?;
        Ok((svg, compared(kind, &self.inputs, &self.outputs.report, &self.prepared.report()?)))
    }
}

/// Why a run has no such picture, where that can be told without running it.
fn obstacle(kind: Kind, inputs: &Inputs) -> Option<&'static str> {
    let takes_samples = inputs.words.iter().any(|word| word == "--samples" || word.starts_with("--samples="));
    (takes_samples && kind != Kind::Links).then_some(
        "This run takes samples (`--samples`): only parts of it are simulated, and there is no whole to draw. \
         `--exact` instead of it simulates everything.",
    )
}

/// Whether the repetition of a run has found what is kept, in words.
fn compared(kind: Kind, inputs: &Inputs, stored: &str, again: &Value) -> String {
    let stored: Value = serde_json::from_str(stored).unwrap_or_default();
    let (before, now) = (figures_of(&stored), figures_of(again));
    let mut differences = Vec::new();
    for (name, value) in &before {
        match now.get(name) {
            Some(other) if other == value => {}
            Some(other) => differences.push(format!("{name} was {value} and is {other}")),
            None => differences.push(format!("{name} was {value} and is not there")),
        }
    }
    if differences.is_empty() && stored["table"] != again["table"] {
        differences.push("its table differs".into());
    }
    if differences.is_empty() {
        return format!("Run again, it has found the same: {} figures agree to the last digit.", before.len());
    }
    let mut said = format!("Run again, it has found something else: {}.", differences.join("; "));
    if inputs.version != version() {
        said += &format!(" It was run by hpcast {}; this is {}.", inputs.version, version());
    }
    if inputs.words.first().is_some_and(|word| word == "hpl") && kind != Kind::Links {
        said += " For this picture all of HPL is simulated, where a forecast may take samples.";
    }
    said
}

/// Waits for the end; false if it went wrong.
fn is_done(mut child: Child, stop: &AtomicBool) -> std::io::Result<bool> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if stop.load(Ordering::Relaxed) || start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            let message = format!("it took longer than {} minutes", PATIENCE.as_secs() / 60);
            return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, message));
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use hpcast_study::document::Fingerprint;

    use super::*;

    fn inputs(words: &str, version: &str) -> Inputs {
        Inputs {
            words: words.split(' ').map(String::from).collect(),
            machine: Fingerprint::default(),
            models: None,
            seed: 0,
            files: Default::default(),
            version: version.into(),
        }
    }

    #[test]
    fn samples_are_no_whole() {
        let sampled = inputs("hpl --n 1000 --samples 3", "0.1.0");
        assert!(obstacle(Kind::Gantt, &sampled).is_some() && obstacle(Kind::LinkHeat, &sampled).is_some());
        assert!(obstacle(Kind::Links, &sampled).is_none());
        assert!(obstacle(Kind::Gantt, &inputs("hpl --n 1000", "0.1.0")).is_none());
    }

    fn said(kind: Kind, words: &str, version: &str, again: Value) -> String {
        let stored = json!({ "gflops": 1.5, "bytes": 10, "table": [{ "seconds": 2.0 }], "name": "x" });
        compared(kind, &inputs(words, version), &stored.to_string(), &again)
    }

    #[test]
    fn a_repetition_is_compared_with_what_is_kept() {
        let (run, now) = ("run", version());
        let same = json!({ "gflops": 1.5, "bytes": 10, "more": 1, "table": [{ "seconds": 2.0 }] });
        let text = said(Kind::Gantt, run, &now, same);
        assert_eq!(text, "Run again, it has found the same: 2 figures agree to the last digit.");
        let other = json!({ "gflops": 1.25, "table": [{ "seconds": 2.0 }] });
        let text = said(Kind::Links, run, &now, other.clone());
        let wanted =
            "Run again, it has found something else: bytes was 10 and is not there; gflops was 1.5 and is 1.25.";
        assert_eq!(text, wanted);
        assert!(said(Kind::Gantt, "hpl", &now, other.clone()).contains("all of HPL is simulated"));
        assert!(said(Kind::Links, run, "0.0.1", other).contains("It was run by hpcast 0.0.1;"));
        let table = json!({ "gflops": 1.5, "bytes": 10, "table": [{ "seconds": 2.5 }] });
        assert!(said(Kind::Links, run, &now, table).contains("its table differs"));
    }
}
