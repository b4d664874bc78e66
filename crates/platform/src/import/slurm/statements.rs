//! Lines of Slurm's configuration files: `Key=Value Key="two words"`, comments, lines that go on.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Source};

/// One `Key=Value`, with the bytes of both in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub key: String,
    pub value: String,
    pub key_place: Range<usize>,
    pub value_place: Range<usize>,
}

/// A line, and those that it goes on to after a backslash, without comments.
#[derive(Default)]
struct Logical {
    text: String,
    /// Where pieces begin: in the text, and in the file.
    pieces: Vec<(usize, usize)>,
}

impl Logical {
    /// Where in the file a byte of the text is.
    fn place(&self, at: usize) -> usize {
        let (start, byte) = self.pieces.iter().rev().find(|(start, _)| *start <= at).copied().unwrap_or((0, 0));
        byte + (at - start)
    }

    fn range(&self, bytes: Range<usize>) -> Range<usize> {
        let last = self.place(bytes.end.saturating_sub(1).max(bytes.start));
        self.place(bytes.start)..last + usize::from(bytes.end > bytes.start)
    }
}

/// All lines that say something.
pub(super) fn statements(source: &Arc<Source>) -> Result<Vec<Vec<Pair>>, Diagnostic> {
    let mut statements = Vec::new();
    let mut logical = Logical::default();
    let mut byte = 0;
    for line in source.text.split_inclusive('\n') {
        let code = line[..comment(line)].trim_end();
        let continues = code.ends_with('\\');
        logical.pieces.push((logical.text.len(), byte));
        logical.text.push_str(code.strip_suffix('\\').unwrap_or(code));
        byte += line.len();
        if !continues {
            let line = std::mem::take(&mut logical);
            statements.push(pairs(&line, source)?);
        }
    }
    if !logical.text.is_empty() {
        statements.push(pairs(&logical, source)?);
    }
    statements.retain(|pairs| !pairs.is_empty());
    Ok(statements)
}

/// Where a comment begins: at a `#` without a backslash before it.
fn comment(line: &str) -> usize {
    let mut hashes = line.match_indices('#').map(|(at, _)| at);
    hashes.find(|&at| !line[..at].ends_with('\\')).unwrap_or(line.len())
}

fn pairs(line: &Logical, source: &Arc<Source>) -> Result<Vec<Pair>, Diagnostic> {
    let text = &line.text[..];
    let wrong = |bytes: Range<usize>| {
        let remedy = "a line is `Key=Value` and more of them, such as `SwitchName=s0 Nodes=node[0-15]`";
        Diagnostic::error("this is not `Key=Value`", remedy).at(source, line.range(bytes))
    };
    let skip = |at: usize| at + (text[at..].len() - text[at..].trim_start().len());
    let mut pairs = Vec::new();
    let mut at = skip(0);
    while at < text.len() {
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let key = at..text[at..].find(|c| !is_key(c)).map_or(text.len(), |length| at + length);
        let word = at..text[at..].find(char::is_whitespace).map_or(text.len(), |length| at + length);
        let equals = skip(key.end);
        if key.is_empty() || !text[equals..].starts_with('=') {
            return Err(wrong(word));
        }
        let start = skip(equals + 1);
        let (value, end) = match text[start..].strip_prefix('"') {
            Some(quoted) => {
                let length = quoted.find('"').ok_or_else(|| wrong(start..text.len()))?;
                (start + 1..start + 1 + length, start + 2 + length)
            }
            None => {
                let end = text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length);
                (start..end, end)
            }
        };
        if value.is_empty() || text[end..].starts_with(|c: char| !c.is_whitespace()) {
            return Err(wrong(at..end.max(at + 1)));
        }
        let (key_place, value_place) = (line.range(key.clone()), line.range(value.clone()));
        pairs.push(Pair { key: text[key].into(), value: text[value].into(), key_place, value_place });
        at = skip(end);
    }
    Ok(pairs)
}
