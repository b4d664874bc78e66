//! Links with the queues before them and the buffers behind them.

use std::collections::HashMap;

use hpcast_engine::slab::NONE;
use hpcast_engine::{Slab, prefetch};
use hpcast_platform::machine::Machine;
use hpcast_platform::switching::Arbitration;
use hpcast_platform::topology::LinkId;
use hpcast_units::Time;
use smallvec::SmallVec;

use super::Packet;
use super::route::Hop;

/// All links.
#[derive(Debug)]
pub(super) struct Ports {
    ports: Vec<Port>,
    /// What links can be; there are few.
    kinds: Vec<Kind>,
    /// What links can do for which there are no numbers left, in graphs where hardly two are alike.
    rare: HashMap<LinkId, Kind>,
    /// Those of a link follow one another: as many as were needed.
    channels: Vec<Channel>,
    /// How many a link has.
    width: usize,
    arbitration: Arbitration,
    /// Packets that crossed links.
    sent: u64,
}

/// The number of links that have a kind of their own, see [`Ports::rare`].
pub(super) const RARE: u16 = u16::MAX;

/// What a link can do.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// Picoseconds a byte.
    pace: f64,
    latency: Time,
    /// Room in a buffer at its end.
    room: u32,
}

#[derive(Clone, Copy, Debug)]
struct Port {
    /// When it has sent the last packet.
    free: Time,
    /// When its entry in the agenda is due; entries with other times are out of date.
    planned: Time,
    /// Bytes that crossed it.
    bytes: f64,
    /// Packets in its queues.
    waiting: u32,
    kind: u16,
    /// The channel that had its turn last.
    turn: u16,
}

/// A virtual channel of a link: the packets that wait for it, and the room in its buffer at the link's end. Mostly all in
/// one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Channel {
    first: u32,
    last: u32,
    room: u32,
    /// Room that the port learns of later, in order of time.
    promised: SmallVec<[(Time, u32); 2]>,
}

impl Channel {
    fn empty(room: u32) -> Channel {
        Channel { first: NONE, last: NONE, room, promised: SmallVec::new() }
    }
}

impl Ports {
    pub fn new(machine: &Machine) -> Ports {
        let (interconnect, packets) = (&machine.interconnect, &machine.packets);
        let mut numbers = HashMap::new();
        let (mut kinds, mut rare) = (Vec::new(), HashMap::new());
        let port = |id: LinkId| {
            let link = interconnect.link(id);
            let (pace, latency) = (1e12 / link.bandwidth, Time::from_secs(link.latency));
            let own = Kind { pace, latency, room: packets.buffer_of(&link) };
            let key = (link.bandwidth.to_bits(), link.latency.to_bits());
            let known = numbers.get(&key).copied();
            let kind = known.unwrap_or_else(|| u16::try_from(kinds.len()).unwrap_or(RARE));
            if kind == RARE {
                rare.insert(id, own);
            } else if known.is_none() {
                numbers.insert(key, kind);
                kinds.push(own);
            }
            Port { free: Time::ZERO, planned: Time::NEVER, bytes: 0.0, waiting: 0, kind, turn: 0 }
        };
        let ports = (0..interconnect.links()).map(port).collect();
        Ports { ports, kinds, rare, channels: Vec::new(), width: 0, arbitration: packets.arbitration, sent: 0 }
    }

    #[inline]
    fn what(&self, kind: u16, link: LinkId) -> &Kind {
        match self.kinds.get(usize::from(kind)) {
            Some(kind) => kind,
            None => &self.rare[&link],
        }
    }

    pub fn channels(&self) -> u32 {
        self.width as u32
    }

    /// Every link has at least so many channels.
    pub fn provide(&mut self, channels: u32) {
        if self.width >= channels as usize {
            return;
        }
        let mut old = std::mem::take(&mut self.channels).into_iter();
        for (link, port) in (0..).zip(&self.ports) {
            let room = self.what(port.kind, link).room;
            self.channels.extend(old.by_ref().take(self.width));
            self.channels.extend((self.width..channels as usize).map(|_| Channel::empty(room)));
        }
        self.width = channels as usize;
    }

    /// Asks for a link's memory.
    #[inline]
    pub fn prefetch(&self, link: LinkId) {
        prefetch(&self.ports[link as usize]);
        if let Some(channel) = self.channels.get(link as usize * self.width) {
            prefetch(channel);
        }
    }

    /// Asks for the memory of the packet that probably has its turn next.
    #[inline]
    pub fn prefetch_waiting(&self, link: LinkId, packets: &Slab<Packet>) {
        let channels = &self.channels[link as usize * self.width..][..self.width];
        for channel in channels.iter().filter(|channel| channel.first != NONE) {
            packets.prefetch(channel.first);
        }
    }

    #[inline]
    pub fn kind(&self, link: LinkId) -> u16 {
        self.ports[link as usize].kind
    }

    /// What links take together, and the bandwidth of the narrowest, in bytes per second.
    pub fn along(&self, links: &[LinkId]) -> (Time, f64) {
        let kinds = links.iter().map(|&link| self.what(self.kind(link), link));
        kinds.fold((Time::ZERO, f64::INFINITY), |(latency, narrowest), kind| {
            (latency + kind.latency, narrowest.min(1e12 / kind.pace))
        })
    }

