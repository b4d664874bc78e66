//! MPI_Allgatherv: everybody's block to everybody, blocks of any size. Its steps serve MPI_Allgather too.

use super::algorithm::{Running, algorithms};
use super::buffer::{Blocks, Buffer};
use super::channel::Channel;
use super::libnbc;
use super::rules::Selection;

algorithms! {
    /// How an allgatherv works.
    Allgatherv for "allgatherv" {
        /// Gatherv to rank 0, then broadcast, each by its own rule (Open MPI 1, `default`).
        Default => "default",
        /// Blocks collected at doubling distance (Open MPI 2, MPICH `brucks`).
        Bruck => "bruck",
        /// Blocks go round a ring (Open MPI 3, `ring`).
        Ring => "ring",
        /// Two blocks at a time to the left and right neighbour in turn; `ring` if the number of ranks is odd (Open MPI
        /// 4, `neighbor`).
        NeighborExchange => "neighbor-exchange",
        /// The two ranks exchange (Open MPI 5, `two_proc`).
        TwoProcesses => "two-processes",
        /// Pairs at doubling distance exchange all they have; powers of two only (MPICH `recursive_doubling`).
        RecursiveDoubling => "recursive-doubling",
        /// Pieces of blocks go round a ring; empty blocks are skipped (MPICH `ring`).
        MpichRing {
            /// Bytes in a piece; 0 sends blocks whole.
            segment = 32768
        } => "mpich-ring",
        /// Everybody sends to everybody at once (Open MPI's libnbc, `linear`).
        NbcLinear => "nbc-linear",
    }
    fn supports(self, ranks: u32) -> bool {
        match self {
            Allgatherv::TwoProcesses => ranks == 2,
            Allgatherv::RecursiveDoubling => ranks.is_power_of_two(),
            _ => true,
        }
    }
}

impl Allgatherv {
    /// Runs it; `blocks` is what each rank contributes.
    pub fn run<'a, C: Channel>(self, channel: &'a C, selection: &'a Selection, blocks: Blocks<'a>) -> Running<'a> {
        match self {
            Allgatherv::Default => Box::pin(gather_and_broadcast(channel, selection, blocks)),
            Allgatherv::Bruck => Box::pin(bruck(channel, blocks)),
            Allgatherv::Ring => Box::pin(ring(channel, blocks)),
            Allgatherv::NeighborExchange => Box::pin(neighbor_exchange(channel, blocks)),
            Allgatherv::TwoProcesses => Box::pin(two_processes(channel, blocks)),
            Allgatherv::RecursiveDoubling => Box::pin(async move {
                doubling(channel, blocks).await;
                // It collects in a buffer of its own.
                channel.copy(blocks.together(channel.count()).total());
            }),
            Allgatherv::MpichRing { segment } => Box::pin(mpich_ring(channel, blocks, segment)),
            Allgatherv::NbcLinear => Box::pin(libnbc::allgatherv(channel, blocks)),
        }
    }
}

/// `ompi_coll_base_allgatherv_intra_basic_default`. The broadcast is of one element of a type that holds all blocks.
async fn gather_and_broadcast<C: Channel>(channel: &C, selection: &Selection, blocks: Blocks<'_>) {
    let ranks = channel.count();
    selection.gatherv(ranks).run(channel, &|rank| blocks.bytes(rank), 0).await;
    let all = Buffer::one_element(blocks.together(ranks).total());
    selection.bcast(ranks, all).run(channel, all, 0).await;
}

/// `ompi_coll_base_allgather(v)_intra_bruck`, `MPIR_Allgather(v)_intra_brucks`: ceil(log2 p) exchanges; each rank
/// receives p - 1 blocks in all.
pub(super) async fn bruck<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let ranks = channel.count();
    channel.copy(blocks.bytes(channel.me()));
    let mut distance = 1;
    while distance < ranks {
        let number = distance.min(ranks - distance);
        let bytes = blocks.bytes_around(channel.me(), number, ranks);
        channel.exchange(channel.before(distance), bytes, channel.after(distance)).await;
        distance *= 2;
    }
}

