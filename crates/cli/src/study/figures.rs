//! What can be looked at in a study: the figures of a run, by name.

use std::collections::BTreeMap;

use hpcast_platform::Machine;
use hpcast_platform::machine::Cost;
use hpcast_report::{Cell, HplReport, RunReport};
use serde_json::Value;

pub(crate) type Figures = BTreeMap<String, f64>;

/// Of any run.
fn of_any(report: &RunReport) -> Figures {
    let mut figures: Figures = [
        ("simulated_seconds", report.simulated_seconds),
        ("messages", report.messages as f64),
        ("bytes", report.bytes as f64),
        ("ranks", f64::from(report.ranks)),
        ("wait_seconds", report.rank_times.wait.mean_seconds),
        ("compute_seconds", report.rank_times.compute.mean_seconds),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    if let Some(link) = report.busiest_links.first() {
        figures.insert("busiest_link_load".into(), link.load);
    }
    figures
}

/// Of a built-in program: `seconds` is the mean of an iteration, of the last size where there are several.
pub(super) fn of_run(report: &RunReport) -> Figures {
    let mut figures = of_any(report);
    for (name, column) in [("seconds", "mean_seconds"), ("bandwidth", "bandwidth_bytes_per_second")] {
        let value = report.table.last(column);
        if let Some(Cell::Seconds(value) | Cell::Bandwidth(value)) = value {
            figures.insert(name.into(), *value);
        }
    }
    figures
}

/// Of HPL.
pub(super) fn of_hpl(report: &HplReport) -> Figures {
    let mut figures = of_any(&report.run);
    figures.insert("gflops".into(), report.gflops);
    if let Some(combination) = report.combinations.first() {
        figures.insert("seconds".into(), combination.seconds.mean);
        figures.insert("uncertainty_seconds".into(), combination.seconds.mean * report.uncertainty);
        figures.insert("nodes".into(), f64::from(combination.nodes));
    }
    if let Some(peak) = report.peak_gflops {
        figures.insert("efficiency".into(), report.gflops / peak);
    }
    for (phase, time) in &report.phases {
        figures.insert(format!("{phase}_seconds"), time.seconds);
    }
    figures
}

/// Of the machine, where it has prices.
pub(super) fn of_machine(machine: &Machine) -> Figures {
    let mut figures = Figures::new();
    if let Ok(cost) = Cost::of(machine) {
        figures.insert("price".into(), cost.price());
        figures.extend(cost.power().map(|power| ("power_watts".to_owned(), power.get())));
    }
    figures
}

/// All numbers at the top of a report that another command wrote.
pub(crate) fn of_json(report: &Value) -> Figures {
    let numbers = report.as_object().into_iter().flatten();
    numbers.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
}
