//! The BLAS, levels 1, 2 and 3, and the common routines of LAPACK: all four types, as Fortran calls them (`dgemm_`, `dgetrf_`) and as C
//! does (`cblas_dgemm`, `LAPACKE_dgetrf`).
//!
//! `blas.tsv` and `lapack.tsv` list them without their type, with the types that they exist for and their arguments in Fortran: `'` stands
//! before characters, `*` before arrays and what is written; other names in capitals are integers, those in small letters numbers.
//! C has the order of storage in front, and leaves out workspaces and INFO.

use hpcast_models::compute::KernelWork;

use super::effect::{Effect, Lapack, Unit, Workspace};
use super::prototype::{Argument, Passed};
use super::{Extents, How, Replaced, Returned};

const BLAS: &str = include_str!("blas.tsv");
const LAPACK: &str = include_str!("lapack.tsv");

/// A line of a table.
struct Routine {
    name: &'static str,
    types: &'static str,
    parameters: Vec<&'static str>,
    is_blas: bool,
}

/// How it is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interface {
    Fortran,
    C,
}

impl Interface {
    fn integer(self) -> Passed {
        match self {
            Interface::Fortran => Passed::IntAt(0),
            Interface::C => Passed::Int,
        }
    }
}

fn routines() -> impl Iterator<Item = Routine> {
    let lines = [BLAS, LAPACK].map(str::lines).into_iter().zip([true, false]);
    lines.flat_map(|(lines, is_blas)| {
        lines.map(move |line| {
            let mut columns = line.split('\t');
            let mut next = || columns.next().unwrap_or_default();
            Routine { name: next(), types: next(), parameters: next().split(' ').collect(), is_blas }
        })
    })
}

/// Those whose work grows with the third power of sizes: matrices times matrices, and factorisations. All others are quick, and programs
/// steer by what they give, as HPL does by its pivots; so these are not sampled.
pub(super) fn heavy(how: How) -> Vec<Replaced> {
    let is_heavy = |function: &Replaced| {
        let work = KernelWork::of(&format!("d{}", &function.kernel[1..]));
        work.is_some_and(|work| work.flops.iter().any(|(term, _)| term.names().count() >= 3))
    };
    functions(how).into_iter().filter(is_heavy).collect()
}

/// All routines.
pub(super) fn functions(how: How) -> Vec<Replaced> {
    let mut all = Vec::new();
    for routine in routines() {
        for letter in routine.types.chars() {
            all.extend([Interface::Fortran, Interface::C].map(|interface| routine.replaced(interface, letter, how)));
        }
    }
    for interface in [Interface::Fortran, Interface::C] {
        all.extend(mixed(interface, how));
    }
    all
}

/// Those whose names have the type elsewhere, or two of them.
fn mixed(interface: Interface, how: How) -> Vec<Replaced> {
    let vector = |stem: &str, kernel: &str, returned: Returned| Replaced {
        symbol: symbol(stem, interface, true),
        kernel: kernel.to_owned(),
        how,
        arguments: vec![("N".to_owned(), integer_at(interface, 0))],
        returned,
        effect: Effect::None,
        extents: Extents::default(),
        batch: None,
        is_listed: false,
    };
    let by_reference = interface == Interface::Fortran;
    let mut all: Vec<Replaced> = [('s', 4, 4), ('d', 8, 8), ('c', 4, 8), ('z', 8, 16)]
        .into_iter()
        .map(|(letter, size, element)| {
            let returned = Returned::Largest { first: u64::from(by_reference), size, element, vector: 1, by_reference };
            vector(&format!("i{letter}amax"), &format!("i{letter}amax"), returned)
        })
        .collect();
    for (stem, kernel, returned) in [
        ("dznrm2", "znrm2", Returned::Value(1.0)),
        ("scnrm2", "cnrm2", Returned::Single(1.0)),
        ("dzasum", "zasum", Returned::Value(1.0)),
        ("scasum", "casum", Returned::Single(1.0)),
        ("dzsum", "zsum", Returned::Value(1.0)),
        ("scsum", "csum", Returned::Single(1.0)),
        ("zdscal", "dscal", Returned::Zero),
        ("csscal", "sscal", Returned::Zero),
        ("zdrot", "drot", Returned::Zero),
        ("csrot", "srot", Returned::Zero),
        ("dsdot", "sdot", Returned::Zero),
    ] {
        all.push(vector(stem, kernel, returned));
    }
    if interface == Interface::C {
        for (stem, kernel) in [("cdotu", "cdotu"), ("cdotc", "cdotc"), ("zdotu", "zdotu"), ("zdotc", "zdotc")] {
            all.push(vector(&format!("{stem}_sub"), kernel, Returned::Zero));
        }
    }
    all
}

