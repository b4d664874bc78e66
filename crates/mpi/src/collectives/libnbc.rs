//! The algorithms of Open MPI's non-blocking collectives, `ompi/mca/coll/libnbc` of Open MPI 4.1.4.
//!
//! libnbc makes a schedule of rounds: the messages of a round start together, the next round starts when all of them
//! are done. Here a round is non-blocking calls followed by a wait. To put the root at place 0 it swaps it with rank 0.

use super::alltoallv::Sizes;
use super::buffer::{Blocks, Buffer, Operator};
use super::channel::Channel;
use super::split::Shares;
use super::trees::{self, Places, Tree};

/// Rank 0 and the root change places; everybody else keeps theirs.
fn swapped(rank: u32, root: u32) -> u32 {
    match rank {
        0 => root,
        _ if rank == root => 0,
        _ => rank,
    }
}

/// A tree with rank 0 at the root, seen after the swap.
fn swapped_tree(tree: impl Fn(Places, u32) -> Tree, count: u32, me: u32, root: u32) -> Tree {
    let Tree { parent, children } = tree(Places { count, root: 0 }, swapped(me, root));
    Tree {
        parent: parent.map(|rank| swapped(rank, root)),
        children: children.into_iter().map(|rank| swapped(rank, root)).collect(),
    }
}

async fn send_to_all<C: Channel>(channel: &C, ranks: &[u32], bytes: u64) {
    let mut sends = Vec::with_capacity(ranks.len());
    for &rank in ranks {
        sends.push(channel.isend(rank, bytes).await);
    }
    channel.wait_all(sends).await;
}

async fn receive<C: Channel>(channel: &C, from: u32) {
    let received = channel.irecv(from).await;
    channel.wait(received).await;
}

/// `bcast_sched_binomial`: p - 1 messages, log2 p deep, to all children at once.
pub async fn bcast_binomial<C: Channel>(channel: &C, buffer: Buffer, root: u32) {
    let tree = swapped_tree(trees::binomial, channel.count(), channel.me(), root);
    if let Some(parent) = tree.parent {
        receive(channel, parent).await;
    }
    send_to_all(channel, &tree.children, buffer.total()).await;
}

/// Pieces of equal count, about `segment` bytes each; the last one takes what is left.
struct Pieces {
    buffer: Buffer,
    number: u64,
}

impl Pieces {
    fn new(buffer: Buffer, segment: u64) -> Pieces {
        Pieces { buffer, number: buffer.total().div_ceil(segment.max(1)).max(1) }
    }

    fn bytes(&self, index: u64) -> u64 {
        let count = self.buffer.count / self.number;
        let last = index + 1 == self.number;
        self.buffer.bytes(if last { self.buffer.count - count * index } else { count })
    }
}

/// `bcast_sched_chain`: p - 1 messages for each piece; a piece is passed on while the next one comes.
pub async fn bcast_chain<C: Channel>(channel: &C, buffer: Buffer, root: u32, segment: u64) {
    let pieces = Pieces::new(buffer, segment);
    let place = swapped(channel.me(), root);
    let next = (place + 1 < channel.count()).then(|| swapped(place + 1, root));
    let Some(previous) = place.checked_sub(1).map(|place| swapped(place, root)) else {
        for index in 0..pieces.number {
            send_to_all(channel, next.as_slice(), pieces.bytes(index)).await;
        }
        return;
    };
    receive(channel, previous).await;
    for index in 0..pieces.number {
        let mut round = Vec::with_capacity(2);
        if let Some(next) = next {
            round.push(channel.isend(next, pieces.bytes(index)).await);
        }
        if index + 1 < pieces.number {
            round.push(channel.irecv(previous).await);
        }
        channel.wait_all(round).await;
    }
}

/// The binomial reduction that `red_sched_binomial` and others share, up to the message to the parent, which is left
/// under way.
async fn reduce_tree<C: Channel>(channel: &C, tree: &Tree, bytes: u64) -> Option<C::Handle> {
    for &child in &tree.children {
        receive(channel, child).await;
        channel.combine(bytes);
    }
    match tree.parent {
        Some(parent) => Some(channel.isend(parent, bytes).await),
        None => None,
    }
}

/// `red_sched_binomial`: p - 1 messages, log2 p deep. Where the order matters rank 0 combines and sends to the root.
pub async fn reduce_binomial<C: Channel>(channel: &C, buffer: Buffer, operator: Operator, root: u32) {
    let (me, bytes) = (channel.me(), buffer.total());
    let tree_root = if operator.commutes() { root } else { 0 };
    let tree = swapped_tree(trees::in_order_binomial, channel.count(), me, tree_root);
    let mut last: Vec<_> = reduce_tree(channel, &tree, bytes).await.into_iter().collect();
    if tree_root != root && me == tree_root {
        last.push(channel.isend(root, bytes).await);
    } else if tree_root != root && me == root {
        last.push(channel.irecv(tree_root).await);
    }
    channel.wait_all(last).await;
}

