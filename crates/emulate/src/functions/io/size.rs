//! How long a file is: MPI_File_set_size, MPI_File_preallocate and MPI_File_get_size.

use hpcast_objects::ErrorClass;

use super::{failed, of};
use crate::argument::{At, FileHandle, Offset};
use crate::call::mpi;
use crate::fault::Fault;
use crate::fiber::block_on;

mpi! {
    fn MPI_File_set_size(call, fh: FileHandle, size: Offset) {
        let file = call.me.file(fh.number)?;
        let done = call.once_for_all(&file, || {
            if size.0 < 0 {
                return Err(Fault::new(ErrorClass::Arg, format!("a size of {}", size.0)));
            }
            file.shared.set_size(size.0 as u64).map_err(failed(&file.shared))
        })?;
        done.map_err(of(fh))
    }
    fn MPI_File_preallocate(call, fh: FileHandle, size: Offset) {
        let file = call.me.file(fh.number)?;
        let done = call.once_for_all(&file, || {
            if size.0 > file.shared.size().map_err(failed(&file.shared))? {
                file.shared.set_size(size.0 as u64).map_err(failed(&file.shared))?;
            }
            Ok(())
        })?;
        done.map_err(of(fh))
    }
    fn MPI_File_get_size(call, fh: FileHandle, size: At<Offset>) {
        let file = call.me.file(fh.number)?;
        block_on(call.me.rank.take_turn());
        size.set(Offset(file.shared.size().map_err(failed(&file.shared)).map_err(of(fh))?));
        Ok(())
    }
}
