//! What runs of HPL have found, one after the other.

use hpcast_apps::hpl::{Course, HplFinding, HplParameters, Recorder};
use hpcast_report::{HplComparison, HplRun, HplTimes, Totals};
use hpcast_units::count;

/// What is assumed where panels are factored jointly.
pub(crate) const JOINTLY: &str =
    "panels are factored without contention on the links (--exact simulates every message)";

/// What the runs so far have found.
#[derive(Default)]
pub(crate) struct Found {
    pub runs: Vec<HplRun>,
    pub totals: Totals,
    pub times: HplTimes,
    pub shortcuts: Shortcuts,
    /// What the real HPL takes, for each run.
    pub real: Vec<HplComparison>,
    /// The only one whose course is kept, since there may be a hundred thousand.
    pub fastest: Option<(HplRun, Course)>,
}

impl Found {
    /// Adds a run; gives back what was recorded of it.
    pub fn add(&mut self, run: HplRun, finding: HplFinding) -> Option<Recorder> {
        self.shortcuts.add(&run.parameters, &finding);
        self.times.add(&finding.account, run.parameters.grid.size());
        self.totals.add(finding.outcome);
        if self.fastest.as_ref().is_none_or(|(fastest, _)| run.gflops > fastest.gflops) {
            self.fastest = Some((run, finding.course));
        }
        self.runs.push(run);
        finding.recorded
    }
}

/// What was not simulated message by message.
#[derive(Default)]
pub(crate) struct Shortcuts {
    /// Whether panels were factored jointly.
    jointly: bool,
    /// Of all runs.
    panels: u64,
    simulated: u64,
    /// The largest of all runs, as a part of the time.
    uncertainty: f64,
}

impl Shortcuts {
    fn add(&mut self, parameters: &HplParameters, finding: &HplFinding) {
        self.jointly |= finding.jointly;
        self.panels += parameters.panels();
        self.simulated += finding.simulated_panels;
        self.uncertainty = self.uncertainty.max(finding.uncertainty.as_secs() / finding.time.as_secs());
    }

    /// In a word: `exact`, `joint`, `sampled`, or `joint, sampled`.
    pub fn mode(&self) -> String {
        let words = [(self.jointly, "joint"), (self.simulated < self.panels, "sampled")];
        let words: Vec<&str> = words.into_iter().filter(|(taken, _)| *taken).map(|(_, word)| word).collect();
        if words.is_empty() { "exact".into() } else { words.join(", ") }
    }

    pub fn describe(&self) -> Vec<String> {
        let mut shortcuts = Vec::new();
        if self.jointly {
            shortcuts.push(JOINTLY.to_owned());
        }
        if self.simulated < self.panels {
            shortcuts.push(format!(
                "{} of {} panels were simulated and the rest interpolated (--exact simulates all)",
                count(self.simulated),
                count(self.panels),
            ));
        }
        if !shortcuts.is_empty() {
            shortcuts.push(format!("what is not simulated may change the time by {:.2} %", 100.0 * self.uncertainty));
        }
        shortcuts
    }
}
