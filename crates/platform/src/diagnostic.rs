//! Messages about input files: what is wrong, where (file, line, column, the line itself), and what to do about it.
//!
//! Every reader of the platform speaks through this module, so that all messages look alike:
//!
//! ```text
//! error: the bandwidth `12.5` has no unit
//!  --> machine.toml:12:13
//!    |
//! 12 | bandwidth = 12.5
//!    |             ^^^^
//!    |
//!    = help: write `bandwidth = "12.5 GB/s"`: a bare number has no unit
//! ```

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// A text that was read, and its name for people.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// File name as the user gave it.
    pub name: String,
    /// All of the text.
    pub text: String,
}

impl Source {
    /// Joins the parts.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }

    /// Reads a file; what goes wrong becomes a diagnostic with a remedy.
    pub fn read(path: &Path) -> Result<Arc<Source>, Diagnostic> {
        let name = path.display().to_string();
        let failed =
            |problem: String, remedy: &str| Diagnostic::error(format!("cannot read `{name}`: {problem}"), remedy);
        let bytes = std::fs::read(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                failed("there is no such file".into(), "check the name and the folder you are in")
            }
            std::io::ErrorKind::PermissionDenied => {
                failed("permission denied".into(), "make the file readable for you")
            }
            std::io::ErrorKind::IsADirectory => failed("it is a folder".into(), "name a file in it"),
            _ => failed(error.to_string(), "check the file"),
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Source::new(name, text)),
            Err(_) => Err(failed("it is not UTF-8 text".into(), "save it as UTF-8")),
        }
    }

    /// Line and column, from 1, of a byte of the text; a column is a character.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let before = &self.text[..self.boundary(byte)];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }

    /// The bytes of the word at a line and column, from 1, for readers that know no bytes.
    pub fn word(&self, line: usize, column: usize) -> Range<usize> {
        let mut start = 0;
        for (number, text) in self.text.split_inclusive('\n').enumerate() {
            if number + 1 == line {
                let text = text.trim_end();
                let from = text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(byte, _)| byte);
                let length = text[from..].find(char::is_whitespace).unwrap_or(text.len() - from);
                return start + from..start + from + length;
            }
            start += text.len();
        }
        self.text.len()..self.text.len()
    }

    /// The last place at or before `byte` where a character starts.
    fn boundary(&self, byte: usize) -> usize {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input is used, but something in it is not what it seems.
    Warning,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub remedy: String,
    /// Where it is: the source and the bytes in it.
    pub place: Option<(Arc<Source>, Range<usize>)>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, message: message.into(), remedy: remedy.into(), place: None }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message, remedy) }
    }

    /// An error whose text is `what is wrong: what to do`. Names in it, which may contain colons, stand between backquotes or
    /// in parentheses.
    pub fn from_error(error: &impl fmt::Display) -> Diagnostic {
        let text = error.to_string();
        match colon(&text) {
            Some(at) => Diagnostic::error(&text[..at], &text[at + 2..]),
            None => Diagnostic::error(text, ""),
        }
    }

    /// At these bytes of the source.
    pub fn at(mut self, source: &Arc<Source>, bytes: Range<usize>) -> Diagnostic {
        let start = source.boundary(bytes.start);
        let end = source.boundary(bytes.end).max(start);
        self.place = Some((Arc::clone(source), start..end));
        self
    }

    /// In this source, nowhere in particular.
    pub fn within(self, source: &Arc<Source>) -> Diagnostic {
        self.at(source, 0..0)
    }

    /// Line and column, from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.place.as_ref().map(|(source, bytes)| source.position(bytes.start))
    }

    /// The message in full, with colours for a terminal if wanted.
    pub fn render(&self, colour: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(one_line(&self.message));
        let mut group = Group::with_title(title);
        if let Some((source, bytes)) = &self.place {
            group = if bytes.is_empty() && bytes.start == 0 {
                group.element(Origin::path(&*source.name).line(1).char_column(1))
            } else {
                let mark = AnnotationKind::Primary.span(bytes.clone());
                group.element(Snippet::source(&*source.text).path(&*source.name).annotation(mark))
            };
        }
        if !self.remedy.is_empty() {
            group = group.element(Level::HELP.message(one_line(&self.remedy)));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

/// Input is quoted in messages; it must not break their layout.
fn one_line(text: &str) -> String {
    annotate_snippets::normalize_untrusted_str(&text.replace(['\n', '\r'], " "))
}

/// All that is to be said about some input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

/// Whoever has more errors than this starts with the first ones.
const SHOWN: usize = 20;

impl Diagnostics {
    /// Nothing to say yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// In the order of the text; those without a place come first.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|diagnostic| diagnostic.place.as_ref().map(|(_, bytes)| bytes.start));
    }

    /// All messages in full, with colours for a terminal if wanted.
    pub fn render(&self, colour: bool) -> String {
        let mut blocks: Vec<String> = self.0.iter().take(SHOWN).map(|diagnostic| diagnostic.render(colour)).collect();
        if self.0.len() > SHOWN {
            blocks.push(format!("and {} more", self.0.len() - SHOWN));
        }
        blocks.join("\n\n")
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

/// The candidate that differs least from a misspelt word, if it is close enough to have been meant.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(&word.to_lowercase().replace('_', "-"), candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1.max(candidate.len() / 3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and substitutions from one word to another (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

/// Where the first colon before a space is that stands neither between backquotes nor in parentheses.
fn colon(text: &str) -> Option<usize> {
    let (mut quoted, mut depth) = (false, 0u32);
    text.char_indices().find_map(|(at, character)| {
        match character {
            '`' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            ':' if !quoted && depth == 0 && text[at..].starts_with(": ") => return Some(at),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_file_line_column_text_and_remedy() {
        let source = Source::new("machine.toml", "[network]\nbandwidth = 12.5\n");
        let message = Diagnostic::error("no unit", "write `12.5 GB/s`").at(&source, 22..26);
        assert_eq!(message.position(), Some((2, 13)));
        let text = message.render(false);
        for part in ["error: no unit", "machine.toml:2:13", "bandwidth = 12.5", "^^^^", "help: write `12.5 GB/s`"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn places_never_split_characters() {
        let source = Source::new("f", "µµµ");
        assert_eq!(Diagnostic::error("x", "").at(&source, 1..3).place, Some((Arc::clone(&source), 0..2)));
        assert_eq!(Diagnostic::error("x", "").at(&source, 90..99).position(), Some((1, 4)));
        assert_eq!(source.word(7, 1), 6..6);
        let lines = Source::new("f", "a b\n  cd e\n");
        assert_eq!((lines.word(2, 3), lines.word(2, 9)), (6..8, 10..10));
    }

    #[test]
    fn a_missing_file_has_a_remedy() {
        let error = Source::read(Path::new("no/such/machine.toml")).unwrap_err();
        assert!(error.message.contains("there is no such file") && !error.remedy.is_empty());
    }

    #[test]
    fn many_messages_are_cut() {
        let mut all = Diagnostics::new();
        (0..SHOWN + 5).for_each(|_| all.push(Diagnostic::error("x", "")));
        assert!(all.to_string().ends_with("and 5 more"));
    }

    #[test]
    fn misspelt_words() {
        assert_eq!(nearest("bandwith", ["latency", "bandwidth"]), Some("bandwidth"));
        assert_eq!(nearest("cores_per_socket", ["cores-per-socket"]), Some("cores-per-socket"));
        assert_eq!(nearest("colour", ["latency", "bandwidth"]), None);
        assert_eq!((distance("", "abc"), distance("kitten", "sitting")), (3, 3));
    }

    #[test]
    fn colons_of_names_part_nothing() {
        let parts = |text: &str| {
            let Diagnostic { message, remedy, .. } = Diagnostic::from_error(&text);
            (message, remedy)
        };
        for (message, remedy) in [
            ("`plane 1: core 1` has failed twice", "write it once"),
            ("a network (2 planes without plane 1: core 1 (cable 1: x)) has no such routing", "write one: a or b"),
            ("a :b c:d", "e: f"),
            ("a smile :) helps", "smile: always"),
        ] {
            assert_eq!(parts(&format!("{message}: {remedy}")), (message.into(), remedy.into()));
        }
        assert_eq!(parts("nothing to do"), ("nothing to do".into(), String::new()));
    }
}
