//! Compares what two runs have written: numbers may differ a little, and times as they like.
//!
//! Lines are compared as a heap: each line of one run needs one of the other, in whatever order. Of two lines with the same
//! words, numbers must agree to a tolerance. Numbers that are times or speeds may differ; those are told by the words beside
//! them, or, in tables, by the words above them.

use std::collections::{HashMap, VecDeque};

/// A line in parts.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// Anything else; names of days and months are all the same.
    Word(String),
    /// A number, and whether it is written without a point.
    Number(f64, bool),
    /// A time of day.
    Clock,
}

/// Words that make the numbers of a line times or speeds.
const TIMING: [&str; 33] = [
    "time",
    "times",
    "timing",
    "timings",
    "second",
    "secs",
    "sec",
    "s",
    "ms",
    "us",
    "ns",
    "usec",
    "msec",
    "nsec",
    "minutes",
    "hours",
    "wall",
    "wtime",
    "clock",
    "duration",
    "rate",
    "speed",
    "performance",
    "fom",
    "flop",
    "mflop",
    "gflop",
    "tflop",
    "mop",
    "gup",
    "gbs",
    "mbs",
    "date",
];

/// The same, also within longer words.
const PARTS: [&str; 12] = [
    "seconds",
    "elapsed",
    "walltime",
    "latency",
    "bandwidth",
    "throughput",
    "flops",
    "gups",
    "teps",
    "mbytes",
    "gbytes",
    "b/s",
];

/// Units that follow a number.
const UNITS: [&str; 16] = [
    "clock",
    "ticks",
    "s",
    "ms",
    "us",
    "ns",
    "sec",
    "secs",
    "seconds",
    "usec",
    "msec",
    "mb/s",
    "gb/s",
    "mib/s",
    "gib/s",
    "microseconds",
];

const CALENDAR: [&str; 19] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep",
    "oct", "nov", "dec",
];

/// A line, ready to be compared.
struct Line<'t> {
    text: &'t str,
    parts: Vec<Part>,
    /// Its numbers may be times.
    is_timing: bool,
    /// It says when it was written.
    is_dated: bool,
}

/// What came out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    /// Lines of the first that the second does not have: number from 1, and text.
    pub only_first: Vec<(usize, String)>,
    /// And the other way round.
    pub only_second: Vec<(usize, String)>,
    /// Pairs that differ in times only.
    pub times: usize,
    /// Lines of the first.
    pub lines: usize,
}

/// Compares two texts.
pub(crate) fn compare(first: &str, second: &str, tolerance: f64) -> Compared {
    let (first, second) = (read(first), read(second));
    let mut pairing =
        Pairing { first: &first, second: &second, free: vec![true; second.len()], met: vec![false; first.len()] };
    // The strictest rule first, so that a line does not lose its partner to another.
    pairing.pair(|line| line.text.to_owned(), |_, _| true);
    pairing.pair(|line| line.skeleton(), |a, b| agree(a, b, |x, y, _| near(x, y, tolerance)));
    let times = pairing.pair(|line| line.skeleton(), |a, b| differ_in_times(a, b, tolerance));
    let Pairing { free, met, .. } = pairing;
    let numbered = |lines: &[Line], is_left: &dyn Fn(usize) -> bool| {
        let left = lines.iter().enumerate().filter(|(place, _)| is_left(*place));
        left.map(|(place, line)| (place + 1, line.text.to_owned())).collect()
    };
    Compared {
        only_first: numbered(&first, &|place| !met[place]),
        only_second: numbered(&second, &|place| free[place]),
        times,
        lines: first.len(),
    }
}

/// Lines that look for a partner.
struct Pairing<'a> {
    first: &'a [Line<'a>],
    second: &'a [Line<'a>],
    free: Vec<bool>,
    met: Vec<bool>,
}

impl Pairing<'_> {
    /// Pairs lines with the same key that a rule accepts, in order; how many. Long tables in which every line differs would take
    /// for ever, so only the next few are looked at.
    fn pair(&mut self, key: impl Fn(&Line) -> String, rule: impl Fn(&Line, &Line) -> bool) -> usize {
        const NEXT: usize = 64;
        let mut waiting: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (place, line) in self.second.iter().enumerate().filter(|(place, _)| self.free[*place]) {
            waiting.entry(key(line)).or_default().push_back(place);
        }
        let mut pairs = 0;
        for (place, line) in self.first.iter().enumerate() {
            if self.met[place] {
                continue;
            }
            let Some(candidates) = waiting.get_mut(&key(line)) else { continue };
            let found = candidates.iter().take(NEXT).position(|&other| rule(line, &self.second[other]));
            if let Some(other) = found.and_then(|found| candidates.remove(found)) {
                (self.free[other], self.met[place]) = (false, true);
                pairs += 1;
            }
        }
        pairs
    }
}

