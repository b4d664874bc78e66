//! The messages of a table of traffic, sent once more.

use std::rc::Rc;

use hpcast_mapping::{Counts, Traffic};
use hpcast_mpi::{Outcome, Rank, RunError, Setup};

/// Where a pair of ranks has sent more messages than this, only a share of the traffic is sent again.
const MOST_ROUNDS: u64 = 10;

/// Fewer rounds where all pairs together would send more than this, so that a replay takes about as long as the mapping.
const MANY_MESSAGES: u64 = 200_000;

/// Rounds in which every rank posts a message from and to each of its partners, all at once, and waits for them.
pub(super) struct Replay {
    ranks: Vec<Partners>,
    /// As many as the pair with the most messages sends.
    pub rounds: u64,
    /// Of all pairs together.
    pub messages: u64,
    /// How much of the traffic that is.
    pub share: f64,
}

/// Whom a rank hears from, and whom it sends to.
#[derive(Default)]
struct Partners {
    from: Vec<Stream>,
    to: Vec<Stream>,
}

/// What goes from one rank to another: a message in each of the first rounds.
#[derive(Clone, Copy)]
struct Stream {
    partner: u32,
    messages: u64,
    bytes: u64,
}

impl Stream {
    /// All have the same size, but for a byte.
    fn size(self, round: u64) -> u64 {
        self.bytes / self.messages + u64::from(round < self.bytes % self.messages)
    }
}

impl Replay {
    pub fn of(traffic: &Traffic) -> Replay {
        let mut ranks: Vec<Partners> = (0..traffic.ranks()).map(|_| Partners::default()).collect();
        let most = traffic.pairs().map(|(_, _, counts)| counts.messages).max().unwrap_or(0).max(1);
        let pairs = traffic.pairs().count().max(1) as u64;
        let rounds = most.min((MANY_MESSAGES / pairs).clamp(1, MOST_ROUNDS));
        // The same share of each pair's messages and bytes, so that messages keep their size.
        let share = |number: u64| {
            let (number, rounds, most) = (u128::from(number), u128::from(rounds), u128::from(most));
            ((number * rounds + most / 2) / most) as u64
        };
        let mut all = 0;
        for (from, to, Counts { messages, bytes }) in traffic.pairs() {
            let (messages, bytes) = (share(messages).max(1), share(bytes));
            ranks[from as usize].to.push(Stream { partner: to, messages, bytes });
            ranks[to as usize].from.push(Stream { partner: from, messages, bytes });
            all += messages;
        }
        for (rank, partners) in (0..).zip(&mut ranks) {
            partners.to.sort_by_key(|stream| after(rank, stream.partner));
        }
        Replay { ranks, rounds, messages: all, share: rounds as f64 / most as f64 }
    }

    pub fn run(self: &Rc<Replay>, setup: Setup) -> Result<Outcome, RunError> {
        hpcast_mpi::run(setup, |rank| {
            let replay = self.clone();
            async move { replay.body(rank).await }
        })
    }

    async fn body(&self, rank: Rank) {
        let (world, Partners { from, to }) = (rank.world(), &self.ranks[rank.number() as usize]);
        for round in 0..self.rounds {
            let is_left = |stream: &&Stream| round < stream.messages;
            let mut requests = Vec::new();
            for stream in from.iter().filter(is_left) {
                requests.push(rank.irecv(world, stream.partner, 0).await);
            }
            for stream in to.iter().filter(is_left) {
                requests.push(rank.isend(world, stream.partner, 0, stream.size(round)));
            }
            rank.wait_all(requests).await;
            if rank.number() == 0 {
                rank.progress((round + 1) as f64 / self.rounds as f64);
            }
        }
    }
}

/// Ranks send to those behind them first, so that not all begin with the same.
fn after(rank: u32, partner: u32) -> (bool, u32) {
    (partner < rank, partner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(pairs: &[(u32, u32, u64, u64)]) -> Replay {
        let mut traffic = Traffic::new(4);
        for &(from, to, messages, bytes) in pairs {
            traffic.add(from, to, Counts { messages, bytes });
        }
        Replay::of(&traffic)
    }

    /// Partners of rank 2 and what it sends to them.
    fn sent(replay: &Replay) -> Vec<(u32, Vec<u64>)> {
        let sizes = |stream: &Stream| (0..stream.messages).map(|round| stream.size(round)).collect();
        replay.ranks[2].to.iter().map(|stream| (stream.partner, sizes(stream))).collect()
    }

    #[test]
    fn few_messages_are_sent_again_as_they_are() {
        let replay = replay(&[(2, 0, 5, 500), (2, 3, 3, 10), (2, 2, 0, 5), (0, 1, 1, 0)]);
        assert_eq!((replay.rounds, replay.messages, replay.share), (5, 10, 1.0));
        assert_eq!(sent(&replay), [(2, vec![5]), (3, vec![4, 3, 3]), (0, vec![100; 5])]);
        let heard: Vec<u32> = replay.ranks[0].from.iter().map(|stream| stream.partner).collect();
        assert_eq!(heard, [2]);
    }

    /// Sizes stay, unless a pair has sent less than a message a share: its bytes count for as much as those of the others.
    #[test]
    fn of_many_messages_a_share_is_sent() {
        let replay = replay(&[(2, 0, 1000, 7_000_000), (2, 1, 500, 1000), (2, 3, 1, 100_000)]);
        assert_eq!((replay.rounds, replay.messages, replay.share), (10, 16, 0.01));
        assert_eq!(sent(&replay), [(3, vec![1000]), (0, vec![7000; 10]), (1, vec![2; 5])]);
        let nothing = Replay::of(&Traffic::default());
        assert_eq!((nothing.messages, nothing.share), (0, 1.0));
    }
}
