//! MPI_Wait, MPI_Test and their relatives: how operations end.

use hpcast_mpi::{Ended, Request};
use hpcast_objects::ErrorClass;

use crate::abi::Status;
use crate::argument::{
    At, Callback, Count, CountAt, ExtraAt, IndexAt, RequestArray, RequestAt, RequestHandle, StatusAt, TypeHandle,
};
use crate::aside::aside;
use crate::call::{Call, Language, mpi};
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;
use crate::operation::{Active, General, Operation, Received, Then};
use crate::requests::Known;

/// Operations taken from the program's list, with their places in it.
struct Taken {
    place: usize,
    number: u32,
    operation: Operation,
}

impl Call<'_> {
    fn take_operation(&self, number: u32) -> Result<Operation, Fault> {
        let taken = self.me.take_request(number);
        taken.ok_or_else(|| Fault::new(ErrorClass::Request, "no such request, or one that is in use"))
    }

    /// Takes all operations of a list that are under way. Inactive persistent ones stay.
    fn take_active(&self, count: i32, requests: RequestArray) -> Result<Vec<Taken>, Fault> {
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

    fn put_back(&self, taken: Taken) {
        self.me.put_request_back(taken.number, taken.operation);
    }

    /// Ends an operation that is done: its handle is freed, unless it is persistent.
    fn end(&self, requests: RequestArray, taken: Taken, found: hpcast_mpi::Status) -> (Status, Answer) {
        let Taken { place, number, operation: Operation { active, recipe } } = taken;
        if !self.me.end_request(number, recipe) {
            requests.set_at(self, place, 0);
        }
        match active {
            Some(active) => active.end(self, found),
            None => (self.abi.empty_status(), Ok(())),
        }
    }

    /// The requests of operations under way, in order; those that are done at once have none.
    fn requests_of(all: &mut [Taken]) -> Vec<Request> {
        all.iter_mut().filter_map(|taken| taken.operation.active.as_mut()?.request.take()).collect()
    }

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
    fn end_messages(
        &self,
        numbers: impl Iterator<Item = u32>,
        mut tell: impl FnMut(usize, &Status),
    ) -> Result<(), Box<Fault>> {
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
        failed.map_or(Ok(()), |fault| Err(Box::new(fault)))
    }

    /// MPI_Wait of a message: most are.
    #[inline]
    fn wait(&self, request: RequestAt, at: StatusAt) -> Answer {
        let number = request.get(self);
        if !self.wait_for_messages(std::iter::once(number)) {
            return self.wait_for_any_kind(request, at);
        }
        let ended = aside(|| {
            request.set(self, 0);
            at.set(self, &self.abi.empty_status());
            self.end_messages(std::iter::once(number), |_, status| at.set(self, status))
        });
        ended.map_err(|fault| *fault)
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
            crate::fault::Code::Class(ErrorClass::Request) => *fault,
            _ => Fault { class: crate::fault::Code::Class(ErrorClass::InStatus), ..*fault },
        })
    }

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

    /// Ends some operations of a list; errors are in the statuses.
    fn end_all(
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
            Some(fault) => Err(Fault { class: crate::fault::Code::Class(ErrorClass::InStatus), ..fault }),
        }
    }

    fn wait_for_all_kinds(&self, count: i32, requests: RequestArray, at: StatusAt) -> Answer {
        for place in 0..count.max(0) as usize {
            at.set_at(self, place, &self.abi.empty_status());
        }
        self.wait_for_threads((0..count.max(0) as usize).map(|place| requests.get_at(self, place)));
        let mut all = self.take_active(count, requests)?;
        let has_request: Vec<bool> = all.iter().map(Taken::has_request).collect();
        let pending = Call::requests_of(&mut all);
        let mut found = match pending.is_empty() {
            true => Vec::new(),
            false => block_on(self.me.rank.wait_all(pending)),
        }
        .into_iter();
        let done = all.into_iter().zip(has_request);
        let done = done.map(|(taken, has)| (taken, has.then(|| found.next()).flatten().unwrap_or_default())).collect();
        self.end_all(requests, done, |place, status| at.set_at(self, place, status))
    }

    /// Those that are done at once, if there are any.
    fn done_at_once(all: &[Taken]) -> Option<usize> {
        all.iter().position(|taken| taken.operation.active.as_ref().is_some_and(Active::is_done_at_once))
    }

    /// Puts all back but those that are done.
    fn put_back_pending(&self, all: Vec<Taken>, mut pending: std::vec::IntoIter<Request>, has: &[bool]) {
        for (mut taken, &has) in all.into_iter().zip(has) {
            if has && let Some(active) = &mut taken.operation.active {
                active.request = pending.next();
            }
            self.put_back(taken);
        }
    }

    fn wait_any(&self, count: i32, requests: RequestArray, index: IndexAt, at: StatusAt) -> Answer {
        let mut all = self.take_active(count, requests)?;
        if all.is_empty() {
            index.set(Err(self.abi.undefined));
            at.set(self, &self.abi.empty_status());
            return Ok(());
        }
        let (chosen, found) = match Call::done_at_once(&all) {
            Some(chosen) => (all.remove(chosen), hpcast_mpi::Status::default()),
            None => {
                let mut has: Vec<bool> = all.iter().map(Taken::has_request).collect();
                let mut pending = Call::requests_of(&mut all);
                let Some((place, found)) = block_on(self.me.rank.wait_any(&mut pending)) else {
                    return Err(Fault::new(ErrorClass::Request, "waits for requests that nobody completes"));
                };
                let chosen = nth_true(&has, place);
                has.remove(chosen);
                let taken = all.remove(chosen);
                self.put_back_pending(std::mem::take(&mut all), pending.into_iter(), &has);
                (taken, found)
            }
        };
        all.into_iter().for_each(|taken| self.put_back(taken));
        index.set(Ok(chosen.place));
        let (status, answer) = self.end(requests, chosen, found);
        at.set(self, &status);
        answer
    }

    fn test_any(&self, count: i32, requests: RequestArray, index: IndexAt, flag: At<i32>, at: StatusAt) -> Answer {
        let mut all = self.take_active(count, requests)?;
        flag.set(1);
        if all.is_empty() {
            index.set(Err(self.abi.undefined));
            at.set(self, &self.abi.empty_status());
            return Ok(());
        }
        if let Some(chosen) = Call::done_at_once(&all) {
            let chosen = all.remove(chosen);
            all.into_iter().for_each(|taken| self.put_back(taken));
            index.set(Ok(chosen.place));
            let (status, answer) = self.end(requests, chosen, hpcast_mpi::Status::default());
            at.set(self, &status);
            return answer;
        }
        let mut has: Vec<bool> = all.iter().map(Taken::has_request).collect();
        let mut pending = Call::requests_of(&mut all);
        let found = block_on(self.me.rank.test_any(&mut pending));
        let Some((place, found)) = found else {
            self.put_back_pending(all, pending.into_iter(), &has);
            flag.set(0);
            index.set(Err(self.abi.undefined));
            return Ok(());
        };
        let chosen = nth_true(&has, place);
        has.remove(chosen);
        let taken = all.remove(chosen);
        self.put_back_pending(all, pending.into_iter(), &has);
        index.set(Ok(taken.place));
        let (status, answer) = self.end(requests, taken, found);
        at.set(self, &status);
        answer
    }

    /// MPI_Waitsome and MPI_Testsome: ends all that are done.
    fn some(&self, list: (i32, RequestArray), count: At<i32>, indices: IndexAt, at: StatusAt, waits: bool) -> Answer {
        let (length, requests) = list;
        let mut all = self.take_active(length, requests)?;
        if all.is_empty() {
            count.set(self.abi.undefined);
            return Ok(());
        }
        let at_once = Call::done_at_once(&all).is_some();
        let has: Vec<bool> = all.iter().map(Taken::has_request).collect();
        let mut pending = Call::requests_of(&mut all);
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

    fn test_all(&self, count: i32, requests: RequestArray, flag: At<i32>, at: StatusAt) -> Answer {
        let mut all = self.take_active(count, requests)?;
        let has: Vec<bool> = all.iter().map(Taken::has_request).collect();
        let possible = all.iter().all(|taken| taken.has_request() || taken.is_done_at_once());
        let pending = Call::requests_of(&mut all);
        let found = match block_on(self.me.rank.test_all(pending)) {
            Ok(found) if possible => found,
            Ok(_) => return Err(Fault::new(ErrorClass::Request, "generalised requests cannot be tested with others")),
            Err(pending) => {
                self.put_back_pending(all, pending.into_iter(), &has);
                flag.set(0);
                return Ok(());
            }
        };
        flag.set(1);
        for place in 0..count.max(0) as usize {
            at.set_at(self, place, &self.abi.empty_status());
        }
        let mut found = found.into_iter();
        let done = all.into_iter().zip(has);
        let done = done.map(|(taken, has)| (taken, has.then(|| found.next()).flatten().unwrap_or_default())).collect();
        self.end_all(requests, done, |place, status| at.set_at(self, place, status))
    }

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

    /// What a receive gives that was taken back.
    pub(crate) fn cancelled_status(&self) -> Status {
        Status { cancelled: true, ..self.abi.empty_status() }
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

/// The simulation's numbers of messages to be waited for; none for what is no message.
#[inline]
fn messages(numbers: impl Iterator<Item = u32> + Clone) -> impl Iterator<Item = Option<u32>> + Clone {
    numbers.filter_map(|number| match Known::of(number) {
        Known::Nothing | Known::Sent => None,
        Known::Message(message) => Some(Some(message)),
        Known::Own(_) => Some(None),
    })
}

/// The place of the n-th that is true.
fn nth_true(list: &[bool], n: usize) -> usize {
    list.iter().enumerate().filter(|(_, is)| **is).nth(n).map_or(0, |(place, _)| place)
}

impl Taken {
    fn has_request(&self) -> bool {
        self.operation.active.as_ref().is_some_and(|active| active.request.is_some())
    }

    fn is_done_at_once(&self) -> bool {
        self.operation.active.as_ref().is_some_and(Active::is_done_at_once)
    }
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
    fn MPI_Test(call, request: RequestAt, flag: At<i32>, status: StatusAt) {
        call.test(request, flag, status)
    }
    fn MPI_Waitall(call, count: i32, array_of_requests: RequestArray, array_of_statuses: StatusAt) {
        call.wait_all(count, array_of_requests, array_of_statuses)
    }
    fn MPI_Testall(call, count: i32, array_of_requests: RequestArray, flag: At<i32>, array_of_statuses: StatusAt) {
        call.test_all(count, array_of_requests, flag, array_of_statuses)
    }
    fn MPI_Waitany(call, count: i32, array_of_requests: RequestArray, index: IndexAt, status: StatusAt) {
        call.wait_any(count, array_of_requests, index, status)
    }
    fn MPI_Testany(
        call, count: i32, array_of_requests: RequestArray, index: IndexAt, flag: At<i32>, status: StatusAt,
    ) {
        call.test_any(count, array_of_requests, index, flag, status)
    }
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
    fn MPI_Start(call, request: RequestAt) {
        call.start(request.get(call))
    }
    fn MPI_Startall(call, count: i32, array_of_requests: RequestArray) {
        (0..count.max(0) as usize).try_for_each(|place| call.start(array_of_requests.get_at(call, place)))
    }
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
    fn MPI_Test_cancelled(call, status: StatusAt, flag: At<i32>) {
        flag.set(i32::from(status.get(call).cancelled));
        Ok(())
    }
    fn MPI_Get_count[_c](call, status: StatusAt, datatype: TypeHandle, count: CountAt) {
        let size = call.me.datatype(datatype.number)?.size();
        count.set(call, items(status.get(call).bytes, size).unwrap_or(i64::from(call.abi.undefined)));
        Ok(())
    }
    fn MPI_Get_elements[_c](call, status: StatusAt, datatype: TypeHandle, count: CountAt) {
        let elements = call.me.datatype(datatype.number)?.elements_in(status.get(call).bytes as i64);
        count.set(call, elements.unwrap_or(i64::from(call.abi.undefined)));
        Ok(())
    }
    fn MPI_Get_elements_x(call, status: StatusAt, datatype: TypeHandle, count: At<i64>) {
        let elements = call.me.datatype(datatype.number)?.elements_in(status.get(call).bytes as i64);
        count.set(elements.unwrap_or(i64::from(call.abi.undefined)));
        Ok(())
    }
    fn MPI_Status_set_elements[_c](call, status: StatusAt, datatype: TypeHandle, count: Count) {
        let size = call.me.datatype(datatype.number)?.size();
        status.set(call, &Status { bytes: (size * count.0) as u64, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_set_elements_x(call, status: StatusAt, datatype: TypeHandle, count: i64) {
        let size = call.me.datatype(datatype.number)?.size();
        status.set(call, &Status { bytes: (size * count) as u64, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_get_source(call, status: StatusAt, source: At<i32>) {
        source.set(status.get(call).source);
        Ok(())
    }
    fn MPI_Status_get_tag(call, status: StatusAt, tag: At<i32>) {
        tag.set(status.get(call).tag);
        Ok(())
    }
    fn MPI_Status_get_error(call, status: StatusAt, err: At<i32>) {
        err.set(status.get(call).error);
        Ok(())
    }
    fn MPI_Status_set_source(call, status: StatusAt, source: i32) {
        status.set(call, &Status { source, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_set_tag(call, status: StatusAt, tag: i32) {
        status.set(call, &Status { tag, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_set_error(call, status: StatusAt, err: i32) {
        status.set_at(call, 0, &Status { error: err, ..status.get(call) });
        Ok(())
    }
    fn MPI_Status_set_cancelled(call, status: StatusAt, flag: i32) {
        status.set(call, &Status { cancelled: flag != 0, ..status.get(call) });
        Ok(())
    }
}

/// How many whole items so many bytes are.
fn items(bytes: u64, size: i64) -> Option<i64> {
    match size {
        0 => (bytes == 0).then_some(0),
        _ if bytes.is_multiple_of(size as u64) => Some((bytes / size as u64) as i64),
        _ => None,
    }
}
