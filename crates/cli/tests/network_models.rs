//! The network part of model files: fitted, imported, and used by simulations.

mod common;

use common::{Folder, machine, prints, refuses};
use serde_json::Value;

/// Messages of which a tenth is slow in each respect.
const NOISY: &str = r#"
name = "noisy"
[network]
eager-below = "10 kB"
detached-below = "10 kB"
[network.between]
send = [{ above = "0 B", modes = [
  { share = 0.9, mean = "1 us", deviation = "50 ns" }, { share = 0.1, mean = "11 us", deviation = "1 us" }] }]
receive = [{ above = "0 B", modes = [
  { share = 0.9, mean = "2 us", deviation = "50 ns" }, { share = 0.1, mean = "22 us", deviation = "1 us" }] }]
latency = [{ above = "0 B", base = "3 us" }, { above = "9999 B", modes = [
  { share = 0.9, mean = "5 us", deviation = "0 s" }, { share = 0.1, mean = "105 us", deviation = "0 s" }] }]
bandwidth-factor = 1.0
"#;

/// One switch, 10 GB/s.
const MACHINE: &str = r#"
name = "pair"
[nodes]
count = 2
cores-per-socket = 2
[network]
topology = "crossbar"
bandwidth = "10 GB/s"
latency = "1 us"
"#;

struct Fixture {
    folder: Folder,
    machine: String,
    models: String,
}

impl Fixture {
    fn new(name: &str) -> Fixture {
        let folder = Folder::new(name);
        let (machine, models) = (folder.write("pair.toml", MACHINE), folder.write("noisy.toml", NOISY));
        Fixture { folder, machine, models }
    }

    /// A ping-pong of so many rounds: its result as JSON.
    fn ping_pong(&self, size: &str, count: &str, more: &[&str]) -> Value {
        let out = self.folder.path("out.json");
        let first =
            ["run", "pingpong", "-n", "2", "--ranks-per-node", "1", "-m", &self.machine, "--models", &self.models];
        prints(&[&first[..], &["--size", size, "--count", count, "--json", &out], more].concat());
        serde_json::from_str(&self.folder.read("out.json")).expect("JSON")
    }
}

fn seconds(result: &Value, key: &str) -> f64 {
    result["table"][0][key].as_f64().unwrap_or_else(|| panic!("{key}: {result}"))
}

/// What a message takes on the mean.
fn half_round(result: &Value) -> f64 {
    seconds(result, "mean_seconds")
}

#[test]
fn the_mean_of_many_messages_is_what_the_model_expects() {
    let fixture = Fixture::new("network-mean");
    // A round trip of small messages: twice 2 us for the send, 4 us for the receive, 3 us and 1000 B at 10 GB/s.
    let rounds: f64 = 20_000.0;
    let small = fixture.ping_pong("1000B", "20000", &[]);
    let one_way = 2e-6 + 4e-6 + 3e-6 + 1e-7;
    // Of single overheads the variance is that between modes, 0.09 x 10^2 and 0.09 x 20^2, and within.
    let deviation = (0.09f64 * (100.0 + 400.0) + 0.1 * 2.0 + 0.9 * 2.0 * 0.0025).sqrt() * 1e-6;
    let measured = half_round(&small);
    assert!((measured - one_way).abs() < 4.0 * deviation / (2.0 * rounds).sqrt(), "{measured:e}");
    // Large ones: only the latency varies, 15 us on the mean.
    let large = fixture.ping_pong("100kB", "20000", &[]);
    let one_way = 15e-6 + 1e-5;
    let measured = half_round(&large);
    assert!((measured - one_way).abs() < 4.0 * 30e-6 / (2.0 * rounds).sqrt(), "{measured:e}");
    // Without noise it is exact.
    let quiet = half_round(&fixture.ping_pong("100kB", "3", &["--no-noise"]));
    assert!((quiet - one_way).abs() < 1e-12, "{quiet:e}");
}

#[test]
fn single_messages_have_the_modes_of_the_model() {
    let fixture = Fixture::new("network-modes");
    let mut slow = 0;
    for seed in 0..200 {
        // Two messages of 25 us or of 125 us.
        let round = fixture.ping_pong("100kB", "1", &["--seed", &seed.to_string()]);
        let total = round["simulated_seconds"].as_f64().unwrap_or_else(|| panic!("{round}"));
        let found = [30e-6, 130e-6, 230e-6].iter().position(|time| (total - time).abs() < 1e-9);
        slow += found.unwrap_or_else(|| panic!("{total:e} is none of the modes"));
    }
    // 40 of 400 messages, give or take four standard deviations of 6.
    assert!((16..=64).contains(&slow), "{slow}");
}

