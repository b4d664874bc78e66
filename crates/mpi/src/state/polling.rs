//! Probes, tests, and what they cost.

use std::task::Poll;

use hpcast_engine::slab::NONE;
use hpcast_platform::protocol::PollGrowth;
use hpcast_units::Time;

use super::{Event, State, Task};
use crate::matching::Pattern;
use crate::observer::Activity;
use crate::request::Status;

impl State {
    /// What a probe sees at the task's time, to which the simulation has come.
    #[inline]
    pub fn probe(&self, task: u32, pattern: &Pattern) -> Option<Status> {
        let Task { rank, clock, .. } = self.tasks[task as usize];
        let message = self.matching.message(self.matching.see_message(rank, pattern, clock)?);
        Some(Status { source: message.envelope.source, tag: message.envelope.tag, bytes: message.bytes })
    }

    /// What a probe is sure to see at the task's time, although the simulation has not come there: only a message from a
    /// named source, since of several sources another may yet be earlier.
    #[inline]
    fn probe_ahead(&self, task: u32, pattern: &Pattern) -> Option<Status> {
        pattern.source()?;
        self.probe(task, pattern)
    }

    /// When the first message that a receive would take is there, if one is known. One of the future counts only if its
    /// source is named, since of several sources another may yet be earlier.
    pub fn sighted(&self, task: u32, pattern: &Pattern) -> Option<Time> {
        let rank = self.tasks[task as usize].rank;
        let until = if pattern.source().is_some() { Time::NEVER } else { self.now };
        self.matching.see_message(rank, pattern, until).map(|message| self.matching.message(message).sent)
    }

    /// The task will be resumed when the next message comes.
    pub fn wait_for_message(&mut self, task: u32) {
        let rank = self.tasks[task as usize].rank;
        let probing = &mut self.matching.beside_mut(rank).probing;
        if *probing == NONE {
            *probing = task;
        } else if *probing != task {
            self.also_probing.push((rank, task));
        }
        self.announce_future_messages(rank);
    }

    /// A message has come to a rank, and one of its threads that wait in a probe goes on: all others look, too.
    #[inline]
    pub(super) fn wake_also_probing(&mut self, rank: u32) {
        if !self.also_probing.is_empty() {
            let woken = self.also_probing.extract_if(.., |(of, _)| *of == rank);
            self.ready.extend(woken.map(|(_, task)| task));
        }
    }

    /// Whether the price of a probe depends on what other ranks poll (SMPI's quirk).
    #[inline]
    pub fn shares_polling(&self) -> bool {
        let parameters = self.costs.parameters();
        parameters.poll_growth == PollGrowth::Global && parameters.probe > 0.0
    }

    /// The task calls MPI_Iprobe, which costs time.
    #[inline]
    pub fn pay_for_probe(&mut self, task: u32) {
        let price = self.price_of_probe(task);
        self.spend(task, Activity::Wait, price);
    }

    /// The task calls MPI_Test, which costs time.
    pub fn pay_for_test(&mut self, task: u32) {
        let price = self.price(task, self.costs.parameters().test);
        self.spend(task, Activity::Wait, price);
    }

    /// What the task's next MPI_Iprobe costs.
    #[inline]
    pub(super) fn price_of_probe(&self, task: u32) -> Time {
        self.price(task, self.costs.parameters().probe)
    }

    /// A poll costs more when polls have failed before (see [`PollGrowth`]).
    #[inline]
    fn price(&self, task: u32, cost: f64) -> Time {
        let failed = match self.costs.parameters().poll_growth {
            PollGrowth::Off => 0,
            PollGrowth::PerRank => self.tasks[task as usize].polls,
            PollGrowth::Global => self.polls,
        };
        Time::from_secs(cost * f64::from(failed + 1))
    }

    /// Counts unsuccessful polls in a row.
    #[inline]
    pub fn polled(&mut self, task: u32, successful: bool) {
        for polls in [&mut self.tasks[task as usize].polls, &mut self.polls] {
            *polls = if successful { 0 } else { *polls + 1 };
        }
    }

