//! Links with the queues before them and the buffers behind them.

use std::collections::VecDeque;

use hpcast_engine::Slab;
use hpcast_engine::slab::NONE;
use hpcast_platform::machine::Machine;
use hpcast_platform::switching::Arbitration;
use hpcast_platform::topology::LinkId;
use hpcast_units::Time;

use super::Packet;
use super::route::{Hop, Routes};

/// All links.
#[derive(Debug)]
pub(super) struct Ports {
    ports: Vec<Port>,
    /// Those of channel c are `c * links..(c + 1) * links`: as many channels as were needed.
    channels: Vec<Channel>,
    arbitration: Arbitration,
}

#[derive(Clone, Copy, Debug)]
struct Port {
    /// Picoseconds a byte.
    pace: f64,
    latency: Time,
    /// When it has sent the last packet.
    free: Time,
    /// When its entry in the agenda is due; entries with other times are out of date.
    planned: Time,
    /// Packets in its queues.
    waiting: u32,
    /// The channel that had its turn last.
    turn: u32,
    /// Room in a buffer at its end.
    room: u32,
    sent: u64,
    bytes: f64,
}

/// A virtual channel of a link: the packets that wait for it, and the room in its buffer at the link's end.
#[derive(Clone, Debug)]
struct Channel {
    first: u32,
    last: u32,
    room: u32,
    /// Room that the port learns of later, in order of time.
    promised: VecDeque<(Time, u32)>,
}

impl Ports {
    pub fn new(machine: &Machine) -> Ports {
        let (interconnect, packets) = (&machine.interconnect, &machine.packets);
        let port = |id: LinkId| {
            let link = interconnect.link(id);
            Port {
                pace: 1e12 / link.bandwidth,
                latency: Time::from_secs(link.latency),
                free: Time::ZERO,
                planned: Time::NEVER,
                waiting: 0,
                turn: 0,
                room: packets.buffer_of(&link),
                sent: 0,
                bytes: 0.0,
            }
        };
        let ports = (0..interconnect.links()).map(port).collect();
        Ports { ports, channels: Vec::new(), arbitration: packets.arbitration }
    }

    pub fn channels(&self) -> u32 {
        (self.channels.len() / self.ports.len().max(1)) as u32
    }

    /// There are at least so many channels.
    pub fn provide(&mut self, channels: u32) {
        while self.channels() < channels && !self.ports.is_empty() {
            let empty = |port: &Port| Channel { first: NONE, last: NONE, room: port.room, promised: VecDeque::new() };
            self.channels.extend(self.ports.iter().map(empty));
        }
    }

    /// What links take together, and the bandwidth of the narrowest, in bytes per second.
    pub fn along(&self, links: &[LinkId]) -> (Time, f64) {
        let ports = links.iter().map(|&link| &self.ports[link as usize]);
        ports.fold((Time::ZERO, f64::INFINITY), |(latency, narrowest), port| {
            (latency + port.latency, narrowest.min(1e12 / port.pace))
        })
    }

    /// Packets that crossed links.
    pub fn sent(&self) -> u64 {
        self.ports.iter().map(|port| port.sent).sum()
    }

    pub fn link_bytes(&self) -> Vec<f64> {
        self.ports.iter().map(|port| port.bytes).collect()
    }

    /// Packets that wait for a link or are on it.
    #[inline]
    pub fn load(&self, link: LinkId, now: Time) -> u32 {
        let port = &self.ports[link as usize];
        port.waiting + (port.free > now) as u32
    }

    #[inline]
    pub fn waiting(&self, link: LinkId) -> u32 {
        self.ports[link as usize].waiting
    }

    #[cfg(test)]
    pub fn waiting_anywhere(&self) -> u32 {
        self.ports.iter().map(|port| port.waiting).sum()
    }

    #[inline]
    pub fn is_free(&self, link: LinkId, now: Time) -> bool {
        self.ports[link as usize].free <= now
    }

    #[inline]
    pub fn free_at(&self, link: LinkId) -> Time {
        self.ports[link as usize].free
    }

    #[inline]
    pub fn latency(&self, link: LinkId, haste: f32) -> Time {
        let latency = self.ports[link as usize].latency;
        if haste == 1.0 { latency } else { Time::from_ps((latency.as_ps() as f64 * f64::from(haste)) as u64) }
    }

    /// How long a packet takes on a link.
    #[inline]
    pub fn time_on(&self, link: LinkId, bytes: u32) -> Time {
        Time::from_ps((f64::from(bytes) * self.ports[link as usize].pace).round() as u64)
    }

    /// Wants an entry in the agenda for a time; whether there is none that is early enough.
    #[inline]
    pub fn plan(&mut self, link: LinkId, time: Time) -> bool {
        let port = &mut self.ports[link as usize];
        let is_new = time < port.planned;
        if is_new {
            port.planned = time;
        }
        is_new
    }

