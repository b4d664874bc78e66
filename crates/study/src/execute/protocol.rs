//! What is said to a worker, and what it answers: a line of JSON each.

use serde::{Deserialize, Serialize};

use crate::document::{Document, Fingerprint};
use crate::run::{Ending, Inputs};

/// A line to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// A file that runs will need; it comes before the first that does.
    Document {
        /// By which runs call it.
        fingerprint: Fingerprint,
        /// The file.
        document: Document,
    },
    /// A run.
    Run {
        /// By which the answer calls it.
        number: usize,
        /// What it depends on.
        inputs: Inputs,
    },
}

/// A line from a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The run.
    pub number: usize,
    /// How it has ended.
    pub ending: Ending,
}

/// As a line.
pub fn line(said: &impl Serialize) -> String {
    // Serialising can fail only for maps whose keys are not text, and there are none.
    let mut line = serde_json::to_string(said).unwrap_or_default();
    line.push('\n');
    line
}
