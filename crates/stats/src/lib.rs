//! Distributions and other numerics: pure functions, no input or output.

pub mod half_normal;
pub mod interpolation;
pub mod normal;
pub mod piecewise;

pub use half_normal::HalfNormal;
pub use interpolation::Curve;
