//! A channel for tests: runs an algorithm on all ranks without a clock and records what it does.
//!
//! Messages match in order between two ranks. Every rank starts out knowing itself; a message carries what its sender
//! knew. So the record tells whether data can have reached where it must, and a run that stops tells of a deadlock.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::channel::Channel;

/// When a standard send completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// At once: the message is buffered.
    Eager,
    /// When the receiver has called.
    Rendezvous,
}

/// What an algorithm asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// To send so many bytes to a rank: S blocking, s non-blocking, Y synchronous.
    Send(char, u32, u64),
    /// To receive from a rank: R blocking, r non-blocking.
    Receive(char, u32),
    /// To wait for so many messages.
    Wait(usize),
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call::Send(kind, to, bytes) => write!(f, "{kind}{to}:{bytes}"),
            Call::Receive(kind, from) => write!(f, "{kind}{from}"),
            Call::Wait(number) => write!(f, "w{number}"),
        }
    }
}

/// What one rank did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Its calls, in order.
    pub calls: Vec<Call>,
    /// Bytes combined.
    pub combined: u64,
    /// The ranks whose start precedes this rank's end, one bit each.
    pub knows: u64,
}

impl Trace {
    /// Messages sent: peer and bytes.
    pub fn sent(&self) -> impl Iterator<Item = (u32, u64)> {
        self.calls.iter().filter_map(|call| match *call {
            Call::Send(_, to, bytes) => Some((to, bytes)),
            _ => None,
        })
    }
}

#[derive(Clone, Copy, Default)]
struct Request {
    done: bool,
    /// What the message carries to the receiver.
    knowledge: u64,
}

/// What waits between a sender and a receiver: messages or receives, never both.
#[derive(Default)]
struct Queue {
    messages: VecDeque<usize>,
    receives: VecDeque<usize>,
}

struct World {
    protocol: Protocol,
    traces: Vec<Trace>,
    requests: Vec<Request>,
    queues: BTreeMap<(u32, u32), Queue>,
    /// Counts messages started and met, to notice when nothing happens any more.
    steps: u64,
}

impl World {
    fn request(&mut self, request: Request) -> usize {
        self.steps += 1;
        self.requests.push(request);
        self.requests.len() - 1
    }

    fn send(&mut self, kind: char, from: u32, to: u32, bytes: u64) -> usize {
        assert!((to as usize) < self.traces.len(), "rank {from} sends to {to}");
        assert_ne!(from, to, "rank {from} sends to itself");
        let trace = &mut self.traces[from as usize];
        trace.calls.push(Call::Send(kind, to, bytes));
        let knowledge = trace.knows;
        let eager = self.protocol == Protocol::Eager && kind != 'Y';
        let sent = self.request(Request { done: eager, knowledge });
        let queue = self.queues.entry((from, to)).or_default();
        if let Some(received) = queue.receives.pop_front() {
            self.requests[received] = Request { done: true, knowledge };
            self.requests[sent].done = true;
        } else {
            queue.messages.push_back(sent);
        }
        sent
    }

    fn receive(&mut self, kind: char, me: u32, from: u32) -> usize {
        assert!((from as usize) < self.traces.len(), "rank {me} receives from {from}");
        self.traces[me as usize].calls.push(Call::Receive(kind, from));
        let received = self.request(Request::default());
        let queue = self.queues.entry((from, me)).or_default();
        if let Some(sent) = queue.messages.pop_front() {
            self.requests[sent].done = true;
            self.requests[received] = Request { done: true, knowledge: self.requests[sent].knowledge };
        } else {
            queue.receives.push_back(received);
        }
        received
    }
}

/// One rank's end of the recorded channel.
#[derive(Clone)]
pub struct Recorder {
    me: u32,
    count: u32,
    world: Rc<RefCell<World>>,
}

/// A recorded message.
pub struct Message {
    request: usize,
    incoming: bool,
}

impl Recorder {
    fn start_send(&self, kind: char, to: u32, bytes: u64) -> Message {
        Message { request: self.world.borrow_mut().send(kind, self.me, to, bytes), incoming: false }
    }

