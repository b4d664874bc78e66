//! The functions of MPI, by chapter of the standard.

mod attribute;
mod collective;
mod communicator;
mod completion;
mod conversion;
mod datatype;
mod environment;
mod fortran;
mod group;
mod inter;
mod inter_communicator;
mod neighbourhood;
mod operation;
mod point_to_point;
mod topology;

use crate::call::{Address, Function};

pub(crate) use point_to_point::TAG_UB;

/// All functions that give an error code.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    [
        point_to_point::FUNCTIONS,
        completion::FUNCTIONS,
        collective::FUNCTIONS,
        communicator::FUNCTIONS,
        attribute::FUNCTIONS,
        datatype::FUNCTIONS,
        group::FUNCTIONS,
        inter_communicator::FUNCTIONS,
        neighbourhood::FUNCTIONS,
        operation::FUNCTIONS,
        topology::FUNCTIONS,
        environment::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// Functions that give something else: their names in C and Fortran, with their addresses.
pub fn others() -> Vec<(&'static str, Address)> {
    let mut all = environment::others();
    all.extend(conversion::others());
    all.extend(attribute::others());
    all.extend(fortran::others());
    all
}
