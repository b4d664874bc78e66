//! The course of a run: how long its panels took, from the first to the last, and what the time went to.
//!
//! A panel takes as long as a mean process is at its update and at what it does beside, such as factoring the next one. The
//! first begins with the run, and the last ends with it, after the triangular solve.

use super::HplFinding;
use super::account::{PanelAccount, Phase};
use super::stretch::Stretch;

/// Enough for a picture, and small for however long a run.
const MOST_PIECES: u64 = 256;

/// How seconds are split between the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Split {
    /// In the order of [`Phase::ALL`], waiting included.
    pub spent: [f64; Phase::ALL.len()],
    /// The part of it in which a process waits.
    pub waited: [f64; Phase::ALL.len()],
}

impl Split {
    pub(super) fn of<'p>(panels: impl IntoIterator<Item = &'p PanelAccount>) -> Split {
        let mut split = Split::default();
        for panel in panels {
            let spent = panel.spent.map(|sum| sum.as_secs());
            let waited = panel.waited.map(|sum| sum.as_secs());
            split.add(&Split { spent, waited });
        }
        split
    }

    /// Seconds of all phases.
    pub fn total(&self) -> f64 {
        self.spent.iter().sum()
    }

    /// The same shares of other seconds; all zero if there are no shares.
    pub(super) fn scaled_to(self, seconds: f64) -> Split {
        let total = self.total();
        let factor = if total > 0.0 { seconds / total } else { 0.0 };
        Split { spent: self.spent.map(|time| time * factor), waited: self.waited.map(|time| time * factor) }
    }

    fn add(&mut self, other: &Split) {
        let add = |sums: &mut [f64], more: &[f64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.spent, &other.spent);
        add(&mut self.waited, &other.waited);
    }

    /// Between this one and another, by their shares: 0 is this one, 1 the other.
    pub(super) fn towards(self, other: Split, part: f64) -> Split {
        let mut split = self.scaled_to(1.0 - part);
        split.add(&other.scaled_to(part));
        split
    }
}

/// Some panels that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Which ones.
    pub panels: Stretch,
    /// How long they take.
    pub seconds: f64,
    /// What a mean process does meanwhile.
    pub split: Split,
}

/// A run from its first panel to its last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// All panels, in order, in a few hundred pieces at most.
    pub pieces: Vec<Piece>,
    /// The panels that were simulated. What lies between them is interpolated.
    pub simulated: Vec<Stretch>,
}

impl Course {
    /// Of a run that was simulated from beginning to end.
    pub(super) fn of_whole(finding: &HplFinding) -> Course {
        let measured = Measured::of(finding);
        let panels = measured.panels.len() as u64;
        let whole = Stretch { first: 0, end: panels };
        Course::collect(panels, vec![whole], |panel| measured.panel(panel as usize))
    }

    /// Of so many panels, each of which takes some seconds for something.
    pub(super) fn collect(panels: u64, simulated: Vec<Stretch>, of: impl Fn(u64) -> (f64, Split)) -> Course {
        let piece = |panels: Stretch| {
            let mut piece = Piece { panels, seconds: 0.0, split: Split::default() };
            for panel in panels.first..panels.end {
                let (seconds, split) = of(panel);
                piece.seconds += seconds;
                piece.split.add(&split.scaled_to(seconds));
            }
            // Panels without an account of their own share that of their neighbours.
            piece.split = piece.split.scaled_to(piece.seconds);
            piece
        };
        let length = panels.div_ceil(MOST_PIECES).max(1);
        let firsts = (0..panels).step_by(length as usize);
        let pieces = firsts.map(|first| piece(Stretch { first, end: panels.min(first + length) })).collect();
        Course { pieces, simulated }
    }
}

/// A stretch as it was simulated.
pub(super) struct Measured<'f> {
    panels: &'f [PanelAccount],
    processes: f64,
    /// Seconds that a mean process has nothing to do at the end, because others are later.
    rest: f64,
}

impl Measured<'_> {
    pub fn of(finding: &HplFinding) -> Measured<'_> {
        let panels = finding.account.panels();
        let processes = finding.outcome.ranks.len() as f64;
        let rest = finding.time.as_secs() - Split::of(panels).total() / processes;
        Measured { panels, processes, rest }
    }

    /// Seconds of a panel, and what all processes did meanwhile.
    pub fn panel(&self, panel: usize) -> (f64, Split) {
        let split = Split::of([&self.panels[panel]]);
        let rest = if panel + 1 == self.panels.len() { self.rest } else { 0.0 };
        (split.total() / self.processes + rest, split)
    }
}

#[cfg(test)]
mod tests {
    use super::super::account::Account;
    use super::*;
    use hpcast_mpi::{Outcome, RankOutcome};
    use hpcast_units::Time;

    #[test]
    fn pieces_cover_all_panels_and_all_time() {
        for panels in [1, 2, 255, 256, 257, 1000, 24_000] {
            let only_updates = Split { spent: [0.0, 0.0, 0.0, 3.0, 0.0], waited: [0.0, 0.0, 0.0, 1.5, 0.0] };
            let course = Course::collect(panels, Vec::new(), |panel| (panel as f64, only_updates));
            assert!(course.pieces.len() <= MOST_PIECES as usize, "{panels}");
            assert_eq!((course.pieces[0].panels.first, course.pieces.last().unwrap().panels.end), (0, panels));
            assert!(course.pieces.windows(2).all(|pair| pair[0].panels.end == pair[1].panels.first));
            let seconds: f64 = course.pieces.iter().map(|piece| piece.seconds).sum();
            assert_eq!(seconds, (panels * (panels - 1) / 2) as f64);
            assert!(course.pieces.iter().all(|piece| (piece.split.total() - piece.seconds).abs() < 1e-9));
            assert!(course.pieces.iter().all(|piece| (piece.split.waited[3] - piece.seconds / 2.0).abs() < 1e-9));
        }
    }

    #[test]
    fn a_panel_takes_as_long_as_a_mean_process_is_at_it() {
        let second = |seconds: f64| Time::from_secs(seconds);
        let mut account = Account::new(3);
        for (panel, spent) in [6.0, 8.0, 2.0].into_iter().enumerate() {
            account.phase(panel as u32, Phase::Update, second(spent), second(2.0));
        }
        let finding = HplFinding {
            outcome: Outcome { ranks: vec![RankOutcome::default(); 2], ..Outcome::default() },
            time: second(9.0),
            uncertainty: Time::ZERO,
            bias: Time::ZERO,
            simulated_panels: 3,
            jointly: false,
            account,
            course: Course::default(),
            recorded: None,
        };
        let course = Course::of_whole(&finding);
        let seconds: Vec<f64> = course.pieces.iter().map(|piece| piece.seconds).collect();
        assert_eq!(seconds, [3.0, 4.0, 2.0], "one second of the last is the other process alone");
        assert_eq!(course.pieces[1].split.waited[Phase::Update as usize], 1.0);
    }

    #[test]
    fn between_two_splits() {
        let of = |broadcast: f64, update: f64| Split { spent: [0.0, broadcast, 0.0, update, 0.0], ..Split::default() };
        let middle = of(2.0, 6.0).towards(of(30.0, 10.0), 0.5);
        assert_eq!(middle.spent, [0.0, 0.5, 0.0, 0.5, 0.0]);
        assert_eq!(Split::default().scaled_to(5.0), Split::default());
    }
}
