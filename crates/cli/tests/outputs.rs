//! What a run writes: the same bytes every time, but for what may vary; pictures and traces that can be read.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

fn machine(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../machines").join(name).display().to_string()
}

fn hpcast(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hpcast")).args(arguments).output().expect("hpcast runs");
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    let mut arguments = arguments.to_vec();
    arguments.extend(["--json", "-"]);
    serde_json::from_str(&hpcast(&arguments)).expect("JSON")
}

const VARIES: [&str; 4] = ["cpu_seconds", "wall_seconds", "peak_memory_bytes", "provenance"];

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
    let folder = std::env::temp_dir().join(format!("hpcast-outputs-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = |name: &str| folder.join(name).display().to_string();
    let (csv, plot, gantt, trace, links) = (file("t.csv"), file("p.svg"), file("g.svg"), file("t.json"), file("l.svg"));
    hpcast(&[
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
        &csv,
        "--plot",
        &plot,
        "--gantt",
        &gantt,
        "--trace",
        &trace,
        "--links",
        &links,
    ]);
    let read = |name: &str| fs::read_to_string(name).expect("it was written");
    assert_eq!(read(&csv).lines().count(), 3, "a header and a line a size");
    for picture in [&plot, &gantt, &links] {
        assert!(read(picture).starts_with("<svg") || read(picture).starts_with("<?xml"), "{picture}");
    }
    let trace: Value = serde_json::from_str(&read(&trace)).expect("a trace is JSON");
    assert!(trace["traceEvents"].as_array().expect("events").len() > 100);
    fs::remove_dir_all(folder).expect("the folder can be removed");
}

#[test]
fn every_network_model_runs() {
    for network in ["flow", "ideal", "circuit"] {
        let report = json(&["run", "halo2d", "-n", "16", "-m", &machine("dahu.toml"), "--network", network]);
        assert!(report["simulated_seconds"].as_f64().expect("a number") > 0.0);
    }
}
