//! `hpcast hpl` and `hpcast model` as a whole: what they print, write and refuse.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const DAT: &str = "\
HPLinpack benchmark input file
Two sizes, two grids
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
2            # of problems sizes (N)
100 200      Ns
1            # of NBs
32           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
2            # of process grids (P x Q)
2 1          Ps
2 3          Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
2            # of broadcast
1 4          BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
";

const DGEMM: &str = "\
model_id,cpu_id,node,cpu,intercept,mnk,mn,mk,nk,sigma_intercept,sigma_mnk,sigma_mn,sigma_mk,sigma_nk
a,2,1,0,5e-07,7e-11,-5e-10,1e-9,2e-9,6e-7,1e-12,1e-10,1e-10,9e-11
a,3,1,1,5e-07,6e-11,-5e-10,1e-9,2e-9,6e-7,1e-12,1e-10,1e-10,9e-11
";

const KERNELS: &str = "\
kernel,model,coef_expectation_s,coef_stddev_s,size_expression,note
dgemm,polynomial+noise,see,see,x,
dtrsm,coef*size,5e-11,3e-12,M*M*N if Side==Left else M*N*N,
dscal,coef*size,4e-10,1e-10,N,
";

const SLOW: &str = r#"name = "no speeds"
[nodes]
count = 4
cores-per-socket = 2
memory = "1 MB"
[network]
topology = "crossbar"
bandwidth = "10 Gbit/s"
latency = "1 us"
loopback = { bandwidth = "5 GB/s", latency = "0.1 us" }
"#;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("hpcast-hpl-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).expect("a temporary file");
        self.path(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn dahu() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines/dahu.toml").display().to_string()
}

fn hpcast(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hpcast")).args(arguments).output().expect("hpcast runs")
}

