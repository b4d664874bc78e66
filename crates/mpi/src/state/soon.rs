//! What will be needed soon is fetched before: with thousands of ranks it is in none of the processor's caches.
//!
//! Each step asks for memory that the one before has found the way to. Nothing here changes what is simulated.

use hpcast_engine::prefetch;
use hpcast_engine::slab::NONE;
use hpcast_units::Time;

use super::State;
use super::message::Cargo;
use crate::group::Comm;

/// So many requests are known by task.
const FEW: usize = 8;

/// The first requests that each task waits for: all of them are looked at when the wait is over.
#[derive(Default)]
pub(super) struct Soon {
    /// Whether anybody looks ahead.
    is_wanted: bool,
    awaited: Vec<[u32; FEW]>,
}

impl Soon {
    /// The task waits for these, and maybe for others.
    #[inline]
    pub fn await_these(&mut self, task: u32, requests: impl Iterator<Item = u32>) {
        if !self.is_wanted {
            return;
        }
        if task as usize >= self.awaited.len() {
            self.awaited.resize(task as usize + 1, [NONE; FEW]);
        }
        let awaited = &mut self.awaited[task as usize];
        *awaited = [NONE; FEW];
        awaited.iter_mut().zip(requests).for_each(|(place, request)| *place = request);
    }

    #[inline]
    fn awaited_by(&self, task: u32) -> impl Iterator<Item = u32> + use<> {
        let awaited = self.awaited.get(task as usize).copied().unwrap_or([NONE; FEW]);
        awaited.into_iter().take_while(|&request| request != NONE)
    }

    #[inline]
    fn prefetch(&self, task: u32) {
        if let Some(awaited) = self.awaited.get(task as usize) {
            prefetch(awaited);
        }
    }
}

impl State {
    /// From now on somebody asks what is coming.
    pub fn look_ahead(&mut self) {
        self.network.look_ahead();
        self.soon.is_wanted = true;
    }

    /// A transfer will end soon.
    #[inline]
    pub fn prefetch_transfer(&mut self, token: u32) {
        match Cargo::of(token) {
            Cargo::Receive(receive) => self.matching.receives().prefetch(receive),
            Cargo::Message(message) => self.matching.messages().prefetch(message),
        }
    }

    /// The receive that the transfer ends, if there is one yet: it will be needed.
    #[inline]
    pub fn prefetch_receive_of(&mut self, token: u32) -> Option<u32> {
        match Cargo::of(token) {
            Cargo::Receive(receive) => Some(receive),
            Cargo::Message(message) => {
                let receive = self.matching.message(message).receive;
                if receive == NONE {
                    return None;
                }
                self.matching.receives().prefetch(receive);
                Some(receive)
            }
        }
    }

    /// The task that the receive belongs to will be needed.
    #[inline]
    pub fn prefetch_task_of(&self, receive: u32) -> u32 {
        let task = self.matching.receive(receive).task;
        self.prefetch_task(task);
        task
    }

    /// The receive will soon be done: the task that goes on then, if it waits for no other.
    #[inline]
    pub fn goes_on_after(&mut self, receive: u32) -> Option<u32> {
        let request = &mut self.matching.receives()[receive];
        let number = request.task;
        let is_new = !std::mem::replace(&mut request.is_coming, true);
        if !request.waited || request.done != Time::NEVER {
            return None;
        }
        let task = &mut self.tasks[number as usize];
        task.coming = task.coming.saturating_add(u16::from(is_new));
        if task.awaiting != u32::from(task.coming) {
            return None;
        }
        self.matching.prefetch_kept(task.rank);
        for request in self.soon.awaited_by(number) {
            self.matching.receives().prefetch(request);
        }
        Some(number)
    }

    /// A task will soon send to that rank, whose lists are there.
    #[inline]
    pub(super) fn prefetch_peer(&self, task: u32, peer: u32, comm: Comm) {
        if self.soon.is_wanted {
            self.matching.prefetch_posted(peer, comm.context(), comm.rank());
            self.network.prefetch(self.tasks[task as usize].node, self.matching.beside(peer).node);
        }
    }

    /// A task will be resumed soon.
    #[inline]
    pub fn prefetch_task(&self, task: u32) {
        prefetch(&self.tasks[task as usize]);
        self.soon.prefetch(task);
        // Ranks have lists of messages; work in the background has not.
        self.matching.prefetch(task);
    }
}
