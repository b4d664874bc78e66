//! What the arguments of MPI functions mean, and how C and Fortran pass them.
//!
//! All conversions trust the program in one thing: that a word is what the declaration in `mpi.h` or the Fortran interface says,
//! which is what makes them `unsafe` ([`Argument`]).

use std::marker::PhantomData;

mod callback;
mod handle;
mod text;

use crate::abi::Status;
use crate::call::{Call, Language, Lengths};

pub use callback::*;
pub use handle::*;
pub use text::*;

/// Something that a program can pass.
pub trait Argument: Sized {
    /// Its type in C.
    const IN_C: &'static str;
    /// Its type in functions with long counts.
    const IN_C_LARGE: &'static str = Self::IN_C;

    /// From the word that C passes.
    ///
    /// # Safety
    /// The word must be what the type in C says.
    unsafe fn from_c(word: usize, call: &Call<'_>) -> Self;

    /// From the address that Fortran passes; by default that of what C would pass.
    ///
    /// # Safety
    /// The word must be the address of what the Fortran interface says.
    unsafe fn from_fortran(word: usize, call: &Call<'_>, _lengths: &Lengths) -> Self {
        // SAFETY: addresses are passed alike.
        unsafe { Self::from_c(word, call) }
    }
}

impl Argument for i32 {
    const IN_C: &'static str = "int";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> i32 {
        word as i32
    }
    unsafe fn from_fortran(word: usize, _: &Call<'_>, _: &Lengths) -> i32 {
        // SAFETY: the address of an integer.
        unsafe { *(word as *const i32) }
    }
}

/// MPI_Aint, MPI_Offset and MPI_Count are all 64 bits.
impl Argument for i64 {
    const IN_C: &'static str = "MPI_Aint";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> i64 {
        word as i64
    }
    unsafe fn from_fortran(word: usize, _: &Call<'_>, _: &Lengths) -> i64 {
        // SAFETY: the address of a long integer.
        unsafe { *(word as *const i64) }
    }
}

/// How many, how long or how far: an integer, or a long one in functions with long counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub i64);

impl Argument for Count {
    const IN_C: &'static str = "int";
    const IN_C_LARGE: &'static str = "MPI_Count";
    unsafe fn from_c(word: usize, call: &Call<'_>) -> Count {
        Count(if call.is_large { word as i64 } else { i64::from(word as i32) })
    }
    unsafe fn from_fortran(word: usize, call: &Call<'_>, _: &Lengths) -> Count {
        Count(CountAt { address: word, is_large: call.is_large }.get())
    }
}

impl From<Count> for i64 {
    fn from(count: Count) -> i64 {
        count.0
    }
}

/// The address of counts.
#[derive(Clone, Copy, Debug)]
pub struct CountAt {
    address: usize,
    is_large: bool,
}

impl Argument for CountAt {
    const IN_C: &'static str = "int *";
    const IN_C_LARGE: &'static str = "MPI_Count *";
    unsafe fn from_c(word: usize, call: &Call<'_>) -> CountAt {
        CountAt { address: word, is_large: call.is_large }
    }
}

impl CountAt {
    /// One of several.
    pub fn get_at(self, place: usize) -> i64 {
        // SAFETY: the program says that there are so many.
        unsafe {
            match self.is_large {
                true => (self.address as *const i64).add(place).read_unaligned(),
                false => i64::from((self.address as *const i32).add(place).read_unaligned()),
            }
        }
    }

    /// The count.
    pub fn get(self) -> i64 {
        self.get_at(0)
    }

    /// The first of several, copied.
    pub fn list(self, count: usize) -> Vec<i64> {
        (0..count).map(|place| self.get_at(place)).collect()
    }

    /// Writes a count; one that has no room is undefined.
    pub fn set(self, call: &Call<'_>, count: i64) {
        // SAFETY: the program says that there is room.
        unsafe {
            match self.is_large {
                true => (self.address as *mut i64).write_unaligned(count),
                false => {
                    let count = i32::try_from(count).unwrap_or(call.abi.undefined);
                    (self.address as *mut i32).write_unaligned(count);
                }
            }
        }
    }
}

/// A place in a file, or a number of bytes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Offset(pub i64);

impl Argument for Offset {
    const IN_C: &'static str = "MPI_Offset";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> Offset {
        Offset(word as i64)
    }
    unsafe fn from_fortran(word: usize, _: &Call<'_>, _: &Lengths) -> Offset {
        // SAFETY: the address of a long integer.
        Offset(unsafe { *(word as *const i64) })
    }
}

/// A buffer: memory of the program, or one of the addresses with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    address: usize,
    in_place: bool,
}

impl Buffer {
    /// Whether it is MPI_IN_PLACE.
    pub fn is_in_place(self) -> bool {
        self.in_place
    }

