//! `hpcast hpl` and `hpcast model` as a whole: what they print, write and refuse.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Folder, HPL_DAT, VARIES, command, machine, prints, refuses};
use serde_json::Value;

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

/// `hpcast hpl` on dahu.
fn hpl(arguments: &[&str]) -> String {
    let machine = machine("dahu.toml");
    prints(&[&["hpl", "-m", &machine][..], arguments].concat())
}

fn hpl_json(arguments: &[&str]) -> Value {
    serde_json::from_str(&hpl(&[arguments, &["--json", "-"][..]].concat())).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Everything that a run tells programs, but for what may vary.
fn told(arguments: &[&str]) -> String {
    let mut report = hpl_json(arguments);
    let object = report.as_object_mut().expect("an object");
    VARIES.iter().for_each(|key| assert!(object.remove(*key).is_some(), "{key}"));
    report.to_string()
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

/// In both modes the curve ends where the run ends; with several runs it is that of the fastest.
#[test]
fn the_curve_is_the_run_from_panel_to_panel() {
    let common = ["--n", "4000,3000", "--nb", "5", "--grid", "2x2"];
    for (more, sampled) in [(&["--samples", "8"][..], true), (&["--exact"], false)] {
        let report = hpl_json(&[&common[..], more].concat());
        let curve = &report["curve"];
        let list = |values: &Value| -> Vec<f64> {
            values.as_array().expect("a list").iter().map(|value| value.as_f64().expect("a number")).collect()
        };
        let ends = |name: &str| list(&curve[name]).last().copied().expect("a point");
        let rows = report["table"].as_array().expect("a table");
        let fastest = rows.iter().find(|row| row["n"] == curve["n"]).expect("its row");
        assert!(rows.iter().all(|row| row["gflops"].as_f64() <= fastest["gflops"].as_f64()));
        let close = |found: f64, expected: &Value| (found / expected.as_f64().expect("a number") - 1.0).abs() < 1e-9;
        assert!(close(ends("seconds"), &fastest["seconds"]) && close(ends("mean_gflops"), &fastest["gflops"]));
        assert_eq!(ends("panel"), 800.0);
        let points = list(&curve["panel"]).len();
        let names = ["panel_factorisation", "panel_broadcast", "row_swaps", "update", "triangular_solve"];
        let all: f64 = names.iter().flat_map(|name| list(&curve["phase_seconds"][name])).sum();
        assert!(close(all, &fastest["seconds"]), "{all}");
        for name in names {
            let (spent, waited) = (list(&curve["phase_seconds"][name]), list(&curve["waiting_seconds"][name]));
            assert_eq!((spent.len(), waited.len()), (points, points));
            assert!(spent.iter().zip(waited).all(|(spent, waited)| waited <= *spent && waited >= 0.0));
        }
        let simulated = curve["simulated_panels"].as_array().expect("a list");
        assert_eq!(simulated.len() > 1, sampled, "{simulated:?}");
    }
}

#[test]
fn equal_runs_are_equal_and_seeds_matter() {
    let run = |seed: &str| told(&["--n", "300", "--nb", "32", "--grid", "2x2", "--seed", seed]);
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
}

/// A model is made of measured sizes; that it was used for others is said, with how much of the time depends on it.
#[test]
fn sizes_that_nobody_measured_are_a_warning() {
    let folder = Folder::new("beyond");
    let model = |measured: &str| {
        format!("name = \"m\"\nunlisted = \"free\"\n[kernel.dgemm]\nterms = [\"M*N*K\"]\nseconds = [1e-11]\n{measured}")
    };
    let warnings = |measured: &str| {
        let models = folder.write("m.toml", &model(measured));
        hpl_json(&["--n", "1000", "--nb", "100", "--grid", "2x2", "--models", &models])["warnings"].to_string()
    };
    assert_eq!(warnings(""), "[]");
    assert_eq!(warnings("measured = { M = [1, 1000], N = [1, 1000] }"), "[]");
    let found = warnings("measured = { M = [1, 200], K = [1, 100] }");
    assert!(found.contains("dgemm was used beyond what was measured (K 1 to 100, M 1 to 200)"), "{found}");
    let wrong = folder.write("w.toml", &model("").replace("M*N*K", "M*X"));
    refuses(&["hpl", "-m", &machine("dahu.toml"), "--n", "100", "--models", &wrong], &["dgemm", "`X`", "M, N, K"]);
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
    // The quantile 0.975 of Student's t with three degrees of freedom, from a table.
    let student = 3.182_446_305;
    close("confidence_95", student * deviation / 2.0);
    let unsimulated =
        mean * rows.iter().map(|row| number(&row["uncertainty_seconds"]) / number(&row["seconds"])).sum::<f64>() / 4.0;
    close("prediction_95", (student * deviation * 1.25f64.sqrt()).hypot(unsimulated));
    // A run is the same whether it comes alone or with others.
    let alone = hpl_json(&[&common[..], &["--seed", "5"]].concat());
    assert_eq!(alone["simulated_seconds"].as_f64(), Some(seconds[2]));
    let text = hpl(&[&common[..], &["--repeat", "2"]].concat());
    assert!(text.contains("(95 % of runs; 2 were simulated)") && text.contains("Finished      2 tests"), "{text}");
}

/// A model file that knows its coefficients to 2 %, and varies by 0.1 % from call to call.
fn unsure_models() -> String {
    let deviation = "deviation = [2e-13]\n";
    let covariance = format!("covariance = [{}]\n", (0.02 * 2e-10f64).powi(2));
    format!(
        "name = \"x\"\nunlisted = \"free\"\n[kernel.dgemm]\nterms = [\"M*N*K\"]\nseconds = [2e-10]\n{deviation}{covariance}"
    )
}

#[test]
fn what_is_not_known_widens_the_interval_and_sources_say_what() {
    let folder = Folder::new("chances");
    let models = folder.write("models.toml", &unsure_models());
    let common = ["--n", "2000", "--nb", "100", "--grid", "2x2", "--exact", "--models", &models, "--repeat", "12"];
    let report = |more: &[&str]| hpl_json(&[&common[..], more].concat());
    let half = |report: &Value| {
        number(&report["combinations"][0]["seconds"]["prediction_95"])
            / number(&report["combinations"][0]["seconds"]["mean"])
    };
    let (all, calls) = (report(&["--sources"]), report(&["--vary", "calls"]));
    // 95 % of runs: about 2.3 times 2 %, of which dgemm is most; from 12 runs that is known to a third.
    assert!((0.025..0.065).contains(&half(&all)), "{}", half(&all));
    assert!(half(&calls) < 0.01, "{}", half(&calls));
    let sources = all["combinations"][0]["contributions"].as_array().expect("contributions");
    assert_eq!(
        sources.iter().map(|source| source["source"].as_str().unwrap()).collect::<Vec<_>>(),
        ["coefficients", "calls"]
    );
    assert!(number(&sources[0]["share"]) > 0.95, "{sources:?}");
    let table = all["table"].as_array().expect("a table");
    assert_eq!((table.len(), &table[0]["redrawn"], &table[1]["redrawn"]), (36, &Value::Null, &Value::from("calls")));
    // A run of a list can be had alone.
    let alone = hpl_json(&[&common[..9], &["--seed", "5", "--vary", "calls,coefficients"]].concat());
    assert_eq!(alone["simulated_seconds"], table[15]["seconds"]);
    let text = hpl(&[&common[..], &["--sources"]].concat());
    assert!(text.contains("What runs of N 2,000 differ by") && text.contains("Finished     12 tests"), "{text}");
}

#[test]
fn chances_that_nobody_knows_are_refused() {
    let dahu = machine("dahu.toml");
    let refused = |more: &[&str], said: &[&str]| {
        refuses(&[&["hpl", "-m", &dahu, "--n", "100"][..], more].concat(), said);
    };
    refused(&["--vary", "coefficients"], &["--vary coefficients", "hpcast fit kernel"]);
    refused(&["--sources"], &["--sources", "--repeat"]);
    let folder = Folder::new("no-covariance");
    let models = folder.write("m.toml", &unsure_models().replace("covariance = [", "covariance = [-"));
    refused(&["--models", &models], &["m.toml:7", "covariance"]);
}

/// The second run would take hours: it is stopped as soon as the first has printed its result.
#[cfg(unix)]
#[test]
fn results_appear_one_by_one_and_an_interrupted_list_keeps_them() {
    let folder = Folder::new("interrupted");
    let (dahu, json, csv) = (machine("dahu.toml"), folder.path("r.json"), folder.path("r.csv"));
    let arguments = ["hpl", "-m", &dahu, "--n", "200,200000", "--nb", "32", "--grid", "2x4", "--exact"];
    let files = ["--json", &json, "--csv", &csv];
    let mut run = command(&[&arguments[..], &files].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hpcast runs");
    let mut output = BufReader::new(run.stdout.take().expect("its output"));
    let mut text = String::new();
    while !text.contains("\nWR") && output.read_line(&mut text).expect("lines of text") > 0 {}
    assert!(run.try_wait().expect("its state").is_none(), "the second run goes on");
    let stopped = Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("kill runs");
    assert!(stopped.success());
    output.read_to_string(&mut text).expect("text");
    let end = run.wait_with_output().expect("it ends");
    assert_eq!((end.status.code(), &end.stderr[..]), (Some(130), &b"interrupted\n"[..]));
    assert_eq!(results(&text).len(), 1, "{text}");
    assert!(text.contains("Finished      1 tests") && text.contains("interrupted: 1 of 2 runs"), "{text}");
    let report: Value = serde_json::from_str(&folder.read("r.json")).expect("JSON");
    assert_eq!((&report["interrupted"], &report["table"][0]["n"]), (&true.into(), &200.into()));
    assert_eq!(folder.read("r.csv").lines().count(), 2);
}

#[test]
fn an_hpl_dat_with_lists_is_run_in_the_order_of_xhpl() {
    let folder = Folder::new("dat");
    let dat = folder.write("HPL.dat", HPL_DAT);
    let csv = folder.path("t.csv");
    let text = hpl(&["--dat", &dat, "--csv", &csv]);
    let found: Vec<(String, Vec<f64>)> =
        results(&text).into_iter().map(|(variant, numbers)| (variant, numbers[..4].to_vec())).collect();
    let mut expected = Vec::new();
    for [p, q] in [[2.0, 2.0], [1.0, 4.0]] {
        for n in [1000.0, 2000.0] {
            for nb in [64.0, 128.0, 192.0] {
                expected.extend(["WR11C2R4", "WR15C2R4"].map(|variant| (variant.to_owned(), vec![n, nb, p, q])));
            }
        }
    }
    assert_eq!(found, expected);
    assert!(text.contains("\nBCAST  :  1ringM   BlongM \n"), "{text}");
    let table = fs::read_to_string(csv).expect("the table");
    assert_eq!(table.lines().count(), 25, "{table}");
    let columns: Vec<&str> = table.lines().next().expect("a header").split(',').collect();
    assert_eq!(columns.iter().filter(|column| **column == "seed" || **column == "ranks").count(), 2, "{columns:?}");
    // Options win over the file.
    let text = hpl(&["--dat", &dat, "--n", "150", "--nb", "32", "--bcast", "2ring", "--grid", "1x2", "--swap", "long"]);
    let found = results(&text);
    assert_eq!((found.len(), found[0].0.as_str(), found[0].1[0]), (1, "WR12C2R4", 150.0));
    assert!(text.contains("SWAP   : Spread-roll (long)"), "{text}");
}

#[test]
fn a_broken_hpl_dat_is_shown_with_its_place() {
    let folder = Folder::new("broken");
    let machine = machine("dahu.toml");
    for (from, to, parts) in [
        ("1000 2000", "1000 x", &["HPL.dat:6:6", "`x` is no whole number", "help"][..]),
        ("64 128 192", "0 128 192", &["HPL.dat:8:1", "NB: 0"]),
        ("2 1          Ps", "2 0          Ps", &["HPL.dat:11:3", "P: 0"]),
        ("1000 2000", "1000 0", &["HPL.dat:6:6", "N: 0"]),
        ("8            mem", "", &["HPL.dat:31", "`ory` is no whole number"]),
    ] {
        let text = HPL_DAT.replacen(from, to, 1);
        assert_ne!(text, HPL_DAT);
        let dat = folder.write("HPL.dat", &text);
        refuses(&["hpl", "-m", &machine, "--dat", &dat], parts);
    }
    let short: String = HPL_DAT.split_inclusive('\n').take(12).collect();
    let dat = folder.write("HPL.dat", &short);
    refuses(&["hpl", "-m", &machine, "--dat", &dat], &["HPL.dat:12:1", "ends after 12 lines", "31"]);
}

#[test]
fn what_cannot_run_is_refused_and_nothing_is_written() {
    let folder = Folder::new("refused");
    let slow = folder.write("slow.toml", SLOW);
    let machine = machine("dahu.toml");
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

/// Four nodes of which the third takes 1.5 times as long.
const THIRD_IS_SLOW: &str = r#"name = "third is slow"
[kernel.dgemm]
terms = ["M*N*K"]
seconds = [1e-10]
processors = [
    { node = 0, seconds = [1e-10] },
    { node = 1, seconds = [1.01e-10] },
    { node = 2, seconds = [1.5e-10] },
    { node = 3, seconds = [1.02e-10] },
]
"#;

#[test]
fn the_slowest_nodes_are_left_out() {
    let folder = Folder::new("eviction");
    let four = folder.write("four.toml", &SLOW.replace("memory =", "flops = \"1 Tflop/s\"\nmemory ="));
    let models = folder.write("models.toml", THIRD_IS_SLOW);
    let with = |models: &str, more: &[&str]| -> Value {
        let fixed = ["hpl", "-m", &four, "--ranks-per-node", "1", "--n", "5000", "--models", models, "--json", "-"];
        serde_json::from_str(&prints(&[&fixed[..], more].concat())).expect("JSON")
    };
    let seconds = |report: &Value| number(&report["simulated_seconds"]);
    let on_three = with(&models, &["--grid", "1x3", "--evict", "1"]);
    assert!(on_three["assumptions"].to_string().contains("nodes 2 are left out"), "{on_three}");
    assert_eq!(on_three["parameters"]["evict"], 1);
    // As if the other three had been asked for, and faster than with the slow one among them.
    let listed = with(&models, &["--grid", "1x3", "--allocation", "0-1,3"]);
    assert_eq!(seconds(&on_three), seconds(&listed));
    assert!(seconds(&with(&models, &["--grid", "1x3"])) > 1.2 * seconds(&on_three));
    // Of the nodes that may be used; the grid is chosen for those that stay.
    let of_three = with(&models, &["--allocation", "0,2-3", "--evict", "1"]);
    assert_eq!(of_three["ranks"], 2, "{of_three}");

    let base = ["hpl", "-m", &four, "--ranks-per-node", "1", "--n", "500"];
    let refused = |more: &[&str], parts: &[&str]| refuses(&[&base[..], more].concat(), parts);
    refused(&["--evict", "1"], &["all nodes compute equally fast", "--models"]);
    refused(&["--models", &models, "--evict", "4"], &["--evict 4", "4 nodes", "fewer"]);
    refused(&["--models", &models, "--evict", "1", "--rank-file", "x"], &["--rank-file"]);
    refused(&["--models", &models, "--evict", "1", "--grid", "2x2"], &["4 ranks do not fit"]);
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
fn a_plot_shows_the_run_and_changes_nothing() {
    let folder = Folder::new("plot");
    let plot = folder.path("p.svg");
    for (arguments, circles) in [
        (&["--n", "4000", "--nb", "5", "--grid", "2x2", "--samples", "8"][..], true),
        (&["--n", "500,400", "--nb", "50", "--grid", "2x4", "--exact"], false),
    ] {
        let plotted = told(&[arguments, &["--plot", &plot]].concat());
        assert_eq!(plotted, told(arguments));
        let picture = folder.read("p.svg");
        for text in ["<svg", "flop/s)", "share of the time (%)", "panels done", "triangular solve", "seed 0"] {
            assert!(picture.contains(text), "{text} is missing in\n{picture}");
        }
        assert_eq!(picture.contains("interpolated"), circles);
    }
    let nowhere = folder.path("no/such/folder/p.svg");
    refuses(&["hpl", "-m", &machine("dahu.toml"), "--n", "100", "--plot", &nowhere], &["p.svg", "folder"]);
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
