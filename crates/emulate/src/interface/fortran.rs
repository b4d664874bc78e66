//! `mpif.h` and the modules `mpi` and `mpi_f08`.
//!
//! Handles are integers with the values of C. Variables with a meaning, such as MPI_IN_PLACE, are in common blocks: their place
//! says which they are. The routines of `mpi_f08` are those of `mpi` under other names, with an error code that may be left
//! out; handles there are types with one integer, which compilers pass as they pass the integer.

use std::fmt::Write;

use super::{Constant, Declaration, Parameter, constants, declarations, present};
use crate::abi::Kind;

/// Blocks of variables with a meaning.
pub(super) const BLOCKS: [&str; 5] = ["mpipriv1", "mpipriv2", "mpiprivc", "mpifcmb5", "mpifcmb9"];

/// Common to all three: variables and kinds. Lines are right in free and in fixed form.
const COMMON: &str = include_str!("common.fh");

/// Types of the module `mpi_f08`.
const F08: &str = include_str!("f08.f90");

/// MPI_Sizeof, which both modules have.
const SIZES: &str = include_str!("sizes.f90");

/// Symbols that Fortran programs call, without those for profilers.
pub(super) fn symbols() -> Vec<String> {
    let present = present();
    let of_routines = declarations().into_iter().filter(|declaration| !declaration.is_for_c_only());
    let names = of_routines.flat_map(|declaration| {
        let lower = declaration.name.to_lowercase();
        [format!("{lower}_"), format!("{lower}_abi_")]
    });
    let mut names: Vec<String> = names.chain(present.into_iter().filter(|name| name.starts_with("mpi_"))).collect();
    names.sort();
    names.dedup();
    names
}

/// `mpif.h`, for free and fixed form.
pub fn header() -> String {
    let mut text = String::from("! MPI 5.0, made by hpcast\n");
    text += COMMON;
    for constant in constants().iter().filter(|constant| constant.is_in_fortran()) {
        let name = constant.name;
        let _ = writeln!(text, "      integer {name}\n      parameter ({name}={})", constant.in_fortran());
    }
    text += STATUS_AND_BOTTOM;
    for profiler in ["", "P"] {
        let (time, tick) = (format!("{profiler}MPI_WTIME"), format!("{profiler}MPI_WTICK"));
        let _ = writeln!(text, "      double precision {time}, {tick}\n      external {time}, {tick}");
        let (add, diff) = (format!("{profiler}MPI_AINT_ADD"), format!("{profiler}MPI_AINT_DIFF"));
        let _ = writeln!(text, "      integer*8 {add}, {diff}\n      external {add}, {diff}");
    }
    for name in PREDEFINED {
        let _ = writeln!(text, "      external {name}");
    }
    text
}

/// Where a status has what, and the variables whose types the modules do not share.
const STATUS_AND_BOTTOM: &str = "      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      integer MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
      integer MPI_BOTTOM, MPI_IN_PLACE, MPI_ERRCODES_IGNORE(1)
      common /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
      common /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE
      save /MPIPRIV1/, /MPIPRIV2/
";

/// Functions that MPI has for attributes.
const PREDEFINED: [&str; 12] = [
    "MPI_NULL_COPY_FN",
    "MPI_DUP_FN",
    "MPI_NULL_DELETE_FN",
    "MPI_COMM_NULL_COPY_FN",
    "MPI_COMM_DUP_FN",
    "MPI_COMM_NULL_DELETE_FN",
    "MPI_TYPE_NULL_COPY_FN",
    "MPI_TYPE_DUP_FN",
    "MPI_TYPE_NULL_DELETE_FN",
    "MPI_WIN_NULL_COPY_FN",
    "MPI_WIN_DUP_FN",
    "MPI_WIN_NULL_DELETE_FN",
];

/// The source of the modules `mpi` and `mpi_f08`.
pub fn modules() -> String {
    format!("{}\n{SIZES}\n{}\n{}", constants_module(), module(), module_f08())
}

