//! A slab: values at stable numbers, freed numbers used again, no allocation per value.

use std::ops::{Index, IndexMut};

use crate::prefetch;

/// Stands for no number where a field holds an optional one.
pub const NONE: u32 = u32::MAX;

/// Values at stable numbers. Values are plain data: a freed one is simply written over.
pub struct Slab<T> {
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { values: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Puts a value in and returns its number.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        self.insert_with(|| value)
    }

    /// The same for a value that is made in its place: large ones are written once.
    #[inline(always)]
    pub fn insert_with(&mut self, make: impl FnOnce() -> T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.values[number as usize] = make();
            return number;
        }
        self.grow(make())
    }

    #[cold]
    fn grow(&mut self, value: T) -> u32 {
        self.values.push(value);
        (self.values.len() - 1) as u32
    }

    /// The number of the value that is put in next.
    #[inline]
    pub fn next(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.values.len() as u32)
    }

    /// Frees a number. The value may be read until the number is used again.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        debug_assert!((number as usize) < self.values.len(), "no value has number {number}");
        self.free.push(number);
    }

    /// The value of a number, or what it was before it was freed.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.values.get_mut(number as usize)
    }

    /// The value will be needed soon.
    #[inline]
    pub fn prefetch(&self, number: u32) {
        if let Some(value) = self.values.get(number as usize) {
            prefetch(value);
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values with their numbers, in the order of the numbers. For reports: it sorts the free numbers first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut free = self.free.clone();
        free.sort_unstable();
        (0..).zip(&self.values).filter(move |(number, _)| free.binary_search(number).is_err())
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.values[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert("a"), slab.insert("b"));
        slab.remove(a);
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(b, &"b")]);
        assert_eq!(slab.insert("c"), a);
        assert_eq!((slab[a], slab[b], slab.len()), ("c", "b", 2));
    }
}
