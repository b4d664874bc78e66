//! `hpcast model show` and `hpcast model compare`: looking at model files.

mod common;

use std::fs;
use std::path::Path;

use common::{Folder, command, prints, refuses};

/// Calls of a kernel on two nodes of two sockets; node 2 is slower by a part of it, and every call differs a little.
fn calls(slower: f64) -> String {
    let mut text = String::from("node,cpu,m,n,duration\n");
    for i in 0..2000u32 {
        let (node, socket) = (1 + i % 4 / 2, i % 2);
        let (m, n) = (10 + i / 20 * 37 % 401, 20 + i / 20 * 53 % 307);
        let slow = if node == 2 { 1.0 + slower } else { 1.0 };
        let noise = 1.0 + 0.002 * f64::from((i * 7919 + node * 31) % 17);
        text += &format!("{node},{socket},{m},{n},{:e}\n", slow * noise * (2e-6 + 4e-9 * f64::from(m * n)));
    }
    text
}

/// A model file of such calls, with their table beside it.
fn fitted(folder: &Folder, name: &str, slower: f64, more: &[&str]) -> String {
    let csv = folder.write(&format!("{name}.csv"), &calls(slower));
    let out = folder.path(&format!("{name}.toml"));
    let common = ["fit", "kernel", &csv, "--kernel", "dlacpy", "--terms", "1,M*N", "--argument", "M=m", "-o", &out];
    prints(&[&common, more].concat());
    out
}

#[test]
fn a_fit_is_drawn_with_its_calls() {
    let folder = Folder::new("model-show");
    let (file, svg) = (fitted(&folder, "spring", 0.0, &[]), folder.path("fit.svg"));
    let show = |more: &[&str]| prints(&[&["model", "show", &file, "--svg", &svg], more].concat());
    let text = show(&[]);
    for part in ["made by hpcast", "spring.csv, 2,000 rows", "R squared", "calls that take", "written: "] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let picture = folder.read("fit.svg");
    for part in ["dlacpy: spring", ">M*N<", "measured / modelled - 1 (%)", "95 % of calls", "R squared"] {
        assert!(picture.contains(part), "{part} is missing");
    }
    assert!(!picture.contains("NaN") && !picture.contains("differs"));
    // Only one processor, and then a table that has changed.
    let one = show(&["--processor", "2.1"]);
    assert!(one.contains("500 calls of"), "{one}");
    folder.write("spring.csv", &calls(0.1));
    let changed = show(&[]);
    assert!(changed.contains("its SHA-256 differs") && changed.contains("2,000 calls of"), "{changed}");
    assert!(folder.read("fit.svg").contains("SHA-256 differs"));
    fs::rename(folder.path("spring.csv"), folder.path("moved.csv")).unwrap();
    let missing = show(&[]);
    assert!(missing.contains("spring.csv is not here: name it with --data"), "{missing}");
    assert!(!folder.read("fit.svg").contains("measured calls"), "the model alone");
    let named = show(&["--data", &folder.path("moved.csv")]);
    assert!(named.contains("mean error"), "{named}");
    let other = folder.write("other.csv", "rows,n,t\n10,20,3e-6\n50,60,1.4e-5\n");
    let columns = ["--argument", "M=rows", "--seconds", "t", "--alike", "--data", &other];
    assert!(show(&columns).contains("2 calls of 2 sizes"));
}

