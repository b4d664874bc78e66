//! The sources of HPL: a folder of the user's, or fetched from Debian's source package hpcc.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compile::{Trouble, make_in_home};
use crate::failure::Failure;

/// What the scripts of the project use, too.
const FETCH: &str = include_str!("../../../../../scripts/hpl_source.sh");
/// A file that every version of HPL has.
const HEADER: &str = "include/hpl.h";

/// The folder with `include` and `src`.
pub fn folder(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(given) = given else { return fetched() };
    let wrong = |what: &str| {
        Failure::input(format!(
            "--hpl-source {}: {what}\n  name the folder of HPL that holds include/hpl.h and src, such as hpl-2.3",
            given.display()
        ))
    };
    if !given.join(HEADER).is_file() {
        return Err(wrong("there is no include/hpl.h"));
    }
    std::path::absolute(given).map_err(|error| wrong(&error.to_string()))
}

fn fetched() -> Result<PathBuf, Failure> {
    let folder = make_in_home("hpl-source", |folder| {
        eprintln!("fetching the sources of HPL from Debian's source package hpcc");
        let mut command = Command::new("bash");
        let script = format!("set -euo pipefail\n{FETCH}\nunset HPL_SOURCE\nhpl_source \"$PWD\" >/dev/null\n");
        let output = command.args(["-c", &script]).current_dir(folder).output();
        let output = output.map_err(|error| Trouble::Other(cannot_fetch(&started(&error))))?;
        match output.status.success() && folder.join("hpl").join(HEADER).is_file() {
            true => Ok(()),
            false => Err(Trouble::Other(cannot_fetch(String::from_utf8_lossy(&output.stderr).trim_end()))),
        }
    })?;
    Ok(folder.join("hpl"))
}

fn started(error: &std::io::Error) -> String {
    if error.kind() == ErrorKind::NotFound { "there is no bash here".into() } else { error.to_string() }
}

fn cannot_fetch(why: &str) -> Failure {
    let why: String = why.lines().map(|line| format!("  {line}\n")).collect();
    Failure::input(format!(
        "cannot fetch the sources of HPL, which needs Debian's apt-get and its network:\n{why}  \
         name a folder that holds them with --hpl-source"
    ))
}
