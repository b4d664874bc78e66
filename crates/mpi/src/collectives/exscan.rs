//! MPI_Exscan: to each the combined data of the ranks before itself.

use super::algorithm::{Running, algorithms};
use super::buffer::Buffer;
use super::channel::Channel;
use super::scan;

algorithms! {
    /// How an exclusive scan works.
    Exscan for "exscan" {
        /// From rank to rank (Open MPI 1, `linear`).
        Linear => "linear",
        /// Pairs at doubling distance exchange (Open MPI 2, MPICH `recursive_doubling`).
        RecursiveDoubling => "recursive-doubling",
    }
}

impl Exscan {
    /// Runs it.
    pub fn run<'a, C: Channel>(self, channel: &'a C, buffer: Buffer) -> Running<'a> {
        match self {
            Exscan::Linear => Box::pin(linear(channel, buffer)),
            Exscan::RecursiveDoubling => Box::pin(scan::recursive_doubling(channel, buffer, scan::Kind::Exclusive)),
        }
    }
}

/// `ompi_coll_base_exscan_intra_linear`: p - 1 messages one after the other.
async fn linear<C: Channel>(channel: &C, buffer: Buffer) {
    let (me, bytes) = (channel.me(), buffer.total());
    let last = me + 1 == channel.count();
    if me > 0 {
        if !last {
            channel.copy(bytes);
        }
        channel.recv(me - 1).await;
        if !last {
            channel.combine(bytes);
        }
    }
    if !last {
        channel.send(me + 1, bytes).await;
    }
}
