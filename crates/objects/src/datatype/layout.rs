//! Where the bytes of a datatype lie: loops of loops of blocks, so that a vector of a million elements is one entry.

use std::rc::Rc;

use super::basic::Basic;

/// Contiguous blocks of equal length at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Where the first block begins.
    pub offset: i64,
    /// Bytes of a block.
    pub length: i64,
    /// How many blocks.
    pub count: i64,
    /// From the start of one block to the start of the next.
    pub stride: i64,
}

impl Blocks {
    /// One block.
    pub(super) const fn run(offset: i64, length: i64) -> Blocks {
        Blocks { offset, length, count: 1, stride: 0 }
    }

    pub(super) fn bytes(&self) -> i64 {
        self.length * self.count
    }
}

/// A contiguous block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub offset: i64,
    pub length: i64,
}

/// Bytes in the order of the type map. Cheap to clone: long parts are shared.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    Nothing,
    Blocks(Blocks),
    Runs {
        offset: i64,
        runs: Rc<[Run]>,
    },
    Loop {
        offset: i64,
        count: i64,
        stride: i64,
        body: Rc<Layout>,
    },
    Parts {
        offset: i64,
        parts: Rc<[Layout]>,
    },
    /// All that lies below is elements of one basic datatype.
    Elements {
        offset: i64,
        basic: Basic,
        body: Rc<Layout>,
    },
}

impl Layout {
    pub fn run(offset: i64, length: i64) -> Layout {
        if length == 0 { Layout::Nothing } else { Layout::Blocks(Blocks::run(offset, length)) }
    }

    pub fn shifted(mut self, by: i64) -> Layout {
        match &mut self {
            Layout::Nothing => {}
            Layout::Blocks(Blocks { offset, .. })
            | Layout::Runs { offset, .. }
            | Layout::Loop { offset, .. }
            | Layout::Parts { offset, .. }
            | Layout::Elements { offset, .. } => *offset += by,
        }
        self
    }

    /// The layout `count` times, `distance` apart.
    pub fn repeated(self, count: i64, distance: i64) -> Layout {
        if count == 0 || matches!(self, Layout::Nothing) {
            return Layout::Nothing;
        }
        if count == 1 {
            return self;
        }
        match self {
            Layout::Blocks(blocks) => match repeated_blocks(blocks, count, distance) {
                Some(blocks) => Layout::Blocks(blocks),
                None => Layout::Loop { offset: 0, count, stride: distance, body: Rc::new(self) },
            },
            Layout::Loop { offset, count: inner, stride, body } if distance == stride.wrapping_mul(inner) => {
                Layout::Loop { offset, count: inner * count, stride, body }
            }
            _ => Layout::Loop { offset: 0, count, stride: distance, body: Rc::new(self) },
        }
    }

    /// The only basic datatype that is named in it.
    pub fn only_basic(&self) -> Option<Basic> {
        match self {
            Layout::Elements { basic, .. } => Some(*basic),
            Layout::Loop { body, .. } => body.only_basic(),
            Layout::Parts { parts, .. } => {
                let first = parts.first()?.only_basic()?;
                parts.iter().all(|part| part.only_basic() == Some(first)).then_some(first)
            }
            Layout::Nothing | Layout::Blocks(_) | Layout::Runs { .. } => None,
        }
    }

    /// All bytes.
    pub fn size(&self) -> i64 {
        match self {
            Layout::Nothing => 0,
            Layout::Blocks(blocks) => blocks.bytes(),
            Layout::Runs { runs, .. } => runs.iter().map(|run| run.length).sum(),
            Layout::Loop { count, body, .. } => count * body.size(),
            Layout::Parts { parts, .. } => parts.iter().map(Layout::size).sum(),
            Layout::Elements { body, .. } => body.size(),
        }
    }
}

/// Blocks `count` times, `distance` apart, if these are blocks at equal distances again.
pub(super) fn repeated_blocks(blocks: Blocks, count: i64, distance: i64) -> Option<Blocks> {
    if count == 1 {
        Some(blocks)
    } else if blocks.count == 1 && distance == blocks.length {
        Some(Blocks { length: blocks.length.checked_mul(count)?, ..blocks })
    } else if blocks.count == 1 {
        Some(Blocks { count, stride: distance, ..blocks })
    } else if distance == blocks.stride.wrapping_mul(blocks.count) {
        Some(Blocks { count: blocks.count.checked_mul(count)?, ..blocks })
    } else {
        None
    }
}

/// Layouts one after the other; neighbours grow together.
#[derive(Clone, Debug)]
pub(super) enum List {
    Runs(Vec<Run>),
    Parts(Vec<Layout>),
}

impl List {
    pub fn new() -> List {
        List::Runs(Vec::new())
    }

    pub fn push(&mut self, layout: Layout) {
        match (&mut *self, layout) {
            (_, Layout::Nothing) => {}
            (List::Runs(runs), Layout::Blocks(Blocks { offset, length, count: 1, .. })) => match runs.last_mut() {
                Some(last) if last.offset + last.length == offset => last.length += length,
                _ => runs.push(Run { offset, length }),
            },
            (List::Runs(runs), layout) => {
                let mut parts = Vec::new();
                if !runs.is_empty() {
                    parts.push(List::Runs(std::mem::take(runs)).finish());
                }
                parts.push(layout);
                *self = List::Parts(parts);
            }
            (List::Parts(parts), layout) => parts.push(layout),
        }
    }

    pub fn finish(self) -> Layout {
        match self {
            List::Runs(runs) => match runs.as_slice() {
                [] => Layout::Nothing,
                [run] => Layout::run(run.offset, run.length),
                [first, second, ..] => {
                    let stride = second.offset - first.offset;
                    let regular = runs
                        .windows(2)
                        .all(|pair| pair[1].length == first.length && pair[1].offset - pair[0].offset == stride);
                    if regular {
                        let count = runs.len() as i64;
                        Layout::Blocks(Blocks { offset: first.offset, length: first.length, count, stride })
                    } else {
                        Layout::Runs { offset: 0, runs: runs.into() }
                    }
                }
            },
            List::Parts(mut parts) if parts.len() == 1 => parts.remove(0),
            List::Parts(parts) => Layout::Parts { offset: 0, parts: parts.into() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_and_regular_blocks_grow_together() {
        let mut list = List::new();
        list.push(Layout::run(0, 4));
        list.push(Layout::run(4, 4));
        list.push(Layout::run(16, 8));
        list.push(Layout::run(32, 8));
        let Layout::Blocks(blocks) = list.finish() else { panic!("regular blocks") };
        assert_eq!(blocks, Blocks { offset: 0, length: 8, count: 3, stride: 16 });
    }

    #[test]
    fn a_million_strided_elements_are_one_entry() {
        let column = Layout::run(0, 8).repeated(1_000_000, 800);
        assert!(matches!(column, Layout::Blocks(Blocks { count: 1_000_000, stride: 800, length: 8, .. })));
        let contiguous = Layout::run(0, 8).repeated(10, 8).repeated(10, 80);
        assert!(matches!(contiguous, Layout::Blocks(Blocks { count: 1, length: 800, .. })));
    }
}
