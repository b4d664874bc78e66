//! What a program can do: the MPI of a simulated rank.

mod polling;
mod rounds;

use std::cell::{Cell, RefMut};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hpcast_units::Time;

use crate::collectives::Buffer;
use crate::exchange::Exchange;
use crate::group::{self, Cartesian, Comm};
use crate::observer::Activity;
use crate::post::Parcel;
use crate::request::{Ended, Request, Status};
use crate::sim::Sim;
use crate::state::{Mode, Next, Receiving, Sending, State, Style};

/// Sends that a rank may post ahead of the simulation before it lets the simulation catch up: bounds memory.
pub(crate) const AHEAD: u16 = 256;

/// From whom a receive takes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This rank of the communicator.
    Rank(u32),
    /// Whoever comes first (MPI_ANY_SOURCE).
    Any,
}

impl From<u32> for Source {
    fn from(rank: u32) -> Source {
        Source::Rank(rank)
    }
}

/// Which tag a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// This one.
    Is(i32),
    /// Every one (MPI_ANY_TAG).
    Any,
}

impl From<i32> for Tag {
    fn from(tag: i32) -> Tag {
        Tag::Is(tag)
    }
}

impl Source {
    fn named(self) -> Option<u32> {
        match self {
            Source::Rank(rank) => Some(rank),
            Source::Any => None,
        }
    }
}

impl Tag {
    fn named(self) -> Option<i32> {
        match self {
            Tag::Is(tag) => Some(tag),
            Tag::Any => None,
        }
    }
}

/// A rank of the simulated program.
#[derive(Clone)]
pub struct Rank {
    sim: Rc<Sim>,
    /// Mine, or that of a thread which acts for me.
    task: Cell<u32>,
    world: Comm,
}

impl Rank {
    pub(crate) fn new(sim: Rc<Sim>, task: u32, world: Comm) -> Rank {
        Rank { sim, task: Cell::new(task), world }
    }

