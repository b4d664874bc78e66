//! Distributions and other numerics: pure functions, no input or output.

pub mod distributions;
pub mod half_normal;
pub mod interpolation;
pub mod normal;
pub mod special;

pub use distributions::{ChiSquared, FisherF, StudentT};
pub use half_normal::HalfNormal;
pub use interpolation::Curve;
