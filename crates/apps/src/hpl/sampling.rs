//! A forecast from samples: a few stretches are simulated message by message, and what lies between them is interpolated.
//!
//! HPL does the same for every panel, on a matrix that shrinks a little each time: the time from one panel to the next is
//! a smooth function of what is left of the matrix. Each stretch begins with all processes at the same time, which they
//! are not in the middle of a run; so its first panels, one round of the grid's columns with look-ahead and a few without,
//! only warm up. The last stretch goes on to the end of the run, with the triangular solve.

use std::ops::Range;

use hpcast_mpi::{Outcome, RankOutcome, RunError, Setup};
use hpcast_stats::Curve;
use hpcast_units::Time;

use super::account::{Account, PanelAccount};
use super::course::{Course, Measured, Split};
use super::leg::Leg;
use super::stretch::Stretch;
use super::{Hpl, HplFinding, HplParameters};

/// What contention adds to the time of panels that are factored jointly is less than this part of it, where nothing is left
/// to chance and links are not crowded (tests/hpl_shortcuts.rs).
const CONTENTION: f64 = 0.002;

/// Panels times processes that are simulated in half a minute.
const CHEAP: u64 = 2_000_000;

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSize {
    /// Number of stretches.
    pub stretches: u64,
    /// Rounds of the grid's columns that are measured in each, after a warm-up; without look-ahead one is enough.
    pub rounds: u64,
}

impl SampleSize {
    /// What is usual for such a run: where twelve stretches would be much of it, fewer, since they lie closer together; but
    /// as many as need not be saved. With look-ahead rounds vary by chance, up to 10 % where there are few processes, and
    /// only many of them have a steady mean.
    pub fn usual(parameters: &HplParameters) -> SampleSize {
        let size = SampleSize::default();
        let length = length(parameters, size);
        if 2 * length * size.stretches > parameters.panels() {
            return size;
        }
        let apart = (parameters.panels() / (8 * length)).clamp(6, size.stretches);
        let cheap = CHEAP.div_ceil(length * u64::from(parameters.grid.size()));
        SampleSize { stretches: apart.max(cheap), ..size }
    }
}

impl Default for SampleSize {
    fn default() -> SampleSize {
        // After a common start, rounds are short and long by turns, by 3 % where links are crowded: so two are measured.
        SampleSize { stretches: 12, rounds: 2 }
    }
}

/// One stretch as it was measured: seconds from panel to panel, at the middle of what was measured, and what they were
/// spent on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub panel: f64,
    pub seconds: f64,
    pub split: Split,
    /// How many seconds more a panel of its first half takes than one of its second.
    pub fall: f64,
    /// Panels between the middles of its halves.
    pub half: f64,
}

impl Hpl {
    /// Forecasts the run from samples, or simulates all of it where samples would not save work. `setup` is called for
    /// each stretch. What is found is what all of the run would give: sums over ranks, messages, links and kernels are those
    /// of the stretches, each multiplied by how much of the run it stands for.
    pub fn sample<E: From<RunError>>(
        &self,
        size: SampleSize,
        mut setup: impl FnMut(Leg) -> Result<Setup, E>,
    ) -> Result<HplFinding, E> {
        let parameters = &self.parameters;
        let plan = plan(parameters, size);
        if plan.len() == 1 {
            return Ok(self.clone().run(setup(Leg::whole(parameters))?)?);
        }
        let simulated: u64 = plan.iter().map(Stretch::panels).sum();
        let share = |panels: u64| panels as f64 / simulated as f64;
        let mut done = 0;
        let (mut findings, mut samples) = (Vec::new(), Vec::new());
        for &stretch in &plan {
            let part = share(done)..share(done + stretch.panels());
            let leg = Leg::after(&samples, stretch, part, parameters);
            let finding = self.clone().run_stretch(setup(leg)?, stretch)?;
            samples.push(sample(parameters, stretch, &finding));
            findings.push((stretch, finding));
            done += stretch.panels();
        }
        let finding = join(parameters, &findings, &samples);
        if finding.time == Time::NEVER { Err(RunError::TooLong.into()) } else { Ok(finding) }
    }
}

