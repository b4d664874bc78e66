//! The predefined reduction operations (the standard, section 5.9.2 and 5.9.4).
//!
//! Which datatypes an operation takes is what Open MPI or MPICH take, where that is more than the standard demands:
//! programs rely on it. User-defined operations belong to whoever can call the program's functions.

#[cfg_attr(not(target_arch = "x86_64"), path = "no_extended.rs")]
mod extended;
mod numbers;
mod pairs;

use crate::datatype::{Basic, Datatype, Kind};
use crate::errors::ErrorClass;

macro_rules! operations {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// A predefined operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operation {
            $(#[doc = concat!("`", $name, "`: ", $text)] $variant,)*
        }

        impl Operation {
            /// All operations.
            pub const ALL: &[Operation] = &[$(Operation::$variant),*];

            /// The name in the standard.
            pub const fn name(self) -> &'static str {
                match self { $(Operation::$variant => $name),* }
            }
        }
    };
}

operations! {
    Max "MPI_MAX" "the larger";
    Min "MPI_MIN" "the smaller";
    Sum "MPI_SUM" "the sum";
    Prod "MPI_PROD" "the product";
    Land "MPI_LAND" "both are true";
    Band "MPI_BAND" "the bits of both";
    Lor "MPI_LOR" "one is true";
    Bor "MPI_BOR" "the bits of one or both";
    Lxor "MPI_LXOR" "just one is true";
    Bxor "MPI_BXOR" "the bits of just one";
    Maxloc "MPI_MAXLOC" "the larger and its place";
    Minloc "MPI_MINLOC" "the smaller and its place";
    Replace "MPI_REPLACE" "the input";
    NoOp "MPI_NO_OP" "what was there";
}

/// Why an operation cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// The standard does not define it.
    #[error("{operation} is not defined for {basic}", operation = .0.name(), basic = .1.name())]
    NotDefined(Operation, Basic),
    /// Defined, but there is no arithmetic for such numbers here.
    #[error("{basic} cannot be computed with on this machine: use a wider or narrower type", basic = .0.name())]
    NoArithmetic(Basic),
}

impl OperationError {
    /// The class that the program sees.
    pub fn class(&self) -> ErrorClass {
        match self {
            OperationError::NoArithmetic(_) => ErrorClass::UnsupportedOperation,
            OperationError::NotDefined(..) => ErrorClass::Op,
        }
    }
}

/// Combines `count` elements of an input into those of an in-out buffer: `inout = input op inout`. Elements lie one extent
/// apart; the buffers need no alignment.
///
/// # Safety
/// To be called with that many elements readable at the first and readable and writable at the second pointer.
pub type Kernel = unsafe fn(*const u8, *mut u8, usize);

impl Operation {
    /// Whether the order of its two sides does not matter.
    pub const fn commutes(self) -> bool {
        !matches!(self, Operation::Replace | Operation::NoOp)
    }

    /// Whether it may be used in reductions; the others are for one-sided calls only.
    pub const fn reduces(self) -> bool {
        !matches!(self, Operation::Replace | Operation::NoOp)
    }

    /// The function that does it for a basic datatype.
    pub fn kernel(self, basic: Basic) -> Result<Kernel, OperationError> {
        let kernel = match self {
            Operation::NoOp => Some(nothing as Kernel),
            Operation::Replace => numbers::replace(basic),
            _ => match basic.kind() {
                Kind::Signed => numbers::signed(self, basic.size()),
                Kind::Unsigned | Kind::Byte => numbers::unsigned(self, basic.size()),
                Kind::Character if basic.size() == 1 => numbers::signed(self, 1),
                Kind::Logical => numbers::logical(self, basic.size()),
                Kind::Float if matches!(basic, Basic::Real2 | Basic::Real16) => {
                    return Err(self.lacking(basic, Basic::Double));
                }
                Kind::Complex if matches!(basic, Basic::Complex4 | Basic::Complex32) => {
                    return Err(self.lacking(basic, Basic::CDoubleComplex));
                }
                Kind::Float if basic == Basic::LongDouble => extended::real(self),
                Kind::Complex if basic.size() == 32 => extended::complex(self),
                Kind::Float => numbers::float(self, basic.size()),
                Kind::Complex => numbers::complex(self, basic.size()),
                Kind::Pair => pairs::kernel(self, basic),
                Kind::Character | Kind::Packed | Kind::Marker => None,
            },
        };
        kernel.ok_or(OperationError::NotDefined(self, basic))
    }

    /// Says whether the arithmetic is lacking, or the operation not defined for such numbers at all.
    fn lacking(self, basic: Basic, alike: Basic) -> OperationError {
        match self.kernel(alike) {
            Ok(_) => OperationError::NoArithmetic(basic),
            Err(_) => OperationError::NotDefined(self, basic),
        }
    }

