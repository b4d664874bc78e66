//! The packet model carries what theory says: greatest rates of known networks, patterns and routings.
//!
//! Rates are given as shares of a link's bandwidth. Sources of the closed forms: W. J. Dally and B. Towles, "Principles and
//! practices of interconnection networks", 2004, chapters 3 to 5 (tori, shifts, tornado); J. Kim, W. J. Dally, S. Scott and
//! D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008 (dragonflies).

use std::rc::Rc;

use hpcast_models::network::{Network, PacketNetwork, Pattern, Traffic, injection, measure, most_rate, saturation};
use hpcast_platform::interconnect::{Interconnect, Loopback};
use hpcast_platform::machine::{FlowSharing, Machine};
use hpcast_platform::protocol::MpiParameters;
use hpcast_platform::routing::Routing;
use hpcast_platform::topology::{
    Arrangement, Clos, ClosShape, Dragonfly, DragonflyLinks, DragonflyPlus, DragonflyPlusShape, DragonflyShape, Duplex,
    FatTree, Gamma, HyperX, HyperXShape, Hypercube, Link, SlimFly, Topology, Torus,
};

const LINK: Link = Link { bandwidth: 12.5e9, latency: 1e-7 };

fn torus(dims: &[u32]) -> Box<dyn Topology> {
    Box::new(Torus::new(dims, true, LINK, Duplex::Split).unwrap())
}

/// The balanced dragonfly of Kim et al., figure 5: p = h = 2, a = 4, 9 groups.
fn dragonfly() -> Box<dyn Topology> {
    let links = DragonflyLinks { node: LINK, local: LINK, global: LINK };
    let shape = DragonflyShape {
        groups: 9,
        switches_per_group: 4,
        nodes_per_switch: 2,
        global_cables_per_switch: 2,
        arrangement: Arrangement::Absolute,
    };
    Box::new(Dragonfly::new(shape, links, Duplex::Split).unwrap())
}

fn tree(shape: &str) -> Box<dyn Topology> {
    Box::new(FatTree::new(shape.parse().unwrap(), &[LINK; 2], Duplex::Split).unwrap())
}

fn hyperx() -> Box<dyn Topology> {
    let shape = HyperXShape { dimensions: vec![4, 4], cables: vec![1, 1], nodes_per_switch: 4 };
    Box::new(HyperX::new(shape, LINK, LINK, Duplex::Split).unwrap())
}

fn hypercube() -> Box<dyn Topology> {
    Box::new(Hypercube::new(6, 1, LINK, Duplex::Split).unwrap())
}

fn machine(topology: Box<dyn Topology>, routing: &str) -> Rc<Machine> {
    let routing = Routing::named(routing, 0, &*topology).unwrap();
    let interconnect = Interconnect::new(topology, Loopback::Unshared(LINK), None).routed(routing);
    Rc::new(Machine::new("test", 1, interconnect, MpiParameters::default(), FlowSharing::default()))
}

/// What the search finds, as `hpcast network throughput` does, with so many messages of each node; a share of a link's bandwidth.
fn found(machine: &Rc<Machine>, pattern: Pattern, messages: u32, seed: u64) -> Option<f64> {
    let traffic = Traffic { pattern, bytes: 4096, rate: 0.0, messages, seed };
    let most = most_rate(machine, pattern, seed).min(injection(machine));
    let network = || -> Box<dyn Network> { Box::new(PacketNetwork::new(machine.clone(), seed)) };
    Some(saturation(network, machine, &traffic, most).unwrap()?.rate / LINK.bandwidth)
}

/// The greatest rate is at least 95 % of what theory says, and at 115 % the network does not keep up.
fn assert_carries(topology: Box<dyn Topology>, routing: &str, pattern: Pattern, most: f64) {
    let name = format!("{}, {routing}, {pattern}", topology.describe());
    let machine = machine(topology, routing);
    let share = found(&machine, pattern, 500, 1).unwrap_or(0.0) / most;
    assert!((0.95..1.02).contains(&share), "{name}: {share}");
    let traffic = Traffic { pattern, bytes: 4096, rate: 1.15 * most * LINK.bandwidth, messages: 500, seed: 1 };
    let above = measure(&mut PacketNetwork::new(machine.clone(), 1), &machine, &traffic).unwrap();
    assert!(!above.is_stable(), "{name}: {above:?}");
}