/// How far off a run may be that was simulated whole, with panels that were factored jointly.
pub(super) fn of_joint_run(parameters: &HplParameters, finding: &HplFinding) -> Time {
    // Twice the standard deviation, which 95 % of draws do not exceed.
    Time::from_secs(2.0 * chance(parameters, finding.account.panels())) + contention(finding)
}

/// What contention may add where panels were factored jointly.
pub(super) fn contention(finding: &HplFinding) -> Time {
    if !finding.jointly {
        return Time::ZERO;
    }
    Time::from_secs(CONTENTION * finding.time.as_secs())
}

/// What trifles do to a run: a panel that comes a little later is found by a later probe, and all that follows is shifted.
/// The standard deviation of the time, from how far the time of each round is from a parabola through those around it. As
/// rounds make up for each other, it is rather too much.
fn chance(parameters: &HplParameters, panels: &[PanelAccount]) -> f64 {
    let at: Vec<f64> =
        panels.iter().step_by(round(parameters) as usize).map(|panel| panel.factored.as_secs()).collect();
    let rounds: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let bends = rounds.windows(4).map(|times| times[3] - 3.0 * times[2] + 3.0 * times[1] - times[0]);
    let count = bends.len().max(1) as f64;
    // The variance of a bend is 1 + 9 + 9 + 1 times that of a round.
    let variance = bends.map(|bend| bend * bend).sum::<f64>() / count / 20.0;
    (variance * rounds.len() as f64).sqrt()
}

/// A round of the grid's columns, or several where there are few: what happens repeats itself after a round.
fn round(parameters: &HplParameters) -> u64 {
    u64::from(8u32.next_multiple_of(parameters.grid.columns))
}

/// Panels that only warm up. Without look-ahead all processes wait for every panel, so that a few are enough.
fn warm_up(parameters: &HplParameters) -> u64 {
    match parameters.depth {
        0 => 8,
        depth => round(parameters) + u64::from(depth),
    }
}

/// Panels of a stretch.
fn length(parameters: &HplParameters, size: SampleSize) -> u64 {
    let rounds = if parameters.depth == 0 { 1 } else { size.rounds };
    // One more, since a time lies between two panels.
    warm_up(parameters) + rounds * round(parameters) + 1
}

