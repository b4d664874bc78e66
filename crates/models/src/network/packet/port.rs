//! Links with the queues before them and the buffers behind them.

use std::collections::HashMap;

use hpcast_engine::slab::NONE;
use hpcast_engine::{Slab, prefetch};
use hpcast_platform::machine::Machine;
use hpcast_platform::switching::Arbitration;
use hpcast_platform::topology::LinkId;
use hpcast_units::Time;

use super::Packet;
use super::room::{Others, Room};
use super::route::Hop;

/// All links.
pub(super) struct Ports {
    ports: Vec<Port>,
    /// What links can be; there are few.
    kinds: Vec<Kind>,
    /// What links can do for which there are no numbers left, in graphs where hardly two are alike.
    rare: HashMap<LinkId, Kind>,
    /// Channels beyond a link's first: those of a link follow one another, as many as were needed.
    further: Vec<Channel>,
    /// How many channels a link has.
    width: usize,
    /// Promises that channels have no place for.
    promises: Others,
    /// Bytes that crossed each link.
    bytes: Vec<f64>,
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

/// A link and its first channel, in one line of the cache: of large networks, memory decides how fast they are simulated.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Port {
    /// When it has sent the last packet.
    free: Time,
    /// When its entry in the agenda is due; entries with other times are out of date.
    planned: Time,
    /// Packets in its queues.
    waiting: u32,
    kind: u16,
    /// The channel that had its turn last.
    turn: u16,
    channel: Channel,
}

const _: () = assert!(size_of::<Port>() == 64);

/// A virtual channel of a link: the packets that wait for it, and the room in its buffer at the link's end.
#[derive(Clone, Copy, Debug)]
struct Channel {
    first: u32,
    last: u32,
    room: Room,
}

impl Channel {
    fn empty(room: u32) -> Channel {
        Channel { first: NONE, last: NONE, room: Room::new(room) }
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
            let channel = Channel::empty(own.room);
            Port { free: Time::ZERO, planned: Time::NEVER, waiting: 0, kind, turn: 0, channel }
        };
        let ports = (0..interconnect.links()).map(port).collect();
        Ports {
            ports,
            kinds,
            rare,
            further: Vec::new(),
            width: 1,
            promises: Others::default(),
            bytes: vec![0.0; interconnect.links() as usize],
            arbitration: packets.arbitration,
            sent: 0,
        }
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
        let mut old = std::mem::take(&mut self.further).into_iter();
        for (link, port) in (0..).zip(&self.ports) {
            let room = self.what(port.kind, link).room;
            self.further.extend(old.by_ref().take(self.width - 1));
            self.further.extend((self.width..channels as usize).map(|_| Channel::empty(room)));
        }
        self.width = channels as usize;
    }

    /// Asks for a link's memory.
    #[inline]
    pub fn prefetch(&self, link: LinkId) {
        prefetch(&self.ports[link as usize]);
        if let Some(channel) = self.further.get(link as usize * (self.width - 1)) {
            prefetch(channel);
        }
    }

    /// Asks for the memory of the packet that probably has its turn next.
    #[inline]
    pub fn prefetch_waiting(&self, link: LinkId, packets: &Slab<Packet>) {
        for channel in self.channels_of(link).filter(|channel| channel.first != NONE) {
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
        self.bytes.clone()
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

    fn channels_of(&self, link: LinkId) -> impl Iterator<Item = &Channel> {
        let further = self.width - 1;
        let port = &self.ports[link as usize];
        std::iter::once(&port.channel).chain(&self.further[link as usize * further..][..further])
    }

    /// A packet waits for a link.
    #[inline]
    pub fn queue(&mut self, hop: Hop, number: u32, packets: &mut Slab<Packet>) {
        self.ports[hop.link as usize].waiting += 1;
        let oldest_first = self.arbitration == Arbitration::OldestFirst;
        let channel = channel(&mut self.ports, &mut self.further, self.width, hop);
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
        let further = &mut self.further[link as usize * (self.width - 1)..];
        let mut at = usize::from(port.turn);
        for _ in 0..self.width {
            at = if at + 1 < self.width { at + 1 } else { 0 };
            let channel = if at == 0 { &mut port.channel } else { &mut further[at - 1] };
            if channel.first == NONE {
                continue;
            }
            let number = channel.first;
            let packet = &packets[number];
            // At its goal a packet is taken out of the network at once.
            if packet.next.is_last() || channel.room.is_enough(packet.bytes.min(most), now, &mut self.promises) {
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
        let waiting = self.channels_of(link).filter(|channel| channel.first != NONE);
        waiting.filter_map(|channel| channel.room.next()).min()
    }

    /// Sends a packet from now on, which takes so long; whether others wait.
    #[inline]
    pub fn occupy(&mut self, link: LinkId, until: Time, bytes: u32) -> bool {
        self.sent += 1;
        self.bytes[link as usize] += f64::from(bytes);
        let port = &mut self.ports[link as usize];
        port.free = until;
        port.waiting > 0
    }

    /// A packet will need room at the end of a link.
    #[inline]
    pub fn take_room(&mut self, hop: Hop, bytes: u32) {
        let most = self.what(hop.kind, hop.link).room;
        channel(&mut self.ports, &mut self.further, self.width, hop).room.take(bytes.min(most));
    }

    /// A packet leaves the room, which the port before learns at `time`; whether somebody waits for it.
    #[inline]
    pub fn give_room(&mut self, hop: Hop, bytes: u32, now: Time, time: Time) -> bool {
        let most = self.what(hop.kind, hop.link).room;
        let channel = channel(&mut self.ports, &mut self.further, self.width, hop);
        // What the port has learnt by now, so that promises stay few.
        channel.room.learn(now, &mut self.promises);
        channel.room.promise(time, bytes.min(most), &mut self.promises);
        channel.first != NONE && self.ports[hop.link as usize].free <= time
    }
}

/// The channel that a hop leads to.
#[inline]
fn channel<'c>(ports: &'c mut [Port], further: &'c mut [Channel], width: usize, hop: Hop) -> &'c mut Channel {
    match hop.channel() {
        0 => &mut ports[hop.link as usize].channel,
        number => &mut further[hop.link as usize * (width - 1) + number - 1],
    }
}

impl Channel {
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
