//! The largest or smallest value and where it is (`MPI_MAXLOC`, `MPI_MINLOC`): of equal values the lowest place counts.

use super::{Kernel, Operation, extended};
use crate::datatype::Basic;

/// Whether a pair takes the place of another: if its value is better, or as good and its place lower.
macro_rules! located {
    ($value:ty, $place:ty, $operation:expr) => {{
        /// # Safety
        /// As of a [`Kernel`].
        unsafe fn locate<const LARGEST: bool>(input: *const u8, inout: *mut u8, count: usize) {
            #[derive(Clone, Copy)]
            #[repr(C)]
            struct Pair($value, $place);
            let (input, inout) = (input.cast::<Pair>(), inout.cast::<Pair>());
            for i in 0..count {
                // SAFETY: the caller's; a pair of C has the layout of this structure. Only its fields are read and
                // written, since packed pairs end with the second one.
                unsafe {
                    let (new, old) = (input.add(i), inout.add(i));
                    let (value, place) =
                        ((&raw const (*new).0).read_unaligned(), (&raw const (*new).1).read_unaligned());
                    let (held, at) = ((&raw const (*old).0).read_unaligned(), (&raw const (*old).1).read_unaligned());
                    let better = if LARGEST { value > held } else { value < held };
                    if better || (value == held && place < at) {
                        (&raw mut (*old).0).write_unaligned(value);
                        (&raw mut (*old).1).write_unaligned(place);
                    }
                }
            }
        }
        match $operation {
            Operation::Maxloc => Some(locate::<true> as Kernel),
            Operation::Minloc => Some(locate::<false> as Kernel),
            _ => None,
        }
    }};
}

pub(super) fn kernel(operation: Operation, basic: Basic) -> Option<Kernel> {
    match basic {
        Basic::TwoReal => located!(f32, f32, operation),
        Basic::TwoDoublePrecision => located!(f64, f64, operation),
        Basic::TwoInteger | Basic::TwoInt => located!(i32, i32, operation),
        Basic::FloatInt => located!(f32, i32, operation),
        Basic::DoubleInt => located!(f64, i32, operation),
        Basic::LongInt => located!(i64, i32, operation),
        Basic::ShortInt => located!(i16, i32, operation),
        Basic::LongDoubleInt => extended::located(operation),
        _ => None,
    }
}
