//! Studies on this computer: what is run, what is kept, what is done again.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, command, hpcast, prints, refuses};

const MACHINE: &str = r#"
name = "small"
[nodes]
count = 16
sockets = 1
cores-per-socket = 4
[network]
topology = "crossbar"
bandwidth = "10 GB/s"
latency = "1 us"
"#;

const STUDY: &str = r#"
title = "Halo exchanges"
question = "What does the bandwidth do?"
program = "run halo2d -n 16 --ranks-per-node 1 --size {size} --count 2"
machine = "machine.toml"
responses = ["seconds", "messages"]

[[factor]]
name = "size"
levels = ["1 KiB", "64 KiB", "1 MiB"]

[[factor]]
name = "bandwidth"
machine = "network.bandwidth"
levels = ["1 GB/s", "10 GB/s"]

[design]
repetitions = 2
"#;

/// A folder with the machine and a study, and the study's file.
fn folder(name: &str, study: &str) -> (Folder, String) {
    let folder = Folder::new(name);
    folder.write("machine.toml", MACHINE);
    let study = folder.write("study.toml", study);
    (folder, study)
}

fn export(folder: &Folder, out: &str) -> String {
    prints(&["runs", "export", &folder.path(out), "--csv", &folder.path("rows.csv")]);
    folder.read("rows.csv")
}

#[test]
fn a_study_is_done_once_whoever_does_it() {
    let (folder, study) = folder("study-once", STUDY);
    let said = prints(&["study", "run", &study, "--out", &folder.path("one"), "--workers", "1"]);
    assert!(said.contains("runs       12 of 12, 12 of them done now, 0 known before"), "{said}");
    let rows = export(&folder, "one");
    assert_eq!(rows.lines().count(), 13);
    assert!(
        rows.starts_with("row,point,repetition,seed,size,bandwidth,seconds,messages,status\n0,0,0,0,1 KiB,1 GB/s,")
    );
    prints(&["study", "run", &study, "--out", &folder.path("three"), "--workers", "3"]);
    assert_eq!(export(&folder, "three"), rows);
    let said = prints(&["study", "run", &study, "--out", &folder.path("one")]);
    assert!(said.contains("0 of them done now, 12 known before"), "{said}");
    // A level more: only its runs are done.
    let more = STUDY.replace("\"10 GB/s\"]", "\"10 GB/s\", \"20 GB/s\"]");
    folder.write("study.toml", &more);
    let said = prints(&["study", "run", &study, "--out", &folder.path("one")]);
    assert!(said.contains("runs       18 of 18, 6 of them done now, 12 known before"), "{said}");
}

#[test]
fn runs_can_be_looked_at() {
    let (folder, study) = folder("study-look", STUDY);
    let out = folder.path("out");
    prints(&["study", "run", &study, "--out", &out]);
    let list =
        prints(&["runs", "list", &out, "--where", "size=1 MiB", "--sort", "seconds", "--reverse", "--limit", "3"]);
    assert_eq!(list.lines().count(), 5, "{list}");
    assert!(list.contains("3 of 4 runs"), "{list}");
    assert!(list.lines().nth(1).is_some_and(|line| line.contains("1 MiB") && line.contains("1 GB/s")), "{list}");
    let show = prints(&["runs", "show", &out, "0"]);
    assert!(show.contains("hpcast run halo2d -n 16 --ranks-per-node 1 --size '1 KiB' --count 2 -m "), "{show}");
    assert!(prints(&["runs", "show", &out, "0", "--machine"]).contains("bandwidth = \"1 GB/s\""));
    assert!(prints(&["runs", "show", &out, "0", "--json"]).contains("\"simulated_seconds\""));
    let diff = prints(&["runs", "diff", &out, "0", "2"]);
    assert!(diff.contains("machine.network.bandwidth\n  - \"1 GB/s\"\n  + \"10 GB/s\"\n"), "{diff}");
    assert!(prints(&["runs", "diff", &out, "0", "0"]).contains("The inputs are equal.\nThe results are equal.\n"));
    prints(&[
        "runs",
        "export",
        &out,
        "--csv",
        &folder.path("c.csv"),
        "--parquet",
        &folder.path("c.parquet"),
        "--costs",
    ]);
    assert!(folder.read("c.csv").lines().next().is_some_and(|line| line.ends_with("memory_bytes")));
    let parquet = std::fs::read(folder.path("c.parquet")).expect("a file");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    refuses(&["runs", "list", &out, "--where", "sice=1"], &["no column `sice`; it has size, bandwidth"]);
    refuses(&["runs", "list", &out, "--where", "bandwidth>2 us"], &["which is a bandwidth"]);
    assert_eq!(prints(&["runs", "export", &out, "--csv", "-"]), export(&folder, "out"));
    assert!(!std::path::Path::new("-").exists());
    refuses(&["runs", "export", &out, "--parquet", "-"], &["name a file with --parquet"]);
    refuses(&["runs", "show", &out, "99"], &["row 99 has not been run"]);
    refuses(&["runs", "list", &folder.path("nowhere")], &["there is no study in"]);
}

