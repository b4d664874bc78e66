//! Random traffic: in each round every rank sends to one rank and receives from one, by a random permutation.
//!
//! With a window of 1 a round must end before the rank starts the next (random permutation traffic); with a larger
//! window the rank keeps so many rounds in flight, which loads the network with `ranks * window` flows.

use std::collections::VecDeque;
use std::rc::Rc;

use hpcast_engine::Key;
use hpcast_mpi::Rank;

use crate::timer::Timer;

/// Who sends to whom in each round: known to all ranks, drawn from the seed.
pub(crate) struct Permutations {
    rounds: Vec<Round>,
}

struct Round {
    /// Destination by rank.
    to: Box<[u32]>,
    /// Source by rank.
    from: Box<[u32]>,
}

impl Permutations {
    /// One permutation for each round, keyed by seed and round; a rank may draw itself.
    pub fn draw(ranks: u32, rounds: u64, seed: u64) -> Permutations {
        let stream = Key::new(seed).purpose("permutation");
        let rounds = (0..rounds as u32)
            .map(|round| {
                let mut to: Vec<u32> = (0..ranks).collect();
                stream.shuffle(&mut to, round);
                let mut from = vec![0; ranks as usize];
                for (source, &destination) in (0..).zip(&to) {
                    from[destination as usize] = source;
                }
                Round { to: to.into_boxed_slice(), from: from.into_boxed_slice() }
            })
            .collect();
        Permutations { rounds }
    }
}

pub(crate) async fn traffic(rank: Rank, bytes: u64, window: usize, permutations: Rc<Permutations>, timer: Timer) {
    let world = rank.world();
    let me = rank.number() as usize;
    let mut flying = VecDeque::with_capacity(window);
    let start = rank.now();
    let count = permutations.rounds.len();
    for (round, Round { to, from }) in permutations.rounds.iter().enumerate() {
        if flying.len() == window
            && let Some(oldest) = flying.pop_front()
        {
            rank.wait_all(oldest).await;
        }
        let tag = round as i32;
        let receive = rank.irecv(world, from[me], tag).await;
        let send = rank.isend(world, to[me], tag, bytes);
        flying.push_back(vec![receive, send]);
        if me == 0 {
            rank.progress(round as f64 / count as f64);
        }
    }
    for requests in flying {
        rank.wait_all(requests).await;
    }
    timer.record_many(rank.now() - start, count as u64);
}
