//! MPI_Reduce_scatter_block: everybody's data combined, an equal block of the result to each.

use super::algorithm::{Running, algorithms};
use super::buffer::{Blocks, Buffer, Operator};
use super::channel::Channel;
use super::libnbc;
use super::reduce_scatter as steps;
use super::rules::Selection;

algorithms! {
    /// How a reduce-scatter of equal blocks works.
    ReduceScatterBlock for "reduce-scatter-block" {
        /// Reduce to rank 0, then scatter, each by its own rule (Open MPI 1, `basic_linear`).
        Linear => "linear",
        /// Everything but the own group's blocks exchanged at doubling distance (Open MPI 2, MPICH
        /// `recursive_doubling`).
        RecursiveDoubling => "recursive-doubling",
        /// Halves exchanged and combined at halving distance (Open MPI 3, MPICH `recursive_halving`).
        RecursiveHalving => "recursive-halving",
        /// Halves exchanged at doubling distance (Open MPI 4, `butterfly`; MPICH `noncommutative` where the number of
        /// ranks is a power of two).
        Butterfly => "butterfly",
        /// In each step the block of the rank a step ahead is sent to it (MPICH `pairwise`).
        Pairwise => "pairwise",
        /// Binomial reduction to rank 0, which sends the blocks (Open MPI's libnbc, `binomial`).
        NbcBinomial => "nbc-binomial",
    }
}

impl ReduceScatterBlock {
    /// Runs it; `block` is the part of the result that each rank gets.
    pub fn run<'a, C: Channel>(
        self,
        channel: &'a C,
        selection: &'a Selection,
        block: Buffer,
        operator: Operator,
    ) -> Running<'a> {
        let blocks = Blocks::equal(block);
        match self {
            ReduceScatterBlock::RecursiveHalving if !operator.commutes() => {
                Box::pin(linear(channel, selection, block, operator))
            }
            ReduceScatterBlock::Linear => Box::pin(linear(channel, selection, block, operator)),
            ReduceScatterBlock::RecursiveDoubling => Box::pin(steps::recursive_doubling(channel, blocks)),
            ReduceScatterBlock::RecursiveHalving => Box::pin(steps::recursive_halving(channel, blocks)),
            ReduceScatterBlock::Butterfly if channel.count().is_power_of_two() => {
                Box::pin(steps::permuted_butterfly(channel, blocks))
            }
            ReduceScatterBlock::Butterfly => Box::pin(steps::butterfly(channel, blocks)),
            ReduceScatterBlock::Pairwise => Box::pin(steps::pairwise(channel, blocks)),
            ReduceScatterBlock::NbcBinomial => Box::pin(libnbc::reduce_scatter(channel, blocks)),
        }
    }
}

/// `ompi_coll_base_reduce_scatter_block_basic_linear`.
async fn linear<C: Channel>(channel: &C, selection: &Selection, block: Buffer, operator: Operator) {
    let ranks = channel.count();
    let all = block.with_count(block.count * u64::from(ranks));
    selection.reduce(ranks, all, operator).run(channel, all, operator, 0).await;
    selection.scatter(ranks, block).run(channel, block, 0).await;
}
