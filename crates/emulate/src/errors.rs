//! Error classes, codes and texts that the program has added.

use std::ffi::c_int;

/// What MPI_Add_error_class, MPI_Add_error_code and MPI_Add_error_string have added. Codes are counted from one after the
/// library's MPI_ERR_LASTCODE.
#[derive(Default)]
pub struct OwnErrors {
    /// Classes and codes share their numbers: the class of each, and its text; nothing where it was removed.
    added: Vec<Option<(c_int, String)>>,
}

impl OwnErrors {
    /// A new class.
    pub fn add_class(&mut self, last_code: c_int) -> c_int {
        let class = last_code + 1 + self.added.len() as c_int;
        self.added.push(Some((class, String::new())));
        class
    }

    /// A new code of a class.
    pub fn add_code(&mut self, last_code: c_int, class: c_int) -> c_int {
        let code = last_code + 1 + self.added.len() as c_int;
        self.added.push(Some((class, String::new())));
        code
    }

    /// Says what a code means; false if the program has not added it.
    pub fn set_text(&mut self, last_code: c_int, code: c_int, text: &str) -> bool {
        let Some(Some(entry)) = self.entry(last_code, code) else { return false };
        text.clone_into(&mut entry.1);
        true
    }

    fn entry(&mut self, last_code: c_int, code: c_int) -> Option<&mut Option<(c_int, String)>> {
        self.added.get_mut(usize::try_from(code.checked_sub(last_code + 1)?).ok()?)
    }

    /// Removes a code or a class; false if the program has not added it, or if other codes are of that class.
    pub fn remove(&mut self, last_code: c_int, code: c_int) -> bool {
        let members = self.added.iter().flatten().filter(|(class, _)| *class == code).count();
        let Some(entry) = self.entry(last_code, code) else { return false };
        let is_class = entry.as_ref().is_some_and(|(class, _)| *class == code);
        if entry.is_none() || is_class && members > 1 {
            return false;
        }
        *entry = None;
        while self.added.last().is_some_and(Option::is_none) {
            self.added.pop();
        }
        true
    }

    /// Class and text of a code that was added.
    pub fn get(&self, last_code: c_int, code: c_int) -> Option<(c_int, &str)> {
        let place = usize::try_from(code.checked_sub(last_code + 1)?).ok()?;
        self.added.get(place)?.as_ref().map(|(class, text)| (*class, text.as_str()))
    }

    /// The value of MPI_LASTUSEDCODE.
    pub fn last_used(&self, last_code: c_int) -> c_int {
        last_code + self.added.len() as c_int
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_know_their_class_and_text() {
        let mut errors = OwnErrors::default();
        assert_eq!(errors.last_used(90), 90);
        let class = errors.add_class(90);
        let code = errors.add_code(90, class);
        assert_eq!((class, code, errors.last_used(90)), (91, 92, 92));
        assert!(errors.set_text(90, code, "too warm"));
        assert!(!errors.set_text(90, 17, "not ours") && !errors.set_text(90, 93, "nobody's"));
        assert_eq!(errors.get(90, code), Some((class, "too warm")));
        assert_eq!(errors.get(90, class), Some((class, "")));
        assert_eq!(errors.get(90, c_int::MIN), None);
        assert!(!errors.remove(90, class), "a code is of that class");
        assert!(errors.remove(90, code) && errors.remove(90, class) && !errors.remove(90, class));
        assert_eq!((errors.get(90, class), errors.last_used(90)), (None, 90));
    }
}
