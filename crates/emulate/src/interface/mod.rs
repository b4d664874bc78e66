//! The interface that `hpcast cc`, `cxx` and `f90` compile programs for: header, modules and a library to link with.
//!
//! It is the standard ABI of MPI 5.0. `functions.tsv` holds what the standard says of each function: its name, the type that it
//! gives and its parameters in C; most lines were read off the prototypes in MPICH 5.0's `mpi_abi.h`. A few types there tell more than C does: `logical` is an int that is a LOGICAL in Fortran,
//! `word` and `pointer` are addresses that are an INTEGER(KIND=MPI_ADDRESS_KIND) and a TYPE(C_PTR), `old_word` and
//! `old_aint` those that MPI-1 had as INTEGER. Constants come from the table of the ABI. Only functions that are really here get
//! into the header and the modules, so that a program which needs others does not compile.

mod c;
mod fortran;

use std::collections::HashSet;

pub use c::{header, library};
pub use fortran::{header as fortran_header, modules as fortran_modules};

use crate::abi::{self, Kind};
use crate::functions;

const TABLE: &str = include_str!("functions.tsv");

/// A function of the standard.
struct Declaration {
    name: &'static str,
    /// What it gives in C.
    gives: &'static str,
    parameters: Vec<Parameter>,
}

/// A parameter: `const int sendcounts[]`.
struct Parameter {
    /// Without const and stars.
    base: &'static str,
    name: &'static str,
    is_const: bool,
    /// Stars before the name.
    stars: usize,
    /// What follows the name: `[]`, `[][3]` or nothing.
    brackets: &'static str,
}

impl Parameter {
    fn parse(text: &'static str) -> Parameter {
        let (text, brackets) = match text.find('[') {
            Some(place) => text.split_at(place),
            None => (text, ""),
        };
        let (is_const, text) = text.strip_prefix("const ").map_or((false, text), |rest| (true, rest));
        let start = text.rfind([' ', '*']).map_or(0, |place| place + 1);
        let (before, name) = text.split_at(start);
        let stars = before.matches('*').count();
        Parameter { base: before.trim_end_matches(['*', ' ']), name, is_const, stars, brackets }
    }

    /// Whether it stands for further arguments (`...`).
    fn is_open(&self) -> bool {
        self.name == "..."
    }

    /// A function of the program.
    fn is_callback(&self) -> bool {
        self.base.ends_with("_function") || self.base.ends_with("_function_c")
    }
}

impl Declaration {
    /// Functions that only C has: conversions of handles and the interface of tools.
    fn is_for_c_only(&self) -> bool {
        let ends = ["_c2f", "_f2c", "_toint", "_fromint"];
        self.name.starts_with("MPI_T_") || ends.iter().any(|end| self.name.ends_with(end))
    }

    /// The name that Fortran calls, with the underscore of its compilers.
    fn fortran_symbol(&self) -> String {
        format!("{}_", self.name.to_lowercase())
    }

    /// Functions that MPI-3.0 has removed.
    fn is_removed(&self) -> bool {
        const REMOVED: [&str; 10] = [
            "MPI_Address",
            "MPI_Errhandler_create",
            "MPI_Errhandler_get",
            "MPI_Errhandler_set",
            "MPI_Type_extent",
            "MPI_Type_hindexed",
            "MPI_Type_hvector",
            "MPI_Type_lb",
            "MPI_Type_struct",
            "MPI_Type_ub",
        ];
        REMOVED.contains(&self.name)
    }
}

/// All functions of the standard.
fn standard() -> impl Iterator<Item = Declaration> {
    TABLE.lines().map(|line| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (name, gives, parameters) = (next(), next(), next());
        let parameters = parameters.split(", ").filter(|text| !text.is_empty()).map(Parameter::parse).collect();
        Declaration { name, gives, parameters }
    })
}

/// Symbols that programs find here.
fn present() -> HashSet<String> {
    let of_function =
        |function: &functions::Function| [function.name.to_owned(), format!("{}_", function.name.to_lowercase())];
    let functions = functions::functions().flat_map(of_function);
    functions.chain(functions::others().into_iter().map(|(name, _)| name.to_owned())).collect()
}

