//! What a run writes: the same bytes every time, but for what may vary; pictures and traces that can be read.

mod common;

use common::{Folder, VARIES, machine, prints};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let mut arguments = arguments.to_vec();
    arguments.extend(["--json", "-"]);
    serde_json::from_str(&prints(&arguments)).expect("JSON")
}

#[test]
fn equal_runs_give_equal_bytes() {
    let msc = machine("msc-512.toml");
    let run = |seed: &str| {
        let arguments =
            ["run", "random-traffic", "-n", "64", "-m", &msc, "--size", "100kB", "--count", "5", "--seed", seed];
        let mut report = json(&arguments);
        for key in VARIES {
            assert!(report.as_object_mut().expect("an object").remove(key).is_some(), "{key}");
        }
        report.to_string()
    };
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
}

#[test]
fn the_promised_names_are_there() {
    let report = json(&[
        "run",
        "pingpong",
        "-n",
        "2",
        "-m",
        &machine("dahu.toml"),
        "--network",
        "ideal",
        "--size",
        "1000B",
        "--count",
        "3",
        "--seed",
        "9",
        "--oversubscribe",
    ]);
    for key in ["simulated_seconds", "messages", "bytes", "seed", "warnings"].iter().chain(&VARIES) {
        assert!(report.get(key).is_some(), "{key}");
    }
    assert_eq!((&report["messages"], &report["bytes"], &report["seed"]), (&6.into(), &6000.into(), &9.into()));
}

#[test]
fn pictures_tables_and_traces() {
    let folder = Folder::new("pictures-and-tables");
    prints(&[
        "run",
        "alltoall",
        "-n",
        "8",
        "--ranks-per-node",
        "1",
        "-m",
        &machine("msc-512.toml"),
        "--size",
        "1kB,100kB",
        "--csv",
        &folder.path("t.csv"),
        "--plot",
        &folder.path("p.svg"),
        "--gantt",
        &folder.path("g.svg"),
        "--trace",
        &folder.path("t.json"),
        "--links",
        &folder.path("l.svg"),
    ]);
    assert_eq!(folder.read("t.csv").lines().count(), 3, "a header and a line a size");
    for picture in ["p.svg", "g.svg", "l.svg"] {
        let drawn = folder.read(picture);
        assert!(drawn.starts_with("<svg") || drawn.starts_with("<?xml"), "{picture}");
    }
    let trace: Value = serde_json::from_str(&folder.read("t.json")).expect("a trace is JSON");
    assert!(trace["traceEvents"].as_array().expect("events").len() > 100);
}

#[test]
fn every_network_model_runs() {
    for network in ["flow", "ideal", "circuit"] {
        let report = json(&["run", "halo2d", "-n", "16", "-m", &machine("dahu.toml"), "--network", network]);
        assert!(report["simulated_seconds"].as_f64().expect("a number") > 0.0);
    }
}
