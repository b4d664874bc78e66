//! Collective accesses in two parts, like MPI_File_read_all_begin and MPI_File_read_all_end.

use hpcast_objects::ErrorClass;

use super::access::Access;
use super::access::Way::{Read, Write};
use super::access::Who::Together;
use super::of;
use super::position::Start::{Here, Ordered, Own};
use crate::argument::{Buffer, Count, FileHandle, Offset, StatusAt, TypeHandle};
use crate::call::{Call, mpi};
use crate::fault::{Answer, Fault};

impl Call<'_> {
    fn begin_split(&self, access: Access) -> Answer {
        let file = self.me.file(access.file.number)?;
        if file.split.borrow().is_some() {
            let detail = "another split collective operation has begun";
            return Err(of(access.file)(Fault::new(ErrorClass::UnsupportedOperation, detail)));
        }
        let active = self.start_access(access)?;
        *file.split.borrow_mut() = Some(active);
        Ok(())
    }

    fn end_split(&self, fh: FileHandle, at: StatusAt) -> Answer {
        let file = self.me.file(fh.number)?;
        let Some(active) = file.split.take() else {
            return Err(of(fh)(Fault::new(
                ErrorClass::UnsupportedOperation,
                "no split collective operation has begun",
            )));
        };
        let (status, answer) = self.wait_for(active);
        at.set(self, &status);
        answer.map_err(of(fh))
    }
}

/// Declares functions that differ in which way data goes, and from which position.
macro_rules! split {
    ($(fn $begin:ident $end:ident($($offset:ident)?) = $way:ident, $from:expr;)*) => {
        mpi! {
            $(
                fn $begin [_c](
                    call, fh: FileHandle $(, $offset: Offset)?, buf: Buffer, count: Count, datatype: TypeHandle,
                ) {
                    call.begin_split(Access::new(fh, $way, $from, Together, (buf, count, datatype)))
                }
                fn $end(call, fh: FileHandle, _buf: Buffer, status: StatusAt) {
                    call.end_split(fh, status)
                }
            )*
        }
    };
}

split! {
    fn MPI_File_read_at_all_begin MPI_File_read_at_all_end(offset) = Read, Here(offset);
    fn MPI_File_write_at_all_begin MPI_File_write_at_all_end(offset) = Write, Here(offset);
    fn MPI_File_read_all_begin MPI_File_read_all_end() = Read, Own;
    fn MPI_File_write_all_begin MPI_File_write_all_end() = Write, Own;
    fn MPI_File_read_ordered_begin MPI_File_read_ordered_end() = Read, Ordered;
    fn MPI_File_write_ordered_begin MPI_File_write_ordered_end() = Write, Ordered;
}
