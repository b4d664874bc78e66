//! The machinery of a simulation that knows neither MPI nor networks: an agenda of events, ranks as async tasks, slabs,
//! and keyed random streams.

pub mod agenda;
mod prefetch;
pub mod random;
pub mod slab;
pub mod tasks;

pub use agenda::Agenda;
pub use prefetch::{prefetch, prefetch_line, prefetch_line_to_write};
pub use random::{Key, Stream};
pub use slab::Slab;
pub use tasks::Tasks;