#[test]
fn the_same_seed_gives_the_same_and_another_one_does_not() {
    let fixture = Fixture::new("network-seed");
    let time = |seed: &str| half_round(&fixture.ping_pong("1000B", "100", &["--seed", seed]));
    assert_eq!(time("1").to_bits(), time("1").to_bits());
    assert_ne!(time("1").to_bits(), time("2").to_bits());
    // What was used is said.
    let text = prints(&["run", "ring", "-n", "4", "-m", &fixture.machine, "--models", &fixture.models]);
    assert!(
        text.contains("of the model file \"noisy\": mpi.eager-below") && text.contains("mpi.between.latency"),
        "{text}"
    );
    assert!(!text.contains("mpi.eager-below =") && !text.contains("mpi.between ="), "{text}");
}

#[test]
fn several_runs_say_where_most_lie() {
    let fixture = Fixture::new("network-repeat");
    let runs = fixture.ping_pong("100B", "50", &["--repeat", "8", "--seed", "3"]);
    let single = |seed: &str| seconds(&fixture.ping_pong("100B", "50", &["--seed", seed]), "mean_seconds");
    let means: Vec<f64> = (3..11).map(|seed| single(&seed.to_string())).collect();
    let mean = means.iter().sum::<f64>() / 8.0;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 7.0;
    assert!((seconds(&runs, "mean_seconds") / mean - 1.0).abs() < 1e-12);
    // The quantile 0.975 of Student's t with seven degrees of freedom, from a table.
    let half = 2.364_624_3 * (variance * 9.0 / 8.0).sqrt();
    assert!((seconds(&runs, "prediction_95_seconds") / half - 1.0).abs() < 1e-6, "{runs}");
    let quiet = fixture.ping_pong("100B", "50", &["--repeat", "3", "--no-noise"]);
    assert_eq!(seconds(&quiet, "prediction_95_seconds"), 0.0);
}

#[test]
fn hpl_varies_with_its_messages_in_both_of_its_ways() {
    let fixture = Fixture::new("network-hpl");
    let out = fixture.folder.path("out.json");
    let hpl = |more: &[&str]| {
        let first = [
            "hpl",
            "-m",
            &machine("dahu.toml"),
            "--models",
            &fixture.models,
            "--n",
            "2000",
            "--nb",
            "50",
            "--grid",
            "4x4",
        ];
        prints(&[&first[..], &["--ranks-per-node", "2", "--json", &out], more].concat());
        let result: Value = serde_json::from_str(&fixture.folder.read("out.json")).expect("JSON");
        assert_eq!(result["parameters"]["noise"].as_bool(), Some(!more.contains(&"--no-noise")), "{result}");
        seconds(&result, "seconds")
    };
    let (quiet, noisy, exact) = (hpl(&["--no-noise"]), hpl(&[]), hpl(&["--exact"]));
    assert!(noisy > 1.01 * quiet, "slow messages hold others up: {noisy} {quiet}");
    assert!((noisy / exact - 1.0).abs() < 0.05, "worked out {noisy}, simulated {exact}");
    assert_eq!(hpl(&[]).to_bits(), noisy.to_bits());
}

/// Latencies are sure to 2 us, and what a byte takes to a fifth; a send hardly.
const UNSURE: &str = r#"
name = "unsure"
unlisted = "free"
[kernel.dgemm]
terms = ["M*N*K"]
seconds = [1e-11]
[network.between]
send = [{ above = "0 B", base = "1 us" }]
latency = [{ above = "0 B", base = "10 us" }]
bandwidth-factor = [{ above = "0 B", factor = 0.5 }]
[network.fit]
ranges = [
  { function = "between.send", above = "0 B", covariance = [1e-18, 0, 0] },
  { function = "between.transfer", above = "0 B", covariance = [4e-12, 0, 0.16] },
]
"#;

/// As before anybody knew how sure it is.
fn without_errors() -> &'static str {
    UNSURE.split("[network.fit]").next().unwrap_or_default()
}

