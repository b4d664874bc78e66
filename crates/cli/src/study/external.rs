//! Runs that are commands of their own: real programs, and whatever else needs a process for itself.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hpcast_study::document::{Document, Fingerprint};
use hpcast_study::run::{Inputs, Outputs};
use serde_json::Value;
use tempfile::TempDir;

use super::figures;
use crate::failure::Failure;

/// Runs `hpcast` as users do, and reads its report.
pub(super) fn run(inputs: &Inputs, documents: &HashMap<Fingerprint, Document>) -> Result<Outputs, Failure> {
    let folder = folder_with(&[])?;
    let write = |fingerprint: &Fingerprint, name: &str| -> Result<PathBuf, Failure> {
        let document = documents.get(fingerprint);
        let document = document.ok_or_else(|| Failure::input("a file did not come with the run"))?;
        let files = document.files.iter().cloned().chain([(name.to_owned(), document.text.clone())]);
        fill(&folder, files)?;
        Ok(folder.path().join(name))
    };
    let report = folder.path().join("report.json");
    let program = std::env::current_exe().map_err(|error| Failure::input(format!("cannot find hpcast: {error}")))?;
    let mut command = Command::new(program);
    // Words of a real program come last, and are none of ours.
    let (command_word, rest) = inputs.words.split_at(1.min(inputs.words.len()));
    command.args(command_word).arg("-m").arg(write(&inputs.machine, "machine.toml")?);
    if let Some(models) = &inputs.models {
        command.arg("--models").arg(write(models, "models.toml")?);
    }
    command.args(["--seed", &inputs.seed.to_string(), "--json"]).arg(&report).args(rest);
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let output = output.map_err(|error| Failure::input(format!("cannot run hpcast: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Program(said.trim().trim_start_matches("error: ").to_owned()));
    }
    let text = std::fs::read_to_string(&report);
    let text = text.map_err(|error| Failure::Program(format!("the run wrote no report: {error}")))?;
    let mut report: Value =
        serde_json::from_str(&text).map_err(|error| Failure::Program(format!("the run wrote no report: {error}")))?;
    hpcast_report::json::remove_costs(&mut report);
    let figures = figures::of_json(&report);
    let warnings = report["warnings"].as_array().into_iter().flatten();
    let warnings = warnings.filter_map(|warning| Some(warning.as_str()?.to_owned())).collect();
    Ok(Outputs { figures, report: report.to_string(), warnings })
}

/// A folder with some files, until it is dropped.
pub(super) fn folder_with(files: &[(String, String)]) -> Result<TempDir, Failure> {
    let folder = TempDir::new().map_err(|error| Failure::input(format!("cannot make a temporary folder: {error}")))?;
    fill(&folder, files.iter().cloned())?;
    Ok(folder)
}

fn fill(folder: &TempDir, files: impl IntoIterator<Item = (String, String)>) -> Result<(), Failure> {
    for (name, text) in files {
        let path = folder.path().join(&name);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        made.map_err(|error| Failure::input(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(())
}
