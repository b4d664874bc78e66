//! Runs that are commands of their own: real programs, and whatever else needs a process for itself.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hpcast_study::document::{Document, Fingerprint};
use hpcast_study::run::{Inputs, Outputs};
use serde_json::Value;
use tempfile::TempDir;

use super::{figures, pool};
use crate::failure::Failure;

/// The report of a run, in its folder.
const REPORT: &str = "report.json";

/// Runs `hpcast` as users do, and reads its report.
pub(super) fn run(inputs: &Inputs, documents: &HashMap<Fingerprint, Document>) -> Result<Outputs, Failure> {
    let absent = || Failure::input("a file did not come with the run");
    let prepared = Prepared::new(inputs, |fingerprint| documents.get(fingerprint).cloned().ok_or_else(absent))?;
    let output = prepared.command(&[]).stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let output = output.map_err(|error| Failure::input(format!("cannot run hpcast: {error}")))?;
    if !output.status.success() {
        return Err(refusal(&output.stderr));
    }
    let report = prepared.report()?;
    let figures = figures::of_json(&report);
    let warnings = report["warnings"].as_array().into_iter().flatten();
    let warnings = warnings.filter_map(|warning| Some(warning.as_str()?.to_owned())).collect();
    Ok(Outputs { figures, report: report.to_string(), warnings })
}

/// What hpcast has said when it could not run something.
pub(crate) fn refusal(stderr: &[u8]) -> Failure {
    let said = String::from_utf8_lossy(stderr);
    Failure::Program(said.trim().trim_start_matches("error: ").to_owned())
}

/// A folder with all that a command of its own needs, and what it writes.
pub(crate) struct Prepared {
    folder: TempDir,
    program: PathBuf,
    words: Vec<String>,
    /// The options that name files and the seed.
    options: Vec<OsString>,
}

impl Prepared {
    /// Writes the files of a run.
    pub fn new(
        inputs: &Inputs,
        mut document: impl FnMut(&Fingerprint) -> Result<Document, Failure>,
    ) -> Result<Prepared, Failure> {
        let folder = folder_with(&[])?;
        let mut write = |fingerprint: &Fingerprint, name: &str| -> Result<PathBuf, Failure> {
            let Document { text, files, .. } = document(fingerprint)?;
            fill(&folder, files.into_iter().chain([(name.to_owned(), text)]))?;
            Ok(folder.path().join(name))
        };
        let mut options: Vec<OsString> = vec!["-m".into(), write(&inputs.machine, "machine.toml")?.into()];
        if let Some(models) = &inputs.models {
            options.extend(["--models".into(), write(models, "models.toml")?.into()]);
        }
        let report = folder.path().join(REPORT);
        options.extend(["--seed".into(), inputs.seed.to_string().into(), "--json".into(), report.into()]);
        Ok(Prepared { folder, program: pool::program()?, words: inputs.words.clone(), options })
    }

    /// The command, with more options. It reads nothing from the terminal.
    pub fn command(&self, more: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        // Words of a real program come last, and are none of ours.
        let (command_word, rest) = self.words.split_at(1.min(self.words.len()));
        command.args(command_word).args(&self.options).args(more).args(rest).stdin(Stdio::null());
        command
    }

    /// Where a file in the folder is, or would be.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the command has reported, but for what it has cost.
    pub fn report(&self) -> Result<Value, Failure> {
        let wrong = |error: String| Failure::Program(format!("the run wrote no report: {error}"));
        let text = std::fs::read_to_string(self.path(REPORT)).map_err(|error| wrong(error.to_string()))?;
        let mut report: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        hpcast_report::json::remove_costs(&mut report);
        Ok(report)
    }
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
