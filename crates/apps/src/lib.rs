//! Skeleton programs: micro-benchmarks of point-to-point messages and collectives, halo exchanges, random traffic.
//!
//! One file a program. A program is an `async fn` over a [`hpcast_mpi::Rank`]; it tells a [`Timer`] how long each
//! iteration took. [`Program`] names them all.

mod collective;
mod halo;
pub mod hpl;
mod pingpong;
mod program;
mod ring;
pub mod script;
mod timer;
mod traffic;

pub use collective::{Operation, Style};
pub use program::{Body, Finding, Parameters, Program, UnknownProgram};
pub use timer::{Measurement, Timer};
