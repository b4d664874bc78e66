//! A send and a receive at the same time: hand-written futures, so that a program pays for one state machine.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::group::Comm;
use crate::rank::Rank;
use crate::request::{Request, Status};
use crate::state::{Next, Sending, Style};

/// MPI_Sendrecv.
pub(crate) struct SendReceive<'r> {
    rank: &'r Rank,
    comm: Comm,
    source: Option<u32>,
    tag: Option<i32>,
    stage: Stage,
}

enum Stage {
    Send(Sending),
    Receive { send: Request },
    Wait { send: Request, receive: Request },
}

impl<'r> SendReceive<'r> {
    #[inline]
    pub fn new(rank: &'r Rank, sending: Sending, source: Option<u32>, tag: Option<i32>) -> SendReceive<'r> {
        SendReceive { rank, comm: sending.comm, source, tag, stage: Stage::Send(sending) }
    }
}

impl Future for SendReceive<'_> {
    type Output = Status;
    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Status> {
        let task = self.rank.task();
        let mut state = self.rank.state();
        if let Stage::Send(sending) = self.stage {
            let send = state.send(task, sending, Style::Nonblocking);
            self.stage = Stage::Receive { send };
        }
        if let Stage::Receive { send } = &self.stage {
            let send = Request::new(send.number());
            if state.must_catch_up(task, self.source.is_none()) {
                state.catch_up(task);
                return Poll::Pending;
            }
            let receive = state.receive(task, self.comm, self.source, self.tag);
            self.stage = Stage::Wait { send, receive };
        }
        let Stage::Wait { send, receive } = &self.stage else { return Poll::Pending };
        if state.await_all(task, [send, receive], Next::Anything) {
            return Poll::Pending;
        }
        // Each is ended when it is done, so that the receive overhead is paid at its time.
        let [send, receive] = [send, receive].map(|request| Request::new(request.number()));
        if state.done_at(&send) <= state.done_at(&receive) {
            state.finish(task, send);
            Poll::Ready(state.finish(task, receive))
        } else {
            let status = state.finish(task, receive);
            state.finish(task, send);
            Poll::Ready(status)
        }
    }
}

/// MPI_Irecv from a peer, MPI_Send to it, MPI_Wait.
pub(crate) struct Exchange<'r> {
    rank: &'r Rank,
    next: Next,
    stage: ExchangeStage,
}

enum ExchangeStage {
    Post(Sending),
    Wait { send: Request, receive: Request },
}

impl<'r> Exchange<'r> {
    #[inline]
    pub fn new(rank: &'r Rank, sending: Sending, next: Next) -> Exchange<'r> {
        Exchange { rank, next, stage: ExchangeStage::Post(sending) }
    }
}

impl Future for Exchange<'_> {
    type Output = Status;
    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Status> {
        let task = self.rank.task();
        let mut state = self.rank.state();
        if let ExchangeStage::Post(sending) = self.stage {
            if state.must_catch_up(task, false) {
                state.catch_up(task);
                return Poll::Pending;
            }
            let receive = state.receive(task, sending.comm, Some(sending.to), Some(sending.tag));
            let send = state.send(task, sending, Style::Blocking);
            self.stage = ExchangeStage::Wait { send, receive };
        }
        let ExchangeStage::Wait { send, receive } = &self.stage else { return Poll::Pending };
        // Between the end of the send and that of the receive nothing happens: one wait does for both.
        if state.await_all(task, [send, receive], self.next) {
            return Poll::Pending;
        }
        state.finish(task, Request::new(send.number()));
        Poll::Ready(state.finish(task, Request::new(receive.number())))
    }
}
