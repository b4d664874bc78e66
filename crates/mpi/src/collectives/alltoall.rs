//! MPI_Alltoall: from everybody a block to everybody.

use super::algorithm::{Running, algorithms};
use super::alltoallv::{self, Sizes};
use super::buffer::Buffer;
use super::channel::Channel;
use super::libnbc;
use super::split::narrow;

algorithms! {
    /// How an all-to-all works.
    Alltoall for "alltoall" {
        /// All messages started at once (Open MPI 1, `linear`).
        Linear => "linear",
        /// In each step to the rank a step ahead and from the rank a step behind (Open MPI 2, `pairwise`).
        Pairwise => "pairwise",
        /// Half of the blocks at doubling distance, forwarded (Open MPI 3, `modified_bruck`; MPICH `brucks`).
        Bruck => "bruck",
        /// As `linear` with a limit on messages under way (Open MPI 4, `linear_sync`).
        LinearSync {
            /// How many sends and how many receives may be under way; 0 is no limit.
            requests = 0
        } => "linear-sync",
        /// The two ranks exchange (Open MPI 5, `two_proc`).
        TwoProcesses => "two-processes",
        /// Messages started in batches (MPICH `scattered`).
        Scattered {
            /// How many sends and how many receives make a batch.
            batch = 32
        } => "scattered",
        /// As `pairwise`, with partner `rank xor step` where the number of ranks is a power of two (MPICH `pairwise`).
        MpichPairwise => "mpich-pairwise",
        /// All messages started at once, in rank order (Open MPI's libnbc, `linear`).
        NbcLinear => "nbc-linear",
    }
    fn supports(self, ranks: u32) -> bool {
        self != Alltoall::TwoProcesses || ranks == 2
    }
}

impl Alltoall {
    /// Runs it; `block` is what each rank sends to each other.
    pub fn run<'a, C: Channel>(self, channel: &'a C, block: Buffer) -> Running<'a> {
        let bytes = block.total();
        match self {
            Alltoall::Linear => Box::pin(linear_sync(channel, bytes, 0)),
            Alltoall::Pairwise => Box::pin(async move { alltoallv::pairwise(channel, equal(&|_| bytes)).await }),
            Alltoall::Bruck => Box::pin(bruck(channel, bytes)),
            Alltoall::LinearSync { requests } => Box::pin(linear_sync(channel, bytes, requests)),
            Alltoall::TwoProcesses => Box::pin(two_processes(channel, bytes)),
            Alltoall::Scattered { batch } => {
                Box::pin(async move { alltoallv::scattered(channel, equal(&|_| bytes), batch).await })
            }
            Alltoall::MpichPairwise => Box::pin(mpich_pairwise(channel, bytes)),
            Alltoall::NbcLinear => Box::pin(async move { libnbc::alltoall(channel, equal(&|_| bytes)).await }),
        }
    }
}

/// The same to and from each.
fn equal(bytes: &dyn Fn(u32) -> u64) -> Sizes<'_> {
    Sizes { sent: bytes, received: bytes }
}

/// `ompi_coll_base_alltoall_intra_two_procs`: one exchange.
async fn two_processes<C: Channel>(channel: &C, bytes: u64) {
    channel.swap(channel.me() ^ 1, bytes).await;
    channel.copy(bytes);
}

/// `ompi_coll_base_alltoall_intra_basic_linear` and `ompi_coll_base_alltoall_intra_linear_sync`: p - 1 messages of each
/// rank; receives from the next rank on upwards, sends from the previous rank on downwards.
///
/// Open MPI replaces whichever message completes first; here the oldest of each direction is waited for in turn.
async fn linear_sync<C: Channel>(channel: &C, bytes: u64, requests: u64) {
    channel.copy(bytes);
    let others = channel.count() - 1;
    let limit = if requests == 0 { others } else { others.min(narrow(requests)) };
    if limit == others {
        let mut under_way = Vec::with_capacity(2 * others as usize);
        for distance in 1..=others {
            under_way.push(channel.irecv(channel.after(distance)).await);
        }
        for distance in 1..=others {
            under_way.push(channel.isend(channel.before(distance), bytes).await);
        }
        return channel.wait_all(under_way).await;
    }
    let mut receives = std::collections::VecDeque::with_capacity(limit as usize);
    let mut sends = std::collections::VecDeque::with_capacity(limit as usize);
    for distance in 1..=limit {
        receives.push_back(channel.irecv(channel.after(distance)).await);
    }
    for distance in 1..=limit {
        sends.push_back(channel.isend(channel.before(distance), bytes).await);
    }
    for distance in limit + 1..=others {
        if let Some(oldest) = receives.pop_front() {
            channel.wait(oldest).await;
            receives.push_back(channel.irecv(channel.after(distance)).await);
        }
        if let Some(oldest) = sends.pop_front() {
            channel.wait(oldest).await;
            sends.push_back(channel.isend(channel.before(distance), bytes).await);
        }
    }
    channel.wait_all(receives.into_iter().chain(sends).collect()).await;
}

/// `ompi_coll_base_alltoall_intra_bruck`, `MPIR_Alltoall_intra_brucks`: ceil(log2 p) exchanges of about half of all
/// blocks, after and before a rotation in local memory.
async fn bruck<C: Channel>(channel: &C, bytes: u64) {
    let ranks = channel.count();
    channel.copy(bytes * u64::from(ranks));
    let mut distance = 1;
    while distance < ranks {
        let moved = bytes * u64::from(numbers_with_bit(distance, ranks));
        channel.exchange(channel.after(distance), moved, channel.before(distance)).await;
        channel.copy(moved);
        distance *= 2;
    }
    channel.copy(bytes * u64::from(ranks));
}

/// How many of the numbers `0..below` have the bit `bit` set.
fn numbers_with_bit(bit: u32, below: u32) -> u32 {
    let rounds = below / (2 * bit);
    rounds * bit + (below - rounds * 2 * bit).saturating_sub(bit)
}

/// `MPIR_Alltoall_intra_pairwise`: p - 1 exchanges of one block.
async fn mpich_pairwise<C: Channel>(channel: &C, bytes: u64) {
    channel.copy(bytes);
    let power_of_two = channel.count().is_power_of_two();
    for step in 1..channel.count() {
        if power_of_two {
            channel.swap(channel.me() ^ step, bytes).await;
        } else {
            channel.exchange(channel.after(step), bytes, channel.before(step)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted() {
        for below in 1..100 {
            for bit in [1, 2, 4, 8, 16, 32, 64] {
                let counted = (0..below).filter(|number| number & bit != 0).count();
                assert_eq!(numbers_with_bit(bit, below) as usize, counted, "bit {bit} below {below}");
            }
        }
    }
}