fn symbol(stem: &str, interface: Interface, is_blas: bool) -> String {
    match (interface, is_blas) {
        (Interface::Fortran, _) => format!("{stem}_"),
        (Interface::C, true) => format!("cblas_{stem}"),
        (Interface::C, false) => format!("LAPACKE_{stem}"),
    }
}

fn integer_at(interface: Interface, place: usize) -> Argument {
    Argument::Passed { place, how: interface.integer(), stacked: place.saturating_sub(6) }
}

/// What a model may ask for.
const SIZES: [&str; 8] = ["M", "N", "K", "KL", "KU", "NRHS", "K1", "K2"];
/// What C does not pass to LAPACK.
const ONLY_IN_FORTRAN: [&str; 8] = ["*WORK", "LWORK", "*RWORK", "LRWORK", "*IWORK", "LIWORK", "*INFO", "*SUPERB"];

impl Routine {
    /// C says first how matrices are stored.
    fn has_order(&self) -> bool {
        self.parameters.iter().any(|parameter| ["*A", "*AP"].contains(parameter)) && self.parameters[0] != "'ORDER"
    }

    /// The place of a parameter among the words that are passed. Places behind numbers are asked for in Fortran only, where these are words
    /// as well.
    fn place(&self, name: &str, interface: Interface) -> Option<usize> {
        match interface {
            Interface::Fortran => self.parameters.iter().position(|parameter| *parameter == name),
            Interface::C => {
                let mut passed = self.parameters.iter().filter(|parameter| !ONLY_IN_FORTRAN.contains(parameter));
                Some(passed.position(|parameter| *parameter == name)? + usize::from(self.has_order()))
            }
        }
    }

    fn arguments(&self, interface: Interface) -> Vec<(String, Argument)> {
        let size = |name: &&str| Some(((*name).to_owned(), integer_at(interface, self.place(name, interface)?)));
        let mut all: Vec<(String, Argument)> = SIZES.iter().filter_map(size).collect();
        let both = |interface: Interface| {
            let place = |name| self.place(name, interface).map(|place| (place, interface.integer()));
            Some([place("M")?, place("N")?])
        };
        if let (Some(side), Some(arguments)) = (self.place("'SIDE", interface), both(interface)) {
            let (how, value) = match (interface, self.is_blas) {
                (Interface::C, true) => (Passed::Int, 141),
                (Interface::C, false) => (Passed::Character, u64::from(b'L')),
                (Interface::Fortran, _) => (Passed::CharacterAt, u64::from(b'L')),
            };
            all.push(("S".to_owned(), Argument::Either { decider: (side, how), value, arguments }));
        } else if let (false, Some(arguments)) = (self.is_blas, both(interface)) {
            all.push(("S".to_owned(), Argument::Least(arguments)));
        }
        let mut jobs = self.parameters.iter().filter(|parameter| parameter.starts_with("'JOB"));
        let mut job = || jobs.next().and_then(|name| self.place(name, interface));
        if let Some(first) = job() {
            let how = if interface == Interface::Fortran { Passed::CharacterAt } else { Passed::Character };
            all.push(("J".to_owned(), Argument::Wanted { places: [first, job().unwrap_or(first)], how }));
        }
        all
    }

