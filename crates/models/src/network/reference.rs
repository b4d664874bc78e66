//! Naive network models, to be compared with the fast ones: every event solves everything anew.

use std::rc::Rc;

use hpcast_platform::machine::Machine;
use hpcast_units::Time;

use super::demand::{Demand, Router};
use super::{Network, Transfer};

/// Who gets how much of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Max-min fairness by progressive filling.
    MaxMin,
    /// The oldest flow takes all it can use, the next what is left, and so on.
    OldestFirst,
}

/// One flow of a problem to solve.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    /// Most it may get.
    pub bound: f64,
    /// Shares are in inverse proportion to this.
    pub penalty: f64,
    /// (link, weight); a link may appear more than once.
    pub links: Vec<(u32, f64)>,
}

/// Max-min fair shares by progressive filling: raise the level of all flows together; whoever reaches its bound or a
/// full link stays there.
pub(crate) fn max_min(capacities: &[f64], flows: &[Share]) -> Vec<f64> {
    let mut rates = vec![f64::NAN; flows.len()];
    let mut open: Vec<usize> = (0..flows.len()).collect();
    while !open.is_empty() {
        let mut room = capacities.to_vec();
        let mut pull = vec![0.0; capacities.len()];
        for (flow, rate) in flows.iter().zip(&rates) {
            for &(link, weight) in &flow.links {
                if rate.is_nan() {
                    pull[link as usize] += weight / flow.penalty;
                } else {
                    room[link as usize] -= weight * rate;
                }
            }
        }
        let level = |link: u32| (room[link as usize] / pull[link as usize]).max(0.0);
        let limit = |flow: &Share| {
            let bound = flow.bound * flow.penalty;
            flow.links.iter().map(|&(link, _)| level(link)).fold(bound, f64::min)
        };
        let lowest = open.iter().map(|&f| limit(&flows[f])).fold(f64::INFINITY, f64::min);
        let threshold = lowest * (1.0 + 1e-12);
        open.retain(|&f| {
            let limit = limit(&flows[f]);
            if limit <= threshold {
                rates[f] = limit / flows[f].penalty;
            }
            limit > threshold
        });
    }
    rates
}

/// Shares by age; the flows come in the order of their starts.
pub(crate) fn oldest_first(capacities: &[f64], flows: &[Share]) -> Vec<f64> {
    let mut room = capacities.to_vec();
    flows
        .iter()
        .map(|flow| {
            let crossings = |link| flow.links.iter().filter(|&&(l, _)| l == link).map(|&(_, w)| w).sum::<f64>();
            let rate = flow.links.iter().map(|&(l, _)| room[l as usize] / crossings(l)).fold(flow.bound, f64::min);
            for &(link, weight) in &flow.links {
                let left = room[link as usize] - weight * rate;
                // Less is a rounding error.
                room[link as usize] = if left < 1e-12 * capacities[link as usize] { 0.0 } else { left };
            }
            rate
        })
        .collect()
}

/// A network that solves everything anew at every event.
#[derive(Debug)]
pub(crate) struct Reference {
    machine: Rc<Machine>,
    rule: Rule,
    router: Router,
    capacities: Vec<f64>,
    /// In the order of their starts.
    flows: Vec<Flow>,
    now: Time,
    link_bytes: Vec<f64>,
    /// Flows announced so far.
    count: usize,
}

#[derive(Debug)]
struct Flow {
    demand: Demand,
    share: Share,
    there: Vec<u32>,
    bytes: f64,
    remaining: f64,
    starts: Time,
    active: bool,
    rate: f64,
    /// When it becomes active, then when it ends.
    due: Time,
    order: usize,
    token: u32,
}

impl Reference {
    pub(crate) fn new(machine: Rc<Machine>, rule: Rule) -> Reference {
        let capacities: Vec<f64> =
            (0..machine.interconnect.links()).map(|l| machine.interconnect.capacity(l)).collect();
        Reference {
            router: Router::new(machine.clone()),
            machine,
            rule,
            link_bytes: vec![0.0; capacities.len()],
            capacities,
            flows: Vec::new(),
            now: Time::ZERO,
            count: 0,
        }
    }
}

impl Network for Reference {
    fn start(&mut self, at: Time, transfer: Transfer) {
        let demand = self.router.route(&transfer);
        let mut links: Vec<(u32, f64)> = self.router.there().iter().map(|&l| (l, 1.0)).collect();
        if self.rule == Rule::MaxMin {
            links.extend(self.router.back().iter().map(|&l| (l, self.machine.sharing.cross_traffic)));
        }
        let share = Share { bound: demand.bound, penalty: demand.penalty, links };
        self.flows.push(Flow {
            demand,
            share,
            there: self.router.there().to_vec(),
            bytes: transfer.bytes as f64,
            remaining: transfer.bytes as f64,
            starts: at,
            active: false,
            rate: 0.0,
            due: at + demand.latency,
            order: self.count,
            token: transfer.token,
        });
        self.count += 1;
    }

    fn next_event(&mut self) -> Time {
        self.flows.iter().map(|f| f.due).min().unwrap_or(Time::NEVER)
    }

    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        let step = (now - self.now).as_secs();
        self.now = now;
        for flow in self.flows.iter_mut() {
            flow.remaining -= flow.rate * step;
            if flow.due <= now && !flow.active && flow.bytes > 0.0 {
                flow.active = true;
                flow.due = Time::NEVER;
            }
        }
        let mut over = Vec::new();
        self.flows.retain(|flow| {
            if flow.due <= now {
                for &link in &flow.there {
                    self.link_bytes[link as usize] += flow.bytes;
                }
                over.push((flow.order, flow.token));
            }
            flow.due > now
        });
        over.sort_unstable();
        ended.extend(over.iter().map(|&(_, token)| token));
        // Age counts from the start; insertion decides between equals.
        self.flows.sort_by_key(|flow| (flow.starts, flow.order));
        let shares: Vec<Share> = self.flows.iter().filter(|f| f.active).map(|f| f.share.clone()).collect();
        let rates = match self.rule {
            Rule::MaxMin => max_min(&self.capacities, &shares),
            Rule::OldestFirst => oldest_first(&self.capacities, &shares),
        };
        for (flow, rate) in self.flows.iter_mut().filter(|f| f.active).zip(rates) {
            flow.rate = rate * flow.demand.efficiency;
            let left = flow.remaining.max(0.0) / flow.rate;
            flow.due = if left.is_finite() { now + Time::from_secs(left).max(Time::from_ps(1)) } else { Time::NEVER };
        }
    }

    fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    fn link_bytes(&self) -> Vec<f64> {
        self.link_bytes.clone()
    }
}