/// The stretches, from the first panel to the last: evenly spread over the panels, closer towards the end, where the time
/// of a panel is no longer that of the update. The whole run, if they would cover most of it.
fn plan(parameters: &HplParameters, size: SampleSize) -> Vec<Stretch> {
    let panels = parameters.panels();
    let length = length(parameters, size);
    if size.stretches < 3 || 2 * length * size.stretches > panels {
        return vec![Stretch::whole(parameters)];
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

/// Puts the whole run together.
fn join(parameters: &HplParameters, findings: &[(Stretch, HplFinding)], samples: &[Sample]) -> HplFinding {
    let warm = warm_up(parameters) as usize;
    let [(first, beginning), .., (last, ending)] = findings else { unreachable!("at least two stretches") };
    // The beginning and the end are what they are; the middle is the sum of the curve over its panels.
    let factored = |finding: &HplFinding, panel: usize| finding.account.panels()[panel].factored.as_secs();
    let ends = factored(beginning, first.panels() as usize - 1) + ending.time.as_secs() - factored(ending, warm);
    let middle = first.end..last.first + warm as u64 + 1;
    let total = |samples: &[Sample]| ends + sum(&curve(samples), middle.clone());
    let seconds = total(samples);
    // What a curve through half of the samples misses is more than what the curve through all of them does.
    let halves = [0, 1].map(|odd| {
        let kept = (0..samples.len()).filter(|&i| i % 2 == odd || i == 0 || i == samples.len() - 1);
        total(&kept.map(|i| samples[i]).collect::<Vec<_>>())
    });
    let missed = halves.iter().map(|half| (half - seconds).abs()).fold(0.0, f64::max);
    let stands_for = stands_for(parameters, samples);
    let curve = curve(samples);
    // Twice the standard deviation, which 95 % of draws do not exceed.
    let chance = samples.iter().zip(&stands_for).map(|(sample, time)| 2.0 * sample.scatter(&curve) * time);
    let chance = chance.map(|seconds| seconds.powi(2)).sum::<f64>().sqrt();
    let mut whole = add_up(findings, &stands_for, seconds);
    whole.bias = Time::from_secs(missed) + contention(&whole);
    whole.uncertainty = Time::from_secs(chance) + whole.bias;
    whole.course = course(parameters, findings, samples, seconds);
    whole
}

impl Sample {
    /// How far its halves are from it, as a part of it, beyond what the curve says.
    fn scatter(&self, curve: &Curve) -> f64 {
        let expected = curve.at(self.panel - 0.5 * self.half) - curve.at(self.panel + 0.5 * self.half);
        0.5 * (self.fall - expected).abs() / self.seconds
    }
}

fn curve(samples: &[Sample]) -> Curve {
    Curve::through(samples.iter().map(|sample| (sample.panel, sample.seconds)))
}

/// Seconds that these panels take.
fn sum(curve: &Curve, panels: Range<u64>) -> f64 {
    panels.map(|panel| curve.at(panel as f64 - 0.5)).sum()
}

/// Seconds that each sample stands for: of the panels that are closer to it than to another.
fn stands_for(parameters: &HplParameters, samples: &[Sample]) -> Vec<f64> {
    let curve = curve(samples);
    let border = |i: usize| 0.5 * (samples[i - 1].panel + samples[i].panel);
    let begins = |i: usize| if i == 0 { 0 } else { border(i).round() as u64 };
    let ends = |i: usize| if i + 1 == samples.len() { parameters.panels() } else { border(i + 1).round() as u64 };
    (0..samples.len()).map(|i| sum(&curve, begins(i)..ends(i)).max(0.0)).collect()
}

/// What the stretches found, each as often as it stands for panels that were not simulated.
fn add_up(findings: &[(Stretch, HplFinding)], stands_for: &[f64], seconds: f64) -> HplFinding {
    let all: f64 = stands_for.iter().sum();
    let mut account = Account::new(0);
    let mut outcome = Outcome { simulated: Time::from_secs(seconds), ..Outcome::default() };
    for ((_, finding), stands_for) in findings.iter().zip(stands_for) {
        let factor = seconds * stands_for / all / finding.time.as_secs();
        account.add_scaled(&finding.account, factor);
        let found = &finding.outcome;
        let scaled = |count: u64| (count as f64 * factor).round() as u64;
        outcome.messages += scaled(found.messages);
        outcome.bytes += scaled(found.bytes);
        outcome.unreceived += found.unreceived;
        outcome.ranks.resize(found.ranks.len(), RankOutcome::default());
        for (sum, rank) in outcome.ranks.iter_mut().zip(&found.ranks) {
            sum.finished += Time::from_secs(rank.finished.as_secs() * factor);
            sum.spent.add_scaled(&rank.spent, factor);
        }
        outcome.link_bytes.resize(found.link_bytes.len(), 0.0);
        for (sum, bytes) in outcome.link_bytes.iter_mut().zip(&found.link_bytes) {
            *sum += bytes * factor;
        }
    }
    HplFinding {
        time: outcome.simulated,
        uncertainty: Time::ZERO,
        bias: Time::ZERO,
        simulated_panels: findings.iter().map(|(stretch, _)| stretch.panels()).sum(),
        jointly: findings.iter().any(|(_, finding)| finding.jointly),
        outcome,
        account,
        course: Course::default(),
        recorded: None,
    }
}

/// Seconds from panel to panel, after the warm-up.
fn sample(parameters: &HplParameters, stretch: Stretch, finding: &HplFinding) -> Sample {
    let panels: &[PanelAccount] = finding.account.panels();
    let (from, to) = (warm_up(parameters) as usize, panels.len() - 1);
    let middle = (from + to) / 2;
    let factored = |panel: usize| panels[panel].factored.as_secs();
    let mean = |from: usize, to: usize| (factored(to) - factored(from)) / (to - from) as f64;
    let seconds = mean(from, to);
    // The last panels are factored ahead, and their updates are not in the stretch.
    let updated = panels.len() - parameters.depth.max(1) as usize;
    Sample {
        panel: stretch.first as f64 + 0.5 * (from + to) as f64,
        seconds,
        split: Split::of(&panels[from.min(updated - 1)..updated]),
        fall: mean(from, middle) - mean(middle, to),
        half: 0.5 * (to - from) as f64,
    }
}

/// The course of the whole run: the beginning and the end as they were measured, and between them the curve.
fn course(parameters: &HplParameters, findings: &[(Stretch, HplFinding)], samples: &[Sample], seconds: f64) -> Course {
    let warm = warm_up(parameters);
    let [(first, beginning), .., (last, ending)] = findings else { unreachable!("at least two stretches") };
    let simulated = findings.iter().map(|(stretch, _)| match stretch.first {
        0 => *stretch,
        _ => Stretch { first: stretch.first + warm, ..*stretch },
    });
    let (beginning, ending) = (Measured::of(beginning), Measured::of(ending));
    let measured = |panel: u64| {
        if panel < first.end - u64::from(parameters.depth.max(1)) {
            Some(beginning.panel(panel as usize))
        } else if panel >= last.first + warm {
            Some(ending.panel((panel - last.first) as usize))
        } else {
            None
        }
    };
    let curve = curve(samples);
    let between = |panel: u64| curve.at(panel as f64 + 0.5);
    // The curve is of times at which panels are factored, a little before their update is done: by the same number of
    // panels everywhere, but these are longer at the beginning.
    let (mut known, mut interpolated) = (0.0, 0.0);
    for panel in 0..parameters.panels() {
        match measured(panel) {
            Some((seconds, _)) => known += seconds,
            None => interpolated += between(panel),
        }
    }
    let correction = (seconds - known) / interpolated;
    Course::collect(parameters.panels(), simulated.collect(), |panel| {
        let interpolate = || (correction * between(panel), split_at(samples, panel as f64 + 0.5));
        measured(panel).unwrap_or_else(interpolate)
    })
}

/// What the time goes to at a place between the samples, or at the nearest one.
fn split_at(samples: &[Sample], panel: f64) -> Split {
    let after = samples.partition_point(|sample| sample.panel <= panel).clamp(1, samples.len() - 1);
    let (left, right) = (&samples[after - 1], &samples[after]);
    let part = (panel - left.panel) / (right.panel - left.panel);
    left.split.towards(right.split, part.clamp(0.0, 1.0))
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
        assert!(plan.iter().all(|stretch| stretch.panels() == 62));
    }

    #[test]
    fn chance_is_what_is_not_smooth() {
        let parameters = HplParameters::new(800, 1, 2, 8);
        let times = |jolt: f64| -> Vec<PanelAccount> {
            // Panels that take 2, 1.9975, ... seconds; every other round of 8 takes longer.
            let mut now = 0.0;
            (0..800u32)
                .map(|panel| {
                    now += 2.0 - 0.0025 * f64::from(panel) + if panel.div_ceil(8) % 2 == 0 { jolt } else { 0.0 };
                    PanelAccount { factored: Time::from_secs(now), ..PanelAccount::default() }
                })
                .collect()
        };
        assert!(chance(&parameters, &times(0.0)) < 1e-6);
        let found = chance(&parameters, &times(0.01));
        // A deviation of 8 x 0.01 / 2 from the mean in each of 99 rounds; that it alternates makes a bend 8 deviations
        // instead of the root of 20.
        assert!((found / (0.04 * 99f64.sqrt() * 8.0 / 20f64.sqrt()) - 1.0).abs() < 0.01, "{found}");
        assert_eq!(chance(&parameters, &times(0.01)[..16]), 0.0);
    }

    #[test]
    fn small_runs_are_simulated_whole() {
        let parameters = HplParameters::new(1000, 100, 2, 2);
        assert_eq!(plan(&parameters, SampleSize::default()), [Stretch { first: 0, end: 10 }]);
    }
}
