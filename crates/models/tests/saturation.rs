//! The packet model carries what theory says: greatest rates of known networks, patterns and routings.
//!
//! Rates are given as shares of a link's bandwidth. Sources of the closed forms: W. J. Dally and B. Towles, "Principles and
//! practices of interconnection networks", 2004, chapters 3 to 5 (tori, shifts, tornado); J. Kim, W. J. Dally, S. Scott and
//! D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008 (dragonflies).

use std::rc::Rc;

use hpcast_models::network::{PacketNetwork, Pattern, Traffic, measure, most_rate};
use hpcast_platform::interconnect::{Interconnect, Loopback};
use hpcast_platform::machine::{FlowSharing, Machine};
use hpcast_platform::protocol::MpiParameters;
use hpcast_platform::routing::Routing;
use hpcast_platform::switching::Arbitration;
use hpcast_platform::topology::{
    Arrangement, Dragonfly, DragonflyLinks, DragonflyShape, Duplex, FatTree, HyperX, HyperXShape, Hypercube, Link,
    Topology, Torus,
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
    let mut machine = Machine::new("test", 1, interconnect, MpiParameters::default(), FlowSharing::default());
    machine.packets.arbitration = Arbitration::OldestFirst;
    Rc::new(machine)
}

/// At 95 % of the greatest rate the network keeps up, at 115 % it does not.
fn assert_carries(topology: Box<dyn Topology>, routing: &str, pattern: Pattern, most: f64) {
    let name = format!("{}, {routing}, {pattern}", topology.describe());
    let machine = machine(topology, routing);
    let at = |share: f64| {
        let rate = share * most * LINK.bandwidth;
        let traffic = Traffic { pattern, bytes: 4096, rate, messages: 1500, seed: 1 };
        measure(&mut PacketNetwork::new(machine.clone(), 1), &machine.interconnect, &traffic)
    };
    let below = at(0.95);
    assert!(below.accepted >= 0.98 * below.offered, "{name}: {below:?}");
    let above = at(1.15);
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

/// UGAL is as good as minimal routing where that is good, and as good as Valiant's where that is bad.
#[test]
fn ugal_takes_the_better_way() {
    let keeps_up = |routing: &str, pattern, share: f64| {
        let machine = machine(dragonfly(), routing);
        let traffic = Traffic { pattern, bytes: 4096, rate: share * LINK.bandwidth, messages: 1500, seed: 1 };
        measure(&mut PacketNetwork::new(machine.clone(), 1), &machine.interconnect, &traffic).is_stable()
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
        most_rate(&machine.interconnect, pattern, 1) / LINK.bandwidth
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
