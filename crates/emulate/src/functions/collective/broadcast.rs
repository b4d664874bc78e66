//! MPI_Bcast.

use hpcast_mpi::Collective;

use super::{Plan, Planned, brought, collective};
use crate::argument::{Buffer, CommHandle, Count, TypeHandle};
use crate::boards::Deposit;
use crate::call::Call;
use crate::functions::inter;

fn bcast(call: &Call<'_>, buffer: Buffer, count: Count, datatype: TypeHandle, root: i32, comm: CommHandle) -> Planned {
    let comm = call.collective_comm(comm)?;
    let items = call.items(buffer, count, datatype)?;
    if comm.remote.is_some() {
        return inter::bcast(call, comm, items, root);
    }
    let root = call.root(&comm, root)?;
    let is_root = comm.rank() == root;
    let timing = Collective::Bcast(items.amount(), root);
    let deposit = if is_root { Deposit::of_data(items.pack()) } else { Deposit::default() };
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        if !is_root {
            items.unpack(&brought(call, key, root).data);
        }
        Ok(())
    }))
}

collective! {
    fn MPI_Bcast MPI_Ibcast MPI_Bcast_init[_c](
        call, buffer: Buffer, count: Count, datatype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        bcast(call, buffer, count, datatype, root, comm)
    }
}
