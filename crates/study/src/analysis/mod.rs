//! What the runs of a study say together.

pub mod anova;
pub mod curve;
mod data;
pub mod effects;
mod error;
pub mod letters;
pub mod ranking;

pub use anova::Anova;
pub use error::AnalysisError;
pub use ranking::Ranking;

/// Confidence of intervals and, less from one, the level of tests.
pub const CONFIDENCE: f64 = 0.95;
