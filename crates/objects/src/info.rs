//! Infos: dictionaries of short texts that keep the order of their keys.

use crate::errors::ErrorClass;

/// How long keys and values may be, in bytes and without the final zero of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest key.
    pub key: usize,
    /// The longest value.
    pub value: usize,
}

/// A dictionary; `clone` is `MPI_Info_dup`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    limits: Limits,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

/// What can be wrong with an info.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InfoError {
    /// A key that is empty or too long.
    #[error("an info key has 1 to {longest} characters, not {length}")]
    Key {
        /// Its length.
        length: usize,
        /// The longest allowed.
        longest: usize,
    },
    /// A value that is too long.
    #[error("an info value has up to {longest} characters, not {length}")]
    Value {
        /// Its length.
        length: usize,
        /// The longest allowed.
        longest: usize,
    },
    /// A key that is not there.
    #[error("the info has no such key")]
    NoKey,
    /// A key number beyond the last.
    #[error("the info has {keys} keys, and the first is number 0: there is no number {number}")]
    Number {
        /// What was asked for.
        number: usize,
        /// How many there are.
        keys: usize,
    },
}

impl InfoError {
    /// The class that the program sees.
    pub fn class(&self) -> ErrorClass {
        match self {
            InfoError::Key { .. } => ErrorClass::InfoKey,
            InfoError::Value { .. } => ErrorClass::InfoValue,
            InfoError::NoKey => ErrorClass::InfoNokey,
            InfoError::Number { .. } => ErrorClass::Arg,
        }
    }
}

impl Info {
    /// Without entries.
    pub fn new(limits: Limits) -> Info {
        Info { limits, entries: Vec::new() }
    }

    /// How many keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a key, or gives it another value.
    pub fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), InfoError> {
        self.check(key)?;
        if value.len() > self.limits.value {
            return Err(InfoError::Value { length: value.len(), longest: self.limits.value });
        }
        match self.entries.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value.to_vec(),
            None => self.entries.push((key.to_vec(), value.to_vec())),
        }
        Ok(())
    }

    /// The value of a key, if there is one.
    pub fn get(&self, key: &[u8]) -> Result<Option<&[u8]>, InfoError> {
        self.check(key)?;
        Ok(self.entries.iter().find(|entry| entry.0 == key).map(|entry| entry.1.as_slice()))
    }

    /// Removes a key.
    pub fn delete(&mut self, key: &[u8]) -> Result<(), InfoError> {
        self.check(key)?;
        let at = self.entries.iter().position(|entry| entry.0 == key).ok_or(InfoError::NoKey)?;
        self.entries.remove(at);
        Ok(())
    }

    /// The key of a number; the first is 0.
    pub fn nth_key(&self, number: usize) -> Result<&[u8], InfoError> {
        let entry = self.entries.get(number).ok_or(InfoError::Number { number, keys: self.len() })?;
        Ok(&entry.0)
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    fn check(&self, key: &[u8]) -> Result<(), InfoError> {
        if key.is_empty() || key.len() > self.limits.key {
            return Err(InfoError::Key { length: key.len(), longest: self.limits.key });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order() {
        let mut info = Info::new(Limits { key: 8, value: 4 });
        info.set(b"one", b"1").unwrap();
        info.set(b"two", b"2").unwrap();
        info.set(b"one", b"11").unwrap();
        let copy = info.clone();
        info.delete(b"one").unwrap();
        assert_eq!((info.len(), info.nth_key(0)), (1, Ok(b"two".as_slice())));
        assert_eq!((copy.len(), copy.nth_key(0), copy.get(b"one")), (2, Ok(b"one".as_slice()), Ok(Some(&b"11"[..]))));
        assert_eq!(info.get(b"one"), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let mut info = Info::new(Limits { key: 3, value: 2 });
        assert_eq!(info.set(b"", b"1"), Err(InfoError::Key { length: 0, longest: 3 }));
        assert_eq!(info.set(b"long", b"1"), Err(InfoError::Key { length: 4, longest: 3 }));
        assert_eq!(info.set(b"key", b"123").unwrap_err().class(), ErrorClass::InfoValue);
        assert_eq!(info.delete(b"key"), Err(InfoError::NoKey));
        assert_eq!(info.nth_key(0), Err(InfoError::Number { number: 0, keys: 0 }));
        assert!(info.is_empty());
    }
}