#[test]
fn repeated_runs_draw_what_messages_cost() {
    let mut fixture = Fixture::new("network-errors");
    let known = fixture.folder.write("known.toml", without_errors());
    fixture.models = fixture.folder.write("unsure.toml", UNSURE);
    let repeat = |more: &[&str]| fixture.ping_pong("100kB", "2", &[&["--repeat", "20", "--seed", "1"], more].concat());
    let all = repeat(&[]);
    // 10 us and 20 us, with errors of 2 us and 4 us: 95 % of runs within 2.1 times 4.5 us, which 20 runs say to a third.
    let (mean, half) = (half_round(&all), seconds(&all, "prediction_95_seconds"));
    assert!((mean - 30e-6).abs() < 4e-6 && (6e-6..15e-6).contains(&half), "{mean:e} {half:e}");
    assert_eq!(repeat(&[])["table"], all["table"]);
    assert_eq!(repeat(&["--vary", "network"])["table"], all["table"], "there is no noise");
    // Who does not want it gets what there was, and so does a single run.
    let calls = repeat(&["--vary", "calls"]);
    assert!(seconds(&calls, "prediction_95_seconds") < 1e-15 && (half_round(&calls) - 30e-6).abs() < 1e-11, "{calls}");
    let single = fixture.ping_pong("100kB", "2", &[]);
    assert!((half_round(&single) - 30e-6).abs() < 1e-11);
    fixture.models = known;
    let before = fixture.ping_pong("100kB", "2", &["--repeat", "20", "--seed", "1"]);
    assert_eq!(before["table"], calls["table"]);
    let run = ["run", "ring", "-n", "2", "-m", &fixture.machine, "--models", &fixture.models, "--vary", "network"];
    refuses(&run, &["--vary network", "hpcast fit network"]);
}

#[test]
fn an_unsure_network_widens_the_interval_of_hpl_and_sources_say_so() {
    let folder = Folder::new("network-errors-hpl");
    let (unsure, known) = (folder.write("unsure.toml", UNSURE), folder.write("known.toml", without_errors()));
    let (dahu, out) = (machine("dahu.toml"), folder.path("out.json"));
    let hpl = |models: &str, more: &[&str]| -> Value {
        let first = ["hpl", "-m", &dahu, "--models", models, "--n", "2000", "--nb", "100", "--grid", "2x4"];
        let common = ["--ranks-per-node", "1", "--exact", "--repeat", "10", "--json", &out];
        prints(&[&first[..], &common, more].concat());
        serde_json::from_str(&folder.read("out.json")).expect("JSON")
    };
    let half = |report: &Value| {
        let seconds = &report["combinations"][0]["seconds"];
        seconds["prediction_95"].as_f64().unwrap() / seconds["mean"].as_f64().unwrap()
    };
    let (all, calls, before) = (hpl(&unsure, &["--sources"]), hpl(&unsure, &["--vary", "calls"]), hpl(&known, &[]));
    assert!(half(&all) > 5.0 * half(&calls), "{} {}", half(&all), half(&calls));
    let sources = all["combinations"][0]["contributions"].as_array().expect("contributions");
    let names: Vec<&str> = sources.iter().filter_map(|source| source["source"].as_str()).collect();
    assert_eq!(names, ["network", "calls"]);
    assert!(sources[0]["share"].as_f64().unwrap() > 0.9, "{sources:?}");
    assert_eq!(all["parameters"]["vary"], "calls,network");
    assert_eq!(calls["table"], before["table"], "as if nobody knew of errors");
    assert_eq!(hpl(&unsure, &["--sources"])["table"], all["table"]);
    let refused = ["hpl", "-m", &dahu, "--models", &known, "--n", "100", "--vary", "network"];
    refuses(&refused, &["--vary network", "hpcast fit network"]);
}

/// A table as people write it.
fn measurements() -> String {
    let mut text = String::from("operation,size,seconds,where\n");
    for i in 0..40 {
        let size = f64::from(1.3f64.powi(i).ceil() as u32 + i as u32);
        let (send, receive) = if size < 10_000.0 { (1e-6 + 1e-10 * size, 2e-6) } else { (0.0, 0.0) };
        for call in 0..6 {
            let noise = 1.0 + 0.01 * f64::from(call);
            text += &format!("isend,{size},{:e},between\n", 5e-7 * noise);
            text += &format!("send,{size},{:e},between\n", (send + 1e-9) * noise);
            text += &format!("receive,{size},{:e},between\n", (receive + 1e-9) * noise);
            text += &format!("ping-pong,{size},{:e},between\n", 2.0 * (send + receive + 4e-6 + size / 5e9) * noise);
        }
    }
    text
}

