//! What is known of an open file: its group, its mode and its hints.

use super::of;
use crate::argument::{At, FileHandle, GroupAt, InfoAt, InfoHandle};
use crate::call::mpi;

mpi! {
    fn MPI_File_get_group(call, fh: FileHandle, group: GroupAt) {
        let found = call.me.file(fh.number)?.comm.group.clone();
        group.set(call, call.me.objects.groups.insert(found));
        Ok(())
    }
    fn MPI_File_get_amode(call, fh: FileHandle, amode: At<i32>) {
        amode.set(call.me.file(fh.number)?.amode);
        Ok(())
    }
    fn MPI_File_set_info(call, fh: FileHandle, info: InfoHandle) {
        let file = call.me.file(fh.number)?;
        *file.info.borrow_mut() = call.hints(info).map_err(of(fh))?;
        Ok(())
    }
    fn MPI_File_get_info(call, fh: FileHandle, info_used: InfoAt) {
        let info = call.me.file(fh.number)?.info.borrow().clone();
        info_used.set(call, call.add_info(info));
        Ok(())
    }
}