/// What both modules share.
fn constants_module() -> String {
    let mut text = format!("module mpi_constants_abi\n      implicit none\n{COMMON}");
    for constant in constants().iter().filter(|constant| constant.is_in_fortran() && constant.kind.is_none()) {
        let _ = writeln!(text, "      integer, parameter :: {} = {}", constant.name, constant.in_fortran());
    }
    text + "end module\n"
}

fn module() -> String {
    let mut text =
        String::from("module mpi\n      use mpi_constants_abi\n      use mpi_sizes_abi\n      implicit none\n");
    for constant in constants().iter().filter(|constant| constant.kind.is_some()) {
        let _ = writeln!(text, "      integer, parameter :: {} = {}", constant.name, constant.value);
    }
    text += STATUS_AND_BOTTOM;
    text += "      interface\n";
    text += &functions();
    for declaration in routines() {
        text += &declaration.in_module(Form::Integers, "");
        text += &declaration.in_module(Form::Integers, "P");
    }
    text += "      end interface\n";
    for name in PREDEFINED {
        let _ = writeln!(text, "      external {name}");
    }
    text + "end module\n"
}

fn module_f08() -> String {
    let mut text = String::from(F08);
    for constant in constants() {
        if let Some(kind) = constant.kind {
            let _ = writeln!(
                text,
                "      type(MPI_{kind:?}), parameter :: {} = MPI_{kind:?}({})",
                constant.name, constant.value
            );
        }
    }
    text += "      interface\n";
    text += &functions();
    text += "      end interface\n";
    let large = large_routines();
    for declaration in routines() {
        let other = large.iter().find(|other| other.name.strip_suffix("_c") == Some(declaration.name));
        let other = other.filter(|other| declaration.is_told_from(other));
        for profiler in ["", "P"] {
            let _ = writeln!(text, "      interface {profiler}{}", declaration.name);
            text += &declaration.in_module(Form::Types, profiler);
            text += &other.map(|other| other.in_module(Form::Types, profiler)).unwrap_or_default();
            text += "      end interface\n";
        }
    }
    for declaration in large.iter().filter(|declaration| declaration.parameters.iter().any(Parameter::is_callback)) {
        for profiler in ["", "P"] {
            let _ = writeln!(text, "      interface {profiler}{}", declaration.name);
            text += &declaration.in_module(Form::Types, profiler);
            text += "      end interface\n";
        }
    }
    for name in PREDEFINED {
        let _ = writeln!(text, "      external {name}");
    }
    for kind in Kind::ALL {
        let _ = writeln!(
            text,
            "      interface operator (==)\n        module procedure equal_{kind:?}\n      end interface\n\
             \x20     interface operator (/=)\n        module procedure differ_{kind:?}\n      end interface"
        );
    }
    let _ = writeln!(text, "      private :: {}\ncontains", private());
    for kind in Kind::ALL {
        for (name, relation) in [("equal", "=="), ("differ", "/=")] {
            let _ = writeln!(
                text,
                "      elemental logical function {name}_{kind:?}(a, b)\n        type(MPI_{kind:?}), intent(in) :: a, b\n\
                 \x20       {name}_{kind:?} = a%MPI_VAL {relation} b%MPI_VAL\n      end function"
            );
        }
    }
    text + STATUS_CONVERSIONS + "end module\n"
}

/// From a status of `mpi` to one of `mpi_f08` and back.
const STATUS_CONVERSIONS: &str = "      subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
        integer, intent(in) :: f_status(MPI_STATUS_SIZE)
        type(MPI_Status), intent(out) :: f08_status
        integer, optional, intent(out) :: ierror
        f08_status = transfer(f_status, f08_status)
        if (present(ierror)) ierror = 0
      end subroutine
      subroutine MPI_Status_f082f(f08_status, f_status, ierror)
        type(MPI_Status), intent(in) :: f08_status
        integer, intent(out) :: f_status(MPI_STATUS_SIZE)
        integer, optional, intent(out) :: ierror
        f_status = transfer(f08_status, f_status)
        if (present(ierror)) ierror = 0
      end subroutine