    fn start_receive(&self, kind: char, from: u32) -> Message {
        Message { request: self.world.borrow_mut().receive(kind, self.me, from), incoming: true }
    }

    fn note_wait(&self, number: usize) {
        if number > 0 {
            self.world.borrow_mut().traces[self.me as usize].calls.push(Call::Wait(number));
        }
    }

    async fn finish(&self, message: Message) {
        poll_fn(|_| {
            let mut world = self.world.borrow_mut();
            let Request { done, knowledge } = world.requests[message.request];
            if done && message.incoming {
                world.traces[self.me as usize].knows |= knowledge;
            }
            if done { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl Channel for Recorder {
    type Handle = Message;

    fn me(&self) -> u32 {
        self.me
    }
    fn count(&self) -> u32 {
        self.count
    }
    async fn send(&self, to: u32, bytes: u64) {
        self.finish(self.start_send('S', to, bytes)).await;
    }
    async fn send_synchronous(&self, to: u32, bytes: u64) {
        self.finish(self.start_send('Y', to, bytes)).await;
    }
    async fn recv(&self, from: u32) {
        self.finish(self.start_receive('R', from)).await;
    }
    /// As Open MPI's `ompi_coll_base_sendrecv`.
    async fn exchange(&self, to: u32, bytes: u64, from: u32) {
        let received = self.start_receive('r', from);
        self.finish(self.start_send('S', to, bytes)).await;
        self.wait(received).await;
    }
    async fn isend(&self, to: u32, bytes: u64) -> Message {
        self.start_send('s', to, bytes)
    }
    async fn irecv(&self, from: u32) -> Message {
        self.start_receive('r', from)
    }
    async fn wait_all(&self, handles: Vec<Message>) {
        self.note_wait(handles.len());
        for handle in handles {
            self.finish(handle).await;
        }
    }
    async fn wait(&self, handle: Message) {
        self.note_wait(1);
        self.finish(handle).await;
    }
    fn combine(&self, bytes: u64) {
        self.world.borrow_mut().traces[self.me as usize].combined += bytes;
    }
    fn copy(&self, _bytes: u64) {}
}

/// Runs `program` on `count` ranks (at most 64) and says what each did.
///
/// Panics if the ranks wait for each other for ever, or if messages or receives are left over.
pub fn record<F: Future<Output = ()>>(
    what: &str,
    protocol: Protocol,
    count: u32,
    program: impl Fn(Recorder) -> F,
) -> Vec<Trace> {
    let traces = (0..count).map(|rank| Trace { knows: 1 << rank, ..Trace::default() }).collect();
    let world =
        Rc::new(RefCell::new(World { protocol, traces, requests: Vec::new(), queues: BTreeMap::new(), steps: 0 }));
    let mut ranks: Vec<_> =
        (0..count).map(|me| Some(Box::pin(program(Recorder { me, count, world: Rc::clone(&world) })))).collect();
    let mut context = Context::from_waker(Waker::noop());
    while ranks.iter().any(Option::is_some) {
        let (before, running) = (world.borrow().steps, ranks.iter().flatten().count());
        for rank in &mut ranks {
            if rank.as_mut().is_some_and(|rank| pin!(rank).poll(&mut context).is_ready()) {
                *rank = None;
            }
        }
        let stuck = before == world.borrow().steps && running == ranks.iter().flatten().count();
        let waiting: Vec<usize> = (0..ranks.len()).filter(|&rank| ranks[rank].is_some()).collect();
        assert!(!stuck, "{what}, {protocol:?}, {count} ranks: ranks {waiting:?} wait for ever");
    }
    drop(ranks);
    let world = Rc::into_inner(world).expect("all ranks have ended").into_inner();
    for ((from, to), queue) in &world.queues {
        assert!(queue.messages.is_empty(), "{what}, {count} ranks: a message from {from} to {to} is never received");
        assert!(queue.receives.is_empty(), "{what}, {count} ranks: {to} waits for a message from {from}");
    }
    world.traces
}
