//! Where messages enter the network, packet by packet.

use std::collections::VecDeque;

use hpcast_engine::slab::NONE;
use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::Machine;
use hpcast_platform::routing::Choosing;
use hpcast_platform::topology::Vertex;
use hpcast_units::Time;

use super::route::Hop;
use super::{Event, Message, Packet, PacketNetwork};
use crate::network::Transfer;

/// The network interface of a node: messages take turns, a packet at a time.
#[derive(Debug)]
pub(super) struct Source {
    pub messages: VecDeque<u32>,
    /// Packets that have entered and wait for their first link; at most so many may.
    inside: u32,
    most: u32,
    /// When its entry in the agenda is due; entries with other times are out of date.
    planned: Time,
}

impl Source {
    /// One for each node: so many packets may wait for every link that leaves it.
    pub fn of_nodes(machine: &Machine) -> Vec<Source> {
        let topology = machine.interconnect.topology();
        let mut leaving = vec![0u32; topology.nodes() as usize];
        for id in 0..topology.links() {
            let (tail, head) = topology.ends(id);
            let ends = if topology.is_shared(id) { [Some(tail), Some(head)] } else { [Some(tail), None] };
            for end in ends.into_iter().flatten() {
                if let Vertex::Node(node) = end {
                    leaving[node as usize] += 1;
                }
            }
        }
        let source = |leaving: u32| {
            let most = leaving.max(1).saturating_mul(machine.packets.injection_of(leaving));
            Source { messages: VecDeque::new(), inside: 0, most, planned: Time::NEVER }
        };
        leaving.into_iter().map(source).collect()
    }

    /// Whether an entry of the agenda is the one that was wanted; it is used up.
    pub fn is_planned(&mut self, time: Time) -> bool {
        let is_planned = self.planned == time;
        if is_planned {
            self.planned = Time::NEVER;
        }
        is_planned
    }
}

impl PacketNetwork {
    /// What becomes of a transfer that is announced.
    pub(super) fn message(&mut self, at: Time, transfer: &Transfer) -> Message {
        let demand = self.router.route(transfer);
        let order = self.started;
        self.started += 1;
        let Transfer { from, to, bytes, token, .. } = *transfer;
        let mut message = Message {
            order,
            from,
            to,
            token,
            outside: 0,
            missing: 0,
            size: 0,
            last: 0,
            route: NONE,
            haste: 1.0,
            pace: Time::ZERO,
            ready: at,
        };
        // Bytes on the wire.
        let bytes = bytes as f64 / demand.efficiency;
        if self.router.there().is_empty() {
            // Inside a node nobody slows it down.
            message.ready += demand.latency + Time::from_secs(bytes / demand.bound);
            return message;
        }
        let mut path = std::mem::take(&mut self.path);
        self.machine.interconnect.path(from, to, &mut path);
        // A message that takes longer than its links spends the rest before it enters; one that takes less is in haste.
        let (links, narrowest) = self.ports.along(&path.links);
        message.ready += demand.latency.saturating_sub(links);
        if demand.latency < links {
            message.haste = (demand.latency.as_secs() / links.as_secs()) as f32;
        }
        let size = f64::from(self.machine.packets.size);
        let packets = (bytes / size).ceil().max(1.0);
        (message.outside, message.missing) = (packets as u32, packets as u32);
        (message.size, message.last) = (size as u32, (bytes - (packets - 1.0) * size).round() as u32);
        if demand.bound < narrowest * (1.0 - 1e-9) {
            message.pace = Time::from_secs(size / demand.bound);
        }
        if self.machine.interconnect.routing().is_fixed() {
            message.route = self.enter(&path);
        }
        self.path = path;
        message
    }

    fn enter(&mut self, path: &Path) -> u32 {
        let (route, channels) =
            self.routes.enter(path, self.machine.interconnect.topology(), |link| self.ports.kind(link));
        self.ports.provide(channels);
        route
    }

    /// A packet has left its source.
    pub(super) fn left(&mut self, node: u32) {
        self.sources[node as usize].inside -= 1;
        // Not at once: the port that has sent is still being looked at.
        if !self.sources[node as usize].messages.is_empty() {
            self.plan_source(node, self.now);
        }
    }

    /// Lets packets in, as long as there is room.
    pub(super) fn inject(&mut self, node: u32) {
        let mut paced = 0;
        loop {
            let source = &mut self.sources[node as usize];
            if source.inside >= source.most || paced == source.messages.len() {
                break;
            }
            let Some(number) = source.messages.pop_front() else { return };
            if self.messages[number].ready > self.now {
                source.messages.push_back(number);
                paced += 1;
                continue;
            }
            source.inside += 1;
            paced = 0;
            let message = &mut self.messages[number];
            message.outside -= 1;
            message.ready = self.now + message.pace;
            if message.outside > 0 {
                source.messages.push_back(number);
            }
            self.let_in(number);
        }
        let source = &self.sources[node as usize];
        if source.inside < source.most {
            let ready = source.messages.iter().map(|&number| self.messages[number].ready).min();
            ready.into_iter().for_each(|ready| self.plan_source(node, ready));
        }
    }

    fn let_in(&mut self, number: u32) {
        let message = self.messages[number];
        let route = match message.route {
            NONE => self.choose(&message),
            shared => {
                self.routes.join(shared);
                shared
            }
        };
        let bytes = if message.outside == 0 { message.last } else { message.size };
        let age = self.now.as_ps();
        let packet = self.packets.insert(Packet {
            message: number,
            route,
            next: self.routes.hop(route, 0),
            before: Hop::default(),
            crossed: 0,
            is_home: false,
            bytes,
            haste: message.haste,
            behind: NONE,
            age,
        });
        self.arrive(packet);
    }

    /// The way of a packet, by what waits now.
    fn choose(&mut self, message: &Message) -> u32 {
        let Message { from, to, .. } = *message;
        let (mut path, mut spare) = (std::mem::take(&mut self.path), std::mem::take(&mut self.spare));
        let load = |link| self.ports.load(link, self.now);
        let choosing = Choosing { from, to, draw: self.draws.next(from), load: &load };
        self.machine.interconnect.choose(choosing, &mut path, &mut spare);
        let route = self.enter(&path);
        (self.path, self.spare) = (path, spare);
        route
    }

    fn plan_source(&mut self, node: u32, time: Time) {
        let source = &mut self.sources[node as usize];
        if time < source.planned {
            source.planned = time;
            self.agenda.push(time, Event::Source(node).pack());
        }
    }
}
