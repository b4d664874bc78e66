//! The objects of MPI that need no simulation: datatypes, operations, groups, topologies, infos and error classes.
//!
//! They follow MPI 3.1 and 4.0 ("the standard" in the comments) and know no ABI: what numbers or addresses stand for them
//! in a program is the business of whoever talks to the program.

pub mod datatype;
pub mod errors;
pub mod group;
pub mod info;
pub mod operation;
pub mod topology;

pub use datatype::{Basic, Datatype, DatatypeError};
pub use errors::ErrorClass;
pub use group::{Comparison, Group, GroupError};
pub use info::{Info, InfoError};
pub use operation::{Operation, OperationError};
pub use topology::{Cartesian, DistGraph, Graph, TopologyError};
