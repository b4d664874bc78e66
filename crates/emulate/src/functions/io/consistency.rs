//! When others see what was written: MPI_File_set_atomicity and MPI_File_sync.

use crate::argument::{At, FileHandle};
use crate::call::mpi;

mpi! {
    fn MPI_File_set_atomicity(call, fh: FileHandle, flag: i32) {
        let file = call.me.file(fh.number)?;
        call.barrier_of(&file);
        file.atomic.set(flag != 0);
        Ok(())
    }
    fn MPI_File_get_atomicity(call, fh: FileHandle, flag: At<i32>) {
        flag.set(i32::from(call.me.file(fh.number)?.atomic.get()));
        Ok(())
    }
    fn MPI_File_sync(call, fh: FileHandle) {
        let file = call.me.file(fh.number)?;
        call.barrier_of(&file);
        call.pass_time(0);
        Ok(())
    }
}
