//! Error classes, codes and texts that the program has added.

use std::ffi::c_int;

/// What MPI_Add_error_class, MPI_Add_error_code and MPI_Add_error_string have added. Codes are counted from one after the
/// library's MPI_ERR_LASTCODE.
#[derive(Default)]
pub struct OwnErrors {
    /// Classes and codes share their numbers: the class of each, and its text.
    added: Vec<(c_int, String)>,
}

impl OwnErrors {
    /// A new class.
    pub fn add_class(&mut self, last_code: c_int) -> c_int {
        let class = last_code + 1 + self.added.len() as c_int;
        self.added.push((class, String::new()));
        class
    }

    /// A new code of a class.
    pub fn add_code(&mut self, last_code: c_int, class: c_int) -> c_int {
        let code = last_code + 1 + self.added.len() as c_int;
        self.added.push((class, String::new()));
        code
    }

    /// Says what a code means; false if the program has not added it.
    pub fn set_text(&mut self, last_code: c_int, code: c_int, text: &str) -> bool {
        let place = code.checked_sub(last_code + 1).and_then(|place| usize::try_from(place).ok());
        let Some(entry) = place.and_then(|place| self.added.get_mut(place)) else { return false };
        text.clone_into(&mut entry.1);
        true
    }

    /// Class and text of a code that was added.
    pub fn get(&self, last_code: c_int, code: c_int) -> Option<(c_int, &str)> {
        let place = usize::try_from(code.checked_sub(last_code + 1)?).ok()?;
        self.added.get(place).map(|(class, text)| (*class, text.as_str()))
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
    }
}
