//! The members of a communicator, as a collective algorithm sees them: numbered, all named, one private channel.

use hpcast_units::Time;

use crate::group::Comm;
use crate::observer::Activity;
use crate::rank::Rank;
use crate::request::Request;
use crate::state::Mode;

/// A message on its way within a collective; must be waited for.
pub type Handle = Request;

/// What a collective algorithm may do. Messages between two peers stay in order.
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

    /// My number among the peers.
    pub fn me(&self) -> u32 {
        self.comm.rank()
    }

    /// How many peers there are.
    pub fn count(&self) -> u32 {
        self.comm.size()
    }

    /// Standard blocking send.
    pub async fn send(&self, to: u32, bytes: u64) {
        self.rank.send(self.comm, to, self.tag, bytes).await;
    }

    /// Synchronous blocking send: returns when the receiver has taken the message.
    pub async fn send_synchronous(&self, to: u32, bytes: u64) {
        self.rank.send_as(Mode::Synchronous, self.comm, to, self.tag, bytes).await;
    }

    /// Blocking receive.
    pub async fn recv(&self, from: u32) {
        self.rank.recv(self.comm, from, self.tag).await;
    }

    /// Sends to one and receives from another at the same time (MPI_Sendrecv).
    pub async fn exchange(&self, to: u32, bytes: u64, from: u32) {
        self.rank.sendrecv(self.comm, (to, self.tag, bytes), (from, self.tag)).await;
    }

    /// Non-blocking send.
    pub async fn isend(&self, to: u32, bytes: u64) -> Handle {
        self.rank.isend(self.comm, to, self.tag, bytes)
    }

    /// Non-blocking receive.
    pub async fn irecv(&self, from: u32) -> Handle {
        self.rank.irecv(self.comm, from, self.tag).await
    }

    /// Waits for all of them.
    pub async fn wait_all(&self, handles: Vec<Handle>) {
        self.rank.wait_all(handles).await;
    }

    /// Waits for one.
    pub async fn wait(&self, handle: Handle) {
        self.rank.wait(handle).await;
    }

    /// Combines so many bytes by the reduction's operation: local work, charged as the machine file says.
    pub fn combine(&self, bytes: u64) {
        let mut state = self.rank.state();
        let seconds = state.costs.parameters().reduce_per_byte * bytes as f64;
        state.spend(self.rank.task(), Activity::Compute, Time::from_secs(seconds));
    }

    /// Copies so many bytes in local memory: taken as free, beside what the protocol charges for the message.
    pub fn copy(&self, _bytes: u64) {}
}
