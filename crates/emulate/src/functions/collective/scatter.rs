//! MPI_Scatter and MPI_Scatterv.

use std::rc::Rc;

use hpcast_mpi::Collective;
use hpcast_mpi::collectives::Buffer as Amount;

use super::items::sizes;
use super::{Items, Plan, Planned, brought, by_rank, collective, equal, pack_all};
use crate::argument::{Buffer, CommHandle, Count, CountAt, TypeHandle};
use crate::boards::Deposit;
use crate::call::Call;
use crate::communicator::Communicator;
use crate::fault::Fault;
use crate::functions::inter;

fn scatter(
    call: &Call<'_>,
    sent: impl FnOnce() -> Result<Vec<Items>, Fault>,
    to: Option<Items>,
    root: i32,
    comm: Rc<Communicator>,
    timing: impl FnOnce(Option<&Items>, &[Items]) -> Collective,
) -> Planned {
    let root = call.root(&comm, root)?;
    let blocks = if comm.rank() == root { sent()? } else { Vec::new() };
    let timing = timing(to.as_ref(), &blocks);
    let deposit = if blocks.is_empty() { Deposit::default() } else { pack_all(&blocks) };
    let me = comm.rank() as usize;
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        if let Some(to) = to {
            to.unpack(brought(call, key, root).piece(me));
        }
        Ok(())
    }))
}

collective! {
    fn MPI_Scatter MPI_Iscatter MPI_Scatter_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers();
        let sent = || Ok(equal(&call.items(sendbuf, sendcount, sendtype)?, ranks));
        if comm.remote.is_some() {
            return inter::scatter(call, comm, sent, call.items(recvbuf, recvcount, recvtype), root);
        }
        let to = call.items_unless_in_place(recvbuf, recvcount, recvtype)?;
        scatter(call, sent, to, root, comm, |to, blocks| {
            let block = to.or(blocks.first()).map_or(Amount::of_bytes(0), Items::amount);
            Collective::Scatter(block, root as u32)
        })
    }
    fn MPI_Scatterv MPI_Iscatterv MPI_Scatterv_init[_c](
        call, sendbuf: Buffer, sendcounts: CountAt, displs: CountAt, sendtype: TypeHandle, recvbuf: Buffer,
        recvcount: Count, recvtype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let me = comm.rank() as usize;
        let sent = || call.blocks(sendbuf, &sendcounts.list(ranks), &displs.list(ranks), sendtype);
        if comm.remote.is_some() {
            return inter::scatter(call, comm, sent, call.items(recvbuf, recvcount, recvtype), root);
        }
        let to = call.items_unless_in_place(recvbuf, recvcount, recvtype)?;
        scatter(call, sent, to, root, comm, |to, blocks| {
            let mut bytes = sizes(blocks);
            bytes.resize(ranks, 0);
            if blocks.is_empty() {
                bytes[me] = to.map_or(0, Items::bytes);
            }
            Collective::Scatterv(by_rank(bytes), root as u32)
        })
    }
}