/// Functions of the standard that are here.
fn declarations() -> Vec<Declaration> {
    let present = present();
    standard().filter(|declaration| present.contains(declaration.name)).collect()
}

/// A constant of the ABI.
struct Constant {
    name: &'static str,
    value: i64,
    /// What it is a handle of.
    kind: Option<Kind>,
}

impl Constant {
    /// Markers that set the bounds of a datatype, which MPI-3.0 has removed.
    fn is_removed(&self) -> bool {
        ["MPI_LB", "MPI_UB"].contains(&self.name)
    }
}

fn constants() -> Vec<Constant> {
    let constant = |(name, value): (&'static str, i64)| {
        let kind = Kind::ALL.into_iter().find(|kind| kind.has(name));
        Constant { name, value, kind }
    };
    abi::standard_values().map(constant).collect()
}

/// Whether a function of the standard is here.
pub struct Coverage {
    /// As in C: `MPI_Send`.
    pub name: &'static str,
    /// Whether C programs can call it.
    pub in_c: bool,
    /// Whether Fortran programs can; none if Fortran does not have it.
    pub in_fortran: Option<bool>,
}

/// What of MPI 5.0 is here, with what older versions had.
pub fn coverage() -> Vec<Coverage> {
    let present = present();
    let cover = |declaration: Declaration| Coverage {
        name: declaration.name,
        in_c: present.contains(declaration.name),
        in_fortran: (!declaration.is_for_c_only()).then(|| present.contains(&declaration.fortran_symbol())),
    };
    standard().map(cover).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type as far as both tables must agree: addresses are addresses, and long integers are long integers.
    fn plain(base: &str, stars: usize) -> String {
        let base = match base {
            "logical" => "int",
            "word" | "old_word" | "pointer" => return "void *".into(),
            "MPI_Offset" | "MPI_Count" | "old_aint" => "MPI_Aint",
            base => base,
        };
        format!("{base}{}", " *".repeat(stars.min(1)))
    }

    #[test]
    fn every_function_is_declared_as_it_is_written() {
        let declared: Vec<_> = standard().collect();
        for function in functions::functions() {
            let found = declared.iter().find(|declaration| declaration.name == function.name);
            let Some(found) = found else { panic!("{} is not in the table", function.name) };
            let parameters: Vec<_> = found.parameters.iter().filter(|parameter| !parameter.is_open()).collect();
            assert_eq!(parameters.len(), function.parameters.len(), "{}", function.name);
            for (parameter, (in_c, name)) in parameters.iter().zip(function.parameters) {
                let stars = parameter.stars + parameter.brackets.matches("[]").count();
                let written_stars = in_c.matches('*').count();
                let base = in_c.trim_start_matches("const ").trim_end_matches([' ', '*']);
                let (table, code) = (plain(parameter.base, stars), plain(base, written_stars));
                let is_address = stars > 0 && code == "void *" || in_c.contains("(*)");
                assert!(table == code || is_address, "{}: {name} is {table}, not {code}", function.name);
            }
        }
    }

    #[test]
    fn parameters_are_read() {
        let parameter = Parameter::parse("const int sendcounts[]");
        assert_eq!((parameter.base, parameter.name, parameter.brackets), ("int", "sendcounts", "[]"));
        let parameter = Parameter::parse("char ***argv");
        assert_eq!((parameter.base, parameter.name, parameter.stars), ("char", "argv", 3));
    }

    #[test]
    fn coverage_knows_what_is_there() {
        let coverage = coverage();
        let send = coverage.iter().find(|function| function.name == "MPI_Send").expect("a function of MPI");
        assert!(send.in_c && send.in_fortran == Some(true));
        let convert = coverage.iter().find(|function| function.name == "MPI_Comm_c2f").expect("a function of MPI");
        assert!(convert.in_c && convert.in_fortran.is_none());
    }
}