    #[inline]
    pub(crate) fn state(&self) -> RefMut<'_, State> {
        self.sim.state()
    }

    pub(crate) fn sim(&self) -> &Rc<Sim> {
        &self.sim
    }

    /// The number of my task: that of a rank is its own, that of a thread another.
    pub fn task(&self) -> u32 {
        self.task.get()
    }

    /// What I do from now on is done by another task of my rank: one of its threads, or its own again.
    pub fn act_as(&self, task: u32) {
        self.task.set(task);
    }

    /// My rank in the world.
    pub fn number(&self) -> u32 {
        self.world.rank()
    }

    /// The communicator of all ranks of the program.
    pub fn world(&self) -> Comm {
        self.world
    }

    /// My clock (MPI_Wtime).
    pub fn now(&self) -> Time {
        self.state().tasks[self.task.get() as usize].clock
    }

    /// How far the simulation has come: nothing happens before that any more.
    pub fn simulated(&self) -> Time {
        self.state().now
    }

    /// What a request stands for; none if it was done when it was posted.
    pub fn awaited(&self, request: &Request) -> Option<crate::Awaited> {
        let state = self.state();
        let number = (!request.is_done_at_once()).then(|| request.number())?;
        Some(crate::Awaited::of(&state, &state.call(number)))
    }

    /// Whether nothing of the simulation is being changed, so that it can be asked: for handlers of signals.
    pub fn is_at_rest(&self) -> bool {
        self.sim.is_at_rest()
    }

    /// What has come out of the whole simulation so far, for those who stop it.
    pub fn outcome_so_far(&self) -> crate::Outcome {
        self.sim.outcome()
    }

    /// How long I have waited so far.
    pub fn waited(&self) -> Time {
        self.state().tasks[self.task.get() as usize].spent.on(Activity::Wait)
    }

    /// Computes for so long.
    pub fn compute(&self, length: Time) {
        self.state().spend(self.task.get(), Activity::Compute, length);
    }

    /// Tells those who watch how far the program has come, from 0 to 1.
    pub fn progress(&self, fraction: f64) {
        self.sim.progress.set((fraction, self.now()));
    }

    /// Standard blocking send.
    #[inline]
    pub fn send(&self, comm: Comm, to: u32, tag: i32, bytes: u64) -> impl Future<Output = ()> {
        self.send_as(Mode::Standard, comm, to, tag, bytes)
    }

    /// Blocking send in any mode.
    #[inline]
    pub fn send_as(&self, mode: Mode, comm: Comm, to: u32, tag: i32, bytes: u64) -> impl Future<Output = ()> {
        self.send_parcel(Sending { comm, to, tag, bytes, mode, parcel: Parcel::NONE })
    }

    /// Blocking send with its data.
    #[inline]
    pub fn send_parcel(&self, sending: Sending) -> impl Future<Output = ()> {
        Send { rank: self, stage: SendStage::Post(sending) }
    }

    /// Blocking receive.
    #[inline]
    pub fn recv(&self, comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> impl Future<Output = Status> {
        self.recv_before(Next::Anything, comm, from, tag)
    }

    /// Blocking receive by a rank that knows what it does next.
    #[inline]
    pub fn recv_before(
        &self,
        next: Next,
        comm: Comm,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> impl Future<Output = Status> {
        let (source, tag) = (from.into().named(), tag.into().named());
        let stage = ReceiveStage::Post(Receiving { comm, source, tag, parcel: Parcel::NONE });
        Receive { rank: self, stage, next }
    }

    /// Blocking receive of data.
    #[inline]
    pub fn recv_parcel(&self, receiving: Receiving) -> impl Future<Output = Status> {
        Receive { rank: self, stage: ReceiveStage::Post(receiving), next: Next::Anything }
    }

    /// Sends to one and receives from another at the same time.
    #[inline]
    pub fn sendrecv(
        &self,
        comm: Comm,
        sent: (u32, i32, u64),
        received: (impl Into<Source>, impl Into<Tag>),
    ) -> impl Future<Output = Status> {
        self.sendrecv_as(Mode::Standard, comm, sent, received)
    }

    /// The same with a send in any mode.
    #[inline]
    pub fn sendrecv_as(
        &self,
        mode: Mode,
        comm: Comm,
        (to, send_tag, bytes): (u32, i32, u64),
        (from, receive_tag): (impl Into<Source>, impl Into<Tag>),
    ) -> impl Future<Output = Status> {
        let parcel = Parcel::NONE;
        let sending = Sending { comm, to, tag: send_tag, bytes, mode, parcel };
        let (source, tag) = (from.into().named(), receive_tag.into().named());
        Exchange::send_first(self, sending, Receiving { comm, source, tag, parcel })
    }

    /// The same with data.
    #[inline]
    pub fn sendrecv_parcels(&self, sending: Sending, receiving: Receiving) -> impl Future<Output = Status> {
        Exchange::send_first(self, sending, receiving)
    }

    /// Sends to a peer and receives from it: MPI_Irecv, MPI_Send, MPI_Wait.
    #[inline]
    pub fn exchange(&self, comm: Comm, peer: u32, tag: i32, bytes: u64, next: Next) -> impl Future<Output = Status> {
        let sending = Sending { comm, to: peer, tag, bytes, mode: Mode::Standard, parcel: Parcel::NONE };
        Exchange::receive_first(self, sending, next)
    }

    /// Standard non-blocking send.
    pub fn isend(&self, comm: Comm, to: u32, tag: i32, bytes: u64) -> Request {
        self.isend_as(Mode::Standard, comm, to, tag, bytes)
    }

    /// Non-blocking send in any mode.
    pub fn isend_as(&self, mode: Mode, comm: Comm, to: u32, tag: i32, bytes: u64) -> Request {
        self.start_send(Sending { comm, to, tag, bytes, mode, parcel: Parcel::NONE }, Style::Nonblocking)
    }

    /// Starts a send with its data.
    #[inline]
    pub fn start_send(&self, sending: Sending, style: Style) -> Request {
        self.state().send(self.task.get(), sending, style)
    }

    /// Starts a send as a call that returns at once does. Its data may stay where it is for now: then it is mine to say
    /// when it must be kept ([`Rank::keep_in_place`]), by the number of the message.
    #[inline]
    pub fn start_send_in_place(&self, sending: Sending) -> (Request, Option<u32>) {
        self.state().send_in_place(self.task.get(), sending)
    }

    /// I go on, and may change what is still in my buffers of messages with these numbers: it is kept.
    #[inline]
    pub fn keep_in_place(&self, messages: impl IntoIterator<Item = u32>) {
        self.state().keep_left(self.task.get(), messages);
    }

    /// Non-blocking receive.
    pub async fn irecv(&self, comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> Request {
        let (source, tag) = (from.into().named(), tag.into().named());
        self.start_receive(Receiving { comm, source, tag, parcel: Parcel::NONE }).await
    }

    /// Starts a receive of data.
    pub async fn start_receive(&self, receiving: Receiving) -> Request {
        if self.state().must_catch_up(self.task.get(), receiving.source.is_none()) {
            self.catch_up().await;
        }
        self.state().receive(self.task.get(), receiving)
    }

    /// Whether I must let the simulation catch up with me before I post a receive.
    #[inline]
    pub fn must_catch_up(&self, any_source: bool) -> bool {
        self.state().must_catch_up(self.task.get(), any_source)
    }

    /// Posts a receive; nobody must have to catch up.
    #[inline]
    pub fn post_receive(&self, receiving: Receiving) -> Request {
        self.state().receive(self.task.get(), receiving)
    }

    /// Whether I have sent so much ahead of the simulation that it should catch up.
    #[inline]
    pub fn is_far_ahead(&self) -> bool {
        self.state().tasks[self.task.get() as usize].ahead >= AHEAD
    }

    /// Whether all requests are done; if not, I wait for them, and am resumed when they are: to be asked again then.
    #[inline]
    pub fn poll_all(&self, requests: &[Request]) -> bool {
        !self.state().await_all(self.task.get(), requests, Next::Anything)
    }

    /// My program will know this message, which was not done when it was posted, by its number in the place of the request. Whatever
    /// number a program names, nothing of another's is touched.
    #[inline]
    pub fn hold(&self, request: Request) -> u32 {
        self.state().hold(&request)
    }

    /// The request of a message that my program knows by this number, which it no longer does; with it where the data of a receive
    /// goes.
    pub fn take_held(&self, number: u32) -> Option<(Request, Option<Parcel>)> {
        self.state().take_held(self.task.get(), number)
    }

    /// Whether all messages that my program knows by these numbers are done. If not, I wait for them, and am resumed when they
    /// are: to be asked again then, no longer for the first time. None if one is unknown, or there twice.
    #[inline]
    pub fn poll_held(&self, numbers: impl Iterator<Item = Option<u32>> + Clone, is_first: bool) -> Option<bool> {
        self.state().await_held(self.task.get(), numbers, is_first).map(|waits| !waits)
    }

    /// Ends messages that are done, by place and number, in the order in which they were done, each with its receive overhead. My
    /// program does not know them any more.
    #[inline]
    pub fn end_held(&self, numbers: impl Iterator<Item = (usize, u32)>, ended: &mut Vec<Ended>) {
        self.state().end_held(self.task.get(), numbers, ended);
    }

    /// What all programs still know by numbers: ranks, and what they would wait for.
    pub fn all_held(&self) -> Vec<(u32, crate::Awaited)> {
        let state = self.state();
        state.all_held().map(|(rank, call)| (rank, crate::Awaited::of(&state, call))).collect()
    }

    /// Ends a request that is done.
    #[inline]
    pub fn end(&self, request: Request) -> Status {
        self.state().finish(self.task.get(), request)
    }

    /// Waits for one request.
    pub fn wait(&self, request: Request) -> impl Future<Output = Status> {
        WaitOne { rank: self, request: Some(request) }
    }

    /// Waits for all requests; they end in the order in which they are done, each with its receive overhead.
    pub async fn wait_all(&self, requests: Vec<Request>) -> Vec<Status> {
        WaitAll { rank: self, requests }.await
    }

    /// Waits until one of the requests is done, takes it out and returns its index and status;
    /// `None` if there are no requests.
    pub async fn wait_any(&self, requests: &mut Vec<Request>) -> Option<(usize, Status)> {
        if requests.is_empty() {
            return None;
        }
        self.catch_up().await;
        let index = WaitAny { rank: self, requests }.await;
        let request = requests.remove(index);
        Some((index, self.state().finish(self.task.get(), request)))
    }

    /// Waits until at least one of the requests is done, and takes out all that are: (index before, status).
    pub async fn wait_some(&self, requests: &mut Vec<Request>) -> Vec<(usize, Status)> {
        if requests.is_empty() {
            return Vec::new();
        }
        self.catch_up().await;
        let index = WaitAny { rank: self, requests }.await;
        {
            let mut state = self.state();
            let done = state.done_at(&requests[index]);
            state.wait_until(self.task.get(), done);
        }
        self.take_done(requests)
    }

    /// Whether the request is done; if so, it is ended. Costs what the machine file says of a test.
    pub async fn test(&self, request: Request) -> Result<Status, Request> {
        let mut requests = vec![request];
        match self.test_any(&mut requests).await {
            Some((_, status)) => Ok(status),
            None => Err(requests.remove(0)),
        }
    }

    /// Whether one of the requests is done; if so, it is taken out and ended.
    pub async fn test_any(&self, requests: &mut Vec<Request>) -> Option<(usize, Status)> {
        self.pay_for_testing().await;
        let now = self.now();
        let index = requests.iter().position(|request| self.is_done_at(request, now));
        self.state().polled(self.task.get(), index.is_some());
        let request = requests.remove(index?);
        Some((index?, self.state().finish(self.task.get(), request)))
    }

    /// Takes out all requests that are done, and ends them: (index before, status).
    pub async fn test_some(&self, requests: &mut Vec<Request>) -> Vec<(usize, Status)> {
        self.pay_for_testing().await;
        let done = self.take_done(requests);
        self.state().polled(self.task.get(), !done.is_empty());
        done
    }

    /// Whether all requests are done; if so, they are ended.
    pub async fn test_all(&self, requests: Vec<Request>) -> Result<Vec<Status>, Vec<Request>> {
        self.pay_for_testing().await;
        let now = self.now();
        let all = requests.iter().all(|request| self.is_done_at(request, now));
        self.state().polled(self.task.get(), all);
        if all { Ok(self.wait_all(requests).await) } else { Err(requests) }
    }

    /// What the request will say, if it is done at my time; it is not ended (MPI_Request_get_status). Costs as much as a test.
    pub async fn peek(&self, request: &Request) -> Option<Status> {
        self.pay_for_testing().await;
        let done = self.is_done_at(request, self.now());
        let mut state = self.state();
        state.polled(self.task.get(), done);
        done.then(|| state.status(request))
    }

    /// Takes a receive back, if no message has met it (MPI_Cancel); it is then done.
    pub fn cancel(&self, request: &Request) -> bool {
        self.state().cancel(request)
    }

    /// A new context for these ranks of the world, which [`Comm::new`] makes a communicator.
    pub fn new_context(&self, members: Rc<[u32]>) -> group::Context {
        self.state().groups.create(members)
    }

    /// Says who is in a context that was made without members, unless somebody has said so.
    pub fn fill_context(&self, context: group::Context, members: impl FnOnce() -> Rc<[u32]>) {
        self.state().groups.fill(context, members);
    }

    fn is_done_at(&self, request: &Request, time: Time) -> bool {
        self.state().done_at(request) <= time
    }

    fn take_done(&self, requests: &mut Vec<Request>) -> Vec<(usize, Status)> {
        // To end a request takes time, in which others may be done: those are for the next call.
        let now = self.now();
        let all = std::mem::take(requests);
        let mut done = Vec::new();
        for (index, request) in all.into_iter().enumerate() {
            if self.is_done_at(&request, now) {
                done.push((index, self.state().finish(self.task.get(), request)));
            } else {
                requests.push(request);
            }
        }
        done
    }

    /// A communicator of the ranks that give the same color, ordered by key and then by rank; none for no color.
    pub async fn split(&self, comm: Comm, color: Option<u32>, key: i32) -> Option<Comm> {
        let ticket = self.state().groups.enter_split(comm, color, key);
        // Libraries exchange color and key among all ranks: two integers each.
        self.allgather(comm, Buffer::of_bytes(8)).await;
        self.state().groups.leave_split(comm, ticket)
    }

    /// The same ranks with a context of their own.
    pub async fn dup(&self, comm: Comm) -> Comm {
        self.split(comm, Some(0), comm.rank() as i32).await.unwrap_or(comm)
    }

    /// The ranks of a communicator as a grid.
    pub async fn cartesian(&self, comm: Comm, dims: &[u32], periodic: &[bool]) -> Cartesian {
        Cartesian::new(self.dup(comm).await, dims, periodic)
    }

    /// Waits until the simulation has come to my clock.
    pub fn catch_up(&self) -> impl Future<Output = ()> {
        CatchUp { rank: self }
    }
}

struct CatchUp<'r> {
    rank: &'r Rank,
}

impl Future for CatchUp<'_> {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let mut state = self.rank.state();
        if state.catch_up(self.rank.task.get()) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A blocking send: posted at the first poll, so that a program pays for one state machine, not for three.
struct Send<'r> {
    rank: &'r Rank,
    stage: SendStage,
}

