//! Collective operations of inter-communicators.

use std::rc::Rc;

use hpcast_mpi::Collective;
use hpcast_objects::ErrorClass;

use super::collective::{Items, Planned};
use crate::argument::Buffer;
use crate::boards::Deposit;
use crate::call::Call;
use crate::communicator::Communicator;
use crate::fault::Fault;
use crate::reduction::Reduction;

fn not_yet() -> Planned {
    Err(Fault::new(ErrorClass::UnsupportedOperation, "collective operations of inter-communicators"))
}

pub(super) fn bcast(_: &Call<'_>, _: Rc<Communicator>, _: Items, _: i32) -> Planned {
    not_yet()
}

pub(super) fn reduce(_: &Call<'_>, _: Rc<Communicator>, _: Buffer, _: Buffer, _: Reduction, _: i32) -> Planned {
    not_yet()
}

pub(super) fn allreduce(_: Rc<Communicator>, _: Collective, _: Deposit, _: Buffer, _: Reduction) -> Planned {
    not_yet()
}

pub(super) fn reduce_scatter(_: Rc<Communicator>, _: Deposit, _: Buffer, _: Reduction, _: i64, _: i64) -> Planned {
    not_yet()
}

pub(super) fn gather(
    _: &Call<'_>,
    _: Rc<Communicator>,
    _: Result<Items, Fault>,
    _: impl FnOnce() -> Result<Vec<Items>, Fault>,
    _: i32,
) -> Planned {
    not_yet()
}

pub(super) fn scatter(
    _: &Call<'_>,
    _: Rc<Communicator>,
    _: impl FnOnce() -> Result<Vec<Items>, Fault>,
    _: Result<Items, Fault>,
    _: i32,
) -> Planned {
    not_yet()
}

pub(super) fn allgather(_: Rc<Communicator>, _: Deposit, _: Vec<Items>) -> Planned {
    not_yet()
}

pub(super) fn alltoall(_: Rc<Communicator>, _: Deposit, _: Vec<Items>) -> Planned {
    not_yet()
}