/// Ten combinations, each so often. A run takes a few milliseconds, so that a study is killed in the midst of many.
fn long_study(repetitions: u32) -> String {
    STUDY
        .replace(
            "levels = [\"1 KiB\", \"64 KiB\", \"1 MiB\"]",
            "levels = [\"1 KiB\", \"2 KiB\", \"4 KiB\", \"8 KiB\", \"1 MiB\"]",
        )
        .replace("repetitions = 2", &format!("repetitions = {repetitions}"))
        .replace("--count 2", "--count 100")
}

/// Rows of what there is so far, none if it was killed before there was a store.
fn rows_so_far(folder: &Folder, out: &str) -> usize {
    let part = folder.path("part.csv");
    if !hpcast(&["runs", "export", out, "--csv", &part]).status.success() {
        return 0;
    }
    folder.read("part.csv").lines().count()
}

/// 50 kills at random moments in a study of 1,000 runs: the results are those of one that nobody disturbs.
#[test]
fn whoever_is_killed_loses_only_what_was_in_flight() {
    const KILLS: u32 = 50;
    let (folder, study) = folder("study-killed", &long_study(100));
    let start = Instant::now();
    prints(&["study", "run", &study, "--out", &folder.path("whole")]);
    let whole_takes = start.elapsed();
    let out = folder.path("killed");
    let (mut done, mut in_flight) = (0, 0);
    for kill in 0..KILLS {
        let mut child = command(&["study", "run", &study, "--out", &out])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("hpcast");
        // It takes a moment to begin; after that mostly so short that all of them together do not see the end.
        let share = f64::from(kill.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
        std::thread::sleep(Duration::from_millis(20) + whole_takes.mul_f64(2.5 * share / f64::from(KILLS)));
        in_flight += u32::from(child.try_wait().expect("a child").is_none());
        child.kill().expect("a child");
        child.wait().expect("a child");
        let rows = rows_so_far(&folder, &out);
        assert!(rows >= done, "{rows} rows after {done}");
        done = rows;
    }
    assert!(in_flight > KILLS / 2, "only {in_flight} of {KILLS} kills came before the end");
    prints(&["study", "run", &study, "--out", &out]);
    assert_eq!(export(&folder, "killed"), export(&folder, "whole"));
}

#[test]
fn what_is_wrong_is_found_before_the_first_run() {
    for (from, to, said) in [
        ("\"1 GB/s\"", "\"1 s\"", "`s` is a unit of duration, not of bandwidth"),
        ("\"1 GB/s\"", "\"fast\"", "fast"),
        ("network.bandwidth", "network.bandwith", "did you mean `bandwidth`?"),
        // Where it stands is shown.
        ("\"network.bandwidth\"\n", "\"network.bandwith\"\n", "[[factor]]"),
        ("halo2d", "halo5d", "halo5d"),
        ("--count 2", "--cuont 2", "--cuont"),
        ("machine.toml", "absent.toml", "there is no such file"),
        ("\"run halo2d", "\"sing halo2d", "`sing` is nothing that can be studied"),
    ] {
        let wrong = STUDY.replace(from, to);
        assert_ne!(wrong, STUDY);
        let (folder, study) = folder("study-wrong", &wrong);
        refuses(&["study", "run", &study, "--out", &folder.path("out")], &[said, "study.toml:"]);
        assert!(!folder.names().contains(&"out".into()), "{to}: something was begun");
    }
}

/// Not only in the first line.
#[test]
fn a_wrong_level_in_a_table_is_found_before_the_first_run() {
    let (folder, study) =
        folder("study-table", &STUDY.replace("[design]", "[design]\nkind = \"list\"\nfile = \"points.csv\""));
    let levels = ["levels = [\"1 KiB\", \"64 KiB\", \"1 MiB\"]\n", "levels = [\"1 GB/s\", \"10 GB/s\"]\n"];
    folder.write("study.toml", &levels.iter().fold(folder.read("study.toml"), |text, part| text.replace(part, "")));
    folder.write("points.csv", "size,bandwidth\n1 KiB,1 GB/s\n2 KiB,1 GB/s\n2 KiB,1 s\n");
    refuses(
        &["study", "run", &study, "--out", &folder.path("out")],
        &["2 KiB, 1 s: ", "unit of duration, not of bandwidth"],
    );
    assert!(!folder.names().contains(&"out".into()), "something was begun");
    folder.write("points.csv", "size,bandwidth\n1 KiB,1 GB/s\n2 KiB,1 GB/s\n2 KiB,2 GB/s\n");
    let said = prints(&["study", "run", &study, "--out", &folder.path("out")]);
    assert!(said.contains("6 of 6, 6 of them done now"), "{said}");
    // A table that is changed leaves nothing behind.
    folder.write("points.csv", "size,bandwidth\n2 KiB,2 GB/s\n");
    let said = prints(&["study", "run", &study, "--out", &folder.path("out")]);
    assert!(said.contains("2 of 2, 0 of them done now, 2 known before"), "{said}");
    assert_eq!(export(&folder, "out").lines().count(), 3);
    assert!(prints(&["runs", "list", &folder.path("out")]).contains("2 KiB"));
}

#[test]
fn a_figure_that_there_is_not_is_named_with_those_that_there_are() {
    let (folder, study) = folder("study-figure", &STUDY.replace("\"messages\"]", "\"gflop\"]"));
    let parts = ["no figure `gflop`", "simulated_seconds"];
    refuses(&["study", "run", &study, "--out", &folder.path("out")], &parts);
}

#[test]
fn a_billion_runs_want_a_second_word() {
    let levels: Vec<String> = (1..=1000).map(|number| number.to_string()).collect();
    let factor = |name: &str| {
        format!("\n[[factor]]\nname = \"{name}\"\noption = \"--{name}\"\nlevels = [{}]\n", levels.join(", "))
    };
    let text = STUDY.replace("--count 2", "") + &factor("count") + &factor("window") + &factor("root");
    let (folder, study) = folder("study-billion", &text);
    let parts = ["the study has 12,000,000,000 runs", "--yes"];
    refuses(&["study", "run", &study, "--out", &folder.path("out")], &parts);
    // Not even then.
    let parts = ["the study has 12,000,000,000 runs", "up to 10,000,000 runs can be begun"];
    refuses(&["study", "run", &study, "--out", &folder.path("out"), "--yes"], &parts);
    assert!(!folder.names().contains(&"out".into()));
}

/// Not at the words of the program, of which none is to blame.
#[test]
fn what_is_wrong_with_the_machine_is_said_where_it_stands() {
    let (folder, study) = folder("study-machine", STUDY);
    folder.write("machine.toml", &MACHINE.replace("sockets = 1", "sokets = 1"));
    refuses(&["study", "check", &study], &["unknown key `sokets`", "machine.toml:5:1", "did you mean `sockets`?"]);
}

/// A file system of its own, with so little room; nothing if we may not make one.
struct TinyDisk(String);

impl TinyDisk {
    fn new(place: &str, size: &str) -> Option<TinyDisk> {
        std::fs::create_dir_all(place).expect("a folder");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs", place]).output();
        let disk = TinyDisk(place.into());
        mounted.is_ok_and(|output| output.status.success()).then_some(disk)
    }

    fn resize(&self, size: &str) {
        let status = Command::new("mount").args(["-o", &format!("remount,size={size}"), &self.0]).status();
        assert!(status.expect("mount").success());
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let (folder, study) = folder("study-full", &long_study(30));
    let Some(disk) = TinyDisk::new(&folder.path("disk"), "400k") else {
        eprintln!("skipped: a full disk needs the right to mount one");
        return;
    };
    let out = folder.path("disk/out");
    let again = ["the disk is full; free some space and run it again: what is finished is kept"];
    refuses(&["study", "run", &study, "--out", &out], &again);
    // Others see what there is, or hear the same.
    let listed = hpcast(&["runs", "list", &out]);
    let said = String::from_utf8_lossy(&listed.stderr);
    assert!(listed.status.success() || said.contains("the disk is full"), "{said}");
    disk.resize("20m");
    let said = prints(&["study", "run", &study, "--out", &out]);
    assert!(said.contains("300 of 300") && !said.contains(" 0 known before"), "{said}");
    prints(&["study", "run", &study, "--out", &folder.path("whole")]);
    assert_eq!(export(&folder, "disk/out"), export(&folder, "whole"));
}

#[test]
fn two_do_not_write_to_one_folder() {
    let (folder, study) = folder("study-lock", &long_study(30));
    let out = folder.path("out");
    let mut child = command(&["study", "run", &study, "--out", &out]).stdout(Stdio::null()).spawn().expect("hpcast");
    while !folder.names().contains(&"out".into()) || !std::path::Path::new(&out).join("runs.sqlite").is_file() {
        std::thread::sleep(Duration::from_millis(2));
    }
    refuses(&["study", "run", &study, "--out", &out], &["somebody else is running a study in"]);
    child.kill().expect("a child");
    child.wait().expect("a child");
}

#[test]
fn runs_that_fail_are_said_and_tried_again() {
    // 64 ranks do not fit 16 nodes with one rank each.
    let text = STUDY.replace("-n 16", "-n {ranks}") + "\n[[factor]]\nname = \"ranks\"\nlevels = [16, 9]\n";
    let text = text
        .replace("halo2d", "halo3d")
        .replace("[16, 9]", "[8, 64]")
        .replace("--ranks-per-node 1", "--ranks-per-node {each}");
    let text = text + "\n[[factor]]\nname = \"each\"\nlevels = [4, 1]\n";
    let (folder, study) = folder("study-fail", &text);
    for done in [48, 12] {
        let output = hpcast(&["study", "run", &study, "--out", &folder.path("out")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("12 of 48 runs have failed; the first: 1 KiB, 1 GB/s, 64, 1:"), "{said}");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("{done} of them done now")), "{said}");
    }
    let failed = prints(&["runs", "list", &folder.path("out"), "--where", "status=failed", "--limit", "2"]);
    assert!(failed.contains("failed") && failed.contains("2 of 12 runs"), "{failed}");
}

#[test]
fn ready_made_studies_can_be_run() {
    let folder = common::root().join("examples/studies");
    let mut found = 0;
    for entry in std::fs::read_dir(folder).expect("studies").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let said = prints(&["study", "check", &path.display().to_string()]);
            assert!(said.contains(" runs"), "{}: {said}", path.display());
            found += 1;
        }
    }
    assert!(found >= 10, "{found}");
}

