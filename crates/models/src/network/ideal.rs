//! `ideal`: delay, and contention at the end points only.
//!
//! Each node has one port out and one port in. A message occupies its sender's port for `bytes / bandwidth`, travels
//! for the latency of its route, and occupies its receiver's port for as long. Both ports serve messages one at a
//! time, in the order in which they start. The switches between never slow anything down. Messages inside a node use
//! no port.
//!
//! Valid where the network has full bisection bandwidth and routing spreads messages well; too fast elsewhere.

use std::rc::Rc;

use hpcast_engine::Slab;
use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::{FactorMeaning, Machine};
use hpcast_units::Time;

use super::agenda::{Agenda, Entry};
use super::{Network, Transfer};

/// The `ideal` network.
pub struct Ideal {
    machine: Rc<Machine>,
    now: Time,
    agenda: Agenda,
    messages: Slab<Message>,
    ports: Vec<Port>,
    path: Path,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    /// Time on the way, ports apart.
    latency: Time,
    /// Time that it occupies each port.
    occupation: Time,
    from: u32,
    to: u32,
    token: u32,
    /// Has it started, so that its end is known?
    under_way: bool,
}

/// Until when the two ports of a node are taken.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    out: Time,
    r#in: Time,
}

impl Ideal {
    /// An empty network of that machine.
    pub fn new(machine: Rc<Machine>) -> Ideal {
        let ports = vec![Port::default(); machine.interconnect.topology().nodes() as usize];
        Ideal {
            machine,
            now: Time::ZERO,
            agenda: Agenda::default(),
            messages: Slab::default(),
            ports,
            path: Path::default(),
        }
    }

    /// Takes the ports for a message that starts at `at`, and says when it ends.
    #[inline]
    fn occupy(ports: &mut [Port], at: Time, message: &Message) -> Time {
        if message.from == message.to {
            return at + message.latency + message.occupation;
        }
        let out = &mut ports[message.from as usize].out;
        let leaves = at.max(*out);
        *out = leaves + message.occupation;
        let r#in = &mut ports[message.to as usize].r#in;
        *r#in = (leaves + message.latency).max(*r#in) + message.occupation;
        *r#in
    }
}

impl Network for Ideal {
    #[inline]
    fn start(&mut self, at: Time, transfer: Transfer) {
        let Transfer { from, to, bytes, latency_factor, bandwidth_factor, token } = transfer;
        self.machine.interconnect.path(from, to, &mut self.path);
        let factor = match self.machine.sharing.factor {
            FactorMeaning::Bound => bandwidth_factor.min(1.0),
            FactorMeaning::Share => bandwidth_factor,
        };
        let latency = Time::from_secs(self.path.latency * latency_factor);
        let occupation = Time::from_secs(bytes as f64 / (self.path.bandwidth * factor));
        // Ports serve in the order of starts: one that lies ahead may yet be preceded by others.
        let under_way = at <= self.now || from == to;
        let message = Message { latency, occupation, from, to, token, under_way };
        let due = if under_way { Ideal::occupy(&mut self.ports, at, &message) } else { at };
        let slot = self.messages.insert(message);
        self.agenda.push(due, slot);
    }

    #[inline]
    fn next_event(&mut self) -> Time {
        self.agenda.first().map_or(Time::NEVER, Entry::time)
    }

    #[inline]
    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.now = now;
        while let Some(entry) = self.agenda.due(now) {
            let message = &mut self.messages[entry.slot()];
            if message.under_way {
                ended.push(message.token);
                self.messages.remove(entry.slot());
                self.agenda.pop();
            } else {
                message.under_way = true;
                self.agenda.postpone(Ideal::occupy(&mut self.ports, entry.time(), message));
            }
        }
    }

    fn link_bytes(&self) -> Vec<f64> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::testing::{self, ends, transfer};

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

    proptest! {
        /// All announced at once: the ports serve them sorted by start.
        #[test]
        fn equals_a_loop_over_sorted_starts(
            many in prop::collection::vec((0..20u64, 0..4u32, 0..4u32, 0..5000u64), 1..50),
        ) {
            let transfers: Vec<(u64, Transfer)> =
                many.iter().map(|&(at, from, to, bytes)| (at * 100_000, transfer(from, to, bytes))).collect();
            let mut sorted: Vec<usize> = (0..transfers.len()).collect();
            sorted.sort_by_key(|&i| transfers[i].0);
            let (mut out, mut into) = ([0; 4], [0; 4]);
            let mut expected = vec![0; transfers.len()];
            for i in sorted {
                let (at, Transfer { from, to, bytes, .. }) = transfers[i];
                expected[i] = if from == to {
                    at + 100_000 + bytes * 40
                } else {
                    let leaves = at.max(out[from as usize]);
                    out[from as usize] = leaves + bytes * 1000;
                    into[to as usize] = into[to as usize].max(leaves + 1_000_000) + bytes * 1000;
                    into[to as usize]
                };
            }
            prop_assert_eq!(ends(&mut crossbar(4), &transfers), expected);
        }
    }
}
