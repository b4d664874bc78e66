//! A *cohort*: flows that start at the same moment in an empty network, get the same level, and so end together.
//!
//! The steps of a collective operation look like this. As long as nobody else comes, no link needs to know which flows
//! cross it, and one level and one end hold for all.
//!
//! Let the *room* of a flow be the lowest of its ceiling and of capacity / weight over its links. If all flows have the
//! same room, that is their max-min fair level: no link is overfull, and each flow has come to its ceiling or to a full
//! link where nobody has a higher level.

use hpcast_units::Time;

use super::link::TIE;
use super::maxmin::{MaxMin, State, Step, after};

/// The flows of the cohort, if there is one.
#[derive(Debug)]
pub(super) struct Cohort {
    pub members: Vec<u32>,
    pub level: f64,
    since: Time,
    /// When they all end; never, as long as they gather.
    end: Time,
}

impl Default for Cohort {
    fn default() -> Cohort {
        Cohort { members: Vec::new(), level: 0.0, since: Time::ZERO, end: Time::NEVER }
    }
}

impl Cohort {
    /// When all its flows end.
    #[inline]
    pub(super) fn end(&self) -> Time {
        self.end
    }

    /// What each of its flows has done.
    pub(super) fn done(&self, now: Time) -> f64 {
        if self.gathers() { 0.0 } else { self.level * (now - self.since).as_secs() }
    }

    /// Are there flows whose level is still to be found?
    #[inline]
    pub(super) fn gathers(&self) -> bool {
        self.end == Time::NEVER && !self.members.is_empty()
    }

    /// Appends its flows, which end now.
    pub(super) fn take(&mut self, due: &mut Vec<u32>) {
        due.append(&mut self.members);
        self.end = Time::NEVER;
    }
}

impl MaxMin {
    /// Takes a flow that becomes active into the cohort, if it may gather.
    #[inline]
    pub(super) fn gather(&mut self, number: u32) -> bool {
        let may = match self.cohort.members.len() {
            0 => self.active == 0,
            _ if self.cohort.gathers() => true,
            _ => {
                self.dissolve();
                false
            }
        };
        if may {
            self.cohort.members.push(number);
            self.active += 1;
        }
        may
    }

    /// Finds the level of the flows that have gathered. If they do not have one in common, they share like all others.
    pub(super) fn form_cohort(&mut self) {
        self.cohort.since = self.now;
        self.cohort.level = 0.0;
        for &number in &self.cohort.members {
            let flow = &self.flows[number as usize];
            for &hop in self.paths.of(flow.path) {
                self.board.link_mut(hop.link).weight += self.weights.of(hop) * flow.share;
            }
        }
        match self.common_end() {
            Some((level, end)) => (self.cohort.level, self.cohort.end) = (level, end),
            None => self.dissolve(),
        }
    }

    /// The level and the end that those who have gathered have in common.
    fn common_end(&self) -> Option<(f64, Time)> {
        let mut common_work = None;
        let (mut lowest, mut highest) = (f64::INFINITY, 0.0);
        for &number in &self.cohort.members {
            let flow = &self.flows[number as usize];
            let State::Waiting { work } = flow.state else { return None };
            if *common_work.get_or_insert(work) != work {
                return None;
            }
            let mut room = flow.ceiling;
            for &hop in self.paths.of(flow.path) {
                let link = self.board.link(hop.link);
                if link.capacity < room * link.weight {
                    room = link.capacity / link.weight;
                }
            }
            lowest = f64::min(lowest, room);
            highest = f64::max(highest, room);
            if highest > lowest * (1.0 + TIE) {
                return None;
            }
        }
        Some((lowest, after(self.now, common_work? / lowest)))
    }

    /// From now on each flow of the cohort is on its own.
    #[cold]
    fn dissolve(&mut self) {
        let done = self.cohort.level * (self.now - self.cohort.since).as_secs();
        self.cohort.end = Time::NEVER;
        let members = std::mem::take(&mut self.cohort.members);
        for &number in &members {
            for &hop in self.paths.of(self.flows[number as usize].path) {
                self.board.link_mut(hop.link).weight = 0.0;
            }
        }
        self.active -= members.len();
        for &number in &members {
            let State::Waiting { work } = self.flows[number as usize].state else {
                unreachable!("a flow of a cohort has no level of its own")
            };
            if let Step::RunsUntil(end) = self.enter(number, f64::max(work - done, 0.0)) {
                self.freed.push((number, end));
            }
        }
    }
}
