//! The program's requests, by number.
//!
//! Most stand for a message on its way, and all there is to know of it is in the simulation's own request, whose number is then the
//! program's, too: with thousands of ranks, each table beside it would be a line of memory to wait for. A send that was over
//! at once is no more than a number that all such sends have, as in MPICH. All other operations are in a table of their rank.

use std::cell::Cell;

use hpcast_mpi::Request;

use crate::abi::FIRST_OWN;
use crate::operation::{Active, Operation, Received, Recipe, Then};
use crate::process::Process;
use crate::table::Table;

/// What a number of the program stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// MPI_REQUEST_NULL, or no request at all.
    Nothing,
    /// A send that is over.
    Sent,
    /// A message, by the simulation's number.
    Message(u32),
    /// An operation in the table, by its number there.
    Own(u32),
}

/// Numbers that handles have room for.
const LAST: u32 = (1 << 27) - (FIRST_OWN + 2);

impl Known {
    /// What a number stands for. Messages and operations take turns, so that both have low numbers.
    #[inline]
    pub fn of(number: u32) -> Known {
        let Some(place) = number.checked_sub(FIRST_OWN) else { return Known::Nothing };
        match (place & 1, place >> 1) {
            (0, own) => Known::Own(own + FIRST_OWN),
            (_, 0) => Known::Sent,
            (_, message) => Known::Message(message - 1),
        }
    }

    /// Its number.
    #[inline]
    pub fn number(self) -> u32 {
        match self {
            Known::Nothing => 0,
            Known::Own(own) => FIRST_OWN + 2 * (own - FIRST_OWN),
            Known::Sent => FIRST_OWN + 1,
            Known::Message(message) => FIRST_OWN + 2 * (message + 1) + 1,
        }
    }
}

/// The requests of a rank.
#[derive(Default)]
#[repr(C)]
pub struct Requests {
    /// Sends that were over at once, and that the program has not asked for yet.
    sent: Cell<u64>,
    own: Table<Operation>,
}

impl Requests {
    /// Those that are neither messages nor sends that are over.
    pub fn own(&self) -> impl Iterator<Item = u32> {
        self.own.numbers().into_iter().map(|own| Known::Own(own).number())
    }

    /// Looks at one of these, or changes it.
    pub fn with_own<R>(&self, number: u32, look: impl FnOnce(&mut Operation) -> R) -> Option<R> {
        match Known::of(number) {
            Known::Own(own) => self.own.with(own, look),
            _ => None,
        }
    }

    /// Sends that are over, and that the program has not asked for.
    pub fn sent(&self) -> u64 {
        self.sent.get()
    }

    /// The program has asked for so many sends that are over.
    #[inline]
    pub fn end_sent(&self, count: u64) {
        self.sent.set(self.sent.get().saturating_sub(count));
    }
}

impl Process {
    /// A number for an operation.
    pub fn new_request(&self, operation: Operation) -> u32 {
        Known::Own(self.objects.requests.own.insert(operation)).number()
    }

    /// A number for a send.
    #[inline]
    pub fn new_send(&self, request: Request) -> u32 {
        let requests = &self.objects.requests;
        if request.is_done_at_once() {
            requests.sent.set(requests.sent.get() + 1);
            return Known::Sent.number();
        }
        match request.number() {
            ..LAST => Known::Message(self.rank.hold(request)).number(),
            _ => self.new_request(Operation::once(Active { request: Some(request), then: Then::Sent })),
        }
    }

    /// A number for a receive. What the simulation is not told of it is kept in the table.
    #[inline]
    pub fn new_receive(&self, request: Request, received: Received) -> u32 {
        match (request.number(), &received) {
            (..LAST, Received { first: 0, .. }) => Known::Message(self.rank.hold(request)).number(),
            _ => {
                let then = Then::Received(received);
                self.new_request(Operation::once(Active { request: Some(request), then }))
            }
        }
    }

    /// Takes an operation out for a while, or to end it.
    pub fn take_request(&self, number: u32) -> Option<Operation> {
        let requests = &self.objects.requests;
        match Known::of(number) {
            Known::Nothing => None,
            Known::Own(own) => requests.own.take(own),
            Known::Sent => {
                self.objects.requests.end_sent(1);
                Some(Operation::once(Active { request: Some(Request::DONE), then: Then::Sent }))
            }
            Known::Message(message) => {
                let (request, parcel) = self.rank.take_held(message)?;
                let received = |parcel| Received { parcel, first: 0, capacity: self.world.mail.room(parcel) };
                let then = parcel.map_or(Then::Sent, |parcel| Then::Received(received(parcel)));
                Some(Operation::once(Active { request: Some(request), then }))
            }
        }
    }

    /// Puts an operation back that was taken out.
    pub fn put_request_back(&self, number: u32, operation: Operation) {
        let requests = &self.objects.requests;
        match (Known::of(number), operation) {
            (Known::Own(own), operation) => requests.own.put_back(own, operation),
            (Known::Message(_), Operation { active: Some(Active { request: Some(request), .. }), .. }) => {
                self.rank.hold(request);
            }
            (Known::Sent, Operation { active: Some(_), .. }) => requests.sent.set(requests.sent.get() + 1),
            _ => {}
        }
    }

    /// An operation that was taken out has ended; one that can be started again keeps its number. Whether it does.
    pub fn end_request(&self, number: u32, recipe: Option<Box<Recipe>>) -> bool {
        let Known::Own(own) = Known::of(number) else { return false };
        let is_persistent = recipe.is_some();
        self.objects.requests.own.put_back(own, Operation { active: None, recipe });
        if !is_persistent {
            self.objects.requests.own.remove(own);
        }
        is_persistent
    }

    /// Takes an operation out for good.
    pub fn remove_request(&self, number: u32) -> Option<Operation> {
        match Known::of(number) {
            Known::Own(own) => self.objects.requests.own.remove(own),
            _ => self.take_request(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_what_they_stand_for() {
        assert_eq!(Known::of(0), Known::Nothing);
        assert_eq!(Known::of(FIRST_OWN - 1), Known::Nothing);
        for known in [
            Known::Sent,
            Known::Message(0),
            Known::Message(LAST - 1),
            Known::Own(FIRST_OWN),
            Known::Own(FIRST_OWN + 700),
        ] {
            assert_eq!(Known::of(known.number()), known);
            assert!(known.number() < 1 << 28, "a handle has room for it");
        }
    }
}
