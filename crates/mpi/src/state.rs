//! The state of a simulation: ranks' clocks, messages, requests, and what happens when an operation is posted.
//!
//! **Ranks run ahead.** A rank's clock may be later than the simulation's: computing and overheads only move the
//! rank's own clock, and what it posts carries that time. This is exact, because a named receive meets the same
//! message in whatever order the two were posted, and the network starts every transfer at its own time. Only where
//! time decides which message is met (receives from any source, probes, tests) does the rank first wait until the
//! simulation has caught up with it. It saves an event for every computation, send and receive.

mod event;
mod in_place;
mod message;
mod polling;
mod posting;
mod rounds;
mod soon;
mod task;

use hpcast_engine::Agenda;
use hpcast_engine::slab::NONE;
use hpcast_models::network::{Network, Transfer};
use hpcast_platform::Machine;
use hpcast_platform::placement::Placement;
use hpcast_units::Time;

use crate::costs::{Charges, Costs};
use crate::deadlock::Channel;
use crate::group::Groups;
use crate::left_over::Unreceived;
use crate::matching::{Envelope, Matching, Pattern, Place};
use crate::observer::{Activity, Delivered, Observer};
use crate::post::{Parcel, Post};
use crate::request::{Call, Ended, Met, Request, RequestState, Status};

pub(crate) use event::Event;
use message::{Cargo, Inbox, Message};
pub(crate) use polling::Polling;
use polling::SharedPoll;
pub use posting::{Mode, Next, Receiving, Sending, Style, Taken};
use rounds::Driven;
pub use rounds::{Line, Round, Rounds};
pub use task::Spent;
pub(crate) use task::Task;

pub(crate) struct State {
    pub now: Time,
    pub network: Box<dyn Network>,
    pub agenda: Agenda,
    pub tasks: Vec<Task>,
    /// Numbers of background tasks that have ended.
    pub free_tasks: Vec<u32>,
    /// Tasks whose wait is over, to be resumed in this order.
    pub ready: Vec<u32>,
    pub groups: Groups,
    pub costs: Costs,
    /// Requests and messages, and which meets which.
    matching: Matching<RequestState, Message, Inbox>,
    pub observer: Option<Box<dyn Observer>>,
    /// Holds the data of messages.
    pub post: Option<Box<dyn Post>>,
    pub total_messages: u64,
    pub total_bytes: u64,
    /// Unsuccessful polls in a row of all ranks together (SMPI's quirk).
    polls: u32,
    /// Where all ranks share the price of polling: the last poll of each task.
    shared_polls: Vec<SharedPoll>,
    /// Further tasks that wait in a probe, with their ranks: threads of ranks, one of which waits in a probe already.
    also_probing: Vec<(u32, u32)>,
    /// The rounds that tasks are in.
    driven: Vec<Driven>,
    /// Which task received last, and from which rank.
    peer: (u32, u32),
    /// Requests that end together: when each was done, its place and its number.
    scratch: Vec<(Time, usize, u32)>,
    /// What is known of what tasks will need.
    soon: soon::Soon,
    /// The message whose data was left where it is, by the send that was posted last.
    left: Option<u32>,
}

impl State {
    pub fn new(ranks: u32, machine: &Machine, nodes: Placement, network: Box<dyn Network>, seed: u64) -> State {
        let inbox = |rank| Inbox { node: nodes.node(rank), any_source: 0, announced: 0, probing: NONE };
        State {
            now: Time::ZERO,
            network,
            agenda: Agenda::default(),
            tasks: (0..ranks).map(|rank| Task::new(rank, nodes.node(rank))).collect(),
            free_tasks: Vec::new(),
            ready: Vec::new(),
            groups: Groups::new(),
            costs: Costs::new(machine.mpi.clone(), seed),
            matching: Matching::new((0..ranks).map(inbox)),
            observer: None,
            post: None,
            total_messages: 0,
            total_bytes: 0,
            polls: 0,
            shared_polls: Vec::new(),
            also_probing: Vec::new(),
            driven: Vec::new(),
            peer: (NONE, NONE),
            scratch: Vec::new(),
            soon: soon::Soon::default(),
            left: None,
        }
    }

