//! Handles of objects, by their numbers.

use std::marker::PhantomData;

use super::Argument;
use crate::abi::Kind;
use crate::call::{Call, Language, Lengths};

/// A kind of handle.
pub trait HandleKind: Copy {
    /// Which.
    const KIND: Kind;
    /// Its type in C.
    const IN_C: &'static str;
    /// The address of one in C.
    const ADDRESS_IN_C: &'static str;
    /// Several, only read.
    const ARRAY_IN_C: &'static str;
}

/// The number of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle<K> {
    /// Its number, which is invalid if the word was.
    pub number: u32,
    kind: PhantomData<K>,
}

impl<K> Handle<K> {
    /// The handle of a number.
    pub fn of(number: u32) -> Handle<K> {
        Handle { number, kind: PhantomData }
    }
}

impl<K: HandleKind> Argument for Handle<K> {
    const IN_C: &'static str = K::IN_C;
    unsafe fn from_c(word: usize, call: &Call<'_>) -> Handle<K> {
        // SAFETY: the program passes a handle.
        Handle { number: unsafe { call.abi.handles().from_c(K::KIND, word, call.me.base()) }, kind: PhantomData }
    }
    unsafe fn from_fortran(word: usize, call: &Call<'_>, _: &Lengths) -> Handle<K> {
        // SAFETY: the address of an integer.
        let word = unsafe { *(word as *const i32) };
        Handle { number: call.abi.handles().from_fortran(K::KIND, word), kind: PhantomData }
    }
}

/// Handles in the program's memory.
#[derive(Clone, Copy, Debug)]
pub struct Handles<K, const SEVERAL: bool> {
    address: usize,
    language: Language,
    kind: PhantomData<K>,
}

/// One handle in the program's memory, to be read or written.
pub type HandleAt<K> = Handles<K, false>;
/// Several of them.
pub type HandleArray<K> = Handles<K, true>;

impl<K: HandleKind, const SEVERAL: bool> Argument for Handles<K, SEVERAL> {
    const IN_C: &'static str = if SEVERAL { K::ARRAY_IN_C } else { K::ADDRESS_IN_C };
    unsafe fn from_c(word: usize, call: &Call<'_>) -> Self {
        Handles { address: word, language: call.language, kind: PhantomData }
    }
}

impl<K: HandleKind, const SEVERAL: bool> Handles<K, SEVERAL> {
    /// The number of the handle at that place.
    #[inline]
    pub fn get_at(self, call: &Call<'_>, place: usize) -> u32 {
        let handles = call.abi.handles();
        // SAFETY: the program says that there are handles of its language.
        unsafe {
            match (self.language, call.abi.handle_size(K::KIND)) {
                (Language::Fortran, _) => {
                    handles.from_fortran(K::KIND, (self.address as *const i32).add(place).read_unaligned())
                }
                (Language::C, 4) => {
                    let word = (self.address as *const u32).add(place).read_unaligned() as usize;
                    handles.from_c(K::KIND, word, call.me.base())
                }
                (Language::C, _) => {
                    let word = (self.address as *const usize).add(place).read_unaligned();
                    handles.from_c(K::KIND, word, call.me.base())
                }
            }
        }
    }

    /// Writes the handle of a number.
    #[inline]
    pub fn set_at(self, call: &Call<'_>, place: usize, number: u32) {
        let handles = call.abi.handles();
        // SAFETY: the program says that there is room for handles of its language.
        unsafe {
            match (self.language, call.abi.handle_size(K::KIND)) {
                (Language::Fortran, _) => {
                    (self.address as *mut i32).add(place).write_unaligned(handles.to_fortran(K::KIND, number));
                }
                (Language::C, 4) => {
                    let word = handles.to_c(K::KIND, number, call.me.base());
                    (self.address as *mut u32).add(place).write_unaligned(word as u32);
                }
                (Language::C, _) => {
                    let word = handles.to_c(K::KIND, number, call.me.base());
                    (self.address as *mut usize).add(place).write_unaligned(word);
                }
            }
        }
    }
}

impl<K: HandleKind> HandleAt<K> {
    /// The number of the handle.
    pub fn get(self, call: &Call<'_>) -> u32 {
        self.get_at(call, 0)
    }

    /// Writes the handle of a number.
    pub fn set(self, call: &Call<'_>, number: u32) {
        self.set_at(call, 0, number);
    }
}

macro_rules! handle_kinds {
    ($($kind:ident $name:ident $address:ident $array:ident $in_c:literal;)*) => {$(
        /// Marks handles of that kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $kind;
        impl HandleKind for $kind {
            const KIND: Kind = Kind::$kind;
            const IN_C: &'static str = $in_c;
            const ADDRESS_IN_C: &'static str = concat!($in_c, " *");
            const ARRAY_IN_C: &'static str = concat!($in_c, " *");
        }
        #[doc = concat!("An argument of type ", $in_c, ".")]
        #[allow(dead_code)]
        pub type $name = Handle<$kind>;
        #[doc = concat!("The address of a ", $in_c, ".")]
        pub type $address = HandleAt<$kind>;
        #[doc = concat!("Several ", $in_c, ".")]
        #[allow(dead_code)]
        pub type $array = HandleArray<$kind>;
    )*};
}
handle_kinds! {
    Comm CommHandle CommAt CommArray "MPI_Comm";
    Group GroupHandle GroupAt GroupArray "MPI_Group";
    Datatype TypeHandle TypeAt TypeArray "MPI_Datatype";
    Request RequestHandle RequestAt RequestArray "MPI_Request";
    Op OpHandle OpAt OpArray "MPI_Op";
    Errhandler ErrhandlerHandle ErrhandlerAt ErrhandlerArray "MPI_Errhandler";
    Info InfoHandle InfoAt InfoArray "MPI_Info";
    Win WinHandle WinAt WinArray "MPI_Win";
    File FileHandle FileAt FileArray "MPI_File";
    Message MessageHandle MessageAt MessageArray "MPI_Message";
    Session SessionHandle SessionAt SessionArray "MPI_Session";
}
