//! MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw.

use std::rc::Rc;

use hpcast_mpi::Collective;
use hpcast_mpi::collectives::Buffer as Amount;

use super::items::sizes;
use super::{Items, Plan, Planned, by_rank, collective, equal, pack_all, unpack_pieces};
use crate::argument::{Buffer, CommHandle, Count, CountAt, TypeArray, TypeHandle};
use crate::communicator::Communicator;
use crate::functions::inter;

fn alltoall(comm: Rc<Communicator>, sent: Vec<Items>, to: Vec<Items>, timing: Collective) -> Planned {
    let deposit = pack_all(&sent);
    if comm.remote.is_some() {
        return inter::alltoall(comm, deposit, to);
    }
    let me = comm.rank() as usize;
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        unpack_pieces(call, key, 0.., me, &to);
        Ok(())
    }))
}

collective! {
    fn MPI_Alltoall MPI_Ialltoall MPI_Alltoall_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let to = equal(&call.items(recvbuf, recvcount, recvtype)?, comm.peers());
        let sent = match sendbuf.is_in_place() {
            true => to.clone(),
            false => equal(&call.items(sendbuf, sendcount, sendtype)?, comm.peers()),
        };
        let block = sent.first().map_or(Amount::of_bytes(0), Items::amount);
        alltoall(comm, sent, to, Collective::Alltoall(block))
    }
    fn MPI_Alltoallv MPI_Ialltoallv MPI_Alltoallv_init[_c](
        call, sendbuf: Buffer, sendcounts: CountAt, sdispls: CountAt, sendtype: TypeHandle, recvbuf: Buffer,
        recvcounts: CountAt, rdispls: CountAt, recvtype: TypeHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let to = call.blocks(recvbuf, &recvcounts.list(ranks), &rdispls.list(ranks), recvtype)?;
        let sent = match sendbuf.is_in_place() {
            true => to.clone(),
            false => call.blocks(sendbuf, &sendcounts.list(ranks), &sdispls.list(ranks), sendtype)?,
        };
        let timing = Collective::Alltoallv(by_rank(sizes(&sent)), by_rank(sizes(&to)));
        alltoall(comm, sent, to, timing)
    }
    fn MPI_Alltoallw MPI_Ialltoallw MPI_Alltoallw_init[_c](
        call, sendbuf: Buffer, sendcounts: CountAt, sdispls: CountAt, sendtypes: TypeArray, recvbuf: Buffer,
        recvcounts: CountAt, rdispls: CountAt, recvtypes: TypeArray, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let to = call.blocks_w(recvbuf, recvcounts, |rank| rdispls.get_at(rank), recvtypes, ranks)?;
        let sent = match sendbuf.is_in_place() {
            true => to.clone(),
            false => call.blocks_w(sendbuf, sendcounts, |rank| sdispls.get_at(rank), sendtypes, ranks)?,
        };
        let timing = Collective::Alltoallv(by_rank(sizes(&sent)), by_rank(sizes(&to)));
        alltoall(comm, sent, to, timing)
    }
}
