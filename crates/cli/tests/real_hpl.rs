//! The real HPL on a simulated machine: `hpcast hpl --real`.

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use common::{Folder, command, machine, root};
use serde_json::Value;

/// The sources of HPL, where they are: `HPL_SOURCE` names them, and make targets fetch them.
fn sources() -> Option<PathBuf> {
    let fetched = ["fidelity", "peers-hpl"].map(|folder| root().join("target").join(folder).join("hpl"));
    let places = std::env::var_os("HPL_SOURCE").map(PathBuf::from).into_iter().chain(fetched);
    let found = places.into_iter().find(|folder| folder.join("include/hpl.h").is_file());
    if found.is_none() {
        println!("left out: there are no sources of HPL; name their folder in HPL_SOURCE");
    }
    found
}

/// With a folder of the test's own for what is built.
fn hpl(home: &Folder, path: Option<&str>, options: &[&str]) -> Output {
    let machine = machine("dahu.toml");
    let mut arguments = vec!["hpl", "-m", &machine, "--exact", "--real"];
    arguments.extend(options);
    let mut command = command(&arguments);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.env("HPCAST_HOME", home.path("home")).output().expect("hpcast runs")
}

fn refused(output: &Output) -> String {
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}");
    words
}

#[test]
fn it_takes_as_long_as_the_skeleton() {
    let Some(source) = sources() else { return };
    let (home, source) = (Folder::new("real-hpl"), source.display().to_string());
    let models = root().join("fidelity/models.toml").display().to_string();
    let same = ["--models", &models, "--hpl-source", &source, "--json", "-"];
    let cases = [
        "--n 300 --nb 32 --grid 4x3 --depth 1 --bcast 2ringM --swap long",
        "--n 260 --nb 24 --grid 3x2 --depth 0 --bcast long --swap binary-exchange --l1 plain --u plain",
        "--n 260 --nb 24 --grid 3x2 --depth 2 --bcast 1ring --swap mix --equal-pivots",
        "--n 2000 --nb 64 --grid 2x2 --copy-panels",
    ];
    for case in cases {
        let options: Vec<&str> = case.split_whitespace().chain(same).collect();
        let output = hpl(&home, None, &options);
        assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let real = &report["real"][0];
        let difference = real["difference"].as_f64().expect("a difference");
        assert!(difference.abs() < 1e-6, "{case}: {real}");
    }
}

#[test]
fn what_is_missing_is_said() {
    let home = Folder::new("real-hpl-missing");
    let small = ["--n", "100", "--grid", "1x1"];
    let words = refused(&hpl(&home, None, &[&small[..], &["--hpl-source", "nowhere"]].concat()));
    assert!(words.contains("there is no include/hpl.h") && words.contains("such as hpl-2.3"), "{words}");
    let words = refused(&hpl(&home, Some("nowhere"), &small));
    assert!(words.contains("cannot fetch the sources of HPL") && words.contains("--hpl-source"), "{words}");
    // Nothing half-made is left.
    assert!(!PathBuf::from(home.path("home/hpl-source")).exists());
}

#[test]
fn sources_that_are_not_those_of_hpl_are_refused() {
    let home = Folder::new("real-hpl-wrong");
    let source = PathBuf::from(home.path("hpl"));
    fs::create_dir_all(source.join("include")).expect("a folder");
    fs::write(source.join("include/hpl.h"), "#error \"not HPL\"\n").expect("a file");
    let options = ["--n", "100", "--grid", "1x1", "--hpl-source", &source.display().to_string()];
    let words = refused(&hpl(&home, None, &options));
    assert!(words.contains("cannot read HPL's sources in"), "{words}");
    for part in ["auxil", "comm", "grid", "panel", "pauxil", "pfact", "pgesv"] {
        fs::create_dir_all(source.join("src").join(part)).expect("a folder");
    }
    let words = refused(&hpl(&home, None, &options));
    assert!(words.contains("cannot compile HPL") && words.contains("not HPL"), "{words}");
    let words = refused(&hpl(&home, Some("nowhere"), &options));
    assert!(words.contains("cannot start the compiler"), "{words}");
}