#[test]
fn models_are_compared() {
    let folder = Folder::new("model-compare");
    let (spring, autumn) = (fitted(&folder, "spring", 0.0, &[]), fitted(&folder, "autumn", 0.12, &["--noise", "none"]));
    let (svg, json) = (folder.path("compared.svg"), folder.path("compared.json"));
    let text = prints(&["model", "compare", &spring, &autumn, "--svg", &svg, "--json", &json]);
    assert!(text.contains("M*N") && text.contains("more than chance") && text.contains("12.0 %"), "{text}");
    let value: serde_json::Value = serde_json::from_str(&folder.read("compared.json")).unwrap();
    let dlacpy = &value["kernels"]["dlacpy"];
    let processors = dlacpy["processors"].as_array().unwrap();
    let ratio = |place: usize| processors[place]["ratio"].as_f64().unwrap();
    assert_eq!((processors.len(), processors[3]["node"].as_u64()), (4, Some(2)));
    assert!((ratio(0) - 1.0).abs() < 1e-3 && (ratio(3) - 1.12).abs() < 1e-3, "{processors:?}");
    assert!(processors[3]["p"].as_f64().unwrap() < 1e-6 && processors[0]["p"].as_f64().unwrap() > 1e-3);
    assert_eq!(dlacpy["ranges"]["M"], serde_json::json!([10.0, 410.0]));
    assert!(folder.read("compared.svg").contains("node 2, socket 1: +12.0 %"));
    // The same file: nothing has changed.
    let same = prints(&["model", "compare", &spring, &spring]);
    assert!(same.contains("1.0000 on the geometric mean") && same.contains("may be chance"), "{same}");
    let printed = prints(&["model", "compare", &spring, &autumn, "--json", "-"]);
    assert_eq!(printed, folder.read("compared.json"));
    // A hundred sizes and two terms on each processor, in both files.
    let freedom = processors[0]["degrees_of_freedom"].as_f64().unwrap();
    assert!((98.0..=196.0).contains(&freedom) && !text.contains("as if errors were known"), "{freedom}");
    let unknown: String =
        folder.read("spring.toml").lines().map(|line| line.replace("freedom = 98", "") + "\n").collect();
    let unknown = folder.write("unknown.toml", &unknown.replace(",  }", " }"));
    let text = prints(&["model", "compare", &unknown, &autumn]);
    assert!(text.contains("as if errors were known exactly: a file does not say its degrees of freedom"), "{text}");
    let free = folder.write(
        "free.toml",
        "name = \"free\"\n[kernel.dlacpy]\nterms = []\nseconds = []\n[kernel.b]\nterms = []\nseconds = []\n",
    );
    let none = prints(&["model", "compare", &spring, &free]);
    assert!(none.contains("expects no time") && none.contains("only in B: b"), "{none}");
}

