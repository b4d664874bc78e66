//! The three forms of a collective call: blocking, non-blocking and persistent.

use std::rc::Rc;

use super::{Plan, Planned, Series};
use crate::argument::{CommHandle, RequestAt};
use crate::call::Call;
use crate::fault::Answer;
use crate::operation::{Operation, Recipe};

/// Blocking, non-blocking and persistent forms of collective calls, of one plan.
macro_rules! collective {
    ($(fn $blocking:ident $nonblocking:ident $persistent:ident $([$large:ident])? ($($parameters:tt)*) $body:block)*) => {
        $crate::functions::collective::forms::forms! {
            $(($blocking $nonblocking $persistent [$($large)?] ($($parameters)*) $body))*
        }
    };
}
macro_rules! forms {
    ($((
        $blocking:ident $nonblocking:ident $persistent:ident $large:tt
        ($call:ident $(, $arg:ident : $type:ty)* $(,)?) $body:block
    ))*) => {
        $crate::call::mpi! {
            $(
                fn $blocking $large ($call $(, $arg: $type)*) {
                    let plan = |$call: &$crate::call::Call<'_>| -> $crate::functions::collective::Planned { $body };
                    let comm = $crate::functions::collective::forms::last!($($arg)*);
                    let of_comm = |fault: $crate::fault::Fault| fault.of_comm(comm.number);
                    plan($call).map_err(of_comm)?.run($call).map_err(of_comm)
                }
                fn $nonblocking $large ($call $(, $arg: $type)*, request: $crate::argument::RequestAt) {
                    let plan = |$call: &$crate::call::Call<'_>| -> $crate::functions::collective::Planned { $body };
                    let comm = $crate::functions::collective::forms::last!($($arg)*);
                    let plan = plan($call).map_err(|fault| fault.of_comm(comm.number))?;
                    $crate::functions::collective::forms::begin($call, plan, request);
                    Ok(())
                }
                fn $persistent $large (
                    $call $(, $arg: $type)*, _info: $crate::argument::InfoHandle, request: $crate::argument::RequestAt,
                ) {
                    let plan = move |$call: &$crate::call::Call<'_>| -> $crate::functions::collective::Planned { $body };
                    let comm = $crate::functions::collective::forms::last!($($arg)*);
                    $crate::functions::collective::forms::prepare($call, comm, plan, request)
                }
            )*
        }
    };
}
/// The communicator is the last argument of all of them.
macro_rules! last {
    ($last:ident) => { $last };
    ($first:ident $($rest:ident)+) => { $crate::functions::collective::forms::last!($($rest)+) };
}

pub(in crate::functions) use {collective, forms, last};

/// Begins an operation that ends with a request.
pub(in crate::functions) fn begin(call: &Call<'_>, plan: Plan, request: RequestAt) {
    let active = plan.start(call);
    request.set(call, call.me.new_request(Operation::once(active)));
}

/// Makes a persistent request, whose plan is worked out each time that it is started.
pub(in crate::functions) fn prepare(
    call: &Call<'_>,
    comm: CommHandle,
    plan: impl Fn(&Call<'_>) -> Planned + 'static,
    request: RequestAt,
) -> Answer {
    let series = Series::new(call, comm).map_err(|fault| fault.of_comm(comm.number))?;
    let start = Rc::new(move |call: &Call<'_>| plan(call).map(|plan| series.start(call, plan)));
    request.set(call, call.me.new_request(Operation::persistent(Recipe::Own(start))));
    Ok(())
}
