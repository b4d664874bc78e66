//! The rules of MPICH 4.0.2 for blocking collectives: its default selection file
//! `maint/tuning/coll/mpir/generic.json`, as `src/mpi/coll/src/csel.c` evaluates it.
//!
//! Ranks are taken to be on nodes of their own ("flat"): MPICH's SMP forms, which treat the ranks of a node together,
//! are not modelled. For data of any size they would differ in barrier and scan only; the others take the SMP form
//! for empty messages alone.

use crate::collectives::trees::floor_power_of_two;
use crate::collectives::{
    Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Buffer, Exscan, Gather, Gatherv, Operator,
    Reduce, ReduceScatter, ReduceScatterBlock, Scan, Scatter, Scatterv,
};

const KIB: u64 = 1 << 10;

/// MPI_Barrier.
pub const BARRIER: Barrier = Barrier::Bruck;
/// MPI_Gather.
pub const GATHER: Gather = Gather::Binomial;
/// MPI_Gatherv.
pub const GATHERV: Gatherv = Gatherv::LinearNonblocking;
/// MPI_Scatter.
pub const SCATTER: Scatter = Scatter::Binomial;
/// MPI_Scatterv.
pub const SCATTERV: Scatterv = Scatterv::LinearNonblocking;
/// MPI_Alltoallv.
pub const ALLTOALLV: Alltoallv = Alltoallv::Scattered { batch: 32 };
/// MPI_Scan.
pub const SCAN: Scan = Scan::RecursiveDoubling;
/// MPI_Exscan.
pub const EXSCAN: Exscan = Exscan::RecursiveDoubling;

/// MPI_Bcast of so many bytes.
pub fn bcast(ranks: u32, bytes: u64) -> Bcast {
    if ranks < 8 || bytes <= 12 * KIB {
        Bcast::MpichBinomial
    } else if ranks.is_power_of_two() && bytes <= 512 * KIB {
        Bcast::MpichScatterAllgather
    } else {
        Bcast::MpichScatterAllgatherRing
    }
}

/// Whether a reduction of the data can be scattered: an operator of MPI's own, and an element at least for each of a
/// power of two of ranks.
pub(super) fn scatters(ranks: u32, buffer: Buffer, operator: Operator) -> bool {
    operator == Operator::BuiltIn && buffer.count >= u64::from(floor_power_of_two(ranks))
}

/// MPI_Reduce.
pub fn reduce(ranks: u32, buffer: Buffer, operator: Operator) -> Reduce {
    if buffer.total() > 2 * KIB && scatters(ranks, buffer, operator) {
        Reduce::MpichRabenseifner
    } else {
        Reduce::MpichBinomial
    }
}

/// MPI_Allreduce.
pub fn allreduce(ranks: u32, buffer: Buffer, operator: Operator) -> Allreduce {
    if buffer.total() > 8 && scatters(ranks, buffer, operator) {
        Allreduce::MpichRabenseifner
    } else {
        Allreduce::RecursiveDoubling
    }
}

/// MPI_Allgather of so many bytes in all.
pub fn allgather(ranks: u32, total: u64) -> Allgather {
    if ranks.is_power_of_two() && total < 512 * KIB {
        Allgather::RecursiveDoubling
    } else if !ranks.is_power_of_two() && total < 80 * KIB {
        Allgather::Bruck
    } else {
        Allgather::Ring
    }
}

/// MPI_Allgatherv of so many bytes in all.
pub fn allgatherv(ranks: u32, total: u64) -> Allgatherv {
    if ranks.is_power_of_two() && total < 512 * KIB {
        Allgatherv::RecursiveDoubling
    } else if !ranks.is_power_of_two() && total < 80 * KIB {
        Allgatherv::Bruck
    } else {
        Allgatherv::MpichRing { segment: 32 * KIB }
    }
}

/// MPI_Alltoall of so many bytes from each to each.
///
/// The file says `comm_size<8`, but where that is asked at the call and not before, as here, `csel.c` (line 1212) takes
/// it for `<=`.
pub fn alltoall(ranks: u32, bytes: u64) -> Alltoall {
    if ranks > 8 && bytes <= 256 {
        Alltoall::Bruck
    } else if bytes <= 32 * KIB {
        Alltoall::Scattered { batch: 32 }
    } else {
        Alltoall::MpichPairwise
    }
}

/// MPI_Reduce_scatter of so many bytes in all; `regular`: all blocks are equal.
pub fn reduce_scatter(ranks: u32, total: u64, regular: bool, operator: Operator) -> ReduceScatter {
    match (operator.commutes(), regular && ranks.is_power_of_two()) {
        (true, _) if total < 512 * KIB => ReduceScatter::RecursiveHalving,
        (true, _) => ReduceScatter::Pairwise,
        (false, true) => ReduceScatter::Noncommutative,
        (false, false) => ReduceScatter::RecursiveDoubling,
    }
}

/// MPI_Reduce_scatter_block of so many bytes in all.
pub fn reduce_scatter_block(ranks: u32, total: u64, operator: Operator) -> ReduceScatterBlock {
    match operator.commutes() {
        true if total < 512 * KIB => ReduceScatterBlock::RecursiveHalving,
        true => ReduceScatterBlock::Pairwise,
        false if ranks.is_power_of_two() => ReduceScatterBlock::Butterfly,
        false => ReduceScatterBlock::RecursiveDoubling,
    }
}
