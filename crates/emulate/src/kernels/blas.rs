//! The BLAS: levels 1, 2 and 3, all four types, as Fortran calls them (`dgemm_`) and as C does (`cblas_dgemm`).

use super::entry::Registers;
use super::prototype::{Argument, Passed, word};
use super::{Effect, How, Replaced, Returned};

/// A routine without its type: names of the model's arguments, and their places in Fortran.
struct Routine {
    name: &'static str,
    /// The types that it exists for.
    types: &'static str,
    /// Name and place.
    sizes: &'static [(&'static str, usize)],
    /// C has the order of storage in front.
    has_order: bool,
    /// The triangular or symmetric matrix is on a side, which is the first argument, and of the order of M or N.
    has_side: bool,
}

const fn routine(name: &'static str, types: &'static str, sizes: &'static [(&'static str, usize)]) -> Routine {
    Routine { name, types, sizes, has_order: true, has_side: false }
}

const fn sided(name: &'static str, types: &'static str, sizes: &'static [(&'static str, usize)]) -> Routine {
    Routine { name, types, sizes, has_order: true, has_side: true }
}

const fn vector(name: &'static str, types: &'static str) -> Routine {
    Routine { name, types, sizes: &[("N", 0)], has_order: false, has_side: false }
}

const ROUTINES: &[Routine] = &[
    // Level 3
    routine("gemm", "sdcz", &[("M", 2), ("N", 3), ("K", 4)]),
    sided("symm", "sdcz", &[("M", 2), ("N", 3)]),
    sided("hemm", "cz", &[("M", 2), ("N", 3)]),
    routine("syrk", "sdcz", &[("N", 2), ("K", 3)]),
    routine("herk", "cz", &[("N", 2), ("K", 3)]),
    routine("syr2k", "sdcz", &[("N", 2), ("K", 3)]),
    routine("her2k", "cz", &[("N", 2), ("K", 3)]),
    sided("trmm", "sdcz", &[("M", 4), ("N", 5)]),
    sided("trsm", "sdcz", &[("M", 4), ("N", 5)]),
    // Level 2
    routine("gemv", "sdcz", &[("M", 1), ("N", 2)]),
    routine("gbmv", "sdcz", &[("M", 1), ("N", 2), ("KL", 3), ("KU", 4)]),
    routine("hemv", "cz", &[("N", 1)]),
    routine("hbmv", "cz", &[("N", 1), ("K", 2)]),
    routine("hpmv", "cz", &[("N", 1)]),
    routine("symv", "sd", &[("N", 1)]),
    routine("sbmv", "sd", &[("N", 1), ("K", 2)]),
    routine("spmv", "sd", &[("N", 1)]),
    routine("trmv", "sdcz", &[("N", 3)]),
    routine("tbmv", "sdcz", &[("N", 3), ("K", 4)]),
    routine("tpmv", "sdcz", &[("N", 3)]),
    routine("trsv", "sdcz", &[("N", 3)]),
    routine("tbsv", "sdcz", &[("N", 3), ("K", 4)]),
    routine("tpsv", "sdcz", &[("N", 3)]),
    routine("ger", "sd", &[("M", 0), ("N", 1)]),
    routine("geru", "cz", &[("M", 0), ("N", 1)]),
    routine("gerc", "cz", &[("M", 0), ("N", 1)]),
    routine("her", "cz", &[("N", 1)]),
    routine("hpr", "cz", &[("N", 1)]),
    routine("her2", "cz", &[("N", 1)]),
    routine("hpr2", "cz", &[("N", 1)]),
    routine("syr", "sd", &[("N", 1)]),
    routine("spr", "sd", &[("N", 1)]),
    routine("syr2", "sd", &[("N", 1)]),
    routine("spr2", "sd", &[("N", 1)]),
    // Level 1
    vector("rot", "sd"),
    vector("rotm", "sd"),
    vector("swap", "sdcz"),
    vector("scal", "sdcz"),
    vector("copy", "sdcz"),
    vector("axpy", "sdcz"),
    vector("dot", "sd"),
    vector("nrm2", "sd"),
    vector("asum", "sd"),
];

/// Bytes of a number of that type.
fn size_of(letter: char) -> u8 {
    match letter {
        's' => 4,
        'd' | 'c' => 8,
        _ => 16,
    }
}

