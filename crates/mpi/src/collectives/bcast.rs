//! MPI_Bcast: the root's data to everybody.

use super::algorithm::{Running, algorithms};
use super::buffer::Buffer;
use super::channel::Channel;
use super::libnbc;
use super::split::{Segments, narrow};
use super::trees::{self, Places, Tree};

algorithms! {
    /// How a broadcast works. `segment` cuts the message into a pipeline of pieces; 0 sends it whole.
    Bcast for "bcast" {
        /// The root sends to each (Open MPI 1, `basic_linear`).
        Linear => "linear",
        /// The root feeds several chains (Open MPI 2, `chain`).
        Chain {
            /// Bytes in a piece.
            segment = 0,
            /// How many chains.
            chains = 4
        } => "chain",
        /// One chain (Open MPI 3, `pipeline`).
        Pipeline {
            /// Bytes in a piece.
            segment = 0
        } => "pipeline",
        /// Each half of the data down one side of a binary tree, then the two sides exchange (Open MPI 4,
        /// `split_binary_tree`).
        SplitBinary {
            /// Bytes in a piece.
            segment = 0
        } => "split-binary",
        /// Down a binary tree (Open MPI 5, `binary_tree`).
        Binary {
            /// Bytes in a piece.
            segment = 0
        } => "binary",
        /// Down a binomial tree, to all children at once (Open MPI 6, `binomial`).
        Binomial {
            /// Bytes in a piece.
            segment = 0
        } => "binomial",
        /// Down a k-nomial tree (Open MPI 7, `knomial`).
        Knomial {
            /// Bytes in a piece.
            segment = 0,
            /// The base of the tree.
            radix = 4
        } => "knomial",
        /// Binomial scatter, then allgather by recursive doubling (Open MPI 8, `scatter_allgather`).
        ScatterAllgather => "scatter-allgather",
        /// Binomial scatter, then allgather around a ring (Open MPI 9, `scatter_allgather_ring`).
        ScatterAllgatherRing => "scatter-allgather-ring",
        /// Down a binomial tree, one child after the other, the farthest first (MPICH `binomial`).
        MpichBinomial => "mpich-binomial",
        /// As `scatter-allgather`, split at bytes (MPICH `scatter_recursive_doubling_allgather`).
        MpichScatterAllgather => "mpich-scatter-allgather",
        /// As `scatter-allgather-ring`, split at bytes (MPICH `scatter_ring_allgather`).
        MpichScatterAllgatherRing => "mpich-scatter-allgather-ring",
        /// As `mpich-scatter-allgather` with more to scatter (MPICH, non-blocking).
        MpichIscatterAllgather => "mpich-iscatter-allgather",
        /// As `mpich-scatter-allgather-ring` with more to scatter (MPICH, non-blocking).
        MpichIscatterAllgatherRing => "mpich-iscatter-allgather-ring",
        /// Down a binomial tree (Open MPI's libnbc, `binomial`).
        NbcBinomial => "nbc-binomial",
        /// Piece by piece along a chain (Open MPI's libnbc, `chain`).
        NbcChain {
            /// Bytes in a piece.
            segment = 16384
        } => "nbc-chain",
    }
}

impl Bcast {
    /// Runs it.
    pub fn run<'a, C: Channel>(self, channel: &'a C, buffer: Buffer, root: u32) -> Running<'a> {
        let places = Places { count: channel.count(), root };
        let me = channel.me();
        match self {
            Bcast::Linear => Box::pin(linear(channel, buffer, root)),
            Bcast::Chain { segment, chains } => {
                Box::pin(down(channel, trees::chain(places, me, narrow(chains)), Segments::new(buffer, segment)))
            }
            Bcast::Pipeline { segment } => {
                Box::pin(down(channel, trees::chain(places, me, 1), Segments::new(buffer, segment)))
            }
            Bcast::SplitBinary { segment } => Box::pin(split_binary(channel, buffer, places, segment)),
            Bcast::Binary { segment } => {
                Box::pin(down(channel, trees::binary(places, me), Segments::new(buffer, segment)))
            }
            Bcast::Binomial { segment } => {
                Box::pin(down(channel, trees::binomial(places, me), Segments::new(buffer, segment)))
            }
            Bcast::Knomial { segment, radix } => {
                Box::pin(down(channel, trees::k_nomial(places, me, narrow(radix)), Segments::new(buffer, segment)))
            }
            // Fewer elements than ranks cannot be scattered: Open MPI sends them linearly.
            Bcast::ScatterAllgather | Bcast::ScatterAllgatherRing if buffer.count < u64::from(places.count) => {
                Box::pin(linear(channel, buffer, root))
            }
            Bcast::ScatterAllgather => Box::pin(scatter_allgather(channel, buffer, places, Scatter::Subtrees)),
            Bcast::ScatterAllgatherRing => Box::pin(scatter_allgather_ring(channel, buffer, places, Scatter::Subtrees)),
            Bcast::MpichBinomial => Box::pin(mpich_binomial(channel, buffer, places)),
            Bcast::MpichScatterAllgather => {
                Box::pin(scatter_allgather(channel, buffer.as_bytes(), places, Scatter::Subtrees))
            }
            Bcast::MpichScatterAllgatherRing => {
                Box::pin(scatter_allgather_ring(channel, buffer.as_bytes(), places, Scatter::Subtrees))
            }
            Bcast::MpichIscatterAllgather => {
                Box::pin(scatter_allgather(channel, buffer.as_bytes(), places, Scatter::Rest))
            }
            Bcast::MpichIscatterAllgatherRing => {
                Box::pin(scatter_allgather_ring(channel, buffer.as_bytes(), places, Scatter::Rest))
            }
            Bcast::NbcBinomial => Box::pin(libnbc::bcast_binomial(channel, buffer, root)),
            Bcast::NbcChain { segment } => Box::pin(libnbc::bcast_chain(channel, buffer, root, segment)),
        }
    }
}

