//! MPI_Scan: to each the combined data of the ranks up to itself.

use super::algorithm::{Running, algorithms};
use super::buffer::Buffer;
use super::channel::Channel;

algorithms! {
    /// How a scan works.
    Scan for "scan" {
        /// From rank to rank (Open MPI 1, `linear`).
        Linear => "linear",
        /// Pairs at doubling distance exchange (Open MPI 2, MPICH `recursive_doubling`).
        RecursiveDoubling => "recursive-doubling",
    }
}

impl Scan {
    /// Runs it.
    pub fn run<'a, C: Channel>(self, channel: &'a C, buffer: Buffer) -> Running<'a> {
        match self {
            Scan::Linear => Box::pin(linear(channel, buffer)),
            Scan::RecursiveDoubling => Box::pin(recursive_doubling(channel, buffer, Kind::Inclusive)),
        }
    }
}

/// `ompi_coll_base_scan_intra_linear`: p - 1 messages one after the other.
async fn linear<C: Channel>(channel: &C, buffer: Buffer) {
    let me = channel.me();
    channel.copy(buffer.total());
    if me > 0 {
        channel.recv(me - 1).await;
        channel.combine(buffer.total());
    }
    if me + 1 < channel.count() {
        channel.send(me + 1, buffer.total()).await;
    }
}

/// What a rank does with data from below it: into its own result, and into what it passes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The own data is part of the result.
    Inclusive,
    /// The first data from below is the result so far: copied, not combined.
    Exclusive,
}

/// `ompi_coll_base_(ex)scan_intra_recursivedoubling`, `MPIR_(Ex)scan_intra_recursive_doubling`: up to ceil(log2 p)
/// exchanges; partners that do not exist are left out.
pub(super) async fn recursive_doubling<C: Channel>(channel: &C, buffer: Buffer, kind: Kind) {
    let (me, bytes) = (channel.me(), buffer.total());
    channel.copy(if kind == Kind::Inclusive { 2 * bytes } else { bytes });
    let mut result_is_empty = kind == Kind::Exclusive;
    let mut distance = 1;
    while distance < channel.count() {
        let partner = me ^ distance;
        if partner < channel.count() {
            channel.swap(partner, bytes).await;
            channel.combine(bytes);
            if me > partner && std::mem::take(&mut result_is_empty) {
                channel.copy(bytes);
            } else if me > partner {
                channel.combine(bytes);
            }
        }
        distance *= 2;
    }
}