    /// Moves a task's clock on.
    #[inline]
    pub fn spend(&mut self, task: u32, activity: Activity, length: Time) {
        self.tasks[task as usize].spend(activity, length, &mut self.observer);
    }

    /// Posts a send; the request is done at once where the sender need not wait.
    #[inline]
    pub fn send(&mut self, task: u32, sending: Sending, style: Style) -> Request {
        let Sending { comm, to, tag, bytes, mode, parcel } = sending;
        let to = self.groups.world_rank(comm, to);
        let inbox = *self.matching.beside(to);
        let sender = &mut self.tasks[task as usize];
        let nodes = (sender.node, inbox.node);
        let mut charges = self.costs.of(bytes, nodes.0 == nodes.1);
        let drawn;
        if charges.noisy {
            drawn = self.costs.draw_next(sender.rank, bytes, nodes.0 == nodes.1);
            charges = &drawn;
        }
        let synchronous = mode == Mode::Synchronous;
        let detached = mode == Mode::Buffered || !synchronous && charges.detached;
        let eager = !synchronous && charges.eager;
        sender.ahead = sender.ahead.saturating_add(1);
        if style != Style::Blocking {
            sender.spend(Activity::Send, charges.isend, &mut self.observer);
        } else if detached || synchronous {
            sender.spend(Activity::Send, charges.send, &mut self.observer);
        }
        self.total_messages += 1;
        self.total_bytes += bytes;
        let (from, sent) = (sender.rank, sender.clock);
        let mut request = Request::DONE;
        if !detached {
            let call = Call::Send { to, tag, bytes, context: comm.context() };
            request = Request::new(self.matching.receives().insert_with(|| RequestState::new(task, call)));
        }
        let send = request.number();
        let envelope = Envelope { context: comm.context(), source: comm.rank(), tag };
        let overhead = if detached { charges.receive } else { Time::ZERO };
        let announced = inbox.must_announce(sent, self.now);
        if !announced && let Some(receive) = self.matching.take_receive(to, envelope) {
            let status = Status { source: comm.rank(), tag, bytes };
            let posted = meet(&mut self.matching, to, receive, Met { status, from, send, sent }, overhead);
            let start = if eager { sent } else { sent.max(posted) };
            self.network.start(start, transfer(Cargo::Receive(receive), nodes, charges));
            if parcel.is_some() {
                self.hand_over(parcel, from, receive, to);
            }
        } else {
            let (arrived, receive, place, latency) = (Time::NEVER, NONE, Place::default(), charges.latency);
            let transfer = transfer(Cargo::Message(self.matching.messages().next()), nodes, charges);
            let number = self.matching.messages().insert_with(|| Message {
                from,
                to,
                envelope,
                bytes,
                sent,
                arrived,
                send,
                receive,
                overhead,
                latency,
                eager,
                parcel,
                in_place: false,
                place,
            });
            if parcel.is_some() && (eager || send == NONE) {
                self.take_data(number, parcel, from, style);
            }
            if eager {
                self.network.start(sent, transfer);
            }
            if announced {
                self.announce(to, number, sent);
            } else {
                self.keep(to, number);
            }
        }
        request
    }

    /// A message that meets no receive yet has data. What was just written of it is not read: it may still be on its way to the caches.
    #[inline(never)]
    fn take_data(&mut self, number: u32, parcel: Parcel, from: u32, style: Style) {
        if !(style == Style::InPlace && self.leave(number, parcel, from)) {
            self.keep_data(number, parcel, from);
        }
    }

    /// A message met no receive yet.
    #[inline]
    fn keep(&mut self, to: u32, message: u32) {
        self.matching.keep_message(to, message);
        let probing = std::mem::replace(&mut self.matching.beside_mut(to).probing, NONE);
        if probing != NONE {
            self.ready.push(probing);
            self.wake_also_probing(to);
        }
    }

    /// A message will come at its time.
    fn announce(&mut self, to: u32, message: u32, at: Time) {
        self.matching.beside_mut(to).announced += 1;
        self.agenda.push(at, Event::Arrive(message).slot());
    }

