//! Everything that is reported about runs of HPL, beside what is reported about any run.

use hpcast_apps::hpl::{Account, HplKernel, HplParameters, Phase};
use hpcast_models::compute::{Chance, ModelFile};
use hpcast_units::count;
use serde::Serialize;
use serde::ser::Serializer;

use crate::contribution::{Contribution, contributions};
use crate::hpl_curve::HplCurve;
use crate::hpl_real::HplComparison;
use crate::interval::Estimate;
use crate::run_report::RunReport;
use crate::table::{Cell, Column, Table};
use crate::xhpl;

/// One simulated run of HPL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HplRun {
    /// What was run.
    pub parameters: HplParameters,
    /// With which seed.
    pub seed: u64,
    /// The source of chance that was drawn anew, if it is the run of this seed once more.
    pub redrawn: Option<Chance>,
    /// How long it took, as HPL times it.
    pub seconds: f64,
    /// How far off that may be, where not all of it was simulated.
    pub uncertainty: f64,
    /// The part of it that other seeds do not show.
    pub bias: f64,
    /// As HPL counts operations.
    pub gflops: f64,
    /// Nodes of the machine on which ranks ran.
    pub nodes: u32,
}

/// Where the time of a mean rank went, summed over runs.
#[derive(Clone, Debug, Default)]
pub struct HplTimes {
    phases: [f64; Phase::ALL.len()],
    kernels: [(u64, f64); HplKernel::ALL.len()],
    /// Those calls among them whose sizes were not measured.
    beyond: [(u64, f64); HplKernel::ALL.len()],
}

/// A model that is used beyond what was measured for less than this part of all calls and of the time of its kernel is
/// no reason to worry.
const BEYOND: f64 = 0.01;

impl HplTimes {
    /// Adds a run of so many ranks.
    pub fn add(&mut self, account: &Account, ranks: u32) {
        let mean = |seconds: f64| seconds / f64::from(ranks);
        for (sum, phase) in self.phases.iter_mut().zip(Phase::ALL) {
            *sum += mean(account.of_phase(phase));
        }
        for (sum, kernel) in self.kernels.iter_mut().zip(HplKernel::ALL) {
            let (calls, seconds) = account.of_kernel(kernel);
            sum.0 += calls;
            sum.1 += mean(seconds);
        }
        for (sum, kernel) in self.beyond.iter_mut().zip(HplKernel::ALL) {
            let (calls, seconds) = account.beyond_measured(kernel);
            sum.0 += calls;
            sum.1 += mean(seconds);
        }
    }

    /// Warnings of kernels whose models were used for sizes that nobody measured (T. Cornebize's thesis, section 10.6).
    pub fn beyond_measured(&self, models: &ModelFile) -> Vec<String> {
        let percent = |part: f64| format!("{:.1} %", 100.0 * part);
        let number = |number: &f64| count(*number as u64);
        let mut warnings = Vec::new();
        for kernel in HplKernel::ALL {
            let ((calls, seconds), beyond) = (self.kernels[kernel as usize], self.beyond[kernel as usize]);
            let parts = (beyond.0 as f64 / calls as f64, beyond.1 / seconds);
            let (Some(model), true) = (models.kernels.get(kernel.name()), parts.0.max(parts.1) > BEYOND) else {
                continue;
            };
            let range =
                |(name, [least, most]): (&String, &[f64; 2])| format!("{name} {} to {}", number(least), number(most));
            let ranges: Vec<String> = model.measured.iter().map(range).collect();
            warnings.push(format!(
                "the model of {} was used beyond what was measured ({}) in {} of its calls, which take {} of its time",
                kernel.name(),
                ranges.join(", "),
                percent(parts.0),
                percent(parts.1)
            ));
        }
        warnings
    }
}

/// The time of a mean rank in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PhaseTime {
    /// Waiting included.
    pub seconds: f64,
    /// Of the simulated time.
    pub share: f64,
}

/// The time of a mean rank in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KernelTime {
    /// Calls of all ranks together.
    pub calls: u64,
    /// Of a mean rank.
    pub seconds: f64,
    /// Of the simulated time.
    pub share: f64,
}

/// The share of the time in which ranks wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Idle {
    /// Of the rank that waits least.
    pub min: f64,
    /// Over all ranks.
    pub mean: f64,
    /// Of the rank that waits most.
    pub max: f64,
}

/// The runs with the same parameters and different seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Combination {
    /// As xhpl abbreviates it.
    pub variant: String,
    /// Order of the matrix.
    pub n: u64,
    /// Columns of a panel.
    pub nb: u64,
    /// Rows of the grid.
    pub p: u32,
    /// Columns of the grid.
    pub q: u32,
    /// Number of runs.
    pub runs: usize,
    /// How long they took.
    pub seconds: Estimate,
    /// How fast they were.
    pub gflops: Estimate,
    /// Where their differences come from, the largest part first; empty if that was not asked.
    pub contributions: Vec<Contribution>,
    /// Nodes on which ranks ran.
    pub nodes: u32,
}

