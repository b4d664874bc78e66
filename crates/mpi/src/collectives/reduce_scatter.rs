//! MPI_Reduce_scatter: everybody's data combined, a block of the result to each. Its steps serve
//! MPI_Reduce_scatter_block too.

use super::algorithm::{Running, algorithms};
use super::bcast::pass_on;
use super::buffer::{Blocks, Operator};
use super::channel::Channel;
use super::libnbc;
use super::reduce::fold_whole;
use super::rules::Selection;
use super::split::{Folded, Role, mirrored};
use super::trees::Places;

algorithms! {
    /// How a reduce-scatter works.
    ReduceScatter for "reduce-scatter" {
        /// Reduce to rank 0, then scatterv, each by its own rule (Open MPI 1, `non-overlapping`).
        NonOverlapping => "non-overlapping",
        /// Halves exchanged and combined at halving distance (Open MPI 2, MPICH `recursive_halving`).
        RecursiveHalving => "recursive-halving",
        /// Blocks go round a ring and are combined on the way (Open MPI 3, `ring`).
        Ring => "ring",
        /// Halves exchanged at doubling distance, then put where they belong (Open MPI 4, `butterfly`).
        Butterfly => "butterfly",
        /// In each step the block of the rank a step ahead is sent to it (MPICH `pairwise`).
        Pairwise => "pairwise",
        /// Everything but the own group's blocks exchanged at doubling distance (MPICH `recursive_doubling`).
        RecursiveDoubling => "recursive-doubling",
        /// Halves of permuted blocks at doubling distance; equal blocks and powers of two only (MPICH
        /// `noncommutative`).
        Noncommutative => "noncommutative",
        /// Binomial reduction to rank 0, which sends the blocks (Open MPI's libnbc, `binomial`).
        NbcBinomial => "nbc-binomial",
    }
    fn supports(self, ranks: u32) -> bool {
        self != ReduceScatter::Noncommutative || ranks.is_power_of_two()
    }
}

impl ReduceScatter {
    /// Runs it; `blocks` is the part of the result that each rank gets.
    pub fn run<'a, C: Channel>(
        self,
        channel: &'a C,
        selection: &'a Selection,
        blocks: Blocks<'a>,
        operator: Operator,
    ) -> Running<'a> {
        match self {
            ReduceScatter::NonOverlapping => Box::pin(non_overlapping(channel, selection, blocks, operator)),
            ReduceScatter::RecursiveHalving => Box::pin(recursive_halving(channel, blocks)),
            ReduceScatter::Ring => Box::pin(ring(channel, blocks)),
            ReduceScatter::Butterfly => Box::pin(butterfly(channel, blocks)),
            ReduceScatter::Pairwise => Box::pin(pairwise(channel, blocks)),
            ReduceScatter::RecursiveDoubling => Box::pin(recursive_doubling(channel, blocks)),
            ReduceScatter::Noncommutative => Box::pin(permuted_butterfly(channel, blocks)),
            ReduceScatter::NbcBinomial => Box::pin(libnbc::reduce_scatter(channel, blocks)),
        }
    }
}

/// `ompi_coll_base_reduce_scatter_intra_nonoverlapping`.
async fn non_overlapping<C: Channel>(channel: &C, selection: &Selection, blocks: Blocks<'_>, operator: Operator) {
    let ranks = channel.count();
    let all = blocks.together(ranks);
    selection.reduce(ranks, all, operator).run(channel, all, operator, 0).await;
    selection.scatterv(ranks).run(channel, &|rank| blocks.bytes(rank), 0).await;
}

/// The blocks of ranks that go on when pairs are folded: a pair's two blocks count as one.
struct Pairs<'a, 'b> {
    blocks: &'a Blocks<'b>,
    folded: &'a Folded,
}

impl Pairs<'_, '_> {
    /// Bytes in the blocks of the numbers `from..to`.
    fn bytes_of(&self, from: u32, to: u32) -> u64 {
        self.blocks.bytes_of(self.folded.first_block(from), self.folded.first_block(to))
    }
}

/// `ompi_coll_base_reduce_scatter_intra_basic_recursivehalving`, `MPIR_Reduce_scatter_intra_recursive_halving`, and
/// both libraries' form for equal blocks: log2 p exchanges of n/2, n/4, ...; even ranks beyond a power of two hand
/// their data to the odd neighbour and get their block back. Empty messages are left out.
pub(super) async fn recursive_halving<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let all = blocks.together(channel.count());
    let folded = Folded::onto_odd(channel.count());
    let role = folded.role(channel.me());
    let pairs = Pairs { blocks: &blocks, folded: &folded };
    channel.copy(all.total());
    fold_whole(channel, all, role).await;
    if let Some(number) = role.number() {
        // I hold the blocks of the numbers from `first` on, `2 * half` of them.
        let (mut first, mut half) = (0, folded.power / 2);
        while half > 0 {
            let peer = folded.rank(number ^ half);
            let (front, back) = (pairs.bytes_of(first, first + half), pairs.bytes_of(first + half, first + 2 * half));
            let (kept, given) = if number & half == 0 { (front, back) } else { (back, front) };
            match (given, kept) {
                (0, 0) => {}
                (0, _) => channel.recv(peer).await,
                (given, 0) => channel.send(peer, given).await,
                (given, _) => channel.swap(peer, given).await,
            }
            channel.combine(kept);
            first += if number & half == 0 { 0 } else { half };
            half /= 2;
        }
        channel.copy(blocks.bytes(channel.me()));
    }
    match role {
        Role::Leaves { partner } if blocks.bytes(channel.me()) > 0 => channel.recv(partner).await,
        Role::Stays { partner, .. } if blocks.bytes(partner) > 0 => {
            channel.send(partner, blocks.bytes(partner)).await;
        }
        _ => {}
    }
}

