//! The members of a communicator, as a collective algorithm sees them: numbered, all named, one private channel.

use std::marker::PhantomData;

/// A message on its way within a collective; must be waited for.
#[must_use = "wait for it with Peers::wait_all"]
#[derive(Debug)]
pub struct Handle(pub(crate) u32);

/// What a collective algorithm may do. Messages between two peers stay in order.
#[derive(Clone, Copy)]
pub struct Peers<'s> {
    sim: PhantomData<&'s ()>,
}

#[expect(clippy::unused_async, reason = "interface only; bodies follow")]
#[expect(unused_variables, reason = "interface only; bodies follow")]
impl Peers<'_> {
    /// My number among the peers.
    pub fn me(&self) -> u32 {
        todo!()
    }
    /// How many peers there are.
    pub fn count(&self) -> u32 {
        todo!()
    }
    /// Standard blocking send.
    pub async fn send(&self, to: u32, bytes: u64) {
        todo!()
    }
    /// Blocking receive.
    pub async fn recv(&self, from: u32) {
        todo!()
    }
    /// Sends to one and receives from another at the same time (MPI_Sendrecv: isend, irecv, waitall).
    pub async fn exchange(&self, to: u32, bytes: u64, from: u32) {
        todo!()
    }
    /// Non-blocking send.
    pub async fn isend(&self, to: u32, bytes: u64) -> Handle {
        todo!()
    }
    /// Non-blocking receive.
    pub async fn irecv(&self, from: u32) -> Handle {
        todo!()
    }
    /// Waits for all of them.
    pub async fn wait_all(&self, handles: Vec<Handle>) {
        todo!()
    }
    /// Waits for one.
    pub async fn wait(&self, handle: Handle) {
        todo!()
    }
    /// Combines so many bytes by the reduction's operation: local work.
    pub fn combine(&self, bytes: u64) {
        todo!()
    }
    /// Copies so many bytes in local memory.
    pub fn copy(&self, bytes: u64) {
        todo!()
    }
}
