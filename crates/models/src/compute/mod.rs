//! How long a computation takes: kernels as functions of their arguments.
//!
//! A model file ([`ModelFile`]) gives each kernel a polynomial of its arguments, or a roofline, in one piece or several, the same on every
//! processor or not, with noise or without; and how processors and days differ where they are many
//! ([`Population`]). A program binds it to the order of its arguments ([`BoundKernel`]). Where
//! nothing was calibrated, [`Roofline`] stands in. A kernel is known by its name, such as `dgemm`, and its arguments by
//! theirs: M, N, K as in the BLAS, and S for the order of a triangular matrix.

mod bound;
mod chance;
mod file;
mod kernel;
mod noise;
pub mod population;
mod roofline;
mod term;
mod work;

pub use bound::{BoundKernel, UnknownArgument};
pub use chance::{Chance, Seeds};
pub use file::{DataFile, Made, ModelFile, Unlisted};
pub use kernel::{CallTable, ErrorRange, Fit, Kernel, Row};
pub use noise::{Mode, Noise};
pub use population::Population;
pub use roofline::{KernelWork, Roofline, RooflineFigures, RooflineModel, Roofs, Work};
pub use term::{Arguments, MOST_ARGUMENTS, Product, Term, TermError};