/// All routines, to be modelled.
pub(super) fn functions() -> Vec<Replaced> {
    let mut all = Vec::new();
    for routine in ROUTINES {
        for letter in routine.types.chars() {
            let kernel = format!("{letter}{}", routine.name);
            for by_reference in [true, false] {
                all.push(routine.replaced(&kernel, letter, by_reference));
            }
        }
    }
    // Those whose names begin otherwise.
    for (letter, size, element) in [('s', 4, 4), ('d', 8, 8), ('c', 4, 8), ('z', 8, 16)] {
        let kernel = format!("i{letter}amax");
        for by_reference in [true, false] {
            let symbol = symbol(&kernel, by_reference);
            let first = u64::from(by_reference);
            let returned = Returned::Largest { first, size, element, vector: 1, by_reference };
            let arguments = vec![("N".to_owned(), size_argument(0, by_reference))];
            all.push(Replaced {
                symbol,
                kernel: kernel.clone(),
                how: How::Model,
                arguments,
                returned,
                effect: Effect::None,
            });
        }
    }
    for (kernel, stem) in [
        ("dnrm2", "dznrm2"),
        ("snrm2", "scnrm2"),
        ("dasum", "dzasum"),
        ("sasum", "scasum"),
        ("dscal", "zdscal"),
        ("sscal", "csscal"),
    ] {
        for by_reference in [true, false] {
            let arguments = vec![("N".to_owned(), size_argument(0, by_reference))];
            let returned = if stem.ends_with("scal") { Returned::Zero } else { Returned::Value(1.0) };
            all.push(Replaced {
                symbol: symbol(stem, by_reference),
                kernel: kernel.to_owned(),
                how: How::Model,
                arguments,
                returned,
                effect: Effect::None,
            });
        }
    }
    all
}

fn symbol(kernel: &str, by_reference: bool) -> String {
    if by_reference { format!("{kernel}_") } else { format!("cblas_{kernel}") }
}

fn passed(by_reference: bool) -> Passed {
    if by_reference { Passed::IntAt(0) } else { Passed::Int }
}

fn size_argument(place: usize, by_reference: bool) -> Argument {
    Argument::Passed { place, how: passed(by_reference), stacked: place.saturating_sub(6) }
}

impl Routine {
    fn replaced(&self, kernel: &str, letter: char, by_reference: bool) -> Replaced {
        let shift = usize::from(self.has_order && !by_reference);
        let place = |place: usize| place + shift;
        let mut arguments: Vec<(String, Argument)> =
            self.sizes.iter().map(|&(name, at)| (name.to_owned(), size_argument(place(at), by_reference))).collect();
        if self.has_side {
            // 'L' in Fortran, CblasLeft in C.
            let value = if by_reference { u64::from(b'L') } else { 141 };
            let sizes = [self.sizes[0].1, self.sizes[1].1].map(|at| (place(at), passed(by_reference)));
            arguments.push((
                "S".to_owned(),
                Argument::Either { decider: (place(0), passed(by_reference)), value, arguments: sizes },
            ));
        }
        let returned = match self.name {
            "nrm2" | "asum" => Returned::Value(1.0),
            _ => Returned::Zero,
        };
        let effect = match self.name {
            "copy" => Effect::Copy { size: size_of(letter), by_reference },
            _ => Effect::None,
        };
        let symbol = symbol(kernel, by_reference);
        Replaced { symbol, kernel: kernel.to_owned(), how: How::Model, arguments, returned, effect }
    }
}

/// A whole number that is passed by value or by reference.
fn integer(registers: &Registers, place: usize, by_reference: bool) -> i64 {
    let word = word(registers, place, place.saturating_sub(6));
    match by_reference {
        // SAFETY: the interface of Fortran passes addresses of integers.
        true => i64::from(unsafe { *(word as *const i32) }),
        false => i64::from(word as i32),
    }
}

/// ?copy(N, X, INCX, Y, INCY) of vectors without gaps; numbers in folded memory mean nothing.
pub(super) fn copy(registers: &Registers, size: u8, by_reference: bool) {
    let [count, from_step, to_step] = [0, 2, 4].map(|place| integer(registers, place, by_reference));
    if count > 0 && from_step == 1 && to_step == 1 {
        let (from, to) = (registers.integers[1] as *const u8, registers.integers[3] as *mut u8);
        // SAFETY: the program says that both vectors have so many numbers.
        unsafe { crate::memory::copy(from, to, count as usize * usize::from(size)) };
    }
}

/// Puts a number where the largest of a vector is to be.
pub(super) fn put_largest(
    registers: &Registers,
    vector: usize,
    by_reference: bool,
    [size, element]: [u8; 2],
    place: u64,
    value: f64,
) {
    let step = integer(registers, vector + 1, by_reference).max(1) as u64;
    let at = registers.integers[vector] as usize + (place * step * u64::from(element)) as usize;
    // SAFETY: the program says that the vector has so many numbers.
    unsafe {
        match size {
            4 => (at as *mut f32).write_unaligned(value as f32),
            _ => (at as *mut f64).write_unaligned(value),
        }
    }
}