impl Line<'_> {
    /// Its words without its numbers.
    fn skeleton(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Word(word) => text += word,
                Part::Number(..) => text.push('#'),
                Part::Clock => text.push(':'),
            }
            text.push(' ');
        }
        text
    }
}

fn read(text: &str) -> Vec<Line<'_>> {
    let mut above = false;
    let mut lines = Vec::new();
    for text in text.lines() {
        let parts = split(text);
        let has_numbers = parts.iter().any(|part| !matches!(part, Part::Word(_)));
        let named = is_about_times(text);
        // A heading counts until another comes, or an empty line.
        if text.trim().is_empty() || !has_numbers && text.contains(char::is_alphabetic) {
            above = named;
        }
        let is_dated = parts.contains(&Part::Clock);
        lines.push(Line { text, parts, is_timing: named || above, is_dated });
    }
    lines
}

fn is_about_times(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphabetic());
    words.any(|word| TIMING.contains(&word)) || PARTS.iter().any(|part| lower.contains(part))
}

/// Words and numbers; white space only separates.
fn split(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        while !rest.is_empty() {
            let start = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
            // A sign or a point belongs to the number, unless it ends a word.
            let signed = rest[..start].trim_end_matches(['+', '-', '.']).len();
            let is_name = rest[..signed].ends_with(|c: char| c.is_alphabetic() || c == '_');
            let begin = if is_name { start } else { signed };
            if begin > 0 {
                parts.push(Part::Word(canonical(&rest[..begin])));
            }
            rest = &rest[begin..];
            if rest.is_empty() {
                break;
            }
            let length = number_length(rest);
            let clock = clock_length(rest);
            if clock > 0 {
                parts.push(Part::Clock);
                rest = &rest[clock..];
            } else if let (true, Ok(value)) = (length > 0, rest[..length].replace(['d', 'D'], "e").parse()) {
                parts.push(Part::Number(value, !rest[..length].contains(['.', 'e', 'E', 'd', 'D'])));
                rest = &rest[length..];
            } else {
                let one = rest.chars().next().map_or(1, char::len_utf8);
                parts.push(Part::Word(rest[..one].to_owned()));
                rest = &rest[one..];
            }
        }
    }
    parts
}

fn canonical(word: &str) -> String {
    let lower = word.to_lowercase();
    if CALENDAR.contains(&lower.trim_end_matches([',', '.'])) { "(calendar)".into() } else { word.to_owned() }
}

/// `[+-]digits[.digits][e[+-]digits]`, also as Fortran writes it (`1.5D+03`).
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(at);
    at += whole;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        if whole + fraction > 0 {
            at += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E' | b'd' | b'D')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    at
}

/// `hh:mm` or `hh:mm:ss`.
fn clock_length(text: &str) -> usize {
    let is_two = |part: &str| part.len() >= 2 && part.as_bytes()[..2].iter().all(u8::is_ascii_digit);
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or_default();
    if first.is_empty() || first.len() > 2 || !first.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    let mut length = first.len();
    for part in parts.take(2) {
        if !is_two(part) {
            break;
        }
        length += 3;
        if part.len() > 2 {
            break;
        }
    }
    if length == first.len() { 0 } else { length }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()) || a.is_nan() && b.is_nan()
}

/// Whether two lines have the same words, and numbers that agree; the rule is told the number's place.
fn agree(a: &Line, b: &Line, numbers: impl Fn(f64, f64, usize) -> bool) -> bool {
    a.parts.len() == b.parts.len()
        && a.parts.iter().zip(&b.parts).enumerate().all(|(place, pair)| match pair {
            (Part::Number(x, _), Part::Number(y, _)) => numbers(*x, *y, place),
            (a, b) => a == b,
        })
}

