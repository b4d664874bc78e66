//! What is known of the ranks when a run is over: where they are, what they wait for, what they have left behind.

mod left;
mod waits;

use std::rc::Rc;

use hpcast_mpi::Context;

use crate::process::Process;

pub use left::{Kind, LeftBehind, LeftMessage, LeftObjects, LeftRequest, Pending};
pub use waits::{Waiting, circle};

pub(crate) use waits::waits;

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whereabouts {
    /// In this function of MPI, or of the C library.
    Calling(&'static str),
    /// In its own code.
    Computing,
    /// It has not begun.
    NotBegun,
    /// It has come to its end.
    Ended,
}

/// Where each rank is.
pub(crate) fn whereabouts(processes: &[Rc<Process>]) -> Vec<Whereabouts> {
    let place = |process: &Rc<Process>| match process.calls().first() {
        Some((_, function)) => Whereabouts::Calling(function),
        None if process.has_ended() && !process.was_stopped() => Whereabouts::Ended,
        None if process.has_begun() => Whereabouts::Computing,
        None => Whereabouts::NotBegun,
    };
    processes.iter().map(place).collect()
}

/// What a rank calls the communicator of a channel.
fn communicator(process: &Process, context: Context) -> String {
    let own = process.objects.comms.numbers().into_iter().filter_map(|number| process.objects.comms.get(number));
    let all = [1, 2].into_iter().filter_map(|number| process.comm(number).ok()).chain(own);
    let is_meant = |comm: &Rc<crate::communicator::Communicator>| {
        let local = comm.remote.as_ref().map(|remote| remote.local.apart());
        comm.comm.apart() == context || local == Some(context)
    };
    let Some(comm) = { all }.find(is_meant) else { return "a communicator that it has freed".into() };
    let name = comm.name.borrow();
    if name.is_empty() { format!("a communicator of {} ranks", comm.comm.size()) } else { name.clone() }
}
