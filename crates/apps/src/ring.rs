//! A ring: every rank sends to the next and receives from the one before, all at once, again and again.

use hpcast_mpi::Rank;

use crate::timer::Timer;

pub(crate) async fn ring(rank: Rank, bytes: u64, count: u64, timer: Timer) {
    let world = rank.world();
    let (me, size) = (rank.number(), world.size());
    let (next, before) = ((me + 1) % size, (me + size - 1) % size);
    for round in 0..count {
        let start = rank.now();
        rank.sendrecv(world, (next, 0, bytes), (before, 0)).await;
        timer.record(rank.now() - start);
        if me == 0 {
            rank.progress(round as f64 / count as f64);
        }
    }
}
