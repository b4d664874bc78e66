//! MPI_Waitsome and MPI_Testsome: all of several operations that are done.

use super::taken::Taken;
use crate::argument::{At, IndexAt, RequestArray, StatusAt};
use crate::call::{Call, mpi};
use crate::fault::Answer;
use crate::fiber::block_on;

impl Call<'_> {
    /// MPI_Waitsome and MPI_Testsome: ends all that are done.
    fn some(&self, list: (i32, RequestArray), count: At<i32>, indices: IndexAt, at: StatusAt, waits: bool) -> Answer {
        let (length, requests) = list;
        let mut all = self.take_active(length, requests)?;
        if all.is_empty() {
            count.set(self.abi.undefined);
            return Ok(());
        }
        let at_once = Taken::done_at_once(&all).is_some();
        let (has, mut pending) = Taken::requests_of(&mut all);
        let found = match waits && !at_once {
            true => block_on(self.me.rank.wait_some(&mut pending)),
            false => block_on(self.me.rank.test_some(&mut pending)),
        };
        let (mut pending, mut found) = (pending.into_iter(), found.into_iter().peekable());
        let (mut number, mut done) = (0, Vec::new());
        for (mut taken, has) in all.into_iter().zip(has) {
            let Some(active) = &mut taken.operation.active else { continue };
            if !has && active.is_done_at_once() {
                done.push((taken, hpcast_mpi::Status::default()));
            } else if !has {
                self.put_back(taken);
            } else {
                if let Some((_, status)) = found.next_if(|&(index, _)| index == number) {
                    done.push((taken, status));
                } else {
                    active.request = pending.next();
                    self.put_back(taken);
                }
                number += 1;
            }
        }
        count.set(done.len() as i32);
        let mut told = 0;
        self.end_all(requests, done, |place, status| {
            indices.set_at(told, Ok(place));
            at.set_at(self, told, status);
            told += 1;
        })
    }
}

mpi! {
    fn MPI_Waitsome(
        call, incount: i32, array_of_requests: RequestArray, outcount: At<i32>, array_of_indices: IndexAt,
        array_of_statuses: StatusAt,
    ) {
        call.some((incount, array_of_requests), outcount, array_of_indices, array_of_statuses, true)
    }
    fn MPI_Testsome(
        call, incount: i32, array_of_requests: RequestArray, outcount: At<i32>, array_of_indices: IndexAt,
        array_of_statuses: StatusAt,
    ) {
        call.some((incount, array_of_requests), outcount, array_of_indices, array_of_statuses, false)
    }
}
