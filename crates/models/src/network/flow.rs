//! `flow`: max-min fair sharing of links, as in SimGrid's SMPI model.
//!
//! A transfer travels for the latency of its route, times a factor, and takes no bandwidth; then it is *active* and
//! moves its bytes at the rate that fair sharing gives it (see [`maxmin`]), and ends when they have moved. What happens
//! at the same picosecond happens at once: the rates are found after all of it.
//!
//! Sources: P. Velho, L. Schnorr, H. Casanova, A. Legrand, "On the validity of flow-level TCP network models for grid
//! and cloud simulations", ACM TOMACS 23(4), 2013; SimGrid 3.32. Valid for messages that take much longer than one
//! packet; queues and adaptive routing are not modelled.

mod bottleneck;
mod cohort;
mod earliest;
mod filling;
mod link;
mod maxmin;
mod path;
mod roster;
mod settle;
mod spill;
mod twins;

#[cfg(test)]
mod audit;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::rc::Rc;

use hpcast_engine::Slab;
use hpcast_engine::agenda::{Agenda, Entry};
use hpcast_engine::slab::NONE;
use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::Machine;
use hpcast_units::Time;

use super::demand::{Demand, Router};
use super::{Along, COMING, Network, Transfer};
use maxmin::{MaxMin, Step};
use twins::Newest;

/// The `flow` network.
pub struct Flow {
    router: Router,
    /// Starts, and ends of flows that nobody slows down. Entries of flows that were slowed down since are out of date.
    agenda: Agenda,
    /// Has the same numbers as the flows in `sharing`.
    messages: Slab<Message>,
    sharing: MaxMin,
    /// Whether paths between different nodes may cross a link twice.
    may_repeat_links: bool,
    /// The transfer that was started last, if another may be its twin.
    newest: Option<Newest>,
    /// When something happens next: asked for more often than it changes.
    next: Time,
    started: u64,
    /// What ended now: order of start, token.
    over: Vec<(u64, u32)>,
    /// Flows that their bottleneck says are due.
    due: Vec<u32>,
    /// Tokens of transfers that will end soon.
    coming: Vec<u32>,
    /// Whether somebody wants to know.
    looks_ahead: bool,
    /// How often time went on.
    advances: u32,
}

/// So often time goes on between two looks at what shares links and ends soon.
const BETWEEN_LOOKS: u32 = 32;

/// Links are asked for when it is so many entries until they are needed.
const LINKS: usize = 12;

#[derive(Clone, Copy, Debug)]
struct Message {
    order: u64,
    /// The time of its entry in the agenda; entries with other times are out of date.
    due: Time,
    token: u32,
    /// The token of its twin, whose order is the next one; [`NONE`] if it has none.
    twin: u32,
    /// All its work, see [`maxmin::State`].
    work: f32,
    /// Whether somebody was told that it will end soon.
    is_told: bool,
}

impl Flow {
    /// An empty network of that machine.
    pub fn new(machine: Rc<Machine>) -> Flow {
        let interconnect = &machine.interconnect;
        let capacities = (0..interconnect.links()).map(|link| interconnect.capacity(link));
        Flow {
            sharing: MaxMin::new(capacities, machine.sharing.cross_traffic),
            may_repeat_links: interconnect.may_repeat_links(),
            router: Router::new(machine),
            agenda: Agenda::default(),
            messages: Slab::default(),
            newest: None,
            next: Time::NEVER,
            started: 0,
            over: Vec::new(),
            due: Vec::new(),
            coming: Vec::new(),
            looks_ahead: false,
            advances: 0,
        }
    }

    /// A transfer has ended, by itself or together with all others that were active.
    #[inline]
    fn end(&mut self, slot: u32, together: bool) {
        let message = &mut self.messages[slot];
        message.due = Time::NEVER;
        self.over.push((message.order, message.token));
        if message.twin != NONE {
            self.over.push((message.order + 1, message.twin));
        }
        if together {
            self.sharing.leave_together(slot);
        } else {
            self.sharing.leave(slot);
        }
        self.messages.remove(slot);
    }
}

impl Network for Flow {
    #[inline]
    fn start(&mut self, at: Time, transfer: Transfer) {
        if self.join_twin(at, &transfer) {
            return;
        }
        let demand = self.router.route(&transfer);
        let slot = self.set_out(at, &transfer, &demand);
        self.newest = Some(Newest { at, transfer, slot });
    }

    #[inline]
    fn next_event(&mut self) -> Time {
        self.next
    }

