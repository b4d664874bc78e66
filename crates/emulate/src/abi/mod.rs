//! What differs between the binary interfaces of MPI libraries: the values of constants and handles, and how a status looks.
//!
//! A program was compiled with the `mpi.h` of one library, and its constants are in its code. Inside, every predefined object
//! has one number for all libraries; here the program's words become those numbers and back. `constants.tsv` holds what the
//! headers of the libraries say: a line a name, with its value in the standard ABI of MPI 5.0 (MPICH 5.0's `mpi_abi.h`), in MPICH 4, in Open MPI 4 and in
//! the Fortran interface of Open MPI; where the value is the address of an object of the library, the name of that object. The standard ABI
//! has no markers for bounds (`MPI_LB`, `MPI_UB`): their values are ours, among the last of datatypes.
//!
//! C passes all arguments of MPI functions as integers or addresses, one machine word each, whatever the library; so one
//! function serves all three interfaces, and asks here what its words mean.

mod cells;
mod handles;
mod status;

use std::collections::HashMap;

use hpcast_objects::ErrorClass;

pub use cells::{Cells, Object, Place};
pub(crate) use handles::FIRST_OWN;
pub use handles::Kind;
pub use status::Status;

pub use handles::Handles;

/// An MPI library that programs are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// The ABI of the standard, since MPI 5.0: also what `hpcast cc` compiles for.
    Standard,
    /// MPICH and those that share its ABI.
    Mpich,
    /// Open MPI 4.
    OpenMpi,
}

impl Library {
    /// The library that a program was linked with, by the name of a shared object that it needs.
    pub fn of_needed(soname: &str) -> Option<Library> {
        let is = |name: &str| soname == name || soname.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        if is("libmpi_abi.so") || is("libmpifort_abi.so") {
            Some(Library::Standard)
        } else if is("libmpich.so")
            || is("libmpifort.so")
            || is("libmpichfort.so")
            || soname == "libmpi.so.12"
            || soname == "libmpicxx.so.12"
        {
            Some(Library::Mpich)
        } else if soname.starts_with("libmpi_") || soname == "libmpi.so.40" {
            Some(Library::OpenMpi)
        } else {
            None
        }
    }

    /// How it is called.
    pub fn name(self) -> &'static str {
        match self {
            Library::Standard => "the standard ABI of MPI 5.0",
            Library::Mpich => "MPICH",
            Library::OpenMpi => "Open MPI",
        }
    }

    /// The columns of C and of Fortran in the table.
    fn columns(self) -> (usize, usize) {
        match self {
            Library::Standard => (1, 1),
            Library::Mpich => (2, 2),
            Library::OpenMpi => (3, 4),
        }
    }
}

const TABLE: &str = include_str!("constants.tsv");

/// The lines of the table: a name and its values.
fn lines() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    TABLE.lines().map(|line| {
        let fields: Vec<_> = line.split('\t').collect();
        (fields[0], fields)
    })
}

/// What the standard ABI says of a name.
fn standard(name: &str) -> i64 {
    lines().find(|&(known, _)| known == name).and_then(|(_, fields)| fields[1].parse().ok()).unwrap_or_default()
}

/// Constants of the standard ABI.
pub(crate) fn standard_values() -> impl Iterator<Item = (&'static str, i64)> {
    lines().filter_map(|(name, fields)| fields[1].parse().ok().map(|value| (name, value)))
}

/// Variables of Open MPI for handles that only it has, and that cannot be used here.
pub(crate) fn unusable() -> impl Iterator<Item = &'static str> {
    let (column, _) = Library::OpenMpi.columns();
    lines()
        .filter(|(_, fields)| fields[1] == "-")
        .map(move |(_, fields)| fields[column])
        .filter(|name| name.starts_with("ompi_"))
}

/// Variables of MPICH that hold an address with a meaning; C reads them.
pub fn variable(symbol: &str) -> Option<(usize, usize)> {
    static VARIABLES: std::sync::OnceLock<[usize; 2]> = std::sync::OnceLock::new();
    const NAMES: [&str; 2] = ["MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"];
    let place = NAMES.iter().position(|&name| name == symbol)?;
    let values = VARIABLES.get_or_init(|| NAMES.map(|name| standard(name) as usize));
    Some((&raw const values[place] as usize, size_of::<usize>()))
}

