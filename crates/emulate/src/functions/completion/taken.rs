//! Operations taken from lists of the program, to be ended or put back.

use hpcast_mpi::Request;
use hpcast_objects::ErrorClass;

use crate::abi::Status;
use crate::argument::{RequestArray, StatusAt};
use crate::call::Call;
use crate::fault::{Answer, Fault};
use crate::operation::{Active, Operation};

/// Operations taken from the program's list, with their places in it.
pub(super) struct Taken {
    pub place: usize,
    pub number: u32,
    pub operation: Operation,
}

impl Taken {
    #[inline]
    pub fn has_request(&self) -> bool {
        self.operation.active.as_ref().is_some_and(|active| active.request.is_some())
    }

    #[inline]
    pub fn is_done_at_once(&self) -> bool {
        self.operation.active.as_ref().is_some_and(Active::is_done_at_once)
    }

    /// Which of them have requests, and these, in order; those that are done at once have none.
    pub fn requests_of(all: &mut [Taken]) -> (Vec<bool>, Vec<Request>) {
        let has = all.iter().map(Taken::has_request).collect();
        let pending = all.iter_mut().filter_map(|taken| taken.operation.active.as_mut()?.request.take()).collect();
        (has, pending)
    }

    /// The first that is done at once, if there is one.
    pub fn done_at_once(all: &[Taken]) -> Option<usize> {
        all.iter().position(Taken::is_done_at_once)
    }
}

impl Call<'_> {
    #[inline]
    pub(super) fn take_operation(&self, number: u32) -> Result<Operation, Fault> {
        let taken = self.me.take_request(number);
        taken.ok_or_else(|| Fault::new(ErrorClass::Request, "no such request, or one that is in use"))
    }

    /// Takes all operations of a list that are under way. Inactive persistent ones stay.
    pub(super) fn take_active(&self, count: i32, requests: RequestArray) -> Result<Vec<Taken>, Fault> {
        let mut all = Vec::new();
        for place in 0..count.max(0) as usize {
            let number = requests.get_at(self, place);
            if number == 0 {
                continue;
            }
            let operation = self.take_operation(number)?;
            if operation.active.is_some() {
                all.push(Taken { place, number, operation });
            } else {
                self.me.put_request_back(number, operation);
            }
        }
        Ok(all)
    }

    #[inline]
    pub(super) fn put_back(&self, taken: Taken) {
        self.me.put_request_back(taken.number, taken.operation);
    }

    /// Ends an operation that is done: its handle is freed, unless it is persistent.
    pub(super) fn end(&self, requests: RequestArray, taken: Taken, found: hpcast_mpi::Status) -> (Status, Answer) {
        let Taken { place, number, operation: Operation { active, recipe } } = taken;
        if !self.me.end_request(number, recipe) {
            requests.set_at(self, place, 0);
        }
        match active {
            Some(active) => active.end(self, found),
            None => (self.abi.empty_status(), Ok(())),
        }
    }

    /// Puts all back but those that are done.
    pub(super) fn put_back_pending(&self, all: Vec<Taken>, pending: Vec<Request>, has: &[bool]) {
        let mut pending = pending.into_iter();
        for (mut taken, &has) in all.into_iter().zip(has) {
            if has && let Some(active) = &mut taken.operation.active {
                active.request = pending.next();
            }
            self.put_back(taken);
        }
    }

    /// Ends some operations of a list; errors are in the statuses.
    pub(super) fn end_all(
        &self,
        requests: RequestArray,
        done: Vec<(Taken, hpcast_mpi::Status)>,
        mut tell: impl FnMut(usize, &Status),
    ) -> Answer {
        let mut failed = None;
        for (taken, found) in done {
            let place = taken.place;
            let (mut status, answer) = self.end(requests, taken, found);
            status.error = answer.as_ref().err().map_or(0, |fault| fault.code(self));
            tell(place, &status);
            failed = failed.or(answer.err());
        }
        match failed {
            None => Ok(()),
            Some(fault) => Err(fault.of_class(crate::fault::Code::Class(ErrorClass::InStatus))),
        }
    }

    /// Ends all operations of a list, with what was found of those that have requests.
    pub(super) fn end_list(
        &self,
        requests: RequestArray,
        all: Vec<Taken>,
        has: Vec<bool>,
        found: Vec<hpcast_mpi::Status>,
        at: StatusAt,
    ) -> Answer {
        let mut found = found.into_iter();
        let done = all.into_iter().zip(has);
        let done = done.map(|(taken, has)| (taken, has.then(|| found.next()).flatten().unwrap_or_default())).collect();
        self.end_all(requests, done, |place, status| at.set_at(self, place, status))
    }
}
