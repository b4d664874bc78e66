//! `hpcast validate`: forecasts beside what is known, with a made-up part that takes no time.

mod common;

use std::fs;

use common::{Folder, VARIES, command, hpcast, machine, prints, refuses};

/// Measured runs of two sizes, one of them twice, and rows of something else.
const TABLE: &str = "kind,N,P,Q,time,wall\n\
    ours,400.0,2,2,TIME400,3\nours,400.0,2,2,TIME400,5\nours,800.0,2,2,TIME800,9\nother,800,2,2,1,1\n";

/// A part that holds HPL with four ranks to a bound.
fn part(more: &str) -> String {
    format!(
        "title = \"four ranks & <more>\"\nabout = \"Made up.\"\norigin = \"nobody\"\nagainst = \"measured\"\n\
         table = \"times.csv\"\nvalue = \"time\"\ncost = \"wall\"\naxis = \"N\"\nselect = {{ kind = \"ours\" }}\n\
         quick = {{ N = 400 }}\nmachine = \"{}\"\nhpl = \"--n {{N}} --nb 50 --grid {{P}}x{{Q}}\"\n{more}\n",
        machine("dahu.toml")
    )
}

const LINE: &str = "[[line]]\nname = \"all\"\n";

/// The time that HPL takes there.
fn seconds(n: &str, more: &[&str]) -> f64 {
    let hpl = ["hpl", "-m", &machine("dahu.toml"), "--n", n, "--nb", "50", "--grid", "2x2", "--json", "-"];
    let found: serde_json::Value = serde_json::from_str(&prints(&[&hpl[..], more].concat())).expect("JSON");
    found["table"][0]["seconds"].as_f64().expect("a number")
}

/// A folder with a table whose times are those of our forecasts, times a factor.
fn data(name: &str, factor: f64) -> Folder {
    let folder = Folder::new(name);
    let time = |n| format!("{:e}", factor * seconds(n, &[]));
    folder.write("times.csv", &TABLE.replace("TIME400", &time("400")).replace("TIME800", &time("800")));
    folder
}

#[test]
fn forecasts_are_compared_and_written() {
    let folder = data("validate", 1.01);
    let file = folder.write("tiny.toml", &part(&format!("bound = {{ worst-percent = 2 }}\n{LINE}")));
    let out = folder.path("out");
    let common = ["validate", &file, "--data", &folder.path(""), "-o", &out];
    let text = prints(&common);
    for part in ["tiny: all bounds hold", "N = 400", "-0.99 %", "each within 2 %"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let read = |name: &str| fs::read_to_string(format!("{out}/{name}")).expect(name);
    let csv = read("tiny.csv");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.contains("all,N = 400,2,") && csv.contains("all,N = 800,1,"), "{csv}");
    assert!(read("tiny.svg").starts_with("<svg"));
    let page = read("index.html");
    assert!(
        page.contains("four ranks &amp; &lt;more&gt;") && page.contains("<svg") && page.contains("All bounds hold.")
    );
    let json: serde_json::Value = serde_json::from_str(&read("results.json")).expect("JSON");
    assert_eq!(json["parts"][0]["broken"], 0);
    assert_eq!(json["parts"][0]["lines"][0]["points"][0]["reference_cost"], 4.0);
    assert_eq!(json["provenance"]["inputs"].as_array().expect("files").len(), 3);
    // The same bytes, however many threads.
    prints(&[&common[..], &["--threads", "3"]].concat());
    assert_eq!(read("tiny.csv"), csv);
    let again: serde_json::Value = serde_json::from_str(&read("results.json")).expect("JSON");
    assert_eq!(stable(again), stable(json));
    // Quick takes a part of it.
    assert!(!prints(&[&common[..4], &["--quick"]].concat()).contains("N = 800"));
}

/// Without what may differ between two equal runs.
fn stable(mut value: serde_json::Value) -> serde_json::Value {
    match &mut value {
        serde_json::Value::Object(map) => {
            map.retain(|key, _| !VARIES.contains(&key.as_str()));
            map.values_mut().for_each(|inner| *inner = stable(inner.take()));
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|inner| *inner = stable(inner.take())),
        _ => {}
    }
    value
}