enum SendStage {
    Post(Sending),
    Wait(Request),
    CatchUp,
}

impl Future for Send<'_> {
    type Output = ();
    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let rank = self.rank;
        let mut state = rank.state();
        if let SendStage::Post(sending) = self.stage {
            let request = state.send(rank.task.get(), sending, Style::Blocking);
            if !request.is_done_at_once() {
                self.stage = SendStage::Wait(request);
            } else if state.tasks[rank.task.get() as usize].ahead >= AHEAD {
                self.stage = SendStage::CatchUp;
            } else {
                return Poll::Ready(());
            }
        }
        match &self.stage {
            SendStage::Wait(request) if !state.is_done(request) => {
                state.await_one(rank.task.get(), [request]);
                Poll::Pending
            }
            SendStage::Wait(request) => {
                state.finish(rank.task.get(), Request::new(request.number()));
                Poll::Ready(())
            }
            _ if state.catch_up(rank.task.get()) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

/// A blocking receive, likewise.
struct Receive<'r> {
    rank: &'r Rank,
    stage: ReceiveStage,
    next: Next,
}

enum ReceiveStage {
    Post(Receiving),
    Wait(Request),
}

impl Future for Receive<'_> {
    type Output = Status;
    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Status> {
        let rank = self.rank;
        let mut state = rank.state();
        if let ReceiveStage::Post(receiving) = self.stage {
            if state.must_catch_up(rank.task.get(), receiving.source.is_none()) {
                state.catch_up(rank.task.get());
                return Poll::Pending;
            }
            self.stage = ReceiveStage::Wait(state.receive(rank.task.get(), receiving));
        }
        let ReceiveStage::Wait(request) = &self.stage else { return Poll::Pending };
        if state.await_all(rank.task.get(), [request], self.next) {
            return Poll::Pending;
        }
        Poll::Ready(state.finish(rank.task.get(), Request::new(request.number())))
    }
}

