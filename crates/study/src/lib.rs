//! Studies: many forecasts that differ in a few factors, and what they say together.
//!
//! Knows no machine and no program: a run is words and files that somebody else can execute.

pub mod analysis;
pub mod design;
pub mod document;
pub mod execute;
pub mod export;
pub mod file;
pub mod frame;
pub mod key_path;
pub mod planned;
pub mod run;
pub mod store;
pub mod tune;

pub use frame::{Better, Factor, Frame, Level, Response};