#[test]
fn figures_of_rooflines_are_compared() {
    let folder = Folder::new("model-compare-rooflines");
    let roofline = |name: &str, figures: &str| {
        folder.write(name, &format!("name = \"gpu\"\n[kernel.dgemm]\nroofline = {{ {figures} }}\n"))
    };
    let spring = roofline("spring.toml", "rate = 4e13, overhead = 2e-5");
    let autumn = roofline("autumn.toml", "rate = 3e13, overhead = 3e-5, bandwidth = 2e12");
    let text = prints(&["model", "compare", &spring, &autumn]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    for line in [
        ["rate", "4.0000e13", "3.0000e13", "0.7500"],
        ["overhead", "2.0000e-5", "3.0000e-5", "1.5000"],
        ["bandwidth", "-", "2.0000e12", "-"],
        ["roofs", "longest", "longest", "-"],
    ] {
        assert!(lines.iter().any(|found| found[..] == line), "{line:?} is missing in\n{text}");
    }
    assert!(!text.contains("chance"), "nobody knows how sure the figures of a roofline are");
    let json = prints(&["model", "compare", &spring, &autumn, "--json", "-"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let after = &value["kernels"]["dgemm"]["after"];
    assert_eq!(
        (after["roofs"].as_str(), after["pieces"][0]["roofline"]["rate"].as_f64()),
        (Some("longest"), Some(3e13))
    );
    // Beside a polynomial both are listed.
    let terms = folder.write("terms.toml", "name = \"cpu\"\n[kernel.dgemm]\nterms = [\"M*N*K\"]\nseconds = [1e-11]\n");
    let text = prints(&["model", "compare", &terms, &spring]);
    assert!(text.contains("M*N*K") && text.contains("rate"), "{text}");
}

#[test]
fn what_cannot_be_shown_or_compared_is_refused() {
    let folder = Folder::new("model-bad");
    let file = fitted(&folder, "spring", 0.0, &[]);
    let svg = folder.path("fit.svg");
    let show =
        |more: &[&str], words: &[&str]| refuses(&[&["model", "show", &file, "--svg", &svg], more].concat(), words);
    show(&["--kernel", "dgemm"], &["no kernel `dgemm`", "dlacpy"]);
    show(&["--processor", "2"], &["--processor 2", "13.1"]);
    show(&["--processor", "7.0"], &["does not list it", "1.0 to 2.1"]);
    show(&["--data", "nowhere.csv"], &["nowhere.csv"]);
    show(&["--seconds", "time"], &["no column `time`", "spring.csv", "help"]);
    show(&["--only", "node=9"], &["no such rows"]);
    refuses(&["model", "show", &file, "--svg", &folder.path("no/folder/fit.svg")], &["folder"]);
    for (text, words) in [("x", "is no number"), ("NaN", "is not finite"), ("-1e-6", "is negative")] {
        let wrong = folder.write("wrong.csv", &format!("m,n,duration\n1,2,3e-6\n1,2,{text}\n"));
        show(&["--data", &wrong, "--alike"], &["wrong.csv:3", words, "help"]);
    }
    let text = folder.read("spring.toml");
    for (from, to, words) in [
        ("\"M*N\"]", "\"M*2\"]", &["`M*2` is no product of arguments", "wrong.toml:"][..]),
        ("\"M*N\"]", "\"M*N\", \"N\"]", &["coefficients for 3 terms", "wrong.toml:"]),
        ("seconds = [1e-6, 1e-5]", "seconds = [1e-6]", &["this is no range", "wrong.toml:"]),
        ("processor = [\"node\", ", "processor = [", &["not two columns", "wrong.toml:"]),
        ("r-squared", "r-square", &["r-square", "wrong.toml:"]),
        ("freedom = 98", "freedom = 0", &["without degrees of freedom", "wrong.toml:"]),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let wrong = folder.write("wrong.toml", &text.replacen(from, to, 1));
        refuses(&["model", "show", &wrong], &[words, &["help"]].concat());
        refuses(&["model", "compare", &file, &wrong], words);
    }
    let two = folder.path("two.toml");
    let csv = folder.path("spring.csv");
    prints(&["fit", "kernel", &csv, "--kernel", "b", "--terms", "N", "--add-to", &file, "-o", &two]);
    refuses(&["model", "show", &two, "--svg", &svg], &["--kernel", "b, dlacpy"]);
    refuses(&["model", "compare", &two, &two, "--svg", &svg], &["--kernel", "b, dlacpy"]);
    refuses(&["model", "compare", &two, &file, "--kernel", "b"], &["no kernel `b`", "spring.toml"]);
    let apart = folder.write("apart.toml", &text.replace("M = [10.0, 410.0]", "M = [1000.0, 2000.0]"));
    refuses(&["model", "compare", &file, &apart], &["M was measured from 10 to 410", "1000 to 2000"]);
    assert!(!Path::new(&svg).exists(), "nothing is half-written");
}

/// The table may also be where the user is.
#[test]
fn the_table_is_found_in_the_working_directory() {
    let folder = Folder::new("model-here");
    let file = fitted(&folder, "spring", 0.0, &[]);
    let elsewhere = Folder::new("model-elsewhere");
    fs::rename(folder.path("spring.csv"), elsewhere.path("spring.csv")).unwrap();
    let output =
        command(&["model", "show", &file, "--svg", "fit.svg"]).current_dir(elsewhere.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(elsewhere.read("fit.svg").contains("measured calls"));
}
