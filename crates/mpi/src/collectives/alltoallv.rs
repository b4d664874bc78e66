//! MPI_Alltoallv: from everybody a block to everybody, blocks of any size.

use super::algorithm::{Running, algorithms};
use super::channel::Channel;
use super::libnbc;
use super::split::narrow;

algorithms! {
    /// How an all-to-all of differing blocks works.
    Alltoallv for "alltoallv" {
        /// All messages started at once, empty ones too (Open MPI 1, `basic_linear`).
        Linear => "linear",
        /// In each step to the rank a step ahead and from the rank a step behind (Open MPI 2, `pairwise`).
        Pairwise => "pairwise",
        /// Messages started in batches, empty ones left out (MPICH `scattered`).
        Scattered {
            /// How many sends and how many receives make a batch.
            batch = 32
        } => "scattered",
        /// All messages started at once, empty ones left out (Open MPI's libnbc, `linear`).
        NbcLinear => "nbc-linear",
    }
}

/// What a rank sends to and receives from each other, in bytes.
#[derive(Clone, Copy)]
pub struct Sizes<'a> {
    /// Bytes to each rank.
    pub sent: &'a dyn Fn(u32) -> u64,
    /// Bytes from each rank.
    pub received: &'a dyn Fn(u32) -> u64,
}

impl Alltoallv {
    /// Runs it.
    pub fn run<'a, C: Channel>(self, channel: &'a C, sizes: Sizes<'a>) -> Running<'a> {
        match self {
            Alltoallv::Linear => Box::pin(linear(channel, sizes)),
            Alltoallv::Pairwise => Box::pin(pairwise(channel, sizes)),
            Alltoallv::Scattered { batch } => Box::pin(scattered(channel, sizes, batch)),
            Alltoallv::NbcLinear => Box::pin(libnbc::alltoall(channel, sizes)),
        }
    }
}

/// `ompi_coll_base_alltoallv_intra_basic_linear`: p - 1 messages of each rank, in rank order.
async fn linear<C: Channel>(channel: &C, sizes: Sizes<'_>) {
    let (me, ranks) = (channel.me(), channel.count());
    channel.copy((sizes.sent)(me));
    let mut under_way = Vec::with_capacity(2 * ranks as usize);
    for rank in (0..ranks).filter(|&rank| rank != me) {
        under_way.push(channel.irecv(rank).await);
    }
    for rank in (0..ranks).filter(|&rank| rank != me) {
        under_way.push(channel.isend(rank, (sizes.sent)(rank)).await);
    }
    channel.wait_all(under_way).await;
}

/// `ompi_coll_base_alltoall(v)_intra_pairwise`: p - 1 exchanges.
pub(super) async fn pairwise<C: Channel>(channel: &C, sizes: Sizes<'_>) {
    channel.copy((sizes.sent)(channel.me()));
    for step in 1..channel.count() {
        let to = channel.after(step);
        channel.exchange(to, (sizes.sent)(to), channel.before(step)).await;
    }
}

/// `MPIR_Alltoall(v)_intra_scattered`: p - 1 messages of each rank, receives upwards and sends downwards from itself,
/// a batch at a time.
pub(super) async fn scattered<C: Channel>(channel: &C, sizes: Sizes<'_>, batch: u64) {
    let (me, ranks) = (channel.me(), channel.count());
    let batch = narrow(batch).clamp(1, ranks);
    let mut start = 0;
    while start < ranks {
        let end = ranks.min(start.saturating_add(batch));
        let mut under_way = Vec::with_capacity(2 * (end - start) as usize);
        for distance in start..end {
            let from = channel.after(distance);
            if from == me {
                channel.copy((sizes.received)(me));
            } else if (sizes.received)(from) > 0 {
                under_way.push(channel.irecv(from).await);
            }
        }
        for distance in start..end {
            let to = channel.before(distance);
            if to != me && (sizes.sent)(to) > 0 {
                under_way.push(channel.isend(to, (sizes.sent)(to)).await);
            }
        }
        channel.wait_all(under_way).await;
        start = end;
    }
}
