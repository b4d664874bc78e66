//! MPI_Scatterv: a block of the root's data to each, blocks of any size.

use super::algorithm::{Running, algorithms};
use super::channel::Channel;
use super::libnbc;

algorithms! {
    /// How a scatterv works. But for `nbc-linear` empty blocks are not sent.
    Scatterv for "scatterv" {
        /// The root sends to one rank after the other (Open MPI, coll/basic).
        Linear => "linear",
        /// The root sends to all at once (MPICH `linear`).
        LinearNonblocking => "linear-nb",
        /// The root sends to all at once (Open MPI's libnbc, `linear`).
        NbcLinear => "nbc-linear",
    }
}

impl Scatterv {
    /// Runs it; `bytes(rank)` is what each rank gets: only the root asks for others' than its own.
    pub fn run<'a, C: Channel>(self, channel: &'a C, bytes: &'a dyn Fn(u32) -> u64, root: u32) -> Running<'a> {
        match self {
            Scatterv::NbcLinear => Box::pin(libnbc::scatter(channel, bytes, root)),
            _ if channel.me() != root && bytes(channel.me()) == 0 => Box::pin(async {}),
            _ if channel.me() != root => Box::pin(channel.recv(root)),
            Scatterv::Linear => Box::pin(linear_root(channel, bytes)),
            Scatterv::LinearNonblocking => Box::pin(nonblocking_root(channel, bytes)),
        }
    }
}

/// `mca_coll_basic_scatterv_intra`: p - 1 messages, one after the other.
async fn linear_root<C: Channel>(channel: &C, bytes: &dyn Fn(u32) -> u64) {
    for rank in 0..channel.count() {
        if rank == channel.me() {
            channel.copy(bytes(rank));
        } else if bytes(rank) > 0 {
            channel.send(rank, bytes(rank)).await;
        }
    }
}

/// `MPIR_Scatterv_allcomm_linear`: p - 1 messages, started all at once.
async fn nonblocking_root<C: Channel>(channel: &C, bytes: &dyn Fn(u32) -> u64) {
    let mut sends = Vec::with_capacity(channel.count() as usize);
    for rank in 0..channel.count() {
        if rank == channel.me() {
            channel.copy(bytes(rank));
        } else if bytes(rank) > 0 {
            sends.push(channel.isend(rank, bytes(rank)).await);
        }
    }
    channel.wait_all(sends).await;
}
