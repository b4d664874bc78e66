//! From measurements to models.
//!
//! A table of measured calls ([`table`]) becomes a model of a kernel ([`kernel`]): what it takes on each processor, how calls
//! differ, how well that fits, and what it misses. Coefficients that were measured on many processors and days become a
//! population ([`cluster`]), calls on a GPU a roofline ([`roofline`]), measured sends, receives and ping-pongs a model of what
//! messages cost ([`network`]). Two models are compared ([`compare`]). Published tables of models become model files, too
//! ([`import`], [`network::import`]).

pub mod cluster;
pub mod compare;
pub mod import;
pub mod kernel;
mod misses;
pub mod network;
pub mod roofline;
pub mod table;
