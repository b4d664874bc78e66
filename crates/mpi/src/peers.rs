//! The members of a communicator, as a collective algorithm sees them: numbered, all named, one private channel.

use hpcast_units::Time;

use crate::calls::Exchange;
use crate::collectives::Channel;
use crate::group::Comm;
use crate::observer::Activity;
use crate::rank::Rank;
use crate::request::Request;
use crate::state::{Mode, Receiving, Sending, Style};

/// The members of a communicator, seen by one of them.
#[derive(Clone, Copy)]
pub struct Peers<'s> {
    rank: &'s Rank,
    comm: Comm,
    /// Keeps the messages of collectives that run at the same time apart.
    tag: i32,
}

impl<'s> Peers<'s> {
    pub(crate) fn new(rank: &'s Rank, comm: Comm, tag: i32) -> Peers<'s> {
        Peers { rank, comm: comm.private(), tag }
    }

    /// The members of another communicator, for another part of the same collective.
    pub(crate) fn of(&self, comm: Comm) -> Peers<'s> {
        Peers { comm: comm.private(), ..*self }
    }

    /// Receives and sends all these messages at once.
    pub(crate) async fn exchange_all(&self, exchange: &Exchange) {
        let (comm, tag) = (self.comm, self.tag);
        let mut requests = Vec::with_capacity(exchange.received.len() + exchange.sent.len());
        for &(from, parcel) in &exchange.received {
            let receiving = Receiving { comm, source: Some(from), tag: Some(tag), parcel };
            requests.push(self.rank.start_receive(receiving).await);
        }
        for &(to, bytes, parcel) in &exchange.sent {
            let sending = Sending { comm, to, tag, bytes, mode: Mode::Standard, parcel };
            requests.push(self.rank.start_send(sending, Style::Nonblocking));
        }
        self.rank.wait_all(requests).await;
    }
}

impl Channel for Peers<'_> {
    type Handle = Request;

    fn me(&self) -> u32 {
        self.comm.rank()
    }

    fn count(&self) -> u32 {
        self.comm.size()
    }

    fn send(&self, to: u32, bytes: u64) -> impl Future<Output = ()> {
        self.rank.send(self.comm, to, self.tag, bytes)
    }

    fn send_synchronous(&self, to: u32, bytes: u64) -> impl Future<Output = ()> {
        self.rank.send_as(Mode::Synchronous, self.comm, to, self.tag, bytes)
    }

    async fn recv(&self, from: u32) {
        self.rank.recv(self.comm, from, self.tag).await;
    }

    async fn exchange(&self, to: u32, bytes: u64, from: u32) {
        self.rank.sendrecv(self.comm, (to, self.tag, bytes), (from, self.tag)).await;
    }

    async fn isend(&self, to: u32, bytes: u64) -> Request {
        self.rank.isend(self.comm, to, self.tag, bytes)
    }

    fn irecv(&self, from: u32) -> impl Future<Output = Request> {
        self.rank.irecv(self.comm, from, self.tag)
    }

    async fn wait_all(&self, handles: Vec<Request>) {
        self.rank.wait_all(handles).await;
    }

    async fn wait(&self, handle: Request) {
        self.rank.wait(handle).await;
    }

    fn combine(&self, bytes: u64) {
        let mut state = self.rank.state();
        let seconds = state.costs.parameters().reduce_per_byte * bytes as f64;
        state.spend(self.rank.task(), Activity::Compute, Time::from_secs(seconds));
    }

    /// Taken as free, beside what the protocol charges for the message.
    fn copy(&self, _bytes: u64) {}
}
