//! A send and a receive at the same time: a hand-written future, so that a program pays for one state machine.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::post::Parcel;
use crate::rank::Rank;
use crate::request::{Request, Status};
use crate::state::{Next, Receiving, Sending, Style};

/// Which of the two is posted first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The send, which does not block (MPI_Sendrecv).
    Send,
    /// The receive; then the send blocks (MPI_Irecv, MPI_Send, MPI_Wait).
    Receive,
}

/// A send and a receive that are both waited for.
pub(crate) struct Exchange<'r> {
    rank: &'r Rank,
    order: Order,
    receiving: Receiving,
    next: Next,
    stage: Stage,
    /// The message, if its data is still in its buffer.
    in_place: Option<u32>,
}

enum Stage {
    Post(Sending),
    PostReceive { send: Request },
    Wait { send: Request, receive: Request },
}

impl<'r> Exchange<'r> {
    /// MPI_Sendrecv.
    #[inline]
    pub fn send_first(rank: &'r Rank, sending: Sending, receiving: Receiving) -> Exchange<'r> {
        Exchange {
            rank,
            order: Order::Send,
            receiving,
            next: Next::Anything,
            stage: Stage::Post(sending),
            in_place: None,
        }
    }

    /// MPI_Irecv from a peer, MPI_Send to it, MPI_Wait.
    #[inline]
    pub fn receive_first(rank: &'r Rank, sending: Sending, next: Next) -> Exchange<'r> {
        let Sending { comm, to, tag, .. } = sending;
        let receiving = Receiving { comm, source: Some(to), tag: Some(tag), parcel: Parcel::NONE };
        Exchange { rank, order: Order::Receive, receiving, next, stage: Stage::Post(sending), in_place: None }
    }
}

impl Future for Exchange<'_> {
    type Output = Status;
    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Status> {
        let Exchange { rank, order, receiving, next, .. } = *self;
        let task = rank.task();
        let mut state = rank.state();
        if let (Stage::Post(sending), Order::Send) = (&self.stage, order) {
            let (send, in_place) = state.send_in_place(task, *sending);
            self.in_place = in_place;
            self.stage = Stage::PostReceive { send };
        }
        if !matches!(self.stage, Stage::Wait { .. }) {
            if state.must_catch_up(task, receiving.source.is_none()) {
                state.catch_up(task);
                return Poll::Pending;
            }
            let receive = state.receive(task, receiving);
            let send = match &self.stage {
                Stage::Post(sending) => state.send(task, *sending, Style::Blocking),
                Stage::PostReceive { send } | Stage::Wait { send, .. } => Request::new(send.number()),
            };
            self.stage = Stage::Wait { send, receive };
        }
        let Stage::Wait { send, receive } = &self.stage else { return Poll::Pending };
        // Between the end of the one and that of the other nothing happens: one wait does for both.
        if state.await_all(task, [send, receive], next) {
            return Poll::Pending;
        }
        state.keep_left(task, self.in_place);
        let [send, receive] = [send, receive].map(|request| Request::new(request.number()));
        // Each is ended when it is done, so that the receive overhead is paid at its time; a send that blocks comes first.
        if order == Order::Receive || state.done_at(&send) <= state.done_at(&receive) {
            state.finish(task, send);
            Poll::Ready(state.finish(task, receive))
        } else {
            let status = state.finish(task, receive);
            state.finish(task, send);
            Poll::Ready(status)
        }
    }
}