/// `ompi_coll_base_reduce_scatter_intra_ring`: p - 1 messages of one block.
async fn ring<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let ranks = channel.count();
    let (left, right) = (channel.before(1), channel.after(1));
    channel.copy(blocks.together(ranks).total());
    let mut coming = channel.irecv(left).await;
    channel.send(right, blocks.bytes(left)).await;
    for behind in 2..ranks {
        let block = blocks.bytes(channel.before(behind));
        let next = channel.irecv(left).await;
        channel.wait(coming).await;
        channel.combine(block);
        channel.send(right, block).await;
        coming = next;
    }
    channel.wait(coming).await;
    channel.combine(blocks.bytes(channel.me()));
    channel.copy(blocks.bytes(channel.me()));
}

/// `ompi_coll_base_reduce_scatter_intra_butterfly`, and its form for equal blocks: log2 p exchanges of n/2, n/4, ...
/// leave each number with the block of its mirror image, which is sent there.
///
/// J. L. Traff: An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application, EuroPVM/MPI 2005.
pub(super) async fn butterfly<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let (me, all) = (channel.me(), blocks.together(channel.count()));
    let folded = Folded::onto_odd(channel.count());
    let role = folded.role(me);
    let pairs = Pairs { blocks: &blocks, folded: &folded };
    let bits = folded.power.ilog2();
    channel.copy(all.total());
    fold_whole(channel, all, role).await;
    let Some(number) = role.number() else {
        // My pair's blocks end up at the mirror image of its number.
        return channel.recv(folded.rank(mirrored(me / 2, bits))).await;
    };
    let (mut first, mut half, mut mask) = (0, folded.power / 2, 1);
    while mask < folded.power {
        let (front, back) = (pairs.bytes_of(first, first + half), pairs.bytes_of(first + half, first + 2 * half));
        let lower = number & mask == 0;
        let (kept, given) = if lower { (front, back) } else { (back, front) };
        channel.swap(folded.rank(number ^ mask), given).await;
        channel.combine(kept);
        first += if lower { 0 } else { half };
        (half, mask) = (half / 2, mask * 2);
    }
    let owner = folded.rank(first);
    if first < folded.extra {
        channel.send(owner - 1, blocks.bytes(owner - 1)).await;
    }
    if owner == me {
        channel.copy(blocks.bytes(me));
    } else {
        channel.swap(owner, blocks.bytes(owner)).await;
    }
}

/// `ompi_coll_base_reduce_scatter_block_intra_butterfly_pof2`, `MPIR_Reduce_scatter(_block)_intra_noncommutative`: the
/// blocks are permuted before, so that each number ends up with its own. Equal blocks, a power of two of ranks.
pub(super) async fn permuted_butterfly<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let block = blocks.bytes(0);
    let mut blocks_held = u64::from(channel.count());
    channel.copy(block * blocks_held);
    let mut mask = 1;
    while mask < channel.count() {
        blocks_held /= 2;
        channel.swap(channel.me() ^ mask, block * blocks_held).await;
        channel.combine(block * blocks_held);
        mask *= 2;
    }
    channel.copy(block);
}

/// `MPIR_Reduce_scatter(_block)_intra_pairwise`: p - 1 exchanges of one block.
pub(super) async fn pairwise<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let mine = blocks.bytes(channel.me());
    channel.copy(mine);
    for step in 1..channel.count() {
        let to = channel.after(step);
        channel.exchange(to, blocks.bytes(to), channel.before(step)).await;
        channel.combine(mine);
    }
}

/// `ompi_coll_base_reduce_scatter_block_intra_recursivedoubling`,
/// `MPIR_Reduce_scatter(_block)_intra_recursive_doubling`: in step k everything but the 2^k blocks of the own group is
/// exchanged. Where the number of ranks is no power of two, those that met a partner pass on what it sent.
pub(super) async fn recursive_doubling<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let (me, ranks) = (channel.me(), channel.count());
    let places = Places { count: ranks, root: 0 };
    let all = blocks.together(ranks).total();
    let all_but = |group: u32, size: u32| all - blocks.bytes_of(group.min(ranks), (group + size).min(ranks));
    channel.copy(all);
    let mut mask = 1;
    while mask < ranks {
        let other = me ^ mask;
        let (my_group, other_group) = (me & !(mask - 1), other & !(mask - 1));
        let (sent, received) = (all_but(my_group, mask), all_but(other_group, mask));
        if other < ranks {
            channel.swap(other, sent).await;
        }
        if other_group + mask > ranks {
            let complete = ranks.saturating_sub(my_group + mask);
            pass_on(channel, places, mask, complete, received).await;
        }
        if other_group < ranks {
            channel.combine(received);
        }
        mask *= 2;
    }
    channel.copy(blocks.bytes(me));
}
