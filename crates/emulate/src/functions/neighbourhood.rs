//! Collective operations among the neighbours in a topology.
//!
//! Open MPI and MPICH start a receive from each source and a send to each destination, and wait for all; so does this.

use std::rc::Rc;

use super::collective::{Items, Plan, Planned, collective, equal};
use crate::argument::{At, Buffer, CommHandle, Count, CountAt, TypeArray, TypeHandle};
use crate::call::Call;
use crate::communicator::{Communicator, Topology};
use crate::fault::Fault;
use hpcast_objects::ErrorClass;

/// Neighbours in the order of the buffers; those beyond the border of a grid are none.
struct Neighbours {
    comm: Rc<Communicator>,
    sources: Vec<Option<u32>>,
    destinations: Vec<Option<u32>>,
    is_grid: bool,
}

impl Call<'_> {
    fn neighbours(&self, comm: CommHandle) -> Result<Neighbours, Fault> {
        let comm = self.me.comm(comm.number)?;
        let me = comm.rank() as i32;
        let ranks = |ranks: &[i32]| ranks.iter().map(|&rank| Some(rank as u32)).collect::<Vec<_>>();
        let (sources, destinations, is_grid) = match &comm.topology {
            None => return Err(Fault::new(ErrorClass::Topology, "the communicator has no topology")),
            Some(Topology::Cartesian(grid)) => {
                let all: Vec<_> = grid.neighbours(me)?.into_iter().map(|rank| rank.map(|rank| rank as u32)).collect();
                (all.clone(), all, true)
            }
            Some(Topology::Graph(graph)) => {
                let all = ranks(graph.neighbours(me)?);
                (all.clone(), all, false)
            }
            Some(Topology::DistGraph(graph)) => (ranks(&graph.sources.ranks), ranks(&graph.destinations.ranks), false),
        };
        Ok(Neighbours { comm, sources, destinations, is_grid })
    }
}

impl Neighbours {
    /// Sends items to each destination, and receives those of each source.
    fn exchange(self, call: &Call<'_>, sent: Vec<Items>, received: Vec<Items>) -> Planned {
        let named = |ranks: &[Option<u32>], items: Vec<Items>| -> Vec<(u32, Items)> {
            ranks.iter().zip(items).filter_map(|(rank, items)| rank.map(|rank| (rank, items))).collect()
        };
        let sent = named(&self.destinations, sent);
        let mut received: Vec<_> = self.sources.iter().copied().zip(received).collect();
        if self.is_grid {
            // What is sent to the one before comes to it from the one behind. That matters where both are the same rank.
            received.chunks_mut(2).for_each(<[_]>::reverse);
        }
        let received: Vec<(u32, Items)> =
            received.into_iter().filter_map(|(rank, items)| rank.map(|rank| (rank, items))).collect();
        Ok(Plan::exchange(call, self.comm, &received, &sent))
    }
}

collective! {
    fn MPI_Neighbor_allgather MPI_Ineighbor_allgather MPI_Neighbor_allgather_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, comm: CommHandle,
    ) {
        let neighbours = call.neighbours(comm)?;
        let sent = vec![call.items(sendbuf, sendcount, sendtype)?; neighbours.destinations.len()];
        let received = equal(&call.items(recvbuf, recvcount, recvtype)?, neighbours.sources.len() as u32);
        neighbours.exchange(call, sent, received)
    }
    fn MPI_Neighbor_allgatherv MPI_Ineighbor_allgatherv MPI_Neighbor_allgatherv_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcounts: CountAt,
        displs: CountAt, recvtype: TypeHandle, comm: CommHandle,
    ) {
        let neighbours = call.neighbours(comm)?;
        let sent = vec![call.items(sendbuf, sendcount, sendtype)?; neighbours.destinations.len()];
        let count = neighbours.sources.len();
        let received = call.blocks(recvbuf, &recvcounts.list(count), &displs.list(count), recvtype)?;
        neighbours.exchange(call, sent, received)
    }
    fn MPI_Neighbor_alltoall MPI_Ineighbor_alltoall MPI_Neighbor_alltoall_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, comm: CommHandle,
    ) {
        let neighbours = call.neighbours(comm)?;
        let sent = equal(&call.items(sendbuf, sendcount, sendtype)?, neighbours.destinations.len() as u32);
        let received = equal(&call.items(recvbuf, recvcount, recvtype)?, neighbours.sources.len() as u32);
        neighbours.exchange(call, sent, received)
    }
    fn MPI_Neighbor_alltoallv MPI_Ineighbor_alltoallv MPI_Neighbor_alltoallv_init[_c](
        call, sendbuf: Buffer, sendcounts: CountAt, sdispls: CountAt, sendtype: TypeHandle, recvbuf: Buffer,
        recvcounts: CountAt, rdispls: CountAt, recvtype: TypeHandle, comm: CommHandle,
    ) {
        let neighbours = call.neighbours(comm)?;
        let (sources, destinations) = (neighbours.sources.len(), neighbours.destinations.len());
        let sent = call.blocks(sendbuf, &sendcounts.list(destinations), &sdispls.list(destinations), sendtype)?;
        let received = call.blocks(recvbuf, &recvcounts.list(sources), &rdispls.list(sources), recvtype)?;
        neighbours.exchange(call, sent, received)
    }
    fn MPI_Neighbor_alltoallw MPI_Ineighbor_alltoallw MPI_Neighbor_alltoallw_init[_c](
        call, sendbuf: Buffer, sendcounts: CountAt, sdispls: At<i64>, sendtypes: TypeArray, recvbuf: Buffer,
        recvcounts: CountAt, rdispls: At<i64>, recvtypes: TypeArray, comm: CommHandle,
    ) {
        let neighbours = call.neighbours(comm)?;
        let (sources, destinations) = (neighbours.sources.len(), neighbours.destinations.len());
        let sent = call.blocks_w(sendbuf, sendcounts, |place| sdispls.get_at(place), sendtypes, destinations)?;
        let received = call.blocks_w(recvbuf, recvcounts, |place| rdispls.get_at(place), recvtypes, sources)?;
        neighbours.exchange(call, sent, received)
    }
}
