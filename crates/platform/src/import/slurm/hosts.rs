//! Lists of hosts: `rack[0-1]node[01-16],login1`.

use crate::ranges::{RangeError, numbers};

/// Names that one list may stand for: more is a mistake.
const MOST: usize = 1_000_000;

/// Why a list cannot be written out: the piece that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadHosts {
    /// Where in the list it begins.
    pub at: usize,
    pub piece: String,
    pub too_many: bool,
}

/// The names of a list, in its order. Of several brackets in a name the last varies fastest.
pub(super) fn expand(list: &str) -> Result<Vec<String>, BadHosts> {
    let mut names = Vec::new();
    let mut at = 0;
    for piece in pieces(list) {
        let wrong = |too_many| BadHosts { at, piece: piece.into(), too_many };
        names.extend(names_of(piece, MOST - names.len()).map_err(|error| wrong(error == RangeError::TooMany))?);
        at += piece.len() + 1;
    }
    Ok(names)
}

/// Splits at commas that are in no bracket.
fn pieces(list: &str) -> Vec<&str> {
    let mut inside = false;
    list.split(move |c| {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        c == ',' && !inside
    })
    .collect()
}

fn names_of(piece: &str, most: usize) -> Result<Vec<String>, RangeError> {
    let mut names = vec![String::new()];
    let mut rest = piece;
    while let Some((plain, bracket)) = rest.split_once('[') {
        let (list, behind) = bracket.split_once(']').ok_or(RangeError::NotARange)?;
        let numbers = numbers(list, most)?;
        if plain.contains(']') {
            return Err(RangeError::NotARange);
        }
        if names.len().saturating_mul(numbers.len()) > most {
            return Err(RangeError::TooMany);
        }
        names = names.iter().flat_map(|name| numbers.iter().map(move |n| format!("{name}{plain}{n}"))).collect();
        rest = behind;
    }
    if rest.contains(']') || piece.is_empty() {
        return Err(RangeError::NotARange);
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    if names.len() > most { Err(RangeError::TooMany) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets() {
        assert_eq!(expand("a").unwrap(), ["a"]);
        assert_eq!(expand("host[1-3,07-09]").unwrap(), ["host1", "host2", "host3", "host07", "host08", "host09"]);
        assert_eq!(expand("r[0-1]n[08-09]x,login").unwrap(), ["r0n08x", "r0n09x", "r1n08x", "r1n09x", "login"]);
    }

    #[test]
    fn what_is_no_list() {
        let wrong = |text: &str| expand(text).unwrap_err();
        assert_eq!(wrong("a,b[2-1]"), BadHosts { at: 2, piece: "b[2-1]".into(), too_many: false });
        for text in ["", "a,,b", "a[", "a]", "a[1]]", "a[x]", "a[1-", "a]b[1]"] {
            assert!(!wrong(text).too_many, "{text}");
        }
        for text in ["a[0-4294967295]", "a[0-999]b[0-999]c[0-9]", "a[0-999999],b"] {
            assert!(wrong(text).too_many, "{text}");
        }
    }
}
