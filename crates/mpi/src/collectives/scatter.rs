//! MPI_Scatter: a block of the root's data to each.

use super::algorithm::{Running, algorithms};
use super::buffer::Buffer;
use super::channel::Channel;
use super::trees::{self, Places};

algorithms! {
    /// How a scatter works.
    Scatter for "scatter" {
        /// The root sends to one rank after the other (Open MPI 1, `basic_linear`).
        Linear => "linear",
        /// Down a binomial tree, the blocks of whole subtrees together (Open MPI 2, MPICH `binomial`).
        Binomial => "binomial",
        /// The root sends to all at once (Open MPI 3, `linear_nb`).
        LinearNonblocking => "linear-nb",
    }
}

impl Scatter {
    /// Runs it; `block` is what each rank gets.
    pub fn run<'a, C: Channel>(self, channel: &'a C, block: Buffer, root: u32) -> Running<'a> {
        match self {
            Scatter::Binomial => Box::pin(binomial(channel, block, root)),
            _ if channel.me() != root => Box::pin(channel.recv(root)),
            Scatter::Linear => Box::pin(linear_root(channel, block)),
            Scatter::LinearNonblocking => Box::pin(nonblocking_root(channel, block)),
        }
    }
}

/// `ompi_coll_base_scatter_intra_basic_linear`: p - 1 messages, one after the other.
async fn linear_root<C: Channel>(channel: &C, block: Buffer) {
    for rank in 0..channel.count() {
        if rank == channel.me() {
            channel.copy(block.total());
        } else {
            channel.send(rank, block.total()).await;
        }
    }
}

/// `ompi_coll_base_scatter_intra_linear_nb`: p - 1 messages, started all at once.
async fn nonblocking_root<C: Channel>(channel: &C, block: Buffer) {
    let mut sends = Vec::with_capacity(channel.count() as usize);
    for rank in 0..channel.count() {
        if rank == channel.me() {
            channel.copy(block.total());
        } else {
            sends.push(channel.isend(rank, block.total()).await);
        }
    }
    channel.wait_all(sends).await;
}

/// `ompi_coll_base_scatter_intra_binomial`, `MPIR_Scatter_intra_binomial`: p - 1 messages, log2 p deep, the farthest
/// and largest subtree first.
async fn binomial<C: Channel>(channel: &C, block: Buffer, root: u32) {
    let places = Places { count: channel.count(), root };
    let tree = trees::in_order_binomial(places, channel.me());
    match tree.parent {
        Some(parent) => channel.recv(parent).await,
        // The blocks must lie in the order of the places.
        None if root != 0 => channel.copy(block.total() * u64::from(places.count)),
        None => {}
    }
    for &child in tree.children.iter().rev() {
        let blocks = trees::in_order_subtree(places, places.place(child));
        channel.send(child, block.total() * u64::from(blocks)).await;
    }
    if !tree.children.is_empty() {
        channel.copy(block.total());
    }
}