/// `ompi_coll_base_allgather_intra_recursivedoubling`, `MPIR_Allgather(v)_intra_recursive_doubling`: log2 p exchanges.
pub(super) async fn doubling<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let me = channel.me();
    channel.copy(blocks.bytes(me));
    let mut distance = 1;
    while distance < channel.count() {
        let first = me & !(distance - 1);
        channel.swap(me ^ distance, blocks.bytes_of(first, first + distance)).await;
        distance *= 2;
    }
}

/// `ompi_coll_base_allgather(v)_intra_two_procs`: one exchange.
pub(super) async fn two_processes<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let mine = blocks.bytes(channel.me());
    channel.swap(channel.me() ^ 1, mine).await;
    channel.copy(mine);
}

/// `ompi_coll_base_allgather(v)_intra_ring`, `MPIR_Allgather_intra_ring`: p - 1 exchanges of one block.
pub(super) async fn ring<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let (left, right) = (channel.before(1), channel.after(1));
    channel.copy(blocks.bytes(channel.me()));
    for step in 0..channel.count() - 1 {
        channel.exchange(right, blocks.bytes(channel.before(step)), left).await;
    }
}

/// `ompi_coll_base_allgather(v)_intra_neighborexchange`: p/2 exchanges, the first of one block, the others of two.
pub(super) async fn neighbor_exchange<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let (me, ranks) = (channel.me(), channel.count());
    if ranks % 2 == 1 {
        return ring(channel, blocks).await;
    }
    channel.copy(blocks.bytes(me));
    let even = me % 2 == 0;
    let (left, right) = (channel.before(1), channel.after(1));
    let neighbors = if even { [right, left] } else { [left, right] };
    channel.swap(neighbors[0], blocks.bytes(me)).await;
    // Pairs of blocks are named by their even one. What was received last is sent next.
    let pair = me & !1;
    let mut sent = pair;
    let mut received = [pair, pair];
    for step in 1..ranks as usize / 2 {
        channel.swap(neighbors[step % 2], blocks.bytes_of(sent, sent + 2)).await;
        let ahead = even == (step % 2 == 0);
        let last = &mut received[step % 2];
        *last = (*last + if ahead { 2 } else { ranks - 2 }) % ranks;
        sent = *last;
    }
}

/// `MPIR_Allgatherv_intra_ring`: pieces of at most a segment; each rank receives all blocks but its own.
async fn mpich_ring<C: Channel>(channel: &C, blocks: Blocks<'_>, segment: u64) {
    let ranks = channel.count();
    let (left, right) = (channel.before(1), channel.after(1));
    channel.copy(blocks.bytes(channel.me()));
    let largest = blocks.largest(ranks);
    let element = blocks.element;
    let piece = if segment > 0 && largest * element > segment { (segment / element).max(1) } else { largest };
    let all = blocks.count_of(0, ranks);
    // Elements still to send and to receive; the block and the offset where each stands.
    let mut to_send = Cursor { left: all - blocks.count(right), block: channel.me(), offset: 0 };
    let mut to_receive = Cursor { left: all - blocks.count(channel.me()), block: left, offset: 0 };
    while to_send.left > 0 || to_receive.left > 0 {
        let sent = to_send.advance(&blocks, ranks, piece);
        let received = to_receive.advance(&blocks, ranks, piece);
        match (sent, received) {
            (0, 0) => {}
            (0, _) => channel.recv(left).await,
            (sent, 0) => channel.send(right, sent * element).await,
            (sent, _) => channel.exchange(right, sent * element, left).await,
        }
    }
}

struct Cursor {
    left: u64,
    block: u32,
    offset: u64,
}

impl Cursor {
    /// Takes the next piece of the current block; at its end goes on to the block before it around the ring.
    fn advance(&mut self, blocks: &Blocks<'_>, ranks: u32, piece: u64) -> u64 {
        let size = blocks.count(self.block);
        let taken = if self.left > 0 { (size - self.offset).min(piece) } else { 0 };
        self.left -= taken;
        self.offset += taken;
        if self.offset == size {
            self.offset = 0;
            self.block = self.block.checked_sub(1).unwrap_or(ranks - 1);
        }
        taken
    }
}
