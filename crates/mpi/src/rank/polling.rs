//! Probes: is a message there?

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use hpcast_platform::protocol::PollGrowth;
use hpcast_units::Time;

use super::{Rank, Source, Tag};
use crate::group::Comm;
use crate::matching::Pattern;
use crate::observer::Activity;
use crate::post::Parcel;
use crate::request::{Request, Status};
use crate::state::{Polling, Taken};

impl Rank {
    /// Whether a message is there that a receive would take (MPI_Iprobe). Costs what the machine file says of a probe.
    #[inline]
    pub fn iprobe(
        &self,
        comm: Comm,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> impl Future<Output = Option<Status>> {
        Probe { rank: self, pattern: pattern(comm, from, tag), polling: Polling::Once, began: false }
    }

    /// Waits until a message is there that a receive would take (MPI_Probe).
    pub async fn probe(&self, comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> Status {
        let (source, tag) = (from.into(), tag.into());
        let growth = self.state().costs.parameters().poll_growth;
        // Where repeated polling has a price of its own, a waiting probe is a loop of polls, as in SMPI.
        if growth != PollGrowth::Off {
            return self.probe_in_a_loop(comm, source, tag).await;
        }
        loop {
            if let Some(status) = self.iprobe(comm, source, tag).await {
                return status;
            }
            let since = self.sight(comm, source, tag).await;
            self.state().wait_until(self.task.get(), since);
        }
    }

    /// Calls MPI_Iprobe over and over until a message is there. Probes that find nothing are not simulated one by one,
    /// unless all ranks share the price of polling.
    pub async fn probe_in_a_loop(&self, comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> Status {
        let (source, tag) = (from.into(), tag.into());
        let pattern = pattern(comm, source, tag);
        loop {
            let probe = Probe { rank: self, pattern, polling: Polling::UntilThere, began: false };
            if let Some(status) = probe.await {
                return status;
            }
            let since = self.sight(comm, source, tag).await;
            self.state().poll_until(self.task.get(), since);
        }
    }

    /// For a program that calls MPI_Iprobe over and over and does nothing else until a message is there: the probes that find
    /// nothing are on its clock, the one that finds it is next. Nothing where all ranks share the price of polling.
    pub async fn skip_probes(&self, comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) {
        if !self.shares_polling() {
            let since = self.sight(comm, from, tag).await;
            self.state().poll_until(self.task.get(), since);
        }
    }

    /// Whether a message is there that a receive would take; if so, it is taken and can be received by
    /// [`Rank::receive_taken`] only (MPI_Improbe).
    pub async fn improbe(&self, comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> Option<(Taken, Status)> {
        let (source, tag) = (from.into(), tag.into());
        let status = self.iprobe(comm, source, tag).await?;
        let taken = self.state().take_seen(self.task.get(), &pattern(comm, status.source, status.tag))?;
        Some((taken, status))
    }

    /// Waits until a message is there that a receive would take, and takes it (MPI_Mprobe).
    pub async fn mprobe(&self, comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> (Taken, Status) {
        let (source, tag) = (from.into(), tag.into());
        loop {
            let status = self.probe(comm, source, tag).await;
            if let Some(taken) = self.state().take_seen(self.task.get(), &pattern(comm, status.source, status.tag)) {
                return (taken, status);
            }
        }
    }

    /// Receives a message that was taken before (MPI_Imrecv).
    pub fn receive_taken(&self, message: Taken, parcel: Parcel) -> Request {
        self.state().receive_taken(self.task.get(), message, parcel)
    }

    /// Waits until a message is known that a receive would take, and says when it is there for a probe to see: earlier or
    /// later than my clock, which stays where it is. For loops that probe, and do nothing in between that others see.
    pub async fn sight(&self, comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> Time {
        let pattern = pattern(comm, from, tag);
        loop {
            if let Some(since) = self.state().sighted(self.task.get(), &pattern) {
                return since;
            }
            NextMessage { rank: self, asked: false }.await;
        }
    }

    /// Probes for a message that is there from `since` on, see [`Rank::sight`].
    pub fn probe_sighted(&self, since: Time) -> bool {
        let mut state = self.state();
        state.pay_for_probe(self.task.get());
        let finds = state.tasks[self.task.get() as usize].clock >= since;
        state.polled(self.task.get(), finds);
        finds
    }

    /// Computes and probes in turn, at most `count` times, until it sees a message that is there from `since` on, see
    /// [`Rank::sight`]. How often it did, and whether it has seen the message.
    pub fn work_and_probe(&self, work: Time, count: u64, since: Time) -> (u64, bool) {
        let mut state = self.state();
        for done in 1..=count {
            state.spend(self.task.get(), Activity::Compute, work);
            state.pay_for_probe(self.task.get());
            let finds = state.tasks[self.task.get() as usize].clock >= since;
            state.polled(self.task.get(), finds);
            if finds {
                return (done, true);
            }
        }
        (count, false)
    }

    /// Whether the price of a probe depends on what other ranks do at the time (SMPI's quirk).
    pub fn shares_polling(&self) -> bool {
        self.state().shares_polling()
    }

    /// A test costs time, more so when polls have failed before.
    pub(super) async fn pay_for_testing(&self) {
        if self.state().costs.parameters().poll_growth == PollGrowth::Global {
            // What others have polled counts: first let them.
            self.catch_up().await;
        }
        self.state().pay_for_test(self.task.get());
        self.catch_up().await;
    }
}

fn pattern(comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> Pattern {
    Pattern::new(comm.context(), from.into().named(), tag.into().named())
}

/// A probe, a state machine of its own.
struct Probe<'r> {
    rank: &'r Rank,
    pattern: Pattern,
    /// Counts only where all ranks share the price of polling.
    polling: Polling,
    began: bool,
}

impl Future for Probe<'_> {
    type Output = Option<Status>;
    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Status>> {
        let Probe { rank, pattern, polling, began } = *self;
        let mut state = rank.state();
        self.began = true;
        if began {
            Poll::Ready(state.end_poll(rank.task.get(), &pattern))
        } else {
            state.begin_poll(rank.task.get(), &pattern, polling)
        }
    }
}

struct NextMessage<'r> {
    rank: &'r Rank,
    asked: bool,
}

impl Future for NextMessage<'_> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.asked {
            return Poll::Ready(());
        }
        self.rank.state().wait_for_message(self.rank.task.get());
        self.asked = true;
        Poll::Pending
    }
}
