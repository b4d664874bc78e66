//! One run of HPL from its first panel to its last, for people who plot it themselves.

use hpcast_apps::hpl::{Course, Phase, Piece};
use serde::Serialize;
use serde::ser::Serializer;

use crate::hpl::HplRun;
use crate::xhpl;

/// Values by phase, each a list with one value a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByPhase(pub [Vec<f64>; Phase::ALL.len()]);

impl Serialize for ByPhase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Phase::ALL.iter().map(|phase| phase.key()).zip(&self.0))
    }
}

/// A run as a curve: lists of the same length, with one value for each point. A point stands for the panels since the
/// point before.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HplCurve {
    /// Which run it is, as xhpl abbreviates its parameters.
    pub variant: String,
    /// Order of the matrix.
    pub n: u64,
    /// Columns of a panel.
    pub nb: u64,
    /// Rows of the grid.
    pub p: u32,
    /// Columns of the grid.
    pub q: u32,
    /// Seed.
    pub seed: u64,
    /// Panels that are done.
    pub panel: Vec<u64>,
    /// Time of the run when they are.
    pub seconds: Vec<f64>,
    /// Speed of the panels of this point.
    pub gflops: Vec<f64>,
    /// Speed of all panels so far, as xhpl reports it while it runs.
    pub mean_gflops: Vec<f64>,
    /// What a mean rank spends on the panels of this point, waiting included.
    pub phase_seconds: ByPhase,
    /// The part of it in which it waits.
    pub waiting_seconds: ByPhase,
    /// First and last panel of what was simulated, counted from 1. What lies between is interpolated.
    pub simulated_panels: Vec<(u64, u64)>,
}

impl HplCurve {
    /// Of a run.
    pub fn new(run: &HplRun, course: &Course) -> HplCurve {
        let parameters = run.parameters;
        let mut curve = HplCurve {
            variant: xhpl::variant(&parameters),
            n: parameters.n,
            nb: parameters.nb,
            p: parameters.grid.rows,
            q: parameters.grid.columns,
            seed: run.seed,
            simulated_panels: course.simulated.iter().map(|panels| (panels.first + 1, panels.end)).collect(),
            ..HplCurve::default()
        };
        let mut seconds = 0.0;
        for Piece { panels, seconds: longer, split } in &course.pieces {
            seconds += longer;
            let (before, done) = (parameters.flops_until(panels.first), parameters.flops_until(panels.end));
            curve.panel.push(panels.end);
            curve.seconds.push(seconds);
            curve.gflops.push(rate(done - before, *longer));
            curve.mean_gflops.push(rate(done, seconds));
            for phase in 0..Phase::ALL.len() {
                curve.phase_seconds.0[phase].push(split.spent[phase]);
                curve.waiting_seconds.0[phase].push(split.waited[phase]);
            }
        }
        curve
    }

    /// Whether parts of it were interpolated.
    pub fn is_sampled(&self) -> bool {
        self.simulated_panels.len() > 1
    }
}

fn rate(flops: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { flops / seconds / 1e9 } else { 0.0 }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use hpcast_apps::hpl::{HplParameters, Split, Stretch};

    /// Four pieces of 25 panels; simulated are the first and the last.
    pub(crate) fn example() -> HplCurve {
        let parameters = HplParameters::new(1000, 10, 2, 4);
        let run = HplRun {
            parameters,
            seed: 3,
            redrawn: None,
            seconds: 10.0,
            uncertainty: 0.1,
            bias: 0.0,
            gflops: 0.0,
            nodes: 1,
        };
        let piece = |first: u64, seconds: f64| Piece {
            panels: Stretch { first, end: first + 25 },
            seconds,
            split: Split {
                spent: [0.1, 0.2, 0.2, 0.4, 0.1].map(|share| share * seconds),
                waited: [0.0, 0.1, 0.05, 0.0, 0.05].map(|share| share * seconds),
            },
        };
        let course = Course {
            pieces: vec![piece(0, 4.0), piece(25, 3.0), piece(50, 2.0), piece(75, 1.0)],
            simulated: vec![Stretch { first: 0, end: 25 }, Stretch { first: 75, end: 100 }],
        };
        HplCurve::new(&run, &course)
    }

    #[test]
    fn the_mean_ends_at_the_speed_of_the_run() {
        let curve = example();
        assert_eq!((&curve.panel[..], &curve.seconds[..]), (&[25, 50, 75, 100][..], &[4.0, 7.0, 9.0, 10.0][..]));
        let flops = HplParameters::new(1000, 10, 2, 4).flops();
        assert_eq!(curve.mean_gflops[3], flops / 10.0 / 1e9);
        assert_eq!(curve.mean_gflops[0], curve.gflops[0]);
        let sum: f64 = curve.gflops.iter().zip([4.0, 3.0, 2.0, 1.0]).map(|(rate, seconds)| rate * seconds).sum();
        assert!((sum * 1e9 / flops - 1.0).abs() < 1e-12);
    }

    #[test]
    fn json_has_lists_by_name() {
        let json = serde_json::to_value(example()).unwrap();
        assert_eq!((&json["variant"], &json["seed"]), (&"WR11C2R4".into(), &3.into()));
        assert_eq!(json["phase_seconds"]["row_swaps"][1], 0.2 * 3.0);
        assert_eq!(json["waiting_seconds"]["panel_broadcast"][0], 0.4);
        assert_eq!(json["simulated_panels"], serde_json::json!([[1, 25], [76, 100]]));
    }
}
