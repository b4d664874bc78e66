//! MPI_Wait and MPI_Waitall: for messages, as most are, and for operations of any kind.

use hpcast_mpi::Ended;
use hpcast_objects::ErrorClass;

use super::taken::Taken;
use crate::abi::Status;
use crate::argument::{RequestArray, RequestAt, StatusAt};
use crate::aside::aside;
use crate::call::{Call, mpi};
use crate::fault::{Answer, Code, Fault};
use crate::fiber::block_on;
use crate::operation::{Active, Operation, Received, Then};
use crate::requests::Known;

impl Call<'_> {
    /// Waits for messages, by their numbers in the program; false if not all of them are some, and nothing was done.
    #[inline]
    fn wait_for_messages(&self, numbers: impl Iterator<Item = u32> + Clone) -> bool {
        let mut is_first = true;
        loop {
            match aside(|| self.me.rank.poll_held(messages(numbers.clone()), is_first)) {
                None => return false,
                Some(true) => return true,
                Some(false) => self.me.suspend(),
            }
            is_first = false;
        }
    }

    /// Ends messages that are done, by their numbers in the program.
    fn end_messages(&self, numbers: impl Iterator<Item = u32>, mut tell: impl FnMut(usize, &Status)) -> Answer {
        let mut ended = self.me.world.ended_messages.take();
        let (mut sent, mut asked) = (0, 0);
        let held = numbers.enumerate().filter_map(|(place, number)| match Known::of(number) {
            Known::Message(message) => {
                asked += 1;
                Some((place, message))
            }
            known => {
                sent += u64::from(known == Known::Sent);
                None
            }
        });
        self.me.rank.end_held(held, &mut ended);
        self.me.objects.requests.end_sent(sent);
        let mut failed =
            (ended.len() < asked).then(|| Fault::new(ErrorClass::Request, "the same request is there twice"));
        for Ended { place, status, received } in ended.drain(..) {
            let Some(parcel) = received else { continue };
            let capacity = self.me.world.mail.room(parcel);
            let (mut status, answer) = Received { parcel, first: 0, capacity }.end(self, status);
            status.error = answer.as_ref().err().map_or(0, |fault| fault.code(self));
            tell(place, &status);
            failed = failed.or(answer.err());
        }
        self.me.world.ended_messages.set(ended);
        failed.map_or(Ok(()), Err)
    }

    /// MPI_Wait of a message: most are.
    #[inline]
    fn wait(&self, request: RequestAt, at: StatusAt) -> Answer {
        let number = request.get(self);
        if !self.wait_for_messages(std::iter::once(number)) {
            return self.wait_for_any_kind(request, at);
        }
        aside(|| {
            request.set(self, 0);
            let mut found = self.abi.empty_status();
            let ended = self.end_messages(std::iter::once(number), |_, status| found = *status);
            at.set(self, &found);
            ended
        })
    }

    /// MPI_Waitall of messages.
    #[inline]
    fn wait_all(&self, count: i32, requests: RequestArray, at: StatusAt) -> Answer {
        let places = 0..count.max(0) as usize;
        let numbers = places.clone().map(|place| requests.get_at(self, place));
        if !self.wait_for_messages(numbers.clone()) {
            return self.wait_for_all_kinds(count, requests, at);
        }
        let ended = aside(|| {
            if !at.is_ignored() {
                let empty = self.abi.empty_status();
                places.clone().for_each(|place| at.set_at(self, place, &empty));
            }
            let ended = self.end_messages(numbers.clone(), |place, status| at.set_at(self, place, status));
            places.clone().for_each(|place| requests.set_at(self, place, 0));
            ended
        });
        ended.map_err(|fault| match fault.class {
            // No status says that a request is none.
            Code::Class(ErrorClass::Request) => fault,
            _ => fault.of_class(Code::Class(ErrorClass::InStatus)),
        })
    }

    /// Apart from the others: what it needs of the stack would be kept with each rank that waits for a message.
    #[inline(never)]
    fn wait_for_any_kind(&self, request: RequestAt, at: StatusAt) -> Answer {
        let number = request.get(self);
        let empty = self.abi.empty_status();
        if number == 0 {
            at.set(self, &empty);
            return Ok(());
        }
        self.wait_for_threads(std::iter::once(number));
        let Operation { active, recipe } = self.take_operation(number)?;
        let (status, answer) = match active {
            Some(active) => {
                if let Err(fault) = active.must_be_possible() {
                    self.me.put_request_back(number, Operation { active: Some(active), recipe });
                    return Err(fault);
                }
                self.wait_for(active)
            }
            None => (empty, Ok(())),
        };
        if !self.me.end_request(number, recipe) {
            request.set(self, 0);
        }
        at.set(self, &status);
        answer
    }

    /// What only the program itself completes, another of its threads may, if there are several.
    fn wait_for_threads(&self, numbers: impl Iterator<Item = u32>) {
        if !self.me.has_threads.get() {
            return;
        }
        let is_possible = |operation: &mut Operation| {
            operation.active.as_ref().is_none_or(|active| active.must_be_possible().is_ok())
        };
        for number in numbers {
            while self.me.objects.requests.with_own(number, is_possible) == Some(false) {
                self.me.threads().wait_for_change(self.me);
            }
        }
    }

    #[inline(never)]
    fn wait_for_all_kinds(&self, count: i32, requests: RequestArray, at: StatusAt) -> Answer {
        for place in 0..count.max(0) as usize {
            at.set_at(self, place, &self.abi.empty_status());
        }
        self.wait_for_threads((0..count.max(0) as usize).map(|place| requests.get_at(self, place)));
        let mut all = self.take_active(count, requests)?;
        let (has, pending) = Taken::requests_of(&mut all);
        let found = match pending.is_empty() {
            true => Vec::new(),
            false => block_on(self.me.rank.wait_all(pending)),
        };
        self.end_list(requests, all, has, found, at)
    }
}

/// The simulation's numbers of messages to be waited for; none for what is no message.
#[inline]
fn messages(numbers: impl Iterator<Item = u32> + Clone) -> impl Iterator<Item = Option<u32>> + Clone {
    numbers.filter_map(|number| match Known::of(number) {
        Known::Nothing | Known::Sent => None,
        Known::Message(message) => Some(Some(message)),
        Known::Own(_) => Some(None),
    })
}

impl Active {
    /// Only the program itself completes generalised requests: whoever waits for one that is not complete waits for ever.
    fn must_be_possible(&self) -> Answer {
        match &self.then {
            Then::General(general) if !general.complete.get() => {
                Err(Fault::new(ErrorClass::Request, "waits for a generalised request that nobody completes"))
            }
            Then::Parts(_) => {
                Err(Fault::new(ErrorClass::Request, "waits for a message with parts that nobody makes ready"))
            }
            _ => Ok(()),
        }
    }
}

mpi! {
    fn MPI_Wait(call, request: RequestAt, status: StatusAt) {
        call.wait(request, status)
    }
    fn MPI_Waitall(call, count: i32, array_of_requests: RequestArray, array_of_statuses: StatusAt) {
        call.wait_all(count, array_of_requests, array_of_statuses)
    }
}