    /// Combines `count` elements: `inout = input op inout`.
    ///
    /// # Safety
    /// `count` elements, one extent apart, must be readable at `input`, and readable and writable at `inout`.
    pub unsafe fn apply(
        self,
        basic: Basic,
        input: *const u8,
        inout: *mut u8,
        count: usize,
    ) -> Result<(), OperationError> {
        let kernel = self.kernel(basic)?;
        // SAFETY: the caller's.
        unsafe { kernel(input, inout, count) };
        Ok(())
    }

    /// Combines items of a datatype: any for replacing or doing nothing, else one of basic elements of one kind.
    ///
    /// # Safety
    /// As [`Operation::apply`], for the data of `count` items.
    pub unsafe fn apply_items(
        self,
        datatype: &Datatype,
        count: i64,
        input: *const u8,
        inout: *mut u8,
    ) -> Result<(), OperationError> {
        if let Some(basic) = datatype.as_basic() {
            // SAFETY: the caller's.
            return unsafe { self.apply(basic, input, inout, count as usize) };
        }
        let mut result = Ok(());
        datatype.for_each_element(count, &mut |elements| {
            let (input, inout) =
                (input.wrapping_offset(elements.offset as isize), inout.wrapping_offset(elements.offset as isize));
            // SAFETY: the elements are the caller's data.
            let done = unsafe {
                self.apply_strided(elements.basic, input, elements.stride, inout, elements.stride, elements.count)
            };
            result = result.and(done);
        });
        result
    }

    /// Combines `count` elements that lie at distances of their own on both sides.
    ///
    /// # Safety
    /// As [`Operation::apply`], for elements `input_stride` and `inout_stride` bytes apart.
    pub unsafe fn apply_strided(
        self,
        basic: Basic,
        input: *const u8,
        input_stride: i64,
        inout: *mut u8,
        inout_stride: i64,
        count: i64,
    ) -> Result<(), OperationError> {
        let kernel = self.kernel(basic)?;
        // SAFETY: the caller's.
        unsafe {
            if count == 1 || (input_stride == basic.extent() && inout_stride == basic.extent()) {
                kernel(input, inout, count as usize);
            } else {
                for i in 0..count as isize {
                    let (from, to) = (i * input_stride as isize, i * inout_stride as isize);
                    kernel(input.wrapping_offset(from), inout.wrapping_offset(to), 1);
                }
            }
        }
        Ok(())
    }

    /// Combines packed data, such as come with an accumulate, with the items of a datatype in memory, as far as there are
    /// whole elements.
    ///
    /// # Safety
    /// The data of the items must be readable and writable from `inout`.
    pub unsafe fn apply_packed(
        self,
        input: &[u8],
        datatype: &Datatype,
        count: i64,
        inout: *mut u8,
    ) -> Result<(), OperationError> {
        let mut rest = input;
        let mut result = Ok(());
        datatype.for_each_element(count, &mut |elements| {
            let size = elements.basic.size();
            let there = elements.count.min(rest.len() as i64 / size);
            let (mine, others) = rest.split_at((there * size) as usize);
            rest = if there < elements.count { &[] } else { others };
            let inout = inout.wrapping_offset(elements.offset as isize);
            // SAFETY: `there` elements are packed in `mine`, and lie in memory that the caller vouches for.
            let done = unsafe { self.apply_to_packed(elements.basic, mine, inout, elements.stride) };
            result = result.and(done);
        });
        result
    }

    /// Packed elements of one kind; those with a gap are spread first.
    ///
    /// # Safety
    /// As many elements as there are bytes for must be readable and writable at `inout`, `stride` bytes apart.
    unsafe fn apply_to_packed(
        self,
        basic: Basic,
        packed: &[u8],
        inout: *mut u8,
        stride: i64,
    ) -> Result<(), OperationError> {
        let size = basic.size();
        let count = packed.len() as i64 / size;
        if basic.end() == size {
            // SAFETY: the caller's; elements without a gap are read no further than their size.
            return unsafe { self.apply_strided(basic, packed.as_ptr(), size, inout, stride, count) };
        }
        let datatype = Datatype::basic(basic);
        for (i, element) in packed.chunks_exact(size as usize).enumerate() {
            let mut spread = [0_u8; 32];
            // SAFETY: no element is longer than 32 bytes; `inout` is the caller's.
            unsafe {
                datatype.unpack(1, element.as_ptr(), size, spread.as_mut_ptr());
                self.apply(basic, spread.as_ptr(), inout.wrapping_offset(i as isize * stride as isize), 1)?;
            }
        }
        Ok(())
    }
}

/// # Safety
/// None needed: nothing is touched.
unsafe fn nothing(_: *const u8, _: *mut u8, _: usize) {}

#[cfg(test)]
mod tests;
