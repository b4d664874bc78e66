//! Collective operations: blocking, non-blocking and persistent.
//!
//! Each is a [`Plan`]: what the rank brings, how the simulation does it, and what is done with the data at the end. The three
//! forms of a call differ only in what they do with the plan.

mod allgather;
mod alltoall;
mod barrier;
mod broadcast;
mod deposits;
pub(super) mod forms;
mod gather;
mod items;
mod plan;
mod reduce;
mod scan;
mod scatter;

use std::rc::Rc;

use hpcast_objects::ErrorClass;

use crate::argument::CommHandle;
use crate::call::{Call, Function};
use crate::communicator::Communicator;
use crate::fault::Fault;

pub(super) use deposits::{brought, images, missing, pack_all, unpack_each, unpack_pieces};
pub(super) use forms::collective;
pub(super) use items::{Items, by_rank, equal};
pub(super) use plan::{Plan, Planned, Series};
pub(super) use reduce::{amount, restore_part};

/// All collective functions, but those among neighbours in a topology.
pub(super) fn functions() -> impl Iterator<Item = &'static Function> {
    [
        barrier::FUNCTIONS,
        broadcast::FUNCTIONS,
        reduce::FUNCTIONS,
        scan::FUNCTIONS,
        gather::FUNCTIONS,
        scatter::FUNCTIONS,
        allgather::FUNCTIONS,
        alltoall::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

impl Call<'_> {
    /// A communicator for a collective call.
    fn collective_comm(&self, handle: CommHandle) -> Result<Rc<Communicator>, Fault> {
        self.me.comm(handle.number)
    }

    fn root(&self, comm: &Communicator, root: i32) -> Result<u32, Fault> {
        if root < 0 || root as u32 >= comm.size() {
            return Err(Fault::new(
                ErrorClass::Root,
                format!("{root} is no rank of a communicator of {} ranks", comm.size()),
            ));
        }
        Ok(root as u32)
    }
}
