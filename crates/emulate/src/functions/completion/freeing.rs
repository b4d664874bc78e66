//! MPI_Request_free and MPI_Cancel: operations that nobody will wait for, or that are taken back.

use hpcast_objects::ErrorClass;

use crate::argument::RequestAt;
use crate::call::{Language, mpi};
use crate::fault::Fault;
use crate::operation::{Operation, Then};

mpi! {
    fn MPI_Request_free(call, request: RequestAt) {
        let number = request.get(call);
        if number == 0 {
            return Err(Fault::new(ErrorClass::Request, "MPI_REQUEST_NULL cannot be freed"));
        }
        // What is under way goes on without anybody waiting for it; its place for data must stay.
        if let Some(Operation { active: Some(active), .. }) = call.me.remove_request(number)
            && active.request.as_ref().is_some_and(|request| !request.is_done_at_once())
        {
            call.me.orphans.borrow_mut().push(active);
        }
        request.set(call, 0);
        Ok(())
    }
    fn MPI_Cancel(call, request: RequestAt) {
        let number = request.get(call);
        let operation = call.take_operation(number)?;
        if let Some(active) = &operation.active {
            match (&active.then, &active.request) {
                (Then::Received(_), Some(pending)) => {
                    call.me.rank.cancel(pending);
                }
                (Then::General(general), _) => {
                    let mut complete = i32::from(general.complete.get());
                    // In C the flag itself is passed, in Fortran its address.
                    let second = match general.cancel.language {
                        Language::C => complete as usize as *mut i32,
                        Language::Fortran => &raw mut complete,
                    };
                    // SAFETY: the program has said that this is the function of a generalised request that cancels it.
                    unsafe { general.call(general.cancel, Some(second)) };
                }
                // Sends are on their way already.
                _ => {}
            }
        }
        call.me.put_request_back(number, operation);
        Ok(())
    }
}
