//! MPI_Request_get_status and its relatives: what has become of operations, which stay as they are.

use crate::abi::Status;
use crate::argument::{At, IndexAt, RequestArray, RequestHandle, StatusAt};
use crate::call::{Call, mpi};
use crate::fault::Fault;
use crate::fiber::block_on;
use crate::operation::{Active, Then};

impl Call<'_> {
    /// The status of an operation that is done, which stays as it is.
    fn peek(&self, number: u32) -> Result<Option<Status>, Fault> {
        let empty = self.abi.empty_status();
        if number == 0 {
            return Ok(Some(empty));
        }
        let operation = self.take_operation(number)?;
        let found = match &operation.active {
            None => Some(empty),
            Some(Active { request: Some(pending), then }) => {
                block_on(self.me.rank.peek(pending)).map(|found| match then {
                    Then::Received(_) if found.is_cancelled() => self.cancelled_status(),
                    Then::Received(received) => crate::operation::status(received.first, found),
                    Then::Assembled(assembled) => {
                        Status { tag: assembled.1, ..crate::operation::status(assembled.0.first, found) }
                    }
                    _ => empty,
                })
            }
            Some(active @ Active { request: None, then }) => match then {
                Then::Done(status) => Some(**status),
                _ => active.is_done_at_once().then_some(empty),
            },
        };
        self.me.put_request_back(number, operation);
        Ok(found)
    }

    fn peek_each(&self, count: i32, requests: RequestArray) -> Result<Vec<Option<Status>>, Fault> {
        (0..count.max(0) as usize).map(|place| self.peek(requests.get_at(self, place))).collect()
    }

    /// Places of operations under way.
    fn active_places(&self, count: i32, requests: RequestArray) -> Vec<usize> {
        let is_active = |place: &usize| {
            let number = requests.get_at(self, *place);
            let Some(operation) = self.me.take_request(number) else { return false };
            let is_active = operation.active.is_some();
            self.me.put_request_back(number, operation);
            is_active
        };
        (0..count.max(0) as usize).filter(is_active).collect()
    }
}

mpi! {
    fn MPI_Request_get_status(call, request: RequestHandle, flag: At<i32>, status: StatusAt) {
        if request.number == 0 {
            flag.set(1);
            status.set_at(call, 0, &call.abi.empty_status());
            return Ok(());
        }
        let found = call.peek(request.number)?;
        flag.set(i32::from(found.is_some()));
        if let Some(found) = found {
            status.set(call, &found);
        }
        Ok(())
    }
    fn MPI_Request_get_status_all(
        call, count: i32, array_of_requests: RequestArray, flag: At<i32>, array_of_statuses: StatusAt,
    ) {
        let found = call.peek_each(count, array_of_requests)?;
        let all: Option<Vec<Status>> = found.into_iter().collect();
        flag.set(i32::from(all.is_some()));
        for (place, status) in all.into_iter().flatten().enumerate() {
            array_of_statuses.set_at(call, place, &status);
        }
        Ok(())
    }
    fn MPI_Request_get_status_any(
        call, count: i32, array_of_requests: RequestArray, indx: IndexAt, flag: At<i32>, status: StatusAt,
    ) {
        let found = call.peek_each(count, array_of_requests)?;
        let active = call.active_places(count, array_of_requests);
        let first = active.iter().find_map(|&place| found[place].map(|status| (place, status)));
        flag.set(i32::from(first.is_some() || active.is_empty()));
        indx.set(first.map_or(Err(call.abi.undefined), |(place, _)| Ok(place)));
        if let Some(found) = first.map(|(_, status)| status).or(active.is_empty().then(|| call.abi.empty_status())) {
            status.set(call, &found);
        }
        Ok(())
    }
    fn MPI_Request_get_status_some(
        call, incount: i32, array_of_requests: RequestArray, outcount: At<i32>, array_of_indices: IndexAt,
        array_of_statuses: StatusAt,
    ) {
        let found = call.peek_each(incount, array_of_requests)?;
        let active = call.active_places(incount, array_of_requests);
        let done: Vec<_> = active.iter().filter_map(|&place| found[place].map(|status| (place, status))).collect();
        for (number, (place, status)) in done.iter().enumerate() {
            array_of_indices.set_at(number, Ok(*place));
            array_of_statuses.set_at(call, number, status);
        }
        outcount.set(if active.is_empty() { call.abi.undefined } else { done.len() as i32 });
        Ok(())
    }
}