/// `ompi_coll_base_bcast_intra_basic_linear`: p - 1 messages from the root, all started at once.
pub(super) async fn linear<C: Channel>(channel: &C, buffer: Buffer, root: u32) {
    if channel.me() != root {
        return channel.recv(root).await;
    }
    let mut sends = Vec::with_capacity(channel.count() as usize);
    for rank in (0..channel.count()).filter(|&rank| rank != root) {
        sends.push(channel.isend(rank, buffer.total()).await);
    }
    channel.wait_all(sends).await;
}

/// `ompi_coll_base_bcast_intra_generic`: each piece to all children at once; the next piece is received meanwhile.
async fn down<C: Channel>(channel: &C, tree: Tree, segments: Segments) {
    let Some(parent) = tree.parent else {
        for index in 0..segments.number() {
            to_all(channel, &tree.children, segments.bytes(index)).await;
        }
        return;
    };
    let mut coming = channel.irecv(parent).await;
    for index in 1..segments.number() {
        let next = channel.irecv(parent).await;
        channel.wait(coming).await;
        to_all(channel, &tree.children, segments.bytes(index - 1)).await;
        coming = next;
    }
    channel.wait(coming).await;
    to_all(channel, &tree.children, segments.bytes(segments.number() - 1)).await;
}

async fn to_all<C: Channel>(channel: &C, ranks: &[u32], bytes: u64) {
    if let &[only] = ranks {
        let sent = channel.isend(only, bytes).await;
        channel.wait(sent).await;
    } else if !ranks.is_empty() {
        let mut sends = Vec::with_capacity(ranks.len());
        for &rank in ranks {
            sends.push(channel.isend(rank, bytes).await);
        }
        channel.wait_all(sends).await;
    }
}

/// `ompi_coll_base_bcast_intra_split_bintree`: half of the data down each side, then every rank exchanges halves with
/// its mirror image; with an even number of ranks the last one gets its second half from the root.
async fn split_binary<C: Channel>(channel: &C, buffer: Buffer, places: Places, segment: u64) {
    let halves = [buffer.with_count(buffer.count.div_ceil(2)), buffer.with_count(buffer.count / 2)];
    let segment = if segment > 0 { segment.max(buffer.element) } else { 0 };
    if halves[1].count == 0 || segment > halves[1].total() {
        return down(channel, trees::chain(places, channel.me(), 1), Segments::new(buffer, segment)).await;
    }
    // Whole elements that fit in a segment: here they are not rounded as elsewhere.
    let piece = buffer.bytes(segment / buffer.element);
    let halves = halves.map(|half| (half, Segments::new(half, piece)));
    let place = places.place(channel.me());
    let tree = trees::binary(places, channel.me());
    // Odd places are on the left side and get the first half; the root counts as right.
    let side = usize::from(place.is_multiple_of(2));

    if let Some(parent) = tree.parent {
        let segments = halves[side].1;
        if tree.children.is_empty() {
            for _ in 0..segments.number() {
                channel.recv(parent).await;
            }
        } else {
            down_blocking(channel, parent, &tree.children, segments).await;
        }
    } else {
        for index in 0..halves[0].1.number() {
            for (&child, (_, segments)) in tree.children.iter().zip(&halves) {
                if index < segments.number() {
                    channel.send(child, segments.bytes(index)).await;
                }
            }
        }
    }

    let mirror = if side == 0 { channel.after(1) } else { channel.before(1) };
    let mine = halves[side].0.total();
    if places.count % 2 == 1 {
        if place != 0 {
            channel.swap(mirror, mine).await;
        }
    } else if place == 0 {
        channel.send(places.rank(places.count - 1), halves[1].0.total()).await;
    } else if place == places.count - 1 {
        channel.recv(places.root).await;
    } else {
        channel.swap(mirror, mine).await;
    }
}

/// The inner nodes of the split binary tree: blocking sends to the children while the next piece comes.
async fn down_blocking<C: Channel>(channel: &C, parent: u32, children: &[u32], segments: Segments) {
    let mut coming = channel.irecv(parent).await;
    for index in 0..segments.number() {
        let next = if index + 1 < segments.number() { Some(channel.irecv(parent).await) } else { None };
        channel.wait(coming).await;
        for &child in children {
            channel.send(child, segments.bytes(index)).await;
        }
        match next {
            Some(next) => coming = next,
            None => return,
        }
    }
}

