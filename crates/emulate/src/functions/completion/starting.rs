//! MPI_Start and MPI_Startall: persistent operations, once more.

use hpcast_objects::ErrorClass;

use crate::argument::{RequestArray, RequestAt};
use crate::call::{Call, mpi};
use crate::fault::{Answer, Fault};

impl Call<'_> {
    fn start(&self, number: u32) -> Answer {
        let mut operation = self.take_operation(number)?;
        let recipe = operation.recipe.clone();
        let started = match (&operation.active, recipe) {
            (None, Some(recipe)) => recipe.start(self).map(|active| operation.active = Some(active)),
            _ => Err(Fault::new(ErrorClass::Request, "only persistent requests that are not under way can be started")),
        };
        self.me.put_request_back(number, operation);
        started
    }
}

mpi! {
    fn MPI_Start(call, request: RequestAt) {
        call.start(request.get(call))
    }
    fn MPI_Startall(call, count: i32, array_of_requests: RequestArray) {
        (0..count.max(0) as usize).try_for_each(|place| call.start(array_of_requests.get_at(call, place)))
    }
}
