//! The machinery of a simulation that knows neither MPI nor networks: an event queue, ranks as async tasks, slabs,
//! and keyed random streams.

mod prefetch;
pub mod queue;
pub mod random;
pub mod slab;
pub mod tasks;

pub use prefetch::prefetch;
pub use queue::EventQueue;
pub use random::{Key, Stream};
pub use slab::Slab;
pub use tasks::Tasks;