    /// An announced message has come.
    pub fn arrive(&mut self, message: u32) {
        let Message { to, envelope, .. } = *self.matching.message(message);
        self.matching.beside_mut(to).announced -= 1;
        match self.matching.take_receive(to, envelope) {
            Some(receive) => self.matched_late(message, receive),
            None => self.keep(to, message),
        }
    }

    /// Whether a rank must let the simulation catch up before it posts a receive.
    #[inline]
    pub fn must_catch_up(&self, task: u32, any_source: bool) -> bool {
        let task = &self.tasks[task as usize];
        let inbox = self.matching.beside(task.rank);
        task.clock > self.now && (any_source || inbox.any_source > 0 || inbox.announced > 0)
    }

    /// Posts a receive.
    #[inline(always)]
    pub fn receive(&mut self, task: u32, receiving: Receiving) -> Request {
        let Receiving { comm, source, tag, parcel } = receiving;
        let Task { rank, clock, .. } = self.tasks[task as usize];
        let pattern = Pattern::new(comm.context(), source, tag);
        let call = Call::Receive { pattern, posted: clock };
        let request = Request::new(self.matching.receives().insert_with(|| RequestState::with(task, call, parcel)));
        match source {
            None => self.matching.beside_mut(rank).any_source += 1,
            // Who receives from a rank mostly sends to it, too.
            Some(source) => {
                let source = self.groups.member(comm.context(), source);
                self.matching.prefetch(source);
                let (before, peer) = std::mem::replace(&mut self.peer, (task, source));
                if before == task {
                    self.prefetch_peer(task, peer, comm);
                }
            }
        }
        if let Some(message) = self.matching.take_message(rank, &pattern, clock) {
            self.matched_late(message, request.number());
            return request;
        }
        self.matching.post_receive(rank, request.number());
        if source.is_none() {
            self.announce_future_messages(rank);
        }
        request
    }

    /// Takes a receive back that no message has met; false if one has.
    pub fn cancel(&mut self, request: &Request) -> bool {
        if request.is_done_at_once() {
            return false;
        }
        let RequestState { task, call, met, done, .. } = *self.matching.receive(request.number());
        let Call::Receive { pattern, .. } = call else { return false };
        // One that was taken back before is done, and has met nobody.
        if met.from != NONE || done != Time::NEVER {
            return false;
        }
        let rank = self.tasks[task as usize].rank;
        if pattern.source().is_none() {
            self.matching.beside_mut(rank).any_source -= 1;
        }
        self.matching.withdraw_receive(rank, request.number());
        self.matching.receives()[request.number()].met.status = Status::CANCELLED;
        self.complete(request.number(), self.tasks[task as usize].clock);
        true
    }

    /// Takes the message that a probe at the task's clock sees, for [`State::receive_taken`].
    pub fn take_seen(&mut self, task: u32, pattern: &Pattern) -> Option<Taken> {
        let Task { rank, clock, .. } = self.tasks[task as usize];
        self.matching.see_message(rank, pattern, clock)?;
        self.matching.take_message(rank, pattern, clock).map(Taken)
    }

    /// Receives a message that was taken before.
    pub fn receive_taken(&mut self, task: u32, message: Taken, parcel: Parcel) -> Request {
        let Envelope { context, source, tag } = self.matching.message(message.0).envelope;
        let clock = self.tasks[task as usize].clock;
        let pattern = Pattern::new(context, Some(source), Some(tag));
        let call = Call::Receive { pattern, posted: clock };
        let request = Request::new(self.matching.receives().insert_with(|| RequestState::with(task, call, parcel)));
        self.matched_late(message.0, request.number());
        request
    }

    /// Messages that were posted ahead of time must from now on come at their time.
    fn announce_future_messages(&mut self, rank: u32) {
        for message in self.matching.take_future_messages(rank, self.now) {
            self.announce(rank, message, self.matching.message(message).sent);
        }
    }

