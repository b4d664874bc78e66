//! What ranks leave behind: messages, receives, requests and objects that nobody has taken care of.

use std::rc::Rc;

use hpcast_mpi::{Awaited, Outcome};

use super::communicator;
use crate::operation::{Operation, Recipe, Then};
use crate::process::Process;

/// So many of a kind are listed; all are counted.
const LISTED: usize = 64;

/// What the ranks of a run have left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Messages that were sent and never received.
    pub messages: Vec<LeftMessage>,
    /// How many such messages there are.
    pub message_count: u64,
    /// Requests that were neither completed nor freed.
    pub requests: Vec<LeftRequest>,
    /// How many such requests there are.
    pub request_count: u64,
    /// Objects that were not freed, by kind.
    pub objects: Vec<LeftObjects>,
}

/// A message that was sent and never received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftMessage {
    /// Sender's rank in MPI_COMM_WORLD.
    pub from: u32,
    /// Receiver's rank in MPI_COMM_WORLD.
    pub to: u32,
    /// Its tag.
    pub tag: i32,
    /// Bytes of data.
    pub bytes: u64,
    /// The communicator.
    pub communicator: String,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// A send.
    Send,
    /// A receive.
    Receive,
    /// A collective operation, or one on a file or a window.
    Other,
    /// A persistent request that is not under way.
    Persistent,
    /// A generalised request.
    General,
}

/// A request that was neither completed nor freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftRequest {
    /// Whose it is.
    pub rank: u32,
    /// What for.
    pub pending: Pending,
    /// What it waited for, where it was not done.
    pub awaited: Option<Awaited>,
    /// The communicator, where that is known.
    pub communicator: Option<String>,
}

/// Kinds of objects that programs free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// MPI_Comm_free.
    Communicators,
    /// MPI_Type_free.
    Datatypes,
    /// MPI_Win_free.
    Windows,
    /// MPI_File_close.
    Files,
}

/// Objects of a kind that were not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftObjects {
    /// The kind.
    pub kind: Kind,
    /// How many there are in all ranks.
    pub count: u64,
    /// How many ranks have some.
    pub ranks: u32,
    /// The first of them.
    pub first: u32,
}

impl LeftBehind {
    pub(crate) fn of(outcome: &Outcome, processes: &[Rc<Process>]) -> LeftBehind {
        let describe = |message: &hpcast_mpi::Unreceived| LeftMessage {
            from: message.from,
            to: message.to,
            tag: message.tag,
            bytes: message.bytes,
            communicator: communicator(&processes[message.from as usize], message.channel.context),
        };
        let mut left = LeftBehind {
            messages: outcome.first_unreceived.iter().map(describe).collect(),
            message_count: outcome.unreceived,
            ..LeftBehind::default()
        };
        for process in processes {
            left.add_requests(process);
            left.add_objects(process);
        }
        left.add_messages(processes);
        left.requests.sort_by_key(|request| request.rank);
        left.requests.truncate(LISTED);
        left
    }

    /// Whether nothing is left behind.
    pub fn is_empty(&self) -> bool {
        self.message_count == 0 && self.request_count == 0 && self.objects.is_empty()
    }

    fn add_requests(&mut self, process: &Process) {
        let requests = &process.objects.requests;
        for number in requests.own() {
            self.request_count += 1;
            if self.requests.len() < LISTED {
                let look = |operation: &mut Operation| LeftRequest::of(process, operation);
                self.requests.extend(requests.with_own(number, look));
            }
        }
        self.request_count += requests.sent();
        let sent = LeftRequest { rank: process.number(), pending: Pending::Send, awaited: None, communicator: None };
        let listed = LISTED.saturating_sub(self.requests.len()).min(requests.sent() as usize);
        self.requests.extend(std::iter::repeat_n(sent, listed));
    }

    /// Requests of messages that the simulation keeps.
    fn add_messages(&mut self, processes: &[Rc<Process>]) {
        let mut held = processes.first().map(|process| process.rank.all_held()).unwrap_or_default();
        self.request_count += held.len() as u64;
        held.sort_by_key(|&(rank, _)| rank);
        self.requests.extend(held.into_iter().take(LISTED).filter_map(|(rank, awaited)| {
            let (pending, channel) = match awaited {
                Awaited::Receiver { channel, .. } => (Pending::Send, channel),
                Awaited::Message { channel, .. } => (Pending::Receive, channel),
                Awaited::Probed | Awaited::Background(_) => return None,
            };
            let communicator = Some(communicator(&processes[rank as usize], channel.context));
            Some(LeftRequest { rank, pending, awaited: Some(awaited), communicator })
        }));
    }

    fn add_objects(&mut self, process: &Process) {
        let objects = &process.objects;
        let counts = [
            (Kind::Communicators, objects.comms.count()),
            (Kind::Datatypes, objects.types.count()),
            (Kind::Windows, objects.windows.count()),
            (Kind::Files, objects.files.count()),
        ];
        for (kind, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            match self.objects.iter_mut().find(|objects| objects.kind == kind) {
                Some(known) => {
                    known.count += count;
                    known.ranks += 1;
                }
                None => self.objects.push(LeftObjects { kind, count, ranks: 1, first: process.number() }),
            }
        }
    }
}

impl LeftRequest {
    fn of(process: &Process, operation: &Operation) -> LeftRequest {
        let pending = match (&operation.active, &operation.recipe) {
            (Some(active), _) => match &active.then {
                Then::Sent | Then::Parts(_) | Then::Passed(_) => Pending::Send,
                Then::Received(_) | Then::Assembled(_) | Then::Both(_) => Pending::Receive,
                Then::General(_) => Pending::General,
                Then::Finish(_) | Then::Done(_) => Pending::Other,
            },
            (None, _) => Pending::Persistent,
        };
        let request = operation.active.as_ref().and_then(|active| active.request.as_ref());
        let awaited = request.and_then(|request| process.rank.awaited(request));
        let channel = match (awaited, operation.recipe.as_deref()) {
            (Some(Awaited::Message { channel, .. } | Awaited::Receiver { channel, .. }), _) => {
                Some(communicator(process, channel.context))
            }
            (_, Some(Recipe::Receive { peers, .. })) => Some(communicator(process, peers.comm.apart())),
            _ => None,
        };
        LeftRequest { rank: process.number(), pending, awaited, communicator: channel }
    }
}
