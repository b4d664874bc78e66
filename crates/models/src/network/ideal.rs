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