";

fn private() -> String {
    let names = Kind::ALL.iter().flat_map(|kind| [format!("equal_{kind:?}"), format!("differ_{kind:?}")]);
    names.collect::<Vec<_>>().join(", &\n        ")
}

/// Functions that give something, and the one routine that does nothing and has no error code.
fn functions() -> String {
    let of = |profiler: &str| {
        format!(
            "        double precision function {profiler}MPI_Wtime()
        end function
        double precision function {profiler}MPI_Wtick()
        end function
        integer(kind=8) function {profiler}MPI_Aint_add(base, disp)
          integer(kind=8) :: base, disp
        end function
        integer(kind=8) function {profiler}MPI_Aint_diff(addr1, addr2)
          integer(kind=8) :: addr1, addr2
        end function
        subroutine {profiler}MPI_F_sync_reg(buf)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DIR$ IGNORE_TKR buf
          type(*), dimension(*) :: buf
        end subroutine
"
        )
    };
    of("") + &of("P")
}

/// Routines that Fortran has.
fn routines() -> Vec<Declaration> {
    of_fortran(false)
}

/// Those with long counts, which only `mpi_f08` has: under the same name, unless compilers could not tell them apart.
fn large_routines() -> Vec<Declaration> {
    of_fortran(true)
}

fn of_fortran(large: bool) -> Vec<Declaration> {
    let present = present();
    let is_routine = |declaration: &Declaration| {
        declaration.gives == "int"
            && !declaration.is_for_c_only()
            && declaration.name.ends_with("_c") == large
            && present.contains(&declaration.fortran_symbol())
    };
    declarations().into_iter().filter(is_routine).collect()
}

impl Constant {
    /// Addresses are none in Fortran, where variables take their place.
    fn is_in_fortran(&self) -> bool {
        const ADDRESSES: [&str; 11] = [
            "MPI_BOTTOM",
            "MPI_IN_PLACE",
            "MPI_BUFFER_AUTOMATIC",
            "MPI_ARGV_NULL",
            "MPI_ARGVS_NULL",
            "MPI_ERRCODES_IGNORE",
            "MPI_STATUS_IGNORE",
            "MPI_STATUSES_IGNORE",
            "MPI_UNWEIGHTED",
            "MPI_WEIGHTS_EMPTY",
            "MPI_DISPLACEMENT_CURRENT",
        ];
        !ADDRESSES.contains(&self.name) && !self.name.starts_with("MPI_F_") && !self.name.contains("_FN_NULL")
    }

    /// Texts have no zero at their end (standard, section 2.6.2).
    fn in_fortran(&self) -> i64 {
        let has_zero = self.name.starts_with("MPI_MAX_") && self.kind.is_none();
        self.value - i64::from(has_zero)
    }
}

/// How a module has handles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Integers,
    Types,
}

impl Declaration {
    /// Whether arguments tell which of the two is meant: addresses and long counts are of the same kind, and so are functions.
    fn is_told_from(&self, other: &Declaration) -> bool {
        let types = |declaration: &Declaration| -> Vec<String> {
            declaration.parameters.iter().map(|parameter| parameter.in_fortran(Form::Types)).collect()
        };
        types(self) != types(other)
    }

