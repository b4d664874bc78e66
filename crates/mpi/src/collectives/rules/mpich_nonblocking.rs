//! The rules of MPICH 4.0.2 for non-blocking collectives where they differ from those of [`super::mpich`]: the
//! entries `ibcast`, `iallreduce`, ... of `maint/tuning/coll/mpir/generic.json`.
//!
//! MPICH starts the messages of a schedule that do not depend on each other together. In the algorithms taken over
//! from the blocking collectives (gather, scatter, the scattering broadcasts) they follow one another.

use super::mpich::scatters;
use crate::collectives::{Allgatherv, Allreduce, Alltoall, Bcast, Blocks, Buffer, Operator, Reduce};

const KIB: u64 = 1 << 10;

/// MPI_Ibcast of so many bytes. The binomial tree is the k-nomial one of base 2.
pub fn bcast(ranks: u32, bytes: u64) -> Bcast {
    if ranks < 8 || bytes < 12 * KIB {
        Bcast::Knomial { segment: 0, radix: 2 }
    } else if ranks.is_power_of_two() && bytes < 512 * KIB {
        Bcast::MpichIscatterAllgather
    } else {
        Bcast::MpichIscatterAllgatherRing
    }
}

/// MPI_Ireduce.
pub fn reduce(ranks: u32, buffer: Buffer, operator: Operator) -> Reduce {
    match super::mpich::reduce(ranks, buffer, operator) {
        Reduce::MpichRabenseifner => Reduce::MpichIrabenseifner,
        other => other,
    }
}

/// MPI_Iallreduce.
pub fn allreduce(ranks: u32, buffer: Buffer, operator: Operator) -> Allreduce {
    if buffer.total() > 2 * KIB && scatters(ranks, buffer, operator) {
        Allreduce::MpichIrabenseifner
    } else {
        Allreduce::RecursiveDoubling
    }
}

/// MPI_Iallgatherv: the ring's pieces are as large as the smallest block, and 32 KiB at least.
pub fn allgatherv(ranks: u32, blocks: &Blocks<'_>) -> Allgatherv {
    match super::mpich::allgatherv(ranks, blocks.together(ranks).total()) {
        Allgatherv::MpichRing { segment } => {
            Allgatherv::MpichRing { segment: segment.max(blocks.smallest(ranks) * blocks.element) }
        }
        other => other,
    }
}

/// MPI_Ialltoall of so many bytes from each to each; as to 8 ranks see [`super::mpich::alltoall`].
pub fn alltoall(ranks: u32, bytes: u64) -> Alltoall {
    if ranks > 8 && bytes <= 2 * KIB {
        Alltoall::Bruck
    } else if bytes <= 32 * KIB {
        Alltoall::Scattered { batch: 32 }
    } else {
        Alltoall::MpichPairwise
    }
}