fn prints(arguments: &[&str]) -> String {
    let output = hpcast(arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// `hpcast hpl` on dahu.
fn hpl(arguments: &[&str]) -> String {
    let machine = dahu();
    prints(&[&["hpl", "-m", &machine][..], arguments].concat())
}

fn hpl_json(arguments: &[&str]) -> Value {
    serde_json::from_str(&hpl(&[arguments, &["--json", "-"][..]].concat())).expect("JSON")
}

/// Fails with exit code 2, says all of these and prints nothing else.
fn refuses(arguments: &[&str], parts: &[&str]) {
    let output = hpcast(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{message}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    for part in parts {
        assert!(message.contains(part), "{arguments:?} should say `{part}`:\n{message}");
    }
}

/// The result lines as a script would find them: variant, N, NB, P, Q, time, Gflops.
fn results(text: &str) -> Vec<(String, Vec<f64>)> {
    let lines = text.lines().filter(|line| line.starts_with("WR") || line.starts_with("WC"));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let variant = words.next().expect("a variant").to_owned();
            (variant, words.map(|word| word.parse().expect("a number")).collect())
        })
        .collect()
}

#[test]
fn the_output_is_that_of_xhpl() {
    let text = hpl(&["--n", "500", "--nb", "64", "--grid", "2x4"]);
    for part in [
        "\nT/V                N    NB     P     Q               Time                 Gflops\n",
        "\nN      :     500 \nNB     :      64 \n",
        "\nBCAST  :  1ringM \n",
        "\nFinished      1 tests with the following results:\n              1 tests completed without checking,\n",
        "\nEnd of Tests.\n",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let results = results(&text);
    let [(variant, numbers)] = &results[..] else { panic!("one line of results: {text}") };
    assert_eq!((variant.as_str(), &numbers[..4]), ("WR11C2R4", &[500.0, 64.0, 2.0, 4.0][..]));
    assert_eq!(numbers.len(), 6);
    assert!(numbers[5] > 0.0);
    for word in ["panel factorisation", "dgemm", "limits:", "Messages", "Wall time", "Idle", "Peak memory"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn json_has_the_promised_names() {
    let report = hpl_json(&["--n", "500", "--nb", "64", "--grid", "2x4", "--seed", "7", "--exact"]);
    for key in ["simulated_seconds", "messages", "bytes", "cpu_seconds", "wall_seconds", "peak_memory_bytes"] {
        assert!(report[key].as_f64().is_some_and(|number| number > 0.0), "{key}");
    }
    for key in ["warnings", "provenance", "phases", "kernels", "rank_times", "assumptions", "table"] {
        assert!(report.get(key).is_some(), "{key}");
    }
    assert_eq!((&report["seed"], &report["ranks"]), (&7.into(), &8.into()));
    let (seconds, gflops) = (report["simulated_seconds"].as_f64(), report["gflops"].as_f64());
    let flops = 2.0 / 3.0 * 500f64.powi(3) + 1.5 * 500f64.powi(2);
    let product = seconds.expect("seconds") * gflops.expect("gflops") * 1e9;
    assert!((product / flops - 1.0).abs() < 1e-9);
    let phases = report["phases"].as_object().expect("phases");
    let shares: f64 = phases.values().map(|phase| phase["share"].as_f64().expect("a share")).sum();
    assert!((0.9..=1.000001).contains(&shares), "{shares}");
}

#[test]
fn equal_runs_are_equal_and_seeds_matter() {
    let run = |seed: &str| {
        let mut report = hpl_json(&["--n", "300", "--nb", "32", "--grid", "2x2", "--seed", seed]);
        let object = report.as_object_mut().expect("an object");
        for key in ["cpu_seconds", "wall_seconds", "peak_memory_bytes", "provenance"] {
            assert!(object.remove(key).is_some());
        }
        report.to_string()
    };
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
}

#[test]
fn several_seeds_give_a_mean_and_its_interval() {
    let common = ["--n", "300", "--nb", "32", "--grid", "2x2"];
    let report = hpl_json(&[&common[..], &["--seed", "3", "--repeat", "4"]].concat());
    let rows = report["table"].as_array().expect("a table");
    let seconds: Vec<f64> = rows.iter().map(|row| row["seconds"].as_f64().expect("seconds")).collect();
    assert_eq!(rows.iter().map(|row| row["seed"].as_u64()).collect::<Vec<_>>(), [Some(3), Some(4), Some(5), Some(6)]);
    let [combination] = &report["combinations"].as_array().expect("combinations")[..] else { panic!("one") };
    let mean = seconds.iter().sum::<f64>() / 4.0;
    let deviation = (seconds.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    let close = |key: &str, expected: f64| {
        let found = combination["seconds"][key].as_f64().expect("a number");
        assert!((found / expected - 1.0).abs() < 1e-9, "{key} {found} {expected}");
    };
    close("mean", mean);
    close("confidence_95", 3.1824 * deviation / 2.0);
    // A run is the same whether it comes alone or with others.
    let alone = hpl_json(&[&common[..], &["--seed", "5"]].concat());
    assert_eq!(alone["simulated_seconds"].as_f64(), Some(seconds[2]));
    let text = hpl(&[&common[..], &["--repeat", "2"]].concat());
    assert!(text.contains("95 % confidence") && text.contains("Finished      2 tests"), "{text}");
}

#[test]
fn an_hpl_dat_with_lists_is_run_in_the_order_of_xhpl() {
    let folder = Folder::new("dat");
    let dat = folder.write("HPL.dat", DAT);
    let csv = folder.path("t.csv");
    let text = hpl(&["--dat", &dat, "--csv", &csv]);
    let found: Vec<(String, Vec<f64>)> =
        results(&text).into_iter().map(|(variant, numbers)| (variant, numbers[..4].to_vec())).collect();
    let expected = [[2.0, 2.0], [1.0, 3.0]].into_iter().flat_map(|[p, q]| {
        [100.0, 200.0]
            .into_iter()
            .flat_map(move |n| ["WR11C2R4", "WR14C2R4"].map(|variant| (variant.to_owned(), vec![n, 32.0, p, q])))
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
    assert!(text.contains("\nBCAST  :  1ringM    Blong \n"), "{text}");
    let table = fs::read_to_string(csv).expect("the table");
    assert_eq!(table.lines().count(), 9, "{table}");
    let columns: Vec<&str> = table.lines().next().expect("a header").split(',').collect();
    assert_eq!(columns.iter().filter(|column| **column == "seed" || **column == "ranks").count(), 2, "{columns:?}");
    // Options win over the file.
    let text = hpl(&["--dat", &dat, "--n", "150", "--bcast", "2ring", "--grid", "1x2", "--swap", "long"]);
    let found = results(&text);
    assert_eq!((found.len(), found[0].0.as_str(), found[0].1[0]), (1, "WR12C2R4", 150.0));
    assert!(text.contains("SWAP   : Spread-roll (long)"), "{text}");
}

#[test]
fn a_broken_hpl_dat_is_shown_with_its_place() {
    let folder = Folder::new("broken");
    let machine = dahu();
    for (from, to, parts) in [
        ("100 200 ", "100 x ", &["HPL.dat:6:5", "`x` is no whole number", "help"][..]),
        ("32           NBs", "0            NBs", &["HPL.dat:8:1", "NB: 0"]),
        ("2 1          Ps", "2 0          Ps", &["HPL.dat:11:3", "P: 0"]),
        ("100 200 ", "100 0 ", &["HPL.dat:6:5", "N: 0"]),
        ("8            mem", "", &["HPL.dat:31", "`ory` is no whole number"]),
    ] {
        let text = DAT.replacen(from, to, 1);
        assert_ne!(text, DAT);
        let dat = folder.write("HPL.dat", &text);
        refuses(&["hpl", "-m", &machine, "--dat", &dat], parts);
    }
    let short: String = DAT.split_inclusive('\n').take(12).collect();
    let dat = folder.write("HPL.dat", &short);
    refuses(&["hpl", "-m", &machine, "--dat", &dat], &["HPL.dat:12:1", "ends after 12 lines", "31"]);
}

#[test]
fn what_cannot_run_is_refused_and_nothing_is_written() {
    let folder = Folder::new("refused");
    let slow = folder.write("slow.toml", SLOW);
    let machine = dahu();
    let json = folder.path("out.json");
    let on_dahu = |more: &[&str], parts: &[&str]| {
        refuses(&[&["hpl", "-m", &machine, "--json", &json][..], more].concat(), parts);
    };
    on_dahu(&["--n", "100", "--grid", "40x40"], &["1,600 ranks do not fit", "oversubscription"]);
    on_dahu(&["--n", "0"], &["--n", "1.."]);
    on_dahu(&["--n", "100", "--nb", "0"], &["--nb"]);
    on_dahu(&["--n", "100", "--grid", "4"], &["16x32"]);
    on_dahu(&["--n", "100", "--bcast", "3ring"], &["1ringM", "longM"]);
    on_dahu(&["--n", "100", "--swap", "short"], &["binary-exchange"]);
    let many = vec!["9"; 1000].join(",");
    on_dahu(&["--n", &many, "--nb", &many, "--grid", "1x1"], &["1,000,000 combinations"]);
    on_dahu(&["--dat", "nowhere/HPL.dat"], &["nowhere/HPL.dat", "no such file"]);
    on_dahu(&["--n", "100", "--models", "nowhere.toml"], &["nowhere.toml"]);
    refuses(&["hpl", "-m", &slow, "--n", "100"], &["sustained-flops", "--models"]);
    assert_eq!(folder.names(), ["slow.toml"]);
}

#[test]
fn what_was_chosen_is_said_and_too_large_a_matrix_is_a_warning() {
    let folder = Folder::new("chosen");
    let fast = folder.write("fast.toml", &SLOW.replace("memory =", "flops = \"10 Gflop/s\"\nmemory ="));
    let report: Value = serde_json::from_str(&prints(&["hpl", "-m", &fast, "--json", "-"])).expect("JSON");
    let assumed = report["assumptions"].to_string();
    // 80 % of 4 MB are 632 squared numbers, and the next multiple of 128 below is 512.
    for part in ["N 512", "NB 128", "grid 2 x 4", "pfact right", "roofline"] {
        assert!(assumed.contains(part), "{part} is not in {assumed}");
    }
    assert_eq!((&report["warnings"], &report["ranks"]), (&serde_json::json!([]), &8.into()));
    let arguments = ["hpl", "-m", &fast, "--n", "1000", "--grid", "2x1", "--json", "-"];
    let report: Value = serde_json::from_str(&prints(&arguments)).expect("JSON");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("N 1,000 does not fit") && warnings.contains("1 nodes"), "{warnings}");
    let no_memory = folder.write("unknown.toml", &SLOW.replace("memory = \"1 MB\"", "flops = \"10 Gflop/s\""));
    refuses(&["hpl", "-m", &no_memory], &["memory", "--n"]);
    assert!(prints(&["hpl", "-m", &no_memory, "--n", "50", "--grid", "4x4", "--oversubscribe"]).contains("WR11C2R4"));
}

#[test]
fn pictures_and_traces() {
    let folder = Folder::new("pictures");
    let [gantt, trace, links] = ["g.svg", "t.json", "l.svg"].map(|name| folder.path(name));
    let arguments = ["--n", "200", "--nb", "50", "--grid", "2x2", "--placement", "cyclic", "--ranks-per-node", "2"];
    hpl(&[&arguments[..], &["--gantt", &gantt, "--trace", &trace, "--links", &links]].concat());
    for picture in [gantt, links] {
        assert!(fs::read_to_string(picture).expect("a picture").contains("<svg"));
    }
    let trace: Value = serde_json::from_str(&fs::read_to_string(trace).expect("a trace")).expect("JSON");
    assert!(trace["traceEvents"].as_array().is_some_and(|events| events.len() > 100));
}

#[test]
fn published_tables_become_model_files() {
    let folder = Folder::new("models");
    let (dgemm, kernels) = (folder.write("dgemm.csv", DGEMM), folder.write("kernels.csv", KERNELS));
    let out = folder.path("models.toml");
    let import = |more: &[&str]| {
        let text = prints(&[&["model", "import", &dgemm, "--set", "a", "-o", &out][..], more].concat());
        assert!(text.contains("models.toml"));
        fs::read_to_string(&out).expect("it was written")
    };
    let file = import(&["--kernels", &kernels]);
    for part in ["first-node = 1", "unlisted = \"free\"", "[kernel.dgemm]", "[kernel.dtrsm]", "dgemm.csv (set a)"] {
        assert!(file.contains(part), "{part} is not in\n{file}");
    }
    let shown = prints(&["model", "show", &out]);
    for part in ["dtrsm", "5.0000e-11 M*N*S", "slowest", "node 1, socket 1", "Gflop/s"] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    let text = hpl(&["--n", "300", "--nb", "32", "--grid", "2x2", "--models", &out]);
    assert!(text.contains("dtrsm") && !text.contains("roofline"), "{text}");
    let quiet = ["--n", "300", "--nb", "32", "--grid", "2x2", "--models", &out, "--no-noise", "--seed"];
    assert_eq!(hpl_json(&[&quiet[..], &["1"]].concat())["parameters"]["noise"], false);

    assert!(import(&[]).contains("unlisted = \"roofline\""));
    assert!(import(&["--first-node", "0"]).contains("first-node = 0"));
    assert!(!import(&["--kernels", &kernels, "--no-noise"]).contains("deviation"));
    assert_eq!(import(&["--kernels", &kernels, "--no-noise-except", "dscal"]).matches("deviation").count(), 1);
    assert!(import(&["--kernels", &kernels, "--free", "dtrsm,dscal"]).contains("[kernel.dtrsm]\nterms = []"));
}

#[test]
fn tables_that_are_no_models_are_refused() {
    let folder = Folder::new("no-models");
    let dgemm = folder.write("dgemm.csv", DGEMM);
    let wrong = folder.write("wrong.csv", &DGEMM.replace("6e-11", "fast"));
    let out = folder.path("models.toml");
    refuses(&["model", "import", &dgemm, "--set", "b", "-o", &out], &["no set `b`", "--set"]);
    refuses(&["model", "import", &wrong, "--set", "a", "-o", &out], &["wrong.csv:3:", "`fast`", "help"]);
    refuses(&["model", "import", &dgemm, "--set", "a", "--free", "dgem", "-o", &out], &["dgem", "dgemm"]);
    refuses(&["model", "import", "nowhere.csv", "--set", "a", "-o", &out], &["nowhere.csv"]);
    refuses(&["model", "show", &dgemm], &["dgemm.csv:1:"]);
    assert!(!Path::new(&out).exists());
}

#[test]
fn equal_pivots_come_from_one_process_row() {
    let run = |more: &[&str]| {
        let common = ["--n", "2000", "--nb", "50", "--grid", "4x2", "--swap", "binary-exchange"];
        let found = hpl_json(&[&common[..], more].concat());
        (found["messages"].as_u64().expect("a number"), found["parameters"]["equal_pivots"].clone())
    };
    let (drawn, equal) = (run(&[]), run(&["--equal-pivots"]));
    assert_eq!((drawn.1, equal.1), (Value::Bool(false), Value::Bool(true)));
    // Process rows without pivots have nothing to send.
    assert!(equal.0 < drawn.0, "{} and {}", drawn.0, equal.0);
}
