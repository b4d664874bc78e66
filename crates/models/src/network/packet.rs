//! `packet`: packets that wait in queues for links and for room in buffers.
//!
//! A message is cut into packets. Each goes along a way that was chosen when it entered the network (see
//! [`hpcast_platform::routing`]). At every place it waits in the output queue of its next link, still in the input buffer
//! that it came into, until the link is free, it is its turn, and the buffer at the link's other end has room for all of it.
//! Then it takes its bytes over the bandwidth on the link, and its head arrives a latency later, where it may go on at once
//! (virtual cut-through). When its tail has left a buffer, word of the room goes back over the link before, which takes that
//! link's latency (credits). Nothing is ever lost.
//!
//! A buffer belongs to a link and a virtual channel. Packets change to the next channel wherever the order of links
//! ([`hpcast_platform::topology::Topology::order`]) does not rise, so that pairs (channel, order) rise along every way and no
//! circle of packets waits for each other. As many channels exist as ways need. Buffers are not queues: a packet that must
//! wait holds nobody up who goes elsewhere (virtual output queues), and crossbars inside switches take no time beyond the
//! links' latency. So a network does as well here as its links and its routing allow.
//!
//! Sources: W. J. Dally and B. Towles, "Principles and practices of interconnection networks", 2004, chapters 13 to 17;
//! P. Kermani and L. Kleinrock, "Virtual cut-through", Computer Networks 3, 1979.

mod port;
mod room;
mod route;
mod source;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use hpcast_engine::Slab;
use hpcast_engine::agenda::Agenda;
use hpcast_engine::slab::NONE;
use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::Machine;
use hpcast_units::Time;

use super::demand::Router;
use super::routed::Draws;
use super::{Network, Timeline, Transfer};
use port::Ports;
use route::{Hop, Routes};
use source::Source;

/// The `packet` network.
pub struct PacketNetwork {
    machine: Rc<Machine>,
    /// Finds what messages ask of the network.
    router: Router,
    now: Time,
    agenda: Agenda,
    messages: Slab<Message>,
    packets: Slab<Packet>,
    routes: Routes,
    ports: Ports,
    /// One a node.
    sources: Vec<Source>,
    draws: Draws,
    path: Path,
    spare: Path,
    started: u64,
    /// What crossed each link when, if somebody watches.
    timeline: Option<Timeline>,
    /// What ended now: order of start, token.
    over: Vec<(u64, u32)>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
struct Message {
    order: u64,
    from: u32,
    to: u32,
    token: u32,
    /// Packets that have not entered the network, and those that have not arrived.
    outside: u32,
    missing: u32,
    /// Bytes of all packets but the last, and of the last.
    size: u32,
    last: u32,
    /// Its way, where all packets take the same; a use of its own.
    route: u32,
    /// Multiplies the latency of links.
    haste: f32,
    /// Time between the starts of two packets, at least.
    pace: Time,
    /// When the next packet may enter.
    ready: Time,
}

/// A packet under way, in one line of the cache: what is read most often needs nothing else.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Packet {
    message: u32,
    route: u32,
    /// The next link of its way, and the one it came over.
    next: Hop,
    before: Hop,
    /// How many links it has crossed.
    crossed: u32,
    /// Nothing is left of its way.
    is_home: bool,
    bytes: u32,
    /// As its message's.
    haste: f32,
    /// Behind it in the queue.
    behind: u32,
    /// By which queues are ordered where the oldest goes first.
    age: u64,
}

/// What the agenda holds: its kind in the upper bits, a number in the others.
#[derive(Clone, Copy)]
enum Event {
    /// The head of a packet comes to the end of a link; its tail, if it was the last.
    Arrival(u32),
    /// A port may send.
    Port(u32),
    /// A packet may enter at a node.
    Source(u32),
    /// A message starts, or ends inside its node.
    Message(u32),
}

/// Bits of the number: an agenda takes 28 in all.
const BITS: u32 = 26;

