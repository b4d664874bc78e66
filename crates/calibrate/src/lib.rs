//! From measurements to models.
//!
//! A table of measured calls ([`table`]) becomes a model of a kernel ([`kernel`]): what it takes on each processor, how calls
//! differ, how well that fits, and what it misses. Measured sends, receives and ping-pongs become a model of what messages
//! cost ([`network`]). Published tables of models become model files, too ([`import`], [`network::import`]).

pub mod import;
pub mod kernel;
mod misses;
pub mod network;
pub mod table;
