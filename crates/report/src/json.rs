//! A run as JSON: the fields of [`crate::RunReport`] at the top level, names with units, plain numbers.

use serde::Serialize;

/// The whole report, indented, with a line end.
pub fn document(report: &impl Serialize) -> String {
    // Serialising can fail only for maps whose keys are not text, and there are none.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// What two equal runs do not have in common.
const COSTS: [&str; 4] = ["cpu_seconds", "wall_seconds", "peak_memory_bytes", "provenance"];

/// The report in a line, but for what the run has cost and where it comes from: equal runs give equal texts.
pub fn without_costs(report: &impl Serialize) -> String {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    remove_costs(&mut value);
    value.to_string()
}

/// Removes what a run has cost and where it comes from.
pub fn remove_costs(report: &mut serde_json::Value) {
    if let Some(fields) = report.as_object_mut() {
        COSTS.iter().for_each(|name| drop(fields.remove(*name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_report::tests::example;
    use serde_json::{Value, json};

    #[test]
    fn names_that_stay() {
        let json: Value = serde_json::from_str(&document(&example())).unwrap();
        assert_eq!(json["simulated_seconds"], 0.002);
        assert_eq!(json["messages"], 16);
        assert_eq!(json["bytes"], 262_176);
        assert_eq!(json["cpu_seconds"], 0.011);
        assert_eq!(json["wall_seconds"], 0.0125);
        assert_eq!(json["peak_memory_bytes"], 7 << 20);
        assert_eq!(json["seed"], 1);
        assert_eq!(json["warnings"], json!(["1 message was sent and never received"]));
        assert_eq!(json["provenance"]["version"], "0.1.0");
        assert_eq!(json["parameters"], json!({"size": "8 B..64 KiB", "count": 2, "nonblocking": false}));
        assert_eq!(json["machine"]["name"], "Frontera");
        assert_eq!(json["table"][1]["size_bytes"], 65_536);
        assert_eq!(json["rank_times"]["wait"]["max_rank"], 0);
        assert_eq!(json["rank_times"]["per_rank"]["compute"], json!([0.0, 0.0, 0.0005, 0.0]));
        assert_eq!(json["busiest_links"][0]["name"], "node 3 -> leaf 0");
    }

    #[test]
    fn equal_runs_differ_only_where_they_may() {
        let first = example();
        let mut second = example();
        second.used = Default::default();
        second.provenance.host = "there".into();
        assert_ne!(document(&first), document(&second));
        let [first, second] = [first, second].map(|report| without_costs(&report));
        assert_eq!(first, second);
    }
}
