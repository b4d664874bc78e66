//! The functions of MPI, by chapter of the standard.

mod attribute;
mod buffers;
mod collective;
mod communicator;
mod completion;
mod conversion;
mod cxx;
mod datatype;
mod dynamic;
mod environment;
mod error;
mod fortran;
mod group;
mod info;
mod inter;
mod inter_communicator;
mod io;
mod neighbourhood;
mod one_sided;
mod operation;
mod partitioned;
mod point_to_point;
mod session;
mod tools;
mod topology;

use crate::call::Address;
pub use crate::call::Function;

pub(crate) use cxx::call_handler as call_handler_of_cxx;
pub(crate) use partitioned::Parts;
pub(crate) use point_to_point::TAG_UB;

/// All functions that give an error code.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    [
        point_to_point::FUNCTIONS,
        buffers::FUNCTIONS,
        partitioned::FUNCTIONS,
        communicator::FUNCTIONS,
        attribute::FUNCTIONS,
        datatype::FUNCTIONS,
        group::FUNCTIONS,
        inter_communicator::FUNCTIONS,
        neighbourhood::FUNCTIONS,
        operation::FUNCTIONS,
        topology::FUNCTIONS,
        environment::FUNCTIONS,
        dynamic::FUNCTIONS,
        error::FUNCTIONS,
        info::FUNCTIONS,
        session::FUNCTIONS,
        tools::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
    .chain(completion::functions())
    .chain(collective::functions())
    .chain(one_sided::functions())
    .chain(io::functions())
}

/// Functions that give something else: their names in C and Fortran, with their addresses.
pub fn others() -> Vec<(&'static str, Address)> {
    let mut all = environment::others();
    all.extend(conversion::others());
    all.extend(attribute::others());
    all.extend(fortran::others());
    all.extend(cxx::others());
    all
}
