//! HPL as one of several jobs.

mod common;

use common::{Folder, prints, refuses};
use serde_json::Value;

/// Four leaves of eight nodes with two processors, a single uplink each; messages vary.
const THIN: &str = r#"
name = "thin"
[nodes]
sockets = 2
cores-per-socket = 1
flops = "100 Gflop/s"
memory = "64 MB"
memory-bandwidth = "20 GB/s"
[network]
topology = "fat-tree"
shape = "2; 8,4; 1,1; 1,1"
bandwidth = "1 GB/s"
latency = "1 us"
[mpi]
eager-below = "64 KiB"
detached-below = "64 KiB"
probe = "100 ns"
poll-growth = "per-rank"
[mpi.between]
send = [{ above = "0 B", modes = [{ share = 1.0, mean = "0.3 us", deviation = "0.1 us" }] }]
"#;

/// Processors that differ, and calls that vary.
const MODELS: &str = r#"
name = "two kinds"
[kernel.dgemm]
terms = ["1", "M*N*K"]
seconds = [5e-7, 2e-11]
deviation = [1e-7, 1e-12]
measured = { M = [1, 300] }
processors = [
    { node = 1, socket = 0, seconds = [6e-7, 2.5e-11], deviation = [1e-7, 1e-12] },
    { node = 9, socket = 1, seconds = [8e-7, 3e-11], deviation = [1e-7, 2e-12] },
]
"#;

const SIZES: [&str; 6] = ["--n", "1200", "--nb", "64", "--grid", "4x4"];

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&prints(&[arguments, &["--json", "-"]].concat())).expect("JSON")
}

fn job(name: &str, program: &[&str], rest: &str) -> String {
    let words: Vec<String> = program.iter().map(|word| format!("\"{word}\"")).collect();
    format!("[[job]]\nname = \"{name}\"\nprogram = [{}]\n{rest}\n", words.join(", "))
}

fn hpl<'w>(options: &[&'w str]) -> Vec<&'w str> {
    [&["hpl"], &SIZES[..], options].concat()
}

fn slowdown(report: &Value, job: usize) -> f64 {
    report["table"][job]["slowdown"].as_f64().expect("a slowdown")
}

/// A folder with the machine and the models.
fn folder(name: &str) -> (Folder, String) {
    let folder = Folder::new(name);
    folder.write("models.toml", MODELS);
    let thin = folder.write("thin.toml", THIN);
    (folder, thin)
}

#[test]
fn hpl_as_the_only_job_takes_what_it_takes_alone() {
    let (folder, thin) = folder("only-hpl");
    let models = folder.path("models.toml");
    for (options, placement, start) in [
        (vec!["--exact"], "block", "0 s"),
        (vec!["--exact", "--depth", "0", "--bcast", "longM", "--pmap", "column"], "random", "0 s"),
        (vec!["--exact", "--no-noise", "--models", "models.toml", "--equal-pivots"], "cyclic", "0 s"),
        (vec!["--models", "models.toml"], "spread-switches", "0 s"),
        (vec!["--models", "models.toml", "--no-noise"], "block", "3 ms"),
        (vec!["--exact", "--models", "models.toml"], "block", "0.5 s"),
    ] {
        let text = job("lu", &hpl(&options), &format!("placement = \"{placement}\"\nstart = \"{start}\""));
        let jobs = json(&["jobs", &folder.write("jobs.toml", &text), "-m", &thin, "--seed", "5"]);
        let options: Vec<&str> =
            options.iter().map(|word| if *word == "models.toml" { models.as_str() } else { word }).collect();
        // A Gantt chart wants all panels, without sampling.
        let chart = folder.path("gantt.svg");
        let alone = ["-m", &thin, "--seed", "5", "--placement", placement, "--gantt", &chart];
        let alone = json(&[&hpl(&options)[..], &alone[..]].concat());
        let row = &jobs["table"][0];
        assert_eq!(row["duration_seconds"], alone["simulated_seconds"], "{options:?}");
        assert_eq!(row["gflops"], alone["gflops"], "{options:?}");
        assert_eq!(jobs["messages"], alone["messages"], "{options:?}");
        assert_eq!((&row["ranks"], &row["program"], &row["slowdown"]), (&16.into(), &"hpl".into(), &1.0.into()));
    }
}

