//! Halo exchange: ranks on a periodic grid of two or three dimensions, each exchanging a face with every neighbour.

use hpcast_mpi::{Rank, balanced_dims};
use hpcast_units::Time;

use crate::timer::Timer;

/// `count` iterations: compute, post all receives, post all sends, wait for all.
pub(crate) async fn halo(rank: Rank, dimensions: usize, bytes: u64, count: u64, compute: Time, timer: Timer) {
    let world = rank.world();
    let dims = balanced_dims(world.size(), dimensions);
    let grid = rank.cartesian(world, &dims, &vec![true; dimensions]).await;
    let comm = grid.comm();
    // For each direction: whom it comes from and whom it goes to. A dimension of one rank exchanges nothing.
    let mut faces: Vec<(u32, u32)> = Vec::new();
    for (dimension, &length) in dims.iter().enumerate() {
        for by in [1, -1] {
            if let (Some(from), Some(to)) = grid.shift(dimension, by)
                && length > 1
            {
                faces.push((from, to));
            }
        }
    }
    for round in 0..count {
        let start = rank.now();
        rank.compute(compute);
        let mut requests = Vec::with_capacity(2 * faces.len());
        for (tag, &(from, _)) in (0..).zip(&faces) {
            requests.push(rank.irecv(comm, from, tag).await);
        }
        for (tag, &(_, to)) in (0..).zip(&faces) {
            requests.push(rank.isend(comm, to, tag, bytes));
        }
        rank.wait_all(requests).await;
        timer.record(rank.now() - start);
        if rank.number() == 0 {
            rank.progress(round as f64 / count as f64);
        }
    }
}