    /// The task polls in vain until then: its clock moves to the last poll before it.
    pub fn poll_until(&mut self, task: u32, until: Time) {
        let cost = self.costs.parameters().probe;
        let grows = self.costs.parameters().poll_growth == PollGrowth::PerRank;
        let price = |failed: u32| Time::from_secs(cost * f64::from(if grows { failed + 1 } else { 1 }));
        let Task { clock: start, polls: mut failed, .. } = self.tasks[task as usize];
        let mut clock = start;
        if price(0) == Time::ZERO {
            clock = clock.max(until);
        } else if grows {
            while clock + price(failed) < until {
                clock += price(failed);
                failed += 1;
            }
        } else {
            let polls = until.since(clock).as_ps().saturating_sub(1) / price(0).as_ps();
            clock += Time::from_ps(polls * price(0).as_ps());
            failed = failed.saturating_add(u32::try_from(polls).unwrap_or(u32::MAX));
        }
        self.spend(task, Activity::Wait, clock.since(start));
        self.tasks[task as usize].polls = failed;
    }

    /// The task polls at its clock. Either it knows at once what it sees, or it is resumed when it does: see
    /// [`State::end_poll`]. One that is sure to find its message does not wait for the simulation.
    #[inline]
    pub fn begin_poll(&mut self, task: u32, pattern: &Pattern, polling: Polling) -> Poll<Option<Status>> {
        if self.shares_polling() {
            self.begin_shared_poll(task, pattern, polling);
            return Poll::Pending;
        }
        self.pay_for_probe(task);
        if let Some(status) = self.probe_ahead(task, pattern) {
            self.polled(task, true);
            return Poll::Ready(Some(status));
        }
        if self.catch_up(task) { Poll::Ready(self.end_poll(task, pattern)) } else { Poll::Pending }
    }

    /// What the task sees, now that the simulation has come to its clock.
    #[inline]
    pub fn end_poll(&mut self, task: u32, pattern: &Pattern) -> Option<Status> {
        if self.shares_polling() {
            return self.shared_polls[task as usize].seen;
        }
        let seen = self.probe(task, pattern);
        self.polled(task, seen.is_some());
        seen
    }

    /// The task begins to poll at its clock, once or until a message is there, where all ranks share the price of polling.
    /// It is resumed when it is done; until then it costs an event a poll, and no resumption.
    fn begin_shared_poll(&mut self, task: u32, pattern: &Pattern, polling: Polling) {
        let number = task as usize;
        if self.shared_polls.len() <= number {
            self.shared_polls.resize(number + 1, SharedPoll::default());
        }
        self.shared_polls[number] = SharedPoll { pattern: *pattern, polling, seen: None };
        self.tasks[number].ahead = 0;
        let clock = self.tasks[number].clock;
        if clock > self.now {
            self.agenda.push(clock, Event::Pay(task).slot());
        } else {
            self.pay_shared_poll(task);
        }
    }

    /// The simulation has come to where the task polls: what others have polled counts.
    pub fn pay_shared_poll(&mut self, task: u32) {
        self.pay_for_probe(task);
        self.agenda.push(self.tasks[task as usize].clock, Event::Look(task).slot());
    }

    /// The simulation has come to where the task sees the result of its poll.
    pub fn end_shared_poll(&mut self, task: u32) {
        let SharedPoll { pattern, polling, .. } = self.shared_polls[task as usize];
        let seen = self.probe(task, &pattern);
        self.polled(task, seen.is_some());
        if seen.is_none() && polling == Polling::UntilThere {
            return self.pay_shared_poll(task);
        }
        self.shared_polls[task as usize].seen = seen;
        self.ready.push(task);
    }

    /// Ranks that wait in a probe, and which of their tasks do.
    pub fn probing(&self) -> impl Iterator<Item = (u32, u32)> {
        let first = self.matching.all_beside().filter(|(_, inbox)| inbox.probing != NONE);
        first.map(|(rank, inbox)| (rank, inbox.probing)).chain(self.also_probing.iter().copied())
    }
}

/// How often a task polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Polling {
    #[default]
    Once,
    UntilThere,
}

/// A poll where all ranks share the price of polling.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SharedPoll {
    pattern: Pattern,
    polling: Polling,
    seen: Option<Status>,
}
