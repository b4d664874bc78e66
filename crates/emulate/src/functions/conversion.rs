//! Handles of C become handles of Fortran and back (MPI_Comm_c2f and the others).

use crate::abi::Kind;
use crate::call::Address;
use crate::process::Process;

/// A status is the same in both languages.
unsafe extern "C" fn copy_status(from: *const u8, to: *mut u8) -> i32 {
    let size = Process::current().world.abi.status_size();
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
    ($($kind:ident $to_fortran:literal $to_c:literal;)*) => {
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
                    let handles = Process::current().world.abi.handles();
                    // SAFETY: the program passes a handle.
                    handles.to_fortran(Kind::$kind, unsafe { handles.from_c(Kind::$kind, word) })
                }
                extern "C" fn to_c(word: i32) -> usize {
                    let me = Process::current();
                    let handles = me.world.abi.handles();
                    handles.to_c(Kind::$kind, handles.from_fortran(Kind::$kind, word), me.base())
                }
                all.push(($to_fortran, Address(to_fortran as *const ())));
                all.push(($to_c, Address(to_c as *const ())));
            })*
            all
        }
    };
}

conversions! {
    Comm "MPI_Comm_c2f" "MPI_Comm_f2c";
    Group "MPI_Group_c2f" "MPI_Group_f2c";
    Datatype "MPI_Type_c2f" "MPI_Type_f2c";
    Request "MPI_Request_c2f" "MPI_Request_f2c";
    Op "MPI_Op_c2f" "MPI_Op_f2c";
    Errhandler "MPI_Errhandler_c2f" "MPI_Errhandler_f2c";
    Info "MPI_Info_c2f" "MPI_Info_f2c";
    Win "MPI_Win_c2f" "MPI_Win_f2c";
    File "MPI_File_c2f" "MPI_File_f2c";
    Message "MPI_Message_c2f" "MPI_Message_f2c";
}
