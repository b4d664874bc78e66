//! Operations on the C `long double` of x86-64: 80-bit numbers of the x87 unit in 16 bytes.
//!
//! Rust has no such type, so single instructions of the unit do the work. On other processors `long double` is another
//! format, and the operations are refused (`no_extended.rs`).

use std::arch::asm;

use super::{Kernel, Operation};
use crate::datatype::Basic;

/// Bytes from one to the next; the last six of them are padding.
const SIZE: usize = 16;

/// A number as it lies in memory; 80 bits of it mean something.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Extended([u8; 16]);

macro_rules! instruction {
    ($name:ident, $mnemonic:literal) => {
        fn $name(self, other: Extended) -> Extended {
            let mut result = Extended([0; 16]);
            // SAFETY: loads two numbers and stores ten bytes into `result`; the stack of the unit is empty before
            // and after, as the calling convention demands, and named as clobbered.
            unsafe {
                asm!(
                    "fld tbyte ptr [{a}]",
                    "fld tbyte ptr [{b}]",
                    concat!($mnemonic, " st(1), st"),
                    "fstp tbyte ptr [{c}]",
                    a = in(reg) &self, b = in(reg) &other, c = in(reg) &mut result,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack)
                );
            }
            result
        }
    };
}

impl Extended {
    /// # Safety
    /// 16 bytes must be readable.
    unsafe fn read(at: *const u8) -> Extended {
        // SAFETY: the caller's.
        Extended(unsafe { at.cast::<[u8; 16]>().read_unaligned() })
    }

    /// Leaves the padding as it was.
    ///
    /// # Safety
    /// 16 bytes must be writable.
    unsafe fn write(self, at: *mut u8) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(self.0.as_ptr(), at, 10) };
    }

    instruction!(plus, "faddp");
    instruction!(minus, "fsubp");
    instruction!(times, "fmulp");

    /// Whether it is larger; false if one is no number.
    fn exceeds(self, other: Extended) -> bool {
        let larger: u8;
        // SAFETY: reads two numbers and leaves the stack of the unit empty.
        unsafe {
            asm!(
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                "fcomip st, st(1)",
                "fstp st(0)",
                "seta {larger}",
                a = in(reg) &self, b = in(reg) &other, larger = out(reg_byte) larger,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack)
            );
        }
        larger != 0
    }
}

/// `inout[i] = combine(input[i], inout[i])`.
///
/// # Safety
/// As of a [`Kernel`].
unsafe fn each(input: *const u8, inout: *mut u8, count: usize, combine: impl Fn(Extended, Extended) -> Extended) {
    for i in 0..count {
        // SAFETY: the caller's.
        unsafe {
            let at = inout.add(SIZE * i);
            combine(Extended::read(input.add(SIZE * i)), Extended::read(at)).write(at);
        }
    }
}

/// A kernel that combines numbers by a function; complex numbers are two.
macro_rules! kernel {
    ($numbers:literal, $combine:expr) => {
        // SAFETY: a kernel's caller vouches for what `each` needs.
        |input, inout, count| unsafe { each(input, inout, $numbers * count, $combine) }
    };
}

/// Real numbers.
pub(super) fn real(operation: Operation) -> Option<Kernel> {
    Some(match operation {
        Operation::Sum => kernel!(1, Extended::plus),
        Operation::Prod => kernel!(1, Extended::times),
        Operation::Max => kernel!(1, |a, b| if a.exceeds(b) { a } else { b }),
        Operation::Min => kernel!(1, |a, b| if b.exceeds(a) { a } else { b }),
        _ => return None,
    })
}

/// Complex numbers.
pub(super) fn complex(operation: Operation) -> Option<Kernel> {
    match operation {
        Operation::Sum => Some(kernel!(2, Extended::plus)),
        Operation::Prod => Some(complex_product),
        _ => None,
    }
}

/// # Safety
/// As of a [`Kernel`].
unsafe fn complex_product(input: *const u8, inout: *mut u8, count: usize) {
    for i in 0..count {
        // SAFETY: the caller's.
        unsafe {
            let (one, other) = (input.add(2 * SIZE * i), inout.add(2 * SIZE * i));
            let (a, b) = (Extended::read(one), Extended::read(one.add(SIZE)));
            let (c, d) = (Extended::read(other), Extended::read(other.add(SIZE)));
            a.times(c).minus(b.times(d)).write(other);
            a.times(d).plus(b.times(c)).write(other.add(SIZE));
        }
    }
}

/// The largest or smallest number and where it is.
pub(super) fn located(operation: Operation) -> Option<Kernel> {
    match operation {
        Operation::Maxloc => Some(locate::<true>),
        Operation::Minloc => Some(locate::<false>),
        _ => None,
    }
}

/// # Safety
/// As of a [`Kernel`].
unsafe fn locate<const LARGEST: bool>(input: *const u8, inout: *mut u8, count: usize) {
    let extent = Basic::LongDoubleInt.extent() as usize;
    let offset = Basic::LongDoubleInt.second_offset() as usize;
    for i in 0..count {
        // SAFETY: the caller's.
        unsafe {
            let (new, old) = (input.add(extent * i), inout.add(extent * i));
            let (value, held) = (Extended::read(new), Extended::read(old));
            let place = new.add(offset).cast::<i32>().read_unaligned();
            let at = old.add(offset).cast::<i32>();
            let (better, equal) = if LARGEST {
                (value.exceeds(held), !held.exceeds(value))
            } else {
                (held.exceeds(value), !value.exceeds(held))
            };
            if better || (equal && place < at.read_unaligned()) {
                value.write(old);
                at.write_unaligned(place);
            }
        }
    }
}
