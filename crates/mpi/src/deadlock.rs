//! Ranks that wait for each other for ever: who they are and what they wait for.

use hpcast_units::Time;

use crate::group::Context;
use crate::request::Call;
use crate::state::State;

/// How many waiting ranks are named.
const NAMED: usize = 16;

/// No rank can go on.
#[derive(Debug)]
pub struct Deadlock {
    /// When nothing more happened.
    pub at: Time,
    /// What ranks wait for, by rank; those that wait for several things are there several times.
    pub waits: Vec<Wait>,
    /// How many ranks wait in all.
    pub count: usize,
}

/// A rank waits for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The rank in the world.
    pub rank: u32,
    /// The rank's task that waits: its own, that of one of its threads, or of an operation in its background.
    pub task: u32,
    /// What for.
    pub awaited: Awaited,
}

/// What a rank may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A message.
    Message {
        /// Its sender's rank in the world; none: whoever comes first.
        from: Option<u32>,
        /// Its tag; none: every tag.
        tag: Option<i32>,
        /// Where.
        channel: Channel,
    },
    /// Somebody who receives its message.
    Receiver {
        /// Rank in the world.
        to: u32,
        /// The tag.
        tag: i32,
        /// Bytes of data.
        bytes: u64,
        /// Where.
        channel: Channel,
    },
    /// A message that a probe would see.
    Probed,
    /// The end of an operation that goes on in the background.
    Background(&'static str),
}

/// What keeps messages apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The communicator.
    pub context: Context,
    /// Whether it is for messages of collective operations, not for those of the program itself.
    pub is_hidden: bool,
}

impl Channel {
    pub(crate) fn of(context: u32) -> Channel {
        Channel { context: Context::told(context & !1), is_hidden: context & 1 == 1 }
    }
}

impl Awaited {
    /// The rank in the world that would have to do something, if it is one only.
    pub fn peer(&self) -> Option<u32> {
        match *self {
            Awaited::Message { from, .. } => from,
            Awaited::Receiver { to, .. } => Some(to),
            Awaited::Probed | Awaited::Background(_) => None,
        }
    }

    pub(crate) fn of(state: &State, call: &Call) -> Awaited {
        match *call {
            Call::Send { to, tag, bytes, context } => {
                Awaited::Receiver { to, tag, bytes, channel: Channel::of(context) }
            }
            Call::Receive { pattern, .. } => {
                let from = pattern.source().map(|source| state.groups.member(pattern.context(), source));
                Awaited::Message { from, tag: pattern.tag(), channel: Channel::of(pattern.context()) }
            }
            Call::Background { operation } => Awaited::Background(operation),
        }
    }
}

impl std::fmt::Display for Awaited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Awaited::Receiver { to, tag, bytes, .. } => write!(f, "send of {bytes} B to rank {to} with tag {tag}"),
            Awaited::Message { from, tag, .. } => {
                match from {
                    Some(source) => write!(f, "receive from rank {source}")?,
                    None => write!(f, "receive from any rank")?,
                }
                match tag {
                    Some(tag) => write!(f, " with tag {tag}"),
                    None => write!(f, " with any tag"),
                }
            }
            Awaited::Probed => write!(f, "probe"),
            Awaited::Background(operation) => write!(f, "non-blocking {operation}"),
        }
    }
}

impl std::error::Error for Deadlock {}

impl std::fmt::Display for Deadlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "deadlock after {:.9} s: {} ranks wait for something that never comes",
            self.at.as_secs(),
            self.count
        )?;
        let ranks = self.waits.chunk_by(|a, b| a.rank == b.rank);
        for Wait { rank, awaited, .. } in ranks.filter_map(|waits| waits.first()).take(NAMED) {
            writeln!(f, "  rank {rank} waits in {awaited}")?;
        }
        if self.count > NAMED {
            writeln!(f, "  … and {} more ranks", self.count - NAMED)?;
        }
        write!(f, "check that every send has its receive, with the same communicator and tag")
    }
}

impl Deadlock {
    pub(crate) fn of(state: &State) -> Deadlock {
        let mut waits: Vec<Wait> = state
            .requests()
            .filter(|(_, request)| request.waited && request.done == Time::NEVER)
            .map(|(_, request)| Wait {
                rank: state.tasks[request.task as usize].rank,
                task: request.task,
                awaited: Awaited::of(state, &request.call),
            })
            .collect();
        waits.extend(state.probing().map(|(rank, task)| Wait { rank, task, awaited: Awaited::Probed }));
        // A stable sort: what a rank has posted first stays first.
        waits.sort_by_key(|wait| wait.rank);
        let count = waits.chunk_by(|a, b| a.rank == b.rank).count();
        Deadlock { at: state.now, waits, count }
    }
}
