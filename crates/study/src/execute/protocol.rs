//! What is said to a worker, and what it answers: a line of JSON each.

use std::collections::VecDeque;

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

/// The documents that a worker remembers: both sides know which, without asking.
#[derive(Debug, Default)]
pub struct Remembered(VecDeque<Fingerprint>);

/// So many are remembered; a study of a million machines would otherwise fill the memory.
const MOST: usize = 32;

impl Remembered {
    /// Whether it is remembered.
    pub fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.0.contains(fingerprint)
    }

    /// One more; the one that is forgotten for it comes back.
    pub fn add(&mut self, fingerprint: Fingerprint) -> Option<Fingerprint> {
        self.0.push_back(fingerprint);
        if self.0.len() > MOST { self.0.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten() {
        let name = |number: usize| Fingerprint(number.to_string());
        let mut remembered = Remembered::default();
        for number in 0..MOST {
            assert_eq!(remembered.add(name(number)), None);
        }
        assert_eq!(remembered.add(name(MOST)), Some(name(0)));
        assert!(remembered.contains(&name(1)) && !remembered.contains(&name(0)));
    }
}
