//! A forecast from samples: a few stretches are simulated message by message, and what lies between them is interpolated.
//!
//! HPL does the same for every panel, on a matrix that shrinks a little each time: the time from one panel to the next is
//! a smooth function of what is left of the matrix. Each stretch begins with all processes at the same time, which they
//! are not in the middle of a run; so its first panels, one round of the grid's columns, only warm up. The last stretch
//! goes on to the end of the run, with the triangular solve.

use hpcast_mpi::{RunError, Setup};
use hpcast_stats::Curve;
use hpcast_units::Time;

use super::stretch::Stretch;
use super::{Hpl, HplFinding, HplParameters};

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSize {
    /// Number of stretches.
    pub stretches: u64,
    /// Rounds of the grid's columns that are measured in each; as many come before it to warm up.
    pub rounds: u64,
}

impl Default for SampleSize {
    fn default() -> SampleSize {
        SampleSize { stretches: 12, rounds: 1 }
    }
}

/// What was forecast from samples.
#[derive(Debug)]
pub struct Forecast {
    /// How long the whole run takes, in seconds.
    pub seconds: f64,
    /// How far off that may be, in seconds, by what interpolation may have missed.
    pub uncertainty: f64,
    /// Panels that were simulated, of all.
    pub simulated_panels: u64,
    /// What the simulations found, stretch by stretch.
    pub findings: Vec<(Stretch, HplFinding)>,
}

/// One stretch as it was measured: seconds from panel to panel, at the middle of what was measured.
#[derive(Clone, Copy, Debug)]
struct Sample {
    panel: f64,
    seconds: f64,
}

impl Hpl {
    /// Forecasts the run from samples, or simulates all of it where samples would not save work. `setup` is called for
    /// each stretch, with the share of the work that lies before it and its own.
    pub fn sample(&self, size: SampleSize, mut setup: impl FnMut(f64, f64) -> Setup) -> Result<Forecast, RunError> {
        let plan = plan(&self.parameters, size);
        let simulated: u64 = plan.iter().map(Stretch::panels).sum();
        let mut done = 0;
        let mut findings = Vec::new();
        for &stretch in &plan {
            let share = |panels: u64| panels as f64 / simulated as f64;
            let finding = self.clone().run_stretch(setup(share(done), share(stretch.panels())), stretch)?;
            done += stretch.panels();
            findings.push((stretch, finding));
        }
        let (seconds, uncertainty) = join(&self.parameters, &findings);
        Ok(Forecast { seconds, uncertainty, simulated_panels: simulated, findings })
    }
}

/// Panels that only warm up.
fn warm_up(parameters: &HplParameters) -> u64 {
    u64::from(parameters.grid.columns.max(8) + parameters.depth)
}

/// The stretches, from the first panel to the last: evenly spread over the panels, closer towards the end, where the time
/// of a panel is no longer that of the update. The whole run, if they would cover most of it.
fn plan(parameters: &HplParameters, size: SampleSize) -> Vec<Stretch> {
    let panels = parameters.panels();
    let round = u64::from(parameters.grid.columns.max(8));
    let length = warm_up(parameters) + size.rounds * round;
    if size.stretches < 3 || 2 * length * size.stretches > panels {
        return vec![Stretch { first: 0, end: panels }];
    }
    let room = (panels - length) as f64;
    (0..size.stretches)
        .map(|i| {
            let x = i as f64 / (size.stretches - 1) as f64;
            let first = (room * (1.0 - (1.0 - x).powf(1.5))).round() as u64;
            Stretch { first, end: first + length }
        })
        .collect()
}

/// Puts the whole run together: seconds, and how far off they may be.
fn join(parameters: &HplParameters, findings: &[(Stretch, HplFinding)]) -> (f64, f64) {
    let [(first, beginning), .., (last, ending)] = findings else {
        let [(_, whole)] = findings else { return (0.0, 0.0) };
        return (whole.time.as_secs(), 0.0);
    };
    let warm = warm_up(parameters) as usize;
    let samples: Vec<Sample> = findings.iter().map(|(stretch, finding)| sample(*stretch, finding, warm)).collect();
    // The beginning and the end are what they are; the middle is the sum of the curve over its panels.
    let since = |finding: &HplFinding, panel: usize| finding.account.panels()[panel].as_secs();
    let start = since(beginning, first.panels() as usize - 1);
    let end = ending.time.as_secs() - since(ending, warm);
    let middle = |samples: &[Sample]| {
        let curve = Curve::through(samples.iter().map(|sample| (sample.panel, sample.seconds)));
        (first.end..=last.first + warm as u64).map(|panel| curve.at(panel as f64 - 0.5)).sum::<f64>()
    };
    let all = middle(&samples);
    // What a curve through half of the samples misses is more than what the curve through all of them does.
    let halves = [0, 1].map(|odd| {
        let kept = (0..samples.len()).filter(|&i| i % 2 == odd || i == 0 || i == samples.len() - 1);
        middle(&kept.map(|i| samples[i]).collect::<Vec<_>>())
    });
    let missed = halves.iter().map(|half| (half - all).abs()).fold(0.0, f64::max);
    (start + all + end, missed)
}

/// Seconds from panel to panel, after the warm-up.
fn sample(stretch: Stretch, finding: &HplFinding, warm: usize) -> Sample {
    let panels: &[Time] = finding.account.panels();
    let (from, to) = (warm, panels.len() - 1);
    Sample {
        panel: stretch.first as f64 + 0.5 * (from + to) as f64,
        seconds: (panels[to].as_secs() - panels[from].as_secs()) / (to - from) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_both_ends_in_order() {
        let parameters = HplParameters::new(1_000_000, 100, 10, 20);
        let plan = plan(&parameters, SampleSize::default());
        assert_eq!((plan.len(), plan[0].first, plan[11].end), (12, 0, 10_000));
        assert!(plan.windows(2).all(|pair| pair[0].end <= pair[1].first));
        assert!(plan.iter().all(|stretch| stretch.panels() == 41));
    }

    #[test]
    fn small_runs_are_simulated_whole() {
        let parameters = HplParameters::new(1000, 100, 2, 2);
        assert_eq!(plan(&parameters, SampleSize::default()), [Stretch { first: 0, end: 10 }]);
    }
}
