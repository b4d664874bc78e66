//! Handles: the program's words for communicators, datatypes and the rest, and our numbers for them.
//!
//! Predefined objects have the first numbers of their kind, in the order of [`Kind::predefined`]; those that a program makes
//! have the others, from [`FIRST_OWN`] on. Numbers are the same in C and Fortran.

use hpcast_objects::{Basic, Operation};

use super::cells::{Cells, Place};
use super::{Library, lines};

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// MPI_Comm
    Comm,
    /// MPI_Group
    Group,
    /// MPI_Datatype
    Datatype,
    /// MPI_Request
    Request,
    /// MPI_Op
    Op,
    /// MPI_Errhandler
    Errhandler,
    /// MPI_Info
    Info,
    /// MPI_Win
    Win,
    /// MPI_File
    File,
    /// MPI_Message
    Message,
    /// MPI_Session
    Session,
}

/// A word that is no handle of the kind.
pub const INVALID: u32 = u32::MAX;

/// The first number of an object that the program made.
pub(crate) const FIRST_OWN: u32 = 128;

/// Words of the standard have ten bits.
const SMALL_WORDS: i32 = 1 << 10;

/// Marks the integers that stand for objects of the program: no library has a predefined handle with these bits.
const OWN: u32 = 0x7000_0000;

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 11] = [
        Kind::Comm,
        Kind::Group,
        Kind::Datatype,
        Kind::Request,
        Kind::Op,
        Kind::Errhandler,
        Kind::Info,
        Kind::Win,
        Kind::File,
        Kind::Message,
        Kind::Session,
    ];

    /// Names of the predefined objects; the place in the list is the number.
    pub fn predefined(self) -> Vec<&'static str> {
        match self {
            Kind::Comm => vec!["MPI_COMM_NULL", "MPI_COMM_WORLD", "MPI_COMM_SELF"],
            Kind::Group => vec!["MPI_GROUP_NULL", "MPI_GROUP_EMPTY"],
            Kind::Datatype => {
                std::iter::once("MPI_DATATYPE_NULL").chain(Basic::ALL.iter().map(|basic| basic.name())).collect()
            }
            Kind::Request => vec!["MPI_REQUEST_NULL"],
            Kind::Op => {
                std::iter::once("MPI_OP_NULL").chain(Operation::ALL.iter().map(|operation| operation.name())).collect()
            }
            Kind::Errhandler => {
                // The last is that of C++.
                let own = ["MPI_ERRORS_ARE_FATAL", "MPI_ERRORS_RETURN", "MPI_ERRORS_ABORT"];
                [&["MPI_ERRHANDLER_NULL"], &own[..], &["MPI_ERRORS_THROW_EXCEPTIONS"]].concat()
            }
            Kind::Info => vec!["MPI_INFO_NULL", "MPI_INFO_ENV"],
            Kind::Win => vec!["MPI_WIN_NULL"],
            Kind::File => vec!["MPI_FILE_NULL"],
            Kind::Message => vec!["MPI_MESSAGE_NULL", "MPI_MESSAGE_NO_PROC"],
            Kind::Session => vec!["MPI_SESSION_NULL"],
        }
    }

    /// Whether a constant is a handle of that kind.
    pub(crate) fn has(self, name: &str) -> bool {
        self.number_of(name).is_some()
    }

    /// The number of a predefined object; other names of the same thing are known too.
    fn number_of(self, name: &str) -> Option<u32> {
        let name = match name {
            "MPI_CXX_COMPLEX" => "MPI_CXX_FLOAT_COMPLEX",
            name => name,
        };
        if self == Kind::Datatype
            && let Some(basic) = Basic::from_name(name)
        {
            return Some(basic as u32 + 1);
        }
        self.predefined().iter().position(|&known| known == name).map(|place| place as u32)
    }
}

/// Predefined handles of one kind: words and numbers.
#[derive(Default)]
struct Predefined {
    /// Sorted by word.
    by_word: Vec<(i32, u32)>,
    /// Numbers of small words, and 0 for all others: the standard's words are no larger.
    by_small_word: Vec<u32>,
    by_number: Vec<Option<i32>>,
}

impl Predefined {
    fn add(&mut self, word: i32, number: u32) {
        if self.by_number.len() <= number as usize {
            self.by_number.resize(number as usize + 1, None);
        }
        self.by_number[number as usize].get_or_insert(word);
        // A library may define what it does not have as the null handle: that comes first.
        match self.by_word.binary_search_by_key(&word, |&(word, _)| word) {
            Ok(place) => self.by_word[place].1 = self.by_word[place].1.min(number),
            Err(place) => self.by_word.insert(place, (word, number)),
        }
        if (0..SMALL_WORDS).contains(&word) {
            self.by_small_word.resize(SMALL_WORDS as usize, 0);
            self.by_small_word[word as usize] = self.search(word);
        }
    }

