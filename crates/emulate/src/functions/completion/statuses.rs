//! Statuses: MPI_Get_count and whatever else reads them or fills them in.

use crate::abi::Status;
use crate::argument::{At, Count, CountAt, StatusAt, TypeHandle};
use crate::call::{Call, mpi};

impl Call<'_> {
    /// What a receive gives that was taken back.
    pub(crate) fn cancelled_status(&self) -> Status {
        Status { cancelled: true, ..self.abi.empty_status() }
    }
}

mpi! {
    fn MPI_Test_cancelled(call, status: StatusAt, flag: At<i32>) {
        flag.set(i32::from(status.get(call).cancelled));
        Ok(())
    }
    fn MPI_Get_count[_c](call, status: StatusAt, datatype: TypeHandle, count: CountAt) {
        let size = call.me.datatype(datatype.number)?.size();
        count.set(call, items(status.get(call).bytes, size).unwrap_or(i64::from(call.abi.undefined)));
        Ok(())
    }
    fn MPI_Get_elements[_c](call, status: StatusAt, datatype: TypeHandle, count: CountAt) {
        let elements = call.me.datatype(datatype.number)?.elements_in(status.get(call).bytes as i64);
        count.set(call, elements.unwrap_or(i64::from(call.abi.undefined)));
        Ok(())
    }
    fn MPI_Get_elements_x(call, status: StatusAt, datatype: TypeHandle, count: At<i64>) {
        let elements = call.me.datatype(datatype.number)?.elements_in(status.get(call).bytes as i64);
        count.set(elements.unwrap_or(i64::from(call.abi.undefined)));
        Ok(())
    }
    fn MPI_Status_set_elements[_c](call, status: StatusAt, datatype: TypeHandle, count: Count) {
        let size = call.me.datatype(datatype.number)?.size();
        status.set(call, &Status { bytes: (size * count.0) as u64, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_set_elements_x(call, status: StatusAt, datatype: TypeHandle, count: i64) {
        let size = call.me.datatype(datatype.number)?.size();
        status.set(call, &Status { bytes: (size * count) as u64, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_get_source(call, status: StatusAt, source: At<i32>) {
        source.set(status.get(call).source);
        Ok(())
    }
    fn MPI_Status_get_tag(call, status: StatusAt, tag: At<i32>) {
        tag.set(status.get(call).tag);
        Ok(())
    }
    fn MPI_Status_get_error(call, status: StatusAt, err: At<i32>) {
        err.set(status.get(call).error);
        Ok(())
    }
    fn MPI_Status_set_source(call, status: StatusAt, source: i32) {
        status.set(call, &Status { source, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_set_tag(call, status: StatusAt, tag: i32) {
        status.set(call, &Status { tag, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_set_error(call, status: StatusAt, err: i32) {
        status.set_at(call, 0, &Status { error: err, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_set_cancelled(call, status: StatusAt, flag: i32) {
        status.set(call, &Status { cancelled: flag != 0, ..status.get(call) });
        Ok(())
    }
}

/// How many whole items so many bytes are.
fn items(bytes: u64, size: i64) -> Option<i64> {
    match size {
        0 => (bytes == 0).then_some(0),
        _ if bytes.is_multiple_of(size as u64) => Some((bytes / size as u64) as i64),
        _ => None,
    }
}
