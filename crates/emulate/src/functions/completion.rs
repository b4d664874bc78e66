//! How operations end, and what is known of those that did.
//!
//! What most programs wait for are messages, by their numbers in the simulation; everything else is an operation, which is taken
//! from the rank's table, and ended or put back.

mod any;
mod freeing;
mod generalised;
mod peeking;
mod some;
mod starting;
mod statuses;
mod taken;
mod testing;
mod waiting;

use crate::call::Function;

/// All functions on requests and statuses.
pub(super) fn functions() -> impl Iterator<Item = &'static Function> {
    [
        waiting::FUNCTIONS,
        testing::FUNCTIONS,
        any::FUNCTIONS,
        some::FUNCTIONS,
        starting::FUNCTIONS,
        freeing::FUNCTIONS,
        peeking::FUNCTIONS,
        generalised::FUNCTIONS,
        statuses::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}
