//! What can be wrong with the figures of a topology.

/// Why a topology cannot be built, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// Not four parts.
    #[error(
        "a fat tree has four parts, `levels; down,...; up,...; parallel,...`, but `{0}` has {1}: \
         write for instance `2;16,32;1,16;1,1`"
    )]
    Parts(String, usize),
    /// Not a number where one is needed.
    #[error("`{0}` is not a whole number greater than 0: write for instance `2;16,32;1,16;1,1`")]
    NotANumber(String),
    /// A list as long as another one is needed.
    #[error("the fat tree has {levels} levels, but {count} {what}: give one for each level, the lowest first")]
    Length {
        /// Levels of the tree.
        levels: usize,
        /// What was counted.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// An oversubscription that does not fit the tree.
    #[error(
        "{problem}: give one whole number for each level of switches but the highest, such as `oversubscription = [1, 2]`"
    )]
    Taper {
        /// What is wrong.
        problem: String,
    },
    /// No levels, or too many.
    #[error("a fat tree has 1 to {max} levels, not {levels}")]
    Levels {
        /// Levels asked for.
        levels: usize,
        /// Levels that can be had.
        max: usize,
    },
    /// A tree without a top.
    #[error("all {0} switches at the top are missing: leave at least one")]
    NoTops(u32),
    /// A number that must not be 0.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// A torus without dimensions.
    #[error("a torus or mesh needs at least one dimension: write for instance `dimensions = [8, 8, 8]`")]
    NoDimensions,
    /// A HyperX without dimensions.
    #[error("a HyperX needs at least one dimension: write for instance `dimensions = [8, 8]`")]
    NoSwitches,
    /// Not a number of cables for each dimension.
    #[error("there are {dimensions} dimensions, but {count} numbers of cables: give one for each dimension")]
    Cables {
        /// Dimensions of the network.
        dimensions: usize,
        /// Numbers of cables.
        count: usize,
    },
    /// Groups of a dragonfly without a cable to each other.
    #[error(
        "each of {groups} groups needs a global cable to {others} others, but has ports for {ports}: \
         write at most {most} groups, or more switches or global cables"
    )]
    Groups {
        /// Groups asked for.
        groups: u32,
        /// One less.
        others: u32,
        /// Ports of a group for global cables.
        ports: u64,
        /// Groups that can be had.
        most: u64,
    },
    /// A slim fly for a number that none is known for here.
    #[error(
        "{q} is not a power of a prime: write {last} or {next}, for a slim fly of 2 q^2 switches (2 itself gives none)"
    )]
    NotAPrime {
        /// The number.
        q: u32,
        /// The next smaller one.
        last: u32,
        /// The next larger one.
        next: u32,
    },
    /// More links than can be numbered.
    #[error("{0} has more than 4,294,967,295 links: make it smaller")]
    TooLarge(String),
}