    /// Where it begins; null for MPI_BOTTOM.
    pub fn address(self) -> *mut u8 {
        self.address as *mut u8
    }
}

impl Argument for Buffer {
    const IN_C: &'static str = "void *";
    unsafe fn from_c(word: usize, call: &Call<'_>) -> Buffer {
        Buffer { address: word, in_place: word == call.abi.in_place }
    }
    unsafe fn from_fortran(word: usize, call: &Call<'_>, _: &Lengths) -> Buffer {
        let sentinels = call.me.sentinels();
        let address = if sentinels.bottom == Some(word) { 0 } else { word };
        Buffer { address, in_place: sentinels.in_place == Some(word) }
    }
}

/// The address of values that are the same in all languages and libraries: to be read or written.
#[derive(Clone, Copy, Debug)]
pub struct At<T> {
    address: usize,
    value: PhantomData<T>,
}

impl<T: Copy> At<T> {
    /// Writes the value.
    pub fn set(self, value: T) {
        self.set_at(0, value);
    }

    /// Writes one of several values.
    pub fn set_at(self, place: usize, value: T) {
        if self.address != 0 {
            // SAFETY: the program says that there is room.
            unsafe { (self.address as *mut T).add(place).write_unaligned(value) };
        }
    }

    /// The value.
    pub fn get(self) -> T {
        self.get_at(0)
    }

    /// One of several values.
    pub fn get_at(self, place: usize) -> T {
        // SAFETY: the program says that there are values.
        unsafe { (self.address as *const T).add(place).read_unaligned() }
    }

    /// Writes the first of several values.
    pub fn set_each(self, values: &[T]) {
        values.iter().enumerate().for_each(|(place, &value)| self.set_at(place, value));
    }

    /// The first of several values, copied.
    pub fn list(self, count: usize) -> Vec<T> {
        (0..count).map(|place| self.get_at(place)).collect()
    }

    /// Whether there is no such memory.
    pub fn is_null(self) -> bool {
        self.address == 0
    }
}

macro_rules! at {
    ($($type:ty: $in_c:literal;)*) => {$(
        impl Argument for At<$type> {
            const IN_C: &'static str = $in_c;
            unsafe fn from_c(word: usize, _: &Call<'_>) -> Self {
                At { address: word, value: PhantomData }
            }
        }
    )*};
}
at! {
    i32: "int *";
    i64: "MPI_Aint *";
    Offset: "MPI_Offset *";
    f64: "double *";
    usize: "void *";
}

/// Numbers of places in a list, which Fortran counts from 1.
#[derive(Clone, Copy, Debug)]
pub struct IndexAt {
    address: usize,
    first: i32,
}

impl Argument for IndexAt {
    const IN_C: &'static str = "int *";
    unsafe fn from_c(word: usize, call: &Call<'_>) -> IndexAt {
        IndexAt { address: word, first: i32::from(call.language == Language::Fortran) }
    }
}

impl IndexAt {
    /// Writes a place, or a number that is none.
    pub fn set(self, index: Result<usize, i32>) {
        self.set_at(0, index);
    }

    /// Writes one of several.
    pub fn set_at(self, place: usize, index: Result<usize, i32>) {
        let value = index.map_or_else(|none| none, |index| index as i32 + self.first);
        // SAFETY: the program says that there is room.
        unsafe { (self.address as *mut i32).add(place).write_unaligned(value) };
    }
}

/// Where a status, or several, are to be written, if they are.
#[derive(Clone, Copy, Debug)]
pub struct StatusAt {
    address: usize,
}

impl Argument for StatusAt {
    const IN_C: &'static str = "MPI_Status *";
    unsafe fn from_c(word: usize, call: &Call<'_>) -> StatusAt {
        StatusAt { address: if word == call.abi.status_ignore { 0 } else { word } }
    }
    unsafe fn from_fortran(word: usize, call: &Call<'_>, _: &Lengths) -> StatusAt {
        let sentinels = call.me.sentinels();
        let ignored = [sentinels.status_ignore, sentinels.statuses_ignore].contains(&Some(word));
        StatusAt { address: if ignored { 0 } else { word } }
    }
}

impl StatusAt {
    /// Whether nobody wants to know.
    #[inline]
    pub fn is_ignored(self) -> bool {
        self.address == 0
    }

    /// Writes the status of a call that completes one operation.
    pub fn set(self, call: &Call<'_>, status: &Status) {
        if self.address != 0 {
            // SAFETY: the program says that there is a status.
            unsafe { call.abi.write_status(self.address as *mut i32, status, false) };
        }
    }

    /// Writes one of several statuses, with its error.
    pub fn set_at(self, call: &Call<'_>, place: usize, status: &Status) {
        if self.address != 0 {
            let at = self.address + place * call.abi.status_size();
            // SAFETY: the program says that there are so many.
            unsafe { call.abi.write_status(at as *mut i32, status, true) };
        }
    }

