//! Wrong input: exit code 2, a message that says where and what to do, and nothing half-written.

mod common;

use std::path::Path;

use common::{Folder, prints, refuses, root};

const RIGHT: &str = r#"name = "small"
[nodes]
count = 4
cores-per-socket = 2
[network]
topology = "crossbar"
bandwidth = "10 Gbit/s"
latency = "1 us"
loopback = { bandwidth = "5 GB/s", latency = "0.1 us" }
"#;

#[test]
fn mistakes_in_machine_files_are_shown_with_their_place() {
    let folder = Folder::new("mistakes");
    for (from, to, parts) in [
        ("latency =", "latecy =", &["machine.toml:8:1", "latecy", "latency"][..]),
        ("\"10 Gbit/s\"", "\"10 Gb/s\"", &["machine.toml:7:", "Gbit/s", "GB/s"]),
        ("\"10 Gbit/s\"", "10", &["machine.toml:7:", "unit"]),
        ("\"1 us\"", "\"-1 us\"", &["machine.toml:8:"]),
        ("\"1 us\"", "\"1 GB\"", &["machine.toml:8:"]),
        ("topology = \"crossbar\"", "topology = \"fat-tree\"\nshape = \"2; 3,3; 1,2; 1,1\"", &["machine.toml:", "9"]),
        ("topology = \"crossbar\"", "topology = \"star\"", &["machine.toml:6:", "crossbar"]),
        (
            "topology = \"crossbar\"",
            "topology = \"dragonfly\"\ngroups = 4\nswitches-per-group = 2\nnodes-per-switch = 1\nglobal-cables-per-switch = 1",
            &["machine.toml:7:10", "each of 4 groups", "write at most 3 groups"],
        ),
        (
            "topology = \"crossbar\"",
            "topology = \"slim-fly\"\nq = 6\nnodes-per-switch = 1",
            &["machine.toml:7:5", "not a power of a prime", "write 5 or 7"],
        ),
        ("[network]", "[network", &["machine.toml:5:"]),
    ] {
        assert!(RIGHT.contains(from));
        let path = folder.write("machine.toml", &RIGHT.replace(from, to));
        refuses(&["machine", "check", &path], parts);
        refuses(&["run", "ring", "-n", "2", "-m", &path], parts);
    }
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let folder = Folder::new("command-line");
    let machine = folder.write("machine.toml", RIGHT);
    let run = |more: &[&str], parts: &[&str]| {
        let mut arguments = vec!["run", "pingpong", "-m", &machine];
        arguments.extend(more);
        refuses(&arguments, parts);
    };
    run(&["-n", "9"], &["9 ranks", "oversubscription"]);
    run(&["-n", "2", "--size", "1000"], &["unit"]);
    run(&["-n", "2", "--size", "1MiB..8B"], &["8B..1MiB"]);
    run(&["-n", "2", "--coll", "allreduce=warp"], &["warp", "recursive-doubling"]);
    run(&["-n", "2", "--coll", "fly=ring"], &["fly", "allreduce"]);
    run(&["-n", "2", "--root", "2"], &["--root 2"]);
    run(&["-n", "2", "--count", "0"], &["--count 0"]);
    run(&["-n", "100", "--oversubscribe", "--gantt", &folder.path("g.svg")], &["--trace"]);
    refuses(&["run", "pingpong", "-n", "2", "-m", "nowhere.toml"], &["nowhere.toml"]);
    refuses(&["run", "pongping", "-n", "2", "-m", &machine], &["pongping", "pingpong"]);
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_run() {
    let folder = Folder::new("outputs");
    let machine = folder.write("machine.toml", RIGHT);
    let missing = folder.path("no/such/folder/out.json");
    for option in ["--json", "--csv", "--plot", "--gantt", "--trace", "--links"] {
        let arguments = ["run", "ring", "-n", "4", "-m", &machine, option, &missing];
        refuses(&arguments, &["out.json", "folder"]);
    }
    refuses(&["machine", "draw", &machine, "-o", &missing], &["folder"]);
}

#[test]
fn nothing_is_left_behind_by_a_failure() {
    let folder = Folder::new("left-behind");
    let machine = folder.write("machine.toml", RIGHT);
    let json = folder.path("out.json");
    refuses(&["run", "ring", "-n", "99", "-m", &machine, "--json", &json], &["99 ranks"]);
    assert_eq!(folder.names(), ["machine.toml"]);
}

#[test]
fn broken_platform_files_are_refused() {
    let folder = Folder::new("platforms");
    let out = folder.path("machine.toml");
    for (xml, parts) in [
        ("<platform version=\"4.1\"><cluster", &["platform.xml:1:"][..]),
        ("<platform version=\"4.1\"/>", &["platform.xml"]),
        ("not xml at all", &["platform.xml:1:"]),
    ] {
        let platform = folder.write("platform.xml", xml);
        refuses(&["machine", "import", &platform, "-o", &out], parts);
        assert!(!Path::new(&out).exists());
    }
}

#[test]
fn machines_without_prices_have_no_cost() {
    let folder = Folder::new("cost");
    let json = folder.path("cost.json");
    let machine = folder.write("machine.toml", RIGHT);
    refuses(&["machine", "cost", &machine, "--json", &json], &["machine.toml", "no section [cost]"]);
    let machine = folder.write("machine.toml", &format!("{RIGHT}[cost]\ncurrency = \"EUR\"\n"));
    let parts = ["no price for 1 switches", "no length for 4 cables of the kind `node-switch`"];
    refuses(&["machine", "cost", &machine, "--json", &json], &parts);
    assert!(!Path::new(&json).exists());
}

#[test]
fn options_that_mean_nothing_for_a_format_are_refused() {
    let folder = Folder::new("formats");
    let out = folder.path("machine.toml");
    let conf = folder.write("topology.conf", "SwitchName=s0 Nodes=n[0-3]\n");
    let import = |options: &[&str], parts: &[&str]| {
        refuses(&[&["machine", "import", &conf, "-o", &out], options].concat(), parts);
        assert!(!Path::new(&out).exists());
    };
    import(&[], &["4 of 4 cables tell no speed", "--bandwidth"]);
    import(&["--bandwidth", "100"], &["--bandwidth", "unit"]);
    import(&["--bandwidth", "0 GB/s"], &["greater than zero"]);
    import(&["--bandwidth", "1 GB/s", "--latency=-1 us"], &["not be negative"]);
    import(&["--bandwidth", "1 GB/s", "--simgrid", "2018"], &["--simgrid means nothing", "Slurm"]);
    let platform = root().join("tests/simgrid/platforms/dahu.xml").display().to_string();
    refuses(&["machine", "import", &platform, "-o", &out, "--cores", "4"], &["--cores means nothing", "SimGrid"]);
}

#[test]
fn cores_of_a_platform_are_shared_by_sockets() {
    let folder = Folder::new("sockets");
    let out = folder.path("machine.toml");
    let cluster = r#"<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us" core="8"/>"#;
    let platform = folder.write("platform.xml", &format!("<platform version=\"4.1\">{cluster}</platform>"));
    let import = |sockets| ["machine", "import", &platform, "-o", &out, "--sockets", sockets];
    refuses(&import("3"), &["8 cores", "3 sockets"]);
    refuses(&import("0"), &["--sockets"]);
    assert!(!Path::new(&out).exists());
    prints(&import("2"));
    let file = folder.read("machine.toml");
    assert!(file.contains("sockets = 2") && file.contains("cores-per-socket = 4"), "{file}");
}