#[test]
fn a_broken_bound_is_exit_code_1_and_all_is_written() {
    let folder = data("validate-broken", 0.9);
    let file = folder.write("tiny.toml", &part(&format!("bound = {{ worst-percent = 2 }}\n{LINE}")));
    let out = folder.path("out");
    let output = hpcast(&["validate", &file, "--data", &folder.path(""), "-o", &out]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("bounds are broken in tiny"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("2 bounds are broken"));
    assert!(fs::read_to_string(format!("{out}/index.html")).expect("a page").contains("2 bounds are broken."));
    // Without a bound it is only shown.
    let shown = folder.write("tiny.toml", &part(LINE));
    assert!(prints(&["validate", &shown, "--data", &folder.path("")]).contains("shown without a bound"));
}

#[test]
fn machines_and_models_can_be_changed_and_forecasts_compared_with_each_other() {
    let folder = Folder::new("validate-changes");
    folder.write(
        "models.toml",
        "name = \"x\"\nunlisted = \"free\"\n[kernel.dgemm]\nterms = [\"M*N*K\"]\nseconds = [1e-9]\n",
    );
    let line = |name: &str, more: &str| {
        format!("[[line]]\nname = \"{name}\"\nhpl = \"--n 800 --nb 50 --grid 2x2 --ranks-per-node 1\"\n{more}\n")
    };
    let file = folder.write(
        "changes.toml",
        &format!(
            "title = \"changes\"\norigin = \"ourselves\"\nagainst = \"other\"\nmodels = \"models.toml\"\nmachine = \"{}\"\n{}{}{}",
            machine("dahu.toml"),
            line("same", "against-hpl = \"--exact\""),
            line("slower", "reference = 1\nmodel-changes = \"kernel.dgemm.seconds = [1e-8]\""),
            line("farther", "reference = 1\nmachine-changes = \"network.latency = '1 ms'\""),
        ),
    );
    let out = folder.path("out");
    let text = prints(&["validate", &file, "--data", "/nowhere", "-o", &out]);
    let seconds: Vec<f64> = fs::read_to_string(format!("{out}/changes.csv"))
        .expect("a table")
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(7).and_then(|cell| cell.parse().ok()).expect(&text))
        .collect();
    assert!(seconds[1] > 5.0 * seconds[0] && seconds[2] > 1.5 * seconds[0], "{seconds:?}");
}

