//! MPI_File_read, MPI_File_write and their relatives that return when data has been moved.

use super::access::Way::{Read, Write};
use super::access::Who::{Alone, Together};
use super::access::{Access, accesses};
use super::position::Start::{Here, Ordered, Own, Shared};
use crate::argument::StatusAt;

accesses! {
    access(status: StatusAt)
    fn MPI_File_read_at(offset) = Read, Here(offset), Alone;
    fn MPI_File_read_at_all(offset) = Read, Here(offset), Together;
    fn MPI_File_write_at(offset) = Write, Here(offset), Alone;
    fn MPI_File_write_at_all(offset) = Write, Here(offset), Together;
    fn MPI_File_read() = Read, Own, Alone;
    fn MPI_File_read_all() = Read, Own, Together;
    fn MPI_File_write() = Write, Own, Alone;
    fn MPI_File_write_all() = Write, Own, Together;
    fn MPI_File_read_shared() = Read, Shared, Alone;
    fn MPI_File_write_shared() = Write, Shared, Alone;
    fn MPI_File_read_ordered() = Read, Ordered, Together;
    fn MPI_File_write_ordered() = Write, Ordered, Together;
}
