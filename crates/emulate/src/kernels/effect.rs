//! What is still done where a function is not executed.

use super::entry::Registers;
use super::prototype::word;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Vectors without gaps are copied (?copy): programs also copy what they steer by.
    Copy {
        /// Bytes of a number.
        size: u8,
        /// Arguments are passed by reference.
        by_reference: bool,
    },
    /// A routine of LAPACK.
    Lapack(Lapack),
}

/// What a routine of LAPACK tells its caller beside its results: all is well, no rows were exchanged, so much memory is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lapack {
    /// Where INFO is.
    pub info: Option<usize>,
    /// Where the pivots go.
    pub pivots: Option<usize>,
    /// Memory that its caller has to give.
    pub workspaces: [Option<Workspace>; 3],
}

/// Memory whose length can be asked for, by giving -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Where it is.
    pub at: usize,
    /// Where its length is.
    pub length: usize,
    /// What it is made of.
    pub unit: Unit,
    /// Whether whole matrices go there.
    pub is_square: bool,
}

/// Numbers of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Integers.
    Integer,
    /// Single precision.
    Single,
    /// Double precision.
    Double,
}

fn address(registers: &Registers, place: usize) -> usize {
    word(registers, place, place.saturating_sub(6)) as usize
}

impl Lapack {
    /// Whether the call only asks how much memory is needed.
    pub fn is_question(&self, registers: &Registers) -> bool {
        // SAFETY: the interface of Fortran passes addresses of integers.
        let length = |workspace: &Workspace| unsafe { *(address(registers, workspace.length) as *const i32) };
        self.workspaces.iter().flatten().any(|workspace| length(workspace) == -1)
    }

    /// Says how much memory is needed for matrices of that order: nobody will use it, but programs allocate it.
    pub fn answer(&self, registers: &Registers, order: f64) {
        let order = order.max(1.0);
        for workspace in self.workspaces.iter().flatten() {
            let length = match (workspace.unit, workspace.is_square) {
                (Unit::Integer, _) => 3.0 + 8.0 * order,
                (_, true) => 1.0 + 64.0 * order + 4.0 * order * order,
                (_, false) => 64.0 * order,
            };
            let at = address(registers, workspace.at);
            // SAFETY: the caller has room for one number there.
            unsafe {
                match workspace.unit {
                    Unit::Integer => (at as *mut i32).write_unaligned(length as i32),
                    Unit::Single => (at as *mut f32).write_unaligned(length as f32),
                    Unit::Double => (at as *mut f64).write_unaligned(length),
                }
            }
        }
        self.succeed(registers);
    }

    fn succeed(&self, registers: &Registers) {
        if let Some(place) = self.info {
            // SAFETY: the interface of Fortran passes the address of an integer.
            unsafe { (address(registers, place) as *mut i32).write_unaligned(0) };
        }
    }

    /// The call is over: each of so many rows stays where it is.
    pub fn end(&self, registers: &Registers, rows: f64) {
        self.succeed(registers);
        if let Some(place) = self.pivots {
            let at = address(registers, place) as *mut i32;
            for row in 0..rows.max(0.0) as usize {
                // SAFETY: the interface says that there is room for so many.
                unsafe { at.add(row).write_unaligned(row as i32 + 1) };
            }
        }
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
        // Of folded memory the kernel maps a page when it is written, but some pages around it when it is read.
        (at as *const u8).read_volatile();
        match size {
            4 => (at as *mut f32).write_unaligned(value as f32),
            _ => (at as *mut f64).write_unaligned(value),
        }
    }
}
