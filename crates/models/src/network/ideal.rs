//! `ideal`: delay, and contention at the end points only.
//!
//! Each node has a port out for every link that leaves it and a port in for every link that comes: one of either in most
//! networks, more in tori and where there are planes; one where a limiter stands before its links. A message occupies its
//! sender's port for `bytes / bandwidth`, travels for the latency of its route, and occupies its receiver's port for as long.
//! Both ports serve messages one at a time, in the order in which they start. The switches between never slow anything down.
//! Messages inside a node use no port.
//!
//! Valid where the network has full bisection bandwidth and routing spreads messages well; too fast elsewhere.
//!
//! Messages are announced before they start, since ranks run ahead, and others that start earlier may yet be announced.
//! Mostly none are: so a message whose ports nobody else waits for is booked at once, ahead of its start, and costs one
//! entry in the agenda instead of two. If a message comes that goes first after all, the booking is undone.

use std::rc::Rc;

use hpcast_engine::Slab;
use hpcast_engine::agenda::Agenda;
use hpcast_engine::slab::NONE;
use hpcast_platform::interconnect::{Interconnect, Path};
use hpcast_platform::machine::{FactorMeaning, Machine};
use hpcast_platform::topology::Vertex;
use hpcast_units::Time;

use super::{Along, COMING, Network, Occupied, Transfer};

/// The `ideal` network.
pub struct Ideal {
    machine: Rc<Machine>,
    now: Time,
    /// Starts of messages that wait for them, ends of the others. Entries of bookings that were undone are out of date.
    agenda: Agenda,
    messages: Slab<Message>,
    /// Two for each node, or for each link: out, then in.
    ports: Vec<Port>,
    /// Ports are those of links.
    by_link: bool,
    path: Path,
    /// When transfers that have ended were on their ports, if somebody wants to know.
    occupied: Option<Vec<(u32, Occupied)>>,
    /// Tokens of messages that will end soon.
    coming: Vec<u32>,
    /// Whether somebody wants to know.
    looks_ahead: bool,
}

/// One line of the processor's caches.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Message {
    at: Time,
    /// The time of its entry in the agenda; entries with other times are out of date.
    due: Time,
    /// Time on the way, ports apart.
    latency: Time,
    /// Time that it occupies each port.
    occupation: Time,
    ports: [u32; 2],
    token: u32,
    /// It waits for its start; its end is not known.
    waits: bool,
    /// Until when its ports were taken before it was booked.
    before: [Time; 2],
}

#[derive(Clone, Copy, Debug)]
struct Port {
    /// Until when it is taken.
    taken: Time,
    /// The message that was last booked ahead of its start, which is this; it may be over.
    start: Time,
    ahead: u32,
    /// How many messages wait for their start.
    waiting: u32,
}

/// Whether a node has several links to send on, or to receive on: then each is a port. A limiter is one port for all of them.
fn has_several_ports(interconnect: &Interconnect) -> bool {
    let topology = interconnect.topology();
    let has_limiters = interconnect.links() > topology.links();
    let mut used = vec![[false; 2]; topology.nodes() as usize];
    let mut is_second = |vertex: Vertex, way: usize| match vertex {
        Vertex::Node(node) => std::mem::replace(&mut used[node as usize][way], true),
        Vertex::Switch(_) => false,
    };
    let mut any = false;
    for id in 0..topology.links() {
        let (tail, head) = topology.ends(id);
        any |= is_second(tail, 0) | is_second(head, 1);
        if topology.is_shared(id) {
            any |= is_second(head, 0) | is_second(tail, 1);
        }
    }
    any && !has_limiters
}

impl Ideal {
    /// An empty network of that machine.
    pub fn new(machine: Rc<Machine>) -> Ideal {
        let nodes = machine.interconnect.topology().nodes() as usize;
        let by_link = has_several_ports(&machine.interconnect);
        let ports = 2 * if by_link { machine.interconnect.links() as usize } else { nodes };
        Ideal {
            machine,
            now: Time::ZERO,
            agenda: Agenda::default(),
            messages: Slab::default(),
            ports: vec![Port { taken: Time::ZERO, start: Time::ZERO, ahead: NONE, waiting: 0 }; ports],
            by_link,
            path: Path::default(),
            occupied: None,
            coming: Vec::new(),
            looks_ahead: false,
        }
    }