#[test]
fn hpl_beside_others() {
    let (folder, thin) = folder("hpl-beside");
    let run = |text: &str| json(&["jobs", &folder.write("jobs.toml", text), "-m", &thin]);
    let exact = hpl(&["--exact"]);
    let two = |first: &str, second: &str| {
        job("a", &exact, &format!("nodes = \"{first}\"")) + &job("b", &exact, &format!("nodes = \"{second}\""))
    };
    // A leaf each, then both between the same two leaves.
    let apart = run(&two("0-7", "8-15"));
    assert_eq!((slowdown(&apart, 0), slowdown(&apart, 1)), (1.0, 1.0));
    // Jobs that are alike draw differently.
    assert_ne!(apart["table"][0]["alone_seconds"], apart["table"][1]["alone_seconds"]);
    let shared = run(&two("0-3,8-11", "4-7,12-15"));
    assert!(slowdown(&shared, 0) > 1.02 && slowdown(&shared, 1) > 1.02, "{}", shared["table"]);
    let transpose = ["alltoall", "--size", "20MB"];
    let transpose = job("transpose", &transpose, "ranks = 8\nranks-per-node = 1\nnodes = \"4-7,12-15\"");
    for options in [&["--exact"][..], &["--models", "models.toml"]] {
        let text = job("lu", &hpl(options), "nodes = \"0-3,8-11\"") + &transpose;
        let report = run(&text);
        assert!(slowdown(&report, 0) > 1.02, "{}", report["table"]);
        assert_eq!(report["table"][1]["gflops"], Value::Null);
    }
    let (jobs, loads) = (folder.path("jobs.toml"), folder.path("loads.csv"));
    prints(&["jobs", &jobs, "-m", &thin, "--link-load", &loads]);
    assert!(folder.read("loads.csv").contains("leaf"));
}

#[test]
fn what_was_assumed_for_hpl_is_said() {
    let (folder, thin) = folder("assumed-hpl");
    let lu = ["hpl", "--n", "9000", "--grid", "2x2", "--models", "models.toml"];
    let text = job("lu", &lu, "nodes = \"8-9\"") + &job("ring", &["ring"], "ranks = 4");
    let report = json(&["jobs", &folder.write("jobs.toml", &text), "-m", &thin]);
    let said = |key: &str, part: &str| {
        report[key].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains(part))
    };
    for part in
        ["job `lu`: NB 128", "job `lu`: usual values of HPL.dat", "job `lu`: panels are factored without contention"]
    {
        assert!(said("assumptions", part), "{part}: {}", report["assumptions"]);
    }
    for part in ["job `lu`: N 9,000 does not fit", "job `lu`: the model of dgemm was used beyond what was measured"] {
        assert!(said("warnings", part), "{part}: {}", report["warnings"]);
    }
}

#[test]
fn hpl_that_cannot_be_a_job() {
    let (folder, thin) = folder("no-hpl-job");
    let network = "[network.between]\nsend = [{ above = \"0 B\", base = \"1 us\" }]\n";
    folder.write("wrong.toml", "name = \"wrong\"\n[kernel.dgemm]\nterms = [\"1\"]\n");
    folder.write("slow.toml", &format!("name = \"slow\"\n{network}"));
    folder.write("slower.toml", &format!("name = \"slower\"\n{}", network.replace('1', "2")));
    folder.write("HPL.dat", "nonsense\n");
    let one = |program: &[&str], rest: &str| job("lu", program, rest);
    for (text, parts) in [
        (one(&hpl(&[]), "ranks = 8"), ["jobs.toml:4:", "the grid is for 16 ranks, but the job has 8"]),
        (one(&hpl(&["--nb", "32"]), ""), ["jobs.toml:3:", "--nb"]),
        (
            one(&["hpl", "--n", "1000,2000", "--grid", "2x2"], ""),
            ["jobs.toml:3:", "one combination of parameters, not 2"],
        ),
        (one(&["hpl", "--n", "1000"], ""), ["jobs.toml:3:", "grid is not known"]),
        (one(&["hpl", "--grid", "2x2"], ""), ["jobs.toml:3:", "N is not known"]),
        (one(&hpl(&["--samples", "5"]), ""), ["jobs.toml:3:", "--samples"]),
        (one(&hpl(&["--models", "nowhere.toml"]), ""), ["jobs.toml:3:", "nowhere.toml"]),
        (one(&hpl(&["--models", "wrong.toml"]), ""), ["wrong.toml:2:", "seconds"]),
        (one(&["hpl", "--dat", "HPL.dat"], ""), ["HPL.dat:", "error"]),
        (one(&hpl(&[]), "nodes = \"0-3\""), ["jobs.toml:4:", "16 ranks do not fit"]),
        (
            one(&hpl(&["--models", "slow.toml"]), "") + &job("b", &hpl(&["--models", "slower.toml"]), ""),
            ["jobs.toml:7:", "jobs `lu` and `b` let messages cost different times"],
        ),
    ] {
        refuses(&["jobs", &folder.write("jobs.toml", &text), "-m", &thin], &parts);
    }
    // Speeds are asked for only by those who need them.
    let slow = folder.write("unknown.toml", &THIN.replace("flops = \"100 Gflop/s\"\n", ""));
    let file = folder.write("jobs.toml", &one(&hpl(&[]), ""));
    refuses(&["jobs", &file, "-m", &slow], &["jobs.toml:3:", "does not say how fast a node computes"]);
    let same = one(&hpl(&["--models", "slow.toml"]), "") + &job("b", &hpl(&["--models", "slow.toml"]), "");
    let report = json(&["jobs", &folder.write("jobs.toml", &same), "-m", &thin]);
    assert!(report["assumptions"].to_string().contains("of the model file \\\"slow\\\""), "{}", report["assumptions"]);
}