#[test]
fn two_studies_are_compared() {
    let (folder, study) = folder("study-compare", STUDY);
    let (one, two) = (folder.path("one"), folder.path("two"));
    prints(&["study", "run", &study, "--out", &one]);
    // Latency counts for small messages; a level is left out, another is new.
    folder.write("machine.toml", &MACHINE.replace("1 us", "2 us"));
    folder.write("study.toml", &STUDY.replace("\"64 KiB\"", "\"2 KiB\""));
    prints(&["study", "run", &study, "--out", &two]);
    let said = prints(&["study", "compare", &one, &two, "--csv", &folder.path("pairs.csv")]);
    assert!(said.contains("seconds, the second against the first"), "{said}");
    assert!(said.contains("combinations  4 in both, 4 differ by more than chance"), "{said}");
    assert!(said.contains("left out      2 of the first, 2 of the second"), "{said}");
    let most = said.lines().skip_while(|line| !line.starts_with("Where")).nth(1).expect("a line");
    assert!(most.contains("1 KiB, 10 GB/s") && most.trim_start().starts_with('+'), "{said}");
    let pairs = folder.read("pairs.csv");
    assert!(pairs.starts_with("size,bandwidth,first,second,ratio,difference_low,difference_high\n1 KiB,1 GB/s,"));
    assert_eq!(pairs.lines().count(), 5);
    let same = prints(&["study", "compare", &one, &one, "--response", "messages"]);
    assert!(same.contains("on the whole  +0.00 %") && same.contains("6 in both, 0 differ"), "{same}");
    refuses(
        &["study", "compare", &one, &two, "--response", "sekonds"],
        &["have in common only seconds, messages; choose one"],
    );
    refuses(&["study", "compare", &one, &folder.path("nowhere")], &["there is no study in"]);
}

