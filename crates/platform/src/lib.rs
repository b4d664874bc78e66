//! What a machine is: nodes, links, topology, routing, MPI protocol parameters, placement of ranks.
//!
//! A machine file ([`machine`]) is read once and becomes a [`Machine`]. Routes are computed on demand, never stored:
//! memory grows with nodes and links, not with their square.

pub mod diagnostic;
pub mod draw;
pub mod fields;
pub mod import;
pub mod interconnect;
pub mod machine;
pub mod placement;
pub mod protocol;
mod ranges;
pub mod routing;
pub mod switching;
pub mod topology;

pub use diagnostic::{Diagnostic, Diagnostics};
pub use interconnect::{Interconnect, Loopback, Path};
pub use machine::{Machine, MachineFile};
pub use placement::Placement;
pub use protocol::{MpiParameters, Piecewise, Protocol};
pub use routing::Routing;
pub use topology::{Link, LinkId, Topology};
