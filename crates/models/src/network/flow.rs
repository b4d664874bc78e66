//! `flow`: max-min fair sharing of links, the model of SimGrid's SMPI.

mod earliest;
mod link;
mod maxmin;
mod path;
mod roster;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use hpcast_engine::Slab;
use hpcast_platform::machine::Machine;
use hpcast_units::Time;

use super::agenda::{Agenda, Entry};
use super::demand::Router;
use super::{Network, Transfer};
use maxmin::{MaxMin, State};

/// The `flow` network.
pub struct Flow {
    router: Router,
    agenda: Agenda,
    messages: Slab<Message>,
    sharing: MaxMin,
    started: u64,
    over: Vec<(u64, u32)>,
    joining: Vec<u32>,
    due: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    order: u64,
    bytes: u64,
    /// When the agenda has something to do for it; entries for other times are out of date.
    due: Time,
    token: u32,
}

impl Flow {
    /// An empty network of that machine.
    pub fn new(machine: Rc<Machine>) -> Flow {
        let links = (0..machine.interconnect.links()).map(|l| machine.interconnect.capacity(l));
        Flow {
            sharing: MaxMin::new(links, machine.sharing.cross_traffic),
            router: Router::new(machine),
            agenda: Agenda::default(),
            messages: Slab::default(),
            started: 0,
            over: Vec::new(),
            joining: Vec::new(),
            due: Vec::new(),
        }
    }
    pub fn stats(&self) -> [u64; 8] { self.sharing.stats }

    fn is_valid(&self, entry: Entry) -> bool {
        self.messages[entry.slot()].due == entry.time()
            && !matches!(self.sharing.state(entry.slot()), State::Limited { .. })
    }

    fn end(&mut self, slot: u32) {
        let message = self.messages[slot];
        self.over.push((message.order, message.token));
        self.sharing.leave(slot, message.bytes as f64);
        self.messages[slot].due = Time::NEVER;
        self.messages.remove(slot);
    }
}

impl Network for Flow {
    #[inline]
    fn start(&mut self, at: Time, transfer: Transfer) {
        let demand = self.router.route(&transfer);
        let (there, back) = (self.router.there(), self.router.back());
        let work = transfer.bytes as f64 * demand.penalty / demand.efficiency;
        let ceiling = demand.bound * demand.penalty;
        let mut due = at + demand.latency;
        if there.is_empty() {
            due += Time::from_secs(work / ceiling);
        }
        let slot =
            self.messages.insert(Message { order: self.started, bytes: transfer.bytes, due, token: transfer.token });
        self.started += 1;
        self.sharing.announce(slot, work, 1.0 / demand.penalty, ceiling, there, back);
        self.agenda.push(due, slot);
    }

    #[inline]
    fn next_event(&mut self) -> Time {
        while let Some(entry) = self.agenda.due(Time::NEVER) {
            if self.is_valid(entry) {
                break;
            }
            self.agenda.pop();
        }
        self.agenda.next().min(self.sharing.next_end())
    }

    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.sharing.set_now(now);
        while let Some(entry) = self.agenda.due(now) {
            let slot = entry.slot();
            self.agenda.pop();
            if !self.is_valid(entry) { continue; }
            match self.sharing.state(slot) {
                State::Waiting { work } => {
                    if self.messages[slot].bytes == 0 || self.sharing.is_free(slot) {
                        let _ = work;
                        self.end(slot);
                    } else {
                        self.joining.push(slot);
                    }
                }
                State::Bounded { .. } => self.end(slot),
                _ => {}
            }
        }
        if self.sharing.next_end() <= now {
            let mut due = std::mem::take(&mut self.due);
            self.sharing.pop_due(&mut due);
            for slot in due.drain(..) {
                self.end(slot);
            }
            self.due = due;
        }
        for i in 0..self.joining.len() {
            self.sharing.join(self.joining[i]);
        }
        self.joining.clear();
        self.sharing.solve();
        #[cfg(test)]
        self.sharing.audit(&self.messages.iter().map(|(slot, _)| slot).collect::<Vec<_>>());
        while let Some((slot, end)) = self.sharing.freed.pop() {
            self.messages[slot].due = end;
            self.agenda.push(end, slot);
        }
        if self.over.len() > 1 {
            self.over.sort_unstable();
        }
        ended.extend(self.over.drain(..).map(|(_, token)| token));
    }

    fn link_bytes(&self) -> Vec<f64> {
        self.sharing.link_bytes()
    }
}
