//! Scripts: small parallel programs written down as one statement a line and rank.
//!
//! They are made for tests and for teaching: the same file drives hpcast and a real MPI library. The language is
//! described in `tests/simgrid/README.md`. [`Script`] is the file, read and checked; [`Recording`] is what happened.

mod parse;
mod play;

pub use parse::{Script, ScriptError};
pub use play::{Mark, Recording};

/// What one rank does, with peers and sizes worked out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Sleep(f64),
    Mark(String),
    Send { mode: hpcast_mpi::Mode, message: Message },
    Receive(Message),
    Isend { mode: hpcast_mpi::Mode, message: Message, name: String },
    Ireceive { message: Message, name: String },
    SendInit { message: Message, name: String },
    ReceiveInit { message: Message, name: String },
    Start(Vec<String>),
    Sendrecv { to: u32, bytes: u64, from: Message },
    Wait(WaitFor, Requests),
    Test { name: String, until_done: bool },
    Iprobe { message: Message, until_found: bool },
    Probe(Message),
    Collective { operation: crate::collective::Operation, bytes: u64, root: u32 },
}

/// A message with its peer; `None` where the script says `any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub peer: Option<u32>,
    pub bytes: u64,
    pub tag: Option<i32>,
}

/// How many requests a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitFor {
    All,
    Any,
    Some,
}

/// Which requests a wait is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requests {
    /// All since the last such wait.
    Every,
    Named(Vec<String>),
}
