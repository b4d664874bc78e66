//! The real HPL beside its skeleton.

use hpcast_mpi::Outcome;
use serde::Serialize;

use crate::hpl::HplRun;
use crate::table::{Cell, Column, Table};
use crate::xhpl;

/// A run of the real HPL on the simulated machine, and what the skeleton says of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HplComparison {
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
    /// With which seed.
    pub seed: u64,
    /// How long the real HPL takes by its own clock.
    pub real_seconds: f64,
    /// As HPL counts operations.
    pub real_gflops: f64,
    /// Messages of the real HPL, with those that set it up.
    pub real_messages: u64,
    /// How long the skeleton takes.
    pub skeleton_seconds: f64,
    /// How fast it is.
    pub skeleton_gflops: f64,
    /// By how much of the real HPL's time the skeleton takes longer.
    pub difference: f64,
    /// What it has taken to simulate the real HPL.
    pub cpu_seconds: f64,
}

impl HplComparison {
    /// Of a run of the skeleton, and one of the real HPL: its seconds, what was simulated, and what that has taken.
    pub fn new(run: &HplRun, seconds: f64, outcome: &Outcome, cpu_seconds: f64) -> HplComparison {
        HplComparison {
            variant: xhpl::variant(&run.parameters),
            n: run.parameters.n,
            nb: run.parameters.nb,
            p: run.parameters.grid.rows,
            q: run.parameters.grid.columns,
            seed: run.seed,
            real_seconds: seconds,
            real_gflops: run.parameters.flops() / seconds / 1e9,
            real_messages: outcome.messages,
            skeleton_seconds: run.seconds,
            skeleton_gflops: run.gflops,
            difference: run.seconds / seconds - 1.0,
            cpu_seconds,
        }
    }
}

/// For people.
pub(crate) fn text(comparisons: &[HplComparison]) -> String {
    if comparisons.is_empty() {
        return String::new();
    }
    let columns = ["Real HPL", "N", "NB", "P", "Q", "time", "speed", "skeleton", "speed", "difference"];
    let mut table = Table::new(columns.map(|header| Column::new(header, header)));
    for comparison in comparisons {
        table.push([
            Cell::Text(comparison.variant.trim_start_matches('W').into()),
            Cell::Count(comparison.n),
            Cell::Count(comparison.nb),
            Cell::Count(comparison.p.into()),
            Cell::Count(comparison.q.into()),
            Cell::Seconds(comparison.real_seconds),
            Cell::Gflops(comparison.real_gflops),
            Cell::Seconds(comparison.skeleton_seconds),
            Cell::Gflops(comparison.skeleton_gflops),
            Cell::Text(percent(comparison.difference)),
        ]);
    }
    table.text()
}

/// Small differences keep digits that tell something.
fn percent(part: f64) -> String {
    let digits = if part.abs() < 0.001 { 4 } else { 2 };
    format!("{:+.digits$} %", 100.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_keep_digits_that_tell_something() {
        assert_eq!(percent(0.0123), "+1.23 %");
        assert_eq!(percent(-0.000_012), "-0.0012 %");
        assert_eq!(text(&[]), "");
    }
}