/// A ring of odd k: messages cross (k^2 - 1) / 4k links of it on average, half of them in either direction.
fn odd_ring(k: f64, nodes: f64) -> f64 {
    8.0 * k / (k * k - 1.0) * (nodes - 1.0) / nodes
}

#[test]
fn dimension_order_on_tori() {
    assert_carries(torus(&[9, 9]), "dimension-order", Pattern::Uniform, odd_ring(9.0, 81.0));
    assert_carries(torus(&[5, 5, 5]), "dimension-order", Pattern::Uniform, odd_ring(5.0, 125.0));
    // The tornado loads each link of a ring of 9 with 4 messages, and Valiant's ways load them as twice the uniform traffic.
    assert_carries(torus(&[9]), "dimension-order", Pattern::Adversary, 1.0 / 4.0);
    assert_carries(torus(&[9, 9]), "valiant", Pattern::Adversary, odd_ring(9.0, 81.0) / 2.0);
}

#[test]
fn minimal_and_valiant_on_a_dragonfly() {
    // Global links carry 64/71 of what a node sends, local ones 68/71: the nodes' own links are full first.
    assert_carries(dragonfly(), "minimal", Pattern::Uniform, 1.0);
    // Two global links each, and every node has one.
    assert_carries(dragonfly(), "valiant", Pattern::Uniform, 0.5);
    // All eight nodes of a group send over the one cable to the next.
    assert_carries(dragonfly(), "minimal", Pattern::Adversary, 1.0 / 8.0);
}

#[test]
fn trees_and_hyperx() {
    assert_carries(tree("2;8,8;1,8;1,1"), "d-mod-k", Pattern::Uniform, 1.0);
    assert_carries(tree("2;8,8;1,8;1,1"), "d-mod-k", Pattern::Shift(8), 1.0);
    // Half of the cables up: all but the 7 of 63 other nodes that are on the same switch are beyond them.
    assert_carries(tree("2;8,8;1,4;1,1"), "d-mod-k", Pattern::Uniform, 0.5 * 63.0 / 56.0);
    // A switch of four nodes sends a quarter to each switch of a line, over one cable.
    assert_carries(hyperx(), "dimension-order", Pattern::Uniform, 63.0 / 64.0);
    // To the opposite node: all four of a switch over the same cable.
    assert_carries(hyperx(), "dimension-order", Pattern::Adversary, 0.25);
    assert_carries(hypercube(), "dimension-order", Pattern::Uniform, 2.0 * 63.0 / 64.0);
}

/// Node (x, y) to node (y, x): on the way along x everybody of a row meets where it turns. Of a row of 9, node (x, y) goes on at
/// (y, y); the links next to there carry 4 messages.
#[test]
fn transposing_a_torus() {
    assert_carries(torus(&[9, 9]), "dimension-order", Pattern::Transpose, 1.0 / 4.0);
}

