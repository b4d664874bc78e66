//! The rules of Open MPI 4.1.4 for non-blocking collectives: the choices in `ompi/mca/coll/libnbc/nbc_i*.c`.

use crate::collectives::trees::floor_power_of_two;
use crate::collectives::{
    Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Buffer, Exscan, Gather, Gatherv, Operator,
    Reduce, ReduceScatter, ReduceScatterBlock, Scan, Scatter, Scatterv,
};

const KIB: u64 = 1 << 10;

/// MPI_Ibarrier.
pub const BARRIER: Barrier = Barrier::Bruck;
/// MPI_Igather.
pub const GATHER: Gather = Gather::LinearNonblocking;
/// MPI_Igatherv.
pub const GATHERV: Gatherv = Gatherv::NbcLinear;
/// MPI_Iscatter.
pub const SCATTER: Scatter = Scatter::LinearNonblocking;
/// MPI_Iscatterv.
pub const SCATTERV: Scatterv = Scatterv::NbcLinear;
/// MPI_Iallgather.
pub const ALLGATHER: Allgather = Allgather::NbcLinear;
/// MPI_Iallgatherv.
pub const ALLGATHERV: Allgatherv = Allgatherv::NbcLinear;
/// MPI_Ialltoall.
pub const ALLTOALL: Alltoall = Alltoall::NbcLinear;
/// MPI_Ialltoallv.
pub const ALLTOALLV: Alltoallv = Alltoallv::NbcLinear;
/// MPI_Ireduce_scatter.
pub const REDUCE_SCATTER: ReduceScatter = ReduceScatter::NbcBinomial;
/// MPI_Ireduce_scatter_block.
pub const REDUCE_SCATTER_BLOCK: ReduceScatterBlock = ReduceScatterBlock::NbcBinomial;
/// MPI_Iscan.
pub const SCAN: Scan = Scan::Linear;
/// MPI_Iexscan.
pub const EXSCAN: Exscan = Exscan::Linear;

/// MPI_Ibcast: by default (`libnbc_ibcast_skip_dt_decision`) the size is of no account.
pub fn bcast(ranks: u32) -> Bcast {
    if ranks <= 4 { Bcast::Linear } else { Bcast::NbcBinomial }
}

/// MPI_Ireduce.
pub fn reduce(ranks: u32, buffer: Buffer, operator: Operator) -> Reduce {
    if operator.commutes() && ranks > 2 && buffer.count >= u64::from(floor_power_of_two(ranks)) {
        Reduce::Rabenseifner
    } else if ranks > 4 || buffer.total() < 64 * KIB || !operator.commutes() {
        Reduce::NbcBinomial
    } else {
        Reduce::NbcChain { segment: 8 * KIB }
    }
}

/// MPI_Iallreduce.
pub fn allreduce(ranks: u32, buffer: Buffer, operator: Operator) -> Allreduce {
    if ranks < 4 || buffer.total() < 64 * KIB || !operator.commutes() {
        Allreduce::NbcBinomial
    } else if buffer.count >= u64::from(floor_power_of_two(ranks)) {
        Allreduce::Rabenseifner
    } else {
        Allreduce::NbcRing
    }
}
