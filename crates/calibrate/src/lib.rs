//! From measurements to models.
//!
//! A table of measured calls ([`table`]) becomes a model of a kernel ([`kernel`]): what it takes on each processor, how calls
//! differ, how well that fits, and what it misses. Two models are compared ([`compare`]). Published tables of models become
//! model files, too ([`import`]).

pub mod compare;
pub mod import;
pub mod kernel;
mod misses;
pub mod table;
