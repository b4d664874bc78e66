//! MPI_Barrier.

use hpcast_mpi::Collective;

use super::{Plan, collective};
use crate::argument::CommHandle;
use crate::boards::Deposit;

collective! {
    fn MPI_Barrier MPI_Ibarrier MPI_Barrier_init(call, comm: CommHandle) {
        let comm = call.collective_comm(comm)?;
        Ok(Plan::new(comm, Collective::Barrier, Deposit::default()))
    }
}
