//! The state of a simulation: ranks' clocks, messages, requests, and what happens when an operation is posted.
//!
//! **Ranks run ahead.** A rank's clock may be later than the simulation's: computing and overheads only move the
//! rank's own clock, and what it posts carries that time. This is exact, because a named receive meets the same
//! message in whatever order the two were posted, and the network starts every transfer at its own time. Only where
//! time decides which message is met (receives from any source, probes, tests) does the rank first wait until the
//! simulation has caught up with it. It saves an event for every computation, send and receive.

use hpcast_engine::EventQueue;
use hpcast_engine::slab::NONE;
use hpcast_models::network::{Network, Transfer};
use hpcast_platform::Machine;
use hpcast_platform::placement::Placement;
use hpcast_units::Time;

use crate::costs::{Charges, Costs};
use crate::group::{Comm, Groups};
use crate::matching::{Envelope, Listed, Matching, Pattern, Place};
use crate::observer::{Activity, Delivered, Observer};
use crate::request::{Call, Request, RequestState, Status};

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The simulation has caught up with a task.
    Resume(u32),
    /// A message reaches a rank that has to look at messages in the order of time.
    Arrive(u32),
}

/// How a send behaves towards its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The library decides by size (MPI_Send).
    Standard,
    /// Ends when the receiver takes the message (MPI_Ssend).
    Synchronous,
    /// Ends at once (MPI_Bsend).
    Buffered,
    /// The receive is there already (MPI_Rsend): treated as a standard send.
    Ready,
}

/// A send, as a program asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub comm: Comm,
    /// Rank in the communicator.
    pub to: u32,
    pub tag: i32,
    pub bytes: u64,
    pub mode: Mode,
}

/// Which of the sender's overheads is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// That of a call which waits until its buffer is free.
    Blocking,
    /// That of a call which returns at once.
    Nonblocking,
}

/// Time spent by activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    times: [Time; 4],
}

impl Spent {
    /// Time spent on one activity.
    pub fn on(&self, activity: Activity) -> Time {
        self.times[activity as usize]
    }
}

/// What runs: a rank, or a collective operation in its background.
pub(crate) struct Task {
    pub clock: Time,
    pub rank: u32,
    pub node: u32,
    /// How many of the requests it waits for are not done.
    awaiting: u32,
    /// Unsuccessful polls in a row.
    pub polls: u32,
    /// Sends since the task last waited or caught up: a rank may not run ahead for ever.
    pub ahead: u32,
    pub spent: Spent,
}

/// A message between its send and its delivery.
#[derive(Clone, Copy)]
struct Message {
    from: u32,
    to: u32,
    envelope: Envelope,
    bytes: u64,
    sent: Time,
    arrived: Time,
    /// The sender's request, if it waits for the transfer.
    send: u32,
    /// The receive that it met.
    receive: u32,
    /// What the receiver pays for taking it out of a buffer.
    overhead: Time,
    /// Leaves without waiting for the receiver.
    eager: bool,
    place: Place,
}

impl Listed for Message {
    #[inline]
    fn place(&self) -> &Place {
        &self.place
    }
    #[inline]
    fn place_mut(&mut self) -> &mut Place {
        &mut self.place
    }
    #[inline]
    fn exact(&self) -> Option<Envelope> {
        Some(self.envelope)
    }
}

impl crate::matching::Message for Message {
    #[inline]
    fn envelope(&self) -> Envelope {
        self.envelope
    }
    #[inline]
    fn since(&self) -> Time {
        self.sent
    }
}

/// What a rank has to know to keep messages in the order of time.
#[derive(Clone, Copy, Default)]
struct Inbox {
    /// Posted receives from any source.
    any_source: u32,
    /// Messages announced by an event that has not come yet.
    announced: u32,
    /// The task that waits in a probe.
    probing: Option<u32>,
}

