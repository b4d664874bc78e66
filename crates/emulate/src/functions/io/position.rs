//! Where in a file accesses begin: the position of a rank, and that of all.

use hpcast_objects::ErrorClass;

use super::{failed, of};
use crate::argument::{At, FileHandle, Offset};
use crate::call::{Call, mpi};
use crate::fault::Fault;
use crate::fiber::block_on;
use crate::files::File;

/// The position that an access starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// One that the call gives.
    Here(Offset),
    /// The rank's own.
    Own,
    /// That of all.
    Shared,
    /// That of all, one rank after the other.
    Ordered,
}

impl Call<'_> {
    /// Where an access begins, in elements; the position moves on.
    pub(super) fn place(&self, file: &File, from: Start, elements: i64) -> Result<i64, Fault> {
        match from {
            Start::Here(Offset(at)) if at < 0 => Err(Fault::new(ErrorClass::Arg, format!("the offset is {at}"))),
            Start::Here(Offset(at)) => Ok(at),
            Start::Own => Ok(file.position.get()),
            Start::Shared => Ok(file.shared.position.replace(file.shared.position.get() + elements)),
            Start::Ordered => {
                let starts = self.agree(&file.comm, vec![elements], |board| {
                    let mut next = file.shared.position.get();
                    let mut starts = Vec::with_capacity(file.comm.size() as usize);
                    for rank in 0..file.comm.size() {
                        starts.push(next);
                        next += board.deposit(rank).and_then(|deposit| deposit.words.first().copied()).unwrap_or(0);
                    }
                    file.shared.position.set(next);
                    starts
                })?;
                Ok(starts[file.comm.rank() as usize])
            }
        }
    }

    /// A position that MPI_File_seek asks for.
    fn sought(&self, file: &File, offset: i64, whence: i32, current: i64) -> Result<i64, Fault> {
        let base = match self.abi.name_of(whence, &["MPI_SEEK_SET", "MPI_SEEK_CUR", "MPI_SEEK_END"]) {
            Some("MPI_SEEK_SET") => 0,
            Some("MPI_SEEK_CUR") => current,
            Some(_) => {
                let end = file.shared.size().map_err(failed(&file.shared))?;
                file.view.borrow().elements_before(end)
            }
            None => return Err(Fault::new(ErrorClass::Arg, format!("{whence} says no place to seek from"))),
        };
        match base.checked_add(offset) {
            Some(position) if position >= 0 => Ok(position),
            _ => Err(Fault::new(ErrorClass::Arg, "the position would be before the beginning of the file")),
        }
    }
}

mpi! {
    fn MPI_File_seek(call, fh: FileHandle, offset: Offset, whence: i32) {
        let file = call.me.file(fh.number)?;
        block_on(call.me.rank.take_turn());
        file.position.set(call.sought(&file, offset.0, whence, file.position.get()).map_err(of(fh))?);
        Ok(())
    }
    fn MPI_File_get_position(call, fh: FileHandle, offset: At<Offset>) {
        offset.set(Offset(call.me.file(fh.number)?.position.get()));
        Ok(())
    }
    fn MPI_File_get_byte_offset(call, fh: FileHandle, offset: Offset, disp: At<Offset>) {
        let file = call.me.file(fh.number)?;
        disp.set(Offset(file.view.borrow().byte_of(offset.0.max(0))));
        Ok(())
    }
    fn MPI_File_seek_shared(call, fh: FileHandle, offset: Offset, whence: i32) {
        let file = call.me.file(fh.number)?;
        let done = call.once_for_all(&file, || {
            let position = call.sought(&file, offset.0, whence, file.shared.position.get())?;
            file.shared.position.set(position);
            Ok(())
        })?;
        done.map_err(of(fh))
    }
    fn MPI_File_get_position_shared(call, fh: FileHandle, offset: At<Offset>) {
        let file = call.me.file(fh.number)?;
        block_on(call.me.rank.take_turn());
        offset.set(Offset(file.shared.position.get()));
        Ok(())
    }
}
