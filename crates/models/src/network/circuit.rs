//! `circuit`: the oldest flow first.
//!
//! A transfer travels for the latency of its route, times a factor; then it moves its bytes. The oldest active flow
//! gets all the bandwidth that it can use on its path, the next oldest what is left, and so on; age counts from the
//! start of the transfer. This is the `sharedcircuit` interconnect of SST/macro (C. L. Janssen et al., "A simulator for
//! large-scale parallel computer architectures", IJDST 1(2), 2010, section "Congestion modeling").
//!
//! Less fair than real networks, but a change reaches younger flows only, and few of them.

mod queue;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use hpcast_engine::Slab;
use hpcast_engine::agenda::Agenda;
use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::Machine;
use hpcast_units::Time;

use super::demand::{Demand, Router};
use super::{Along, Network, Transfer};
use queue::{Age, Queues};

/// The `circuit` network.
pub struct Circuit {
    router: Router,
    /// Starts and ends. Entries of flows whose rate has changed since are out of date.
    agenda: Agenda,
    flows: Slab<Flow>,
    queues: Queues,
    now: Time,
    started: u64,
    /// What ended now: order of start, token.
    over: Vec<(u64, u32)>,
    /// Flows whose rate has changed.
    changed: Vec<(u32, f64)>,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    age: Age,
    /// All its bytes.
    bytes: u64,
    /// Those left at `since`.
    left: f64,
    since: Time,
    /// Bytes per second.
    rate: f64,
    /// Bytes that arrive for each byte of link capacity used.
    efficiency: f64,
    bound: f64,
    /// The time of its entry in the agenda; entries with other times are out of date.
    due: Time,
    token: u32,
    has_links: bool,
    is_active: bool,
}

impl Circuit {
    /// An empty network of that machine.
    pub fn new(machine: Rc<Machine>) -> Circuit {
        let interconnect = &machine.interconnect;
        let capacities = (0..interconnect.links()).map(|link| interconnect.capacity(link));
        Circuit {
            queues: Queues::new(capacities),
            router: Router::new(machine),
            agenda: Agenda::default(),
            flows: Slab::default(),
            now: Time::ZERO,
            started: 0,
            over: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Does what was planned for a flow.
    fn follow(&mut self, slot: u32) {
        let flow = &mut self.flows[slot];
        flow.due = Time::NEVER;
        if flow.has_links && !flow.is_active && flow.bytes > 0 {
            flow.is_active = true;
            flow.since = self.now;
            self.queues.join(slot, flow.age, flow.bound);
        } else {
            self.over.push((flow.age.order, flow.token));
            self.queues.leave(slot, flow.bytes as f64);
            self.flows.remove(slot);
        }
    }

    /// Plans the ends of flows whose rate has changed.
    fn plan(&mut self) {
        self.queues.settle(&mut self.changed);
        for (slot, rate) in self.changed.drain(..) {
            let flow = &mut self.flows[slot];
            flow.left = (flow.left - flow.rate * (self.now - flow.since).as_secs()).max(0.0);
            flow.since = self.now;
            flow.rate = rate * flow.efficiency;
            flow.due = Time::NEVER;
            if flow.rate > 0.0 {
                // At least a picosecond, so that time goes on.
                flow.due = self.now + Time::from_secs(flow.left / flow.rate).max(Time::from_ps(1));
                self.agenda.push(flow.due, slot);
            }
        }
    }
}

impl Along for Circuit {
    fn start_along(&mut self, at: Time, transfer: Transfer, path: &Path) {
        let demand = self.router.route_along(&transfer, path);
        self.set_out(at, transfer, demand);
    }

    fn knows_rates(&self) -> bool {
        true
    }

    fn tell_left(&self, tell: &mut dyn FnMut(u32, f64)) {
        for (_, flow) in self.flows.iter().filter(|(_, flow)| flow.is_active) {
            let left = flow.left - flow.rate * (self.now - flow.since).as_secs();
            tell(flow.token, left / flow.bytes as f64);
        }
    }
}

impl Circuit {
    /// A transfer starts along the router's way.
    fn set_out(&mut self, at: Time, transfer: Transfer, demand: Demand) {
        let links = self.router.there();
        let mut due = at + demand.latency;
        if links.is_empty() {
            due += Time::from_secs(transfer.bytes as f64 / (demand.bound * demand.efficiency));
        }
        let age = Age { start: at, order: self.started };
        self.started += 1;
        let slot = self.flows.insert(Flow {
            age,
            bytes: transfer.bytes,
            left: transfer.bytes as f64,
            since: at,
            rate: 0.0,
            efficiency: demand.efficiency,
            bound: demand.bound,
            due,
            token: transfer.token,
            has_links: !links.is_empty(),
            is_active: false,
        });
        self.queues.announce(slot, links);
        self.agenda.push(due, slot);
    }
}

impl Network for Circuit {
    fn start(&mut self, at: Time, transfer: Transfer) {
        let demand = self.router.route(&transfer);
        self.set_out(at, transfer, demand);
    }

    #[inline]
    fn next_event(&mut self) -> Time {
        while let Some(entry) = self.agenda.first() {
            if self.flows[entry.slot()].due == entry.time() {
                return entry.time();
            }
            self.agenda.pop();
        }
        Time::NEVER
    }

    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.now = now;
        while let Some(entry) = self.agenda.due(now) {
            self.agenda.pop();
            if self.flows[entry.slot()].due == entry.time() {
                self.follow(entry.slot());
            }
        }
        self.plan();
        self.over.sort_unstable();
        ended.extend(self.over.drain(..).map(|(_, token)| token));
    }

    fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    fn link_bytes(&self) -> Vec<f64> {
        self.queues.link_bytes()
    }
}
