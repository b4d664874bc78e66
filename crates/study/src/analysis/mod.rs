//! What the runs of a study say together.

pub mod anova;
pub mod compare;
pub mod curve;
mod data;
pub mod effects;
pub mod elementary;
mod error;
pub mod letters;
pub mod overhead;
pub mod ranking;
pub mod sobol;

pub use anova::Anova;
pub use error::AnalysisError;
pub use ranking::Ranking;

/// Confidence of intervals and, less from one, the level of tests.
pub const CONFIDENCE: f64 = 0.95;
