//! MPI_Barrier: nobody leaves before everybody has come.

use super::algorithm::{Running, algorithms};
use super::channel::Channel;
use super::trees::floor_power_of_two;

algorithms! {
    /// How a barrier works. All messages are empty.
    Barrier for "barrier" {
        /// Everybody reports to rank 0, which answers each (Open MPI 1, `basic_linear`).
        Linear => "linear",
        /// A token goes round the ring twice (Open MPI 2, `double_ring`).
        DoubleRing => "double-ring",
        /// Pairs at doubling distance exchange (Open MPI 3, `recursive_doubling`).
        RecursiveDoubling => "recursive-doubling",
        /// Each sends ahead and receives from behind at doubling distance (Open MPI 4, `bruck`; MPICH `dissemination`).
        Bruck => "bruck",
        /// The two ranks exchange (Open MPI 5, `two_proc`).
        TwoProcesses => "two-processes",
        /// Up a binomial tree and down again (Open MPI 6, `tree`).
        Tree => "tree",
    }
    fn supports(self, ranks: u32) -> bool {
        self != Barrier::TwoProcesses || ranks == 2
    }
}

impl Barrier {
    /// Runs it.
    pub fn run<'a, C: Channel>(self, channel: &'a C) -> Running<'a> {
        match self {
            Barrier::Linear => Box::pin(linear(channel)),
            Barrier::DoubleRing => Box::pin(double_ring(channel)),
            Barrier::RecursiveDoubling => Box::pin(recursive_doubling(channel)),
            Barrier::Bruck => Box::pin(bruck(channel)),
            Barrier::TwoProcesses => Box::pin(channel.swap(channel.me() ^ 1, 0)),
            Barrier::Tree => Box::pin(tree(channel)),
        }
    }
}

/// `ompi_coll_base_barrier_intra_basic_linear`: 2 (p - 1) messages, all of them at rank 0.
async fn linear<C: Channel>(channel: &C) {
    if channel.me() > 0 {
        channel.send(0, 0).await;
        channel.recv(0).await;
        return;
    }
    let mut arrivals = Vec::with_capacity(channel.count() as usize);
    for rank in 1..channel.count() {
        arrivals.push(channel.irecv(rank).await);
    }
    channel.wait_all(arrivals).await;
    for rank in 1..channel.count() {
        channel.send(rank, 0).await;
    }
}

/// `ompi_coll_base_barrier_intra_doublering`: 2 p messages one after the other; the second round is synchronous.
async fn double_ring<C: Channel>(channel: &C) {
    let (left, right) = (channel.before(1), channel.after(1));
    let first = channel.me() == 0;
    if !first {
        channel.recv(left).await;
    }
    channel.send(right, 0).await;
    channel.recv(left).await;
    channel.send_synchronous(right, 0).await;
    if first {
        channel.recv(left).await;
    }
}

/// `ompi_coll_base_barrier_intra_recursivedoubling`: log2 p exchanges; ranks beyond a power of two report to one
/// below it and wait for its answer.
async fn recursive_doubling<C: Channel>(channel: &C) {
    let (me, count) = (channel.me(), channel.count());
    let power = floor_power_of_two(count);
    if me >= power {
        channel.swap(me - power, 0).await;
        return;
    }
    let guest = (me < count - power).then_some(me + power);
    if let Some(guest) = guest {
        channel.recv(guest).await;
    }
    let mut distance = 1;
    while distance < power {
        channel.swap(me ^ distance, 0).await;
        distance *= 2;
    }
    if let Some(guest) = guest {
        channel.send_synchronous(guest, 0).await;
    }
}

/// `ompi_coll_base_barrier_intra_bruck`, `MPIR_Barrier_intra_dissemination`: ceil(log2 p) exchanges of each rank.
async fn bruck<C: Channel>(channel: &C) {
    let mut distance = 1;
    while distance < channel.count() {
        channel.exchange(channel.after(distance), 0, channel.before(distance)).await;
        distance *= 2;
    }
}

/// `ompi_coll_base_barrier_intra_tree`: p - 1 messages up, p - 1 messages down, 2 log2 p deep.
async fn tree<C: Channel>(channel: &C) {
    let (me, count) = (channel.me(), channel.count());
    let depth = count.next_power_of_two();
    let partner = |jump: u32| Some(me ^ jump).filter(|partner| partner % jump == 0 && *partner < count);
    let mut jump = 1;
    while jump < depth {
        match partner(jump) {
            Some(partner) if partner > me => channel.recv(partner).await,
            Some(partner) => channel.send(partner, 0).await,
            None => {}
        }
        jump *= 2;
    }
    while jump > 1 {
        jump /= 2;
        match partner(jump) {
            Some(partner) if partner > me => channel.send(partner, 0).await,
            Some(partner) => channel.recv(partner).await,
            None => {}
        }
    }
}