    #[inline]
    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.sharing.move_to(now);
        self.newest = None;
        if self.sharing.next_end() <= now {
            let mut due = std::mem::take(&mut self.due);
            self.sharing.due(&mut due);
            let together = self.sharing.are_all(due.len());
            for slot in due.drain(..) {
                self.end(slot, together);
            }
            self.due = due;
        }
        while let Some(entry) = self.agenda.due(now) {
            self.follow(entry);
        }
        if self.sharing.solve() {
            while let Some((slot, end)) = self.sharing.freed() {
                self.messages[slot].due = end;
                self.agenda.push(end, slot);
            }
        }
        #[cfg(test)]
        self.sharing.audit();
        if let [(_, token)] = self.over[..] {
            ended.push(token);
        } else {
            self.over.sort_unstable();
            ended.extend(self.over.iter().map(|&(_, token)| token));
        }
        self.over.clear();
        self.next = self.find_next();
        self.advances = self.advances.wrapping_add(1);
        if self.looks_ahead && self.advances.is_multiple_of(BETWEEN_LOOKS) {
            self.look_at_bottlenecks();
        }
    }

    fn look_ahead(&mut self) {
        self.looks_ahead = true;
        self.agenda.look_ahead();
    }

    #[inline]
    fn coming(&mut self, tokens: &mut Vec<u32>) {
        tokens.append(&mut self.coming);
    }

    #[inline]
    fn prefetch(&self, from: u32, to: u32) {
        self.router.prefetch(from, to);
    }

    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    fn link_bytes(&self) -> Vec<f64> {
        self.router.link_bytes()
    }
}

impl Along for Flow {
    fn start_along(&mut self, at: Time, transfer: Transfer, path: &Path) {
        let demand = self.router.route_along(&transfer, path);
        self.set_out(at, &transfer, &demand);
        self.newest = None;
    }

    fn knows_rates(&self) -> bool {
        true
    }

    fn tell_left(&self, tell: &mut dyn FnMut(u32, f64)) {
        let gathered: BTreeSet<u32> = self.sharing.cohort.members.iter().copied().collect();
        for (slot, message) in self.messages.iter() {
            let left = self.sharing.left(slot, gathered.contains(&slot)) / f64::from(message.work);
            tell(message.token, left);
            if message.twin != NONE {
                tell(message.twin, left);
            }
        }
    }
}

impl Flow {
    /// A transfer starts along the router's way; returns its number.
    #[inline]
    fn set_out(&mut self, at: Time, transfer: &Transfer, demand: &Demand) -> u32 {
        let work = transfer.bytes as f64 * demand.penalty / demand.efficiency;
        let ceiling = demand.bound * demand.penalty;
        let mut due = at + demand.latency;
        let may_repeat = self.may_repeat_links || transfer.from == transfer.to;
        let path = self.sharing.paths.insert(self.router.there(), self.router.back(), may_repeat);
        if path.len() == 0 {
            // Inside a node nobody slows it down.
            due += Time::from_secs(work / ceiling);
        }
        let message =
            Message { order: self.started, due, token: transfer.token, twin: NONE, work: work as f32, is_told: false };
        self.started += 1;
        let slot = self.messages.insert(message);
        self.sharing.announce(slot, work, demand.penalty, ceiling, path);
        self.agenda.push(due, slot);
        self.next = self.next.min(due);
        slot
    }

    /// When something happens next. Entries that are out of date are forgotten.
    #[inline]
    fn find_next(&mut self) -> Time {
        let end = self.sharing.next_end();
        while let Some(entry) = self.agenda.first() {
            let slot = entry.slot();
            if self.messages[slot].due == entry.time() && !self.sharing.is_limited(slot) {
                return end.min(entry.time());
            }
            self.agenda.pop();
        }
        end
    }

    /// With many messages on their way, those of the next entries are not in the caches: they are asked for, and told of when they
    /// are there and will end before much else happens.
    #[inline]
    fn look_at_agenda(&mut self) {
        let Some(last) = self.agenda.ahead(Agenda::AHEAD - 1) else { return };
        self.messages.prefetch(last.slot());
        self.sharing.prefetch(last.slot());
        let Some(entry) = self.agenda.ahead(COMING) else { return };
        let slot = entry.slot();
        self.sharing.prefetch_hops(slot);
        if let Some(entry) = self.agenda.ahead(LINKS) {
            self.sharing.prefetch_links(entry.slot());
        }
        if self.messages[slot].due == entry.time() && self.sharing.would_end(slot, last.time() - entry.time()) {
            self.tell(slot);
        }
    }

    /// The same for messages that share links.
    fn look_at_bottlenecks(&mut self) {
        // Who comes never is not coming; bottlenecks without flows end then.
        let Some(entry) = self.agenda.ahead(COMING).filter(|entry| entry.time() < Time::NEVER) else { return };
        let mut soon = std::mem::take(&mut self.due);
        self.sharing.ending_by(entry.time(), &mut soon);
        for slot in soon.drain(..) {
            self.tell(slot);
        }
        self.due = soon;
    }

    /// A message will soon end.
    #[inline]
    fn tell(&mut self, slot: u32) {
        let message = &mut self.messages[slot];
        if !message.is_told {
            message.is_told = true;
            self.coming.push(message.token);
            if message.twin != NONE {
                self.coming.push(message.twin);
            }
        }
    }

    /// Does what the first entry of the agenda says.
    #[inline]
    fn follow(&mut self, entry: Entry) {
        if self.looks_ahead {
            self.look_at_agenda();
        }
        let slot = entry.slot();
        let message = &mut self.messages[slot];
        if message.due != entry.time() {
            return self.agenda.pop();
        }
        match self.sharing.step(slot) {
            Step::Ends => {
                self.agenda.pop();
                self.end(slot, false);
            }
            Step::RunsUntil(end) => {
                message.due = end;
                self.agenda.postpone(end);
            }
            Step::Shares => {
                message.due = Time::NEVER;
                message.is_told = false;
                self.agenda.pop();
            }
        }
    }
}
