//! Several cables between the same two ends, in each of several dimensions.

use super::TopologyError;
use super::divisor::Divisor;

/// Whether there is a number of cables for each dimension, and none is 0.
pub(super) fn check_cables(dims: &[u32], parallel: &[u32]) -> Result<(), TopologyError> {
    if parallel.len() != dims.len() {
        return Err(TopologyError::Cables { dimensions: dims.len(), count: parallel.len() });
    }
    if parallel.contains(&0) {
        return Err(TopologyError::Zero("the number of cables between neighbours"));
    }
    Ok(())
}

/// `8 x 8 x 4`.
pub(super) fn by(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ")
}

/// `, cables 2 x 1`, where there are several anywhere.
pub(super) fn and_cables(parallel: &[u32]) -> String {
    if parallel.iter().any(|&count| count > 1) { format!(", cables {}", by(parallel)) } else { String::new() }
}

/// The name of a link, and which of several it is; `cable` counts the cables between the same ends fastest.
pub(super) fn name_of_several(name: String, parallel: Divisor, cable: u32) -> String {
    match parallel.value() {
        1 => name,
        count => format!("{name} (cable {} of {count})", parallel.remainder(cable) + 1),
    }
}