    /// Packets that crossed links.
    pub fn sent(&self) -> u64 {
        self.sent
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
    pub fn latency(&self, hop: Hop, haste: f32) -> Time {
        let latency = self.what(hop.kind, hop.link).latency;
        if haste == 1.0 { latency } else { Time::from_ps((latency.as_ps() as f64 * f64::from(haste)) as u64) }
    }

    /// How long a packet takes on a link.
    #[inline]
    pub fn time_on(&self, hop: Hop, bytes: u32) -> Time {
        Time::from_ps((f64::from(bytes) * self.what(hop.kind, hop.link).pace + 0.5) as u64)
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
        &mut self.channels[hop.link as usize * self.width + hop.channel()]
    }

    /// A packet waits for a link.
    #[inline]
    pub fn queue(&mut self, hop: Hop, number: u32, packets: &mut Slab<Packet>) {
        self.ports[hop.link as usize].waiting += 1;
        let oldest_first = self.arbitration == Arbitration::OldestFirst;
        let channel = self.channel(hop);
        packets[number].behind = NONE;
        if channel.last == NONE {
            (channel.first, channel.last) = (number, number);
        } else if !oldest_first || packets[channel.last].age <= packets[number].age {
            packets[channel.last].behind = number;
            channel.last = number;
        } else {
            channel.insert_by_age(number, packets);
        }
    }

    /// The packet whose turn it is, taken out of its queue: channels take turns, those without room apart.
    #[inline]
    pub fn next(&mut self, link: LinkId, now: Time, packets: &Slab<Packet>) -> Option<u32> {
        let most = self.what(self.kind(link), link).room;
        let port = &mut self.ports[link as usize];
        let channels = &mut self.channels[link as usize * self.width..][..self.width];
        let mut at = usize::from(port.turn);
        for _ in 0..self.width {
            at = if at + 1 < channels.len() { at + 1 } else { 0 };
            let channel = &mut channels[at];
            if channel.first == NONE {
                continue;
            }
            let number = channel.first;
            let packet = &packets[number];
            // At its goal a packet is taken out of the network at once.
            if packet.next.is_last() || channel.has_room(packet.bytes.min(most), now) {
                channel.first = packet.behind;
                if channel.first == NONE {
                    channel.last = NONE;
                }
                port.turn = at as u16;
                port.waiting -= 1;
                return Some(number);
            }
        }
        None
    }

    /// When a port learns of room for packets that wait, as far as it is promised.
    pub fn next_room(&self, link: LinkId) -> Option<Time> {
        let channels = &self.channels[link as usize * self.width..][..self.width];
        let waiting = channels.iter().filter(|channel| channel.first != NONE);
        waiting.filter_map(|channel| channel.promised.first().map(|&(time, _)| time)).min()
    }

    /// Sends a packet from now on, which takes so long; whether others wait.
    #[inline]
    pub fn occupy(&mut self, link: LinkId, until: Time, bytes: u32) -> bool {
        self.sent += 1;
        let port = &mut self.ports[link as usize];
        port.free = until;
        port.bytes += f64::from(bytes);
        port.waiting > 0
    }

    /// A packet will need room at the end of a link.
    #[inline]
    pub fn take_room(&mut self, hop: Hop, bytes: u32) {
        let most = self.what(hop.kind, hop.link).room;
        self.channel(hop).room -= bytes.min(most);
    }

    /// A packet leaves the room, which the port before learns at `time`; whether somebody waits for it.
    #[inline]
    pub fn give_room(&mut self, hop: Hop, bytes: u32, now: Time, time: Time) -> bool {
        let most = self.what(hop.kind, hop.link).room;
        let channel = self.channel(hop);
        // What the port has learnt by now, so that promises stay few.
        channel.learn(now);
        // Packets leave over links of different speeds: hardly ever out of order.
        let earlier = channel.promised.iter().rposition(|&(before, _)| before <= time);
        channel.promised.insert(earlier.map_or(0, |at| at + 1), (time, bytes.min(most)));
        channel.first != NONE && self.ports[hop.link as usize].free <= time
    }
}

impl Channel {
    /// Whether the buffer has so much room, as far as the port knows.
    #[inline]
    fn has_room(&mut self, bytes: u32, now: Time) -> bool {
        if self.room < bytes {
            self.learn(now);
        }
        self.room >= bytes
    }

    /// Adds the room that the port knows of by now.
    #[inline]
    fn learn(&mut self, now: Time) {
        let known = self.promised.iter().take_while(|&&(time, _)| time <= now).count();
        self.room += self.promised.drain(..known).map(|(_, more)| more).sum::<u32>();
    }

    /// Before the first that is younger; the last one is.
    fn insert_by_age(&mut self, number: u32, packets: &mut Slab<Packet>) {
        let age = packets[number].age;
        let (mut before, mut at) = (NONE, self.first);
        while packets[at].age <= age {
            (before, at) = (at, packets[at].behind);
        }
        packets[number].behind = at;
        match before {
            NONE => self.first = number,
            _ => packets[before].behind = number,
        }
    }
}
