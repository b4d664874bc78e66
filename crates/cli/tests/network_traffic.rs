//! `hpcast network`, and networks with limiters and failures.

mod common;

use common::{Folder, prints, refuses};
use serde_json::Value;

/// A crossbar of eight nodes with more lines in its section of the network.
fn crossbar(more: &str) -> String {
    format!(
        "name = \"eight\"\n[nodes]\ncount = 8\ncores-per-socket = 1\n[network]\ntopology = \"crossbar\"\n\
         bandwidth = \"100 Gbit/s\"\nlatency = \"100 ns\"\n{more}\n"
    )
}

/// What has no traffic is refused, and few messages are warned of.
#[test]
fn throughput_needs_traffic() {
    let folder = Folder::new("throughput-needs-traffic");
    let machine = folder.write("eight.toml", &crossbar(""));
    let one = folder.write("one.toml", &crossbar("").replace("count = 8", "count = 1"));
    refuses(&["network", "throughput", "-m", &one], &["one node has no traffic between nodes"]);
    let empty = ["network", "throughput", "-m", &machine, "--message", "0B"];
    refuses(&empty, &["messages without bytes have no rate"]);
    let shown = prints(&["network", "throughput", "-m", &machine, "--messages", "5", "--patterns", "uniform"]);
    assert!(shown.contains("warning: 40 messages are few, and rates rough: write --messages 125 or more"), "{shown}");
}

/// Where ways follow the load, what links would carry without load says nothing.
#[test]
fn no_bound_where_ways_follow_the_load() {
    let folder = Folder::new("no-bound");
    let text = crossbar("switches = 4\nnodes-per-switch = 2").replace("crossbar", "full-mesh");
    let machine = folder.write("mesh.toml", &text);
    let out = folder.path("out.json");
    let rows = |routing: &str| {
        let first = ["network", "throughput", "-m", &machine, "--patterns", "adversary", "--messages", "50"];
        prints(&[&first[..], &["--routings", routing, "--json", &out]].concat());
        let document: Value = serde_json::from_str(&folder.read("out.json")).expect("JSON");
        document["rows"][0].clone()
    };
    assert!(rows("direct")["share"].as_f64().is_some_and(|share| share <= 1.0));
    let row = rows("ugal-g");
    assert!(row["most_bytes_per_second"].is_null() && row["share"].is_null(), "{row}");
    assert!(row["accepted_bytes_per_second"].as_f64().is_some());
}

/// A limiter is the first link of what leaves a node, and the last of what comes; and ports without nodes send nothing.
#[test]
fn compare_comes_to_an_end() {
    let folder = Folder::new("compare-ends");
    let limited = crossbar("limiter = \"50 Gbit/s\"\nunused-ports = 8\n[network.packet]\nbuffer = \"4 KiB\"");
    let machine = folder.write("limited.toml", &limited);
    let shown = prints(&["network", "compare", "-m", &machine, "--sizes", "64KiB"]);
    let all = shown.lines().find(|line| line.starts_with("shift:1")).expect("a pattern");
    assert!(all.split_whitespace().any(|word| word == "8"), "a message of each node: {all}");
}

/// Names of nodes stay when something has failed.
#[test]
fn rank_files_name_nodes_of_a_damaged_graph() {
    let folder = Folder::new("rank-file-damaged");
    folder.write(
        "net.txt",
        "node a b\nswitch s t\nlink a -- s 1 GB/s 1 us\nlink b -- s 1 GB/s 1 us\nlink a -- t 1 GB/s 1 us\nlink b -- t 1 GB/s 1 us\n",
    );
    let machine = folder.write(
        "graph.toml",
        "name = \"g\"\nnodes.cores-per-socket = 1\n[network]\ntopology = \"graph\"\nfile = \"net.txt\"\nfailed = [\"s\"]\n",
    );
    let ranks = folder.write("ranks.txt", "rank 0=b slot=0\nrank 1=a slot=0\n");
    prints(&["run", "pingpong", "-n", "2", "-m", &machine, "--rank-file", &ranks, "--size", "1kB"]);
}
