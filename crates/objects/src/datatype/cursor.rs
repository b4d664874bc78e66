//! Running through the blocks of a layout, in the order of the type map.

use std::slice;

use super::layout::{Blocks, Layout, Run, repeated_blocks};

/// The blocks of some items of a datatype.
#[derive(Clone, Debug)]
pub struct BlockIter<'a> {
    /// What is being run through; a field of its own, so that layouts of one level need no memory.
    top: Frame<'a>,
    /// What surrounds it.
    stack: Vec<Frame<'a>>,
}

#[derive(Clone, Debug)]
enum Frame<'a> {
    Done,
    Once(Blocks),
    Loop { body: &'a Layout, base: i64, left: i64, stride: i64 },
    Runs { rest: slice::Iter<'a, Run>, base: i64 },
    Parts { rest: slice::Iter<'a, Layout>, base: i64 },
}

impl<'a> BlockIter<'a> {
    /// Blocks of `count` items, the first of which lies at `base`.
    pub(super) fn new(layout: &'a Layout, base: i64, count: i64, extent: i64) -> BlockIter<'a> {
        let top = match layout {
            Layout::Nothing => Frame::Done,
            _ if count <= 0 => Frame::Done,
            Layout::Blocks(blocks) => match repeated_blocks(*blocks, count, extent) {
                Some(all) => Frame::Once(Blocks { offset: all.offset + base, ..all }),
                None => Frame::Loop { body: layout, base, left: count, stride: extent },
            },
            _ => Frame::Loop { body: layout, base, left: count, stride: extent },
        };
        BlockIter { top, stack: Vec::new() }
    }

    /// Goes into a part of the frame on top.
    fn enter(&mut self, frame: Frame<'a>) {
        let outer = std::mem::replace(&mut self.top, frame);
        let more = match &outer {
            Frame::Done | Frame::Once(_) => false,
            Frame::Loop { left, .. } => *left > 0,
            Frame::Runs { rest, .. } => !rest.as_slice().is_empty(),
            Frame::Parts { rest, .. } => !rest.as_slice().is_empty(),
        };
        if more {
            self.stack.push(outer);
        }
    }
}

impl Iterator for BlockIter<'_> {
    type Item = Blocks;

    #[inline]
    fn next(&mut self) -> Option<Blocks> {
        loop {
            let (layout, base) = match &mut self.top {
                Frame::Runs { rest, base } => match rest.next() {
                    Some(run) => return Some(Blocks::run(run.offset + *base, run.length)),
                    None => {
                        self.top = self.stack.pop()?;
                        continue;
                    }
                },
                Frame::Loop { body, base, left, stride } if *left > 0 => {
                    let start = *base;
                    *left -= 1;
                    *base = start.wrapping_add(*stride);
                    (*body, start)
                }
                Frame::Parts { rest, base } => match rest.next() {
                    Some(part) => (part, *base),
                    None => {
                        self.top = self.stack.pop()?;
                        continue;
                    }
                },
                Frame::Once(blocks) => {
                    let blocks = *blocks;
                    self.top = Frame::Done;
                    return Some(blocks);
                }
                Frame::Loop { .. } | Frame::Done => {
                    self.top = self.stack.pop()?;
                    continue;
                }
            };
            match layout {
                Layout::Nothing => {}
                Layout::Blocks(blocks) => return Some(Blocks { offset: blocks.offset + base, ..*blocks }),
                Layout::Runs { offset, runs } => self.enter(Frame::Runs { rest: runs.iter(), base: base + offset }),
                Layout::Loop { offset, count, stride, body } => {
                    self.enter(Frame::Loop { body, base: base + offset, left: *count, stride: *stride });
                }
                Layout::Parts { offset, parts } => {
                    self.enter(Frame::Parts { rest: parts.iter(), base: base + offset });
                }
                Layout::Elements { offset, body, .. } => {
                    self.enter(Frame::Loop { body, base: base + offset, left: 1, stride: 0 });
                }
            }
        }
    }
}

/// The contiguous byte ranges of some items, as offset and length; neighbours in the type map that touch are one.
#[derive(Clone, Debug)]
pub struct Ranges<'a> {
    blocks: BlockIter<'a>,
    current: Blocks,
    /// What was taken and is not yet given.
    pending: Option<(i64, i64)>,
}

impl<'a> Ranges<'a> {
    pub(super) fn new(blocks: BlockIter<'a>) -> Ranges<'a> {
        Ranges { blocks, current: Blocks { offset: 0, length: 0, count: 0, stride: 0 }, pending: None }
    }

    /// Leaves out the first bytes.
    pub(super) fn without(mut self, mut bytes: i64) -> Ranges<'a> {
        while let Some(blocks) = self.blocks.next() {
            if bytes < blocks.bytes() {
                let (whole, part) = (bytes / blocks.length, bytes % blocks.length);
                let offset = blocks.offset + whole * blocks.stride;
                self.current = Blocks { offset, count: blocks.count - whole, ..blocks };
                self.pending = self.one().map(|(offset, length)| (offset + part, length - part));
                break;
            }
            bytes -= blocks.bytes();
        }
        self
    }

    fn one(&mut self) -> Option<(i64, i64)> {
        while self.current.count == 0 {
            self.current = self.blocks.next()?;
        }
        let offset = self.current.offset;
        self.current.offset = offset.wrapping_add(self.current.stride);
        self.current.count -= 1;
        Some((offset, self.current.length))
    }
}

impl Iterator for Ranges<'_> {
    type Item = (i64, i64);

    fn next(&mut self) -> Option<(i64, i64)> {
        let (offset, mut length) = self.pending.take().or_else(|| self.one())?;
        while let Some(next) = self.one() {
            if next.0 != offset + length {
                self.pending = Some(next);
                break;
            }
            length += next.1;
        }
        Some((offset, length))
    }
}
