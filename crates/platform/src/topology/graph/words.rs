//! Lines of a graph file as words, each with its place, and names with ranges in them.

use hpcast_units::{Bandwidth, Seconds};

use super::super::Link;
use super::error::{GraphError, GraphProblem};
use crate::ranges::{MAX_NAMES, RangeError, expand};

/// A word and its place.
#[derive(Clone, Copy, Debug)]
pub struct Word<'t> {
    pub text: &'t str,
    pub line: u32,
    pub column: u32,
}

impl Word<'_> {
    /// This is wrong here.
    pub fn error(&self, problem: impl Into<GraphProblem>) -> GraphError {
        GraphError { line: self.line, column: self.column, problem: problem.into() }
    }

    /// The names that the word stands for: `n[0-2]` is `n0`, `n1` and `n2`.
    pub fn names(&self) -> Result<Vec<String>, GraphError> {
        expand(self.text).map_err(|error| {
            self.error(match error {
                RangeError::NotARange => GraphProblem::Range(self.text.into()),
                RangeError::TooMany => GraphProblem::LongRange(self.text.into(), MAX_NAMES),
            })
        })
    }
}

/// What is left of a line.
#[derive(Clone, Debug)]
pub struct Words<'t> {
    rest: Vec<Word<'t>>,
    /// Where the line ends.
    end: Word<'t>,
}

impl<'t> Words<'t> {
    /// Splits a line at spaces, without its comment. A colon at the end of a word is a word of its own.
    pub fn of(line: u32, text: &'t str) -> Words<'t> {
        let code = match text
            .char_indices()
            .find(|&(at, c)| c == '#' && !text[..at].ends_with(|c: char| !c.is_whitespace()))
        {
            Some((at, _)) => &text[..at],
            None => text,
        };
        let column = |at: usize| text[..at].chars().count() as u32 + 1;
        let mut rest = Vec::new();
        for word in code.split_whitespace() {
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            match word.strip_suffix(':') {
                Some(stem) if !stem.is_empty() => {
                    rest.push(Word { text: stem, line, column: column(at) });
                    rest.push(Word { text: ":", line, column: column(at + stem.len()) });
                }
                _ => rest.push(Word { text: word, line, column: column(at) }),
            }
        }
        rest.reverse();
        Words { rest, end: Word { text: "", line, column: column(code.trim_end().len()) } }
    }

    /// The next word, which stays.
    pub fn peek(&self) -> Option<Word<'t>> {
        self.rest.last().copied()
    }

    /// The word after the next one, which stays.
    pub fn peek_second(&self) -> Option<Word<'t>> {
        self.rest.len().checked_sub(2).map(|at| self.rest[at])
    }

    /// The next word, if there is one.
    pub fn next(&mut self) -> Option<Word<'t>> {
        self.rest.pop()
    }

    /// The next word, or an error that says what is missing.
    pub fn expect(&mut self, missing: &'static str, example: &'static str) -> Result<Word<'t>, GraphError> {
        self.next().ok_or_else(|| self.end.error(GraphProblem::Missing { missing, example }))
    }

    /// Nothing may follow.
    pub fn finish(&self) -> Result<(), GraphError> {
        match self.peek() {
            Some(word) => Err(word.error(GraphProblem::TooMuch(word.text.into()))),
            None => Ok(()),
        }
    }

    /// Takes a bandwidth and a latency.
    pub fn link(&mut self, example: &'static str) -> Result<Link, GraphError> {
        let (word, text) = self.quantity("a bandwidth", example)?;
        let bandwidth = text.parse::<Bandwidth>().map_err(|error| word.error(error))?.get();
        if bandwidth <= 0.0 {
            return Err(word.error(GraphProblem::NoBandwidth));
        }
        let (word, text) = self.quantity("a latency", example)?;
        let latency = text.parse::<Seconds>().map_err(|error| word.error(error))?.get();
        if latency < 0.0 {
            return Err(word.error(GraphProblem::NegativeLatency));
        }
        Ok(Link { bandwidth, latency })
    }

    /// One word, `12.5GB/s`, or a number and its unit.
    fn quantity(&mut self, what: &'static str, example: &'static str) -> Result<(Word<'t>, String), GraphError> {
        let word = self.expect(what, example)?;
        let mut text = word.text.to_string();
        if text.parse::<f64>().is_ok()
            && let Some(unit) = self.next()
        {
            text = format!("{text} {}", unit.text);
        }
        Ok((word, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, String> {
        Word { text, line: 1, column: 1 }.names().map_err(|error| error.to_string())
    }

    #[test]
    fn ranges() {
        assert_eq!(names("a").unwrap(), ["a"]);
        assert_eq!(names("n[8-10].x").unwrap(), ["n8.x", "n9.x", "n10.x"]);
        assert_eq!(names("n[08-10,3]").unwrap(), ["n08", "n09", "n10", "n3"]);
        for wrong in ["n[", "n[]", "n[3-1]", "n[a-b]", "n[1][2]", "n[-1]", "n[+1-2]", "n[99999999999]"] {
            assert!(names(wrong).unwrap_err().contains("is not a range"), "{wrong}");
        }
        assert!(names("n[0-4294967295]").unwrap_err().contains("more than 1000000 names"));
    }

    #[test]
    fn words_know_their_columns() {
        let mut words = Words::of(3, "  link é: a#1 # a comment");
        let places: Vec<_> = std::iter::from_fn(|| words.next()).map(|word| (word.text, word.column)).collect();
        assert_eq!(places, [("link", 3), ("é", 8), (":", 9), ("a#1", 11)]);
    }
}
