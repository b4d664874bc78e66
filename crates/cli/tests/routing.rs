//! Which routing is in force: what files and options say of it, what results say, and that every run draws its own ways.

mod common;

use common::{Folder, prints, refuses};
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

#[test]
fn thresholds_come_from_the_option_or_the_file() {
    let folder = Folder::new("thresholds");
    let write = |name: &str, keys: &str| folder.write(name, &format!("{DRAGONFLY}{keys}\n"));
    let (plain, eager) = (write("plain.toml", ""), write("eager.toml", "ugal-threshold = 100"));
    let local = write("local.toml", "routing = \"ugal-l\"\nugal-threshold = 100");
    let in_force = |machine: &str, options: &[&str]| {
        let report = alltoall(machine, options);
        let parameters = &report["parameters"];
        let word = parameters["routing"].as_str().expect("a routing").to_owned();
        (word, parameters["ugal-threshold"].as_u64(), mean(&report))
    };
    let ugal = |threshold| ("ugal-l".to_owned(), Some(threshold));
    let (word, threshold, patient) = in_force(&local, &[]);
    assert_eq!((word, threshold), ugal(100));
    // The option has the last word, with or without a routing beside it.
    let (word, threshold, hasty) = in_force(&local, &["--ugal-threshold", "0"]);
    assert_eq!((word, threshold), ugal(0));
    assert!(hasty != patient, "the threshold matters");
    let asked = in_force(&plain, &["--routing", "ugal-l", "--ugal-threshold", "100"]);
    assert_eq!(asked, ("ugal-l".into(), Some(100), patient));
    // A routing on the command line leaves the file's threshold as it is.
    for machine in [&local, &eager] {
        assert_eq!(in_force(machine, &["--routing", "ugal-l"]), ("ugal-l".into(), Some(100), patient));
    }
    let (word, threshold, _) = in_force(&eager, &[]);
    assert_eq!((word.as_str(), threshold), ("minimal", None));
    // Where no routing looks at it, it is refused.
    let refused = ["--ugal-threshold has no meaning with the routing", "leave it out"];
    let run = ["run", "ring", "-n", "8", "-m", &plain, "--ugal-threshold", "3"];
    refuses(&run, &refused);
    refuses(&[&run[..], &["--routing", "valiant"]].concat(), &refused);
    refuses(&["network", "compare", "-m", &plain, "--ugal-threshold", "3"], &refused);
    let throughput = ["network", "throughput", "-m", &plain, "--patterns", "shift:1", "--messages", "5"];
    let throughput = [&throughput[..], &["--ugal-threshold", "3", "--routings"]].concat();
    refuses(&[&throughput[..], &["minimal,valiant"]].concat(), &refused);
    assert_eq!(json(&[&throughput[..], &["minimal,ugal-g"]].concat())["ugal_threshold"], 3);
}

#[test]
fn results_name_the_routing_of_the_file() {
    let folder = Folder::new("named-routing");
    let local = folder.write("local.toml", &format!("{DRAGONFLY}routing = \"ugal-l\"\nugal-threshold = 7\n"));
    let text = prints(&["run", "ring", "-n", "8", "-m", &local]);
    assert!(text.contains("routing ugal-l, ugal-threshold 7, seed 0"), "{text}");
    let shown = prints(&["machine", "show", &local]);
    assert!(shown.contains("routing               ugal-l with threshold 7\n"), "{shown}");
    let hpl = ["hpl", "-m", &local, "--n", "200", "--nb", "50", "--grid", "2x2"];
    let text = prints(&hpl);
    assert!(text.contains("routing ugal-l, ugal-threshold 7, seed 0"), "{text}");
    assert_eq!(json(&hpl)["parameters"]["routing"], "ugal-l");
    let compared = json(&["network", "compare", "-m", &local, "--sizes", "64B"]);
    assert_eq!((&compared["routing"], &compared["ugal_threshold"]), (&"ugal-l".into(), &7.into()));
    let throughput = ["network", "throughput", "-m", &local, "--patterns", "shift:1", "--messages", "5"];
    let found = json(&throughput);
    assert_eq!((&found["rows"][0]["routing"], &found["ugal_threshold"]), (&"ugal-l".into(), &7.into()));
}
