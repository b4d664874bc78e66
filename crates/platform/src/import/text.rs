//! Graph files as importers write them.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::diagnostic::Source;

pub(super) fn push(text: &mut String, line: std::fmt::Arguments) {
    // Nothing is fallible about writing to a string.
    let _ = writeln!(text, "{line}");
}

/// The name of the file without its folder.
pub(super) fn base_name(source: &Source) -> &str {
    source.name.rsplit(['/', '\\']).next().unwrap_or(&source.name)
}

/// Names that a graph file can have, all different: what means something there becomes `_`.
pub(super) fn unique<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut result = Vec::new();
    for name in names {
        let special = |c: char| c.is_whitespace() || c.is_control() || "[]:#".contains(c);
        let mut clean = name.replace(special, "_");
        if clean.is_empty() || clean == "--" || clean == "->" {
            clean.insert(0, '_');
        }
        let mut candidate = clean.clone();
        for number in 2.. {
            if taken.insert(candidate.clone()) {
                break;
            }
            candidate = format!("{clean}_{number}");
        }
        result.push(candidate);
    }
    result
}