    /// Takes the ports for a message.
    #[inline]
    fn book([out, r#in]: [&mut Port; 2], message: &mut Message) {
        message.before = [out.taken, r#in.taken];
        let leaves = message.at.max(out.taken);
        out.taken = leaves + message.occupation;
        message.due = (leaves + message.latency).max(r#in.taken) + message.occupation;
        r#in.taken = message.due;
        message.waits = false;
    }

    /// A message that was booked ahead and starts later than `at`, or at the same time, is made to wait for its start:
    /// then it is planned before the one that comes now, and keeps its place among equals.
    #[cold]
    fn make_way(&mut self, at: Time, ports: [u32; 2]) {
        for port in ports {
            let Port { start, ahead, .. } = self.ports[port as usize];
            if start > self.now && at <= start {
                self.undo(ahead);
            }
        }
    }

    fn undo(&mut self, slot: u32) {
        let message = &mut self.messages[slot];
        for (&port, &before) in message.ports.iter().zip(&message.before) {
            let port = &mut self.ports[port as usize];
            *port = Port { taken: before, start: Time::ZERO, ahead: NONE, waiting: port.waiting + 1 };
        }
        message.waits = true;
        message.due = message.at;
        self.agenda.push(message.at, slot);
    }

    /// A message that waited for its start, starts.
    fn set_out(&mut self, slot: u32) {
        let message = &mut self.messages[slot];
        let ports = two(&mut self.ports, message.ports);
        Ideal::book(ports, message);
        for port in two(&mut self.ports, message.ports) {
            port.waiting -= 1;
        }
        self.agenda.postpone(message.due);
    }
}

impl Ideal {
    /// With many messages on their way, those of the next entries are not in the caches: they are asked for, and told of when they
    /// are there.
    #[inline]
    fn look_at_agenda(&mut self) {
        if let Some(entry) = self.agenda.ahead(Agenda::AHEAD - 1) {
            self.messages.prefetch(entry.slot());
        }
        if let Some(entry) = self.agenda.ahead(COMING) {
            let message = &self.messages[entry.slot()];
            if !message.waits && message.due == entry.time() {
                self.coming.push(message.token);
            }
        }
    }
}

impl Network for Ideal {
    #[inline]
    fn start(&mut self, at: Time, transfer: Transfer) {
        self.machine.interconnect.path(transfer.from, transfer.to, &mut self.path);
        self.announce(at, transfer);
    }

    #[inline]
    fn next_event(&mut self) -> Time {
        while let Some(entry) = self.agenda.first() {
            if self.messages[entry.slot()].due == entry.time() {
                return entry.time();
            }
            self.agenda.pop();
        }
        Time::NEVER
    }

    #[inline]
    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.now = now;
        while let Some(entry) = self.agenda.due(now) {
            if self.looks_ahead {
                self.look_at_agenda();
            }
            let message = &mut self.messages[entry.slot()];
            if message.due != entry.time() {
                self.agenda.pop();
            } else if message.waits {
                self.set_out(entry.slot());
            } else {
                if let Some(occupied) = &mut self.occupied {
                    occupied.push((message.token, message.occupied()));
                }
                message.due = Time::NEVER;
                ended.push(message.token);
                self.messages.remove(entry.slot());
                self.agenda.pop();
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    fn look_ahead(&mut self) {
        self.looks_ahead = true;
        self.agenda.look_ahead();
    }

    #[inline]
    fn coming(&mut self, tokens: &mut Vec<u32>) {
        tokens.append(&mut self.coming);
    }

    fn link_bytes(&self) -> Vec<f64> {
        Vec::new()
    }
}

impl Along for Ideal {
    fn start_along(&mut self, at: Time, transfer: Transfer, path: &Path) {
        self.path.clone_from(path);
        self.announce(at, transfer);
    }

    fn keep_occupied(&mut self) {
        self.occupied = Some(Vec::new());
    }

    fn tell_occupied(&mut self, tell: &mut dyn FnMut(u32, Occupied)) {
        self.occupied.iter_mut().flat_map(|occupied| occupied.drain(..)).for_each(|(token, times)| tell(token, times));
    }
}

impl Message {
    /// When it was on its ports; its end is known.
    fn occupied(&self) -> Occupied {
        let leaves = self.at.max(self.before[0]);
        Occupied { out: (leaves, leaves + self.occupation), into: (self.due - self.occupation, self.due) }
    }
}

impl Ideal {
    /// A transfer will start along the path that was found.
    #[inline]
    fn announce(&mut self, at: Time, transfer: Transfer) {
        let Transfer { from, to, bytes, bandwidth_factor, token, .. } = transfer;
        let factor = match self.machine.sharing.factor {
            FactorMeaning::Bound => bandwidth_factor.min(1.0),
            FactorMeaning::Share => bandwidth_factor,
        };
        let latency = transfer.travels(self.path.latency);
        let occupation = Time::from_secs(bytes as f64 / (self.path.bandwidth * factor));
        let outer = (self.path.links.first(), self.path.links.last());
        let ports = match outer {
            (Some(first), Some(last)) if self.by_link => [2 * first, 2 * last + 1],
            _ => [2 * from, 2 * to + 1],
        };
        let due = at + latency + occupation;
        let before = [Time::ZERO; 2];
        let mut message = Message { at, due, latency, occupation, ports, token, waits: false, before };
        // Inside a node, and where no two messages share links, there are no ports.
        if from == to || (self.by_link && self.path.links.is_empty()) {
            let slot = self.messages.insert(message);
            return self.agenda.push(due, slot);
        }
        let booked = |port: &Port| port.start > self.now;
        if two(&mut self.ports, ports).iter().any(|port| booked(port)) {
            self.make_way(at, ports);
        }
        let [out, r#in] = two(&mut self.ports, ports);
        let starts = at <= self.now;
        // What takes no time has nothing to gain from being booked ahead.
        let is_open = |port: &Port| port.start <= self.now && port.waiting == 0;
        if starts {
            Ideal::book([out, r#in], &mut message);
        } else if is_open(out) && is_open(r#in) && due > at {
            Ideal::book([out, r#in], &mut message);
            let slot = self.messages.next();
            (out.start, out.ahead) = (at, slot);
            (r#in.start, r#in.ahead) = (at, slot);
        } else {
            (message.waits, message.due) = (true, at);
            out.waiting += 1;
            r#in.waiting += 1;
        }
        let slot = self.messages.insert(message);
        self.agenda.push(message.due, slot);
    }
}

/// The port out of one node and the port into another.
#[inline]
fn two(ports: &mut [Port], numbers: [u32; 2]) -> [&mut Port; 2] {
    ports.get_disjoint_mut(numbers.map(|number| number as usize)).expect("out and in are different ports that exist")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::testing::{self, ends, transfer};
    use hpcast_platform::interconnect::Loopback;
    use hpcast_platform::machine::FlowSharing;
    use hpcast_platform::protocol::MpiParameters;
    use hpcast_platform::topology::{Crossbar, Duplex, Link, PlaneChoice, Planes, Topology, Torus};

    /// Links of 1 GB/s and 500 ns.
    fn crossbar(nodes: u32) -> Ideal {
        Ideal::new(testing::crossbar(nodes, Default::default()))
    }

    #[test]
    fn a_message_alone_takes_latency_and_bytes_over_bandwidth() {
        let slow = Transfer { latency_factor: 2.0, bandwidth_factor: 0.5, ..transfer(0, 1, 1000) };
        assert_eq!(ends(&mut crossbar(2), &[(0, transfer(0, 1, 1000))]), [2_000_000]);
        assert_eq!(ends(&mut crossbar(2), &[(3, slow)]), [4_000_003]);
        assert_eq!(ends(&mut crossbar(2), &[(0, transfer(0, 1, 0))]), [1_000_000]);
    }

    #[test]
    fn ports_serve_one_message_at_a_time() {
        let from_one = [(0, transfer(0, 1, 1000)), (0, transfer(0, 2, 1000)), (0, transfer(0, 3, 1000))];
        assert_eq!(ends(&mut crossbar(4), &from_one), [2_000_000, 3_000_000, 4_000_000]);
        let to_one = [(0, transfer(1, 0, 1000)), (0, transfer(2, 0, 1000)), (0, transfer(3, 0, 1000))];
        assert_eq!(ends(&mut crossbar(4), &to_one), [2_000_000, 3_000_000, 4_000_000]);
        let both_ways = [(0, transfer(0, 1, 1000)), (0, transfer(1, 0, 1000))];
        assert_eq!(ends(&mut crossbar(2), &both_ways), [2_000_000; 2]);
    }

    /// Messages that leave over different links, or come over different ones, do not wait for each other.
    #[test]
    fn every_link_of_a_node_is_a_port() {
        let link = Link { bandwidth: 1e9, latency: 5e-7 };
        let ideal = |topology: Box<dyn Topology>, limiter| {
            let interconnect = Interconnect::new(topology, Loopback::Unshared(link), limiter);
            let machine = Machine::new("test", 1, interconnect, MpiParameters::default(), FlowSharing::default());
            Ideal::new(Rc::new(machine))
        };
        for duplex in [Duplex::Split, Duplex::Shared] {
            let crossbar = || Box::new(Crossbar::new(4, link, duplex, None));
            let planes = || Box::new(Planes::new(crossbar(), 2, PlaneChoice::Destination).unwrap());
            let from_one = [(0, transfer(0, 1, 1000)), (0, transfer(0, 2, 1000)), (0, transfer(0, 3, 1000))];
            // Nodes 1 and 2 have one plane, node 3 the other.
            assert_eq!(ends(&mut ideal(planes(), None), &from_one), [2_000_000, 3_000_000, 2_000_000]);
            assert_eq!(ends(&mut ideal(planes(), Some(1e9)), &from_one), [2_000_000, 3_000_000, 4_000_000]);
            let ring = || Box::new(Torus::new(&[5], true, link, duplex).unwrap());
            let apart = [(0, transfer(0, 1, 1000)), (0, transfer(0, 4, 1000)), (0, transfer(0, 2, 1000))];
            assert_eq!(ends(&mut ideal(ring(), None), &apart), [1_500_000, 1_500_000, 3_000_000]);
            let together = [(0, transfer(1, 0, 1000)), (0, transfer(4, 0, 1000)), (0, transfer(3, 0, 1000))];
            assert_eq!(ends(&mut ideal(ring(), None), &together), [1_500_000, 1_500_000, 2_500_000]);
        }
    }

    #[test]
    fn inside_a_node_there_is_no_port() {
        // 25 GB/s and 100 ns.
        let transfers = [(0, transfer(1, 1, 25_000)), (0, transfer(1, 1, 25_000)), (0, transfer(1, 0, 1000))];
        assert_eq!(ends(&mut crossbar(2), &transfers), [1_100_000, 1_100_000, 2_000_000]);
    }

    #[test]
    fn what_starts_earlier_goes_first_whenever_it_was_announced() {
        let transfers = [(500_000, transfer(0, 1, 1000)), (0, transfer(0, 1, 1000))];
        assert_eq!(ends(&mut crossbar(2), &transfers), [3_000_000, 2_000_000]);
    }

    /// The rule itself: ports serve messages sorted by their start, equal ones as they were announced.
    fn loop_over_sorted_starts(transfers: &[(u64, Transfer)]) -> Vec<u64> {
        let mut sorted: Vec<usize> = (0..transfers.len()).collect();
        sorted.sort_by_key(|&i| transfers[i].0);
        let (mut out, mut into) = ([0; 4], [0; 4]);
        let mut ends = vec![0; transfers.len()];
        for i in sorted {
            let (at, Transfer { from, to, bytes, .. }) = transfers[i];
            ends[i] = if from == to {
                at + 100_000 + bytes * 40
            } else {
                let leaves = at.max(out[from as usize]);
                out[from as usize] = leaves + bytes * 1000;
                into[to as usize] = into[to as usize].max(leaves + 1_000_000) + bytes * 1000;
                into[to as usize]
            };
        }
        ends
    }

    /// Announces each message at a time of its own: (when, start, message).
    fn announce(network: &mut Ideal, messages: &[(u64, u64, Transfer)]) -> Vec<u64> {
        let mut ends = vec![0; messages.len()];
        let mut ended = Vec::new();
        let mut advance = |network: &mut Ideal, until: u64| {
            while network.next_event() <= Time::from_ps(until) && network.next_event() != Time::NEVER {
                let now = network.next_event();
                network.advance(now, &mut ended);
                for token in ended.drain(..) {
                    ends[token as usize] = now.as_ps();
                }
            }
        };
        for (token, &(when, at, transfer)) in (0..).zip(messages) {
            advance(network, when);
            network.start(Time::from_ps(at), Transfer { token, ..transfer });
        }
        advance(network, u64::MAX);
        ends
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn equals_a_loop_over_sorted_starts(
            many in prop::collection::vec((0..4u64, 0..20u64, 0..4u32, 0..4u32, 0..20u64), 1..50),
            at_once in any::<bool>(),
        ) {
            let mut now = 0;
            let mut messages = Vec::new();
            for (gap, ahead, from, to, size) in many {
                now += if at_once { 0 } else { gap * 250_000 };
                messages.push((now, now + ahead * 250_000, transfer(from, to, size * 250)));
            }
            let starts: Vec<(u64, Transfer)> = messages.iter().map(|&(_, at, transfer)| (at, transfer)).collect();
            prop_assert_eq!(announce(&mut crossbar(4), &messages), loop_over_sorted_starts(&starts));
        }
    }
}
