//! Handles of C become handles of Fortran and back (MPI_Comm_c2f and the others), which since MPI 5.0 are integers of any language
//! (MPI_Comm_toint).

use crate::abi::Kind;
use crate::call::Address;
use crate::process::Process;

/// A status is the same in both languages.
unsafe extern "C" fn copy_status(from: *const u8, to: *mut u8) -> i32 {
    let size = Process::current().world.abi().status_size();
    // SAFETY: the program passes addresses of statuses.
    unsafe { to.copy_from(from, size) };
    0
}

/// The same as a Fortran call.
unsafe extern "C" fn copy_status_fortran(from: *const u8, to: *mut u8, error: *mut i32) {
    // SAFETY: as above; the last argument may be left out.
    unsafe {
        copy_status(from, to);
        if !error.is_null() {
            *error = 0;
        }
    }
}

macro_rules! conversions {
    ($($kind:ident $name:literal;)*) => {
        pub(super) fn others() -> Vec<(&'static str, Address)> {
            let mut all = vec![
                ("MPI_Status_c2f", Address(copy_status as *const ())),
                ("MPI_Status_f2c", Address(copy_status as *const ())),
                ("MPI_Status_c2f08", Address(copy_status as *const ())),
                ("MPI_Status_f082c", Address(copy_status as *const ())),
                ("MPI_Status_f2f08", Address(copy_status as *const ())),
                ("MPI_Status_f082f", Address(copy_status as *const ())),
                ("mpi_status_f2f08_", Address(copy_status_fortran as *const ())),
                ("mpi_status_f082f_", Address(copy_status_fortran as *const ())),
            ];
            $({
                unsafe extern "C" fn to_fortran(word: usize) -> i32 {
                    let me = Process::current();
                    let handles = me.world.abi().handles();
                    // SAFETY: the program passes a handle.
                    handles.to_fortran(Kind::$kind, unsafe { handles.from_c(Kind::$kind, word, me.base()) })
                }
                extern "C" fn to_c(word: i32) -> usize {
                    let me = Process::current();
                    let handles = me.world.abi().handles();
                    handles.to_c(Kind::$kind, handles.from_fortran(Kind::$kind, word), me.base())
                }
                all.push((concat!("MPI_", $name, "_c2f"), Address(to_fortran as *const ())));
                all.push((concat!("MPI_", $name, "_toint"), Address(to_fortran as *const ())));
                all.push((concat!("MPI_", $name, "_f2c"), Address(to_c as *const ())));
                all.push((concat!("MPI_", $name, "_fromint"), Address(to_c as *const ())));
            })*
            all
        }
    };
}

conversions! {
    Comm "Comm";
    Group "Group";
    Datatype "Type";
    Request "Request";
    Op "Op";
    Errhandler "Errhandler";
    Info "Info";
    Win "Win";
    File "File";
    Message "Message";
    Session "Session";
}
