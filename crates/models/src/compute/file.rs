//! Model files in TOML: which kernel takes how long.
//!
//! ```toml
//! name = "dahu, April 2019"
//! first-node = 1                    # what the rows below call the machine's first node
//! unlisted = "free"                 # kernels that are not listed take no time; or "roofline"
//!
//! [kernel.dgemm]
//! terms = ["1", "M*N*K"]
//! seconds = [5.2e-7, 6.7e-11]       # expectation: a sum over the terms
//! deviation = [6.2e-7, 5.6e-13]     # standard deviation of single calls, likewise
//! processors = [{ node = 1, socket = 0, seconds = [5.3e-7, 7.1e-11], deviation = [6.4e-7, 1.8e-12] }]
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use hpcast_platform::Diagnostics;
use hpcast_platform::diagnostic::Source;
use hpcast_platform::fields::{self, Reader, Section};

use super::kernel::{Kernel, Row};
use super::term::{Term, TermError};

/// What holds for kernels that a file does not list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// They are estimated from the machine's speed and memory bandwidth.
    #[default]
    Roofline,
    /// They take no time.
    Free,
}

const UNLISTED: [(&str, Unlisted); 2] = [("roofline", Unlisted::Roofline), ("free", Unlisted::Free)];

/// A model file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFile {
    /// What people call it.
    pub name: String,
    /// Where its figures come from.
    pub source: Option<String>,
    /// What the rows of kernels call the machine's first node.
    pub first_node: u32,
    /// What holds for kernels that are not listed.
    pub unlisted: Unlisted,
    /// By name.
    pub kernels: BTreeMap<String, Kernel>,
}

impl ModelFile {
    /// Reads a model file.
    pub fn load(path: &Path) -> Result<ModelFile, Diagnostics> {
        ModelFile::parse(&Source::read(path)?)
    }

    /// Reads the text of a model file.
    pub fn parse(source: &Arc<Source>) -> Result<ModelFile, Diagnostics> {
        let table = fields::parse(source)?;
        let mut reader = Reader::new(Arc::clone(source), "a model file", &table);
        let file = read(&mut reader, Section::root(table.get_ref()));
        if reader.diagnostics.has_errors() {
            reader.diagnostics.sort();
            return Err(reader.diagnostics);
        }
        Ok(file)
    }

    /// The text of the file; reading it gives back the same models.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        line(format!("name = {}", quoted(&self.name)));
        if let Some(source) = &self.source {
            line(format!("source = {}", quoted(source)));
        }
        line(format!("first-node = {}", self.first_node));
        let (word, _) = UNLISTED[usize::from(self.unlisted == Unlisted::Free)];
        line(format!("unlisted = \"{word}\""));
        for (name, kernel) in &self.kernels {
            line(format!("\n[kernel.{}]", key(name)));
            let terms: Vec<String> = kernel.terms().iter().map(|term| format!("\"{term}\"")).collect();
            line(format!("terms = [{}]", terms.join(", ")));
            if let [first, processors @ ..] = kernel.rows() {
                line(coefficients(first).join("\n"));
                if !processors.is_empty() {
                    line("processors = [".into());
                    for row in processors {
                        let (node, socket) = row.processor.unwrap_or_default();
                        line(format!("    {{ node = {node}, socket = {socket}, {} }},", coefficients(row).join(", ")));
                    }
                    line("]".into());
                }
            }
        }
        text
    }
}

fn coefficients(row: &Row) -> Vec<String> {
    let list = |key: &str, numbers: &[f64]| {
        let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:e}")).collect();
        format!("{key} = [{}]", numbers.join(", "))
    };
    let mut lists = vec![list("seconds", &row.seconds)];
    if !row.deviation.is_empty() {
        lists.push(list("deviation", &row.deviation));
    }
    lists
}

/// As a TOML key, which needs no quotes if it is a plain word.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

/// As a TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            _ => out.push(c),
        }
    }
    out + "\""
}

fn read(reader: &mut Reader, mut root: Section<'_>) -> ModelFile {
    let name = root.text(reader, "name").map(String::from);
    let name = root.needed(reader, "name", name, "name = \"my models\"");
    let source = root.text(reader, "source").map(String::from);
    let first_node = root.whole(reader, "first-node").unwrap_or(0);
    let unlisted = root.choice(reader, "unlisted", &UNLISTED).unwrap_or_default();
    let mut kernels = BTreeMap::new();
    let mut section = root.section(reader, "kernel");
    for (name, mut kernel) in section.tables(reader) {
        let read = read_kernel(reader, &mut kernel);
        kernel.finish(reader);
        kernels.extend(read.map(|kernel| (name.to_owned(), kernel)));
    }
    root.finish(reader);
    ModelFile { name, source, first_node, unlisted, kernels }
}