    fn number(&self, word: i32) -> u32 {
        if word as u32 & 0xF000_0000 == OWN {
            return word as u32 & !OWN;
        }
        match self.by_small_word.get(word as usize) {
            Some(&number) if number != 0 => number,
            _ => self.search(word),
        }
    }

    fn search(&self, word: i32) -> u32 {
        match self.by_word.binary_search_by_key(&word, |&(word, _)| word) {
            Ok(place) => self.by_word[place].1,
            Err(_) => INVALID,
        }
    }

    fn word(&self, number: u32) -> i32 {
        if number >= FIRST_OWN {
            return (OWN | number) as i32;
        }
        self.by_number
            .get(number as usize)
            .copied()
            .flatten()
            .or(self.by_number.first().copied().flatten())
            .unwrap_or(0)
    }
}

/// How handles look in C and in Fortran.
pub struct Handles {
    library: Library,
    c: [Predefined; Kind::ALL.len()],
    fortran: [Predefined; Kind::ALL.len()],
    cells: Cells,
}

impl Handles {
    pub(super) fn new(library: Library) -> Handles {
        let (column, fortran_column) = library.columns();
        let mut handles =
            Handles { library, c: Default::default(), fortran: Default::default(), cells: Cells::default() };
        for (name, fields) in lines() {
            for kind in Kind::ALL {
                let Some(number) = kind.number_of(name) else { continue };
                if let Ok(word) = fields[fortran_column].parse() {
                    handles.fortran[kind as usize].add(word, number);
                }
                match fields[column].parse() {
                    Ok(word) => handles.c[kind as usize].add(word, number),
                    Err(_) if library == Library::OpenMpi && fields[column] != "-" => {
                        handles.cells.add(kind, number, fields[column]);
                    }
                    Err(_) => {}
                }
            }
        }
        handles
    }

    /// The objects of the library that stand for predefined handles.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Where the program's copies of those objects are.
    pub fn set_places(&mut self, place: impl Fn(&str) -> Option<Place>) {
        self.cells.set_places(place);
    }

    /// The number of a handle that C passed; `base` is where the program of the rank is loaded.
    ///
    /// # Safety
    /// With Open MPI's interface, the word must be a handle: it is the address of an object.
    #[inline]
    pub unsafe fn from_c(&self, kind: Kind, word: usize, base: usize) -> u32 {
        match self.library {
            // SAFETY: as above.
            Library::OpenMpi => unsafe { self.cells.number(word, base) },
            Library::Mpich if kind == Kind::File => {
                if word == 0 {
                    0
                } else {
                    word as u32 & !OWN
                }
            }
            Library::Mpich | Library::Standard => self.c[kind as usize].number(word as i32),
        }
    }

    /// The handle of a number, for C; `base` is where the program of the rank is loaded.
    #[inline]
    pub fn to_c(&self, kind: Kind, number: u32, base: usize) -> usize {
        match self.library {
            Library::OpenMpi => self.cells.address(kind, number, base),
            Library::Mpich if kind == Kind::File => {
                if number == 0 {
                    0
                } else {
                    (OWN | number) as usize
                }
            }
            Library::Mpich => self.c[kind as usize].word(number) as usize,
            Library::Standard => self.c[kind as usize].word(number) as u32 as usize,
        }
    }

    /// The number of a handle that Fortran passed.
    #[inline]
    pub fn from_fortran(&self, kind: Kind, word: i32) -> u32 {
        self.fortran[kind as usize].number(word)
    }

    /// The handle of a number, for Fortran.
    #[inline]
    pub fn to_fortran(&self, kind: Kind, number: u32) -> i32 {
        self.fortran[kind as usize].word(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_predefined_objects_lead_back() {
        for library in [Library::Standard, Library::Mpich] {
            let handles = Handles::new(library);
            for kind in Kind::ALL {
                for (number, name) in (0..).zip(kind.predefined()) {
                    let word = handles.to_c(kind, number, 0);
                    // SAFETY: only Open MPI's words are addresses.
                    let back = unsafe { handles.from_c(kind, word, 0) };
                    assert!(back == number || back == 0, "{name} of {library:?}: {number} becomes {back}");
                }
            }
        }
    }

    #[test]
    fn handles_of_open_mpi_are_addresses_of_objects() {
        let handles = Handles::new(Library::OpenMpi);
        for (kind, number) in [(Kind::Comm, 1), (Kind::Datatype, Basic::Double as u32 + 1), (Kind::Request, 700)] {
            let word = handles.to_c(kind, number, 0);
            // SAFETY: the word was made by `to_c`.
            assert_eq!(unsafe { handles.from_c(kind, word, 0) }, number);
        }
        assert_eq!(handles.from_fortran(Kind::Comm, 0), 1);
        assert_eq!(handles.to_fortran(Kind::Comm, 1), 0);
    }
}
