//! Ping-pong of pairs: rank 0 with 1, 2 with 3 and so on (Janssen et al. 2010, figure 6). With an odd number of ranks the
//! last one sits out. Random placement of the ranks shows what the network's shape does to it (figures 9 and 10).

use hpcast_mpi::Rank;

use crate::timer::Timer;

/// `count` round trips of `bytes` in each direction; an iteration is half a round trip, the latency as benchmarks say it.
pub(crate) async fn pingpong(rank: Rank, bytes: u64, count: u64, timer: Timer) {
    let world = rank.world();
    let me = rank.number();
    let peer = me ^ 1;
    if peer >= world.size() {
        return;
    }
    let start = rank.now();
    for round in 0..count {
        if me & 1 == 0 {
            rank.send(world, peer, 0, bytes).await;
            rank.recv(world, peer, 0).await;
        } else {
            rank.recv(world, peer, 0).await;
            rank.send(world, peer, 0, bytes).await;
        }
        if me == 0 {
            rank.progress(round as f64 / count as f64);
        }
    }
    if me & 1 == 0 {
        timer.record_many(rank.now() - start, 2 * count);
    }
}
