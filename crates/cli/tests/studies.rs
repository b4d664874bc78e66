//! The studies of networks (docs/network-studies.md): their machines are right, and what the page says of them holds.

mod common;

use std::path::Path;

use common::{Folder, prints, root};
use serde_json::Value;

/// A file of a study.
fn study(file: &str) -> String {
    root().join("studies").join(file).display().to_string()
}

/// A value of the only row that a run prints.
fn seconds(arguments: &[&str], key: &str) -> f64 {
    let result: Value = serde_json::from_str(&prints(&[arguments, &["--json", "-"]].concat())).expect("JSON");
    result["table"][0][key].as_f64().unwrap_or_else(|| panic!("{key}: {result}"))
}

#[test]
fn machines_have_the_switches_of_the_papers() {
    for (file, switches, nodes) in [
        // Radix 24 and four levels: 3,456 leaves and as many switches on each of the next two levels, half of that at the top.
        ("fat-tree-pingpong/machine.toml", "12,096", "41,472"),
        ("three-topologies/fat-tree.toml", "240", "2,304"),
        ("three-topologies/torus.toml", "100", "2,400"),
        ("three-topologies/dragonfly.toml", "90", "2,160"),
    ] {
        let shown = prints(&["machine", "show", &study(file)]);
        let has = |key: &str, value: &str| {
            shown.lines().any(|line| line.starts_with(key) && line.split_whitespace().nth(1) == Some(value))
        };
        assert!(has("switches", switches) && has("nodes", nodes), "{file}\n{shown}");
    }
}

#[test]
fn pairs_on_one_switch_do_not_slow_each_other_down() {
    let folder = Folder::new("study-pingpong");
    let text = std::fs::read_to_string(study("fat-tree-pingpong/machine.toml")).expect("the machine");
    let mean = |nodes: u32, routing: &str| {
        let shrunk = text.replace("count = 41472", &format!("count = {nodes}"));
        let shrunk = shrunk.replace("unused-ports = 0", &format!("unused-ports = {}", 41472 - nodes));
        let (machine, nodes) = (folder.write("machine.toml", &shrunk), nodes.to_string());
        let program = ["run", "pingpong", "-n", &nodes, "-m", &machine, "--placement", "random", "--repeat", "10"];
        seconds(&[&program[..], &["--routing", routing, "--size", "64KiB", "--count", "10"]].concat(), "mean_seconds")
    };
    // 64 KiB at 1 GB/s, and two links of 100 ns.
    let alone = 65.536e-6 + 200e-9;
    for routing in ["d-mod-k", "ecmp", "random", "least-loaded"] {
        assert!((mean(12, routing) - alone).abs() < 1e-9, "{routing}");
    }
    // Of two switches the destinations of one are those of the other's ports: D-mod-K keeps them apart, hashes do not.
    assert!(mean(24, "d-mod-k") < 1.01 * alone);
    assert!(mean(24, "ecmp") > 1.05 * alone);
    // The page derives 1.36 for 144 nodes; few seeds are within a tenth of it.
    let slowdown = mean(144, "d-mod-k") / alone;
    assert!((1.26..1.46).contains(&slowdown), "{slowdown}");
}

#[test]
fn sums_on_a_fat_tree_take_what_a_binary_tree_takes() {
    let piece = (64 << 20) as f64 / 12.5e9;
    for (nodes, levels) in [(4u32, 2.0), (16, 4.0), (64, 6.0), (512, 9.0)] {
        let (nodes, machine) = (nodes.to_string(), study("three-topologies/fat-tree.toml"));
        let program = ["run", "allreduce", "-n", &nodes, "-m", &machine, "--ranks-per-node", "1", "--size", "64MiB"];
        let tree = ["--coll", "allreduce=nonoverlapping", "--coll", "reduce=binary", "--coll", "bcast=binary"];
        let found = seconds(&[&program[..], &tree].concat(), "max_seconds");
        let expected = (4.0 * levels - 3.0) * piece;
        assert!((found / expected - 1.0).abs() < 1e-3, "{nodes} nodes: {found} s, not {expected} s");
    }
}

/// Two steps of a detour may cross the same link.
#[test]
fn detours_may_cross_a_link_twice() {
    let machine = study("three-topologies/dragonfly.toml");
    let program = ["run", "allreduce", "-n", "256", "-m", &machine, "--ranks-per-node", "1", "--size", "64MiB"];
    let tree = ["--coll", "allreduce=nonoverlapping", "--coll", "reduce=binary:segment=1MiB"];
    let found = seconds(
        &[&program[..], &tree, &["--coll", "bcast=binary:segment=1MiB", "--routing", "valiant"]].concat(),
        "max_seconds",
    );
    // Both phases move all data to or from two children.
    assert!(found > 4.0 * (64 << 20) as f64 / 12.5e9, "{found}");
}

#[test]
fn scripts_are_there_and_say_how_they_are_called() {
    for name in ["fat-tree-pingpong/run.sh", "three-topologies/run.sh"] {
        let script = study(name);
        let said = std::process::Command::new("sh").arg(Path::new(&script)).output().expect("a shell");
        assert_eq!(said.status.code(), Some(2), "{name}");
        assert!(String::from_utf8_lossy(&said.stderr).starts_with("usage: "), "{name}");
    }
}