pub(crate) struct State {
    pub now: Time,
    pub nodes: Placement,
    pub network: Box<dyn Network>,
    pub queue: EventQueue<Event>,
    pub tasks: Vec<Task>,
    /// Numbers of background tasks that have ended.
    pub free_tasks: Vec<u32>,
    /// Tasks whose wait is over, to be resumed in this order.
    pub ready: Vec<u32>,
    pub groups: Groups,
    pub costs: Costs,
    /// Requests and messages, and which meets which.
    matching: Matching<RequestState, Message>,
    inboxes: Vec<Inbox>,
    pub observer: Option<Box<dyn Observer>>,
    pub total_messages: u64,
    pub total_bytes: u64,
    /// Unsuccessful polls in a row of all ranks together (SMPI's quirk).
    pub polls: u32,
}

impl State {
    pub fn new(ranks: u32, machine: &Machine, nodes: Placement, network: Box<dyn Network>) -> State {
        let tasks = (0..ranks).map(|rank| Task::new(rank, nodes.node(rank))).collect();
        State {
            now: Time::ZERO,
            nodes,
            network,
            queue: EventQueue::new(),
            tasks,
            free_tasks: Vec::new(),
            ready: Vec::new(),
            groups: Groups::new(),
            costs: Costs::new(machine.mpi.clone()),
            matching: Matching::new(ranks),
            inboxes: vec![Inbox::default(); ranks as usize],
            observer: None,
            total_messages: 0,
            total_bytes: 0,
            polls: 0,
        }
    }

    /// Moves a task's clock on.
    #[inline]
    pub fn spend(&mut self, task: u32, activity: Activity, length: Time) {
        if length == Time::ZERO {
            return;
        }
        let task = &mut self.tasks[task as usize];
        let from = task.clock;
        task.clock += length;
        task.spent.times[activity as usize] += length;
        if let Some(observer) = &mut self.observer {
            observer.spent(task.rank, activity, from, task.clock);
        }
    }

    /// Posts a send; the request is done at once where the sender need not wait.
    pub fn send(&mut self, task: u32, sending: Sending, style: Style) -> Request {
        let Sending { comm, to, tag, bytes, mode } = sending;
        let Task { rank: from, node, .. } = self.tasks[task as usize];
        let to = self.groups.world_rank(comm, to);
        let nodes = (node, self.nodes.node(to));
        let charges = self.costs.of(bytes, nodes.0 == nodes.1);
        let parameters = self.costs.parameters();
        let synchronous = mode == Mode::Synchronous;
        let detached = mode == Mode::Buffered || !synchronous && bytes < parameters.detached_below;
        let eager = !synchronous && bytes < parameters.eager_below;
        if style == Style::Nonblocking {
            self.spend(task, Activity::Send, charges.isend);
        } else if detached || synchronous {
            self.spend(task, Activity::Send, charges.send);
        }
        let sent = self.tasks[task as usize].clock;
        let request = if detached { Request::DONE } else { self.new_request(task, Call::Send { to, tag, bytes }) };
        let envelope = Envelope { context: comm.context(), source: comm.rank(), tag };
        let message = self.matching.messages().insert(Message {
            from,
            to,
            envelope,
            bytes,
            sent,
            arrived: Time::NEVER,
            send: request.number(),
            receive: NONE,
            overhead: if detached { charges.receive } else { Time::ZERO },
            eager,
            place: Place::default(),
        });
        self.total_messages += 1;
        self.total_bytes += bytes;
        self.tasks[task as usize].ahead += 1;
        if eager {
            self.start_transfer(message, sent, bytes, nodes, charges);
        }
        let inbox = &mut self.inboxes[to as usize];
        if inbox.announced > 0 || sent > self.now && (inbox.any_source > 0 || inbox.probing.is_some()) {
            inbox.announced += 1;
            self.queue.push(sent, Event::Arrive(message));
        } else {
            self.meet_receive(message);
        }
        request
    }

    /// An announced message has come.
    pub fn arrive(&mut self, message: u32) {
        self.inboxes[self.matching.message(message).to as usize].announced -= 1;
        self.meet_receive(message);
    }

