//! Files that say where each rank runs.
//!
//! Either as Open MPI has it, in any order, or a plain list: one node a line, in order of rank. `#` begins a comment.
//!
//! ```text
//! rank 0=node17 slot=0
//! rank 1=node3  slot=1:0-3
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::Site;
use crate::diagnostic::{Diagnostic, Diagnostics, Source};

/// More ranks than anybody simulates.
const MOST_RANKS: usize = 1 << 28;

/// The node of each rank, or all that is wrong with the file.
pub fn read(source: &Arc<Source>, site: &Site<'_>) -> Result<Vec<u32>, Diagnostics> {
    let mut reader = Reader { source, site, lines: Vec::new(), problems: Diagnostics::new() };
    let mut start = 0;
    let mut form = None;
    for text in source.text.split_inclusive('\n') {
        let code = text.split('#').next().unwrap_or_default();
        let line = code.trim();
        if !line.is_empty() {
            let at = start + (code.len() - code.trim_start().len());
            let line = Line { text: line, at };
            let ranked = line.after_rank();
            if *form.get_or_insert(ranked.is_some()) == ranked.is_some() {
                match ranked {
                    Some(rest) => reader.rank_line(line, rest),
                    None => reader.node_line(line),
                }
            } else {
                let remedy = "write `rank 0=node17 slot=0` in all lines, or a node in all of them";
                reader.wrong(line.all(), "this line is of another form than those before".into(), remedy);
            }
        }
        start += text.len();
    }
    reader.finish()
}

/// A line without comment and space around it.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    /// Its place in the source.
    at: usize,
}

impl<'t> Line<'t> {
    fn all(self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// Where a part of it is.
    fn place(self, part: &str) -> Range<usize> {
        let start = self.at + (part.as_ptr() as usize - self.text.as_ptr() as usize);
        start..start + part.len()
    }

    /// What follows the word `rank`.
    fn after_rank(self) -> Option<&'t str> {
        self.text.strip_prefix("rank").filter(|rest| rest.starts_with(char::is_whitespace))
    }
}

struct Reader<'s, 'm> {
    source: &'s Arc<Source>,
    site: &'s Site<'m>,
    /// Rank, its node if there is one, and the bytes of the line.
    lines: Vec<(usize, Option<u32>, Range<usize>)>,
    problems: Diagnostics,
}

impl Reader<'_, '_> {
    fn wrong(&mut self, place: Range<usize>, message: String, remedy: impl Into<String>) {
        self.problems.push(Diagnostic::error(message, remedy).at(self.source, place));
    }

    /// A node of a plain list.
    fn node_line(&mut self, line: Line<'_>) {
        let rank = self.lines.len();
        if let Some(more) = line.text.split_whitespace().nth(1) {
            let remedy = "write one node a line, or `rank 0=node17 slot=0` in all lines";
            return self.wrong(line.place(more), format!("`{more}` is too much in this line"), remedy);
        }
        self.put(rank, line.text, line);
    }

    /// `0=node17 slot=0`.
    fn rank_line(&mut self, line: Line<'_>, rest: &str) {
        let remedy = "write `rank 0=node17 slot=0`";
        let Some((rank, place)) = rest.split_once('=') else {
            return self.wrong(line.all(), "there is no `=` between rank and node".into(), remedy);
        };
        let Some(number) = rank.trim().parse().ok().filter(|rank| *rank < MOST_RANKS) else {
            return self.wrong(line.place(rank.trim()), format!("`{}` is no rank", rank.trim()), remedy);
        };
        let mut words = place.split_whitespace();
        let Some(name) = words.next() else {
            return self.wrong(line.all(), format!("rank {number} has no node"), remedy);
        };
        if let Some(slot) = words.next() {
            let is_right = slot.strip_prefix("slot=").or(slot.strip_prefix("slots=")).is_some_and(are_slots);
            if !is_right {
                let message = format!("`{slot}` is no slot");
                return self.wrong(
                    line.place(slot),
                    message,
                    "write cores such as `slot=0`, `slot=1:0-3` or `slot=0,2`",
                );
            }
        }
        if let Some(more) = words.next() {
            return self.wrong(line.place(more), format!("`{more}` is too much in this line"), remedy);
        }
        self.put(number, name, line);
    }

    fn put(&mut self, rank: usize, name: &str, line: Line<'_>) {
        let node = self.site.find(name);
        if node.is_none() {
            self.wrong(line.place(name), format!("the machine has no node `{name}`"), self.site.advice(name));
        }
        self.lines.push((rank, node, line.all()));
    }

    fn finish(mut self) -> Result<Vec<u32>, Diagnostics> {
        let mut lines = std::mem::take(&mut self.lines);
        // Lines of a rank stay in their order.
        lines.sort_by_key(|(rank, ..)| *rank);
        for same in lines.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            let first = self.source.position(same[0].2.start).0;
            let remedy = format!("keep this line or line {first}");
            self.wrong(same[1].2.clone(), format!("rank {} is placed twice", same[0].0), remedy);
        }
        lines.dedup_by_key(|(rank, ..)| *rank);
        let ranks = lines.last().map_or(0, |(rank, ..)| rank + 1);
        if ranks > lines.len() {
            let first = (0..).zip(&lines).find(|(rank, line)| *rank != line.0).map_or(0, |(rank, _)| rank);
            let message = match ranks - lines.len() {
                1 => format!("rank {first} has no line"),
                more => format!("rank {first} and {} others have no line", more - 1),
            };
            let remedy = "place every rank from 0 to the last, each in a line of its own";
            self.problems.push(Diagnostic::error(message, remedy).within(self.source));
        } else if ranks == 0 && self.problems.is_empty() {
            let remedy = "write a line for each rank: `rank 0=node17 slot=0`, or a node";
            self.problems.push(Diagnostic::error("no rank is placed", remedy).within(self.source));
        }
        self.problems.sort();
        let nodes = lines.into_iter().filter_map(|(_, node, _)| node);
        if self.problems.has_errors() { Err(self.problems) } else { Ok(nodes.collect()) }
    }
}

/// Cores as Open MPI lists them: `0`, `0-3,7`, `1:0-3`, `p2`, `*`.
fn are_slots(text: &str) -> bool {
    let is_number = |text: &str| {
        let digits = text.strip_prefix(['p', 'P']).unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_range = |text: &str| match text.split_once('-') {
        Some((low, high)) => is_number(low) && is_number(high),
        None => text == "*" || is_number(text),
    };
    text.split(',').all(|part| match part.split_once(':') {
        Some((socket, cores)) => is_range(socket) && is_range(cores),
        None => is_range(part),
    })
}

/// The file that places ranks so, in Open MPI's form; the comment stands in front.
pub fn write(comment: &[String], nodes: &[u32], site: &Site<'_>) -> String {
    let mut taken = vec![0u32; site.nodes as usize];
    let mut text: String = comment.iter().map(|line| format!("# {line}\n")).collect();
    for (rank, &node) in nodes.iter().enumerate() {
        let slot = &mut taken[node as usize];
        text += &format!("rank {rank}={} slot={}\n", site.host(node), *slot % site.cores.max(1));
        *slot += 1;
    }
    text
}