#[test]
fn what_is_missing_or_wrong_is_said_before_anything_runs() {
    let folder = data("validate-bad", 1.0);
    let tiny = folder.write("tiny.toml", &part(LINE));
    refuses(
        &["validate", &tiny, "--data", "/nowhere"],
        &["the part `tiny` needs published data", "/nowhere", "--data"],
    );
    refuses(&["validate", "nonsense"], &["there is no part `nonsense`", "modes"]);
    refuses(&["validate", &folder.path("absent.toml")], &["absent.toml"]);
    let with = |text: &str, parts: &[&str]| {
        let file = folder.write("bad.toml", text);
        refuses(&["validate", &file, "--data", &folder.path(""), "-o", &folder.path("bad")], parts);
    };
    with("title = ", &["bad.toml:1", "this is not TOML"]);
    with(&part(""), &["the part has no lines"]);
    with(&part(&LINE.replace("name", "nome")), &["unknown key `nome`", "did you mean `name`"]);
    // What the table does not have, at the line of the part that wants it.
    with(
        &part(&format!("{LINE}select = {{ kind = \"nobody\" }}")),
        &["bad.toml:15:", "times.csv is selected by the line `all`"],
    );
    with(&part(&format!("{LINE}select = {{ kin = \"ours\" }}")), &["bad.toml:15:", "there is no column `kin`"]);
    with(&part(&format!("{LINE}hpl = \"--depth {{DEPTH}}\"")), &["bad.toml:15:", "there is no column `DEPTH`"]);
    with(
        &part(&format!("{LINE}against-hpl = \"--depth {{DEPTH}}\"")).replace("value = \"time\"\n", ""),
        &["bad.toml:14:", "there is no column `DEPTH`"],
    );
    with(&part(LINE).replace("\"time\"", "\"tame\""), &["bad.toml:6:", "there is no column `tame`"]);
    with(&part(LINE).replace("{ N = 400 }", "{ M = 400 }"), &["bad.toml:10:", "there is no column `M`"]);
    let also = |select: &str| part(&format!("{LINE}also = [{{ select = {select}, hpl = \"--exact\" }}]"));
    // Also where the first condition is never met.
    with(&also("{ N = 500, DEPTH = 1 }"), &["bad.toml:15:", "there is no column `DEPTH`"]);
    with(&also("{ N = 500 }"), &["bad.toml:15:", "times.csv that is compared is selected by this `also`"]);
    with(&part(LINE).replace("times.csv", "tames.csv"), &["bad.toml:5:", "tames.csv", "there is no such file"]);
    let rows = folder.read("times.csv");
    folder.write("wrong.csv", &rows.replace("ours,800.0,2,2,", "ours,800.0,2,2,-"));
    with(
        &part(LINE).replace("times.csv", "wrong.csv"),
        &["wrong.csv:4:", "in column `time` is not positive", "bad.toml:6:", "line `all`, N = 800"],
    );
    folder.write("wrong.csv", &format!("{rows}ours,1\n"));
    with(&part(LINE).replace("times.csv", "wrong.csv"), &["wrong.csv:6:", "bad.toml:5:", "this table cannot be used"]);
    folder.write("wrong.csv", &rows.replace("800.0", "800 --json x"));
    with(
        &part(LINE).replace("times.csv", "wrong.csv").replace("axis = \"N\"", "case = \"{kind}\""),
        &["bad.toml:12:", "line `all`, ours: `--json` has no place in a part"],
    );
    // Options, files and changes, with the case.
    with(
        &part(&format!("{LINE}hpl = \"--depht 1\"")),
        &["bad.toml:15:", "line `all`, N = 400: unexpected argument '--depht'", "a similar argument exists: '--depth'"],
    );
    with(
        &part(&format!("{LINE}against-hpl = \"--exact\""))
            .replace("--nb 50", "--nb fifty")
            .replace("value = \"time\"\n", ""),
        &["bad.toml:11:", "line `all`, N = 400: invalid value 'fifty' for '--nb <NB>'"],
    );
    with(&part(&format!("{LINE}hpl = \"--n 500\"")), &["bad.toml:15:", "one combination of parameters, not of 2"]);
    with(&part(&format!("{LINE}hpl = \"--help\"")), &["bad.toml:15:", "unexpected argument '--help'"]);
    with(&part(&format!("{LINE}hpl = \"--json x.json\"")), &["bad.toml:15:", "`--json` has no place in a part"]);
    with(
        &part(&format!("{LINE}hpl = \"--vary days\"")),
        &["bad.toml:15:", "line `all`, N = 400", "--vary days: there is no model file"],
    );
    with(&part(&format!("bound = {{ worst-percent = \"2\" }}\n{LINE}")), &["`worst-percent` must be a plain number"]);
    with(
        &part(&format!("{LINE}machine-changes = \"network.shape = \"")),
        &["bad.toml:15:", "line `all`, N = 400: changes of", "network.shape"],
    );
    with(
        &part(&format!("{LINE}machine-changes = \"network.latency = 5\"")),
        &["dahu.toml with changes:", "`latency` has no unit", "bad.toml:15:", "line `all`, N = 400: what this names"],
    );
    with(&part(&format!("{LINE}models = \"x.toml\"")), &["bad.toml:15:", "line `all`, N = 400: cannot read", "x.toml"]);
    with(
        &part(&format!("{LINE}platform = \"x.xml --simgird 2018\"")),
        &["bad.toml:15:", "line `all`, N = 400: unexpected argument '--simgird'"],
    );
    with(&part(&format!("{LINE}platform = \"x.xml\"")), &["bad.toml:15:", "line `all`, N = 400: cannot read", "x.xml"]);
    with(
        &part(&format!("{LINE}kernels = \"x.csv\"")),
        &["bad.toml:15:", "line `all`, N = 400", "required arguments", "--set"],
    );
    with(
        &part(&format!("{LINE}platform = \"a.xml\"\nmachine = \"b.toml\"")),
        &["it is not clear which machine is meant"],
    );
    // A grid that does not fit the machine.
    with(
        &part(&format!("{LINE}hpl = \"--ranks-per-node 1\"\nmachine-changes = \"nodes.count = 2\"")),
        &["bad.toml:15:", "line `all`, N = 400", "ranks"],
    );
    // No part is run if another one is wrong, and the folder for results is not even made.
    let bad = folder.write("bad.toml", &part(&format!("{LINE}hpl = \"--ranks-per-node 9999\"")));
    refuses(&["validate", &tiny, &bad, "--data", &folder.path(""), "-o", &folder.path("bad")], &["bad.toml:15:"]);
    assert!(!folder.names().contains(&"bad".to_owned()));
}

