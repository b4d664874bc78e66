//! A gate: ranks wait at it until one of them opens it.
//!
//! For patterns that are evaluated for a group of ranks at once: the last one to come knows where all the others are.

use std::cell::RefCell;
use std::future::Future;

use hpcast_units::Time;

use crate::observer::Activity;
use crate::rank::Rank;

/// Ranks that wait. No time passes for them at the gate.
#[derive(Debug, Default)]
pub struct Gate {
    waiting: RefCell<Vec<u32>>,
}

impl Gate {
    /// Waits until the gate is opened.
    pub fn wait(&self, rank: &Rank, purpose: &'static str) -> impl Future<Output = ()> {
        let request = rank.state().background_request(rank.task(), purpose);
        self.waiting.borrow_mut().push(request.number());
        let ended = rank.wait(request);
        async move {
            ended.await;
        }
    }

    /// Lets all go on who wait.
    pub fn open(&self, rank: &Rank) {
        for request in self.waiting.borrow_mut().drain(..) {
            rank.state().complete(request, Time::ZERO);
        }
    }
}

impl Rank {
    /// Time that was spent in a pattern that was evaluated as a whole, with its messages.
    pub fn spend(&self, activity: Activity, length: Time) {
        self.state().spend(self.task(), activity, length);
    }

    /// Messages of a pattern that was evaluated as a whole.
    pub fn count_messages(&self, messages: u64, bytes: u64) {
        let mut state = self.state();
        state.total_messages += messages;
        state.total_bytes += bytes;
    }
}
