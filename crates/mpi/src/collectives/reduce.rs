//! MPI_Reduce: everybody's data combined at the root.

use super::algorithm::{Running, algorithms};
use super::buffer::{Buffer, Operator};
use super::channel::Channel;
use super::halving::Halving;
use super::libnbc;
use super::split::{Folded, Role, Segments, Shares, narrow};
use super::trees::{self, Places, Tree};

algorithms! {
    /// How a reduction works. `segment` cuts the message into a pipeline of pieces; 0 sends it whole.
    Reduce for "reduce" {
        /// Everybody sends to the root, which combines from the last rank to the first (Open MPI 1, `linear`).
        Linear => "linear",
        /// Several chains towards the root (Open MPI 2, `chain`).
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
        /// Up a binary tree (Open MPI 4, `binary`).
        Binary {
            /// Bytes in a piece.
            segment = 0
        } => "binary",
        /// Up a binomial tree, the next child's data received meanwhile (Open MPI 5, `binomial`).
        Binomial {
            /// Bytes in a piece.
            segment = 0
        } => "binomial",
        /// Up a binary tree that keeps the ranks in order, to the last rank, then to the root (Open MPI 6,
        /// `in-order_binary`).
        InOrderBinary {
            /// Bytes in a piece.
            segment = 0
        } => "in-order-binary",
        /// Reduce-scatter by halving, then binomial gather (Open MPI 7, `rabenseifner`).
        Rabenseifner => "rabenseifner",
        /// Up a binomial tree, one child after the other (MPICH `binomial`).
        MpichBinomial => "mpich-binomial",
        /// As `rabenseifner`, with equal blocks and whole vectors folded (MPICH `reduce_scatter_gather`).
        MpichRabenseifner => "mpich-rabenseifner",
        /// As `mpich-rabenseifner`, the last block taking the remainder (MPICH, non-blocking).
        MpichIrabenseifner => "mpich-irabenseifner",
        /// Up a binomial tree (Open MPI's libnbc, `binomial`).
        NbcBinomial => "nbc-binomial",
        /// Piece by piece along a chain (Open MPI's libnbc, `chain`).
        NbcChain {
            /// Bytes in a piece.
            segment = 8192
        } => "nbc-chain",
    }
}

impl Reduce {
    /// Runs it.
    pub fn run<'a, C: Channel>(self, channel: &'a C, buffer: Buffer, operator: Operator, root: u32) -> Running<'a> {
        let places = Places { count: channel.count(), root };
        let me = channel.me();
        let up_to_root = move |tree: Tree, segment: u64| up(channel, tree, Segments::new(buffer, segment));
        match self {
            Reduce::Linear => Box::pin(linear(channel, buffer, root)),
            Reduce::Chain { segment, chains } => {
                Box::pin(up_to_root(trees::chain(places, me, narrow(chains)), segment))
            }
            Reduce::Pipeline { segment } => Box::pin(up_to_root(trees::chain(places, me, 1), segment)),
            Reduce::Binary { segment } => Box::pin(up_to_root(trees::binary(places, me), segment)),
            Reduce::Binomial { segment } => Box::pin(up_to_root(trees::in_order_binomial(places, me), segment)),
            Reduce::InOrderBinary { segment } => Box::pin(async move {
                up_to_root(trees::in_order_binary(places.count, me), segment).await;
                hand_over(channel, places.count - 1, root, buffer.total()).await;
            }),
            // Fewer elements than blocks, or operands that must stay in order: Open MPI does it linearly.
            Reduce::Rabenseifner
                if !operator.commutes() || buffer.count < u64::from(Folded::onto_even(places.count).power) =>
            {
                Box::pin(linear(channel, buffer, root))
            }
            Reduce::Rabenseifner => Box::pin(rabenseifner(channel, buffer, root, None)),
            Reduce::MpichBinomial => Box::pin(mpich_binomial(channel, buffer, operator, root)),
            Reduce::MpichRabenseifner => Box::pin(rabenseifner(channel, buffer, root, Some(Shares::new))),
            Reduce::MpichIrabenseifner => Box::pin(rabenseifner(channel, buffer, root, Some(Shares::with_last))),
            Reduce::NbcBinomial => Box::pin(libnbc::reduce_binomial(channel, buffer, operator, root)),
            Reduce::NbcChain { segment } => Box::pin(libnbc::reduce_chain(channel, buffer, root, segment)),
        }
    }
}

/// `ompi_coll_base_reduce_intra_basic_linear`: p - 1 messages, one after the other at the root.
pub(super) async fn linear<C: Channel>(channel: &C, buffer: Buffer, root: u32) {
    if channel.me() != root {
        return channel.send(root, buffer.total()).await;
    }
    for rank in (0..channel.count()).rev() {
        if rank != root {
            channel.recv(rank).await;
        }
        // The last rank's data is where the combining starts.
        if rank + 1 < channel.count() {
            channel.combine(buffer.total());
        } else if rank == root {
            channel.copy(buffer.total());
        }
    }
}

