//! MPI_Allreduce: everybody's data combined, the result to everybody.

use super::algorithm::{Running, algorithms};
use super::buffer::{Buffer, Operator};
use super::channel::Channel;
use super::halving::Halving;
use super::reduce::{fold_halves, fold_whole};
use super::rules::Selection;
use super::split::{Folded, Role, Segments, Shares};
use super::{bcast, libnbc, reduce};

algorithms! {
    /// How an allreduce works.
    Allreduce for "allreduce" {
        /// Linear reduce to rank 0, then linear broadcast (Open MPI 1, `basic_linear`).
        Linear => "linear",
        /// Reduce to rank 0, then broadcast, each by its own rule (Open MPI 2, `nonoverlapping`).
        Nonoverlapping => "nonoverlapping",
        /// Pairs at doubling distance exchange all they have (Open MPI 3, MPICH `recursive_doubling`).
        RecursiveDoubling => "recursive-doubling",
        /// Blocks go round a ring, first combined, then copied (Open MPI 4, `ring`).
        Ring => "ring",
        /// As `ring`, the combining in phases of smaller pieces (Open MPI 5, `segmented_ring`).
        SegmentedRing {
            /// Bytes in a piece; 0 is the plain ring.
            segment = 0
        } => "segmented-ring",
        /// Reduce-scatter by halving, allgather by doubling (Open MPI 6, `rabenseifner`).
        Rabenseifner => "rabenseifner",
        /// As `rabenseifner`, with equal blocks and whole vectors folded (MPICH `reduce_scatter_allgather`).
        MpichRabenseifner => "mpich-rabenseifner",
        /// As `mpich-rabenseifner`, the last block taking the remainder (MPICH, non-blocking).
        MpichIrabenseifner => "mpich-irabenseifner",
        /// Up a binomial tree to rank 0 and down another (Open MPI's libnbc, `binomial`).
        NbcBinomial => "nbc-binomial",
        /// As `ring`, without overlap (Open MPI's libnbc, `ring`).
        NbcRing => "nbc-ring",
    }
}

impl Allreduce {
    /// Runs it.
    pub fn run<'a, C: Channel>(
        self,
        channel: &'a C,
        selection: &'a Selection,
        buffer: Buffer,
        operator: Operator,
    ) -> Running<'a> {
        let ranks = channel.count();
        match self {
            Allreduce::Linear => Box::pin(linear(channel, buffer)),
            Allreduce::Nonoverlapping => Box::pin(async move {
                selection.reduce(ranks, buffer, operator).run(channel, buffer, operator, 0).await;
                selection.bcast(ranks, buffer).run(channel, buffer, 0).await;
            }),
            Allreduce::RecursiveDoubling => Box::pin(recursive_doubling(channel, buffer)),
            Allreduce::Ring => Box::pin(ring(channel, buffer, 1)),
            Allreduce::SegmentedRing { segment } => Box::pin(ring(channel, buffer, phases(buffer, segment, ranks))),
            // Fewer elements than blocks, or operands that must stay in order: Open MPI does it linearly.
            Allreduce::Rabenseifner
                if !operator.commutes() || buffer.count < u64::from(Folded::onto_even(ranks).power) =>
            {
                Box::pin(linear(channel, buffer))
            }
            Allreduce::Rabenseifner => Box::pin(rabenseifner(channel, buffer)),
            Allreduce::MpichRabenseifner => Box::pin(mpich_rabenseifner(channel, buffer, Shares::new)),
            Allreduce::MpichIrabenseifner => Box::pin(mpich_rabenseifner(channel, buffer, Shares::with_last)),
            Allreduce::NbcBinomial => Box::pin(libnbc::allreduce_binomial(channel, buffer)),
            Allreduce::NbcRing => Box::pin(libnbc::allreduce_ring(channel, buffer)),
        }
    }
}

/// `ompi_coll_base_allreduce_intra_basic_linear`: 2 (p - 1) messages at rank 0.
async fn linear<C: Channel>(channel: &C, buffer: Buffer) {
    reduce::linear(channel, buffer, 0).await;
    bcast::linear(channel, buffer, 0).await;
}