/// Runs of HPL: the report of any run, and what is known of HPL.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HplReport {
    /// As for any run; sums over all runs.
    #[serde(flatten)]
    pub run: RunReport,
    /// Of the fastest combination, the mean over its seeds.
    pub gflops: f64,
    /// How far off a run may be, as a part of its time, at most; zero where every message was simulated.
    pub uncertainty: f64,
    /// Peak of the nodes that this combination used, if the machine file gives one.
    pub peak_gflops: Option<f64>,
    /// Parameters and what came of them.
    pub combinations: Vec<Combination>,
    /// By name.
    #[serde(serialize_with = "as_map")]
    pub phases: Vec<(String, PhaseTime)>,
    /// By name, those that took time.
    #[serde(serialize_with = "as_map")]
    pub kernels: Vec<(String, KernelTime)>,
    /// How much ranks wait.
    pub idle_share: Idle,
    /// What limits the speed, in a sentence.
    pub limit: String,
    /// The fastest run from its first panel to its last, if there is a run.
    pub curve: Option<HplCurve>,
    /// Each run beside one of the real HPL, if it was run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub real: Vec<HplComparison>,
}

impl HplReport {
    /// Of these runs, whose peak of a node is known or not.
    pub fn new(mut run: RunReport, runs: &[HplRun], times: &HplTimes, node_gflops: Option<f64>) -> HplReport {
        run.table = table(runs);
        let whole = run.simulated_seconds;
        let share = |seconds: f64| if whole > 0.0 { seconds / whole } else { 0.0 };
        let phase = |(phase, &seconds): (Phase, &f64)| (phase.key(), PhaseTime { seconds, share: share(seconds) });
        let kernel = |(kernel, &(calls, seconds)): (HplKernel, &(u64, f64))| {
            (calls > 0).then(|| (kernel.name().to_owned(), KernelTime { calls, seconds, share: share(seconds) }))
        };
        let wait = &run.rank_times.wait;
        let idle_share =
            Idle { min: share(wait.min_seconds), mean: share(wait.mean_seconds), max: share(wait.max_seconds) };
        let combinations = combinations(runs);
        let fastest = combinations.iter().max_by(|a, b| a.gflops.mean.total_cmp(&b.gflops.mean));
        let mut report = HplReport {
            gflops: fastest.map_or(0.0, |fastest| fastest.gflops.mean),
            uncertainty: runs.iter().map(|run| run.uncertainty / run.seconds).fold(0.0, f64::max),
            peak_gflops: fastest.and_then(|fastest| Some(node_gflops? * f64::from(fastest.nodes))),
            phases: Phase::ALL.into_iter().zip(&times.phases).map(phase).collect(),
            kernels: HplKernel::ALL.into_iter().zip(&times.kernels).filter_map(kernel).collect(),
            idle_share,
            combinations,
            run,
            limit: String::new(),
            curve: None,
            real: Vec::new(),
        };
        report.kernels.sort_by(|(_, a), (_, b)| b.seconds.total_cmp(&a.seconds));
        report.limit = report.limit();
        report
    }

    /// The largest part of the time, in words.
    fn limit(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let share = |phase: Phase| self.phases.get(phase as usize).map_or(0.0, |(_, time)| time.share);
        let largest = |phases: &[Phase]| phases.iter().copied().max_by(|a, b| share(*a).total_cmp(&share(*b)));
        let Some(phase) = largest(&Phase::ALL).filter(|phase| share(*phase) > 0.0) else { return String::new() };
        let idle = self.idle_share.mean;
        if idle > share(phase) {
            let beside = [Phase::Factorisation, Phase::Broadcast, Phase::Swap, Phase::Solve];
            let beside = largest(&beside).unwrap_or(phase);
            return format!(
                "Waiting limits: ranks wait {} of the time; beside updates, most of it goes to the {}, {}.",
                percent(idle),
                beside.name(),
                percent(share(beside))
            );
        }
        let what = match phase {
            Phase::Update => "Computing limits: ranks update the matrix",
            Phase::Factorisation => "The panel factorisation limits: ranks are at it",
            Phase::Broadcast => "The broadcast of panels limits: ranks are at it",
            Phase::Swap => "The exchange of rows limits: ranks are at it",
            Phase::Solve => "The triangular solve at the end limits: ranks are at it",
        };
        format!("{what} {} of the time and wait {}.", percent(share(phase)), percent(idle))
    }
}

fn combinations(runs: &[HplRun]) -> Vec<Combination> {
    let same = |a: &HplRun, b: &HplRun| a.parameters == b.parameters && (a.seed < b.seed || b.redrawn.is_some());
    let combination = |all: &[HplRun]| {
        let runs: Vec<&HplRun> = all.iter().filter(|run| run.redrawn.is_none()).collect();
        let run = runs[0];
        let mean = |value: &dyn Fn(&HplRun) -> f64| runs.iter().map(|run| value(run)).sum::<f64>() / runs.len() as f64;
        let unsimulated = mean(&|run| run.bias / run.seconds);
        let estimate = |value: fn(&HplRun) -> f64| {
            Estimate::of(&runs.iter().map(|run| value(run)).collect::<Vec<_>>(), unsimulated * mean(&value))
        };
        Combination {
            variant: xhpl::variant(&run.parameters),
            n: run.parameters.n,
            nb: run.parameters.nb,
            p: run.parameters.grid.rows,
            q: run.parameters.grid.columns,
            runs: runs.len(),
            seconds: estimate(|run| run.seconds),
            gflops: estimate(|run| run.gflops),
            contributions: contributions(all),
            nodes: run.nodes,
        }
    };
    runs.chunk_by(same).map(combination).collect()
}

