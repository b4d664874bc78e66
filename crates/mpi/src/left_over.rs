//! What is left at the end: messages that nobody received.

use crate::deadlock::Channel;
use crate::state::State;

/// So many are listed; all are counted.
const LISTED: usize = 64;

/// A message of the program that nobody received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreceived {
    /// Sender's rank in the world.
    pub from: u32,
    /// Receiver's rank in the world.
    pub to: u32,
    /// Its tag.
    pub tag: i32,
    /// Bytes of data.
    pub bytes: u64,
    /// Where.
    pub channel: Channel,
}

impl Unreceived {
    /// The first messages that nobody has received, by receiver.
    pub(crate) fn first(state: &State) -> Vec<Unreceived> {
        state.kept_messages().take(LISTED).collect()
    }
}
