//! The objects of one kind that a program has made, by number.

use std::cell::RefCell;

use crate::abi::FIRST_OWN;

/// Objects by number. They are handed out as clones, which are cheap.
pub struct Table<T> {
    items: RefCell<Vec<Option<T>>>,
    free: RefCell<Vec<u32>>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { items: RefCell::default(), free: RefCell::default() }
    }
}

impl<T> Table<T> {
    /// Keeps an object and gives its number.
    pub fn insert(&self, item: T) -> u32 {
        let mut items = self.items.borrow_mut();
        if let Some(place) = self.free.borrow_mut().pop() {
            items[place as usize] = Some(item);
            return place + FIRST_OWN;
        }
        items.push(Some(item));
        items.len() as u32 - 1 + FIRST_OWN
    }

    /// Takes an object out; its number may be given again.
    pub fn remove(&self, number: u32) -> Option<T> {
        let place = number.checked_sub(FIRST_OWN)?;
        let item = self.items.borrow_mut().get_mut(place as usize)?.take()?;
        self.free.borrow_mut().push(place);
        Some(item)
    }

    /// Takes an object out for a while; its number stays taken until it is put back.
    pub fn take(&self, number: u32) -> Option<T> {
        self.items.borrow_mut().get_mut(number.checked_sub(FIRST_OWN)? as usize)?.take()
    }

    /// Puts an object back that was taken, or another in its place.
    pub fn put_back(&self, number: u32, item: T) {
        self.items.borrow_mut()[(number - FIRST_OWN) as usize] = Some(item);
    }

    /// Changes or looks at an object in its place.
    pub fn with<R>(&self, number: u32, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        let place = number.checked_sub(FIRST_OWN)? as usize;
        self.items.borrow_mut().get_mut(place)?.as_mut().map(look)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.items.borrow().iter().filter(|item| item.is_some()).count() as u64
    }

    /// Numbers of all objects.
    pub fn numbers(&self) -> Vec<u32> {
        (FIRST_OWN..)
            .zip(self.items.borrow().iter())
            .filter(|(_, item)| item.is_some())
            .map(|(number, _)| number)
            .collect()
    }
}

impl<T: Clone> Table<T> {
    /// The object of that number.
    pub fn get(&self, number: u32) -> Option<T> {
        self.items.borrow().get(number.checked_sub(FIRST_OWN)? as usize)?.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_again() {
        let table = Table::default();
        let (one, two) = (table.insert("one"), table.insert("two"));
        assert_ne!(one, two);
        assert_eq!(table.get(one), Some("one"));
        assert_eq!(table.remove(one), Some("one"));
        assert_eq!(table.remove(one), None);
        assert_eq!(table.get(one), None);
        assert_eq!(table.insert("three"), one);
        assert_eq!(table.get(3), None);
        assert_eq!(table.numbers(), [one, two]);
    }
}