impl Event {
    #[inline]
    fn pack(self) -> u32 {
        let (kind, number) = match self {
            Event::Arrival(number) => (0, number),
            Event::Port(number) => (1, number),
            Event::Source(number) => (2, number),
            Event::Message(number) => (3, number),
        };
        assert!(number >> BITS == 0, "more than 2^26 packets or messages are under way at once");
        kind << BITS | number
    }

    #[inline]
    fn unpack(slot: u32) -> Event {
        let number = slot & ((1 << BITS) - 1);
        match slot >> BITS {
            0 => Event::Arrival(number),
            1 => Event::Port(number),
            2 => Event::Source(number),
            _ => Event::Message(number),
        }
    }
}

/// A machine that the model cannot number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the packet model takes networks of at most {} links, and this one has {links}: take --network flow", 1u32 << BITS)]
pub struct TooLarge {
    links: u32,
}

impl PacketNetwork {
    /// Whether the machine is small enough for the model, which numbers links and nodes in 26 bits.
    pub fn check(machine: &Machine) -> Result<(), TooLarge> {
        let links = machine.interconnect.links().max(machine.interconnect.topology().nodes());
        if links >> BITS == 0 { Ok(()) } else { Err(TooLarge { links }) }
    }

    /// An empty network of that machine, which must have passed [`PacketNetwork::check`]; the seed is for ways that are drawn.
    pub fn new(machine: Rc<Machine>, seed: u64) -> PacketNetwork {
        let nodes = machine.interconnect.topology().nodes();
        let mut agenda = Agenda::default();
        agenda.look_ahead();
        PacketNetwork {
            sources: Source::of_nodes(&machine),
            ports: Ports::new(&machine),
            router: Router::new(machine.clone()),
            machine,
            now: Time::ZERO,
            agenda,
            messages: Slab::default(),
            packets: Slab::default(),
            routes: Routes::default(),
            draws: Draws::new(seed, nodes),
            path: Path::default(),
            spare: Path::default(),
            started: 0,
            timeline: None,
            over: Vec::new(),
        }
    }

    /// The same with its links watched.
    pub fn watched(self) -> PacketNetwork {
        let timeline = Some(Timeline::new(self.machine.interconnect.links()));
        PacketNetwork { timeline, ..self }
    }

    /// Packets that crossed a link so far, over all links.
    pub fn hops(&self) -> u64 {
        self.ports.sent()
    }

    /// Virtual channels that were needed so far.
    pub fn channels(&self) -> u32 {
        self.ports.channels()
    }

    /// What comes next needs memory that is probably not in the caches: it is asked for while something else is done.
    #[inline]
    fn fetch_ahead(&self) {
        match self.agenda.ahead(1).map(|entry| Event::unpack(entry.slot())) {
            Some(Event::Arrival(packet)) => self.packets.prefetch(packet),
            Some(Event::Port(link)) => self.ports.prefetch(link),
            _ => {}
        }
        // Of the next event that memory is there by now: it says what else is needed.
        match self.agenda.first().map(|entry| Event::unpack(entry.slot())) {
            Some(Event::Arrival(packet)) => {
                let Packet { next, before, route, crossed, .. } = self.packets[packet];
                self.ports.prefetch(next.link);
                self.ports.prefetch(before.link);
                self.routes.prefetch(route, crossed);
            }
            Some(Event::Port(link)) => self.ports.prefetch_waiting(link, &self.packets),
            _ => {}
        }
    }

    #[inline]
    fn follow(&mut self, event: Event, time: Time) {
        match event {
            Event::Arrival(packet) => self.arrive(packet),
            Event::Port(link) => {
                if self.ports.is_planned(link, time) {
                    self.serve(link);
                }
            }
            Event::Source(node) => {
                if self.sources[node as usize].is_planned(time) {
                    self.inject(node);
                }
            }
            Event::Message(message) if self.messages[message].outside == 0 => self.end(message),
            Event::Message(message) => {
                let from = self.messages[message].from;
                self.sources[from as usize].messages.push_back(message);
                self.inject(from);
            }
        }
    }

