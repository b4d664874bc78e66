//! What mpirun tells each rank in variables of the environment, before any call of MPI.
//!
//! Scripts and libraries ask for them to find out whether they run in parallel, and which rank of its node they are.

use std::ffi::{CStr, CString};

use crate::world::World;

/// The names that Open MPI and MPICH use, and what they hold.
const VARIABLES: [(&CStr, Told); 10] = [
    (c"OMPI_COMM_WORLD_RANK", Told::Rank),
    (c"OMPI_COMM_WORLD_SIZE", Told::Size),
    (c"OMPI_COMM_WORLD_LOCAL_RANK", Told::LocalRank),
    (c"OMPI_COMM_WORLD_LOCAL_SIZE", Told::LocalSize),
    (c"OMPI_COMM_WORLD_NODE_RANK", Told::LocalRank),
    (c"OMPI_UNIVERSE_SIZE", Told::Size),
    (c"PMI_RANK", Told::Rank),
    (c"PMI_SIZE", Told::Size),
    (c"MPI_LOCALRANKID", Told::LocalRank),
    (c"MPI_LOCALNRANKS", Told::LocalSize),
];

/// What a variable holds.
#[derive(Clone, Copy)]
enum Told {
    Rank,
    Size,
    /// The rank among those of its node.
    LocalRank,
    /// How many ranks its node has.
    LocalSize,
}

/// What mpirun says to a rank under that name.
pub fn variable(world: &World, rank: u32, name: &CStr) -> Option<CString> {
    let (_, told) = VARIABLES.iter().find(|(known, _)| *known == name)?;
    let is_here = |other: &u32| world.processor(*other).0 == world.processor(rank).0;
    let number = match told {
        Told::Rank => rank as usize,
        Told::Size => world.size as usize,
        Told::LocalRank => (0..rank).filter(is_here).count(),
        Told::LocalSize => (0..world.size).filter(is_here).count(),
    };
    CString::new(number.to_string()).ok()
}

/// All that mpirun says to a rank, as `NAME=value`.
pub fn variables(world: &World, rank: u32) -> Vec<CString> {
    let assignment = |(name, _): &(&CStr, Told)| {
        let value = variable(world, rank, name)?;
        CString::new([name.to_bytes(), b"=", value.to_bytes()].concat()).ok()
    };
    VARIABLES.iter().filter_map(assignment).collect()
}
