//! How long a computation takes: kernels as functions of their arguments.
//!
//! A model file ([`ModelFile`]) gives each kernel a polynomial of its arguments, the same on every processor or not, with
//! noise or without. Where nothing was calibrated, [`Roofline`] stands in. A kernel is known by its name, such as `dgemm`,
//! and its arguments by the letters of the BLAS: M, N, K, and S for the order of a triangular matrix.

mod file;
mod import;
mod kernel;
mod roofline;
mod term;

pub use file::{ModelFile, Unlisted};
pub use import::{ImportError, KernelTable, import_dgemm};
pub use kernel::{Kernel, Row};
pub use roofline::{Roofline, Work};
pub use term::{Arguments, Term, TermError};