    /// A message that was sent before has met a receive.
    fn matched_late(&mut self, number: u32, receive: u32) {
        let Message {
            from, to, envelope, bytes, sent, arrived, send, overhead, latency, eager, parcel, in_place, ..
        } = *self.matching.message(number);
        if parcel.is_some() {
            self.hand_over(parcel, from, receive, to);
        }
        if in_place {
            self.is_in_place_no_longer(number);
        }
        let status = Status { source: envelope.source, tag: envelope.tag, bytes };
        let posted = meet(&mut self.matching, to, receive, Met { status, from, send, sent }, overhead);
        if eager && arrived == Time::NEVER {
            self.matching.messages()[number].receive = receive;
            return;
        }
        self.matching.messages().remove(number);
        if eager {
            self.deliver(receive, arrived);
        } else {
            let nodes = (self.matching.beside(from).node, self.matching.beside(to).node);
            let charges = self.costs.of(bytes, nodes.0 == nodes.1);
            let transfer = transfer(Cargo::Receive(receive), nodes, charges);
            self.network.start(sent.max(posted), Transfer { latency, ..transfer });
        }
    }

    /// A message with data has met its receive.
    fn hand_over(&mut self, sent: Parcel, from: u32, receive: u32, to: u32) {
        if let Some(post) = &mut self.post {
            post.hand_over(sent, from, self.matching.receive(receive).parcel, to);
        }
    }

    /// The last byte of a message has come.
    #[inline]
    pub fn transfer_ended(&mut self, token: u32) {
        match Cargo::of(token) {
            Cargo::Receive(receive) => self.deliver(receive, self.now),
            Cargo::Message(number) => {
                let message = &mut self.matching.messages()[number];
                message.arrived = self.now;
                let receive = message.receive;
                if receive != NONE {
                    self.matching.messages().remove(number);
                    self.deliver(receive, self.now);
                }
            }
        }
    }

    /// The message that a receive has met is there.
    #[inline(always)]
    fn deliver(&mut self, receive: u32, arrived: Time) {
        let request = self.matching.receive(receive);
        let Met { status: Status { bytes, .. }, from, send, sent } = request.met;
        let (task, posted) = (request.task, request.posted());
        if let Some(observer) = &mut self.observer {
            let to = self.tasks[task as usize].rank;
            observer.delivered(Delivered { from, to, bytes, sent, arrived });
        }
        if send != NONE {
            self.complete(send, arrived);
        }
        self.complete(receive, arrived.max(posted));
    }

    #[inline]
    fn new_request(&mut self, task: u32, call: Call) -> Request {
        Request::new(self.matching.receives().insert(RequestState::new(task, call)))
    }

    /// A request for something that ends in the background.
    pub fn background_request(&mut self, task: u32, operation: &'static str) -> Request {
        self.new_request(task, Call::Background { operation })
    }

    /// A request is done at `at`, which may be ahead of the simulation.
    #[inline]
    pub fn complete(&mut self, request: u32, at: Time) {
        let request = &mut self.matching.receives()[request];
        request.done = at;
        if request.waited {
            let number = request.task;
            let task = &mut self.tasks[number as usize];
            if task.awaiting > 0 {
                task.awaiting -= 1;
                // Of several, one of which was enough, others may have been known to come.
                task.coming = task.coming.saturating_sub(u16::from(request.is_coming));
                if task.awaiting > 0 {
                    return;
                }
                match task.next {
                    Next::Anything => self.ready.push(number),
                    Next::Poll => {
                        let ends = at.max(task.clock) + request.overhead;
                        self.agenda.push(ends + self.price_of_probe(number), Event::Resume(number).slot());
                    }
                }
            }
        }
    }

    /// Whether the request is done, as far as the simulation has come.
    #[inline]
    pub fn is_done(&self, request: &Request) -> bool {
        request.is_done_at_once() || self.matching.receive(request.number()).done != Time::NEVER
    }

