//! Distributions and other numerics: pure functions, no input or output.

pub mod distributions;
pub mod eigen;
pub mod half_normal;
pub mod interpolation;
pub mod kriging;
pub mod least_squares;
pub mod local;
pub mod matrix;
pub mod mixture;
pub mod multivariate;
pub mod normal;
pub mod normality;
pub mod piecewise;
pub mod sample;
pub mod significance;
pub mod special;

pub use distributions::{ChiSquared, FisherF, StudentT};
pub use half_normal::HalfNormal;
pub use interpolation::Curve;
pub use least_squares::{Column, Estimate, Fit, FitError};
pub use matrix::Matrix;
pub use mixture::{Mixture, MixtureError, Mode};
pub use multivariate::{MultivariateError, MultivariateNormal};
pub use sample::{Sample, Uncertain};
pub use significance::{Elimination, Selection};
