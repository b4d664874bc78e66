//! Generalised requests, whose operations the program does itself: MPI_Grequest_start and MPI_Grequest_complete.

use hpcast_objects::ErrorClass;

use crate::argument::{Callback, ExtraAt, RequestAt, RequestHandle};
use crate::call::mpi;
use crate::fault::Fault;
use crate::operation::{Active, General, Operation, Then};

mpi! {
    fn MPI_Grequest_start(
        call, query_fn: Callback, free_fn: Callback, cancel_fn: Callback, extra_state: ExtraAt, request: RequestAt,
    ) {
        let general = General { query: query_fn, free: free_fn, cancel: cancel_fn, extra: extra_state, complete: false.into() };
        let then = Then::General(std::rc::Rc::new(general));
        request.set(call, call.me.new_request(Operation::once(Active { request: None, then })));
        Ok(())
    }
    fn MPI_Grequest_complete(call, request: RequestHandle) {
        let complete = |operation: &mut Operation| match &operation.active {
            Some(Active { then: Then::General(general), .. }) => {
                general.complete.set(true);
                true
            }
            _ => false,
        };
        match call.me.objects.requests.with_own(request.number, complete) {
            Some(true) => {
                call.tell_threads();
                Ok(())
            }
            _ => Err(Fault::new(ErrorClass::Request, "no generalised request")),
        }
    }
}
