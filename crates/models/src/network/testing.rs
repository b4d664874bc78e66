//! Machines and traffic for tests of network models.

use std::rc::Rc;

use hpcast_platform::interconnect::{Interconnect, Loopback, Path};
use hpcast_platform::machine::{FactorMeaning, FlowSharing, Machine};
use hpcast_platform::protocol::MpiParameters;
use hpcast_platform::topology::{Crossbar, Duplex, FatTree, FatTreeShape, Link, LinkId, Topology, Vertex};
use hpcast_units::Time;
use proptest::prelude::*;

use super::{Network, Transfer};

/// A network without a shape: any links, any routes.
#[derive(Clone, Debug)]
pub(crate) struct Tangle {
    pub nodes: u32,
    pub links: Vec<Link>,
    /// The route from a to b at `a * nodes + b`.
    pub routes: Vec<Vec<LinkId>>,
}

impl Topology for Tangle {
    fn describe(&self) -> String {
        "tangle".into()
    }
    fn nodes(&self) -> u32 {
        self.nodes
    }
    fn switches(&self) -> u32 {
        0
    }
    fn links(&self) -> u32 {
        self.links.len() as u32
    }
    fn link(&self, id: LinkId) -> Link {
        self.links[id as usize]
    }
    fn link_name(&self, id: LinkId) -> String {
        format!("link {id}")
    }
    fn ends(&self, _: LinkId) -> (Vertex, Vertex) {
        (Vertex::Node(0), Vertex::Node(0))
    }
    fn is_shared(&self, _: LinkId) -> bool {
        false
    }
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        for &id in &self.routes[(from * self.nodes + to) as usize] {
            path.push(id, &self.links[id as usize]);
        }
    }
    fn cables(&self) -> u64 {
        0
    }
    fn diameter(&self) -> u32 {
        0
    }
    fn bisection_bandwidth(&self) -> f64 {
        0.0
    }
}

/// A machine with that network and nothing else of interest.
pub(crate) fn machine(topology: impl Topology + 'static, limiter: Option<f64>, sharing: FlowSharing) -> Rc<Machine> {
    let mpi = MpiParameters::default();
    let loopback = Loopback::Unshared(Link { bandwidth: 25e9, latency: 1e-7 });
    Rc::new(Machine::new("test", 1, Interconnect::new(Box::new(topology), loopback, limiter), mpi, sharing))
}

/// One switch, links of 1 GB/s and 500 ns.
pub(crate) fn crossbar(nodes: u32, sharing: FlowSharing) -> Rc<Machine> {
    machine(Crossbar::new(nodes, Link { bandwidth: 1e9, latency: 5e-7 }, Duplex::Split, None), None, sharing)
}

/// A transfer without factors.
pub(crate) fn transfer(from: u32, to: u32, bytes: u64) -> Transfer {
    Transfer { from, to, bytes, latency_factor: 1.0, latency: None, bandwidth_factor: 1.0, token: 0 }
}

/// When transfers end that start at these times, in picoseconds.
pub(crate) fn ends(network: &mut dyn Network, transfers: &[(u64, Transfer)]) -> Vec<u64> {
    let first = transfers.iter().map(|&(at, transfer)| (Time::from_ps(at), transfer)).collect();
    let mut ends = run(network, &Traffic { first, then: Vec::new() }).ends;
    ends.sort_unstable();
    ends.iter().map(|(_, time)| time.as_ps()).collect()
}

/// Transfers with the times at which they start, and what the end of each starts.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    /// Known from the beginning.
    pub first: Vec<(Time, Transfer)>,
    /// Started when the transfer with the same number in `first` ends.
    pub then: Vec<Option<(Time, Transfer)>>,
}

/// What a run gives: token and time of every end, and bytes by link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Events {
    pub ends: Vec<(u32, Time)>,
    pub link_bytes: Vec<f64>,
}

/// Runs the traffic to its end. Tokens are positions in `first`, or in `then` plus 1,000,000.
pub(crate) fn run(network: &mut dyn Network, traffic: &Traffic) -> Events {
    for (number, (at, transfer)) in traffic.first.iter().enumerate() {
        network.start(*at, Transfer { token: number as u32, ..*transfer });
    }
    let (mut ends, mut ended, mut last) = (Vec::new(), Vec::new(), Time::ZERO);
    loop {
        let now = network.next_event();
        if now == Time::NEVER {
            break;
        }
        assert!(now >= last, "time goes back from {last:?} to {now:?}");
        last = now;
        network.advance(now, &mut ended);
        for token in ended.drain(..) {
            ends.push((token, now));
            if let Some(Some((delay, transfer))) = traffic.then.get(token as usize) {
                network.start(now + *delay, Transfer { token: token + 1_000_000, ..*transfer });
            }
        }
        assert!(ends.len() <= 2 * traffic.first.len());
    }
    Events { ends, link_bytes: network.link_bytes() }
}

/// The same ends, within rounding.
pub(crate) fn assert_same(fast: &Events, slow: &Events) {
    assert_eq!(fast.ends.len(), slow.ends.len(), "{fast:?} {slow:?}");
    let sorted = |events: &Events| {
        let mut ends = events.ends.clone();
        ends.sort_unstable();
        ends
    };
    for (&(token, time), &(other, expected)) in sorted(fast).iter().zip(&sorted(slow)) {
        assert_eq!(token, other);
        // Events are rounded to picoseconds, and one at a high rate is a hundred at a low rate later.
        let tolerance = 500.0 + 1e-9 * expected.as_ps() as f64;
        let error = time.as_ps() as f64 - expected.as_ps() as f64;
        assert!(error.abs() <= tolerance, "transfer {token} ended at {time:?}, expected at {expected:?}");
    }
    assert_eq!(fast.link_bytes, slow.link_bytes);
}

