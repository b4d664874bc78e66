//! What a comparison of two runs found, for people and for programs.

use hpcast_report::json;
use hpcast_units::count;
use serde_json::{Value, json};

/// So many lines of each difference are shown.
const LINES: usize = 20;
/// So many lines of what a failed run has said.
const MESSAGES: usize = 10;

/// What was compared and what differs; of pairs the native run comes first.
#[derive(Default)]
pub(super) struct Outcome {
    pub commands: [String; 2],
    pub codes: [i32; 2],
    /// Lines of the native run that were compared.
    pub lines: usize,
    /// Of these, those that differ in times only.
    pub times: usize,
    /// Files that were written.
    pub files: usize,
    pub differences: Vec<Difference>,
    /// What was written to standard error, if the exit codes differ.
    pub messages: [String; 2],
}

/// Something that differs.
pub(super) enum Difference {
    /// Lines that only one of the runs has written, with their numbers.
    Lines { title: String, native: Vec<(usize, String)>, simulated: Vec<(usize, String)> },
    /// A file that only the native run has written.
    OnlyNative(String),
    /// A file that only the simulated run has written.
    OnlySimulated(String),
    /// A file that is no text.
    Bytes { title: String, lengths: [usize; 2], first: usize },
}

impl Difference {
    /// Two contents of a file.
    pub fn bytes(title: String, native: &[u8], simulated: &[u8]) -> Difference {
        let first = native.iter().zip(simulated).take_while(|(a, b)| a == b).count();
        Difference::Bytes { title, lengths: [native.len(), simulated.len()], first }
    }

    fn text(&self) -> String {
        match self {
            Difference::OnlyNative(name) => format!("only the native run has written {name}\n"),
            Difference::OnlySimulated(name) => format!("only the simulated run has written {name}\n"),
            Difference::Bytes { title, lengths: [native, simulated], first } => format!(
                "{title} differs from byte {} on ({} and {} bytes)\n",
                count(*first as u64),
                count(*native as u64),
                count(*simulated as u64)
            ),
            Difference::Lines { title, native, simulated } => {
                let mut all: Vec<(usize, char, &str)> =
                    native.iter().map(|(number, text)| (*number, '-', text.as_str())).collect();
                all.extend(simulated.iter().map(|(number, text)| (*number, '+', text.as_str())));
                // Lines that stand at the same place are shown together, the native one first.
                all.sort_by_key(|(number, sign, _)| (*number, *sign != '-'));
                let mut text = String::new();
                for together in all[..all.len().min(LINES)].chunk_by(|a, b| b.0 <= a.0 + 1) {
                    text += &format!("@@ {title}, line {} @@\n", together[0].0);
                    text.extend(together.iter().map(|(_, sign, line)| format!("{sign}{line}\n")));
                }
                if all.len() > LINES {
                    text += &format!("and {} more lines of {title}\n", count((all.len() - LINES) as u64));
                }
                text
            }
        }
    }

    fn value(&self) -> Value {
        let lines = |lines: &[(usize, String)]| -> Vec<Value> {
            lines.iter().map(|(number, text)| json!({ "line": number, "text": text })).collect()
        };
        match self {
            Difference::OnlyNative(name) => json!({ "what": name, "only": "native" }),
            Difference::OnlySimulated(name) => json!({ "what": name, "only": "simulated" }),
            Difference::Bytes { title, first, .. } => json!({ "what": title, "first_differing_byte": first }),
            Difference::Lines { title, native, simulated } => {
                json!({ "what": title, "native": lines(native), "simulated": lines(simulated) })
            }
        }
    }
}

impl Outcome {
    pub fn is_same(&self) -> bool {
        self.codes[0] == self.codes[1] && self.differences.is_empty()
    }

    pub fn text(&self) -> String {
        let [native, simulated] = &self.commands;
        let mut text = String::new();
        if !self.is_same() {
            text += &format!("--- native ({native})\n+++ simulated ({simulated})\n");
        }
        if self.codes[0] != self.codes[1] {
            text += &format!("@@ exit code @@\n-{}\n+{}\n", self.codes[0], self.codes[1]);
            for (who, messages) in ["native", "simulated"].iter().zip(&self.messages) {
                let last: Vec<&str> = messages.lines().filter(|line| !line.is_empty()).collect();
                let last = &last[last.len().saturating_sub(MESSAGES)..];
                text.extend(last.iter().map(|line| format!("  {who}: {line}\n")));
            }
        }
        text.extend(self.differences.iter().map(Difference::text));
        let verdict = if self.is_same() { "The runs do the same" } else { "The runs differ" };
        let times =
            if self.times > 0 { format!(", {} with other times", count(self.times as u64)) } else { String::new() };
        let files = if self.files > 0 { format!(", {} files", count(self.files as u64)) } else { String::new() };
        text + &format!("{verdict}: {} lines{times}{files}, exit code {}\n", count(self.lines as u64), self.codes[0])
    }

    pub fn json(&self) -> String {
        json::document(&json!({
            "same": self.is_same(),
            "native": { "command": self.commands[0], "exit_code": self.codes[0] },
            "simulated": { "command": self.commands[1], "exit_code": self.codes[1] },
            "lines": self.lines,
            "lines_with_other_times": self.times,
            "files": self.files,
            "differences": self.differences.iter().map(Difference::value).collect::<Vec<Value>>(),
        }))
    }
}
