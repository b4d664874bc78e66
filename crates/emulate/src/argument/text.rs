//! Strings.

use std::ffi::{CStr, c_char, c_int};

use super::Argument;
use crate::call::{Call, Lengths};

/// Text that the program passes.
#[derive(Clone, Debug)]
pub struct Text(pub String);

impl Argument for Text {
    const IN_C: &'static str = "const char *";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> Text {
        if word == 0 {
            return Text(String::new());
        }
        // SAFETY: a string of C.
        let text = unsafe { CStr::from_ptr(word as *const c_char) };
        Text(text.to_string_lossy().into_owned())
    }
    unsafe fn from_fortran(word: usize, _: &Call<'_>, lengths: &Lengths) -> Text {
        // SAFETY: Fortran passes the length of each string.
        let bytes = unsafe { std::slice::from_raw_parts(word as *const u8, lengths.next()) };
        // Blanks at the end are what fills the variable up; those at the beginning are dropped as the standard says.
        Text(String::from_utf8_lossy(bytes).trim_matches(' ').to_owned())
    }
}

/// Where text goes.
#[derive(Clone, Copy, Debug)]
pub struct TextAt {
    address: usize,
    /// Length of a Fortran variable.
    length: Option<usize>,
}

impl Argument for TextAt {
    const IN_C: &'static str = "char *";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> TextAt {
        TextAt { address: word, length: None }
    }
    unsafe fn from_fortran(word: usize, _: &Call<'_>, lengths: &Lengths) -> TextAt {
        TextAt { address: word, length: Some(lengths.next()) }
    }
}

impl TextAt {
    /// Writes text; C has room for `room` characters and the zero. Returns how many were written.
    pub fn set(self, text: &str, room: usize) -> c_int {
        let text = text.as_bytes();
        let at = self.address as *mut u8;
        // SAFETY: the program says that there is room.
        unsafe {
            if let Some(length) = self.length {
                let count = text.len().min(length);
                at.copy_from_nonoverlapping(text.as_ptr(), count);
                at.add(count).write_bytes(b' ', length - count);
                count as c_int
            } else {
                let count = text.len().min(room);
                at.copy_from_nonoverlapping(text.as_ptr(), count);
                at.add(count).write(0);
                count as c_int
            }
        }
    }
}
