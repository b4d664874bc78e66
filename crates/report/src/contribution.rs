//! How much of the spread of runs comes from which source of chance.
//!
//! Each run is done again with one source drawn anew and all others kept. Half the mean square of the differences is the
//! variance that this source adds, its interplay with others included: the total effect of Sobol's analysis, in the form
//! of M. Jansen ("Analysis of variance designs for model output", Computer Physics Communications 117, 1999).

use hpcast_models::compute::Chance;
use serde::Serialize;

use crate::hpl::HplRun;
use crate::interval::half_width;

/// What one source of chance adds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// `calls`, `coefficients` and so on; `unsimulated` is what a sample of the run leaves open.
    pub source: &'static str,
    /// Half the width of the interval that would hold 95 % of runs if only this source varied.
    pub seconds_95: f64,
    /// The same of the speed.
    pub gflops_95: f64,
    /// Of the sum of the variances of all sources, in the speed.
    pub share: f64,
}

/// What the sources contribute to these runs, among which are pairs: a run, and the same with a source drawn anew.
pub(crate) fn contributions(runs: &[HplRun]) -> Vec<Contribution> {
    let mut found: Vec<(Contribution, f64)> = Vec::new();
    for chance in Chance::ALL {
        let pairs: Vec<(&HplRun, &HplRun)> = runs
            .iter()
            .filter(|run| run.redrawn == Some(chance))
            .filter_map(|again| Some((runs.iter().find(|run| run.redrawn.is_none() && run.seed == again.seed)?, again)))
            .collect();
        // One pair tells nothing; there are so few if somebody stopped the runs.
        if pairs.len() < 2 {
            continue;
        }
        let count = pairs.len() as f64;
        let variance = |value: fn(&HplRun) -> f64| {
            pairs.iter().map(|(run, again)| (value(run) - value(again)).powi(2) / 2.0).sum::<f64>() / count
        };
        let (seconds, gflops) = (variance(|run| run.seconds), variance(|run| run.gflops));
        let contribution = Contribution {
            source: chance.name(),
            seconds_95: half_width(seconds, count),
            gflops_95: half_width(gflops, count),
            share: 0.0,
        };
        found.push((contribution, gflops));
    }
    if found.is_empty() {
        return Vec::new();
    }
    let all: Vec<&HplRun> = runs.iter().filter(|run| run.redrawn.is_none()).collect();
    let mean = |value: fn(&HplRun) -> f64| all.iter().map(|run| value(run)).sum::<f64>() / all.len() as f64;
    let (seconds_95, gflops_95) = (mean(|run| run.bias), mean(|run| run.gflops * run.bias / run.seconds));
    if gflops_95 > 0.0 {
        // Two standard deviations.
        let contribution = Contribution { source: "unsimulated", seconds_95, gflops_95, share: 0.0 };
        found.push((contribution, (gflops_95 / 2.0).powi(2)));
    }
    let whole: f64 = found.iter().map(|(_, variance)| variance).sum();
    let share = |variance: f64| if whole > 0.0 { variance / whole } else { 0.0 };
    let mut found: Vec<Contribution> = found
        .into_iter()
        .map(|(contribution, variance)| Contribution { share: share(variance), ..contribution })
        .collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found
}

#[cfg(test)]
mod tests {
    use hpcast_apps::hpl::HplParameters;
    use hpcast_stats::StudentT;

    use super::*;

    fn run(seed: u64, redrawn: Option<Chance>, seconds: f64, bias: f64) -> HplRun {
        let parameters = HplParameters::new(1000, 32, 2, 2);
        HplRun { parameters, seed, redrawn, seconds, uncertainty: 9.0, bias, gflops: 100.0 / seconds, nodes: 1 }
    }

    /// Calls move the time by 0.1 s, coefficients by 1 s: a hundred times the variance.
    #[test]
    fn the_larger_differences_have_the_larger_share() {
        let mut runs = Vec::new();
        for seed in 0..40 {
            let sign = if seed % 2 == 0 { 1.0 } else { -1.0 };
            let seconds = 100.0 + sign;
            runs.push(run(seed, None, seconds, 0.0));
            runs.push(run(seed, Some(Chance::Calls), seconds + 0.1 * sign, 0.0));
            runs.push(run(seed, Some(Chance::Coefficients), seconds + sign, 0.0));
        }
        let [first, second] = &contributions(&runs)[..] else { panic!("two sources") };
        assert_eq!((first.source, second.source), ("coefficients", "calls"));
        assert!((first.share - 0.99).abs() < 0.001 && (first.share + second.share - 1.0).abs() < 1e-12, "{first:?}");
        // The deviation of each of two independent draws that differ by 1 s on the mean square is 1 / sqrt(2).
        let expected = StudentT { freedom: 40.0 }.quantile(0.975) * 0.5f64.sqrt();
        assert!((first.seconds_95 / expected - 1.0).abs() < 1e-9, "{first:?}");
    }

    #[test]
    fn what_was_not_simulated_is_a_source() {
        let pair = |seed: u64| [run(seed, None, 100.0, 2.0), run(seed, Some(Chance::Calls), 100.0, 2.0)];
        let runs = [pair(1), pair(2)].concat();
        let [first, second] = &contributions(&runs)[..] else { panic!("two sources") };
        assert_eq!((first.source, first.share, first.seconds_95), ("unsimulated", 1.0, 2.0));
        assert_eq!((second.source, second.share), ("calls", 0.0));
        assert!(contributions(&runs[..3]).is_empty());
    }
}
