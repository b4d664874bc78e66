//! Messages and bytes from each rank to each other.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use hpcast_platform::diagnostic::{Diagnostic, Diagnostics, Source};

/// The first line of a file, below the comments.
const HEADER: &str = "from,to,messages,bytes";
/// The comment that says how many ranks there are.
const RANKS: &str = "# ranks: ";
/// More ranks than anybody simulates.
const MOST_RANKS: u32 = 1 << 28;

/// What one rank has sent to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages.
    pub messages: u64,
    /// Bytes of data in them.
    pub bytes: u64,
}

/// What ranks have sent to each other. Only pairs that did take memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    ranks: u32,
    /// By sender and receiver.
    sent: HashMap<(u32, u32), Counts>,
}

impl Traffic {
    /// So many ranks that have sent nothing.
    pub fn new(ranks: u32) -> Traffic {
        Traffic { ranks, sent: HashMap::new() }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// A rank has sent so many messages with so many bytes in all.
    #[inline]
    pub fn add(&mut self, from: u32, to: u32, counts: Counts) {
        self.ranks = self.ranks.max(from.max(to) + 1);
        let sum = self.sent.entry((from, to)).or_default();
        sum.messages = sum.messages.saturating_add(counts.messages);
        sum.bytes = sum.bytes.saturating_add(counts.bytes);
    }

    /// All pairs: sender, receiver, and what was sent, in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, Counts)> + use<> {
        let mut pairs: Vec<(u32, u32, Counts)> =
            self.sent.iter().map(|(&(from, to), counts)| (from, to, *counts)).collect();
        pairs.sort_unstable_by_key(|&(from, to, _)| (from, to));
        pairs.into_iter()
    }

    /// As comma-separated values; the comment says how it came about.
    pub fn to_csv(&self, comment: &str) -> String {
        let mut text = format!("# {}\n{RANKS}{}\n{HEADER}\n", comment.replace(['\n', '\r'], " "), self.ranks());
        for (from, to, Counts { messages, bytes }) in self.pairs() {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{from},{to},{messages},{bytes}");
        }
        text
    }

    /// Reads what [`Traffic::to_csv`] has written, or somebody else has in that form.
    pub fn parse(source: &Arc<Source>) -> Result<Traffic, Diagnostics> {
        let mut reader =
            Reader { source, traffic: Traffic::default(), has_header: false, problems: Diagnostics::new() };
        let mut start = 0;
        for line in source.text.split_inclusive('\n') {
            let text = line.trim_end();
            reader.line(text, start..start + text.len());
            start += line.len();
        }
        if !reader.has_header && !reader.problems.has_errors() {
            reader.wrong(0..0, "there is no traffic in the file".into(), format!("begin with the line `{HEADER}`"));
        }
        if reader.problems.has_errors() { Err(reader.problems) } else { Ok(reader.traffic) }
    }
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    traffic: Traffic,
    has_header: bool,
    problems: Diagnostics,
}

impl Reader<'_> {
    fn wrong(&mut self, place: Range<usize>, message: String, remedy: impl Into<String>) {
        self.problems.push(Diagnostic::error(message, remedy).at(self.source, place));
    }

    fn line(&mut self, text: &str, place: Range<usize>) {
        if let Some(ranks) = text.strip_prefix(RANKS) {
            match ranks.trim().parse::<u32>().ok().filter(|ranks| *ranks <= MOST_RANKS) {
                Some(ranks) if ranks >= self.traffic.ranks => self.traffic.ranks = ranks,
                _ => self.wrong(place, format!("`{ranks}` is no number of ranks"), "write the highest rank plus one"),
            }
        } else if text.is_empty() || text.starts_with('#') {
        } else if !self.has_header {
            self.has_header = text.split(',').map(str::trim).eq(HEADER.split(','));
            if !self.has_header {
                self.wrong(place, "this is no header of traffic".into(), format!("write `{HEADER}`"));
                // What follows would be wrong as well.
                self.has_header = true;
            }
        } else {
            self.row(text, place);
        }
    }

    fn row(&mut self, text: &str, place: Range<usize>) {
        let numbers: Option<Vec<u64>> = text.split(',').map(|field| field.trim().parse().ok()).collect();
        let rank = |number: u64| u32::try_from(number).ok().filter(|rank| *rank < MOST_RANKS);
        match numbers.as_deref() {
            Some(&[from, to, messages, bytes]) if rank(from).is_some() && rank(to).is_some() => {
                self.traffic.add(from as u32, to as u32, Counts { messages, bytes });
            }
            _ => self.wrong(place, "this is no row of traffic".into(), "write four whole numbers, such as `0,1,10,80`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Traffic, String> {
        Traffic::parse(&Source::new("t.csv", text)).map_err(|problems| problems.to_string())
    }

    #[test]
    fn rows_are_sorted_and_added_up() {
        let mut traffic = Traffic::new(3);
        for (from, to, bytes) in [(1, 0, 8), (0, 1, 5), (1, 0, 8), (0, 0, 1)] {
            traffic.add(from, to, Counts { messages: 1, bytes });
        }
        let text = traffic.to_csv("a run");
        assert_eq!(text, "# a run\n# ranks: 3\nfrom,to,messages,bytes\n0,0,1,1\n0,1,1,5\n1,0,2,16\n");
        assert_eq!(parse(&text).unwrap(), traffic);
    }

    #[test]
    fn what_cannot_be_read() {
        for (text, parts) in [
            ("", ["there is no traffic", "begin with the line"]),
            ("a,b\n", ["t.csv:1:1", "write `from,to,messages,bytes`"]),
            ("from,to,messages,bytes\n0,1,2\n", ["t.csv:2:1", "four whole numbers"]),
            ("from,to,messages,bytes\n0,-1,2,3\n", ["t.csv:2:1", "four whole numbers"]),
            ("# ranks: many\nfrom,to,messages,bytes\n", ["t.csv:1:1", "no number of ranks"]),
        ] {
            let message = parse(text).unwrap_err();
            assert!(parts.iter().all(|part| message.contains(part)), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(pairs in proptest::collection::vec((0u32..50, 0u32..50, 0u64..1 << 40), 0..200)) {
            let mut traffic = Traffic::new(50);
            for (from, to, bytes) in pairs {
                traffic.add(from, to, Counts { messages: 1, bytes });
            }
            prop_assert_eq!(parse(&traffic.to_csv("x")).unwrap(), traffic);
        }
    }
}
