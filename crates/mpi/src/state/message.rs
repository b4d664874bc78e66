//! Messages on their way, and what is kept for those who receive them.

use hpcast_engine::slab::NONE;
use hpcast_units::Time;

use crate::matching::{Envelope, Listed, Place};
use crate::post::Parcel;

/// A message that had not met its receive when it was sent.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub from: u32,
    pub to: u32,
    pub envelope: Envelope,
    pub bytes: u64,
    pub sent: Time,
    pub arrived: Time,
    /// The sender's request, if it waits for the transfer.
    pub send: u32,
    /// The receive that it met on its way.
    pub receive: u32,
    /// What the receiver pays for taking it out of a buffer.
    pub overhead: Time,
    /// In place of the route's, see [`Charges::latency`].
    pub latency: Option<Time>,
    /// Leaves without waiting for the receiver.
    pub eager: bool,
    pub parcel: Parcel,
    /// Whether its data is counted by its sender as being in place.
    pub in_place: bool,
    pub place: Place,
}

/// What a transfer ends: the number of a receive, or of a message that left before its receive was posted.
#[derive(Clone, Copy)]
pub(super) enum Cargo {
    Receive(u32),
    Message(u32),
}

impl Cargo {
    const MESSAGE: u32 = 1 << 31;

    #[inline]
    pub fn token(self) -> u32 {
        match self {
            Cargo::Receive(number) => number,
            Cargo::Message(number) => number | Cargo::MESSAGE,
        }
    }

    #[inline]
    pub fn of(token: u32) -> Cargo {
        if token & Cargo::MESSAGE == 0 { Cargo::Receive(token) } else { Cargo::Message(token & !Cargo::MESSAGE) }
    }
}

impl Listed for Message {
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
        Some(self.envelope)
    }
}

impl crate::matching::Message for Message {
    #[inline]
    fn envelope(&self) -> Envelope {
        self.envelope
    }
    #[inline]
    fn since(&self) -> Time {
        self.sent
    }
}

/// What is kept beside the lists of a rank: where it runs, and what keeps its messages in the order of time.
#[derive(Clone, Copy)]
pub(super) struct Inbox {
    pub node: u32,
    /// Posted receives from any source.
    pub any_source: u32,
    /// Messages announced by an event that has not come yet.
    pub announced: u32,
    /// The task that waits in a probe, or none.
    pub probing: u32,
}

impl Inbox {
    /// Must a message that is there at `sent` come by an event, so that it is met in the order of time?
    #[inline]
    pub fn must_announce(&self, sent: Time, now: Time) -> bool {
        self.announced > 0 || sent > now && (self.any_source > 0 || self.probing != NONE)
    }
}