#[test]
fn a_fitted_network_is_one_that_simulations_can_use() {
    let fixture = Fixture::new("network-fit");
    let csv = fixture.folder.write("calls.csv", &measurements());
    let out = fixture.folder.path("fitted.toml");
    let fit = [
        "fit",
        "network",
        &csv,
        "-m",
        &fixture.machine,
        "--detached-below",
        "10 kB",
        "--eager-below",
        "10 kB",
        "-o",
        &out,
    ];
    let text = prints(&fit);
    assert!(text.contains("between latency") && text.contains("mean error") && !text.contains("warning"), "{text}");
    let file = fixture.folder.read("fitted.toml");
    for part in ["[made]", "sha256", "detached-below = \"10 kB\"", "[network.between]", "modes = [", "[network.fit]"] {
        assert!(file.contains(part), "{part} is missing in\n{file}");
    }
    // Every range says how sure it is.
    assert_eq!(file.matches("{ function = ").count(), file.matches("covariance = [").count(), "{file}");
    prints(&fit);
    assert_eq!(fixture.folder.read("fitted.toml"), file);
    assert!(prints(&["model", "show", &out]).contains("between isend"));
    // What was measured is what is simulated.
    for (size, one_way) in [("1000B", 1.1e-6 + 2e-6 + 4e-6 + 2e-7), ("20kB", 4e-6 + 4e-6)] {
        let fitted =
            Fixture { models: out.clone(), folder: Folder::new("network-fitted"), machine: fixture.machine.clone() };
        let found = half_round(&fitted.ping_pong(size, "500", &[]));
        assert!((found / (1.025 * one_way) - 1.0).abs() < 0.03, "{size}: {found:e}, {one_way:e}");
    }
    // Inside a node as well, in the same file.
    let inside = fixture.folder.write("inside.csv", &measurements().replace("between", "inside"));
    prints(&[
        "fit",
        "network",
        &inside,
        "-m",
        &fixture.machine,
        "--detached-below",
        "10 kB",
        "--add-to",
        &out,
        "-o",
        &out,
    ]);
    let file = fixture.folder.read("fitted.toml");
    assert!(
        file.contains("[network.between]") && file.contains("[network.inside]") && file.matches("sha256").count() == 2
    );
}

#[test]
fn what_cannot_be_used_is_refused() {
    let fixture = Fixture::new("network-bad");
    let folder = &fixture.folder;
    let out = folder.path("fitted.toml");
    let bad = |text: &str, options: &[&str], words: &[&str]| {
        let csv = folder.write("bad.csv", text);
        refuses(&[&["fit", "network", &csv, "-m", &fixture.machine, "-o", &out], options].concat(), words);
    };
    bad("size,seconds\n1,2\n", &[], &["no column `operation`", "--column size=bytes"]);
    bad(
        "operation,size,seconds\nisend,1,2e-6\nisend,2,2e-6\n",
        &[],
        &["between.isend: 2 points", "measure more sizes"],
    );
    bad("operation,size,seconds\nisend,1,NaN\n", &[], &["bad.csv:2", "`NaN`"]);
    bad("operation,size,seconds\nisend,1,-1\n", &[], &["bad.csv:2", "negative"]);
    bad("operation,size,seconds\nbarrier,1,1\n", &[], &["bad.csv:2", "`barrier`", "--operation NAME=ping-pong"]);
    bad("operation,size,seconds\nisend,1,1\n", &["--only", "where=x"], &["no column `where`"]);
    bad("operation,size,seconds\nisend,1,1\n", &["--column", "bytes=size"], &["--column bytes"]);
    let csv = folder.write("calls.csv", &measurements());
    refuses(&["fit", "network", &csv, "-o", &out], &["--machine"]);
    assert!(!folder.names().contains(&"fitted.toml".into()), "nothing is half-written");
    let kernels = folder.write("kernels.toml", "name = \"x\"\n[kernel.dgemm]\nterms = [\"1\"]\nseconds = [1e-6]\n");
    let run = |models: &str, words: &[&str]| {
        refuses(&["run", "ring", "-n", "2", "-m", &fixture.machine, "--models", models], words);
    };
    run(&kernels, &["kernels.toml says nothing of messages", "[network]"]);
    run(
        &folder.write("wrong.toml", &NOISY.replace("share = 0.9", "share = 0.8")),
        &["wrong.toml:7", "add up to 0.9", "help"],
    );
    run(&folder.write("wrong.toml", &NOISY.replace("between", "betwen")), &["unknown key `betwen`"]);
}

#[test]
fn published_networks_are_imported() {
    let folder = Folder::new("network-import");
    let table = folder.write(
        "smpi.csv",
        "platform_id,property,size_greater_than,value1,value2\na,smpi/os,0,1e-6,1e-10\na,smpi/lat-factor,0,2,\nb,smpi/os,0,1,0\n",
    );
    let out = folder.path("models.toml");
    assert!(prints(&["model", "import-network", &table, "--set", "a", "-o", &out]).contains("between send"));
    assert!(prints(&["model", "show", &out]).contains("smpi.csv (set a)"));
    refuses(&["model", "import-network", &table, "-o", &out], &["--set"]);
    refuses(&["model", "import-network", &table, "--set", "c", "-o", &out], &["the file has a, b"]);
    let json = folder.write("mixtures.json", "{ \"models\": [ { \"function\": \"x\" } ] }");
    refuses(
        &["model", "import-network", &json, "-o", &out],
        &["models[0]: `x` is no function that is known", "mixtures.json"],
    );
}
