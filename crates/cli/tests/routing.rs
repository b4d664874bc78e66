//! Every run draws its own ways.

mod common;

use common::{Folder, prints};
use serde_json::Value;

/// A dragonfly of 72 nodes; what follows goes to its network.
const DRAGONFLY: &str = r#"
name = "dragonfly"
nodes.cores-per-socket = 1
nodes.flops = "1 Gflop/s"
[network]
topology = "dragonfly"
groups = 9
switches-per-group = 4
nodes-per-switch = 2
global-cables-per-switch = 2
bandwidth = "100 Gbit/s"
latency = "100 ns"
"#;

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&prints(&[arguments, &["--json", "-"]].concat())).expect("JSON")
}

/// An all-to-all with these options.
fn alltoall(machine: &str, options: &[&str]) -> Value {
    json(&[&["run", "alltoall", "-n", "72", "-m", machine, "--size", "64KiB"], options].concat())
}

fn mean(report: &Value) -> f64 {
    report["table"][0]["mean_seconds"].as_f64().expect("a time")
}

#[test]
fn every_run_draws_its_own_ways() {
    let folder = Folder::new("ways");
    let machine = folder.write("dragonfly.toml", DRAGONFLY);
    let valiant = |options: &[&str]| alltoall(&machine, &[&["--routing", "valiant"], options].concat());
    let alone = ["0", "1", "2"].map(|seed| mean(&valiant(&["--seed", seed])));
    let repeated = valiant(&["--repeat", "3"]);
    let expected = alone.iter().sum::<f64>() / 3.0;
    assert!((mean(&repeated) - expected).abs() < 1e-12, "{alone:?} {}", mean(&repeated));
    assert!(repeated["table"][0]["prediction_95_seconds"].as_f64() > Some(1e-6), "{}", repeated["table"]);
}