    fn replaced(&self, interface: Interface, letter: char, how: How) -> Replaced {
        let kernel = format!("{letter}{}", self.name);
        let is_norm = ["nrm2", "asum", "sum", "lange", "lansy", "lanhe", "lantr"].contains(&self.name);
        let returned = match (is_norm, letter) {
            (true, 's' | 'c') => Returned::Single(1.0),
            (true, _) => Returned::Value(1.0),
            _ => Returned::Zero,
        };
        let effect = match self.name {
            "copy" => Effect::Copy { size: size_of(letter), by_reference: interface == Interface::Fortran },
            _ if self.is_blas => Effect::None,
            _ => Effect::Lapack(self.lapack(interface, letter)),
        };
        let symbol = symbol(&kernel, interface, self.is_blas);
        Replaced {
            symbol,
            kernel,
            how,
            arguments: self.arguments(interface),
            returned,
            effect,
            extents: Extents::default(),
            batch: None,
            is_listed: false,
        }
    }

    fn lapack(&self, interface: Interface, letter: char) -> Lapack {
        let real = if "sc".contains(letter) { Unit::Single } else { Unit::Double };
        let workspace = |work: &str, length: &str, unit: Unit| {
            let (at, length) = (self.place(work, interface)?, self.place(length, interface)?);
            Some(Workspace { at, length, unit, is_square: self.name.ends_with("evd") || self.name == "gesdd" })
        };
        let is_fortran = interface == Interface::Fortran;
        let workspaces = [
            workspace("*WORK", "LWORK", real),
            workspace("*RWORK", "LRWORK", real),
            workspace("*IWORK", "LIWORK", Unit::Integer),
        ];
        Lapack {
            info: self.place("*INFO", interface).filter(|_| is_fortran),
            pivots: self.place("*IPIV", interface),
            workspaces: workspaces.map(|workspace| workspace.filter(|_| is_fortran)),
        }
    }
}

/// Bytes of a number of that type.
fn size_of(letter: char) -> u8 {
    match letter {
        's' => 4,
        'd' | 'c' => 8,
        _ => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::models::BoundWork;

    #[test]
    fn the_work_of_every_routine_is_known() {
        for function in functions(How::Model) {
            let names: Vec<&str> = function.arguments.iter().map(|(name, _)| name.as_str()).collect();
            let work = BoundWork::new(&function.kernel, &names);
            assert!(matches!(work, Some(Ok(_))), "{}: {names:?}", function.symbol);
        }
    }

    #[test]
    fn symbols_are_those_of_the_libraries() {
        let all: Vec<String> = functions(How::Skip).into_iter().map(|function| function.symbol).collect();
        for symbol in ["dgemm_", "cblas_ztrsm", "sgetrf_", "LAPACKE_zheevd", "cblas_isamax", "zungqr_", "dlange_"] {
            assert!(all.iter().any(|known| known == symbol), "{symbol}");
        }
        assert!(!all.iter().any(|known| known == "zorgqr_"));
        let mut sorted = all.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), all.len(), "each once");
    }

    #[test]
    fn what_is_quick_is_not_sampled() {
        let heavy: Vec<String> = heavy(How::Skip).into_iter().map(|function| function.symbol).collect();
        let has = |symbol: &str| heavy.iter().any(|known| known == symbol);
        assert!(has("dgemm_") && has("cblas_strsm") && has("zgetrf_") && has("LAPACKE_dsyevd"));
        assert!(!has("dgemv_") && !has("idamax_") && !has("dcopy_") && !has("dlange_"));
    }

    #[test]
    fn places_are_those_of_the_interfaces() {
        let all: Vec<Routine> = routines().collect();
        let routine = |name: &str| all.iter().find(|routine| routine.name == name).expect("a routine");
        assert_eq!(routine("gemm").place("K", Interface::C), Some(5));
        assert_eq!(routine("dot").place("N", Interface::C), Some(0));
        assert_eq!(routine("getrf").place("*IPIV", Interface::C), Some(5));
        assert_eq!(routine("getrf").place("*INFO", Interface::Fortran), Some(5));
        assert_eq!(routine("syev").place("*INFO", Interface::C), None);
        assert_eq!(routine("omatcopy").place("M", Interface::C), Some(2));
    }
}
