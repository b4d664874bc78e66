//! The basic elements of a datatype: running through them, and counting them in a message that was shorter.

use super::Datatype;
use super::basic::Basic;
use super::layout::{Blocks, Layout};
use super::typemap::Typed;

/// Elements of one basic datatype at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// What they are.
    pub basic: Basic,
    /// Where the first begins, from the address of the buffer.
    pub offset: i64,
    /// How many.
    pub count: i64,
    /// From one to the next.
    pub stride: i64,
}

impl Datatype {
    /// Runs through the basic elements of `count` items, in the order of the type map.
    pub fn for_each_element(&self, count: i64, visit: &mut dyn FnMut(Elements)) {
        let map = self.map();
        let extent = self.extent();
        match &map.typed {
            _ if count <= 0 => {}
            Typed::Nothing => {}
            Typed::Uniform(basic) => walk(&map.bytes.clone().repeated(count, extent), 0, *basic, visit),
            Typed::Mixed(layout) => walk_named(&layout.clone().repeated(count, extent), 0, visit),
        }
    }

    /// How many whole items `bytes` bytes are, as `MPI_Get_count` counts; `None` if they are not whole.
    pub fn items_in(&self, bytes: i64) -> Option<i64> {
        match self.size() {
            0 => (bytes == 0).then_some(0),
            size => (bytes % size == 0).then_some(bytes / size),
        }
    }

    /// How many basic elements there are in the first `bytes` bytes of items of this datatype, as `MPI_Get_elements`
    /// counts; `None` if the bytes end within an element.
    pub fn elements_in(&self, bytes: i64) -> Option<i64> {
        if self.size() == 0 {
            return (bytes == 0).then_some(0);
        }
        let whole = bytes / self.size() * self.elements();
        let mut rest = bytes % self.size();
        if rest == 0 {
            return Some(whole);
        }
        let layout = self.map().typed.layout(&self.map().bytes);
        let part = count_elements(&layout, Basic::Byte, &mut rest)?;
        Some(whole + part)
    }
}

/// A layout whose elements are named somewhere in it.
fn walk_named(layout: &Layout, base: i64, visit: &mut dyn FnMut(Elements)) {
    match layout {
        Layout::Elements { offset, basic, body } => walk(body, base + offset, *basic, visit),
        Layout::Loop { offset, count, stride, body } => {
            for i in 0..*count {
                walk_named(body, base + offset + i * stride, visit);
            }
        }
        Layout::Parts { offset, parts } => parts.iter().for_each(|part| walk_named(part, base + offset, visit)),
        Layout::Nothing | Layout::Blocks(_) | Layout::Runs { .. } => {}
    }
}

/// A layout of elements of one kind.
fn walk(layout: &Layout, base: i64, basic: Basic, visit: &mut dyn FnMut(Elements)) {
    match layout {
        Layout::Blocks(blocks) => visit_blocks(*blocks, base, basic, visit),
        Layout::Runs { offset, runs } => {
            runs.iter().for_each(|run| visit_blocks(Blocks::run(run.offset + offset, run.length), base, basic, visit));
        }
        Layout::Loop { offset, count, stride, body } => {
            for i in 0..*count {
                walk(body, base + offset + i * stride, basic, visit);
            }
        }
        Layout::Parts { offset, parts } => parts.iter().for_each(|part| walk(part, base + offset, basic, visit)),
        Layout::Nothing | Layout::Elements { .. } => {}
    }
}

fn visit_blocks(blocks: Blocks, base: i64, basic: Basic, visit: &mut dyn FnMut(Elements)) {
    let size = basic.size();
    let offset = base + blocks.offset;
    if blocks.length == size {
        let stride = if blocks.count == 1 { size } else { blocks.stride };
        visit(Elements { basic, offset, count: blocks.count, stride });
    } else {
        for i in 0..blocks.count {
            visit(Elements { basic, offset: offset + i * blocks.stride, count: blocks.length / size, stride: size });
        }
    }
}

/// Counts elements in the first `left` bytes, which it uses up; `None` if they end within an element.
fn count_elements(layout: &Layout, basic: Basic, left: &mut i64) -> Option<i64> {
    let uniform = |bytes: i64, left: &mut i64| {
        let used = bytes.min(*left);
        *left -= used;
        in_basics(basic, used)
    };
    match layout {
        Layout::Nothing => Some(0),
        Layout::Blocks(blocks) => uniform(blocks.bytes(), left),
        Layout::Runs { .. } => uniform(layout.size(), left),
        Layout::Loop { count, body, .. } => {
            let size = body.size();
            let whole = (*left / size).min(*count);
            let each = if whole > 0 { count_elements(body, basic, &mut size.clone())? } else { 0 };
            *left -= whole * size;
            let rest = if whole < *count && *left > 0 { count_elements(body, basic, left)? } else { 0 };
            Some(whole * each + rest)
        }
        Layout::Parts { parts, .. } => {
            let mut sum = 0;
            for part in parts.iter() {
                if *left == 0 {
                    break;
                }
                sum += count_elements(part, basic, left)?;
            }
            Some(sum)
        }
        Layout::Elements { basic, body, .. } => count_elements(body, *basic, left),
    }
}

/// A pair counts twice, and may end after its first part.
fn in_basics(basic: Basic, bytes: i64) -> Option<i64> {
    let whole = bytes / basic.size() * basic.elements();
    let rest = bytes % basic.size();
    match basic.pair() {
        _ if rest == 0 => Some(whole),
        Some((first, _)) if rest == first.size() => Some(whole + 1),
        _ => None,
    }
}