/// `red_sched_chain`: p - 1 messages for each piece.
pub async fn reduce_chain<C: Channel>(channel: &C, buffer: Buffer, root: u32, segment: u64) {
    let pieces = Pieces::new(buffer, segment);
    let place = swapped(channel.me(), root);
    for index in 0..pieces.number {
        if place + 1 < channel.count() {
            receive(channel, swapped(place + 1, root)).await;
            channel.combine(pieces.bytes(index));
        }
        if let Some(previous) = place.checked_sub(1) {
            send_to_all(channel, &[swapped(previous, root)], pieces.bytes(index)).await;
        }
    }
}

/// `allred_sched_diss`: binomial reduction to rank 0, then a broadcast down the other binomial tree.
pub async fn allreduce_binomial<C: Channel>(channel: &C, buffer: Buffer) {
    let places = Places { count: channel.count(), root: 0 };
    let up = trees::in_order_binomial(places, channel.me());
    let down = trees::binomial(places, channel.me());
    // What goes up and what comes down are in the same round.
    let mut round: Vec<_> = reduce_tree(channel, &up, buffer.total()).await.into_iter().collect();
    if let Some(parent) = down.parent {
        round.push(channel.irecv(parent).await);
    }
    channel.wait_all(round).await;
    send_to_all(channel, &down.children, buffer.total()).await;
}

/// `allred_sched_ring`: 2 (p - 1) messages of n/p bytes, the first half of them combined.
pub async fn allreduce_ring<C: Channel>(channel: &C, buffer: Buffer) {
    let (me, ranks) = (u64::from(channel.me()), u64::from(channel.count()));
    let (left, right) = (channel.before(1), channel.after(1));
    let blocks = Shares::new(buffer.count, ranks);
    for round in 0..2 * ranks - 2 {
        let block = |ahead: u64| buffer.bytes(blocks.count((me + ahead + 2 * ranks - round) % ranks));
        channel.exchange(right, block(1), left).await;
        if round < ranks - 1 {
            channel.combine(block(0));
        }
    }
}

/// `nbc_gather_init`, `nbc_gatherv_init`: p - 1 messages to the root, empty ones too.
pub async fn gather<C: Channel>(channel: &C, bytes: &dyn Fn(u32) -> u64, root: u32) {
    let me = channel.me();
    if me != root {
        return send_to_all(channel, &[root], bytes(me)).await;
    }
    let mut receives = Vec::with_capacity(channel.count() as usize);
    for rank in (0..channel.count()).filter(|&rank| rank != root) {
        receives.push(channel.irecv(rank).await);
    }
    channel.copy(bytes(me));
    channel.wait_all(receives).await;
}

/// `nbc_scatterv_init`: p - 1 messages from the root, empty ones too.
pub async fn scatter<C: Channel>(channel: &C, bytes: &dyn Fn(u32) -> u64, root: u32) {
    if channel.me() != root {
        return receive(channel, root).await;
    }
    let mut sends = Vec::with_capacity(channel.count() as usize);
    for rank in (0..channel.count()).filter(|&rank| rank != root) {
        sends.push(channel.isend(rank, bytes(rank)).await);
    }
    channel.copy(bytes(root));
    channel.wait_all(sends).await;
}

/// `allgather_sched_linear`: p - 1 messages of each rank, in rank order, all at once.
pub async fn allgather<C: Channel>(channel: &C, bytes: u64) {
    channel.copy(bytes);
    let mut round = Vec::with_capacity(2 * channel.count() as usize);
    for rank in (0..channel.count()).filter(|&rank| rank != channel.me()) {
        round.push(channel.irecv(rank).await);
        round.push(channel.isend(rank, bytes).await);
    }
    channel.wait_all(round).await;
}

/// `nbc_allgatherv_init`: p - 1 messages of each rank, to the next ranks and from the previous ones, all at once.
pub async fn allgatherv<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let bytes = blocks.bytes(channel.me());
    channel.copy(bytes);
    let mut round = Vec::with_capacity(2 * channel.count() as usize);
    for distance in 1..channel.count() {
        round.push(channel.irecv(channel.before(distance)).await);
        round.push(channel.isend(channel.after(distance), bytes).await);
    }
    channel.wait_all(round).await;
}

/// `a2a_sched_linear`, `a2av_sched_linear`: p - 1 messages of each rank, in rank order, all at once; no empty ones.
pub async fn alltoall<C: Channel>(channel: &C, sizes: Sizes<'_>) {
    let me = channel.me();
    channel.copy((sizes.sent)(me));
    let mut round = Vec::with_capacity(2 * channel.count() as usize);
    for rank in (0..channel.count()).filter(|&rank| rank != me) {
        if (sizes.received)(rank) > 0 {
            round.push(channel.irecv(rank).await);
        }
        if (sizes.sent)(rank) > 0 {
            round.push(channel.isend(rank, (sizes.sent)(rank)).await);
        }
    }
    channel.wait_all(round).await;
}

/// `nbc_reduce_scatter_init`, `nbc_reduce_scatter_block_init`: binomial reduction to rank 0, which sends the blocks.
pub async fn reduce_scatter<C: Channel>(channel: &C, blocks: Blocks<'_>) {
    let places = Places { count: channel.count(), root: 0 };
    let tree = trees::in_order_binomial(places, channel.me());
    let all = blocks.together(places.count).total();
    if let Some(sent) = reduce_tree(channel, &tree, all).await {
        channel.wait(sent).await;
    }
    scatter(channel, &|rank| blocks.bytes(rank), 0).await;
}