/// `ompi_coll_base_reduce_generic`: piece by piece from all children; while one message is combined the next one, of
/// the next child or the next piece, is being received.
async fn up<C: Channel>(channel: &C, tree: Tree, segments: Segments) {
    if tree.children.is_empty() {
        if let Some(parent) = tree.parent {
            for index in 0..segments.number() {
                channel.send(parent, segments.bytes(index)).await;
            }
        }
        return;
    }
    let mut coming = None;
    for index in 0..segments.number() {
        for (position, &child) in tree.children.iter().enumerate() {
            let next = channel.irecv(child).await;
            if let Some(arriving) = coming.replace(next) {
                channel.wait(arriving).await;
                if position > 0 {
                    channel.combine(segments.bytes(index));
                } else {
                    pass_up(channel, &tree, segments.bytes(index - 1)).await;
                }
            }
        }
    }
    if let Some(last) = coming {
        channel.wait(last).await;
        pass_up(channel, &tree, segments.bytes(segments.number() - 1)).await;
    }
}

/// The last child's piece has come: combine it and send the sum to the parent.
async fn pass_up<C: Channel>(channel: &C, tree: &Tree, bytes: u64) {
    channel.combine(bytes);
    if let Some(parent) = tree.parent {
        channel.send(parent, bytes).await;
    }
}

/// The result lies at one rank and belongs to another.
async fn hand_over<C: Channel>(channel: &C, holder: u32, owner: u32, bytes: u64) {
    if holder == owner {
        return;
    }
    if channel.me() == owner {
        channel.recv(holder).await;
    } else if channel.me() == holder {
        channel.send(owner, bytes).await;
    }
}

/// `MPIR_Reduce_intra_binomial`: p - 1 messages, log2 p deep. Where the order matters the tree's root is rank 0.
async fn mpich_binomial<C: Channel>(channel: &C, buffer: Buffer, operator: Operator, root: u32) {
    let tree_root = if operator.commutes() { root } else { 0 };
    let tree = trees::in_order_binomial(Places { count: channel.count(), root: tree_root }, channel.me());
    channel.copy(buffer.total());
    for &child in &tree.children {
        channel.recv(child).await;
        channel.combine(buffer.total());
    }
    if let Some(parent) = tree.parent {
        channel.send(parent, buffer.total()).await;
    }
    hand_over(channel, tree_root, root, buffer.total()).await;
}

/// `ompi_coll_base_reduce_intra_redscat_gather`, `MPIR_Reduce_intra_reduce_scatter_gather`: log2 p steps that halve
/// the data, log2 p steps that gather it; each rank moves about twice the data in all.
///
/// Odd ranks beyond a power of two drop out. If the root is one of them it takes the place of rank 0 in the gather.
/// MPICH makes `blocks` first; Open MPI halves the elements as it goes.
async fn rabenseifner<C: Channel>(channel: &C, buffer: Buffer, root: u32, divide: Option<fn(u64, u64) -> Shares>) {
    let folded = Folded::onto_even(channel.count());
    channel.copy(buffer.total());
    let role = folded.role(channel.me());
    if divide.is_some() {
        fold_whole(channel, buffer, role).await;
    } else {
        fold_halves(channel, buffer, role).await;
    }
    let mut number = role.number();
    let blocks = divide.map(|divide| divide(buffer.count, u64::from(folded.power)));
    let mut halving = Halving::new(buffer, folded.power, blocks);
    if let Some(number) = number {
        halving.reduce_scatter(channel, &folded, number).await;
    }

    let substitute = matches!(folded.role(root), Role::Leaves { .. });
    if substitute && channel.me() == root {
        channel.recv(folded.rank(0)).await;
        number = Some(0);
        halving.pretend(0);
    } else if substitute && number == Some(0) {
        channel.send(root, halving.held_bytes()).await;
        number = None;
    }
    if let Some(number) = number {
        let root_number = folded.role(root).number().unwrap_or(0);
        halving.gather(channel, &folded, number, root_number, substitute.then_some(root)).await;
    }
}

/// The one that drops out sends all its data to the partner, who combines.
pub(super) async fn fold_whole<C: Channel>(channel: &C, buffer: Buffer, role: Role) {
    match role {
        Role::Leaves { partner } => channel.send(partner, buffer.total()).await,
        Role::Stays { partner, .. } => {
            channel.recv(partner).await;
            channel.combine(buffer.total());
        }
        Role::Alone { .. } => {}
    }
}

/// Each of the pair combines one half; the one that drops out then sends its half to the partner.
pub(super) async fn fold_halves<C: Channel>(channel: &C, buffer: Buffer, role: Role) {
    let left = buffer.bytes(buffer.count / 2);
    let right = buffer.total() - left;
    match role {
        Role::Leaves { partner } => {
            channel.swap(partner, left).await;
            channel.combine(right);
            channel.send(partner, right).await;
        }
        Role::Stays { partner, .. } => {
            channel.swap(partner, right).await;
            channel.combine(left);
            channel.recv(partner).await;
        }
        Role::Alone { .. } => {}
    }
}