/// In a line of times, whole numbers must agree unless they have a unit, so that sizes and counts are still compared.
fn differ_in_times(a: &Line, b: &Line, tolerance: f64) -> bool {
    let has_unit = |line: &Line, place: usize| {
        let unit = |word: &str| UNITS.contains(&word.to_lowercase().trim_matches(|c: char| !c.is_alphabetic()));
        matches!(line.parts.get(place + 1), Some(Part::Word(word)) if unit(word))
    };
    let whole = |line: &Line, place: usize| matches!(line.parts[place], Part::Number(_, true));
    let may_differ = |place: usize| {
        a.is_dated || has_unit(a, place) || !(whole(a, place) && whole(b, place)) && (a.is_timing && b.is_timing)
    };
    let is_meant = a.is_timing && b.is_timing || a.is_dated && b.is_dated;
    is_meant && agree(a, b, |x, y, place| near(x, y, tolerance) || may_differ(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(first: &str, second: &str) -> bool {
        let compared = compare(first, second, 1e-6);
        compared.only_first.is_empty() && compared.only_second.is_empty()
    }

    #[test]
    fn order_and_white_space_do_not_matter() {
        assert!(same("a 1\nb 2\n", "b  2\na 1\n"));
        assert!(!same("a 1\na 1\n", "a 1\n"));
        assert!(!same("a 1\n", "a 1\na 1\n"));
    }

    #[test]
    fn numbers_agree_to_a_tolerance() {
        assert!(same("residual = 1.0000000001e-03", "residual = 1.0e-3"));
        assert!(same("x=-0.3333333333,", "x=-0.3333333334,"));
        assert!(!same("residual = 1.001", "residual = 1.0"));
        assert!(!same("sum 28", "sum 29"));
        assert!(same("E = 1.5D+03", "E = 1500.0"));
        assert!(same("nan", "nan") && !same("word1", "word2"));
    }

    #[test]
    fn times_may_differ_and_counts_may_not() {
        let compared = compare("Elapsed time: 1.23 s\n", "Elapsed time: 0.04 s\n", 1e-6);
        assert_eq!((compared.times, compared.only_first.len()), (1, 0));
        assert!(same("100 iterations in 2 s", "100 iterations in 17 s"));
        assert!(!same("100 iterations in 2 s", "101 iterations in 2 s"));
        assert!(!same("result 1.5", "result 2.5"));
        assert!(same("12.5 MB/s", "99.1 MB/s"));
    }

    #[test]
    fn tables_take_their_meaning_from_the_words_above() {
        assert!(same("# Size Latency (us)\n0 1.25\n8 1.30\n", "# Size Latency (us)\n0 3.10\n8 3.20\n"));
        assert!(!same("# Size Latency (us)\n0 1.25\n8 1.30\n", "# Size Latency (us)\n0 3.10\n16 3.20\n"));
        assert!(!same("x y\n0 1.25\n", "x y\n0 1.26\n"));
        assert!(same("Function Rate (GB/s)\n-----\nCopy: 6.5\n", "Function Rate (GB/s)\n-----\nCopy: 0.5\n"));
        assert!(!same("Function Rate (GB/s)\n\nCopy: 6.5\n", "Function Rate (GB/s)\n\nCopy: 0.5\n"));
        assert!(same("RingBandwidth_GBytes=1.5\nHPL_Tflops=0.1", "RingBandwidth_GBytes=2.5\nHPL_Tflops=0.2"));
    }

    #[test]
    fn dates_may_differ() {
        assert!(same("Run on Mon Nov 16 06:20:41 2026", "Run on Sun Sep  9 01:46:40 2001"));
        assert!(!same("Run on Mon", "Run at Mon"));
    }

    #[test]
    fn what_is_left_has_its_line() {
        let compared = compare("a\nb 1\n", "a\nb 2\nc\n", 1e-6);
        assert_eq!(compared.only_first, [(2, "b 1".to_owned())]);
        assert_eq!(compared.only_second, [(2, "b 2".to_owned()), (3, "c".to_owned())]);
    }

    #[test]
    fn long_tables_do_not_take_for_ever() {
        let table = |shift: usize| (0..20_000).map(|i| format!("{}.5\n", i + shift)).collect::<String>();
        assert_eq!(compare(&table(0), &table(7), 1e-6).only_first.len(), 7);
        assert_eq!(compare(&table(0), &table(1_000_000), 1e-9).only_first.len(), 20_000);
    }

    #[test]
    fn anything_is_a_line() {
        for text in ["", "\u{e9}1\u{e9}", "1:", "::", "12:3", "1e", "+-.", "-", "1.e5x", "..1..", "09:15:00Z"] {
            assert!(same(text, text), "{text}");
            split(text);
        }
    }
}