struct WaitOne<'r> {
    rank: &'r Rank,
    request: Option<Request>,
}

impl Future for WaitOne<'_> {
    type Output = Status;
    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Status> {
        let rank = self.rank;
        let Some(request) = self.request.take() else { return Poll::Ready(Status::default()) };
        let mut state = rank.state();
        if state.is_done(&request) {
            return Poll::Ready(state.finish(rank.task.get(), request));
        }
        state.await_one(rank.task.get(), [&request]);
        self.request = Some(request);
        Poll::Pending
    }
}

struct WaitAll<'r> {
    rank: &'r Rank,
    requests: Vec<Request>,
}

impl Future for WaitAll<'_> {
    type Output = Vec<Status>;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Vec<Status>> {
        let rank = self.rank;
        let mut state = rank.state();
        if state.await_all(rank.task.get(), &self.requests, Next::Anything) {
            return Poll::Pending;
        }
        Poll::Ready(state.finish_all(rank.task.get(), std::mem::take(&mut self.requests)))
    }
}

struct WaitAny<'r> {
    rank: &'r Rank,
    requests: &'r [Request],
}

impl Future for WaitAny<'_> {
    type Output = usize;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<usize> {
        let rank = self.rank;
        let mut state = rank.state();
        if let Some(index) = (0..self.requests.len())
            .filter(|&index| state.is_done(&self.requests[index]))
            .min_by_key(|&index| (state.done_at(&self.requests[index]), index))
        {
            for request in self.requests {
                state.forget_wait(request);
            }
            return Poll::Ready(index);
        }
        state.await_one(rank.task.get(), self.requests);
        Poll::Pending
    }
}
