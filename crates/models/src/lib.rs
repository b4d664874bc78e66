//! How long does it take? Network models and compute models, one file a model.

pub mod compute;
pub mod network;