    /// Whether an entry of the agenda is the one that was wanted; it is used up.
    #[inline]
    pub fn is_planned(&mut self, link: LinkId, time: Time) -> bool {
        let port = &mut self.ports[link as usize];
        let is_planned = port.planned == time;
        if is_planned {
            port.planned = Time::NEVER;
        }
        is_planned
    }

    #[inline]
    fn channel(&mut self, hop: Hop) -> &mut Channel {
        let at = hop.channel as usize * self.ports.len() + hop.link as usize;
        &mut self.channels[at]
    }

    /// A packet waits for a link.
    #[inline]
    pub fn queue(&mut self, hop: Hop, number: u32, packets: &mut Slab<Packet>) {
        self.ports[hop.link as usize].waiting += 1;
        let oldest_first = self.arbitration == Arbitration::OldestFirst;
        let channel = self.channel(hop);
        packets[number].next = NONE;
        if channel.last == NONE {
            (channel.first, channel.last) = (number, number);
        } else if !oldest_first || packets[channel.last].age <= packets[number].age {
            packets[channel.last].next = number;
            channel.last = number;
        } else {
            channel.insert_by_age(number, packets);
        }
    }

    /// The packet whose turn it is, taken out of its queue: channels take turns, those without room apart.
    #[inline]
    pub fn next(&mut self, link: LinkId, now: Time, packets: &Slab<Packet>, routes: &Routes) -> Option<u32> {
        let channels = self.channels();
        let turn = self.ports[link as usize].turn;
        let most = self.ports[link as usize].room;
        for step in 1..=channels {
            let channel = if turn + step < channels { turn + step } else { turn + step - channels };
            let queue = self.channel(Hop { link, channel });
            if queue.first == NONE {
                continue;
            }
            let number = queue.first;
            let packet = &packets[number];
            // At its goal a packet is taken out of the network at once.
            let is_last = packet.hop as usize + 1 == routes.hops(packet.route).len();
            if is_last || queue.has_room(packet.bytes.min(most), now) {
                queue.first = packet.next;
                if queue.first == NONE {
                    queue.last = NONE;
                }
                let port = &mut self.ports[link as usize];
                port.turn = channel;
                port.waiting -= 1;
                return Some(number);
            }
        }
        None
    }

    /// When a port learns of room for packets that wait, as far as it is promised.
    pub fn next_room(&self, link: LinkId) -> Option<Time> {
        let queues = self.channels[link as usize..].iter().step_by(self.ports.len());
        let waiting = queues.filter(|queue| queue.first != NONE);
        waiting.filter_map(|queue| queue.promised.front().map(|&(time, _)| time)).min()
    }

    /// Sends a packet from now on; returns how long that takes.
    #[inline]
    pub fn occupy(&mut self, link: LinkId, now: Time, bytes: u32) -> Time {
        let takes = self.time_on(link, bytes);
        let port = &mut self.ports[link as usize];
        port.free = now + takes;
        port.sent += 1;
        port.bytes += f64::from(bytes);
        takes
    }

    /// A packet will need room at the end of a link.
    #[inline]
    pub fn take_room(&mut self, hop: Hop, bytes: u32) {
        let most = self.ports[hop.link as usize].room;
        self.channel(hop).room -= bytes.min(most);
    }

    /// A packet leaves the room, which the port before learns at `time`; whether somebody waits for it who was not told when.
    #[inline]
    pub fn give_room(&mut self, hop: Hop, bytes: u32, time: Time) -> bool {
        let most = self.ports[hop.link as usize].room;
        let channel = self.channel(hop);
        let promised = &mut channel.promised;
        promised.push_back((time, bytes.min(most)));
        // Packets leave over links of different speeds: hardly ever out of order.
        let mut at = promised.len() - 1;
        while at > 0 && promised[at - 1].0 > time {
            promised.swap(at - 1, at);
            at -= 1;
        }
        channel.first != NONE && self.ports[hop.link as usize].free <= time
    }
}

impl Channel {
    /// Whether the buffer has so much room, as far as the port knows.
    #[inline]
    fn has_room(&mut self, bytes: u32, now: Time) -> bool {
        while self.room < bytes {
            match self.promised.front() {
                Some(&(time, more)) if time <= now => {
                    self.room += more;
                    self.promised.pop_front();
                }
                _ => return false,
            }
        }
        true
    }

    /// Before the first that is younger; the last one is.
    fn insert_by_age(&mut self, number: u32, packets: &mut Slab<Packet>) {
        let age = packets[number].age;
        let (mut before, mut at) = (NONE, self.first);
        while packets[at].age <= age {
            (before, at) = (at, packets[at].next);
        }
        packets[number].next = at;
        match before {
            NONE => self.first = number,
            _ => packets[before].next = number,
        }
    }
}
