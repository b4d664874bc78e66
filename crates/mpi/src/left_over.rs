//! What is left at the end: messages that nobody received, and receives that no message has met.

use crate::deadlock::{Awaited, Channel, Wait};
use crate::state::State;

/// So many of each are listed; all are counted.
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

/// What is left over, by the rank that should have done something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOver {
    /// The first messages that were sent and never received.
    pub messages: Vec<Unreceived>,
    /// The first receives that were posted and never met.
    pub receives: Vec<Wait>,
    /// How many such receives there are.
    pub unmet: u64,
}

impl LeftOver {
    pub(crate) fn of(state: &State) -> LeftOver {
        let receives = state.unmet_receives();
        LeftOver {
            messages: state.kept_messages().take(LISTED).collect(),
            receives: receives
                .take(LISTED)
                .map(|(rank, call)| Wait { rank, awaited: Awaited::of(state, &call) })
                .collect(),
            unmet: state.unmet(),
        }
    }
}
