//! Requests: operations that were posted and will end.

use hpcast_engine::slab::NONE;
use hpcast_units::Time;

use crate::matching::{Envelope, Listed, Pattern, Place, Receive};
use crate::post::Parcel;

/// An operation that was posted; must be waited for or tested until done.
#[must_use = "a request must be waited for"]
#[derive(Debug)]
pub struct Request(u32);

impl Request {
    /// Done when it was posted.
    pub const DONE: Request = Request(NONE);

    #[inline]
    pub(crate) fn new(number: u32) -> Request {
        Request(number)
    }

    /// The simulation's number for it; numbers are given again.
    #[inline]
    pub fn number(&self) -> u32 {
        self.0
    }

    /// Whether it was done when it was posted.
    #[inline]
    pub fn is_done_at_once(&self) -> bool {
        self.0 == NONE
    }
}

/// What was received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Sender's rank in the communicator.
    pub source: u32,
    /// Tag of the message.
    pub tag: i32,
    /// Bytes of data.
    pub bytes: u64,
}

impl Status {
    /// What a receive has found that was taken back before a message met it.
    pub(crate) const CANCELLED: Status = Status { source: NONE, tag: 0, bytes: 0 };

    /// Whether the receive was taken back before a message met it.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.source == NONE
    }
}

/// A request that its program knows by its number ([`crate::Rank::hold`]), and that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its place among those that were asked for.
    pub place: usize,
    /// What was found.
    pub status: Status,
    /// Where the data of a receive went; none for a send.
    pub received: Option<Parcel>,
}

/// The call that a request comes from: for its cost and for the deadlock report.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Send { to: u32, tag: i32, bytes: u64, context: u32 },
    Receive { pattern: Pattern, posted: Time },
    Background { operation: &'static str },
}

/// Two lines of the processor's caches: the first is all that a message looks at that it does not meet.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct RequestState {
    pub call: Call,
    place: Place,
    pub task: u32,
    /// Where the data of a receive goes.
    pub parcel: Parcel,
    /// Its task waits for it.
    pub waited: bool,
    /// The program knows it by its number, and nobody has taken it from there.
    pub held: bool,
    /// It will soon be done, as far as is known.
    pub is_coming: bool,
    /// When it was done; never, as long as it is not.
    pub done: Time,
    /// Receiver's overhead, paid when the request is ended.
    pub overhead: Time,
    /// What a receive has met.
    pub met: Met,
}

const _: () = assert!(size_of::<RequestState>() == 128 && std::mem::offset_of!(RequestState, done) == 64);

/// The message that a receive has met.
#[derive(Clone, Copy)]
pub(crate) struct Met {
    pub status: Status,
    /// Sender's rank in the world.
    pub from: u32,
    /// The sender's request, if it waits for the transfer.
    pub send: u32,
    pub sent: Time,
}

const NOTHING: Met = Met { status: Status { source: 0, tag: 0, bytes: 0 }, from: NONE, send: NONE, sent: Time::ZERO };

impl RequestState {
    #[inline]
    pub fn new(task: u32, call: Call) -> RequestState {
        RequestState::with(task, call, Parcel::NONE)
    }

    /// One that has a place for data.
    #[inline(always)]
    pub fn with(task: u32, call: Call, parcel: Parcel) -> RequestState {
        RequestState {
            task,
            waited: false,
            held: false,
            is_coming: false,
            call,
            done: Time::NEVER,
            overhead: Time::ZERO,
            met: NOTHING,
            parcel,
            place: Place::default(),
        }
    }

    /// A task waits for it: the one that has posted it, or another thread of the same rank.
    #[inline]
    pub fn wait(&mut self, task: u32) {
        (self.task, self.waited) = (task, true);
    }

    #[inline]
    pub fn any_source(&self) -> bool {
        self.pattern().source().is_none()
    }

    /// Where the data of a receive goes; none for a send.
    #[inline]
    pub fn received(&self) -> Option<Parcel> {
        matches!(self.call, Call::Receive { .. }).then_some(self.parcel)
    }

    /// When the receive was posted.
    #[inline]
    pub fn posted(&self) -> Time {
        match self.call {
            Call::Receive { posted, .. } => posted,
            Call::Send { .. } | Call::Background { .. } => Time::ZERO,
        }
    }
}

impl Listed for RequestState {
    #[inline]
    fn place(&self) -> &Place {
        &self.place
    }
    #[inline]
    fn place_mut(&mut self) -> &mut Place {
        &mut self.place
    }
    #[inline]
    fn exact(&self) -> Option<Envelope> {
        self.pattern().exact()
    }
}

impl Receive for RequestState {
    #[inline]
    fn pattern(&self) -> Pattern {
        match self.call {
            Call::Receive { pattern, .. } => pattern,
            Call::Send { .. } | Call::Background { .. } => unreachable!("only receives are posted"),
        }
    }
}
