//! MPI_Allgather and MPI_Allgatherv.

use std::rc::Rc;

use hpcast_mpi::Collective;

use super::items::sizes;
use super::{Items, Plan, Planned, by_rank, collective, equal, unpack_each};
use crate::argument::{Buffer, CommHandle, Count, CountAt, TypeHandle};
use crate::boards::Deposit;
use crate::communicator::Communicator;
use crate::functions::inter;

fn allgather(comm: Rc<Communicator>, mine: Items, blocks: Vec<Items>, timing: Collective) -> Planned {
    let deposit = Deposit::of_data(mine.pack());
    if comm.remote.is_some() {
        return inter::allgather(comm, deposit, blocks);
    }
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        unpack_each(call, key, 0.., &blocks);
        Ok(())
    }))
}

collective! {
    fn MPI_Allgather MPI_Iallgather MPI_Allgather_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let blocks = equal(&call.items(recvbuf, recvcount, recvtype)?, comm.peers());
        let mine = call.items_unless_in_place(sendbuf, sendcount, sendtype)?;
        let mine = mine.unwrap_or_else(|| blocks[comm.rank() as usize].clone());
        let timing = Collective::Allgather(mine.amount());
        allgather(comm, mine, blocks, timing)
    }
    fn MPI_Allgatherv MPI_Iallgatherv MPI_Allgatherv_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcounts: CountAt,
        displs: CountAt, recvtype: TypeHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let blocks = call.blocks(recvbuf, &recvcounts.list(ranks), &displs.list(ranks), recvtype)?;
        let mine = call.items_unless_in_place(sendbuf, sendcount, sendtype)?;
        let mine = mine.unwrap_or_else(|| blocks[comm.rank() as usize].clone());
        let timing = Collective::Allgatherv(by_rank(sizes(&blocks)));
        allgather(comm, mine, blocks, timing)
    }
}
