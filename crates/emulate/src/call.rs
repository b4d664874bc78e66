//! How a call of the program becomes a call of ours, in C and in Fortran.
//!
//! Each MPI function is written once, with arguments that say what they mean ([`crate::argument`]). From that, `mpi!` makes
//! the function that C calls and the one that Fortran calls. A fault goes to the error handler of the
//! object that it concerns.

use std::ffi::c_int;

use crate::abi::Abi;
use crate::fault::Answer;
use crate::process::Process;

/// The language that a call comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// And C++.
    C,
    /// All arguments by reference, handles as integers.
    Fortran,
}

/// A call on its way.
pub struct Call<'c> {
    /// Who calls.
    pub me: &'c Process,
    /// What the program's words mean.
    pub abi: &'c Abi,
    /// From which language.
    pub language: Language,
    /// Whether counts are long integers (MPI_Send_c).
    pub is_large: bool,
}

impl Call<'_> {
    /// Something has changed that other threads of the rank may wait for.
    pub fn tell_threads(&self) {
        if self.me.has_threads.get() {
            self.me.threads().tell(self.me);
        }
    }
}

/// The address of a function for the program.
#[derive(Clone, Copy)]
pub struct Address(pub *const ());

// SAFETY: it is the address of code, which never changes.
unsafe impl Sync for Address {}

/// An MPI function.
pub struct Function {
    /// As in C: `MPI_Send`.
    pub name: &'static str,
    /// What C calls.
    pub c: Address,
    /// What Fortran calls, with the error code and the lengths of strings at the end.
    pub fortran: Address,
    /// Type and name of each parameter in C: what the table of the interface must say too.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares it with the table"))]
    pub parameters: &'static [(&'static str, &'static str)],
}

/// What is known of an MPI function that is called.
#[derive(Clone, Copy)]
pub struct Named {
    /// As in C: `MPI_Send`.
    pub name: &'static str,
    /// Whether it starts a message, or posts a receive, and does no more.
    pub starts_messages: bool,
    /// Whether its counts are long integers.
    pub is_large: bool,
}

/// The lengths of the character arguments of a Fortran call, in their order. There are as many as strings; the other
/// words are whatever was there.
pub struct Lengths {
    words: [usize; 4],
    taken: std::cell::Cell<usize>,
}

impl Lengths {
    /// The words after the last argument.
    pub fn new(words: [usize; 4]) -> Lengths {
        Lengths { words, taken: Default::default() }
    }

    /// The length of the next string.
    pub fn next(&self) -> usize {
        let taken = self.taken.get();
        self.taken.set(taken + 1);
        self.words[taken]
    }
}

impl Named {
    /// The function of that name, with counts of that length.
    pub const fn new(name: &'static str, is_large: bool) -> Named {
        let starts_messages = matches!(
            name.as_bytes(),
            b"MPI_Isend"
                | b"MPI_Ibsend"
                | b"MPI_Irsend"
                | b"MPI_Issend"
                | b"MPI_Irecv"
                | b"MPI_Isend_c"
                | b"MPI_Ibsend_c"
                | b"MPI_Irsend_c"
                | b"MPI_Issend_c"
                | b"MPI_Irecv_c"
        );
        Named { name, starts_messages, is_large }
    }
}

/// Makes a call: what it costs is charged before, what goes wrong is handled after.
#[inline]
pub fn make(
    Named { name, starts_messages, is_large }: Named,
    language: Language,
    body: impl FnOnce(&Call<'_>) -> Answer,
) -> c_int {
    let me = Process::current();
    let outer = me.begin_call(name);
    crate::kernels::check_call(me, name);
    let call = Call { me, abi: me.world.abi(), language, is_large };
    let code = match body(&call) {
        Ok(()) => 0,
        Err(fault) => crate::fault::raise(&call, name, &fault),
    };
    // MPI says that a program may change a buffer only after a function has ended the request. Some programs, whose messages are
    // small enough to leave at once everywhere, never ask for that; so the next call of any other kind is where data is kept.
    // Compilers of Fortran may pass a copy of an array that is gone after the call.
    if !starts_messages || language == Language::Fortran {
        me.settle_messages();
    }
    if crate::copying::bad_buffer().is_some() {
        me.halt();
    }
    me.keep_time(outer);
    me.end_call(outer);
    code
}

/// Declares MPI functions; they become a list `FUNCTIONS`. One with `[_c]` after its name is there twice: with counts that are
/// integers, and under the longer name with counts that are long integers.
macro_rules! mpi {
    ($($(#[$meta:meta])* fn $name:ident $([$($large:ident)?])? ($($parameters:tt)*) $body:block)*) => {
        $crate::call::functions! { $(($(#[$meta])* $name [$($($large)?)?] ($($parameters)*) $body))* }
    };
}
pub(crate) use mpi;

macro_rules! functions {
    ($(($(#[$meta:meta])* $name:ident [$($large:ident)?] $parameters:tt $body:block))*) => {
        $($crate::call::body! { $(#[$meta])* $name $parameters $body })*
        pub(crate) static FUNCTIONS: &[$crate::call::Function] = &[$(
            $crate::call::entry!($name, "", $parameters),
            $($crate::call::entry!($name, stringify!($large), $parameters),)?
        )*];
    };
}
pub(crate) use functions;

/// What an MPI function does.
macro_rules! body {
    ($(#[$meta:meta])* $name:ident ($call:ident $(, $arg:ident : $type:ty)* $(,)?) $body:block) => {
        $(#[$meta])*
        #[allow(non_snake_case, clippy::too_many_arguments)]
        fn $name($call: &$crate::call::Call<'_> $(, $arg: $type)*) -> $crate::fault::Answer $body
    };
}
pub(crate) use body;

/// How C and Fortran call it: under its name, or with something after it.
macro_rules! entry {
    ($name:ident, $suffix:expr, ($call:ident $(, $arg:ident : $type:ty)* $(,)?)) => {{
        const NAME: &str = concat!(stringify!($name), $suffix);
        const IS_LARGE: bool = !$suffix.is_empty();
        const NAMED: $crate::call::Named = $crate::call::Named::new(NAME, IS_LARGE);
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn c($($arg: usize),*) -> std::ffi::c_int {
            $crate::call::make(NAMED, $crate::call::Language::C, |call| {
                // SAFETY: the program passes what the function's declaration in mpi.h says.
                $name(call $(, unsafe { <$type as $crate::argument::Argument>::from_c($arg, call) })*)
            })
        }
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn fortran(
            $($arg: usize,)*
            error: *mut std::ffi::c_int,
            first: usize, second: usize, third: usize, fourth: usize,
        ) {
            let lengths = $crate::call::Lengths::new([first, second, third, fourth]);
            let _ = &lengths;
            let code = $crate::call::make(NAMED, $crate::call::Language::Fortran, |call| {
                // SAFETY: as above, with the Fortran interface.
                $name(call $(, unsafe { <$type as $crate::argument::Argument>::from_fortran($arg, call, &lengths) })*)
            });
            if !error.is_null() {
                // SAFETY: the last argument of every Fortran call is the place for its error code.
                unsafe { error.write(code) };
            }
        }
        $crate::call::Function {
            name: NAME,
            c: $crate::call::Address(c as *const ()),
            fortran: $crate::call::Address(fortran as *const ()),
            parameters: &[$((
                if IS_LARGE {
                    <$type as $crate::argument::Argument>::IN_C_LARGE
                } else {
                    <$type as $crate::argument::Argument>::IN_C
                },
                stringify!($arg),
            )),*],
        }
    }};
}
pub(crate) use entry;
