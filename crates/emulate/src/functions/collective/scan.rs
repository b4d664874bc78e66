//! MPI_Scan and MPI_Exscan: data of the ranks up to each, combined.

use hpcast_mpi::Collective;

use super::reduce::{image, restore};
use super::{Plan, Planned, amount, collective};
use crate::argument::{Buffer, CommHandle, Count, OpHandle, TypeHandle};
use crate::call::Call;
use crate::reduction::Reduction;

/// MPI_Scan, or MPI_Exscan if the rank itself is left out.
fn scan(call: &Call<'_>, sent: Buffer, to: Buffer, reduction: Reduction, comm: CommHandle, with_me: bool) -> Planned {
    let comm = call.collective_comm(comm)?;
    comm.require_intra()?;
    let deposit = image(&reduction, sent, to);
    let timing = if with_me { Collective::Scan(amount(&reduction)) } else { Collective::Exscan(amount(&reduction)) };
    let until = if with_me { Some(comm.rank()) } else { comm.rank().checked_sub(1) };
    Ok(Plan::new(comm, timing, deposit)
        .then(move |call, key| until.map_or(Ok(()), |until| restore(call, key, &reduction, until, to))))
}

collective! {
    fn MPI_Scan MPI_Iscan MPI_Scan_init[_c](
        call, sendbuf: Buffer, recvbuf: Buffer, count: Count, datatype: TypeHandle, op: OpHandle, comm: CommHandle,
    ) {
        scan(call, sendbuf, recvbuf, call.reduction(count, datatype, op)?, comm, true)
    }
    fn MPI_Exscan MPI_Iexscan MPI_Exscan_init[_c](
        call, sendbuf: Buffer, recvbuf: Buffer, count: Count, datatype: TypeHandle, op: OpHandle, comm: CommHandle,
    ) {
        scan(call, sendbuf, recvbuf, call.reduction(count, datatype, op)?, comm, false)
    }
}
