//! Every collective as a benchmark, in the manner of the OSU micro-benchmarks: how long does one call take?

use std::fmt;
use std::str::FromStr;

use hpcast_mpi::collectives::{Blocks, Buffer, Operator, Selection};
use hpcast_mpi::{Collective, Comm, Rank};
use hpcast_units::Time;

use crate::timer::Timer;

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// MPI_Barrier.
    Barrier,
    /// MPI_Bcast.
    Bcast,
    /// MPI_Reduce.
    Reduce,
    /// MPI_Allreduce.
    Allreduce,
    /// MPI_Gather.
    Gather,
    /// MPI_Gatherv.
    Gatherv,
    /// MPI_Scatter.
    Scatter,
    /// MPI_Scatterv.
    Scatterv,
    /// MPI_Allgather.
    Allgather,
    /// MPI_Allgatherv.
    Allgatherv,
    /// MPI_Alltoall.
    Alltoall,
    /// MPI_Alltoallv.
    Alltoallv,
    /// MPI_Reduce_scatter.
    ReduceScatter,
    /// MPI_Reduce_scatter_block.
    ReduceScatterBlock,
    /// MPI_Scan.
    Scan,
    /// MPI_Exscan.
    Exscan,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 16] = [
        Operation::Barrier,
        Operation::Bcast,
        Operation::Reduce,
        Operation::Allreduce,
        Operation::Gather,
        Operation::Gatherv,
        Operation::Scatter,
        Operation::Scatterv,
        Operation::Allgather,
        Operation::Allgatherv,
        Operation::Alltoall,
        Operation::Alltoallv,
        Operation::ReduceScatter,
        Operation::ReduceScatterBlock,
        Operation::Scan,
        Operation::Exscan,
    ];

    /// The call with `bytes` of data: the whole buffer where all ranks share one, one rank's block where each has its
    /// own. The `v` operations are given equal sizes.
    pub fn call(self, bytes: u64, root: u32) -> Collective {
        let buffer = Buffer::of_bytes(bytes);
        let each = || std::rc::Rc::new(move |_| bytes);
        match self {
            Operation::Barrier => Collective::Barrier,
            Operation::Bcast => Collective::Bcast(buffer, root),
            Operation::Reduce => Collective::Reduce(buffer, Operator::BuiltIn, root),
            Operation::Allreduce => Collective::Allreduce(buffer, Operator::BuiltIn),
            Operation::Gather => Collective::Gather(buffer, root),
            Operation::Gatherv => Collective::Gatherv(each(), root),
            Operation::Scatter => Collective::Scatter(buffer, root),
            Operation::Scatterv => Collective::Scatterv(each(), root),
            Operation::Allgather => Collective::Allgather(buffer),
            Operation::Allgatherv => Collective::Allgatherv(each()),
            Operation::Alltoall => Collective::Alltoall(buffer),
            Operation::Alltoallv => Collective::Alltoallv(each(), each()),
            Operation::ReduceScatter => Collective::ReduceScatter(each(), Operator::BuiltIn),
            Operation::ReduceScatterBlock => Collective::ReduceScatterBlock(buffer, Operator::BuiltIn),
            Operation::Scan => Collective::Scan(buffer),
            Operation::Exscan => Collective::Exscan(buffer),
        }
    }

    /// The algorithm that this selection takes for such a call, by name.
    pub fn algorithm(self, selection: &Selection, ranks: u32, bytes: u64) -> String {
        let buffer = Buffer::of_bytes(bytes);
        let each = |_| bytes;
        let blocks = Blocks::each(&each, 1);
        match self {
            Operation::Barrier => selection.barrier(ranks).to_string(),
            Operation::Bcast => selection.bcast(ranks, buffer).to_string(),
            Operation::Reduce => selection.reduce(ranks, buffer, Operator::BuiltIn).to_string(),
            Operation::Allreduce => selection.allreduce(ranks, buffer, Operator::BuiltIn).to_string(),
            Operation::Gather => selection.gather(ranks, buffer).to_string(),
            Operation::Gatherv => selection.gatherv(ranks).to_string(),
            Operation::Scatter => selection.scatter(ranks, buffer).to_string(),
            Operation::Scatterv => selection.scatterv(ranks).to_string(),
            Operation::Allgather => selection.allgather(ranks, buffer).to_string(),
            Operation::Allgatherv => selection.allgatherv(ranks, &blocks).to_string(),
            Operation::Alltoall => selection.alltoall(ranks, buffer).to_string(),
            Operation::Alltoallv => selection.alltoallv(ranks).to_string(),
            Operation::ReduceScatter => selection.reduce_scatter(ranks, &blocks, Operator::BuiltIn).to_string(),
            Operation::ReduceScatterBlock => {
                selection.reduce_scatter_block(ranks, buffer, Operator::BuiltIn).to_string()
            }
            Operation::Scan => selection.scan(ranks).to_string(),
            Operation::Exscan => selection.exscan(ranks).to_string(),
        }
    }

    pub(crate) async fn run(self, rank: &Rank, comm: Comm, bytes: u64, root: u32) {
        rank.collective(comm, &self.call(bytes, root)).await;
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.call(0, 0).name())
    }
}

impl FromStr for Operation {
    type Err = ();
    /// By name, with `-` or `_` between words.
    fn from_str(name: &str) -> Result<Operation, ()> {
        let name = name.replace('_', "-");
        Operation::ALL.into_iter().find(|operation| operation.to_string() == name).ok_or(())
    }
}

/// How a collective is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// The call returns when it is done.
    #[default]
    Blocking,
    /// The call is started, the rank computes for so long, and then waits for it.
    InBackground(Time),
}

/// One rank's part of a benchmark of a collective.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Benchmark {
    pub operation: Operation,
    pub bytes: u64,
    pub root: u32,
    pub count: u64,
    pub style: Style,
}

/// Calls the operation `count` times, with a barrier between calls, and times each call on each rank.
pub(crate) async fn collective(rank: Rank, benchmark: Benchmark, timer: Timer) {
    let Benchmark { operation, bytes, root, count, style } = benchmark;
    let world = rank.world();
    let call = operation.call(bytes, root);
    for round in 0..count {
        if round > 0 {
            rank.barrier(world).await;
        }
        let start = rank.now();
        match style {
            Style::Blocking => rank.collective(world, &call).await,
            Style::InBackground(compute) => {
                let request = rank.start_collective(world, call.clone());
                rank.compute(compute);
                rank.wait(request).await;
            }
        }
        timer.record(rank.now() - start);
        if rank.number() == 0 {
            rank.progress(round as f64 / count as f64);
        }
    }
}
