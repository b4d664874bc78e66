//! Functions of the program, and what they are given.

use super::Argument;
use crate::call::{Call, Language, Lengths};

/// A function of the program that we call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Where it is.
    pub address: usize,
    /// How it is called.
    pub language: Language,
    /// What calls it instead, if it is of C++ (`functions/cxx.rs`); otherwise 0.
    pub through: usize,
}

impl Argument for Callback {
    const IN_C: &'static str = "void *";
    unsafe fn from_c(word: usize, call: &Call<'_>) -> Callback {
        Callback { address: word, language: call.language, through: 0 }
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

/// The same where functions get the program's own variable in Fortran, and may change it, as with Open MPI and MPICH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraAt(pub usize);

impl Argument for ExtraAt {
    const IN_C: &'static str = Extra::IN_C;
    unsafe fn from_c(word: usize, _: &Call<'_>) -> ExtraAt {
        ExtraAt(word)
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
                $name(Callback { address: word, language: call.language, through: 0 })
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