#[test]
fn an_archive_is_repeated_byte_for_byte() {
    let (folder, study) = folder("study-archive", STUDY);
    let (out, archive, again) = (folder.path("out"), folder.path("study.tar"), folder.path("again"));
    prints(&["study", "run", &study, "--out", &out]);
    prints(&["study", "archive", &out, "-o", &archive]);
    // Nothing else is needed.
    std::fs::remove_dir_all(&out).expect("a folder");
    std::fs::remove_file(folder.path("machine.toml")).expect("a file");
    let said = prints(&["study", "repeat", &archive, "--out", &again]);
    assert!(said.contains("The repetition gave the same bytes: 12 runs."), "{said}");
    prints(&["study", "verify", &archive, &again]);
    refuses(&["study", "verify", &study, &again], &["study.toml"]);
}

#[test]
fn the_best_is_found_with_few_runs() {
    let (folder, study) =
        folder("study-tune", &STUDY.replace("responses = [\"seconds\", \"messages\"]", "responses = [\"seconds\"]"));
    let said = prints(&["tune", &study, "--budget", "5"]);
    // Kept, nothing is done twice, and the others see it.
    let out = folder.path("out");
    assert_eq!(prints(&["tune", &study, "--budget", "5", "--out", &out]), said);
    let costs = prints(&["runs", "show", &out, "0"]);
    assert_eq!(prints(&["tune", &study, "--budget", "5", "--out", &out]), said);
    assert_eq!(prints(&["runs", "show", &out, "0"]), costs);
    let listed = prints(&["runs", "list", &out, "--sort", "seconds", "--limit", "1"]);
    assert!(listed.contains("1 of 5 runs"), "{listed}");
    // Another search leaves nothing of the first one but what it has found.
    prints(&["tune", &study, "--budget", "3", "--seed", "7", "--out", &out]);
    let listed = prints(&["runs", "list", &out]);
    assert_eq!(listed.lines().filter(|line| line.contains("B/s")).count(), 3, "{listed}");
    assert_eq!(folder.read("out/commands.log").lines().count(), 3);
    assert!(said.contains("of 6 combinations") && said.contains("size 1 KiB, bandwidth 10 GB/s\n"), "{said}");
}

