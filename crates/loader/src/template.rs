//! What the private pages of a new copy hold: pages with their contents as if the copy began at address 0, and the places to
//! which its address is to be added. Pages without anything in them are left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::elf::PAGE;

const SIZE: usize = PAGE as usize;

/// An address or another number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The same in all copies.
    Absolute(u64),
    /// From the beginning of the copy.
    Relative(u64),
}

impl Value {
    /// A bit further on.
    pub fn plus(self, addend: u64) -> Self {
        match self {
            Self::Absolute(value) => Self::Absolute(value.wrapping_add(addend)),
            Self::Relative(value) => Self::Relative(value.wrapping_add(addend)),
        }
    }
}

/// A template in the making.
#[derive(Default)]
pub struct Template {
    pages: BTreeMap<u64, Box<[u8; SIZE]>>,
    moving: BTreeSet<u64>,
}

impl Template {
    /// Calls a function with the parts of a range, page by page: number of the page, part of the page, part of the range.
    fn parts(offset: u64, len: usize, mut each: impl FnMut(u64, std::ops::Range<usize>, std::ops::Range<usize>)) {
        let mut done = 0;
        while done < len {
            let place = offset + done as u64;
            let start = (place % PAGE) as usize;
            let count = (SIZE - start).min(len - done);
            each(place / PAGE, start..start + count, done..done + count);
            done += count;
        }
    }

    /// Puts bytes somewhere.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        Self::parts(offset, bytes.len(), |page, inside, from| {
            let (bytes, known) = (&bytes[from], self.pages.contains_key(&page));
            if known || bytes.iter().any(|&byte| byte != 0) {
                self.pages.entry(page).or_insert_with(|| Box::new([0; SIZE]))[inside].copy_from_slice(bytes);
            }
        });
    }

    /// What is there.
    pub fn word(&self, offset: u64) -> u64 {
        let mut word = [0; 8];
        Self::parts(offset, 8, |page, inside, to| {
            if let Some(page) = self.pages.get(&page) {
                word[to].copy_from_slice(&page[inside]);
            }
        });
        u64::from_le_bytes(word)
    }

    /// What is there, if it is the same in all copies.
    pub fn constant(&self, offset: u64) -> Option<u64> {
        let moves = self.moving.range(offset.saturating_sub(7)..offset + 8).next().is_some();
        (!moves).then(|| self.word(offset))
    }

    /// Puts a number somewhere.
    pub fn set(&mut self, offset: u64, value: Value) {
        match value {
            Value::Absolute(value) => {
                self.moving.remove(&offset);
                self.write(offset, &value.to_le_bytes());
            }
            Value::Relative(value) => {
                self.moving.insert(offset);
                self.write(offset, &value.to_le_bytes());
            }
        }
    }

    /// Copies a range, with the addresses in it.
    pub fn copy(&mut self, from: u64, to: u64, len: u64) {
        // Only pages that are there: the target has nothing in it yet.
        let pages: Vec<u64> =
            self.pages.range(from / PAGE..(from + len).div_ceil(PAGE)).map(|(&page, _)| page).collect();
        for page in pages {
            let (start, end) = (from.max(page * PAGE), (from + len).min((page + 1) * PAGE));
            let bytes = self.pages[&page][(start - page * PAGE) as usize..(end - page * PAGE) as usize].to_vec();
            self.write(to + (start - from), &bytes);
        }
        let stale: Vec<u64> = self.moving.range(to..to + len).copied().collect();
        for offset in stale {
            self.moving.remove(&offset);
        }
        // A word that sticks out at the end is not an address any more.
        let moved: Vec<u64> = self.moving.range(from..(from + len).saturating_sub(7).max(from)).copied().collect();
        self.moving.extend(moved.into_iter().map(|offset| to + (offset - from)));
    }

    /// The template in the form in which it is copied.
    pub fn finish(&self) -> Filled {
        let mut parts: Vec<(usize, Vec<u8>)> = Vec::new();
        for (number, page) in &self.pages {
            if page.iter().all(|&byte| byte == 0) {
                continue;
            }
            let offset = (number * PAGE) as usize;
            match parts.last_mut() {
                Some((start, bytes)) if *start + bytes.len() == offset => bytes.extend_from_slice(&page[..]),
                _ => parts.push((offset, page.to_vec())),
            }
        }
        Filled { parts, moving: self.moving.iter().map(|&offset| offset as usize).collect() }
    }
}

/// A template to be copied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filled {
    /// Whole pages, by offset.
    pub parts: Vec<(usize, Vec<u8>)>,
    /// Words to which the address of the copy is added.
    pub moving: Vec<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_zeros_are_left_out() {
        let mut template = Template::default();
        template.write(3 * PAGE, &[0; 100]);
        template.write(PAGE - 1, &[1, 2]);
        template.set(5 * PAGE, Value::Relative(0));
        let filled = template.finish();
        assert_eq!(filled.parts.len(), 1);
        assert_eq!((filled.parts[0].0, filled.parts[0].1.len()), (0, 2 * SIZE));
        assert_eq!(filled.parts[0].1[SIZE - 1..=SIZE], [1, 2]);
        assert_eq!(filled.moving, [5 * SIZE]);
    }

    #[test]
    fn copies_take_addresses_along() {
        let mut template = Template::default();
        template.set(PAGE - 4, Value::Relative(77));
        template.set(PAGE + 16, Value::Relative(78));
        template.set(9 * PAGE, Value::Relative(1));
        template.copy(PAGE - 8, 9 * PAGE, 24);
        assert_eq!(template.word(9 * PAGE + 4), 77);
        let moving: Vec<u64> = template.moving.iter().copied().collect();
        assert_eq!(moving, [PAGE - 4, PAGE + 16, 9 * PAGE + 4], "the word at the end is outside, the old one is gone");
    }

    #[test]
    fn numbers_replace_addresses() {
        let mut template = Template::default();
        template.set(8, Value::Relative(1));
        template.set(8, Value::Absolute(2));
        assert_eq!(template.finish().moving, [0usize; 0]);
        assert_eq!(template.word(8), 2);
    }
}
