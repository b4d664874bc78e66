//! The constructors of the standard (section 4.1.2 and 4.1.3), each as repetitions and sequences of type maps.

use super::basic::Basic;
use super::typemap::{Joiner, TypeMap};
use super::{Combiner, Datatype, DatatypeError};

/// Which index of an array runs fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last, as in C.
    C = 0,
    /// The first, as in Fortran.
    Fortran = 1,
}

impl Datatype {
    /// `MPI_Type_contiguous`: `count` items one after the other.
    pub fn contiguous(count: i64, old: &Datatype) -> Result<Datatype, DatatypeError> {
        not_negative("count", count)?;
        let map = old.map().repeated(count, old.extent())?.padded()?;
        Ok(Datatype::derived(map, Combiner::Contiguous, vec![count], vec![], vec![old.clone()]))
    }

    /// `MPI_Type_vector`: blocks of `length` items, their starts `stride` items apart.
    pub fn vector(count: i64, length: i64, stride: i64, old: &Datatype) -> Result<Datatype, DatatypeError> {
        let bytes = stride.checked_mul(old.extent()).ok_or(DatatypeError::Overflow)?;
        let map = blocks(count, length, bytes, old)?;
        Ok(Datatype::derived(map, Combiner::Vector, vec![count, length, stride], vec![], vec![old.clone()]))
    }

    /// `MPI_Type_create_hvector`: blocks of `length` items, their starts `stride` bytes apart.
    pub fn hvector(count: i64, length: i64, stride: i64, old: &Datatype) -> Result<Datatype, DatatypeError> {
        let map = blocks(count, length, stride, old)?;
        Ok(Datatype::derived(map, Combiner::Hvector, vec![count, length], vec![stride], vec![old.clone()]))
    }

    /// `MPI_Type_indexed`: blocks of their own lengths, at displacements in items.
    pub fn indexed(lengths: &[i64], displacements: &[i64], old: &Datatype) -> Result<Datatype, DatatypeError> {
        let map = placed(same_number(lengths, displacements)?, old.extent(), old)?;
        let integers = counted(&[lengths, displacements]);
        Ok(Datatype::derived(map, Combiner::Indexed, integers, vec![], vec![old.clone()]))
    }

    /// `MPI_Type_create_hindexed`: blocks of their own lengths, at displacements in bytes.
    pub fn hindexed(lengths: &[i64], displacements: &[i64], old: &Datatype) -> Result<Datatype, DatatypeError> {
        let map = placed(same_number(lengths, displacements)?, 1, old)?;
        let integers = counted(&[lengths]);
        Ok(Datatype::derived(map, Combiner::Hindexed, integers, displacements.to_vec(), vec![old.clone()]))
    }

    /// `MPI_Type_create_indexed_block`: blocks of one length, at displacements in items.
    pub fn indexed_block(length: i64, displacements: &[i64], old: &Datatype) -> Result<Datatype, DatatypeError> {
        let map = placed(displacements.iter().map(|&at| (length, at)), old.extent(), old)?;
        let mut integers = vec![displacements.len() as i64, length];
        integers.extend(displacements);
        Ok(Datatype::derived(map, Combiner::IndexedBlock, integers, vec![], vec![old.clone()]))
    }

    /// `MPI_Type_create_hindexed_block`: blocks of one length, at displacements in bytes.
    pub fn hindexed_block(length: i64, displacements: &[i64], old: &Datatype) -> Result<Datatype, DatatypeError> {
        let map = placed(displacements.iter().map(|&at| (length, at)), 1, old)?;
        let integers = vec![displacements.len() as i64, length];
        Ok(Datatype::derived(map, Combiner::HindexedBlock, integers, displacements.to_vec(), vec![old.clone()]))
    }

    /// `MPI_Type_create_struct`: blocks of their own lengths and datatypes, at displacements in bytes.
    pub fn structure(lengths: &[i64], displacements: &[i64], types: &[Datatype]) -> Result<Datatype, DatatypeError> {
        if types.len() != lengths.len() {
            return Err(DatatypeError::Lengths { left: lengths.len(), right: types.len() });
        }
        let mut joiner = Joiner::new();
        for ((length, at), old) in same_number(lengths, displacements)?.zip(types) {
            not_negative("block length", length)?;
            joiner.push(old.map().repeated(length, old.extent())?.shifted(at)?)?;
        }
        let map = joiner.finish().padded()?;
        let integers = counted(&[lengths]);
        Ok(Datatype::derived(map, Combiner::Struct, integers, displacements.to_vec(), types.to_vec()))
    }

    /// `MPI_Type_create_subarray`: a part of an array; its extent is that of the whole array.
    ///
    /// An empty part is allowed, as in MPICH. In the contents the order is 0 for C and 1 for Fortran.
    pub fn subarray(
        sizes: &[i64],
        lengths: &[i64],
        starts: &[i64],
        order: Order,
        old: &Datatype,
    ) -> Result<Datatype, DatatypeError> {
        if sizes.is_empty() || sizes.len() != lengths.len() || sizes.len() != starts.len() {
            return Err(DatatypeError::Dimensions);
        }
        let mut map = old.map().clone();
        let mut stride = old.extent();
        for dimension in fastest_first(sizes.len(), order) {
            let (size, length, start) = (sizes[dimension], lengths[dimension], starts[dimension]);
            if size < 1 || length < 0 || start < 0 || start > size - length {
                return Err(DatatypeError::OutsideArray { dimension, start, length, size });
            }
            let shift = start.checked_mul(stride).ok_or(DatatypeError::Overflow)?;
            map = map.repeated(length, stride)?.shifted(shift)?;
            stride = stride.checked_mul(size).ok_or(DatatypeError::Overflow)?;
        }
        let mut integers = counted(&[sizes, lengths, starts]);
        integers.push(order as i64);
        Ok(Datatype::derived(map.resized(0, stride)?, Combiner::Subarray, integers, vec![], vec![old.clone()]))
    }