    /// What the status says.
    pub fn get(self, call: &Call<'_>) -> Status {
        if self.address == 0 {
            return call.abi.empty_status();
        }
        // SAFETY: the program says that there is a status.
        unsafe { call.abi.read_status(self.address as *const i32) }
    }
}

/// Words that C passes in full, and Fortran in full (`false`) or, in the functions of MPI-1, as default integers (`true`).
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident $at:ident $narrow:literal $in_c:literal $at_in_c:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub i64);

        impl Argument for $name {
            const IN_C: &'static str = $in_c;
            unsafe fn from_c(word: usize, _: &Call<'_>) -> $name {
                $name(word as i64)
            }
            unsafe fn from_fortran(word: usize, call: &Call<'_>, lengths: &Lengths) -> $name {
                // SAFETY: the address of an integer.
                unsafe { $name($at::from_fortran(word, call, lengths).get_at(0)) }
            }
        }

        #[doc = concat!("The address of some ", stringify!($name), ".")]
        #[derive(Clone, Copy, Debug)]
        pub struct $at {
            address: usize,
            narrow: bool,
        }

        impl Argument for $at {
            const IN_C: &'static str = $at_in_c;
            unsafe fn from_c(word: usize, call: &Call<'_>) -> $at {
                $at { address: word, narrow: $narrow && call.language == Language::Fortran }
            }
        }

        impl $at {
            /// One of several.
            pub fn get_at(self, place: usize) -> i64 {
                // SAFETY: the program says that there are so many.
                unsafe {
                    match self.narrow {
                        true => i64::from((self.address as *const i32).add(place).read_unaligned()),
                        false => (self.address as *const i64).add(place).read_unaligned(),
                    }
                }
            }

            /// Writes one.
            pub fn set(self, word: i64) {
                // SAFETY: the program says that there is room.
                unsafe {
                    match self.narrow {
                        true => (self.address as *mut i32).write_unaligned(word as i32),
                        false => (self.address as *mut i64).write_unaligned(word),
                    }
                }
            }
        }
    )*};
}
words! {
    /// An address or a distance in the functions of MPI-1.
    OldAint OldAintAt true "MPI_Aint" "MPI_Aint *";
    /// The value of an attribute, or what its functions get.
    Word WordAt false "void *" "void *";
    /// The same in the functions of MPI-1.
    OldWord OldWordAt true "void *" "void *";
}

impl OldAintAt {
    /// The first of several, copied.
    pub fn list(self, count: usize) -> Vec<i64> {
        (0..count).map(|place| self.get_at(place)).collect()
    }
}

/// Weights of edges: one for each, or none at all (MPI_UNWEIGHTED).
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    address: usize,
    unweighted: bool,
}

impl Argument for Weights {
    const IN_C: &'static str = "int *";
    unsafe fn from_c(word: usize, call: &Call<'_>) -> Weights {
        let empty = word == call.abi.weights_empty;
        Weights { address: if empty { 0 } else { word }, unweighted: word == call.abi.unweighted }
    }
    unsafe fn from_fortran(word: usize, call: &Call<'_>, _: &Lengths) -> Weights {
        let sentinels = call.me.sentinels();
        let empty = sentinels.weights_empty == Some(word);
        Weights { address: if empty { 0 } else { word }, unweighted: sentinels.unweighted == Some(word) }
    }
}

impl Weights {
    /// The weights of so many edges, unless there are none.
    pub fn list(self, count: usize) -> Option<Vec<i32>> {
        if self.unweighted {
            return None;
        }
        let at = At::<i32> { address: self.address, value: PhantomData };
        Some(if at.is_null() { vec![0; count] } else { at.list(count) })
    }

    /// Writes weights, if they are wanted.
    pub fn set(self, weights: &[i32]) {
        if !self.unweighted {
            let at = At::<i32> { address: self.address, value: PhantomData };
            weights.iter().enumerate().for_each(|(place, &weight)| at.set_at(place, weight));
        }
    }
}

/// Ranges of ranks: first, last and stride of each.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    address: usize,
}

impl Argument for Ranges {
    const IN_C: &'static str = "int (*)[3]";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> Ranges {
        Ranges { address: word }
    }
}

impl Ranges {
    /// So many of them.
    pub fn list(self, count: usize) -> Vec<hpcast_objects::group::Range> {
        let at = At::<i32> { address: self.address, value: PhantomData };
        let range = |place: usize| hpcast_objects::group::Range {
            first: at.get_at(3 * place),
            last: at.get_at(3 * place + 1),
            stride: at.get_at(3 * place + 2),
        };
        (0..count).map(range).collect()
    }
}
