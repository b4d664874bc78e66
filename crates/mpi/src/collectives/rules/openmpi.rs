//! The rules of Open MPI 4.1.4 for blocking collectives: `ompi_coll_tuned_*_intra_dec_fixed` in
//! `ompi/mca/coll/tuned/coll_tuned_decision_fixed.c`.
//!
//! These functions pass no segment size and no fan-out, so that nothing is cut into pieces and a chain is one chain.
//! Gatherv, scatterv, scan and exscan are not tuned: they come from `coll/basic`. The tables hold its switch points:
//! `(4, &[(8, Ring), (REST, Linear)])` means that on fewer than 4 ranks fewer than 8 bytes go by the ring.

use super::table::{MORE, REST, Table, look_up};
use crate::collectives::{
    Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Exscan, Gather, Gatherv, Operator, Reduce,
    ReduceScatter, ReduceScatterBlock, Scan, Scatter, Scatterv,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// MPI_Barrier.
pub fn barrier(ranks: u32) -> Barrier {
    use Barrier::{Bruck, Linear, RecursiveDoubling, Tree};
    #[rustfmt::skip]
    const TABLE: Table<Barrier> = &[
        (4, &[(REST, RecursiveDoubling)]),
        (8, &[(REST, Linear)]),
        (64, &[(REST, RecursiveDoubling)]),
        (256, &[(REST, Bruck)]),
        (512, &[(REST, Tree)]),
        (1024, &[(REST, Bruck)]),
        (4096, &[(REST, Tree)]),
        (MORE, &[(REST, Bruck)]),
    ];
    look_up(TABLE, ranks, 0)
}

/// MPI_Bcast of so many bytes.
pub fn bcast(ranks: u32, bytes: u64) -> Bcast {
    use Bcast::{Linear, ScatterAllgather};
    const CHAIN: Bcast = Bcast::Chain { segment: 0, chains: 1 };
    const PIPELINE: Bcast = Bcast::Pipeline { segment: 0 };
    const SPLIT_BINARY: Bcast = Bcast::SplitBinary { segment: 0 };
    const BINARY: Bcast = Bcast::Binary { segment: 0 };
    const BINOMIAL: Bcast = Bcast::Binomial { segment: 0 };
    const KNOMIAL: Bcast = Bcast::Knomial { segment: 0, radix: 4 };
    #[rustfmt::skip]
    const TABLE: Table<Bcast> = &[
        (4, &[(32, PIPELINE), (256, BINARY), (512, PIPELINE), (KIB, KNOMIAL), (32 * KIB, Linear),
            (128 * KIB, BINARY), (256 * KIB, CHAIN), (512 * KIB, Linear), (MIB, BINOMIAL), (REST, BINARY)]),
        (8, &[(64, BINARY), (128, BINOMIAL), (2 * KIB, BINARY), (8 * KIB, BINOMIAL), (MIB, Linear), (REST, CHAIN)]),
        (16, &[(8, KNOMIAL), (64, BINARY), (4 * KIB, KNOMIAL), (16 * KIB, BINARY), (32 * KIB, BINOMIAL),
            (REST, Linear)]),
        (32, &[(4 * KIB, KNOMIAL), (MIB, BINOMIAL), (REST, ScatterAllgather)]),
        (64, &[(2 * KIB, BINOMIAL), (REST, KNOMIAL)]),
        (128, &[(REST, KNOMIAL)]),
        (256, &[(2, BINOMIAL), (16 * KIB, BINARY), (32 * KIB, Linear), (64 * KIB, BINARY), (REST, KNOMIAL)]),
        (1024, &[(16 * KIB, KNOMIAL), (32 * KIB, SPLIT_BINARY), (REST, KNOMIAL)]),
        (2048, &[(512 * KIB, KNOMIAL), (REST, ScatterAllgather)]),
        (4096, &[(256 * KIB, KNOMIAL), (REST, ScatterAllgather)]),
        (MORE, &[(8 * KIB, KNOMIAL), (16 * KIB, BINARY), (256 * KIB, KNOMIAL), (REST, ScatterAllgather)]),
    ];
    look_up(TABLE, ranks, bytes)
}

/// MPI_Reduce of so many bytes.
pub fn reduce(ranks: u32, bytes: u64, operator: Operator) -> Reduce {
    use Reduce::{Linear, Rabenseifner};
    const CHAIN: Reduce = Reduce::Chain { segment: 0, chains: 1 };
    const PIPELINE: Reduce = Reduce::Pipeline { segment: 0 };
    const BINARY: Reduce = Reduce::Binary { segment: 0 };
    const BINOMIAL: Reduce = Reduce::Binomial { segment: 0 };
    const IN_ORDER_BINARY: Reduce = Reduce::InOrderBinary { segment: 0 };
    #[rustfmt::skip]
    const ORDERED: Table<Reduce> = &[
        (4, &[(8, IN_ORDER_BINARY), (REST, Linear)]),
        (8, &[(REST, Linear)]),
        (16, &[(KIB, IN_ORDER_BINARY), (8 * KIB, Linear), (16 * KIB, IN_ORDER_BINARY), (256 * KIB, Linear),
            (REST, IN_ORDER_BINARY)]),
        (128, &[(REST, IN_ORDER_BINARY)]),
        (256, &[(512, IN_ORDER_BINARY), (KIB, Linear), (REST, IN_ORDER_BINARY)]),
        (MORE, &[(REST, IN_ORDER_BINARY)]),
    ];
    #[rustfmt::skip]
    const TABLE: Table<Reduce> = &[
        (4, &[(8, Rabenseifner), (16, BINARY), (32, PIPELINE), (256 * KIB, Linear), (512 * KIB, PIPELINE),
            (MIB, CHAIN), (REST, PIPELINE)]),
        (8, &[(4 * KIB, BINARY), (64 * KIB, CHAIN), (256 * KIB, BINOMIAL), (512 * KIB, Linear), (MIB, BINOMIAL),
            (REST, Linear)]),
        (16, &[(8 * KIB, BINARY), (REST, BINOMIAL)]),
        (32, &[(4 * KIB, BINARY), (REST, BINOMIAL)]),
        (256, &[(REST, BINOMIAL)]),
        (512, &[(8 * KIB, BINOMIAL), (16 * KIB, IN_ORDER_BINARY), (REST, BINOMIAL)]),
        (2048, &[(REST, BINOMIAL)]),
        (4096, &[(512, BINOMIAL), (KIB, IN_ORDER_BINARY), (8 * KIB, BINOMIAL), (16 * KIB, IN_ORDER_BINARY),
            (REST, BINOMIAL)]),
        (MORE, &[(16, BINOMIAL), (32, IN_ORDER_BINARY), (KIB, BINOMIAL), (2 * KIB, IN_ORDER_BINARY),
            (8 * KIB, BINOMIAL), (16 * KIB, IN_ORDER_BINARY), (REST, BINOMIAL)]),
    ];
    look_up(if operator.commutes() { TABLE } else { ORDERED }, ranks, bytes)
}

/// MPI_Allreduce of so many bytes.
pub fn allreduce(ranks: u32, bytes: u64, operator: Operator) -> Allreduce {
    use Allreduce::{Linear, Nonoverlapping, Rabenseifner, RecursiveDoubling, Ring};
    const SEGMENTED_RING: Allreduce = Allreduce::SegmentedRing { segment: 0 };
    #[rustfmt::skip]
    const ORDERED: Table<Allreduce> = &[
        (4, &[(128 * KIB, RecursiveDoubling), (REST, Linear)]),
        (8, &[(REST, RecursiveDoubling)]),
        (16, &[(MIB, RecursiveDoubling), (REST, Nonoverlapping)]),
        (128, &[(REST, RecursiveDoubling)]),
        (256, &[(128 * KIB, Nonoverlapping), (512 * KIB, RecursiveDoubling), (REST, Nonoverlapping)]),
        (512, &[(4 * KIB, Nonoverlapping), (512 * KIB, RecursiveDoubling), (REST, Nonoverlapping)]),
        (MORE, &[(2 * KIB, Nonoverlapping), (REST, RecursiveDoubling)]),
    ];
    #[rustfmt::skip]
    const TABLE: Table<Allreduce> = &[
        (4, &[(8, Ring), (4 * KIB, RecursiveDoubling), (8 * KIB, Ring), (16 * KIB, RecursiveDoubling),
            (64 * KIB, Ring), (256 * KIB, SEGMENTED_RING), (REST, Rabenseifner)]),
        (8, &[(16, Ring), (8 * KIB, RecursiveDoubling), (REST, Rabenseifner)]),
        (16, &[(8 * KIB, RecursiveDoubling), (REST, Rabenseifner)]),
        (32, &[(64, SEGMENTED_RING), (4 * KIB, RecursiveDoubling), (REST, Rabenseifner)]),
        (64, &[(128, SEGMENTED_RING), (REST, Rabenseifner)]),
        (128, &[(256 * KIB, RecursiveDoubling), (REST, Rabenseifner)]),
        (256, &[(128 * KIB, Nonoverlapping), (256 * KIB, RecursiveDoubling), (REST, Rabenseifner)]),
        (512, &[(4 * KIB, Nonoverlapping), (REST, Rabenseifner)]),
        (2048, &[(2 * KIB, Nonoverlapping), (16 * KIB, RecursiveDoubling), (REST, Rabenseifner)]),
        (4096, &[(2 * KIB, Nonoverlapping), (4 * KIB, SEGMENTED_RING), (16 * KIB, RecursiveDoubling),
            (REST, Rabenseifner)]),
        (MORE, &[(2 * KIB, Nonoverlapping), (16 * KIB, SEGMENTED_RING), (32 * KIB, RecursiveDoubling),
            (REST, Rabenseifner)]),
    ];
    look_up(if operator.commutes() { TABLE } else { ORDERED }, ranks, bytes)
}

/// MPI_Gather of so many bytes from each.
pub fn gather(ranks: u32, bytes: u64) -> Gather {
    use Gather::{Binomial, Linear};
    const LINEAR_SYNC: Gather = Gather::LinearSync { segment: 0 };
    #[rustfmt::skip]
    const TABLE: Table<Gather> = &[
        (4, &[(2, LINEAR_SYNC), (4, Linear), (32 * KIB, Binomial), (64 * KIB, Linear), (128 * KIB, Binomial),
            (REST, LINEAR_SYNC)]),
        (8, &[(KIB, Binomial), (8 * KIB, Linear), (32 * KIB, Binomial), (256 * KIB, Linear), (REST, LINEAR_SYNC)]),
        (256, &[(REST, Binomial)]),
        (512, &[(2 * KIB, Binomial), (8 * KIB, Linear), (REST, Binomial)]),
        (MORE, &[(REST, Binomial)]),
    ];
    look_up(TABLE, ranks, bytes)
}

/// MPI_Scatter of so many bytes to each.
pub fn scatter(ranks: u32, bytes: u64) -> Scatter {
    use Scatter::{Binomial, Linear, LinearNonblocking};
    #[rustfmt::skip]
    const TABLE: Table<Scatter> = &[
        (4, &[(2, LinearNonblocking), (128 * KIB, Linear), (256 * KIB, LinearNonblocking), (REST, Linear)]),
        (8, &[(2 * KIB, Binomial), (4 * KIB, Linear), (8 * KIB, Binomial), (32 * KIB, Linear),
            (MIB, LinearNonblocking), (REST, Linear)]),
        (16, &[(16 * KIB, Binomial), (MIB, LinearNonblocking), (REST, Linear)]),
        (32, &[(16 * KIB, Binomial), (32 * KIB, Linear), (REST, LinearNonblocking)]),
        (64, &[(512, Binomial), (8 * KIB, LinearNonblocking), (16 * KIB, Binomial), (REST, LinearNonblocking)]),
        (MORE, &[(512, Binomial), (REST, LinearNonblocking)]),
    ];
    look_up(TABLE, ranks, bytes)
}

/// MPI_Allgather of so many bytes from each.
pub fn allgather(ranks: u32, bytes: u64) -> Allgather {
    use Allgather::{Bruck, NeighborExchange, RecursiveDoubling, Ring, TwoProcesses};
    #[rustfmt::skip]
    const TABLE: Table<Allgather> = &[
        (3, &[(REST, TwoProcesses)]),
        (32, &[(REST, RecursiveDoubling)]),
        (64, &[(KIB, RecursiveDoubling), (64 * KIB, NeighborExchange), (REST, Ring)]),
        (128, &[(512, RecursiveDoubling), (64 * KIB, NeighborExchange), (REST, Ring)]),
        (256, &[(512, RecursiveDoubling), (128 * KIB, NeighborExchange), (512 * KIB, Ring),
            (MIB, NeighborExchange), (REST, Ring)]),
        (512, &[(32, RecursiveDoubling), (128, Bruck), (KIB, RecursiveDoubling), (128 * KIB, NeighborExchange),
            (512 * KIB, Ring), (MIB, NeighborExchange), (REST, Ring)]),
        (1024, &[(64, RecursiveDoubling), (256, Bruck), (2 * KIB, RecursiveDoubling), (REST, NeighborExchange)]),
        (2048, &[(4, RecursiveDoubling), (8, Bruck), (16, RecursiveDoubling), (32, Bruck),
            (256, RecursiveDoubling), (512, Bruck), (4 * KIB, RecursiveDoubling), (REST, NeighborExchange)]),
        (4096, &[(32, Bruck), (128, RecursiveDoubling), (512, Bruck), (4 * KIB, RecursiveDoubling),
            (REST, NeighborExchange)]),
        (MORE, &[(2, RecursiveDoubling), (8, Bruck), (16, RecursiveDoubling), (512, Bruck),
            (4 * KIB, RecursiveDoubling), (REST, NeighborExchange)]),
    ];
    look_up(TABLE, ranks, bytes)
}

/// MPI_Allgatherv of so many bytes from each on average.
pub fn allgatherv(ranks: u32, bytes: u64) -> Allgatherv {
    use Allgatherv::{Bruck, Default, NeighborExchange, Ring, TwoProcesses};
    #[rustfmt::skip]
    const TABLE: Table<Allgatherv> = &[
        (3, &[(2 * KIB, Ring), (4 * KIB, TwoProcesses), (8 * KIB, Ring), (REST, TwoProcesses)]),
        (8, &[(256, Default), (4 * KIB, NeighborExchange), (8 * KIB, Ring), (16 * KIB, NeighborExchange),
            (256 * KIB, Bruck), (REST, NeighborExchange)]),
        (16, &[(KIB, Default), (REST, Bruck)]),
        (32, &[(128, Default), (256 * KIB, Bruck), (REST, Ring)]),
        (64, &[(256, Default), (8 * KIB, Bruck), (REST, Ring)]),
        (128, &[(256, Default), (4 * KIB, Bruck), (REST, Ring)]),
        (256, &[(KIB, Bruck), (64 * KIB, NeighborExchange), (REST, Ring)]),
        (512, &[(KIB, Bruck), (REST, Ring)]),
        (1024, &[(512, Bruck), (KIB, Default), (4 * KIB, Bruck), (MIB, NeighborExchange), (REST, Ring)]),
        (MORE, &[(4 * KIB, Bruck), (REST, NeighborExchange)]),
    ];
    look_up(TABLE, ranks, bytes)
}

/// MPI_Alltoall of so many bytes from each to each.
pub fn alltoall(ranks: u32, bytes: u64) -> Alltoall {
    use Alltoall::{Bruck, Linear, Pairwise, TwoProcesses};
    const LINEAR_SYNC: Alltoall = Alltoall::LinearSync { requests: 0 };
    #[rustfmt::skip]
    const TABLE: Table<Alltoall> = &[
        (3, &[(2, Pairwise), (4, TwoProcesses), (16, Pairwise), (64, TwoProcesses), (256, Pairwise),
            (4 * KIB, TwoProcesses), (32 * KIB, Pairwise), (256 * KIB, LINEAR_SYNC), (MIB, TwoProcesses),
            (REST, Pairwise)]),
        (8, &[(8 * KIB, LINEAR_SYNC), (16 * KIB, Linear), (64 * KIB, LINEAR_SYNC), (512 * KIB, Linear),
            (MIB, Pairwise), (REST, Linear)]),
        (16, &[(256 * KIB, LINEAR_SYNC), (REST, Linear)]),
        (32, &[(4, LINEAR_SYNC), (512, Bruck), (8 * KIB, LINEAR_SYNC), (32 * KIB, Linear),
            (256 * KIB, LINEAR_SYNC), (512 * KIB, Linear), (REST, LINEAR_SYNC)]),
        (64, &[(512, Bruck), (512 * KIB, Linear), (REST, LINEAR_SYNC)]),
        (128, &[(KIB, Bruck), (2 * KIB, Linear), (4 * KIB, LINEAR_SYNC), (256 * KIB, Linear), (REST, Pairwise)]),
        (256, &[(KIB, Bruck), (2 * KIB, LINEAR_SYNC), (256 * KIB, Linear), (REST, Pairwise)]),
        (512, &[(KIB, Bruck), (8 * KIB, LINEAR_SYNC), (32 * KIB, Linear), (REST, Pairwise)]),
        (1024, &[(512, Bruck), (8 * KIB, LINEAR_SYNC), (16 * KIB, Linear), (128 * KIB, LINEAR_SYNC),
            (256 * KIB, Linear), (REST, Pairwise)]),
        (2048, &[(512, Bruck), (KIB, LINEAR_SYNC), (2 * KIB, Linear), (16 * KIB, LINEAR_SYNC),
            (256 * KIB, Linear), (REST, LINEAR_SYNC)]),
        (4096, &[(KIB, Bruck), (4 * KIB, LINEAR_SYNC), (8 * KIB, Linear), (128 * KIB, LINEAR_SYNC), (REST, Linear)]),
        (MORE, &[(2 * KIB, Bruck), (8 * KIB, LINEAR_SYNC), (16 * KIB, Linear), (32 * KIB, LINEAR_SYNC),
            (64 * KIB, Linear), (REST, LINEAR_SYNC)]),
    ];
    look_up(TABLE, ranks, bytes)
}

/// MPI_Alltoallv.
pub fn alltoallv(ranks: u32) -> Alltoallv {
    use Alltoallv::{Linear, Pairwise};
    #[rustfmt::skip]
    const TABLE: Table<Alltoallv> = &[
        (4, &[(REST, Pairwise)]),
        (64, &[(REST, Linear)]),
        (128, &[(REST, Pairwise)]),
        (256, &[(REST, Linear)]),
        (1024, &[(REST, Pairwise)]),
        (MORE, &[(REST, Linear)]),
    ];
    look_up(TABLE, ranks, 0)
}

/// MPI_Reduce_scatter of so many bytes in all.
pub fn reduce_scatter(ranks: u32, bytes: u64, operator: Operator) -> ReduceScatter {
    use ReduceScatter::{Butterfly, NonOverlapping, RecursiveHalving, Ring};
    #[rustfmt::skip]
    const TABLE: Table<ReduceScatter> = &[
        (4, &[(64 * KIB, Ring), (128 * KIB, Butterfly), (REST, Ring)]),
        (8, &[(8, NonOverlapping), (256 * KIB, RecursiveHalving), (REST, Ring)]),
        (32, &[(256 * KIB, RecursiveHalving), (REST, Ring)]),
        (64, &[(64, NonOverlapping), (2 * KIB, RecursiveHalving), (512 * KIB, Butterfly), (REST, Ring)]),
        (128, &[(256, NonOverlapping), (512, RecursiveHalving), (2 * KIB, Butterfly), (4 * KIB, RecursiveHalving),
            (REST, Butterfly)]),
        (256, &[(256, NonOverlapping), (512, RecursiveHalving), (REST, Butterfly)]),
        (512, &[(256, NonOverlapping), (KIB, RecursiveHalving), (REST, Butterfly)]),
        (1024, &[(512, NonOverlapping), (2 * KIB, RecursiveHalving), (8 * KIB, Butterfly),
            (16 * KIB, RecursiveHalving), (REST, Butterfly)]),
        (2048, &[(512, NonOverlapping), (4 * KIB, RecursiveHalving), (16 * KIB, Butterfly),
            (32 * KIB, RecursiveHalving), (REST, Butterfly)]),
        (4096, &[(512, NonOverlapping), (4 * KIB, RecursiveHalving), (REST, Butterfly)]),
        (MORE, &[(KIB, NonOverlapping), (8 * KIB, RecursiveHalving), (REST, Butterfly)]),
    ];
    if operator.commutes() { look_up(TABLE, ranks, bytes) } else { NonOverlapping }
}

/// MPI_Reduce_scatter_block of so many bytes to each.
pub fn reduce_scatter_block(ranks: u32, bytes: u64, operator: Operator) -> ReduceScatterBlock {
    use ReduceScatterBlock::{Butterfly, Linear, RecursiveDoubling, RecursiveHalving};
    #[rustfmt::skip]
    const TABLE: Table<ReduceScatterBlock> = &[
        (4, &[(4, RecursiveDoubling), (8, Butterfly), (16, RecursiveHalving), (128, Butterfly),
            (256, RecursiveHalving), (4 * KIB, Butterfly), (8 * KIB, RecursiveHalving), (128 * KIB, Butterfly),
            (REST, Linear)]),
        (8, &[(8, RecursiveHalving), (32, RecursiveDoubling), (256, Butterfly), (8 * KIB, RecursiveHalving),
            (16 * KIB, Butterfly), (MIB, RecursiveHalving), (REST, Linear)]),
        (16, &[(4, Linear), (32, RecursiveHalving), (128, Butterfly), (512 * KIB, RecursiveHalving),
            (4 * MIB, Linear), (REST, Butterfly)]),
        (32, &[(32, Linear), (512 * KIB, RecursiveHalving), (2 * MIB, Linear), (4 * MIB, RecursiveHalving),
            (REST, Butterfly)]),
        (MORE, &[(4, RecursiveHalving), (16, Linear), (64 * KIB, Butterfly), (256 * KIB, Linear), (REST, Butterfly)]),
    ];
    if operator.commutes() { look_up(TABLE, ranks, bytes) } else { Linear }
}

/// MPI_Gatherv.
pub const GATHERV: Gatherv = Gatherv::Linear;
/// MPI_Scatterv.
pub const SCATTERV: Scatterv = Scatterv::Linear;
/// MPI_Scan.
pub const SCAN: Scan = Scan::Linear;
/// MPI_Exscan.
pub const EXSCAN: Exscan = Exscan::Linear;
