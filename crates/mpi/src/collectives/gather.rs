//! MPI_Gather: everybody's block to the root.

use super::algorithm::{Running, algorithms};
use super::buffer::Buffer;
use super::channel::Channel;
use super::libnbc;
use super::split::Segments;
use super::trees::{self, Places};

algorithms! {
    /// How a gather works.
    Gather for "gather" {
        /// Everybody sends to the root, which receives in rank order (Open MPI 1, `basic_linear`).
        Linear => "linear",
        /// Up a binomial tree, blocks collected on the way (Open MPI 2, MPICH `binomial`).
        Binomial => "binomial",
        /// As `linear`, but each waits for the root's word (Open MPI 3, `linear_sync`).
        LinearSync {
            /// Bytes sent first; the rest follows when the root has time.
            segment = 0
        } => "linear-sync",
        /// The root receives from all at once (Open MPI's libnbc, `linear`).
        LinearNonblocking => "linear-nb",
    }
}

impl Gather {
    /// Runs it; `block` is what each rank contributes.
    pub fn run<'a, C: Channel>(self, channel: &'a C, block: Buffer, root: u32) -> Running<'a> {
        match self {
            Gather::Linear => Box::pin(linear(channel, block, root)),
            Gather::Binomial => Box::pin(binomial(channel, block, root)),
            Gather::LinearSync { segment } => Box::pin(linear_sync(channel, block, root, segment)),
            Gather::LinearNonblocking => {
                Box::pin(async move { libnbc::gather(channel, &|_| block.total(), root).await })
            }
        }
    }
}

/// `ompi_coll_base_gather_intra_basic_linear`: p - 1 messages to the root.
async fn linear<C: Channel>(channel: &C, block: Buffer, root: u32) {
    if channel.me() != root {
        return channel.send(root, block.total()).await;
    }
    for rank in 0..channel.count() {
        if rank == root {
            channel.copy(block.total());
        } else {
            channel.recv(rank).await;
        }
    }
}

/// `ompi_coll_base_gather_intra_binomial`, `MPIR_Gather_intra_binomial`: p - 1 messages, log2 p deep; each carries the
/// blocks of a whole subtree.
async fn binomial<C: Channel>(channel: &C, block: Buffer, root: u32) {
    let places = Places { count: channel.count(), root };
    let tree = trees::in_order_binomial(places, channel.me());
    if !tree.children.is_empty() {
        channel.copy(block.total());
    }
    for &child in &tree.children {
        channel.recv(child).await;
    }
    match tree.parent {
        Some(parent) => {
            let collected = trees::in_order_subtree(places, places.place(channel.me()));
            channel.send(parent, block.total() * u64::from(collected)).await;
        }
        // The blocks lie in the order of the places.
        None if root != 0 => channel.copy(block.total() * u64::from(places.count)),
        None => {}
    }
}

/// `ompi_coll_base_gather_intra_linear_sync`: 3 (p - 1) messages: the root's word, a first piece, the rest. The root
/// asks one rank after the other and waits for each first piece.
async fn linear_sync<C: Channel>(channel: &C, block: Buffer, root: u32, segment: u64) {
    let first = block.bytes(Segments::new(block, segment).count().min(block.count));
    if channel.me() != root {
        channel.recv(root).await;
        channel.send(root, first).await;
        channel.send(root, block.total() - first).await;
        return;
    }
    let mut rests = Vec::with_capacity(channel.count() as usize);
    for rank in (0..channel.count()).filter(|&rank| rank != root) {
        let first = channel.irecv(rank).await;
        channel.send(rank, 0).await;
        rests.push(channel.irecv(rank).await);
        channel.wait(first).await;
    }
    channel.copy(block.total());
    channel.wait_all(rests).await;
}
