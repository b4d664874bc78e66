//! Distributed arrays (the standard, section 4.1.4).

use super::constructors::{counted, fastest_first};
use super::typemap::{Joiner, TypeMap};
use super::{Combiner, Datatype, DatatypeError, Order};

/// How a dimension is spread over processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// One block a process; of the given size, or as small as possible.
    Block(Option<i64>),
    /// Blocks in turn; of the given size, or of one element.
    Cyclic(Option<i64>),
    /// Not at all.
    None,
}

impl Datatype {
    /// `MPI_Type_create_darray`: the part of a global array that belongs to `rank` of `size` processes, which stand in a
    /// grid in the order of C.
    ///
    /// In the contents a distribution is 0 for block, 1 for cyclic, 2 for none, a default argument is -1, and the order is
    /// 0 for C and 1 for Fortran.
    pub fn darray(
        size: i64,
        rank: i64,
        sizes: &[i64],
        distributions: &[Distribution],
        grid: &[i64],
        order: Order,
        old: &Datatype,
    ) -> Result<Datatype, DatatypeError> {
        let dimensions = sizes.len();
        if dimensions == 0 || distributions.len() != dimensions || grid.len() != dimensions {
            return Err(DatatypeError::Dimensions);
        }
        let coordinates = coordinates(size, rank, grid)?;
        let mut map = old.map().clone();
        let mut stride = old.extent();
        for dimension in fastest_first(dimensions, order) {
            let (length, processes) = (sizes[dimension], grid[dimension]);
            if length < 1 {
                return Err(DatatypeError::OutsideArray { dimension, start: 0, length, size: length });
            }
            let block = block(dimension, distributions[dimension], length, processes)?;
            map = dealt(&map, stride, length, block, coordinates[dimension], processes)?;
            stride = stride.checked_mul(length).ok_or(DatatypeError::Overflow)?;
        }
        let codes: Vec<i64> = distributions.iter().map(|distribution| distribution.code()).collect();
        let arguments: Vec<i64> = distributions.iter().map(|distribution| distribution.argument()).collect();
        let mut integers = vec![size, rank];
        integers.extend(counted(&[sizes, &codes, &arguments, grid]));
        integers.push(order as i64);
        Ok(Datatype::derived(map.resized(0, stride)?, Combiner::Darray, integers, vec![], vec![old.clone()]))
    }
}

impl Distribution {
    fn code(self) -> i64 {
        match self {
            Distribution::Block(_) => 0,
            Distribution::Cyclic(_) => 1,
            Distribution::None => 2,
        }
    }

    fn argument(self) -> i64 {
        match self {
            Distribution::Block(argument) | Distribution::Cyclic(argument) => argument.unwrap_or(-1),
            Distribution::None => -1,
        }
    }
}

/// Where a rank stands in a grid in the order of C.
fn coordinates(size: i64, rank: i64, grid: &[i64]) -> Result<Vec<i64>, DatatypeError> {
    let product = grid.iter().try_fold(1_i64, |product, &length| product.checked_mul(length));
    let processes = product.ok_or(DatatypeError::Overflow)?;
    if grid.iter().any(|&length| length < 1) || processes != size {
        return Err(DatatypeError::Grid { grid: processes, size });
    }
    if !(0..size).contains(&rank) {
        return Err(DatatypeError::Rank { rank, size });
    }
    let mut coordinates = vec![0; grid.len()];
    let mut rest = rank;
    for (coordinate, length) in coordinates.iter_mut().zip(grid).rev() {
        *coordinate = rest % length;
        rest /= length;
    }
    Ok(coordinates)
}

/// The elements of a block; every distribution deals out blocks in turn.
fn block(dimension: usize, distribution: Distribution, size: i64, processes: i64) -> Result<i64, DatatypeError> {
    let error = |block| DatatypeError::Distribution { dimension, block, processes, size };
    match distribution {
        Distribution::None if processes == 1 => Ok(size),
        Distribution::None => Err(error(size)),
        Distribution::Block(None) => Ok((size - 1) / processes + 1),
        Distribution::Block(Some(block)) if block >= 1 && block.saturating_mul(processes) >= size => Ok(block),
        Distribution::Cyclic(None) => Ok(1),
        Distribution::Cyclic(Some(block)) if block >= 1 => Ok(block),
        Distribution::Block(Some(block)) | Distribution::Cyclic(Some(block)) => Err(error(block)),
    }
}

/// Of `length` entries, `stride` apart, those that process `place` of `processes` gets when blocks are dealt in turn.
fn dealt(
    map: &TypeMap,
    stride: i64,
    length: i64,
    block: i64,
    place: i64,
    processes: i64,
) -> Result<TypeMap, DatatypeError> {
    let overflow = DatatypeError::Overflow;
    let Some(first) = block.checked_mul(place).filter(|&first| first < length) else {
        return map.repeated(0, stride);
    };
    let round = block.saturating_mul(processes);
    // Rounds in which the process gets a whole block, and what it gets in the last one.
    let whole = if length - first >= block { (length - first - block) / round + 1 } else { 0 };
    let rest_at = round.saturating_mul(whole).saturating_add(first);
    let rest = (length - rest_at).clamp(0, block);
    let at = |index: i64| index.checked_mul(stride).ok_or(overflow.clone());
    let mut joiner = Joiner::new();
    if whole > 0 {
        let step = if whole > 1 { at(round)? } else { 0 };
        joiner.push(map.repeated(block, stride)?.repeated(whole, step)?.shifted(at(first)?)?)?;
    }
    if rest > 0 {
        joiner.push(map.repeated(rest, stride)?.shifted(at(rest_at)?)?)?;
    }
    Ok(joiner.finish())
}
