//! Traffic to measure network models with.

use std::rc::Rc;

use hpcast_models::network::{Network, Transfer};
use hpcast_platform::interconnect::{Interconnect, Loopback};
use hpcast_platform::machine::{FactorMeaning, FlowSharing, Machine};
use hpcast_platform::protocol::MpiParameters;
use hpcast_platform::topology::{
    Arrangement, Crossbar, Dragonfly, DragonflyLinks, DragonflyShape, Duplex, FatTree, FatTreeShape, Link, Topology,
    Torus,
};
use hpcast_units::Time;

/// 100 Gbit/s, 100 ns.
pub const LINK: Link = Link { bandwidth: 12.5e9, latency: 1e-7 };

/// A machine with that network and nothing else of interest.
pub fn machine(topology: impl Topology + 'static, cross_traffic: f64) -> Rc<Machine> {
    let loopback = Loopback::Unshared(Link { bandwidth: 25e9, latency: 1e-7 });
    let mpi = MpiParameters::default();
    let sharing = FlowSharing { cross_traffic, weight_s: None, window: None, factor: FactorMeaning::Share };
    Rc::new(Machine::new("bench", 1, Interconnect::new(Box::new(topology), loopback, None), mpi, sharing))
}

/// One switch.
pub fn crossbar(nodes: u32) -> Crossbar {
    Crossbar::new(nodes, LINK, Duplex::Split, None)
}

/// A fat tree with `radix` nodes below each leaf, full bisection bandwidth, `radix` to the power of `levels` nodes.
pub fn fat_tree(radix: u32, levels: usize) -> FatTree {
    let mut up = vec![radix; levels];
    up[0] = 1;
    let shape = FatTreeShape { down: vec![radix; levels], up, parallel: vec![1; levels] };
    FatTree::new(shape, &vec![LINK; levels], Duplex::Split).expect("the shape is sound")
}

/// The balanced dragonfly with p = h = 4, a = 8: 33 groups.
pub fn dragonfly() -> Dragonfly {
    let shape = DragonflyShape {
        groups: 33,
        switches_per_group: 8,
        nodes_per_switch: 4,
        global_cables_per_switch: 4,
        arrangement: Arrangement::Absolute,
    };
    Dragonfly::new(shape, DragonflyLinks { node: LINK, local: LINK, global: LINK }, Duplex::Split)
        .expect("the shape is sound")
}

/// A torus of three dimensions.
pub fn torus(side: u32) -> Torus {
    Torus::new(&[side; 3], true, LINK, Duplex::Split).expect("the shape is sound")
}

/// A transfer without factors.
pub fn transfer(from: u32, to: u32, bytes: u64, token: u32) -> Transfer {
    Transfer { from, to, bytes, latency_factor: 1.0, latency: None, bandwidth_factor: 1.0, token }
}

/// Random numbers that are the same in every run (xorshift64*).
pub struct Random(u64);

impl Default for Random {
    fn default() -> Random {
        Random(0x9E37_79B9_7F4A_7C15)
    }
}

impl Random {
    /// Uniform in `0..n`.
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((u128::from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)) * u128::from(n)) >> 64) as u32
    }

    /// Two different ones of `n`.
    pub fn pair(&mut self, n: u32) -> (u32, u32) {
        let (a, b) = (self.below(n), self.below(n - 1));
        (a, b + u32::from(b >= a))
    }

    /// The numbers `0..n` in random order.
    pub fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut items: Vec<u32> = (0..n).collect();
        for last in (1..n).rev() {
            items.swap(last as usize, self.below(last + 1) as usize);
        }
        items
    }
}

/// Lets the network run until it has ended `count` more transfers; each end starts what `next` says.
pub fn run(network: &mut dyn Network, count: usize, mut next: impl FnMut(u32) -> Option<Transfer>) {
    let (mut done, mut ended) = (0, Vec::new());
    while done < count {
        let now = network.next_event();
        if now == Time::NEVER {
            break;
        }
        network.advance(now, &mut ended);
        done += ended.len();
        for token in ended.drain(..) {
            if let Some(transfer) = next(token) {
                network.start(now, transfer);
            }
        }
    }
}

/// a) `flows` disjoint pairs on a crossbar; each end starts the same transfer again.
pub fn disjoint(network: &mut dyn Network, flows: u32) -> impl FnMut(u32) -> Option<Transfer> + use<> {
    let again = |token: u32| Some(transfer(2 * token, 2 * token + 1, 1000 + 7 * u64::from(token % 100), token));
    for token in 0..flows {
        network.start(Time::from_ps(u64::from(token) * 1000), again(token).expect("always one"));
    }
    again
}

/// b) `flows` flows between the ends of random permutations, sizes around 100 kB.
pub fn permutation(network: &mut dyn Network, nodes: u32, flows: u32) -> impl FnMut(u32) -> Option<Transfer> + use<> {
    let mut random = Random::default();
    let (from, to) = (random.permutation(nodes), random.permutation(nodes));
    let mut at = 0;
    let mut next = move |token| {
        at = (at + 1) % nodes as usize;
        let bytes = u64::from(50_000 + random.below(100_000));
        Some(transfer(from[at], to[at], bytes, token))
    };
    for token in 0..flows {
        network.start(Time::from_ps(u64::from(token) * 10_000), next(token).expect("always one"));
    }
    next
}

/// c) `flows` flows between random nodes, 100 kB.
pub fn random_pairs(network: &mut dyn Network, nodes: u32, flows: u32) -> impl FnMut(u32) -> Option<Transfer> + use<> {
    random_messages(network, nodes, flows, 100_000)
}

/// The same with messages of another size.
pub fn random_messages(
    network: &mut dyn Network,
    nodes: u32,
    flows: u32,
    bytes: u64,
) -> impl FnMut(u32) -> Option<Transfer> + use<> {
    let mut random = Random::default();
    let mut next = move |token| {
        let (from, to) = random.pair(nodes);
        Some(transfer(from, to, bytes, token))
    };
    for token in 0..flows {
        network.start(Time::from_ps(u64::from(token) * 10_000), next(token).expect("always one"));
    }
    next
}

/// d) Everybody sends to everybody at once: node i to i + k, one k a microsecond.
pub fn all_to_all(network: &mut dyn Network, nodes: u32, bytes: u64) {
    for k in 1..nodes {
        for i in 0..nodes {
            let at = Time::from_ps(u64::from(k) * 1_000_000);
            network.start(at, transfer(i, (i + k) % nodes, bytes, k * nodes + i));
        }
    }
    run(network, (nodes * (nodes - 1)) as usize, |_| None);
}
