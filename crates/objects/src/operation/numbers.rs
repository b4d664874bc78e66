//! Operations on integers, floating-point and complex numbers, truth values and bits.

use std::ptr;

use super::{Kernel, Operation};
use crate::datatype::Basic;

/// What the operations need of a type.
trait Number: Copy {
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
}

trait Ordered: Number {
    fn larger(self, other: Self) -> Self;
    fn smaller(self, other: Self) -> Self;
}

trait Bits: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn truth(self) -> bool;
    fn from_truth(truth: bool) -> Self;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            fn sum(self, other: Self) -> Self { self.wrapping_add(other) }
            fn product(self, other: Self) -> Self { self.wrapping_mul(other) }
        }
        impl Ordered for $type {
            fn larger(self, other: Self) -> Self { self.max(other) }
            fn smaller(self, other: Self) -> Self { self.min(other) }
        }
        impl Bits for $type {
            fn and(self, other: Self) -> Self { self & other }
            fn or(self, other: Self) -> Self { self | other }
            fn xor(self, other: Self) -> Self { self ^ other }
            fn truth(self) -> bool { self != 0 }
            fn from_truth(truth: bool) -> Self { truth.into() }
        }
    )*};
}

integers! { i8 i16 i32 i64 i128 u8 u16 u32 u64 }

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Number for $type {
            fn sum(self, other: Self) -> Self { self + other }
            fn product(self, other: Self) -> Self { self * other }
        }
        // As C programs write it, so that it is one instruction.
        impl Ordered for $type {
            fn larger(self, other: Self) -> Self { if self > other { self } else { other } }
            fn smaller(self, other: Self) -> Self { if self < other { self } else { other } }
        }
        impl Number for Complex<$type> {
            fn sum(self, other: Self) -> Self { Complex(self.0 + other.0, self.1 + other.1) }
            fn product(self, other: Self) -> Self {
                Complex(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
            }
        }
    )*};
}

/// Real and imaginary part.
#[derive(Clone, Copy)]
#[repr(C)]
struct Complex<T>(T, T);

floats! { f32 f64 }

/// `inout[i] = combine(input[i], inout[i])`.
///
/// # Safety
/// As of a [`Kernel`].
#[inline(always)]
unsafe fn each<T: Copy>(input: *const u8, inout: *mut u8, count: usize, combine: impl Fn(T, T) -> T) {
    let (input, inout) = (input.cast::<T>(), inout.cast::<T>());
    for i in 0..count {
        // SAFETY: the caller's.
        unsafe { inout.add(i).write_unaligned(combine(input.add(i).read_unaligned(), inout.add(i).read_unaligned())) };
    }
}

/// A kernel that combines elements of a type by a function.
macro_rules! kernel {
    ($type:ty, $combine:expr) => {
        // SAFETY: a kernel's caller vouches for what `each` needs.
        |input, inout, count| unsafe { each::<$type>(input, inout, count, $combine) }
    };
}

fn arithmetic<T: Number>(operation: Operation) -> Option<Kernel> {
    Some(match operation {
        Operation::Sum => kernel!(T, T::sum),
        Operation::Prod => kernel!(T, T::product),
        _ => return None,
    })
}

fn ordered<T: Ordered>(operation: Operation) -> Option<Kernel> {
    Some(match operation {
        Operation::Max => kernel!(T, T::larger),
        Operation::Min => kernel!(T, T::smaller),
        _ => return arithmetic::<T>(operation),
    })
}

fn truths<T: Bits>(operation: Operation) -> Option<Kernel> {
    Some(match operation {
        Operation::Land => kernel!(T, |a, b| T::from_truth(a.truth() & b.truth())),
        Operation::Lor => kernel!(T, |a, b| T::from_truth(a.truth() | b.truth())),
        Operation::Lxor => kernel!(T, |a, b| T::from_truth(a.truth() ^ b.truth())),
        _ => return None,
    })
}

fn integer<T: Ordered + Bits>(operation: Operation) -> Option<Kernel> {
    Some(match operation {
        Operation::Band => kernel!(T, T::and),
        Operation::Bor => kernel!(T, T::or),
        Operation::Bxor => kernel!(T, T::xor),
        Operation::Land | Operation::Lor | Operation::Lxor => return truths::<T>(operation),
        _ => return ordered::<T>(operation),
    })
}

/// Integers with a sign, of `size` bytes.
pub(super) fn signed(operation: Operation, size: i64) -> Option<Kernel> {
    match size {
        1 => integer::<i8>(operation),
        2 => integer::<i16>(operation),
        4 => integer::<i32>(operation),
        8 => integer::<i64>(operation),
        16 => integer::<i128>(operation),
        _ => None,
    }
}

/// Integers without a sign.
pub(super) fn unsigned(operation: Operation, size: i64) -> Option<Kernel> {
    match size {
        1 => integer::<u8>(operation),
        2 => integer::<u16>(operation),
        4 => integer::<u32>(operation),
        8 => integer::<u64>(operation),
        _ => None,
    }
}

/// Truth values: zero is false, and true is written as one, as C and gfortran do.
pub(super) fn logical(operation: Operation, size: i64) -> Option<Kernel> {
    match size {
        1 => truths::<u8>(operation),
        2 => truths::<u16>(operation),
        4 => truths::<u32>(operation),
        8 => truths::<u64>(operation),
        _ => None,
    }
}

/// IEEE single and double.
pub(super) fn float(operation: Operation, size: i64) -> Option<Kernel> {
    match size {
        4 => ordered::<f32>(operation),
        8 => ordered::<f64>(operation),
        _ => None,
    }
}

/// Two IEEE numbers; `size` is that of both together.
pub(super) fn complex(operation: Operation, size: i64) -> Option<Kernel> {
    match size {
        8 => arithmetic::<Complex<f32>>(operation),
        16 => arithmetic::<Complex<f64>>(operation),
        _ => None,
    }
}

/// Copies elements, but not their padding: packed ones have none, and it may be somebody else's.
pub(super) fn replace(basic: Basic) -> Option<Kernel> {
    /// # Safety
    /// As of a [`Kernel`].
    unsafe fn bytes<const END: usize, const EXTENT: usize>(input: *const u8, inout: *mut u8, count: usize) {
        // SAFETY: the caller's.
        unsafe {
            if END == EXTENT {
                ptr::copy(input, inout, EXTENT * count);
            } else {
                for i in 0..count {
                    ptr::copy(input.add(EXTENT * i), inout.add(EXTENT * i), END);
                }
            }
        }
    }
    /// # Safety
    /// As of a [`Kernel`].
    unsafe fn short_int(input: *const u8, inout: *mut u8, count: usize) {
        for i in 0..count {
            // SAFETY: the caller's.
            unsafe {
                ptr::copy(input.add(8 * i), inout.add(8 * i), 2);
                ptr::copy(input.add(8 * i + 4), inout.add(8 * i + 4), 4);
            }
        }
    }
    Some(match (basic.end(), basic.extent()) {
        _ if basic == Basic::ShortInt => short_int,
        (1, 1) => bytes::<1, 1>,
        (2, 2) => bytes::<2, 2>,
        (4, 4) => bytes::<4, 4>,
        (8, 8) => bytes::<8, 8>,
        (12, 16) => bytes::<12, 16>,
        (16, 16) => bytes::<16, 16>,
        (20, 32) => bytes::<20, 32>,
        (32, 32) => bytes::<32, 32>,
        _ => return None,
    })
}
