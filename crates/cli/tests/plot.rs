//! `hpcast plot` draws what tables hold, and says which columns there are.

mod common;

use common::{Folder, machine, prints, refuses};

const TABLE: &str =
    "nodes,network,routing,mean_seconds\n8,flow,random,1e-6\n2,flow,random,2e-6\n8,packet,,3e-6\n16,packet,,\n";

#[test]
fn a_line_for_each_series() {
    let folder = Folder::new("plot");
    let (table, picture) = (folder.write("t.csv", TABLE), folder.path("t.svg"));
    let asked = ["plot", &table, "--x", "nodes", "--y", "mean_seconds", "-o", &picture];
    let said = prints(&[&asked[..], &["--series", "network,routing", "--log-x", "--title", "a & b"]].concat());
    // A row without a value is no point.
    assert!(said.contains("3 points, lines: 2"), "{said}");
    let svg = folder.read("t.svg");
    for text in [">flow, random<", ">packet<", ">nodes<", "a &amp; b"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(prints(&asked).contains("3 points, lines: 1"));
}

#[test]
fn wrong_tables_are_refused() {
    let folder = Folder::new("plot-wrong");
    let (table, picture) = (folder.write("t.csv", TABLE), folder.path("t.svg"));
    let refused = |table: &str, x: &str, y: &str, more: &[&str], parts: &[&str]| {
        refuses(&[&["plot", table, "--x", x, "--y", y, "-o", &picture][..], more].concat(), parts);
        assert!(!folder.names().contains(&"t.svg".to_owned()), "nothing is half-written");
    };
    let columns = "the columns are nodes, network, routing, mean_seconds";
    refused(&table, "node", "mean_seconds", &[], &["t.csv", "no column `node`", columns]);
    refused(&table, "nodes", "mean_seconds", &["--series", "model"], &["no column `model`", columns]);
    refused(&table, "nodes", "network", &[], &["line 2: `flow` in column `network` is no number"]);
    refused(&folder.write("empty.csv", "a,b\n"), "a", "b", &[], &["has no such rows"]);
    refused(&folder.path("nowhere.csv"), "a", "b", &[], &["nowhere.csv"]);
}

/// What `--traffic` writes begins with comments.
#[test]
fn tables_of_hpcast_itself_are_drawn() {
    let folder = Folder::new("plot-own");
    let (table, picture) = (folder.path("traffic.csv"), folder.path("t.svg"));
    prints(&["run", "ring", "-n", "8", "-m", &machine("dahu.toml"), "--size", "1kB", "--traffic", &table]);
    let said = prints(&["plot", &table, "--x", "from", "--y", "bytes", "-o", &picture]);
    assert!(said.contains("8 points, lines: 1"), "{said}");
}

#[test]
fn a_table_is_not_overwritten_by_its_picture() {
    let folder = Folder::new("plot-over");
    let table = folder.write("t.csv", TABLE);
    let around = folder.path("./t.csv");
    for output in [&table, &around] {
        refuses(&["plot", &table, "--x", "nodes", "--y", "mean_seconds", "-o", output], &["t.csv", "would be lost"]);
    }
    assert_eq!(folder.read("t.csv"), TABLE);
}
