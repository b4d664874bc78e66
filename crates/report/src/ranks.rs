//! What the ranks spent their time on: a summary over ranks, and every rank where that is wanted.

use hpcast_mpi::Activity;
use hpcast_units::Time;
use serde::Serialize;

use crate::totals::{RankTimes, seconds};

/// So many ranks are listed one by one without being asked for.
pub const FEW_RANKS: usize = 1024;

/// One figure over all ranks; of equal ranks the first is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Mean over ranks.
    pub mean_seconds: f64,
    /// The smallest.
    pub min_seconds: f64,
    /// The rank that has it.
    pub min_rank: u32,
    /// The largest.
    pub max_seconds: f64,
    /// The rank that has it.
    pub max_rank: u32,
}

impl Spread {
    fn of(times: impl Iterator<Item = Time>) -> Spread {
        // Millions of ranks times days of picoseconds do not fit in 64 bits.
        let (mut sum, mut ranks) = (0u128, 0u32);
        let (mut min, mut max) = ((Time::NEVER, 0), (Time::ZERO, 0));
        for (rank, time) in (0..).zip(times) {
            sum += u128::from(time.as_ps());
            ranks += 1;
            if time < min.0 || rank == 0 {
                min = (time, rank);
            }
            if time > max.0 || rank == 0 {
                max = (time, rank);
            }
        }
        if ranks == 0 {
            return Spread::default();
        }
        Spread {
            mean_seconds: sum as f64 / f64::from(ranks) / 1e12,
            min_seconds: seconds(min.0),
            min_rank: min.1,
            max_seconds: seconds(max.0),
            max_rank: max.1,
        }
    }
}

/// What the ranks spent their time on, over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankSummary {
    /// When they finished.
    pub finished: Spread,
    /// Computing.
    pub compute: Spread,
    /// The sender's part of messages.
    pub send: Spread,
    /// The receiver's part of messages.
    pub receive: Spread,
    /// Waiting for another rank or for the network.
    pub wait: Spread,
    /// Every rank, where that was asked for or there are few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_rank: Option<PerRank>,
}

/// Seconds of every rank, by rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)] // the same names as in RankSummary
pub struct PerRank {
    pub finished: Vec<f64>,
    pub compute: Vec<f64>,
    pub send: Vec<f64>,
    pub receive: Vec<f64>,
    pub wait: Vec<f64>,
}

impl RankSummary {
    /// Sums up; lists every rank if `all` or if there are at most 1,024.
    pub fn of(ranks: &[RankTimes], all: bool) -> RankSummary {
        let on = |activity: Activity| ranks.iter().map(move |rank| rank.spent[activity as usize]);
        let list = |activity| on(activity).map(seconds).collect();
        RankSummary {
            finished: Spread::of(ranks.iter().map(|rank| rank.finished)),
            compute: Spread::of(on(Activity::Compute)),
            send: Spread::of(on(Activity::Send)),
            receive: Spread::of(on(Activity::Receive)),
            wait: Spread::of(on(Activity::Wait)),
            per_rank: (all || ranks.len() <= FEW_RANKS).then(|| PerRank {
                finished: ranks.iter().map(|rank| seconds(rank.finished)).collect(),
                compute: list(Activity::Compute),
                send: list(Activity::Send),
                receive: list(Activity::Receive),
                wait: list(Activity::Wait),
            }),
        }
    }

    /// The activities with their names, in the order in which they are reported.
    pub fn activities(&self) -> [(Activity, Spread); 4] {
        Activity::ALL.map(|activity| {
            let spread = match activity {
                Activity::Compute => self.compute,
                Activity::Send => self.send,
                Activity::Receive => self.receive,
                Activity::Wait => self.wait,
            };
            (activity, spread)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(ps: &[u64]) -> Vec<RankTimes> {
        let time = |ps: &u64| {
            let time = Time::from_ps(*ps);
            RankTimes { finished: time, spent: [Time::ZERO, Time::ZERO, Time::ZERO, time] }
        };
        ps.iter().map(time).collect()
    }

    #[test]
    fn extremes_name_the_first_rank_that_has_them() {
        let summary = RankSummary::of(&waits(&[3_000_000, 1_000_000, 1_000_000, 3_000_000]), false);
        let expected = Spread { mean_seconds: 2e-6, min_seconds: 1e-6, min_rank: 1, max_seconds: 3e-6, max_rank: 0 };
        assert_eq!(summary.wait, expected);
        assert_eq!(summary.compute, Spread::default());
        assert_eq!(summary.per_rank.unwrap().wait, [3e-6, 1e-6, 1e-6, 3e-6]);
    }

    #[test]
    fn many_ranks_are_listed_only_on_demand() {
        let ranks = waits(&vec![1; FEW_RANKS + 1]);
        assert_eq!(RankSummary::of(&ranks, false).per_rank, None);
        assert!(RankSummary::of(&ranks, true).per_rank.is_some());
    }

    #[test]
    fn sums_do_not_overflow() {
        let summary = RankSummary::of(&waits(&[u64::MAX - 1; 4]), false);
        assert!((summary.finished.mean_seconds / 18_446_744.073_709 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn no_ranks_no_figures() {
        assert_eq!(RankSummary::of(&[], false).finished, Spread::default());
    }
}
