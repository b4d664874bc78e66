//! Sends, receives and waits, as a program asks for them.

use crate::group::Comm;
use crate::post::Parcel;

/// How a send behaves towards its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The library decides by size (MPI_Send).
    Standard,
    /// Ends when the receiver takes the message (MPI_Ssend).
    Synchronous,
    /// Ends at once (MPI_Bsend).
    Buffered,
    /// The receive is there already (MPI_Rsend): treated as a standard send.
    Ready,
}

/// A send, as a program asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// Where both are ranks.
    pub comm: Comm,
    /// Rank in the communicator.
    pub to: u32,
    /// What the receiver knows it by.
    pub tag: i32,
    /// Bytes of data.
    pub bytes: u64,
    /// How it behaves towards its receiver.
    pub mode: Mode,
    /// The data itself, if there is any.
    pub parcel: Parcel,
}

/// A receive, as a program asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Receiving {
    /// Where both are ranks.
    pub comm: Comm,
    /// Rank in the communicator; none: whoever comes first (MPI_ANY_SOURCE).
    pub source: Option<u32>,
    /// None: every tag (MPI_ANY_TAG).
    pub tag: Option<i32>,
    /// Where the data goes, if there is any.
    pub parcel: Parcel,
}

/// A message that was found by a probe and is kept for its finder (MPI_Mprobe).
#[derive(Debug)]
pub struct Taken(pub(super) u32);

/// What a rank does after a wait. To know it beforehand saves an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nobody knows.
    Anything,
    /// First of all it polls (MPI_Iprobe), at a price that only it decides on. What it computes before that is no matter.
    Poll,
}

/// Which of the sender's overheads is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// That of a call which waits until its buffer is free.
    Blocking,
    /// That of a call which returns at once.
    Nonblocking,
    /// The same; and if the message has met no receive yet, its data stays where it is until [`crate::Rank::keep_in_place`].
    InPlace,
}