/// Two forecasts of HPL that differ by less than what both are sure to are not told apart.
#[test]
fn forecasts_that_are_not_sure_are_not_told_apart() {
    let study = r#"
title = "Broadcasts"
program = "hpl --n 6000 --nb 64 --grid 4x4 --ranks-per-node 1 --samples 3"
machine = "machine.toml"
responses = ["gflops"]
[[factor]]
name = "seed-bytes"
option = "--bcast"
levels = ["1ring", "1ringM", "2ring"]
[[factor]]
name = "speed"
machine = "nodes.flops"
levels = ["100 Gflop/s", "10 Gflop/s"]
"#;
    let (folder, study) = folder("study-uncertain", study);
    prints(&["study", "run", &study, "--out", &folder.path("out")]);
    let said = prints(&["study", "report", &folder.path("out")]);
    assert!(said.contains(" to ") && said.contains("cannot be told from it."), "{said}");
    let text = folder.read("out/report.md");
    assert!(text.contains("what each forecast says of its own") && text.contains("| group |"), "{text}");
}

#[test]
fn a_report_says_what_is_best() {
    let (folder, study) = folder("study-report", STUDY);
    let out = folder.path("out");
    prints(&["study", "run", &study, "--out", &out]);
    let said = prints(&["study", "report", &out]);
    assert!(said.contains("comes with size 1 KiB, bandwidth 10 GB/s."), "{said}");
    for name in ["report.html", "report.md", "seconds-over-size.svg", "seconds-over-bandwidth.svg"] {
        assert!(std::path::Path::new(&out).join(name).is_file(), "{name}");
    }
    // Levels that are no numbers have pictures, too.
    let by_name = STUDY
        .replace("name = \"bandwidth\"\nmachine = \"network.bandwidth\"", "name = \"network\"\noption = \"--network\"");
    let by_name = folder.write("by-name.toml", &by_name.replace("\"1 GB/s\", \"10 GB/s\"", "\"ideal\", \"flow\""));
    prints(&["study", "run", &by_name, "--out", &folder.path("named")]);
    prints(&["study", "report", &folder.path("named")]);
    let picture = folder.read("named/seconds-by-network.svg");
    assert!(picture.contains(">ideal</text>") && picture.contains(">flow</text>"), "{picture}");
    // PNG if there is who can make it, else an error before anything is written.
    let (here, nowhere) = (folder.path("png"), folder.path("none"));
    let output = hpcast(&["study", "report", &out, "--png", "-o", &here]);
    if output.status.success() {
        let picture = std::fs::read(std::path::Path::new(&here).join("seconds-over-size.png")).expect("a picture");
        assert!(picture.starts_with(b"\x89PNG"));
    }
    let output = command(&["study", "report", &out, "--png", "-o", &nowhere]).env("PATH", "").output().expect("hpcast");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("librsvg2-bin"));
    assert!(!folder.names().contains(&"none".into()));
}