/// The interface of one library.
pub struct Abi {
    /// Whose interface it is.
    pub library: Library,
    values: HashMap<&'static str, i64>,
    /// Classes by code, and codes by class.
    errors: (HashMap<i32, ErrorClass>, HashMap<ErrorClass, i32>),
    handles: Handles,
    /// `MPI_ANY_SOURCE`
    pub any_source: i32,
    /// `MPI_PROC_NULL`
    pub proc_null: i32,
    /// `MPI_ROOT`
    pub root: i32,
    /// `MPI_ANY_TAG`
    pub any_tag: i32,
    /// `MPI_UNDEFINED`
    pub undefined: i32,
    /// `MPI_IN_PLACE`
    pub in_place: usize,
    /// `MPI_STATUS_IGNORE`, which is also that of several.
    pub status_ignore: usize,
    /// `MPI_UNWEIGHTED`
    pub unweighted: usize,
    /// `MPI_WEIGHTS_EMPTY`
    pub weights_empty: usize,
}

impl Abi {
    /// The interface of a library; what it says is read once a run.
    pub fn new(library: Library) -> Abi {
        let (column, _) = library.columns();
        let values: HashMap<&str, i64> =
            lines().filter_map(|(name, fields)| fields[column].parse().ok().map(|value| (name, value))).collect();
        let code = |class: &ErrorClass| values.get(class.name()).map(|&value| (*class, value as i32));
        let codes: HashMap<ErrorClass, i32> = ErrorClass::ALL.iter().filter_map(code).collect();
        let classes = codes.iter().map(|(&class, &code)| (code, class)).collect();
        let value = |name: &str| values.get(name).copied().unwrap_or_default();
        // Where the library has a variable, ours holds what the standard ABI says.
        let pointer = |name: &str| values.get(name).copied().unwrap_or_else(|| standard(name)) as usize;
        Abi {
            library,
            handles: Handles::new(library),
            any_source: value("MPI_ANY_SOURCE") as i32,
            proc_null: value("MPI_PROC_NULL") as i32,
            root: value("MPI_ROOT") as i32,
            any_tag: value("MPI_ANY_TAG") as i32,
            undefined: value("MPI_UNDEFINED") as i32,
            in_place: value("MPI_IN_PLACE") as usize,
            status_ignore: value("MPI_STATUS_IGNORE") as usize,
            unweighted: pointer("MPI_UNWEIGHTED"),
            weights_empty: pointer("MPI_WEIGHTS_EMPTY"),
            errors: (classes, codes),
            values,
        }
    }

    /// The value of a constant that is no handle; 0 where the library does not have it.
    pub fn constant(&self, name: &str) -> i32 {
        self.values.get(name).copied().unwrap_or_default() as i32
    }

    /// The name among these whose constant has that value.
    pub fn name_of<'n>(&self, value: i32, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.values.get(name) == Some(&i64::from(value)))
    }

    /// The code of an error class; libraries without the class have a more general one.
    pub fn error_code(&self, class: ErrorClass) -> i32 {
        let codes = &self.errors.1;
        codes.get(&class).or_else(|| codes.get(&ErrorClass::Other)).copied().unwrap_or(1)
    }

    /// The class of one of the library's codes.
    pub fn error_class(&self, code: i32) -> Option<ErrorClass> {
        self.errors.0.get(&code).copied()
    }

    /// Where the handles are.
    pub fn handles(&self) -> &Handles {
        &self.handles
    }

    /// Where the program's copies of Open MPI's objects are.
    pub fn places(&mut self, place: impl Fn(&str) -> Option<Place>) {
        self.handles.set_places(place);
    }

    /// Bytes of a handle of that kind in C.
    pub fn handle_size(&self, kind: Kind) -> usize {
        if self.library == Library::Mpich && kind != Kind::File { 4 } else { 8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_has_the_constants_that_all_programs_use() {
        for library in [Library::Standard, Library::Mpich, Library::OpenMpi] {
            let abi = Abi::new(library);
            assert!(abi.any_source < 0 && abi.proc_null < 0 && abi.any_source != abi.proc_null, "{library:?}");
            assert_eq!(abi.undefined, -32766);
            assert_ne!(abi.constant("MPI_TAG_UB"), abi.constant("MPI_UNIVERSE_SIZE"));
            for &class in ErrorClass::ALL {
                let code = abi.error_code(class);
                assert!(code >= 0, "{class:?} {library:?}");
            }
            assert_eq!(abi.error_class(abi.error_code(ErrorClass::Truncate)), Some(ErrorClass::Truncate));
        }
    }

    #[test]
    fn libraries_are_known_by_their_files() {
        assert_eq!(Library::of_needed("libmpi.so.40"), Some(Library::OpenMpi));
        assert_eq!(Library::of_needed("libmpi_mpifh.so.40"), Some(Library::OpenMpi));
        assert_eq!(Library::of_needed("libmpi.so.12"), Some(Library::Mpich));
        assert_eq!(Library::of_needed("libmpich.so.12"), Some(Library::Mpich));
        assert_eq!(Library::of_needed("libmpi_abi.so.1"), Some(Library::Standard));
        assert_eq!(Library::of_needed("libm.so.6"), None);
    }
}
