//! MPI_Gatherv: everybody's block to the root, blocks of any size.

use super::algorithm::{Running, algorithms};
use super::channel::Channel;
use super::libnbc;

algorithms! {
    /// How a gatherv works. But for `nbc-linear` empty blocks are not sent.
    Gatherv for "gatherv" {
        /// The root receives in rank order (Open MPI, coll/basic).
        Linear => "linear",
        /// The root receives from all at once; from 32 ranks on the others send synchronously (MPICH `linear`).
        LinearNonblocking => "linear-nb",
        /// The root receives from all at once (Open MPI's libnbc, `linear`).
        NbcLinear => "nbc-linear",
    }
}

/// MPIR_CVAR_GATHERV_INTER_SSEND_MIN_PROCS.
const SYNCHRONOUS_FROM: u32 = 32;

impl Gatherv {
    /// Runs it; `bytes(rank)` is what each rank contributes: only the root asks for others' than its own.
    pub fn run<'a, C: Channel>(self, channel: &'a C, bytes: &'a dyn Fn(u32) -> u64, root: u32) -> Running<'a> {
        match self {
            Gatherv::NbcLinear => Box::pin(libnbc::gather(channel, bytes, root)),
            _ if channel.me() != root => Box::pin(contribute(channel, bytes(channel.me()), root, self)),
            Gatherv::Linear => Box::pin(linear_root(channel, bytes)),
            Gatherv::LinearNonblocking => Box::pin(nonblocking_root(channel, bytes)),
        }
    }
}

/// What the others do.
async fn contribute<C: Channel>(channel: &C, bytes: u64, root: u32, algorithm: Gatherv) {
    if bytes == 0 {
        return;
    }
    if algorithm == Gatherv::LinearNonblocking && channel.count() >= SYNCHRONOUS_FROM {
        channel.send_synchronous(root, bytes).await;
    } else {
        channel.send(root, bytes).await;
    }
}

/// `mca_coll_basic_gatherv_intra`: p - 1 messages, received one after the other.
async fn linear_root<C: Channel>(channel: &C, bytes: &dyn Fn(u32) -> u64) {
    for rank in 0..channel.count() {
        if rank == channel.me() {
            channel.copy(bytes(rank));
        } else if bytes(rank) > 0 {
            channel.recv(rank).await;
        }
    }
}

/// `MPIR_Gatherv_allcomm_linear`: p - 1 messages, received all at once.
async fn nonblocking_root<C: Channel>(channel: &C, bytes: &dyn Fn(u32) -> u64) {
    let mut receives = Vec::with_capacity(channel.count() as usize);
    for rank in 0..channel.count() {
        if rank == channel.me() {
            channel.copy(bytes(rank));
        } else if bytes(rank) > 0 {
            receives.push(channel.irecv(rank).await);
        }
    }
    channel.wait_all(receives).await;
}
