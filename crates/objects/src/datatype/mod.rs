//! Datatypes: where the data of a message lie in memory and what they are.
//!
//! A datatype is made from others by repeating and joining type maps (`typemap.rs`); each keeps its layout as loops of
//! loops of blocks (`layout.rs`), which cursors run through (`cursor.rs`) when data are moved (`transfer.rs`).

mod basic;
mod bounds;
mod constructors;
mod cursor;
mod darray;
mod elements;
mod error;
mod external32;
mod layout;
mod moving;
mod packing;
mod signature;
mod transfer;
mod typemap;

use std::cell::OnceCell;
use std::rc::Rc;

pub use basic::{Basic, Kind};
pub use constructors::Order;
pub use cursor::{BlockIter, Ranges};
pub use darray::Distribution;
pub use elements::Elements;
pub use error::DatatypeError;
pub use layout::Blocks;
pub use signature::Signature;

use layout::Layout;
use typemap::{TypeMap, Typed};

/// How a datatype was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combiner {
    /// A predefined datatype.
    Named,
    /// `MPI_Type_dup`.
    Dup,
    /// `MPI_Type_contiguous`.
    Contiguous,
    /// `MPI_Type_vector`.
    Vector,
    /// `MPI_Type_create_hvector`.
    Hvector,
    /// `MPI_Type_indexed`.
    Indexed,
    /// `MPI_Type_create_hindexed`.
    Hindexed,
    /// `MPI_Type_create_indexed_block`.
    IndexedBlock,
    /// `MPI_Type_create_hindexed_block`.
    HindexedBlock,
    /// `MPI_Type_create_struct`.
    Struct,
    /// `MPI_Type_create_subarray`.
    Subarray,
    /// `MPI_Type_create_darray`.
    Darray,
    /// `MPI_Type_create_resized`.
    Resized,
    /// `MPI_Type_create_f90_integer`.
    F90Integer,
    /// `MPI_Type_create_f90_real`.
    F90Real,
    /// `MPI_Type_create_f90_complex`.
    F90Complex,
}

/// A datatype. Cheap to clone; two are equal if they are the same object, or the same predefined datatype.
#[derive(Clone, Debug)]
pub struct Datatype(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    map: TypeMap,
    basic: Option<Basic>,
    combiner: Combiner,
    integers: Box<[i64]>,
    addresses: Box<[i64]>,
    types: Box<[Datatype]>,
    /// If any number of items is one block: where it begins.
    solid: Option<i64>,
}

impl PartialEq for Datatype {
    fn eq(&self, other: &Datatype) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || (self.0.basic.is_some() && self.0.basic == other.0.basic)
    }
}

impl Eq for Datatype {}

impl From<Basic> for Datatype {
    fn from(basic: Basic) -> Datatype {
        Datatype::basic(basic)
    }
}

impl Datatype {
    /// A predefined datatype.
    pub fn basic(basic: Basic) -> Datatype {
        thread_local! {
            static NAMED: [OnceCell<Datatype>; Basic::ALL.len()] = const { [const { OnceCell::new() }; Basic::ALL.len()] };
        }
        let make = || Datatype::made(TypeMap::of(basic), Some(basic), Combiner::Named, vec![], vec![], vec![]);
        NAMED.with(|named| named[basic as usize].get_or_init(make).clone())
    }

    fn derived(
        map: TypeMap,
        combiner: Combiner,
        integers: Vec<i64>,
        addresses: Vec<i64>,
        types: Vec<Datatype>,
    ) -> Datatype {
        Datatype::made(map, None, combiner, integers, addresses, types)
    }

    fn made(
        map: TypeMap,
        basic: Option<Basic>,
        combiner: Combiner,
        integers: Vec<i64>,
        addresses: Vec<i64>,
        types: Vec<Datatype>,
    ) -> Datatype {
        let solid = match map.bytes {
            Layout::Nothing => Some(0),
            Layout::Blocks(blocks) if blocks.count == 1 && blocks.length == map.bounds.extent() => Some(blocks.offset),
            _ => None,
        };
        Datatype(Rc::new(Inner {
            map,
            basic,
            combiner,
            integers: integers.into(),
            addresses: addresses.into(),
            types: types.into(),
            solid,
        }))
    }

    fn map(&self) -> &TypeMap {
        &self.0.map
    }

    /// Which predefined datatype it is, if it is one.
    pub fn as_basic(&self) -> Option<Basic> {
        self.0.basic
    }

    /// The only basic datatype in it; `None` if there are several or none.
    pub fn uniform(&self) -> Option<Basic> {
        match &self.map().typed {
            Typed::Uniform(basic) => Some(*basic),
            Typed::Mixed(layout) => layout.only_basic(),
            Typed::Nothing => None,
        }
    }

    /// Bytes of data in an item (`MPI_Type_size`).
    pub fn size(&self) -> i64 {
        self.map().bounds.size
    }

    /// The lower bound.
    pub fn lb(&self) -> i64 {
        self.map().bounds.lb
    }

    /// The upper bound.
    pub fn ub(&self) -> i64 {
        self.map().bounds.ub
    }

    /// From the lower to the upper bound: the distance between items.
    pub fn extent(&self) -> i64 {
        self.map().bounds.extent()
    }

    /// Where the data begin.
    pub fn true_lb(&self) -> i64 {
        self.map().bounds.data.map_or(0, |(begin, _)| begin)
    }

    /// Where the data end.
    pub fn true_ub(&self) -> i64 {
        self.map().bounds.data.map_or(0, |(_, end)| end)
    }

    /// From the first byte of the data to the last.
    pub fn true_extent(&self) -> i64 {
        self.true_ub() - self.true_lb()
    }

    /// The strictest alignment of its elements.
    pub fn alignment(&self) -> i64 {
        self.map().bounds.alignment
    }

    /// Basic elements of an item, as `MPI_Get_elements` counts them.
    pub fn elements(&self) -> i64 {
        self.map().bounds.elements
    }

    /// Whether any number of items is one block without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.0.solid.is_some()
    }

    /// How it was made (`MPI_Type_get_envelope`).
    pub fn combiner(&self) -> Combiner {
        self.0.combiner
    }

    /// The integers that it was made from (`MPI_Type_get_contents`).
    pub fn integers(&self) -> &[i64] {
        &self.0.integers
    }

    /// The addresses that it was made from.
    pub fn addresses(&self) -> &[i64] {
        &self.0.addresses
    }

    /// The datatypes that it was made from.
    pub fn datatypes(&self) -> &[Datatype] {
        &self.0.types
    }

    /// The sequence of basic elements of `count` items, for comparing.
    pub fn signature(&self, count: i64) -> Signature {
        self.map().signature.times(count)
    }
}

#[cfg(test)]
mod tests;
