//! Plays a script on the simulated machine.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use hpcast_mpi::{Comm, Outcome, Persistent, Rank, Request, RunError, Setup, Source, Tag, run};
use hpcast_units::Time;

use super::{Message, Requests, Script, Step, WaitFor};
use crate::program::Body;

/// A time that the script asked to note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Who noted it.
    pub rank: u32,
    /// The script's word for it.
    pub label: String,
    /// When.
    pub at: Time,
}

/// What happened.
#[derive(Debug)]
pub struct Recording {
    /// What the simulation found.
    pub outcome: Outcome,
    /// The times that the script asked to note, ordered by rank and time.
    pub marks: Vec<Mark>,
}

impl Script {
    /// Plays the script; `setup` must be for as many ranks as the script has.
    pub fn play(&self, setup: Setup) -> Result<Recording, RunError> {
        assert_eq!(setup.ranks, self.ranks, "the simulation has the script's ranks");
        let marks = Rc::new(RefCell::new(Vec::new()));
        let outcome = run(setup, |rank| play(rank, &self.steps, marks.clone()))?;
        let mut marks = marks.take();
        marks.sort_by_key(|mark: &Mark| (mark.rank, mark.at));
        Ok(Recording { outcome, marks })
    }
}

impl Script {
    /// What each rank does, where others run beside it.
    pub fn body(self) -> Body {
        let steps = Rc::new(self.steps);
        Box::new(move |rank| Box::pin(play(rank, steps.clone(), Rc::default())))
    }
}

/// Plays what the rank has to do.
async fn play(rank: Rank, steps: impl Deref<Target = Vec<Vec<Step>>>, marks: Rc<RefCell<Vec<Mark>>>) {
    let number = rank.number() as usize;
    let mut player = Player { comm: rank.world(), rank, requests: Vec::new(), marks };
    for step in &steps[number] {
        player.play(step).await;
    }
}

/// A request that has a name in the script.
struct Named {
    name: String,
    /// `None` when it is done.
    request: Option<Request>,
    persistent: Option<Persistent>,
}

struct Player {
    rank: Rank,
    comm: Comm,
    requests: Vec<Named>,
    marks: Rc<RefCell<Vec<Mark>>>,
}

fn source(message: &Message) -> Source {
    message.peer.map_or(Source::Any, Source::Rank)
}

fn tag(message: &Message) -> Tag {
    message.tag.map_or(Tag::Any, Tag::Is)
}

/// Where a message goes: the parser lets `any` through only where it is allowed or harmless.
fn target(message: &Message) -> (u32, i32) {
    (message.peer.unwrap_or(0), message.tag.unwrap_or(0))
}

impl Player {
    async fn play(&mut self, step: &Step) {
        let (rank, comm) = (&self.rank, self.comm);
        match step {
            Step::Sleep(seconds) => rank.compute(Time::from_secs(*seconds)),
            Step::Mark(label) => {
                let mark = Mark { rank: rank.number(), label: label.clone(), at: rank.now() };
                self.marks.borrow_mut().push(mark);
            }
            Step::Send { mode, message } => {
                let (to, tag) = target(message);
                rank.send_as(*mode, comm, to, tag, message.bytes).await;
            }
            Step::Receive(message) => {
                rank.recv(comm, source(message), tag(message)).await;
            }
            Step::Isend { mode, message, name } => {
                let (to, tag) = target(message);
                let request = rank.isend_as(*mode, comm, to, tag, message.bytes);
                self.add(name, Some(request), None);
            }
            Step::Ireceive { message, name } => {
                let request = rank.irecv(comm, source(message), tag(message)).await;
                self.add(name, Some(request), None);
            }
            Step::SendInit { message, name } => {
                let (to, tag) = target(message);
                self.add(name, None, Some(Persistent::send(comm, to, tag, message.bytes)));
            }
            Step::ReceiveInit { message, name } => {
                self.add(name, None, Some(Persistent::receive(comm, source(message), tag(message))));
            }
            Step::Start(names) => {
                for name in names {
                    self.start(name).await;
                }
            }
            Step::Sendrecv { to, bytes, from } => {
                let (_, tag) = target(from);
                rank.sendrecv(comm, (*to, tag, *bytes), (source(from), tag)).await;
            }
            Step::Wait(how_many, which) => self.wait(*how_many, which).await,
            Step::Test { name, until_done } => self.test(name, *until_done).await,
            Step::Iprobe { message, until_found } => {
                while rank.iprobe(comm, source(message), tag(message)).await.is_none() && *until_found {}
            }
            Step::Probe(message) => {
                rank.probe(comm, source(message), tag(message)).await;
            }
            Step::Collective { operation, bytes, root } => operation.run(rank, comm, *bytes, *root).await,
        }
    }

    fn add(&mut self, name: &str, request: Option<Request>, persistent: Option<Persistent>) {
        self.requests.push(Named { name: name.to_owned(), request, persistent });
    }

    /// The newest request of that name.
    fn find(&mut self, name: &str) -> Option<&mut Named> {
        self.requests.iter_mut().rev().find(|named| named.name == name)
    }

    async fn start(&mut self, name: &str) {
        let rank = self.rank.clone();
        if let Some(named) = self.find(name)
            && let Some(persistent) = &named.persistent
        {
            named.request = Some(rank.start(persistent).await);
        }
    }

    async fn wait(&mut self, how_many: WaitFor, which: &Requests) {
        let indices: Vec<usize> = match which {
            Requests::Every => (0..self.requests.len()).collect(),
            Requests::Named(names) => {
                names.iter().filter_map(|name| self.requests.iter().rposition(|named| &named.name == name)).collect()
            }
        };
        let mut pending = Vec::new();
        let mut owners = Vec::new();
        for index in indices {
            if let Some(request) = self.requests[index].request.take() {
                pending.push(request);
                owners.push(index);
            }
        }
        match how_many {
            WaitFor::All => {
                self.rank.wait_all(std::mem::take(&mut pending)).await;
                if *which == Requests::Every {
                    self.requests.clear();
                }
                return;
            }
            WaitFor::Any => {
                if let Some((index, _)) = self.rank.wait_any(&mut pending).await {
                    owners.remove(index);
                }
            }
            WaitFor::Some => {
                for (index, _) in self.rank.wait_some(&mut pending).await.into_iter().rev() {
                    owners.remove(index);
                }
            }
        }
        for (owner, request) in owners.into_iter().zip(pending) {
            self.requests[owner].request = Some(request);
        }
    }

    async fn test(&mut self, name: &str, until_done: bool) {
        let rank = self.rank.clone();
        let Some(named) = self.find(name) else { return };
        while let Some(request) = named.request.take() {
            if let Err(request) = rank.test(request).await {
                named.request = Some(request);
                if !until_done {
                    break;
                }
            }
        }
    }
}
