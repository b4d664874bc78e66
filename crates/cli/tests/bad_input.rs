//! Wrong input: exit code 2, a message that says where and what to do, and nothing half-written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("hpcast-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a temporary file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn hpcast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hpcast")).args(arguments).output().expect("hpcast runs")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Fails with exit code 2 and says all of these.
fn refuses(arguments: &[&str], parts: &[&str]) {
    let output = hpcast(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{message}");
    for part in parts {
        assert!(message.contains(part), "{arguments:?} should say `{part}`:\n{message}");
    }
    assert!(output.stdout.is_empty(), "{arguments:?} prints nothing else");
}

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
        ("topology = \"crossbar\"", "topology = \"hyperbole\"", &["machine.toml:6:", "crossbar"]),
        ("[network]", "[network", &["machine.toml:5:"]),
    ] {
        assert!(RIGHT.contains(from));
        let path = folder.write("machine.toml", &RIGHT.replace(from, to));
        refuses(&["machine", "check", text(&path)], parts);
        refuses(&["run", "ring", "-n", "2", "-m", text(&path)], parts);
    }
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let folder = Folder::new("command-line");
    let machine = folder.write("machine.toml", RIGHT);
    let run = |more: &[&str], parts: &[&str]| {
        let mut arguments = vec!["run", "pingpong", "-m", text(&machine)];
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
    run(&["-n", "100", "--oversubscribe", "--gantt", text(&folder.0.join("g.svg"))], &["--trace"]);
    refuses(&["run", "pingpong", "-n", "2", "-m", "nowhere.toml"], &["nowhere.toml"]);
    refuses(&["run", "pongping", "-n", "2", "-m", text(&machine)], &["pongping", "pingpong"]);
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_run() {
    let folder = Folder::new("outputs");
    let machine = folder.write("machine.toml", RIGHT);
    let missing = folder.0.join("no/such/folder/out.json");
    for option in ["--json", "--csv", "--plot", "--gantt", "--trace", "--links"] {
        let arguments = ["run", "ring", "-n", "4", "-m", text(&machine), option, text(&missing)];
        refuses(&arguments, &["out.json", "folder"]);
    }
    refuses(&["machine", "draw", text(&machine), "-o", text(&missing)], &["folder"]);
}

#[test]
fn nothing_is_left_behind_by_a_failure() {
    let folder = Folder::new("left-behind");
    let machine = folder.write("machine.toml", RIGHT);
    let json = folder.0.join("out.json");
    refuses(&["run", "ring", "-n", "99", "-m", text(&machine), "--json", text(&json)], &["99 ranks"]);
    let left: Vec<_> = fs::read_dir(&folder.0).expect("the folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["machine.toml"]);
}

#[test]
fn broken_platform_files_are_refused() {
    let folder = Folder::new("platforms");
    let out = folder.0.join("machine.toml");
    for (xml, parts) in [
        ("<platform version=\"4.1\"><cluster", &["platform.xml:1:"][..]),
        ("<platform version=\"4.1\"/>", &["platform.xml"]),
        ("not xml at all", &["platform.xml:1:"]),
    ] {
        let platform = folder.write("platform.xml", xml);
        refuses(&["machine", "import", text(&platform), "-o", text(&out)], parts);
        assert!(!out.exists());
    }
}

#[test]
fn cores_of_a_platform_are_shared_by_sockets() {
    let folder = Folder::new("sockets");
    let out = folder.0.join("machine.toml");
    let cluster = r#"<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us" core="8"/>"#;
    let platform = folder.write("platform.xml", &format!("<platform version=\"4.1\">{cluster}</platform>"));
    let import = |sockets| ["machine", "import", text(&platform), "-o", text(&out), "--sockets", sockets];
    refuses(&import("3"), &["8 cores", "3 sockets"]);
    refuses(&import("0"), &["--sockets"]);
    assert!(!out.exists());
    assert!(hpcast(&import("2")).status.success());
    let file = fs::read_to_string(&out).expect("the machine file");
    assert!(file.contains("sockets = 2") && file.contains("cores-per-socket = 4"), "{file}");
}
