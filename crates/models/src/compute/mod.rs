//! How long a computation takes: kernels as functions of their arguments.
//!
//! A model file ([`ModelFile`]) gives each kernel a polynomial of its arguments, in one piece or several, the same on every
//! processor or not, with noise or without. A program binds it to the order of its arguments ([`BoundKernel`]). Where
//! nothing was calibrated, [`Roofline`] stands in. A kernel is known by its name, such as `dgemm`, and its arguments by
//! theirs: M, N, K as in the BLAS, and S for the order of a triangular matrix.

mod bound;
mod file;
mod kernel;
mod noise;
mod roofline;
mod term;

pub use bound::{BoundKernel, UnknownArgument};
pub use file::{DataFile, Made, ModelFile, Unlisted};
pub use kernel::{CallTable, ErrorRange, Fit, Kernel, Row};
pub use noise::{Mode, Noise};
pub use roofline::{Roofline, Work};
pub use term::{Arguments, MOST_ARGUMENTS, Product, Term, TermError};