    /// `MPI_Type_create_resized`: the same data with other bounds.
    pub fn resized(old: &Datatype, lb: i64, extent: i64) -> Result<Datatype, DatatypeError> {
        let map = old.map().clone().resized(lb, extent)?;
        Ok(Datatype::derived(map, Combiner::Resized, vec![], vec![lb, extent], vec![old.clone()]))
    }

    /// `MPI_Type_dup`: another datatype that is the same.
    pub fn dup(&self) -> Datatype {
        Datatype::derived(self.map().clone(), Combiner::Dup, vec![], vec![], vec![self.clone()])
    }

    /// `MPI_Type_create_f90_integer`: the smallest integer with `range` decimal digits.
    pub fn f90_integer(range: i64) -> Result<Datatype, DatatypeError> {
        let basic = match range {
            ..=2 => Basic::Integer1,
            3..=4 => Basic::Integer2,
            5..=9 => Basic::Integer4,
            10..=18 => Basic::Integer8,
            19..=38 => Basic::Integer16,
            _ => return Err(DatatypeError::NoSuchPrecision),
        };
        Ok(Datatype::derived(TypeMap::of(basic), Combiner::F90Integer, vec![range], vec![], vec![]))
    }

    /// `MPI_Type_create_f90_real`: the smallest real number of this precision and range; `None` where any will do.
    pub fn f90_real(precision: Option<i64>, range: Option<i64>) -> Result<Datatype, DatatypeError> {
        let (real, _) = f90(precision, range)?;
        Ok(Datatype::derived(TypeMap::of(real), Combiner::F90Real, f90_integers(precision, range), vec![], vec![]))
    }

    /// `MPI_Type_create_f90_complex`: two real numbers of this precision and range; `None` where any will do.
    pub fn f90_complex(precision: Option<i64>, range: Option<i64>) -> Result<Datatype, DatatypeError> {
        let (_, complex) = f90(precision, range)?;
        let integers = f90_integers(precision, range);
        Ok(Datatype::derived(TypeMap::of(complex), Combiner::F90Complex, integers, vec![], vec![]))
    }
}

/// Dimensions from the one whose elements lie next to each other.
pub(super) fn fastest_first(dimensions: usize, order: Order) -> Box<dyn Iterator<Item = usize>> {
    match order {
        Order::C => Box::new((0..dimensions).rev()),
        Order::Fortran => Box::new(0..dimensions),
    }
}

pub(super) fn not_negative(what: &'static str, value: i64) -> Result<(), DatatypeError> {
    if value < 0 { Err(DatatypeError::Negative { what, value }) } else { Ok(()) }
}

/// The number of entries, then the lists.
pub(super) fn counted(lists: &[&[i64]]) -> Vec<i64> {
    let mut integers = vec![lists[0].len() as i64];
    integers.extend(lists.iter().copied().flatten());
    integers
}

fn same_number<'a>(
    lengths: &'a [i64],
    displacements: &'a [i64],
) -> Result<impl Iterator<Item = (i64, i64)> + 'a, DatatypeError> {
    if lengths.len() != displacements.len() {
        return Err(DatatypeError::Lengths { left: lengths.len(), right: displacements.len() });
    }
    Ok(lengths.iter().copied().zip(displacements.iter().copied()))
}

fn blocks(count: i64, length: i64, stride: i64, old: &Datatype) -> Result<TypeMap, DatatypeError> {
    not_negative("count", count)?;
    not_negative("block length", length)?;
    old.map().repeated(length, old.extent())?.repeated(count, stride)?.padded()
}

/// Blocks of (length, displacement in units).
fn placed(blocks: impl Iterator<Item = (i64, i64)>, unit: i64, old: &Datatype) -> Result<TypeMap, DatatypeError> {
    let mut joiner = Joiner::new();
    for (length, displacement) in blocks {
        not_negative("block length", length)?;
        let at = displacement.checked_mul(unit).ok_or(DatatypeError::Overflow)?;
        joiner.push(old.map().repeated(length, old.extent())?.shifted(at)?)?;
    }
    joiner.finish().padded()
}

/// The real and the complex datatype of a precision and range, as a Fortran compiler chooses among those of x86-64:
/// `selected_real_kind` of IEEE single, double, x87 extended and quadruple numbers, of which MPI has no extended one.
fn f90(precision: Option<i64>, range: Option<i64>) -> Result<(Basic, Basic), DatatypeError> {
    match (precision.unwrap_or(0), range.unwrap_or(0)) {
        (..=6, ..=37) => Ok((Basic::Real4, Basic::Complex8)),
        (..=15, ..=307) => Ok((Basic::Real8, Basic::Complex16)),
        (..=33, ..=4931) => Ok((Basic::Real16, Basic::Complex32)),
        _ => Err(DatatypeError::NoSuchPrecision),
    }
}

/// -1 stands for `MPI_UNDEFINED`.
fn f90_integers(precision: Option<i64>, range: Option<i64>) -> Vec<i64> {
    vec![precision.unwrap_or(-1), range.unwrap_or(-1)]
}