    /// A packet's head has come to the end of a link, or its tail to the end of its way.
    #[inline]
    fn arrive(&mut self, number: u32) {
        let Packet { next: hop, is_home, .. } = self.packets[number];
        if is_home {
            return self.deliver(number);
        }
        self.ports.queue(hop, number, &mut self.packets);
        if self.ports.is_free(hop.link, self.now) {
            self.serve(hop.link);
        } else {
            self.plan_when_free(hop.link);
        }
    }

    fn deliver(&mut self, number: u32) {
        let Packet { message, route, .. } = self.packets[number];
        self.packets.remove(number);
        self.routes.leave(route);
        self.messages[message].missing -= 1;
        if self.messages[message].missing == 0 {
            self.end(message);
        }
    }

    fn end(&mut self, number: u32) {
        let Message { order, token, route, .. } = self.messages[number];
        self.over.push((order, token));
        if route != NONE {
            self.routes.leave(route);
        }
        self.messages.remove(number);
    }

    /// A port that is free sends, if a packet has its turn and room where it goes.
    fn serve(&mut self, link: u32) {
        if !self.ports.is_free(link, self.now) {
            return self.plan_when_free(link);
        }
        match self.ports.next(link, self.now, &self.packets) {
            Some(number) => self.send(link, number),
            None => {
                if let Some(time) = self.ports.next_room(link) {
                    self.plan_port(link, time);
                }
            }
        }
    }

    fn send(&mut self, link: u32, number: u32) {
        let packet = &mut self.packets[number];
        let Packet { route, bytes, haste, message, next: hop, before, crossed, .. } = *packet;
        packet.crossed += 1;
        packet.before = hop;
        packet.is_home = hop.is_last();
        let takes = self.ports.time_on(hop, bytes);
        let mut arrives = self.now + self.ports.latency(hop, haste);
        if packet.is_home {
            arrives += takes;
        } else {
            self.ports.take_room(hop, bytes);
            // No sooner than it can go on without waiting for its tail.
            let next = self.routes.hop(route, crossed + 1);
            packet.next = next;
            if next.kind != hop.kind || hop.kind == port::RARE {
                arrives += takes.saturating_sub(self.ports.time_on(next, bytes));
            }
        }
        self.agenda.push(arrives, Event::Arrival(number).pack());
        if let Some(timeline) = &mut self.timeline {
            timeline.add(link, self.now, self.now + takes, f64::from(bytes));
        }
        if self.ports.occupy(link, self.now + takes, bytes) {
            self.plan_when_free(link);
        }
        if crossed == 0 {
            return self.left(self.messages[message].from);
        }
        let back = self.now + takes + self.ports.latency(before, 1.0);
        if self.ports.give_room(before, bytes, self.now, back) {
            self.plan_port(before.link, back);
        }
    }

    fn plan_when_free(&mut self, link: u32) {
        self.plan_port(link, self.ports.free_at(link));
    }

    #[inline]
    fn plan_port(&mut self, link: u32, time: Time) {
        if self.ports.plan(link, time) {
            self.agenda.push(time, Event::Port(link).pack());
        }
    }
}

impl Network for PacketNetwork {
    fn start(&mut self, at: Time, transfer: Transfer) {
        let message = self.message(at, &transfer);
        let begins = message.ready;
        let number = self.messages.insert(message);
        self.agenda.push(begins, Event::Message(number).pack());
    }

    #[inline]
    fn next_event(&mut self) -> Time {
        self.agenda.next_time()
    }

    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    #[inline]
    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.now = now;
        while let Some(entry) = self.agenda.due(now) {
            self.agenda.pop();
            self.fetch_ahead();
            self.follow(Event::unpack(entry.slot()), entry.time());
        }
        self.over.sort_unstable();
        ended.extend(self.over.drain(..).map(|(_, token)| token));
    }

    fn link_bytes(&self) -> Vec<f64> {
        self.ports.link_bytes()
    }

    fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_ref()
    }
}
