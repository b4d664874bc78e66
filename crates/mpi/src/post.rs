//! The data of messages, where a program has any: real programs do, skeletons do not.
//!
//! The simulation decides which message meets which receive and when; whoever holds the data is told, and moves it. What a
//! receive gets is written as soon as the two have met, which may be before the message arrives: a program must not look at
//! the buffer earlier.

use hpcast_engine::slab::NONE;

/// The data of one message, or the place for it: a number that only its holder understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel(u32);

impl Parcel {
    /// No data.
    pub const NONE: Parcel = Parcel(NONE);

    /// A parcel with that number.
    pub fn new(number: u32) -> Parcel {
        debug_assert_ne!(number, NONE, "this number stands for no data");
        Parcel(number)
    }

    /// Its number.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) fn is_some(self) -> bool {
        self.0 != NONE
    }
}

/// Holds the data of messages.
pub trait Post {
    /// A message has met no receive yet, and its sender may go on: the data must be kept.
    fn keep(&mut self, sent: Parcel);
    /// A message has met its receive; the parcel that was sent is done with.
    fn hand_over(&mut self, sent: Parcel, received: Parcel);
}
