//! What can be wrong with the arguments of a datatype's constructor.

use crate::errors::ErrorClass;

/// Why a datatype cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatatypeError {
    /// A count, length or size below zero.
    #[error("the {what} is {value}: it must not be negative")]
    Negative {
        /// Which argument.
        what: &'static str,
        /// What it was.
        value: i64,
    },
    /// Arrays of arguments that should be as long as each other.
    #[error("{left} block lengths, {right} displacements: give one for each block")]
    Lengths {
        /// How many of the first.
        left: usize,
        /// How many of the other.
        right: usize,
    },
    /// Sizes or displacements beyond 64 bits.
    #[error("the datatype reaches beyond what 64-bit addresses can tell: use smaller counts or strides")]
    Overflow,
    /// A part of an array that does not lie in it.
    #[error("dimension {dimension}: {length} from {start} on do not fit into {size}")]
    OutsideArray {
        /// Which dimension, from 0.
        dimension: usize,
        /// Where the part starts.
        start: i64,
        /// Its length.
        length: i64,
        /// The length of the whole.
        size: i64,
    },
    /// An array of no dimensions, or of fewer sizes than dimensions.
    #[error("an array needs at least one dimension, and all its lists as many entries as dimensions")]
    Dimensions,
    /// A process grid that does not hold as many processes as were said.
    #[error("the process grid holds {grid} processes, not {size}: the product of its sizes must be the group's size")]
    Grid {
        /// Processes in the grid.
        grid: i64,
        /// Processes of the group.
        size: i64,
    },
    /// A rank outside the group.
    #[error("rank {rank} is not among {size} processes")]
    Rank {
        /// The rank.
        rank: i64,
        /// Processes of the group.
        size: i64,
    },
    /// Blocks too small for a block distribution, or not positive.
    #[error("dimension {dimension}: blocks of {block} over {processes} processes do not hold {size} elements")]
    Distribution {
        /// Which dimension, from 0.
        dimension: usize,
        /// The block size.
        block: i64,
        /// Processes along the dimension.
        processes: i64,
        /// Elements along the dimension.
        size: i64,
    },
    /// No predefined datatype has the precision or range.
    #[error("no datatype has this precision and range")]
    NoSuchPrecision,
}

impl DatatypeError {
    /// The class that the program sees.
    pub fn class(&self) -> ErrorClass {
        match self {
            DatatypeError::Negative { what: "count", .. } => ErrorClass::Count,
            DatatypeError::Rank { .. } => ErrorClass::Rank,
            _ => ErrorClass::Arg,
        }
    }
}
