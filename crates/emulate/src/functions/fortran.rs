//! Functions that Fortran calls with other arguments than C, or that only Fortran has.

use std::ffi::c_int;

use super::environment::{initialise, initialise_thread};
use crate::argument::{Argument, At, InfoAt};
use crate::call::{Address, Language, Lengths, Named, make};

/// MPI_Init, which has no arguments in Fortran.
unsafe extern "C" fn init(error: *mut c_int) {
    let code = make(Named::new("MPI_Init", false), Language::Fortran, initialise);
    answer(error, code);
}

unsafe extern "C" fn init_thread(required: *const c_int, provided: usize, error: *mut c_int) {
    let code = make(Named::new("MPI_Init_thread", false), Language::Fortran, |call| {
        // SAFETY: Fortran passes the addresses of two integers.
        let (required, provided) = unsafe { (*required, <At<i32> as Argument>::from_c(provided, call)) };
        initialise_thread(call, required, provided)
    });
    answer(error, code);
}

/// MPI_Info_create_env, which needs no arguments of the command line in Fortran.
unsafe extern "C" fn info_create_env(info: usize, error: *mut c_int) {
    let code = make(Named::new("MPI_Info_create_env", false), Language::Fortran, |call| {
        // SAFETY: Fortran passes the address of a handle.
        let info = unsafe { <InfoAt as Argument>::from_fortran(info, call, &Lengths::new([0; 4])) };
        info.set(call, call.add_info(call.environment()));
        Ok(())
    });
    answer(error, code);
}

/// The error code may be left out.
fn answer(error: *mut c_int, code: c_int) {
    if !error.is_null() {
        // SAFETY: the last argument of every Fortran call is the place for its error code.
        unsafe { error.write(code) };
    }
}

/// MPI_F_sync_reg: the call alone keeps compilers from taking what is in the buffer for known.
extern "C" fn sync_reg() {}

/// MPI_Sizeof: the name of the procedure says what its argument is.
unsafe extern "C" fn sizeof<const BYTES: c_int>(_: usize, size: *mut c_int, error: *mut c_int) {
    // SAFETY: Fortran passes the address of an integer.
    unsafe { size.write(BYTES) };
    answer(error, 0);
}

/// The procedures behind MPI_Sizeof in Open MPI: one for each type and number of dimensions.
macro_rules! open_mpi {
    ($($kind:literal $bytes:literal;)*) => {
        [$(open_mpi!(@ $kind $bytes "scalar" "r1" "r2" "r3" "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15")),*]
    };
    (@ $kind:literal $bytes:literal $($rank:literal)*) => {
        [$((concat!("mpi_sizeof_", $kind, "_", $rank, "_"), sizeof::<$bytes> as *const ())),*]
    };
}

/// Those in MPICH: scalars and vectors in the module mpi, anything in mpi_f08.
macro_rules! mpich {
    ($($kind:literal $bytes:literal;)* / $($modern:literal $size:literal;)*) => {
        [
            $((concat!("__mpi_sizeofs_MOD_mpi_sizeof_", $kind), sizeof::<$bytes> as *const ()),
            (concat!("__mpi_sizeofs_MOD_mpi_sizeof_", $kind, "v"), sizeof::<$bytes> as *const ()),)*
            $((concat!("__mpi_f08_types_MOD_mpi_sizeof_", $modern), sizeof::<$size> as *const ()),)*
        ]
    };
}

/// All of them; they take the place of what was made of the declarations in C.
pub(super) fn others() -> Vec<(&'static str, Address)> {
    let begin = [
        ("mpi_init_", init as *const ()),
        ("mpi_init__", init as *const ()),
        ("mpi_init_f08_", init as *const ()),
        ("mpi_init_thread_", init_thread as *const ()),
        ("mpi_init_thread__", init_thread as *const ()),
        ("mpi_init_thread_f08_", init_thread as *const ()),
        ("mpi_info_create_env_", info_create_env as *const ()),
        ("mpi_info_create_env__", info_create_env as *const ()),
        ("mpi_info_create_env_f08_", info_create_env as *const ()),
        ("ompi_info_create_env_f", info_create_env as *const ()),
        ("mpi_f_sync_reg_", sync_reg as *const ()),
        ("mpi_f_sync_reg__", sync_reg as *const ()),
        ("ompi_f_sync_reg_f", sync_reg as *const ()),
    ];
    let open_mpi = open_mpi! {
        "character" 1; "logical" 4; "int8" 1; "int16" 2; "int32" 4; "int64" 8; "real32" 4; "real64" 8; "real128" 16;
        "complex32" 8; "complex64" 16; "complex128" 32;
    };
    let mpich = mpich! {
        "ch" 1; "cx" 8; "d" 8; "i" 4; "i1" 1; "i2" 2; "i8" 8; "l" 4; "r" 4;
        /
        "character" 1; "logical" 4; "xint8" 1; "xint16" 2; "xint32" 4; "xint64" 8; "xreal32" 4; "xreal64" 8;
        "xreal128" 16; "xcomplex32" 8; "xcomplex64" 16; "xcomplex128" 32;
    };
    let all = begin.into_iter().chain(open_mpi.into_iter().flatten()).chain(mpich);
    all.map(|(name, address)| (name, Address(address))).collect()
}