/// `ompi_coll_base_allreduce_intra_recursivedoubling`, `MPIR_Allreduce_intra_recursive_doubling`: log2 p exchanges of
/// all the data; even ranks beyond a power of two hand theirs to the odd neighbour and get the result back.
async fn recursive_doubling<C: Channel>(channel: &C, buffer: Buffer) {
    let bytes = buffer.total();
    let folded = Folded::onto_odd(channel.count());
    let role = folded.role(channel.me());
    channel.copy(bytes);
    fold_whole(channel, buffer, role).await;
    if let Some(number) = role.number() {
        let mut distance = 1;
        while distance < folded.power {
            channel.swap(folded.rank(number ^ distance), bytes).await;
            channel.combine(bytes);
            distance *= 2;
        }
    }
    unfold(channel, buffer, role).await;
}

/// Those that dropped out get the result.
async fn unfold<C: Channel>(channel: &C, buffer: Buffer, role: Role) {
    match role {
        Role::Leaves { partner } => channel.recv(partner).await,
        Role::Stays { partner, .. } => channel.send(partner, buffer.total()).await,
        Role::Alone { .. } => {}
    }
}

/// In how many phases the segmented ring combines: `ompi_coll_base_allreduce_intra_ring_segmented`.
fn phases(buffer: Buffer, segment: u64, ranks: u32) -> u64 {
    let ranks = u64::from(ranks);
    let round = ranks * Segments::new(buffer, segment).count();
    if buffer.count < round {
        return 1;
    }
    let rest = buffer.count % round;
    buffer.count / round + u64::from(rest >= ranks && rest > round / 2)
}

/// `ompi_coll_base_allreduce_intra_ring` and, in several phases, `ompi_coll_base_allreduce_intra_ring_segmented`:
/// p - 1 messages of n/p bytes to combine (in each phase, of its part of the block), p - 1 messages to distribute.
async fn ring<C: Channel>(channel: &C, buffer: Buffer, phases: u64) {
    let (me, ranks) = (u64::from(channel.me()), u64::from(channel.count()));
    // Fewer elements than ranks make no blocks.
    if buffer.count < ranks {
        return recursive_doubling(channel, buffer).await;
    }
    let (left, right) = (channel.before(1), channel.after(1));
    let blocks = Shares::new(buffer.count, ranks);
    // The block that is `behind` places behind mine.
    let block = |behind: u64| (me + ranks - behind) % ranks;
    channel.copy(buffer.total());
    for phase in 0..phases {
        let part = |behind: u64| buffer.bytes(Shares::new(blocks.count(block(behind)), phases).count(phase));
        let mut coming = channel.irecv(left).await;
        channel.send(right, part(0)).await;
        for behind in 1..ranks - 1 {
            let next = channel.irecv(left).await;
            channel.wait(coming).await;
            channel.combine(part(behind));
            channel.send(right, part(behind)).await;
            coming = next;
        }
        channel.wait(coming).await;
        channel.combine(part(ranks - 1));
    }
    for step in 0..ranks - 1 {
        channel.exchange(right, buffer.bytes(blocks.count(block((ranks - 1 + step) % ranks))), left).await;
    }
}

/// `ompi_coll_base_allreduce_intra_redscat_allgather`: 2 log2 p exchanges, each rank moves about twice the data.
async fn rabenseifner<C: Channel>(channel: &C, buffer: Buffer) {
    let folded = Folded::onto_even(channel.count());
    let role = folded.role(channel.me());
    channel.copy(buffer.total());
    fold_halves(channel, buffer, role).await;
    halve_and_double(channel, buffer, &folded, role, None).await;
    unfold(channel, buffer, role).await;
}

/// `MPIR_Allreduce_intra_reduce_scatter_allgather`: the same cost where the number of ranks is a power of two.
async fn mpich_rabenseifner<C: Channel>(channel: &C, buffer: Buffer, divide: fn(u64, u64) -> Shares) {
    let folded = Folded::onto_odd(channel.count());
    let blocks = divide(buffer.count, u64::from(folded.power));
    let role = folded.role(channel.me());
    channel.copy(buffer.total());
    fold_whole(channel, buffer, role).await;
    halve_and_double(channel, buffer, &folded, role, Some(blocks)).await;
    unfold(channel, buffer, role).await;
}

async fn halve_and_double<C: Channel>(
    channel: &C,
    buffer: Buffer,
    folded: &Folded,
    role: Role,
    blocks: Option<Shares>,
) {
    if let Some(number) = role.number() {
        let mut halving = Halving::new(buffer, folded.power, blocks);
        halving.reduce_scatter(channel, folded, number).await;
        halving.allgather(channel, folded, number).await;
    }
}
