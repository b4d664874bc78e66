//! Collective operations built of point-to-point messages, as Open MPI 4.1.4 and MPICH 4.0.2 build them.
//!
//! Each operation is a file with its algorithms; an algorithm sends the messages of the real one, to the same peers, of
//! the same sizes, in the same order, blocking where the real one blocks. [`Selection`] decides which algorithm a
//! call uses. The functions here are the calls: they do what `MPI_Allreduce` and the others do, without the data.
//!
//! An algorithm runs in a box of just the size it needs, so that a rank's own future stays small: one allocation for
//! each call.
//! MPI_IN_PLACE and the forms that know about nodes (MPICH's SMP collectives, Open MPI's `han`) are not modelled;
//! inter-communicators are the caller's business ([`crate::Collective::Stages`]).

mod algorithm;
mod allgather;
mod allgatherv;
mod allreduce;
mod alltoall;
mod alltoallv;
mod barrier;
mod bcast;
mod buffer;
mod channel;
mod exscan;
mod gather;
mod gatherv;
mod halving;
mod libnbc;
mod order;
mod reduce;
mod reduce_scatter;
mod reduce_scatter_block;
pub mod rules;
mod scan;
mod scatter;
mod scatterv;
mod split;
mod trees;

#[cfg(test)]
mod recorder;
#[cfg(test)]
mod tests;

pub use algorithm::{Algorithm, ChoiceError, Running};
pub use allgather::Allgather;
pub use allgatherv::Allgatherv;
pub use allreduce::Allreduce;
pub use alltoall::Alltoall;
pub use alltoallv::{Alltoallv, Sizes};
pub use barrier::Barrier;
pub use bcast::Bcast;
pub use buffer::{Blocks, Buffer, Counts, Operator};
pub use channel::Channel;
pub use exscan::Exscan;
pub use gather::Gather;
pub use gatherv::Gatherv;
pub use order::{Order, Part};
pub use reduce::Reduce;
pub use reduce_scatter::ReduceScatter;
pub use reduce_scatter_block::ReduceScatterBlock;
pub use rules::{Library, Selection};
pub use scan::Scan;
pub use scatter::Scatter;
pub use scatterv::Scatterv;

/// Whether a call has nothing to send: no data, or nobody to send it to. Both libraries return at once.
fn trivial<C: Channel>(channel: &C, buffer: Buffer) -> bool {
    if channel.count() == 1 {
        channel.copy(buffer.total());
    }
    channel.count() == 1 || buffer.total() == 0
}

/// MPI_Barrier.
pub async fn barrier<C: Channel>(channel: &C, selection: &Selection) {
    if channel.count() > 1 {
        selection.barrier(channel.count()).run(channel).await;
    }
}

/// MPI_Bcast.
pub async fn bcast<C: Channel>(channel: &C, selection: &Selection, buffer: Buffer, root: u32) {
    if !trivial(channel, buffer) {
        selection.bcast(channel.count(), buffer).run(channel, buffer, root).await;
    }
}

/// MPI_Reduce.
pub async fn reduce<C: Channel>(channel: &C, selection: &Selection, buffer: Buffer, operator: Operator, root: u32) {
    if !trivial(channel, buffer) {
        selection.reduce(channel.count(), buffer, operator).run(channel, buffer, operator, root).await;
    }
}

/// MPI_Allreduce.
pub async fn allreduce<C: Channel>(channel: &C, selection: &Selection, buffer: Buffer, operator: Operator) {
    if !trivial(channel, buffer) {
        let algorithm = selection.allreduce(channel.count(), buffer, operator);
        algorithm.run(channel, selection, buffer, operator).await;
    }
}

/// MPI_Gather; `block` is what each rank contributes.
pub async fn gather<C: Channel>(channel: &C, selection: &Selection, block: Buffer, root: u32) {
    if !trivial(channel, block) {
        selection.gather(channel.count(), block).run(channel, block, root).await;
    }
}

/// MPI_Gatherv; `bytes(rank)` is what each rank contributes. Only the root asks for others' than its own.
pub async fn gatherv<C: Channel>(channel: &C, selection: &Selection, bytes: &dyn Fn(u32) -> u64, root: u32) {
    selection.gatherv(channel.count()).run(channel, bytes, root).await;
}

/// MPI_Scatter; `block` is what each rank gets.
pub async fn scatter<C: Channel>(channel: &C, selection: &Selection, block: Buffer, root: u32) {
    if !trivial(channel, block) {
        selection.scatter(channel.count(), block).run(channel, block, root).await;
    }
}

/// MPI_Scatterv; `bytes(rank)` is what each rank gets. Only the root asks for others' than its own.
pub async fn scatterv<C: Channel>(channel: &C, selection: &Selection, bytes: &dyn Fn(u32) -> u64, root: u32) {
    selection.scatterv(channel.count()).run(channel, bytes, root).await;
}

/// MPI_Allgather; `block` is what each rank contributes.
pub async fn allgather<C: Channel>(channel: &C, selection: &Selection, block: Buffer) {
    if !trivial(channel, block) {
        selection.allgather(channel.count(), block).run(channel, selection, block).await;
    }
}

/// MPI_Allgatherv; `blocks` is what each rank contributes, and the same at all ranks.
pub async fn allgatherv<C: Channel>(channel: &C, selection: &Selection, blocks: &Blocks<'_>) {
    if !trivial(channel, blocks.together(channel.count())) {
        selection.allgatherv(channel.count(), blocks).run(channel, selection, *blocks).await;
    }
}

/// MPI_Alltoall; `block` is what each rank sends to each other.
pub async fn alltoall<C: Channel>(channel: &C, selection: &Selection, block: Buffer) {
    if !trivial(channel, block) {
        selection.alltoall(channel.count(), block).run(channel, block).await;
    }
}

/// MPI_Alltoallv.
pub async fn alltoallv<C: Channel>(channel: &C, selection: &Selection, sizes: &Sizes<'_>) {
    selection.alltoallv(channel.count()).run(channel, *sizes).await;
}

/// MPI_Reduce_scatter; `blocks` is the part of the result that each rank gets, and the same at all ranks.
pub async fn reduce_scatter<C: Channel>(channel: &C, selection: &Selection, blocks: &Blocks<'_>, operator: Operator) {
    if !trivial(channel, blocks.together(channel.count())) {
        let algorithm = selection.reduce_scatter(channel.count(), blocks, operator);
        algorithm.run(channel, selection, *blocks, operator).await;
    }
}

/// MPI_Reduce_scatter_block; `block` is the part of the result that each rank gets.
pub async fn reduce_scatter_block<C: Channel>(channel: &C, selection: &Selection, block: Buffer, operator: Operator) {
    if !trivial(channel, block) {
        let algorithm = selection.reduce_scatter_block(channel.count(), block, operator);
        algorithm.run(channel, selection, block, operator).await;
    }
}

/// MPI_Scan.
pub async fn scan<C: Channel>(channel: &C, selection: &Selection, buffer: Buffer) {
    if !trivial(channel, buffer) {
        selection.scan(channel.count()).run(channel, buffer).await;
    }
}

/// MPI_Exscan.
pub async fn exscan<C: Channel>(channel: &C, selection: &Selection, buffer: Buffer) {
    if !trivial(channel, buffer) {
        selection.exscan(channel.count()).run(channel, buffer).await;
    }
}