const TERMS: &str = "[\"1\", \"M*N*K\"]";

fn read_kernel(reader: &mut Reader, section: &mut Section<'_>) -> Option<Kernel> {
    let texts = section.texts(reader, "terms", TERMS);
    let texts = section.needed(reader, "terms", texts, &format!("terms = {TERMS}"));
    let mut terms: Vec<Term> = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        match text.parse() {
            Ok(term) => terms.push(term),
            Err(error) => {
                let error: TermError = error;
                reader.fail(&format!("{}[{i}]", section.key("terms")), error.to_string(), TermError::REMEDY);
            }
        }
    }
    let mut rows = vec![read_row(reader, section, texts.len(), None)?];
    for mut processor in section.sections(reader, "processors", "{ node = 0, socket = 0, ... }").unwrap_or_default() {
        let node = processor.whole(reader, "node");
        let node = processor.needed(reader, "node", node, "node = 0");
        let socket = processor.whole(reader, "socket").unwrap_or(0);
        let row = read_row(reader, &mut processor, texts.len(), Some((node, socket)));
        processor.finish(reader);
        rows.extend(row);
    }
    (terms.len() == texts.len()).then(|| Kernel::new(terms, rows))
}

fn read_row(
    reader: &mut Reader,
    section: &mut Section<'_>,
    terms: usize,
    processor: Option<(u32, u32)>,
) -> Option<Row> {
    let seconds = section.numbers(reader, "seconds", "[1e-6, 5e-11]");
    let seconds = section.needed(reader, "seconds", seconds, "seconds = [1e-6, 5e-11]");
    let deviation = section.numbers(reader, "deviation", "[1e-7, 1e-12]").unwrap_or_default();
    for (key, numbers, may_lack) in [("seconds", &seconds, false), ("deviation", &deviation, true)] {
        if numbers.len() != terms && !(may_lack && numbers.is_empty()) {
            let message = format!("{} coefficients for {terms} terms", numbers.len());
            reader.fail(&section.key(key), message, "write one number for each of the terms");
            return None;
        }
    }
    Some(Row { processor, seconds, deviation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::Arguments;

    const TEXT: &str = r#"
name = "test \"models\""
source = "nowhere"
first-node = 1
unlisted = "free"
[kernel.dgemm]
terms = ["1", "M*N*K"]
seconds = [1e-6, 5e-11]
deviation = [0, 1e-12]
processors = [{ node = 1, socket = 1, seconds = [2e-6, 6e-11] }]
[kernel.dswap]
terms = []
seconds = []
"#;

    fn parse(text: &str) -> Result<ModelFile, Diagnostics> {
        ModelFile::parse(&Source::new("models.toml", text))
    }

    #[test]
    fn what_is_written_is_read_back() {
        let file = parse(TEXT).unwrap();
        assert_eq!((file.first_node, file.unlisted, file.kernels.len()), (1, Unlisted::Free, 2));
        assert_eq!(file.kernels["dgemm"].expectation(1, &Arguments::mnk(10, 10, 10)), 2e-6 + 6e-8);
        assert!(file.kernels["dgemm"].is_noisy());
        assert_eq!(file.kernels["dswap"], Kernel::free());
        assert_eq!(parse(&file.to_toml()).unwrap(), file);
        let mut odd = ModelFile { name: "odd".into(), ..ModelFile::default() };
        odd.kernels.extend(["", "a.b", "\"", "µ"].map(|name| (name.to_owned(), Kernel::free())));
        assert_eq!(parse(&odd.to_toml()).unwrap(), odd);
    }

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        for (from, to, place, message) in [
            ("\"M*N*K\"", "\"M*N*X\"", "7:15", "`M*N*X` is no product of arguments"),
            ("5e-11]\ndev", "5e-11, 3]\ndev", "8:11", "3 coefficients for 2 terms"),
            ("5e-11]\ndev", "\"x\"]\ndev", "8:18", "`seconds` must hold plain numbers, not a text"),
            ("node = 1, ", "nod = 1, ", "10:17", "unknown key `nod`"),
            ("node = 1, ", "", "10:15", "`kernel.dgemm.processors[0].node` is missing"),
            ("\"free\"", "\"fre\"", "5:12", "`fre` is no unlisted"),
            ("[kernel.dswap]\nterms = []\nseconds = []", "[kernel]\ndswap = 1", "12:9", "is a table"),
        ] {
            let text = TEXT.replacen(from, to, 1);
            assert_ne!(text, TEXT);
            let found = parse(&text).unwrap_err().to_string();
            assert!(found.contains(&format!("models.toml:{place}")), "{place}: {found}");
            assert!(found.contains(message) && found.contains("help"), "{message}: {found}");
        }
    }
}
