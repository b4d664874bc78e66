//! What a collective algorithm may do: point-to-point messages among numbered peers, and local work on data.
//!
//! The algorithms are generic over this trait, so that the same code runs in a simulation (on [`Peers`](crate::peers::Peers)) and under
//! the recorder of the tests. A message has a size and no content. Messages between two peers stay in order.

/// The peers of one collective call, as one of them sees the others.
#[expect(async_fn_in_trait, reason = "ranks are polled by one thread: the futures need not be Send")]
pub trait Channel {
    /// A message on its way.
    type Handle;

    /// My number among the peers.
    fn me(&self) -> u32;
    /// How many peers there are.
    fn count(&self) -> u32;
    /// Standard blocking send.
    async fn send(&self, to: u32, bytes: u64);
    /// Synchronous blocking send (MPI_Ssend): returns when the receiver has begun to receive.
    async fn send_synchronous(&self, to: u32, bytes: u64);
    /// Blocking receive.
    async fn recv(&self, from: u32);
    /// Sends to one and receives from another at the same time (MPI_Sendrecv).
    async fn exchange(&self, to: u32, bytes: u64, from: u32);
    /// Non-blocking send.
    async fn isend(&self, to: u32, bytes: u64) -> Self::Handle;
    /// Non-blocking receive.
    async fn irecv(&self, from: u32) -> Self::Handle;
    /// Waits for all of them.
    async fn wait_all(&self, handles: Vec<Self::Handle>);
    /// Waits for one.
    async fn wait(&self, handle: Self::Handle);
    /// Combines so many bytes by the reduction's operator: local work.
    fn combine(&self, bytes: u64);
    /// Copies so many bytes in local memory.
    fn copy(&self, bytes: u64);

    /// Exchanges messages with one peer.
    async fn swap(&self, peer: u32, bytes: u64) {
        self.exchange(peer, bytes, peer).await;
    }

    /// The peer `distance` places after me, around the ring.
    fn after(&self, distance: u32) -> u32 {
        ((u64::from(self.me()) + u64::from(distance)) % u64::from(self.count())) as u32
    }

    /// The peer `distance` places before me, around the ring; `distance` is at most the number of peers.
    fn before(&self, distance: u32) -> u32 {
        self.after(self.count() - distance)
    }
}