/// `MPIR_Bcast_intra_binomial`: p - 1 messages, log2 p deep.
async fn mpich_binomial<C: Channel>(channel: &C, buffer: Buffer, places: Places) {
    let tree = trees::in_order_binomial(places, channel.me());
    if let Some(parent) = tree.parent {
        channel.recv(parent).await;
    }
    for &child in tree.children.iter().rev() {
        channel.send(child, buffer.total()).await;
    }
}

/// What a place sends to its children while scattering.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scatter {
    /// To each the blocks of its subtree.
    Subtrees,
    /// To the first all that follows, to the others the blocks of their subtrees: `MPII_Iscatter_for_bcast_sched`,
    /// which makes its schedule before it knows how much it will receive.
    Rest,
}

/// How much of the data each place holds after the scatter: equal shares, rounded up, from the front.
#[derive(Clone, Copy)]
struct Scattered {
    buffer: Buffer,
    share: u64,
}

impl Scattered {
    fn new(buffer: Buffer, count: u32) -> Scattered {
        Scattered { buffer, share: buffer.count.div_ceil(u64::from(count)) }
    }

    /// Elements of the places `from..from + number`; the last places may have fewer or none.
    fn count(&self, from: u32, number: u32) -> u64 {
        let start = (u64::from(from) * self.share).min(self.buffer.count);
        ((u64::from(from) + u64::from(number)) * self.share).min(self.buffer.count) - start
    }

    fn bytes(&self, from: u32, number: u32) -> u64 {
        self.buffer.bytes(self.count(from, number))
    }

    /// Binomial scatter; places left without data send and receive nothing. `MPII_Scatter_for_bcast`.
    async fn scatter<C: Channel>(&self, channel: &C, places: Places, what: Scatter) {
        let tree = trees::in_order_binomial(places, channel.me());
        let bytes = |place: u32| self.bytes(place, trees::in_order_subtree(places, place));
        if let Some(parent) = tree.parent.filter(|_| bytes(places.place(channel.me())) > 0) {
            channel.recv(parent).await;
        }
        for (position, &child) in tree.children.iter().rev().enumerate() {
            let place = places.place(child);
            let rest = what == Scatter::Rest && position == 0;
            let bytes = if rest { self.bytes(place, places.count - place) } else { bytes(place) };
            if bytes > 0 {
                channel.send(child, bytes).await;
            }
        }
    }
}

/// `ompi_coll_base_bcast_intra_scatter_allgather`, `MPIR_Bcast_intra_scatter_recursive_doubling_allgather`:
/// 2 log2 p steps, each rank moves about twice the data in all.
///
/// Where the number of ranks is no power of two, those that met a partner pass on what it had to those that met none.
async fn scatter_allgather<C: Channel>(channel: &C, buffer: Buffer, places: Places, what: Scatter) {
    let scattered = Scattered::new(buffer, places.count);
    scattered.scatter(channel, places, what).await;
    let (place, count) = (places.place(channel.me()), places.count);
    let mut mask = 1;
    while mask < count {
        let other = place ^ mask;
        let (my_root, other_root) = (place & !(mask - 1), other & !(mask - 1));
        if other < count {
            channel.swap(places.rank(other), scattered.bytes(my_root, mask)).await;
        }
        if other_root + mask > count {
            // So many places of my half have met a partner and hold all there is.
            let complete = count.saturating_sub(my_root + mask);
            let bytes = scattered.bytes(my_root + mask, mask);
            pass_on(channel, places, mask, complete, bytes).await;
        }
        mask *= 2;
    }
}

/// Within a group of `mask` places, the first `complete` hold data that the others lack: a tree of messages hands it
/// on. The "haves and have-nots" step of MPICH's recursive doubling for any number of ranks.
pub(super) async fn pass_on<C: Channel>(channel: &C, places: Places, mask: u32, complete: u32, bytes: u64) {
    let place = places.place(channel.me());
    let mut step = mask / 2;
    while step > 0 {
        let other = place ^ step;
        let limit = (place & !(2 * step - 1)) + complete;
        if other > place && place < limit && other >= limit {
            channel.send(places.rank(other), bytes).await;
        } else if other < place && other < limit && place >= limit {
            channel.recv(places.rank(other)).await;
        }
        step /= 2;
    }
}

/// `ompi_coll_base_bcast_intra_scatter_allgather_ring`, `MPIR_Bcast_intra_scatter_ring_allgather`: log2 p + p - 1
/// steps, each rank moves about twice the data in all.
async fn scatter_allgather_ring<C: Channel>(channel: &C, buffer: Buffer, places: Places, what: Scatter) {
    let scattered = Scattered::new(buffer, places.count);
    scattered.scatter(channel, places, what).await;
    let (left, right) = (channel.before(1), channel.after(1));
    let mut held = places.place(channel.me());
    for _ in 1..places.count {
        channel.exchange(right, scattered.bytes(held, 1), left).await;
        held = held.checked_sub(1).unwrap_or(places.count - 1);
    }
}