    /// Its interface in a module; names that profilers call begin with another letter.
    fn in_module(&self, form: Form, profiler: &str) -> String {
        let name = match form {
            Form::Integers => format!("{profiler}{}", self.name),
            Form::Types => format!("{profiler}{}_abi", self.name),
        };
        // Fortran has no arguments of the command line to give; what MPI_Comm_spawn gives to others it has.
        let has_command_line = self.parameters.iter().any(|parameter| parameter.name == "argc");
        let is_left_out = |parameter: &Parameter| {
            parameter.is_open() || has_command_line && ["argc", "argv"].contains(&parameter.name)
        };
        let parameters: Vec<&Parameter> = self.parameters.iter().filter(|parameter| !is_left_out(parameter)).collect();
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name).chain(["ierror"]).collect();
        let mut text = format!("        subroutine {name}({})\n", names.join(", &\n          "));
        if form == Form::Types {
            text += "          import\n";
        } else {
            text += "          use mpi_constants_abi, only: MPI_STATUS_SIZE\n";
        }
        for parameter in parameters {
            text += &parameter.in_fortran(form);
        }
        // MPI_Pcontrol has no error code in Fortran.
        let optional = if form == Form::Types || self.name == "MPI_Pcontrol" { ", optional" } else { "" };
        let _ = writeln!(text, "          integer{optional} :: ierror\n        end subroutine");
        text
    }
}

impl Parameter {
    fn in_fortran(&self, form: Form) -> String {
        let name = self.name;
        if self.is_callback() {
            return format!("          external :: {name}\n");
        }
        if self.is_choice(form) {
            return format!(
                "!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n!DIR$ IGNORE_TKR {name}\n          type(*), dimension(*) :: {name}\n"
            );
        }
        let is_list = !self.brackets.is_empty();
        let mut dimensions = match (is_list, self.brackets.ends_with("[3]")) {
            (true, true) => "(3,*)",
            (true, false) => "(*)",
            _ => "",
        };
        let handle = Kind::ALL.iter().any(|kind| self.base == format!("MPI_{kind:?}"));
        let in_fortran = match (self.base, form) {
            ("int" | "old_aint" | "old_word", _) => "integer".to_owned(),
            ("logical", _) => "logical".to_owned(),
            ("word" | "MPI_Aint" | "MPI_Offset" | "MPI_Count", _) => "integer(kind=8)".to_owned(),
            ("pointer", _) => "type(c_ptr)".to_owned(),
            ("double", _) => "double precision".to_owned(),
            ("char", _) => "character(len=*)".to_owned(),
            ("MPI_Status", Form::Integers) => {
                dimensions = if is_list { "(MPI_STATUS_SIZE,*)" } else { "(MPI_STATUS_SIZE)" };
                "integer".to_owned()
            }
            ("MPI_Status", Form::Types) => "type(MPI_Status)".to_owned(),
            (base, Form::Types) if handle => format!("type({base})"),
            _ => "integer".to_owned(),
        };
        format!("          {in_fortran} :: {name}{dimensions}\n")
    }

    /// A buffer of any type.
    fn is_choice(&self, form: Form) -> bool {
        self.base == "void" || self.base == "pointer" && form == Form::Integers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_right_in_fixed_form_too() {
        for line in header().lines() {
            assert!(line.len() <= 72, "{line}");
            assert!(line.starts_with('!') || line.starts_with("      "), "{line}");
        }
    }

    #[test]
    fn arguments_of_the_command_line_are_left_out() {
        let modules = modules();
        let interface = |name: &str| {
            let (_, rest) = modules.split_once(&format!("subroutine {name}(")).expect(name);
            rest.split_once(')').expect("the end of a list").0.split_whitespace().collect::<String>().replace('&', "")
        };
        for suffix in ["", "_abi"] {
            assert_eq!(interface(&format!("MPI_Init{suffix}")), "ierror");
            assert_eq!(interface(&format!("MPI_Init_thread{suffix}")), "required,provided,ierror");
            assert_eq!(interface(&format!("MPI_Info_create_env{suffix}")), "info,ierror");
            assert!(interface(&format!("MPI_Comm_spawn{suffix}")).starts_with("command,argv,maxprocs,"));
        }
    }

    #[test]
    fn lines_of_the_modules_are_short_enough() {
        for line in modules().lines() {
            assert!(line.len() <= 132, "{line}");
        }
    }
}
