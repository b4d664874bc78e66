//! Gantt charts: what each of a few ranks did when, and which messages went where.
//!
//! [`GanttRecorder`] watches a simulation; [`svg`] draws what it has seen. For many ranks there is [`crate::trace`].

mod draw;

use hpcast_mpi::{Activity, Delivered, Observer};
use hpcast_units::{Time, count};

use crate::lanes::Lanes;

pub use draw::svg;

/// More lanes than this cannot be told apart on a page.
pub const MOST_RANKS: u32 = 64;
/// Intervals that are kept: more make a picture of many megabytes in which nothing can be seen.
const MOST_INTERVALS: usize = 40_000;
/// Messages that are kept; far fewer are drawn.
const MOST_MESSAGES: usize = 40_000;

/// Why there can be no chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GanttError {
    /// Too many ranks for one page.
    #[error(
        "a Gantt chart has room for {MOST_RANKS} ranks, and this run has {}; write a trace instead \
         (--trace file.json) and open it in https://ui.perfetto.dev",
        count(u64::from(*ranks))
    )]
    TooManyRanks {
        /// Ranks of the run.
        ranks: u32,
    },
}

/// A stretch of time that a rank spent on one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    rank: u32,
    /// 0, or more for what overlaps with something else that the rank does.
    lane: usize,
    activity: Activity,
    from: Time,
    until: Time,
}

/// An observer that keeps what a chart needs, up to a limit; what it had to leave out is said on the chart.
#[derive(Debug)]
pub struct GanttRecorder {
    ranks: u32,
    intervals: Vec<Interval>,
    messages: Vec<Delivered>,
    lanes: Lanes,
    /// For each rank and lane the interval that the next one may continue.
    last: Vec<Vec<usize>>,
    /// Before this time nothing is missing.
    complete_until: Time,
    most_intervals: usize,
}

impl GanttRecorder {
    /// For a run of so many ranks, if they are few enough.
    pub fn new(ranks: u32) -> Result<GanttRecorder, GanttError> {
        if ranks > MOST_RANKS {
            return Err(GanttError::TooManyRanks { ranks });
        }
        Ok(GanttRecorder {
            ranks,
            intervals: Vec::new(),
            messages: Vec::new(),
            lanes: Lanes::default(),
            last: vec![Vec::new(); ranks as usize],
            complete_until: Time::NEVER,
            most_intervals: MOST_INTERVALS,
        })
    }

    /// Whether recording had to stop before the end of the run.
    pub fn is_cut(&self) -> bool {
        self.complete_until != Time::NEVER
    }

    /// The end of what the chart shows.
    fn end(&self) -> Time {
        let recorded = self.intervals.iter().map(|interval| interval.until);
        let end = recorded.chain(self.messages.iter().map(|message| message.arrived)).max().unwrap_or_default();
        // If something of the very beginning is missing, an incomplete chart is better than an empty one.
        if self.complete_until == Time::ZERO { end } else { end.min(self.complete_until) }
    }
}

impl Observer for GanttRecorder {
    fn spent(&mut self, rank: u32, activity: Activity, from: Time, until: Time) {
        let lane = self.lanes.place(rank, from, until);
        let last = &mut self.last[rank as usize];
        if let Some(&place) = last.get(lane) {
            let last = &mut self.intervals[place];
            if last.activity == activity && last.until == from {
                last.until = until;
                return;
            }
        }
        if self.intervals.len() >= self.most_intervals {
            self.complete_until = self.complete_until.min(from);
            return;
        }
        if last.len() <= lane {
            last.resize(lane + 1, self.intervals.len());
        }
        last[lane] = self.intervals.len();
        self.intervals.push(Interval { rank, lane, activity, from, until });
    }

    fn delivered(&mut self, message: Delivered) {
        if self.messages.len() >= MOST_MESSAGES {
            self.complete_until = self.complete_until.min(message.sent);
        } else {
            self.messages.push(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_ps(us * 1_000_000)
    }

    #[test]
    fn many_ranks_are_refused_with_a_remedy() {
        assert!(GanttRecorder::new(64).is_ok());
        let error = GanttRecorder::new(4096).unwrap_err();
        assert!(error.to_string().contains("has 4,096") && error.to_string().contains("--trace"), "{error}");
    }

    #[test]
    fn equal_activities_in_a_row_are_one() {
        let mut recorder = GanttRecorder::new(2).unwrap();
        recorder.spent(0, Activity::Compute, us(0), us(1));
        recorder.spent(1, Activity::Compute, us(0), us(1));
        recorder.spent(0, Activity::Compute, us(1), us(2));
        recorder.spent(0, Activity::Wait, us(2), us(3));
        recorder.spent(0, Activity::Wait, us(4), us(5));
        let lengths: Vec<(u32, u64)> = recorder
            .intervals
            .iter()
            .map(|interval| (interval.rank, interval.until.since(interval.from).as_ps()))
            .collect();
        assert_eq!(lengths, [(0, 2_000_000), (1, 1_000_000), (0, 1_000_000), (0, 1_000_000)]);
    }

    #[test]
    fn memory_is_bounded_and_the_chart_says_so() {
        let mut recorder = GanttRecorder::new(1).unwrap();
        recorder.most_intervals = 10;
        for step in 0..100 {
            let activity = if step % 2 == 0 { Activity::Compute } else { Activity::Wait };
            recorder.spent(0, activity, us(step), us(step + 1));
        }
        assert_eq!(recorder.intervals.len(), 10);
        assert!(recorder.is_cut());
        assert_eq!(recorder.end(), us(10));
        assert!(svg(&recorder, "x").contains("Only the first 10 us are shown"));
    }

    #[test]
    fn everything_recorded_is_drawn() {
        let mut recorder = GanttRecorder::new(3).unwrap();
        recorder.spent(0, Activity::Send, us(0), us(2));
        recorder.spent(1, Activity::Wait, us(0), us(5));
        recorder.spent(1, Activity::Receive, us(5), us(6));
        recorder.delivered(Delivered { from: 0, to: 1, bytes: 8, sent: us(2), arrived: us(5) });
        let svg = svg(&recorder, "<pair>");
        for text in
            ["&lt;pair&gt;", ">rank 0<", ">rank 2<", "rank 1: wait 5 us", "rank 0 to 1: 8 B in 3 us", "time (us)"]
        {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(svg.matches("marker-end").count(), 2, "a message, and its sample in the legend");
    }

    #[test]
    fn a_chart_of_nothing_is_still_a_chart() {
        assert!(svg(&GanttRecorder::new(0).unwrap(), "").ends_with("</svg>\n"));
    }
}
