//! Virtual topologies: grids and graphs of processes, and who is whose neighbour (the standard, chapter 7).

mod cartesian;
mod dims;
mod graph;

pub use cartesian::Cartesian;
pub use dims::{dims_create, dims_create_by_factors};
pub use graph::{DistGraph, Edges, Graph};

use crate::errors::ErrorClass;

/// What can be wrong with a topology or a question to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// Lists that should have an entry a dimension.
    #[error("{given} entries for {dimensions} dimensions: give one for each")]
    Dimensions {
        /// Entries given.
        given: usize,
        /// Dimensions of the grid.
        dimensions: usize,
    },
    /// A length of a dimension that is not positive.
    #[error("dimension {dimension} has the length {length}: it must be positive")]
    Length {
        /// Which dimension, from 0.
        dimension: usize,
        /// Its length.
        length: i32,
    },
    /// More places than processes, or more than can be counted.
    #[error("the topology has more places than the {processes} processes")]
    TooLarge {
        /// Processes at hand.
        processes: i32,
    },
    /// A rank outside the topology.
    #[error("rank {rank} is not in a topology of {size} processes")]
    Rank {
        /// The rank.
        rank: i32,
        /// Processes of the topology.
        size: i32,
    },
    /// A coordinate outside a dimension that does not wrap around.
    #[error("coordinate {coordinate} is outside dimension {dimension} of length {length}, which is not periodic")]
    Coordinate {
        /// Which dimension, from 0.
        dimension: usize,
        /// The coordinate.
        coordinate: i32,
        /// The length of the dimension.
        length: i32,
    },
    /// A dimension that is not there.
    #[error("there is no dimension {dimension} among {dimensions}")]
    Direction {
        /// What was asked for.
        dimension: i32,
        /// How many there are.
        dimensions: usize,
    },
    /// Fixed lengths that do not divide the number of processes.
    #[error("{processes} processes cannot fill a grid whose fixed lengths have the product {fixed}")]
    Indivisible {
        /// Processes to place.
        processes: i32,
        /// Product of the fixed lengths.
        fixed: i64,
    },
    /// An index of a graph that does not rise, or does not end with the number of edges.
    #[error("the index of node {node} is {index}: an index must not fall, and must end with the number of edges")]
    Index {
        /// Which node.
        node: usize,
        /// Its index.
        index: i32,
    },
    /// Weights that are not as many as the edges, or negative.
    #[error("weights must be as many as the edges, and not negative")]
    Weights,
}

impl TopologyError {
    /// The class that the program sees.
    pub fn class(&self) -> ErrorClass {
        match self {
            TopologyError::Rank { .. } => ErrorClass::Rank,
            TopologyError::Dimensions { .. } | TopologyError::Length { .. } | TopologyError::Indivisible { .. } => {
                ErrorClass::Dims
            }
            _ => ErrorClass::Arg,
        }
    }
}
