//! A run: a command of hpcast, with everything that it depends on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::document::Fingerprint;

/// What a run depends on: equal inputs give equal results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// The words after `hpcast`, but for machine, models and seed.
    pub words: Vec<String>,
    /// The machine file.
    pub machine: Fingerprint,
    /// The model file.
    pub models: Option<Fingerprint>,
    /// Of all that is random.
    pub seed: u64,
    /// Other files that the words name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Fingerprint>,
    /// The hpcast that runs it: another one may come to other results.
    pub version: String,
}

impl Inputs {
    /// What tells it from other runs.
    pub fn key(&self) -> Fingerprint {
        // Serialising can fail only for maps whose keys are not text, and there are none.
        Fingerprint::of([serde_json::to_string(self).unwrap_or_default().as_str()])
    }

    /// The command as people would type it, with these names of files.
    pub fn command(&self, machine: &str, models: Option<&str>) -> String {
        let mut words = vec!["hpcast".to_owned()];
        words.extend(self.words.iter().map(|word| quoted(word)));
        words.extend(["-m".into(), quoted(machine)]);
        if let Some(models) = models {
            words.extend(["--models".into(), quoted(models)]);
        }
        words.extend(["--seed".into(), self.seed.to_string()]);
        words.join(" ")
    }
}

/// A word as shells read it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// What a run has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outputs {
    /// Figures by their name, such as `gflops` or `simulated_seconds`.
    pub figures: BTreeMap<String, f64>,
    /// The whole report as JSON, but for what the run has cost.
    pub report: String,
    /// What the reader should not miss.
    pub warnings: Vec<String>,
}

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Time on the clock on the wall.
    pub wall_seconds: f64,
    /// Time of processors.
    pub cpu_seconds: f64,
    /// The most memory at a time.
    pub memory_bytes: Option<u64>,
}

/// How a run has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// What it has found, or why it has found nothing.
    pub result: Result<Outputs, String>,
    /// What it has cost.
    pub cost: Cost,
    /// The computer that it ran on.
    pub host: String,
    /// When it ended, UTC, ISO 8601.
    pub finished: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> Inputs {
        Inputs {
            words: ["run", "halo2d", "--size", "1 MiB"].map(String::from).to_vec(),
            machine: Fingerprint("aa".into()),
            models: None,
            seed: 3,
            files: BTreeMap::new(),
            version: "0.1.0".into(),
        }
    }

    #[test]
    fn commands_can_be_typed() {
        let command = inputs().command("my machine.toml", Some("m.toml"));
        assert_eq!(command, "hpcast run halo2d --size '1 MiB' -m 'my machine.toml' --models m.toml --seed 3");
    }

    #[test]
    fn whatever_matters_changes_the_key() {
        let base = inputs();
        let others = [
            Inputs { seed: 4, ..base.clone() },
            Inputs { words: vec!["hpl".into()], ..base.clone() },
            Inputs { machine: Fingerprint("ab".into()), ..base.clone() },
            Inputs { models: Some(Fingerprint("aa".into())), ..base.clone() },
            Inputs { version: "0.2.0".into(), ..base.clone() },
            Inputs { files: [("x".to_owned(), Fingerprint("aa".into()))].into(), ..base.clone() },
        ];
        for other in others {
            assert_ne!(other.key(), base.key());
        }
        assert_eq!(inputs().key(), base.key());
    }
}
