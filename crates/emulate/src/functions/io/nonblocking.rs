//! MPI_File_iread, MPI_File_iwrite and their relatives: data is moved while the program goes on.

use super::access::Way::{Read, Write};
use super::access::Who::{Alone, Together};
use super::access::{Access, accesses};
use super::position::Start::{Here, Own, Shared};
use crate::argument::RequestAt;

accesses! {
    start_requested(request: RequestAt)
    fn MPI_File_iread_at(offset) = Read, Here(offset), Alone;
    fn MPI_File_iread_at_all(offset) = Read, Here(offset), Together;
    fn MPI_File_iwrite_at(offset) = Write, Here(offset), Alone;
    fn MPI_File_iwrite_at_all(offset) = Write, Here(offset), Together;
    fn MPI_File_iread() = Read, Own, Alone;
    fn MPI_File_iread_all() = Read, Own, Together;
    fn MPI_File_iwrite() = Write, Own, Alone;
    fn MPI_File_iwrite_all() = Write, Own, Together;
    fn MPI_File_iread_shared() = Read, Shared, Alone;
    fn MPI_File_iwrite_shared() = Write, Shared, Alone;
}