fn sharing() -> impl Strategy<Value = FlowSharing> {
    let cross = prop_oneof![Just(0.0), Just(0.05), Just(0.3)];
    let weight_s = prop_oneof![Just(None), Just(Some(0.0)), Just(Some(8775.0))];
    let window = prop_oneof![Just(None), Just(Some(1e3)), Just(Some(1e5))];
    let factor = prop_oneof![Just(FactorMeaning::Bound), Just(FactorMeaning::Share)];
    (cross, weight_s, window, factor).prop_map(|(cross_traffic, weight_s, window, factor)| FlowSharing {
        cross_traffic,
        weight_s,
        window,
        factor,
    })
}

fn tangle() -> impl Strategy<Value = Tangle> {
    let bandwidth = prop_oneof![Just(1e9), Just(2e9), 0.5e9..20e9];
    let latency = prop_oneof![Just(0.0), Just(1e-7), 1e-8..1e-6];
    let link = (bandwidth, latency).prop_map(|(bandwidth, latency)| Link { bandwidth, latency });
    (2..6u32, prop::collection::vec(link, 1..12)).prop_flat_map(|(nodes, links)| {
        let route = prop::collection::vec(0..links.len() as u32, 1..5);
        let routes = prop::collection::vec(route, (nodes * nodes) as usize);
        (Just(nodes), Just(links), routes).prop_map(|(nodes, links, routes)| Tangle { nodes, links, routes })
    })
}

fn any_transfer(nodes: u32) -> impl Strategy<Value = Transfer> + Clone {
    let bytes = prop_oneof![Just(0), Just(1), Just(100_000), 1..1_000_000u64];
    let factor = prop_oneof![Just(1.0), 0.2..1.5];
    let delay = prop_oneof![Just(1.0), Just(0.0), 0.5..3.0];
    (0..nodes, 0..nodes, bytes, delay, factor).prop_map(|(from, to, bytes, latency_factor, bandwidth_factor)| {
        Transfer { latency_factor, bandwidth_factor, ..transfer(from, to, bytes) }
    })
}

/// Equal nodes on a switch or a tree, and transfers of few sizes at few times, so that very much is equal. Some are answered
/// at once by one of the same size.
pub(crate) fn regular_case() -> impl Strategy<Value = (Rc<Machine>, Traffic)> {
    let tree = || {
        let shape = FatTreeShape { down: vec![2, 4], up: vec![1, 2], parallel: vec![1, 1] };
        let links = [Link { bandwidth: 1e9, latency: 5e-7 }; 2];
        FatTree::new(shape, &links, Duplex::Split).expect("the shape is sound")
    };
    let cross = prop_oneof![Just(0.0), Just(0.05)];
    let one = (0..4u64, 0..8u32, 0..8u32, 1..3u64, any::<bool>());
    (any::<bool>(), cross, prop::collection::vec(one, 1..60)).prop_map(move |(is_tree, cross_traffic, many)| {
        let sharing = FlowSharing { cross_traffic, ..FlowSharing::default() };
        let machine = if is_tree { machine(tree(), None, sharing) } else { crossbar(8, sharing) };
        let first: Vec<_> = many
            .into_iter()
            .flat_map(|(at, from, to, size, answered)| {
                let pair = [transfer(from, to, size * 1000), transfer(to, from, size * 1000)];
                pair.map(|one| (Time::from_ps(at * 1_000_000), one)).into_iter().take(1 + usize::from(answered))
            })
            .collect();
        let then = vec![None; first.len()];
        (machine, Traffic { first, then })
    })
}

/// A machine and traffic for it.
pub(crate) fn case() -> impl Strategy<Value = (Rc<Machine>, Traffic)> {
    let limiter = prop_oneof![3 => Just(None), 1 => (1e9..20e9).prop_map(Some)];
    (tangle(), limiter, sharing()).prop_flat_map(|(tangle, limiter, sharing)| {
        // A grid of times makes many things happen at once.
        let time = prop_oneof![0..50u64, Just(3)].prop_map(|t| Time::from_ps(t * 10_000_000));
        let one = (time, any_transfer(tangle.nodes));
        let many = prop::collection::vec((one.clone(), prop::option::of(one)), 1..40);
        (Just((tangle, limiter, sharing)), many).prop_map(|((mut tangle, limiter, sharing), many)| {
            let (mut first, mut then): (Vec<_>, Vec<_>) = many.into_iter().unzip();
            if sharing.weight_s.is_some() {
                // Flows with and without latency would have penalties that differ by a factor of a million: sums of
                // their shares have no digits in common.
                tangle.links.iter_mut().for_each(|link| link.latency = link.latency.max(1e-8));
                let transfers = first.iter_mut().chain(then.iter_mut().flatten());
                transfers.for_each(|(_, transfer)| transfer.latency_factor = transfer.latency_factor.max(0.1));
            }
            (machine(tangle, limiter, sharing), Traffic { first, then })
        })
    })
}
