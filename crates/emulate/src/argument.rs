//! What the arguments of MPI functions mean, and how C and Fortran pass them.
//!
//! All conversions trust the program in one thing: that a word is what the declaration in `mpi.h` or the Fortran interface says,
//! which is what makes them `unsafe` ([`Argument`]).

use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;

use crate::abi::{Kind, Status};
use crate::call::{Call, Language, Lengths};

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

    /// A buffer at that address.
    pub fn at(address: *mut u8) -> Buffer {
        Buffer { address: address as usize, in_place: false }
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

/// Text that the program passes.
#[derive(Clone, Debug)]
pub struct Text(pub String);

impl Argument for Text {
    const IN_C: &'static str = "const char *";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> Text {
        if word == 0 {
            return Text(String::new());
        }
        // SAFETY: a string of C.
        let text = unsafe { CStr::from_ptr(word as *const c_char) };
        Text(text.to_string_lossy().into_owned())
    }
    unsafe fn from_fortran(word: usize, _: &Call<'_>, lengths: &Lengths) -> Text {
        // SAFETY: Fortran passes the length of each string.
        let bytes = unsafe { std::slice::from_raw_parts(word as *const u8, lengths.next()) };
        // Blanks at the end are what fills the variable up; those at the beginning are dropped as the standard says.
        Text(String::from_utf8_lossy(bytes).trim_matches(' ').to_owned())
    }
}

/// Where text goes.
#[derive(Clone, Copy, Debug)]
pub struct TextAt {
    address: usize,
    /// Length of a Fortran variable.
    length: Option<usize>,
}

impl Argument for TextAt {
    const IN_C: &'static str = "char *";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> TextAt {
        TextAt { address: word, length: None }
    }
    unsafe fn from_fortran(word: usize, _: &Call<'_>, lengths: &Lengths) -> TextAt {
        TextAt { address: word, length: Some(lengths.next()) }
    }
}

impl TextAt {
    /// Writes text; C has room for `room` characters and the zero. Returns how many were written.
    pub fn set(self, text: &str, room: usize) -> c_int {
        let text = text.as_bytes();
        let at = self.address as *mut u8;
        // SAFETY: the program says that there is room.
        unsafe {
            if let Some(length) = self.length {
                let count = text.len().min(length);
                at.copy_from_nonoverlapping(text.as_ptr(), count);
                at.add(count).write_bytes(b' ', length - count);
                count as c_int
            } else {
                let count = text.len().min(room);
                at.copy_from_nonoverlapping(text.as_ptr(), count);
                at.add(count).write(0);
                count as c_int
            }
        }
    }
}

/// A function of the program that we call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Where it is.
    pub address: usize,
    /// How it is called.
    pub language: Language,
}

impl Argument for Callback {
    const IN_C: &'static str = "void *";
    unsafe fn from_c(word: usize, call: &Call<'_>) -> Callback {
        Callback { address: word, language: call.language }
    }
}

/// A word that the program gives and gets back: an address in C, a long integer in Fortran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extra(pub usize);

impl Argument for Extra {
    const IN_C: &'static str = "void *";
    unsafe fn from_c(word: usize, _: &Call<'_>) -> Extra {
        Extra(word)
    }
    unsafe fn from_fortran(word: usize, _: &Call<'_>, _: &Lengths) -> Extra {
        // SAFETY: the address of a long integer.
        Extra(unsafe { *(word as *const usize) })
    }
}

macro_rules! callbacks {
    ($($name:ident $in_c:literal $($in_c_large:literal)?;)*) => {$(
        #[doc = concat!("A function of the program of type ", $in_c, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub Callback);

        impl Argument for $name {
            const IN_C: &'static str = $in_c;
            $(const IN_C_LARGE: &'static str = $in_c_large;)?
            unsafe fn from_c(word: usize, call: &Call<'_>) -> $name {
                $name(Callback { address: word, language: call.language })
            }
        }
    )*};
}
callbacks! {
    UserFunction "MPI_User_function *" "MPI_User_function_c *";
    CopyFunction "MPI_Copy_function *";
    DeleteFunction "MPI_Delete_function *";
    CommCopy "MPI_Comm_copy_attr_function *";
    CommDelete "MPI_Comm_delete_attr_function *";
    TypeCopy "MPI_Type_copy_attr_function *";
    TypeDelete "MPI_Type_delete_attr_function *";
    WinCopy "MPI_Win_copy_attr_function *";
    WinDelete "MPI_Win_delete_attr_function *";
    CommErrhandler "MPI_Comm_errhandler_function *";
    WinErrhandler "MPI_Win_errhandler_function *";
    FileErrhandler "MPI_File_errhandler_function *";
    SessionErrhandler "MPI_Session_errhandler_function *";
    OldErrhandler "MPI_Handler_function *";
    DatarepConversion "MPI_Datarep_conversion_function *" "MPI_Datarep_conversion_function_c *";
    DatarepExtent "MPI_Datarep_extent_function *";
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