    #[inline]
    fn meet_receive(&mut self, number: u32) {
        let Message { to, envelope, .. } = *self.matching.message(number);
        if let Some(receive) = self.matching.take_receive(to, envelope) {
            if self.matching.receive(receive).any_source() {
                self.inboxes[to as usize].any_source -= 1;
            }
            return self.matched(number, receive);
        }
        self.matching.keep_message(to, number);
        self.ready.extend(self.inboxes[to as usize].probing.take());
    }

    /// Whether a rank must let the simulation catch up before it posts a receive.
    #[inline]
    pub fn must_catch_up(&self, task: u32, any_source: bool) -> bool {
        let task = &self.tasks[task as usize];
        let inbox = self.inboxes[task.rank as usize];
        task.clock > self.now && (any_source || inbox.any_source > 0 || inbox.announced > 0)
    }

    /// Posts a receive.
    pub fn receive(&mut self, task: u32, comm: Comm, source: Option<u32>, tag: Option<i32>) -> Request {
        let Task { rank, clock, .. } = self.tasks[task as usize];
        let pattern = Pattern { context: comm.context(), source, tag };
        let request = self.new_request(task, Call::Receive { pattern, posted: clock });
        if let Some(message) = self.matching.take_message(rank, &pattern, clock) {
            self.matched(message, request.number());
            return request;
        }
        self.matching.post_receive(rank, request.number());
        if source.is_none() {
            self.inboxes[rank as usize].any_source += 1;
            self.announce_future_messages(rank);
        }
        request
    }

    /// Messages that were posted ahead of time must from now on come at their time.
    fn announce_future_messages(&mut self, rank: u32) {
        for message in self.matching.take_future_messages(rank, self.now) {
            let at = self.matching.message(message).sent;
            self.inboxes[rank as usize].announced += 1;
            self.queue.push(at, Event::Arrive(message));
        }
    }

    /// What a probe sees now: source in the communicator, tag and bytes.
    pub fn probe(&self, task: u32, comm: Comm, source: Option<u32>, tag: Option<i32>) -> Option<Status> {
        let rank = self.tasks[task as usize].rank;
        let pattern = Pattern { context: comm.context(), source, tag };
        let message = self.matching.message(self.matching.see_message(rank, &pattern, self.now)?);
        Some(Status { source: message.envelope.source, tag: message.envelope.tag, bytes: message.bytes })
    }

    /// The task will be resumed when the next message comes.
    pub fn wait_for_message(&mut self, task: u32) {
        let rank = self.tasks[task as usize].rank;
        self.inboxes[rank as usize].probing = Some(task);
        self.announce_future_messages(rank);
    }

    /// A message and a receive have met.
    #[inline]
    fn matched(&mut self, number: u32, receive: u32) {
        let message = &mut self.matching.messages()[number];
        message.receive = receive;
        let Message { from, to, envelope: Envelope { source, tag, .. }, bytes, sent, arrived, overhead, eager, .. } =
            *message;
        let request = &mut self.matching.receives()[receive];
        request.status = Status { source, tag, bytes };
        request.overhead = overhead;
        if !eager {
            let start = sent.max(request.posted());
            let nodes = (self.nodes.node(from), self.nodes.node(to));
            let charges = self.costs.of(bytes, nodes.0 == nodes.1);
            self.start_transfer(number, start, bytes, nodes, charges);
        } else if arrived != Time::NEVER {
            self.deliver(number);
        }
    }

    #[inline]
    fn start_transfer(&mut self, message: u32, at: Time, bytes: u64, (from, to): (u32, u32), charges: Charges) {
        let transfer = Transfer {
            from,
            to,
            bytes: bytes + self.costs.parameters().envelope,
            latency_factor: charges.latency_factor,
            bandwidth_factor: charges.bandwidth_factor,
            token: message,
        };
        self.network.start(at, transfer);
    }

