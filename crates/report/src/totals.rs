//! What the simulations of a run add up to. A run over many sizes is one simulation after the other.

use hpcast_models::network::Timeline;
use hpcast_mpi::{Activity, Outcome, RankOutcome};
use hpcast_units::Time;

/// The time of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTimes {
    /// When it finished; summed over simulations.
    pub finished: Time,
    /// By activity, in the order of [`Activity::ALL`].
    pub spent: [Time; 4],
}

impl From<RankOutcome> for RankTimes {
    fn from(rank: RankOutcome) -> RankTimes {
        RankTimes { finished: rank.finished, spent: Activity::ALL.map(|activity| rank.spent.on(activity)) }
    }
}

/// Sums over simulations on the same machine. Ranks that a simulation does not have spend no time in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// From beginning to end, one simulation after the other.
    pub simulated: Time,
    /// What the ranks spent their time on, by rank.
    pub ranks: Vec<RankTimes>,
    /// Messages sent.
    pub messages: u64,
    /// Bytes of data sent.
    pub bytes: u64,
    /// Messages that no rank received.
    pub unreceived: u64,
    /// Bytes that crossed each link, by link id; empty where the model does not know links.
    pub link_bytes: Vec<f64>,
    /// What crossed each link when, if all simulations watched that.
    pub timeline: Option<Timeline>,
}

impl Totals {
    /// Adds one more simulation.
    pub fn add(&mut self, outcome: Outcome) {
        let is_first = self.link_bytes.is_empty();
        match (&mut self.timeline, &outcome.timeline) {
            (Some(timeline), Some(more)) => timeline.append(more, self.simulated),
            (timeline @ None, Some(first)) if is_first => *timeline = Some(first.clone()),
            (timeline, _) => *timeline = None,
        }
        self.simulated += outcome.simulated;
        self.messages += outcome.messages;
        self.bytes += outcome.bytes;
        self.unreceived += outcome.unreceived;
        self.ranks.resize(self.ranks.len().max(outcome.ranks.len()), RankTimes::default());
        for (sum, rank) in self.ranks.iter_mut().zip(outcome.ranks) {
            let rank = RankTimes::from(rank);
            sum.finished += rank.finished;
            for (sum, time) in sum.spent.iter_mut().zip(rank.spent) {
                *sum += time;
            }
        }
        if self.link_bytes.is_empty() {
            self.link_bytes = outcome.link_bytes;
        } else {
            for (sum, bytes) in self.link_bytes.iter_mut().zip(outcome.link_bytes) {
                *sum += bytes;
            }
        }
    }
}

impl From<Outcome> for Totals {
    fn from(outcome: Outcome) -> Totals {
        let mut totals = Totals::default();
        totals.add(outcome);
        totals
    }
}

/// In seconds, as the nearest double, so that it prints without spurious digits.
pub(crate) fn seconds(time: Time) -> f64 {
    time.as_ps() as f64 / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcast_mpi::Spent;

    fn outcome(ps: u64) -> Outcome {
        let finished = Time::from_ps(ps);
        Outcome {
            simulated: finished,
            ranks: vec![RankOutcome { finished, spent: Spent::default() }; 2],
            messages: 3,
            bytes: 24,
            unreceived: 1,
            first_unreceived: Vec::new(),
            link_bytes: vec![8.0, 16.0],
            timeline: None,
        }
    }

    #[test]
    fn simulations_follow_each_other() {
        let mut totals = Totals::from(outcome(10));
        totals.add(outcome(5));
        assert_eq!(totals.simulated, Time::from_ps(15));
        assert_eq!(totals.ranks[1].finished, Time::from_ps(15));
        assert_eq!((totals.messages, totals.bytes, totals.unreceived), (6, 48, 2));
        assert_eq!(totals.link_bytes, [16.0, 32.0]);
    }

    #[test]
    fn simulations_may_have_more_or_fewer_ranks() {
        let mut totals = Totals::from(outcome(10));
        let mut larger = outcome(5);
        larger.ranks.push(larger.ranks[0]);
        totals.add(larger);
        totals.add(outcome(1));
        assert_eq!(totals.ranks.iter().map(|rank| rank.finished.as_ps()).collect::<Vec<_>>(), [16, 16, 5]);
    }

    #[test]
    fn seconds_have_no_spurious_digits() {
        assert_eq!(seconds(Time::from_ps(1_234_567)).to_string(), "0.000001234567");
    }
}
