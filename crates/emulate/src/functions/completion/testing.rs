//! MPI_Test and MPI_Testall.

use hpcast_objects::ErrorClass;

use super::taken::Taken;
use crate::argument::{At, RequestArray, RequestAt, StatusAt};
use crate::call::{Call, mpi};
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;

impl Call<'_> {
    fn test(&self, request: RequestAt, flag: At<i32>, at: StatusAt) -> Answer {
        let number = request.get(self);
        flag.set(1);
        if number == 0 {
            at.set(self, &self.abi.empty_status());
            return Ok(());
        }
        let mut operation = self.take_operation(number)?;
        let Some(mut active) = operation.active.take() else {
            self.me.put_request_back(number, operation);
            at.set(self, &self.abi.empty_status());
            return Ok(());
        };
        let found = match active.request.take() {
            None if active.is_done_at_once() => Ok(hpcast_mpi::Status::default()),
            None => Err(None),
            Some(pending) => block_on(self.me.rank.test(pending)).map_err(Some),
        };
        match found {
            Err(pending) => {
                active.request = pending;
                operation.active = Some(active);
                self.me.put_request_back(number, operation);
                flag.set(0);
                Ok(())
            }
            Ok(found) => {
                if !self.me.end_request(number, operation.recipe) {
                    request.set(self, 0);
                }
                let (status, answer) = active.end(self, found);
                at.set(self, &status);
                answer
            }
        }
    }

    fn test_all(&self, count: i32, requests: RequestArray, flag: At<i32>, at: StatusAt) -> Answer {
        let mut all = self.take_active(count, requests)?;
        let possible = all.iter().all(|taken| taken.has_request() || taken.is_done_at_once());
        let (has, pending) = Taken::requests_of(&mut all);
        let found = match block_on(self.me.rank.test_all(pending)) {
            Ok(found) if possible => found,
            Ok(_) => return Err(Fault::new(ErrorClass::Request, "generalised requests cannot be tested with others")),
            Err(pending) => {
                self.put_back_pending(all, pending, &has);
                flag.set(0);
                return Ok(());
            }
        };
        flag.set(1);
        for place in 0..count.max(0) as usize {
            at.set_at(self, place, &self.abi.empty_status());
        }
        self.end_list(requests, all, has, found, at)
    }
}

mpi! {
    fn MPI_Test(call, request: RequestAt, flag: At<i32>, status: StatusAt) {
        call.test(request, flag, status)
    }
    fn MPI_Testall(call, count: i32, array_of_requests: RequestArray, flag: At<i32>, array_of_statuses: StatusAt) {
        call.test_all(count, array_of_requests, flag, array_of_statuses)
    }
}
