//! How long does it take? Network models, one file a model. (Compute and energy models have their own place here.)

pub mod network;
