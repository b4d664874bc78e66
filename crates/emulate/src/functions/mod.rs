//! The functions of MPI, by chapter of the standard.

mod collective;
mod communicator;
mod completion;
mod conversion;
mod dynamic;
mod environment;
mod error;
mod info;
mod inter;
mod io;
mod one_sided;
mod point_to_point;
mod session;
mod tools;

use crate::call::{Address, Function};

/// All functions that give an error code.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    [
        point_to_point::FUNCTIONS,
        completion::FUNCTIONS,
        collective::FUNCTIONS,
        communicator::FUNCTIONS,
        environment::FUNCTIONS,
        dynamic::FUNCTIONS,
        error::FUNCTIONS,
        info::FUNCTIONS,
        io::FUNCTIONS,
        one_sided::FUNCTIONS,
        session::FUNCTIONS,
        tools::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// Functions that give something else: their names in C and Fortran, with their addresses.
pub fn others() -> Vec<(&'static str, Address)> {
    let mut all = environment::others();
    all.extend(conversion::others());
    all
}