/// A row a run.
fn table(runs: &[HplRun]) -> Table {
    let keys = [
        "variant", "n", "nb", "p", "q", "ranks", "seed", "redrawn", "pmap", "depth", "bcast", "rfact", "ndiv", "pfact",
    ];
    let keys = keys.into_iter().chain(["nbmin", "seconds", "uncertainty_seconds", "gflops"]);
    let mut table = Table::new(keys.map(|key| Column::new(key, key)));
    for run in runs {
        let HplParameters { n, nb, grid, depth, broadcast, rfact, ndiv, pfact, nbmin, .. } = run.parameters;
        let text = |name: &str| Cell::Text(name.into());
        table.push([
            Cell::Text(xhpl::variant(&run.parameters)),
            Cell::Count(n),
            Cell::Count(nb),
            Cell::Count(grid.rows.into()),
            Cell::Count(grid.columns.into()),
            Cell::Count(grid.size().into()),
            Cell::Count(run.seed),
            run.redrawn.map_or(Cell::Empty, |chance| text(chance.name())),
            text(grid.order.name()),
            Cell::Count(depth.into()),
            text(broadcast.name()),
            text(rfact.name()),
            Cell::Count(ndiv),
            text(pfact.name()),
            Cell::Count(nbmin),
            Cell::Seconds(run.seconds),
            Cell::Seconds(run.uncertainty),
            Cell::Gflops(run.gflops),
        ]);
    }
    table
}

fn as_map<V: Serialize, S: Serializer>(entries: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::run_report::tests::example as any_run;

    /// Two combinations, one of them with two seeds.
    pub(crate) fn example() -> HplReport {
        let run = |n, seed, seconds| HplRun {
            parameters: HplParameters::new(n, 32, 2, 2),
            seed,
            redrawn: None,
            seconds,
            uncertainty: 0.0,
            bias: 0.0,
            gflops: 10.0 / seconds,
            nodes: 1,
        };
        let mut any = any_run();
        any.program = "hpl".into();
        any.simulated_seconds = 8.0;
        any.rank_times.wait.mean_seconds = 2.0;
        let mut times = HplTimes { phases: [1.0, 1.5, 0.5, 4.5, 0.5], ..HplTimes::default() };
        times.kernels[0] = (1000, 4.0);
        times.kernels[1] = (10, 0.5);
        HplReport::new(any, &[run(1000, 1, 2.0), run(1000, 2, 4.0), run(2000, 1, 2.0)], &times, Some(20.0))
    }

    #[test]
    fn seeds_are_put_together() {
        let report = example();
        let [first, second] = &report.combinations[..] else { panic!("two combinations") };
        assert_eq!((first.runs, first.seconds.mean, second.runs), (2, 3.0, 1));
        assert!(first.seconds.confidence_95.is_some_and(|half| (half - 12.706_204_7).abs() < 1e-6));
        assert_eq!((report.gflops, report.peak_gflops), (5.0, Some(20.0)));
    }

    #[test]
    fn the_largest_part_limits() {
        let mut report = example();
        assert_eq!(report.limit, "Computing limits: ranks update the matrix 56 % of the time and wait 25 %.");
        report.idle_share.mean = 0.6;
        assert!(report.limit().starts_with("Waiting limits: ranks wait 60 % of the time;"));
        report.phases[Phase::Swap as usize].1.share = 0.7;
        assert!(report.limit().starts_with("The exchange of rows limits: ranks are at it 70 %"));
    }

    #[test]
    fn nothing_is_said_of_no_runs() {
        let report = HplReport::new(RunReport::default(), &[], &HplTimes::default(), Some(20.0));
        assert_eq!((report.gflops, report.peak_gflops, report.limit.as_str()), (0.0, None, ""));
        let account = crate::account(&report);
        assert!(!account.contains("Performance") && account.contains("Wall time"), "{account}");
    }

    #[test]
    fn json_has_the_names_of_any_run_and_more() {
        let json: serde_json::Value = serde_json::from_str(&crate::json::document(&example())).expect("JSON");
        assert_eq!((&json["gflops"], &json["simulated_seconds"]), (&5.0.into(), &8.0.into()));
        assert_eq!(json["phases"]["panel_broadcast"]["seconds"], 1.5);
        assert_eq!(json["kernels"]["dgemm"]["calls"], 1000);
        assert_eq!(json["table"][2]["n"], 2000);
        assert!(json["messages"].is_u64() && json["provenance"].is_object() && json["cpu_seconds"].is_f64());
    }
}