#[test]
fn nothing_holds_where_nothing_was_bounded() {
    let folder = data("validate-unbounded", 1.0);
    let file = folder.write("tiny.toml", &part(LINE));
    let out = folder.path("out");
    let bounded = format!("{LINE}[[line]]\nname = \"bounded\"\nbound = {{ worst-percent = 2 }}\nquick = false\n");
    let text = prints(&["validate", &file, "--data", &folder.path(""), "-o", &out]);
    assert!(text.ends_with("no bound was checked\n"), "{text}");
    assert!(folder.read("out/index.html").contains("No bound was checked."));
    assert!(folder.read("out/results.json").contains("\"verdict\": \"no bound was checked\""));
    let file = folder.write("tiny.toml", &part(&bounded));
    let common = ["validate", &file, "--data", &folder.path("")];
    assert!(prints(&common).ends_with("all bounds hold\n"));
    assert!(prints(&[&common[..], &["--quick"]].concat()).ends_with("no bound was checked\n"));
}

#[test]
fn what_is_finished_before_a_failure_is_written_and_the_failure_named() {
    let folder = Folder::new("validate-failure");
    let line = |name: &str, n: u32, more: &str| {
        format!("[[line]]\nname = \"{name}\"\nhpl = \"--n {n} --nb 50 --grid 2x2 --ranks-per-node 1\"\n{more}\n")
    };
    // Years at the slow nodes are more than the clock of a simulation can count.
    let slow = "machine-changes = \"nodes.sustained-flops = '1 flop/s'\"";
    let file = folder.write(
        "late.toml",
        &format!(
            "title = \"late\"\norigin = \"nobody\"\nmachine = \"{}\"\n{}{}{}",
            machine("dahu.toml"),
            line("small", 300, ""),
            line("large", 800, ""),
            line("slow", 700, slow),
        ),
    );
    let out = folder.path("out");
    let output = hpcast(&["validate", &file, "--threads", "1", "-o", &out]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("error: late, line `slow`: the run takes longer than 213 days"), "{message}");
    // The longest is the first, and the shortest is not run any more.
    let json: serde_json::Value = serde_json::from_str(&folder.read("out/results.json")).expect("JSON");
    let part = &json["parts"][0];
    assert_eq!(part["verdict"], "no bound is broken so far; 1 case failed; stopped with 1 case missing");
    assert_eq!((&part["lines"][0]["name"], part["lines"].as_array().map(Vec::len)), (&"large".into(), Some(1)));
    assert_eq!(part["failed"][0]["line"], "slow");
    assert!(folder.read("out/index.html").contains("Failed: slow: "));
    assert!(folder.read("out/late.csv").contains("large,"));
}

#[test]
fn everything_can_be_checked_without_running_it() {
    let folder = data("validate-check", 1.0);
    let file =
        folder.write("tiny.toml", &part(&format!("{LINE}against-hpl = \"--exact\"")).replace("value = \"time\"\n", ""));
    let out = folder.path("out");
    let text = prints(&["validate", &file, "--check", "--data", &folder.path(""), "-o", &out]);
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["tiny", "2", "cases,", "4", "forecasts"]);
    assert!(!folder.names().contains(&"out".to_owned()));
    // Our own that need no data, slow ones as well.
    let text = prints(&["validate", "modes", "top500", "sensitivity", "--check"]);
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn parts_are_listed() {
    let text = prints(&["validate", "--list"]);
    for part in ["published", "reality", "topology", "modes", "top500", "msc-topology", "slow"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn every_part_of_ours_can_be_read_without_the_data() {
    // All files are read; the first that needs data says so.
    let output = command(&["validate"]).env("HPCAST_DATA", "/nowhere").output().expect("hpcast runs");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("there is no folder /nowhere"), "{message}");
}
