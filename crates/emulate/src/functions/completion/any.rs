//! MPI_Waitany and MPI_Testany: one of several operations.

use hpcast_mpi::Request;
use hpcast_objects::ErrorClass;

use super::taken::Taken;
use crate::argument::{At, IndexAt, RequestArray, StatusAt};
use crate::call::{Call, mpi};
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;

impl Call<'_> {
    /// Ends an operation of a list that is done at once, or else one whose request is found to be; whether there was one. A
    /// list without operations under way counts as one.
    fn end_any(
        &self,
        (count, requests): (i32, RequestArray),
        index: IndexAt,
        at: StatusAt,
        find: impl FnOnce(&mut Vec<Request>) -> Result<Option<(usize, hpcast_mpi::Status)>, Fault>,
    ) -> Result<bool, Fault> {
        let mut all = self.take_active(count, requests)?;
        if all.is_empty() {
            index.set(Err(self.abi.undefined));
            at.set(self, &self.abi.empty_status());
            return Ok(true);
        }
        let (chosen, found) = match Taken::done_at_once(&all) {
            Some(chosen) => {
                let chosen = all.remove(chosen);
                all.into_iter().for_each(|taken| self.put_back(taken));
                (chosen, hpcast_mpi::Status::default())
            }
            None => {
                let (mut has, mut pending) = Taken::requests_of(&mut all);
                let Some((place, found)) = find(&mut pending)? else {
                    self.put_back_pending(all, pending, &has);
                    index.set(Err(self.abi.undefined));
                    return Ok(false);
                };
                let chosen = nth_true(&has, place);
                has.remove(chosen);
                let taken = all.remove(chosen);
                self.put_back_pending(all, pending, &has);
                (taken, found)
            }
        };
        index.set(Ok(chosen.place));
        let (status, answer) = self.end(requests, chosen, found);
        at.set(self, &status);
        answer.map(|()| true)
    }

    fn wait_any(&self, count: i32, requests: RequestArray, index: IndexAt, at: StatusAt) -> Answer {
        let find = |pending: &mut Vec<Request>| match block_on(self.me.rank.wait_any(pending)) {
            None => Err(Fault::new(ErrorClass::Request, "waits for requests that nobody completes")),
            found => Ok(found),
        };
        self.end_any((count, requests), index, at, find).map(|_| ())
    }

    fn test_any(&self, count: i32, requests: RequestArray, index: IndexAt, flag: At<i32>, at: StatusAt) -> Answer {
        flag.set(1);
        let find = |pending: &mut Vec<Request>| Ok(block_on(self.me.rank.test_any(pending)));
        if !self.end_any((count, requests), index, at, find)? {
            flag.set(0);
        }
        Ok(())
    }
}

/// The place of the n-th that is true.
fn nth_true(list: &[bool], n: usize) -> usize {
    list.iter().enumerate().filter(|(_, is)| **is).nth(n).map_or(0, |(place, _)| place)
}

mpi! {
    fn MPI_Waitany(call, count: i32, array_of_requests: RequestArray, index: IndexAt, status: StatusAt) {
        call.wait_any(count, array_of_requests, index, status)
    }
    fn MPI_Testany(
        call, count: i32, array_of_requests: RequestArray, index: IndexAt, flag: At<i32>, status: StatusAt,
    ) {
        call.test_any(count, array_of_requests, index, flag, status)
    }
}