    /// The last byte of a message has come.
    #[inline]
    pub fn transfer_ended(&mut self, number: u32) {
        let message = &mut self.matching.messages()[number];
        message.arrived = self.now;
        let (send, receive) = (message.send, message.receive);
        if send != NONE {
            self.complete(send, self.now);
        }
        if receive != NONE {
            self.deliver(number);
        }
    }

    fn deliver(&mut self, number: u32) {
        let Message { from, to, bytes, sent, arrived, receive, .. } = *self.matching.message(number);
        self.matching.messages().remove(number);
        if let Some(observer) = &mut self.observer {
            observer.delivered(Delivered { from, to, bytes, sent, arrived });
        }
        let posted = self.matching.receive(receive).posted();
        self.complete(receive, arrived.max(posted));
    }

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
            let task = &mut self.tasks[request.task as usize];
            if task.awaiting > 0 {
                task.awaiting -= 1;
                if task.awaiting == 0 {
                    self.ready.push(request.task);
                }
            }
        }
    }

    /// Whether the request is done, as far as the simulation has come.
    #[inline]
    pub fn is_done(&self, request: &Request) -> bool {
        request.is_done_at_once() || self.matching.receive(request.number()).done != Time::NEVER
    }

    /// The task waits until `needed` of these requests, none of them done, are done.
    #[inline]
    pub fn await_requests<'a>(&mut self, task: u32, needed: u32, requests: impl Iterator<Item = &'a Request>) {
        self.tasks[task as usize].awaiting = needed;
        self.tasks[task as usize].ahead = 0;
        for request in requests {
            self.matching.receives()[request.number()].waited = true;
        }
    }

    /// The task no longer waits for this request.
    pub fn forget_wait(&mut self, request: &Request) {
        if !request.is_done_at_once() {
            self.matching.receives()[request.number()].waited = false;
        }
    }

    /// Ends a request that is done: the task's clock moves to its end and over the receiver's overhead.
    #[inline]
    pub fn finish(&mut self, task: u32, request: Request) -> Status {
        if request.is_done_at_once() {
            return Status::default();
        }
        let RequestState { done, overhead, status, .. } = *self.matching.receive(request.number());
        self.matching.receives().remove(request.number());
        let clock = self.tasks[task as usize].clock;
        self.spend(task, Activity::Wait, done.since(clock));
        self.spend(task, Activity::Receive, overhead);
        status
    }

    /// When the request was done.
    pub fn done_at(&self, request: &Request) -> Time {
        if request.is_done_at_once() { Time::ZERO } else { self.matching.receive(request.number()).done }
    }

    /// Whether the simulation has come to the task's clock; if not, it will resume the task when it has.
    pub fn catch_up(&mut self, task: u32) -> bool {
        let clock = self.tasks[task as usize].clock;
        if clock > self.now {
            self.queue.push(clock, Event::Resume(task));
        }
        self.tasks[task as usize].ahead = 0;
        clock <= self.now
    }

    /// Counts unsuccessful polls in a row.
    pub fn polled(&mut self, task: u32, successful: bool) {
        for polls in [&mut self.tasks[task as usize].polls, &mut self.polls] {
            *polls = if successful { 0 } else { *polls + 1 };
        }
    }

    /// All requests that are not ended.
    pub fn requests(&self) -> impl Iterator<Item = (u32, &RequestState)> {
        self.matching.all_receives()
    }

    /// Ranks that wait in a probe.
    pub fn probing(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.inboxes).filter(|(_, inbox)| inbox.probing.is_some()).map(|(rank, _)| rank)
    }

    /// Messages that were sent and never received.
    pub fn unreceived(&self) -> u64 {
        self.matching.left_over().0
    }
}

impl Task {
    pub fn new(rank: u32, node: u32) -> Task {
        Task { clock: Time::ZERO, rank, node, awaiting: 0, polls: 0, ahead: 0, spent: Spent::default() }
    }
}