    /// The task waits until one of these requests, none of them done, is done.
    #[inline]
    pub fn await_one<'a>(&mut self, task: u32, requests: impl IntoIterator<Item = &'a Request>) {
        let number = task;
        let task = &mut self.tasks[task as usize];
        (task.awaiting, task.coming, task.ahead, task.next) = (1, 0, 0, Next::Anything);
        for request in requests {
            self.matching.receives()[request.number()].wait(number);
        }
    }

    /// The task waits until all of these requests are done; false if they are.
    #[inline]
    pub fn await_all<'a>(&mut self, task: u32, requests: impl IntoIterator<Item = &'a Request>, next: Next) -> bool {
        let (mut undone, mut coming) = (0, 0u16);
        for request in requests {
            if !self.is_done(request) {
                let request = &mut self.matching.receives()[request.number()];
                request.wait(task);
                undone += 1;
                coming = coming.saturating_add(u16::from(request.is_coming));
            }
        }
        if undone > 0 {
            let task = &mut self.tasks[task as usize];
            (task.awaiting, task.coming, task.ahead, task.next) = (undone, coming, 0, next);
        }
        undone > 0
    }

    /// The task no longer waits for this request.
    pub fn forget_wait(&mut self, request: &Request) {
        if !request.is_done_at_once() {
            self.matching.receives()[request.number()].waited = false;
        }
    }

    /// Ends a request that is done: the task's clock moves to its end and over the receiver's overhead.
    #[inline(always)]
    pub fn finish(&mut self, task: u32, request: Request) -> Status {
        if request.is_done_at_once() {
            return Status::default();
        }
        let RequestState { done, overhead, met: Met { status, .. }, .. } = *self.matching.receive(request.number());
        self.matching.receives().remove(request.number());
        let task = &mut self.tasks[task as usize];
        task.spend(Activity::Wait, done.since(task.clock), &mut self.observer);
        task.spend(Activity::Receive, overhead, &mut self.observer);
        status
    }

    /// Ends requests that are done, in the order in which they were.
    pub fn finish_all(&mut self, task: u32, requests: Vec<Request>) -> Vec<Status> {
        let mut statuses = vec![Status::default(); requests.len()];
        let with_time = |(index, request)| (self.done_at(&request), index, request);
        let mut requests: Vec<(Time, usize, Request)> = requests.into_iter().enumerate().map(with_time).collect();
        requests.sort_unstable_by_key(|&(done, index, _)| (done, index));
        for (_, index, request) in requests {
            statuses[index] = self.finish(task, request);
        }
        statuses
    }

    /// The program will know the request by its number.
    #[inline]
    pub fn hold(&mut self, request: &Request) -> u32 {
        self.matching.receives()[request.number()].held = true;
        request.number()
    }

    /// A request that the task's program knows by this number: a send, or a receive into this parcel.
    pub fn take_held(&mut self, task: u32, number: u32) -> Option<(Request, Option<Parcel>)> {
        let request = self.held(task, number)?;
        request.held = false;
        let received = request.received();
        Some((Request::new(number), received))
    }

    #[inline]
    fn held(&mut self, task: u32, number: u32) -> Option<&mut RequestState> {
        // Threads of a rank may wait for each other's requests.
        let is_of = |other: u32| other == task || self.tasks[other as usize].rank == self.tasks[task as usize].rank;
        self.matching.receives().get_mut(number).filter(|request| request.held && is_of(request.task))
    }

    /// The task waits until all of these requests are done; false if they are. None if one of them is not held, or is there twice
    /// when the task asks for the first time.
    #[inline]
    pub fn await_held(
        &mut self,
        task: u32,
        numbers: impl Iterator<Item = Option<u32>> + Clone,
        is_first: bool,
    ) -> Option<bool> {
        let (mut undone, mut coming) = (0, 0u16);
        for (place, number) in numbers.clone().enumerate() {
            match number.and_then(|number| self.held(task, number)) {
                Some(request) if request.done != Time::NEVER => {}
                Some(request) if !(request.waited && is_first) => {
                    request.wait(task);
                    undone += 1;
                    coming = coming.saturating_add(u16::from(request.is_coming));
                }
                _ => {
                    numbers.take(place).flatten().for_each(|number| self.forget_wait(&Request::new(number)));
                    return None;
                }
            }
        }
        if undone > 0 {
            self.soon.await_these(task, numbers.flatten());
            let task = &mut self.tasks[task as usize];
            (task.awaiting, task.coming, task.ahead, task.next) = (undone, coming, 0, Next::Anything);
        }
        Some(undone > 0)
    }

    /// Ends held requests that are done, in the order in which they were. One that is there a second time is not held any more, and
    /// left out.
    #[inline]
    pub fn end_held(&mut self, task: u32, numbers: impl Iterator<Item = (usize, u32)>, ended: &mut Vec<Ended>) {
        let mut done = std::mem::take(&mut self.scratch);
        done.extend(numbers.map(|(place, number)| (self.matching.receive(number).done, place, number)));
        if done.len() > 1 {
            done.sort_unstable_by_key(|&(done, place, _)| (done, place));
        }
        for &(_, place, number) in &done {
            if let Some(request) = self.held(task, number) {
                request.held = false;
                let received = request.received();
                let status = self.finish(task, Request::new(number));
                ended.push(Ended { place, status, received });
            }
        }
        done.clear();
        self.scratch = done;
    }

    /// What a request that is done has found.
    pub fn status(&self, request: &Request) -> Status {
        if request.is_done_at_once() { Status::default() } else { self.matching.receive(request.number()).met.status }
    }

    /// When the request was done.
    pub fn done_at(&self, request: &Request) -> Time {
        if request.is_done_at_once() { Time::ZERO } else { self.matching.receive(request.number()).done }
    }

    /// Whether the simulation has come to the task's clock; if not, it will resume the task when it has.
    pub fn catch_up(&mut self, task: u32) -> bool {
        let clock = self.tasks[task as usize].clock;
        if clock > self.now {
            self.agenda.push(clock, Event::Resume(task).slot());
        }
        self.tasks[task as usize].ahead = 0;
        clock <= self.now
    }

    /// The task waits until then.
    pub fn wait_until(&mut self, task: u32, until: Time) {
        let waited = until.since(self.tasks[task as usize].clock);
        self.spend(task, Activity::Wait, waited);
    }

    /// Ranks and calls of all requests that programs know by their numbers.
    pub fn all_held(&self) -> impl Iterator<Item = (u32, &Call)> {
        let held = self.matching.all_receives().filter(|(_, request)| request.held);
        held.map(|(_, request)| (self.tasks[request.task as usize].rank, &request.call))
    }

    /// All requests that are not ended.
    pub fn requests(&self) -> impl Iterator<Item = (u32, &RequestState)> {
        self.matching.all_receives()
    }

    /// The call that a request comes from.
    pub fn call(&self, request: u32) -> Call {
        self.matching.receive(request).call
    }

    /// Has something been planned for a time that nobody can tell? To be asked when nothing happens any more.
    pub fn is_too_long(&self) -> bool {
        let is_late = |task: &Task| task.clock == Time::NEVER;
        self.tasks.iter().any(is_late) || self.agenda.first().is_some() || !self.network.is_empty()
    }

    /// Messages that were sent and never received.
    pub fn unreceived(&self) -> u64 {
        self.matching.left_over().0
    }

    /// Messages of the program that nobody has received, by receiver.
    pub fn kept_messages(&self) -> impl Iterator<Item = Unreceived> {
        self.matching.all_kept().map(|(_, message)| {
            let Message { from, to, envelope, bytes, .. } = *message;
            Unreceived { from, to, tag: envelope.tag, bytes, channel: Channel::of(envelope.context) }
        })
    }
}

/// A receive has met a message; returns when it was posted.
#[inline]
fn meet(
    matching: &mut Matching<RequestState, Message, Inbox>,
    to: u32,
    receive: u32,
    met: Met,
    overhead: Time,
) -> Time {
    let request = &mut matching.receives()[receive];
    request.met = met;
    request.overhead = overhead;
    let (posted, any_source) = (request.posted(), request.any_source());
    if any_source {
        matching.beside_mut(to).any_source -= 1;
    }
    posted
}

#[inline]
fn transfer(cargo: Cargo, (from, to): (u32, u32), charges: &Charges) -> Transfer {
    let Charges { travelling: bytes, latency_factor, latency, bandwidth_factor, .. } = *charges;
    Transfer { from, to, bytes, latency_factor, latency, bandwidth_factor, token: cargo.token() }
}