#[test]
fn networks_of_switches() {
    let shape = HyperXShape { dimensions: vec![7], cables: vec![1], nodes_per_switch: 3 };
    let full_mesh = || Box::new(HyperX::new(shape.clone(), LINK, LINK, Duplex::Split).unwrap());
    // The three nodes of a switch send to those of the next over one cable.
    assert_carries(full_mesh(), "direct", Pattern::Adversary, 1.0 / 3.0);
    assert_carries(full_mesh(), "direct", Pattern::Uniform, 1.0);
    // Two cables away at most, with seven cables for two nodes: the nodes' own links are full first.
    let slim_fly = || Box::new(SlimFly::new(5, 2, LINK, LINK, Duplex::Split).unwrap());
    assert_carries(slim_fly(), "minimal", Pattern::Uniform, 1.0);
    let shape = DragonflyPlusShape {
        groups: 5,
        leaves_per_group: 4,
        spines_per_group: 4,
        nodes_per_leaf: 4,
        global_cables_per_spine: 1,
        arrangement: Arrangement::Absolute,
    };
    let links = DragonflyLinks { node: LINK, local: LINK, global: LINK };
    let dragonfly_plus = || Box::new(DragonflyPlus::new(shape, links, Duplex::Split).unwrap());
    // A group of 16 nodes has one cable to each other, for 16 of the 79 messages to others.
    assert_carries(dragonfly_plus(), "minimal", Pattern::Uniform, 79.0 / 256.0);
    assert_carries(dragonfly_plus(), "minimal", Pattern::Adversary, 1.0 / 16.0);
}

#[test]
fn stages() {
    let shape = ClosShape { middle_switches: 4, nodes_per_switch: 4, edge_switches: 4 };
    assert_carries(Box::new(Clos::new(shape, LINK, LINK).unwrap()), "d-mod-k", Pattern::Uniform, 1.0);
    assert_carries(Box::new(Clos::new(shape, LINK, LINK).unwrap()), "d-mod-k", Pattern::Shift(4), 1.0);
    assert_carries(Box::new(Gamma::new(4, LINK, LINK).unwrap()), "distance-tag", Pattern::Shift(1), 1.0);
}

/// With few messages chance decides, but it does not stop the search at nothing, and nothing is found beyond what links allow.
#[test]
fn few_messages_give_rough_rates() {
    let ring = machine(torus(&[8]), "dimension-order");
    let links = most_rate(&ring, Pattern::Uniform, 0) / LINK.bandwidth;
    for seed in 0..20 {
        let share = found(&ring, Pattern::Uniform, 20, seed).unwrap() / links;
        assert!((0.6..=1.0).contains(&share), "seed {seed}: {share}");
    }
}

/// UGAL is as good as minimal routing where that is good, and as good as Valiant's where that is bad.
#[test]
fn ugal_takes_the_better_way() {
    let keeps_up = |routing: &str, pattern, share: f64| {
        let machine = machine(dragonfly(), routing);
        let traffic = Traffic { pattern, bytes: 4096, rate: share * LINK.bandwidth, messages: 1500, seed: 1 };
        measure(&mut PacketNetwork::new(machine.clone(), 1), &machine, &traffic).unwrap().is_stable()
    };
    assert!(keeps_up("ugal-g", Pattern::Uniform, 0.9));
    assert!(keeps_up("ugal-g", Pattern::Adversary, 0.45));
    assert!(keeps_up("ugal-l", Pattern::Adversary, 0.45));
    assert!(!keeps_up("minimal", Pattern::Adversary, 0.2));
}

/// The bound that links give is the closed form.
#[test]
fn greatest_loads_of_links() {
    let most = |topology, routing, pattern| {
        let machine = machine(topology, routing);
        most_rate(&machine, pattern, 1) / LINK.bandwidth
    };
    let close = |found: f64, expected: f64, tolerance: f64| {
        assert!((found / expected - 1.0).abs() < tolerance, "{found} {expected}");
    };
    close(most(torus(&[9, 9]), "dimension-order", Pattern::Uniform), odd_ring(9.0, 81.0), 1e-9);
    close(most(torus(&[9]), "dimension-order", Pattern::Adversary), 0.25, 1e-9);
    close(most(dragonfly(), "minimal", Pattern::Uniform), 1.0, 1e-9);
    close(most(dragonfly(), "minimal", Pattern::Adversary), 1.0 / 8.0, 1e-9);
    close(most(tree("2;8,8;1,4;1,1"), "d-mod-k", Pattern::Uniform), 0.5 * 63.0 / 56.0, 1e-9);
    close(most(dragonfly(), "valiant", Pattern::Uniform), 0.5, 0.03);
}
