//! MPI_Allgather: everybody's block to everybody.

use super::algorithm::{Running, algorithms};
use super::buffer::{Blocks, Buffer};
use super::channel::Channel;
use super::rules::Selection;
use super::{allgatherv, libnbc};

algorithms! {
    /// How an allgather works.
    Allgather for "allgather" {
        /// Gather to rank 0, then broadcast, each by its own rule (Open MPI 1, `linear`).
        Linear => "linear",
        /// Blocks collected at doubling distance, then rotated in place (Open MPI 2, MPICH `bruck`).
        Bruck => "bruck",
        /// Pairs at doubling distance exchange all they have; `bruck` unless the number of ranks is a power of two
        /// (Open MPI 3, MPICH `recursive_doubling`).
        RecursiveDoubling => "recursive-doubling",
        /// Blocks go round a ring (Open MPI 4, MPICH `ring`).
        Ring => "ring",
        /// Two blocks at a time to the left and right neighbour in turn; `ring` if the number of ranks is odd (Open MPI
        /// 5, `neighbor`).
        NeighborExchange => "neighbor-exchange",
        /// The two ranks exchange (Open MPI 6, `two_proc`).
        TwoProcesses => "two-processes",
        /// Everybody sends to everybody at once (Open MPI's libnbc, `linear`).
        NbcLinear => "nbc-linear",
    }
    fn supports(self, ranks: u32) -> bool {
        self != Allgather::TwoProcesses || ranks == 2
    }
}

impl Allgather {
    /// Runs it; `block` is what each rank contributes.
    pub fn run<'a, C: Channel>(self, channel: &'a C, selection: &'a Selection, block: Buffer) -> Running<'a> {
        let ranks = channel.count();
        let blocks = Blocks::equal(block);
        match self {
            Allgather::Linear => Box::pin(linear(channel, selection, block)),
            Allgather::RecursiveDoubling if ranks.is_power_of_two() => Box::pin(allgatherv::doubling(channel, blocks)),
            Allgather::Bruck | Allgather::RecursiveDoubling => Box::pin(bruck(channel, block)),
            Allgather::Ring => Box::pin(allgatherv::ring(channel, blocks)),
            Allgather::NeighborExchange => Box::pin(allgatherv::neighbor_exchange(channel, blocks)),
            Allgather::TwoProcesses => Box::pin(allgatherv::two_processes(channel, blocks)),
            Allgather::NbcLinear => Box::pin(libnbc::allgather(channel, block.total())),
        }
    }
}

/// `ompi_coll_base_allgather_intra_basic_linear`.
async fn linear<C: Channel>(channel: &C, selection: &Selection, block: Buffer) {
    let ranks = channel.count();
    selection.gather(ranks, block).run(channel, block, 0).await;
    let all = block.with_count(block.count * u64::from(ranks));
    selection.bcast(ranks, all).run(channel, all, 0).await;
}

/// `ompi_coll_base_allgather_intra_bruck`, `MPIR_Allgather_intra_brucks`. After the steps a rank's own block lies
/// first: all ranks but 0 shift the blocks, part of them twice.
async fn bruck<C: Channel>(channel: &C, block: Buffer) {
    allgatherv::bruck(channel, Blocks::equal(block)).await;
    let (me, ranks) = (u64::from(channel.me()), u64::from(channel.count()));
    if me > 0 {
        channel.copy(block.total() * (2 * (ranks - me) + me));
    }
}
