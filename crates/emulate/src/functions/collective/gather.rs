//! MPI_Gather and MPI_Gatherv.

use std::rc::Rc;

use hpcast_mpi::Collective;
use hpcast_objects::ErrorClass;

use super::items::sizes;
use super::{Items, Plan, Planned, by_rank, collective, equal, unpack_each};
use crate::argument::{Buffer, CommHandle, Count, CountAt, TypeHandle};
use crate::boards::Deposit;
use crate::call::Call;
use crate::communicator::Communicator;
use crate::fault::Fault;
use crate::functions::inter;

/// What a rank brings to a gather, and where the root puts it.
fn gather(
    call: &Call<'_>,
    sent: Result<Option<Items>, Fault>,
    to: impl FnOnce() -> Result<Vec<Items>, Fault>,
    root: i32,
    comm: Rc<Communicator>,
    timing: impl FnOnce(&Items, &[Items]) -> Collective,
) -> Planned {
    let root = call.root(&comm, root)?;
    let is_root = comm.rank() == root;
    let blocks = if is_root { to()? } else { Vec::new() };
    let mine = match sent? {
        Some(items) => items,
        None if is_root => blocks[root as usize].clone(),
        None => return Err(ErrorClass::Buffer.into()),
    };
    let timing = timing(&mine, &blocks);
    let deposit = Deposit::of_data(mine.pack());
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        unpack_each(call, key, 0.., &blocks);
        Ok(())
    }))
}

collective! {
    fn MPI_Gather MPI_Igather MPI_Gather_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers();
        let to = || Ok(equal(&call.items(recvbuf, recvcount, recvtype)?, ranks));
        if comm.remote.is_some() {
            return inter::gather(call, comm, call.items(sendbuf, sendcount, sendtype), to, root);
        }
        let sent = call.items_unless_in_place(sendbuf, sendcount, sendtype);
        gather(call, sent, to, root, comm, |mine, _| Collective::Gather(mine.amount(), root as u32))
    }
    fn MPI_Gatherv MPI_Igatherv MPI_Gatherv_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcounts: CountAt,
        displs: CountAt, recvtype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let to = || call.blocks(recvbuf, &recvcounts.list(ranks), &displs.list(ranks), recvtype);
        if comm.remote.is_some() {
            return inter::gather(call, comm, call.items(sendbuf, sendcount, sendtype), to, root);
        }
        let me = comm.rank() as usize;
        let sent = call.items_unless_in_place(sendbuf, sendcount, sendtype);
        gather(call, sent, to, root, comm, |mine, blocks| {
            let mut bytes = sizes(blocks);
            bytes.resize(ranks, 0);
            bytes[me] = mine.bytes();
            Collective::Gatherv(by_rank(bytes), root as u32)
        })
    }
}
