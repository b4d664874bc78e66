use proptest::prelude::*;

use hpcast_platform::interconnect::{Interconnect, Loopback};
use hpcast_platform::machine::{FactorMeaning, FlowSharing, Machine};
use hpcast_platform::protocol::MpiParameters;
use hpcast_platform::routing::Routing;
use hpcast_platform::switching::{Arbitration, PacketSwitching};
use hpcast_platform::topology::{
    Arrangement, Crossbar, Dragonfly, DragonflyLinks, DragonflyShape, Duplex, FatTree, HyperX, HyperXShape, Hypercube,
    Link, SlimFly, Topology, Torus,
};

use super::*;
use crate::network::testing::{self, Tangle, Traffic, ends, run, transfer};

/// 1 GB/s: a byte is a nanosecond.
const LINK: Link = Link { bandwidth: 1e9, latency: 5e-7 };

fn machine(topology: impl Topology + 'static, routing: Routing, packets: PacketSwitching) -> Rc<Machine> {
    let loopback = Loopback::Unshared(Link { bandwidth: 25e9, latency: 1e-7 });
    let interconnect = Interconnect::new(Box::new(topology), loopback, None).routed(routing);
    let mut machine = Machine::new("test", 1, interconnect, MpiParameters::default(), FlowSharing::default());
    machine.packets = packets;
    Rc::new(machine)
}

fn packets_of(size: u32) -> PacketSwitching {
    PacketSwitching { size, ..PacketSwitching::default() }
}

fn crossbar(nodes: u32, size: u32) -> PacketNetwork {
    let crossbar = Crossbar::new(nodes, LINK, Duplex::Split, None);
    PacketNetwork::new(machine(crossbar, Routing::Fixed, packets_of(size)), 0)
}

/// A chain of links with these bandwidths, crossed by everything from node 0 to node 1.
fn chain(bandwidths: &[f64], packets: PacketSwitching) -> PacketNetwork {
    let links: Vec<Link> = bandwidths.iter().map(|&bandwidth| Link { bandwidth, latency: 5e-7 }).collect();
    let all: Vec<u32> = (0..links.len() as u32).collect();
    let routes = vec![Vec::new(), all, vec![0], Vec::new()];
    PacketNetwork::new(machine(Tangle { nodes: 2, links, routes }, Routing::Fixed, packets), 0)
}

/// Numbers of links beyond what events hold are refused, before anything is built.
#[test]
fn too_large_networks_are_refused() {
    let of = |nodes| machine(Crossbar::new(nodes, LINK, Duplex::Split, None), Routing::Fixed, packets_of(1000));
    assert!(PacketNetwork::check(&of(1000)).is_ok());
    let error = PacketNetwork::check(&of(40_000_000)).unwrap_err().to_string();
    assert!(error.contains("at most 67108864 links, and this one has 80000000"), "{error}");
}

/// However many kinds of links there are.
#[test]
fn no_two_links_alike() {
    let count = 70_000;
    let links = (0..count).map(|id| Link { bandwidth: 1e9, latency: 5e-7 + 1e-12 * f64::from(id) }).collect();
    let routes = vec![Vec::new(), vec![0, count - 2, count - 1], vec![count - 3], Vec::new()];
    let tangle = Tangle { nodes: 2, links, routes };
    let mut network = PacketNetwork::new(machine(tangle, Routing::Fixed, packets_of(1000)), 0);
    let sent = [(0, transfer(0, 1, 10_000)), (0, transfer(1, 0, 1000))];
    assert_eq!(ends(&mut network, &sent), [11_500_000 + 139_997, 1_500_000 + 69_997]);
}

/// A limiter is the first link of what leaves its node, and the last of what comes: with room for a packet behind it, one must
/// not hold up the other.
#[test]
fn limiters_let_through_what_arrives() {
    let crossbar = || Crossbar::new(8, LINK, Duplex::Split, None);
    let tree = || FatTree::new("2;4,4;1,4;1,1".parse().unwrap(), &[LINK; 2], Duplex::Split).unwrap();
    let topologies: [Box<dyn Topology>; 2] = [Box::new(crossbar()), Box::new(tree())];
    for topology in topologies {
        let nodes = topology.nodes();
        let interconnect = Interconnect::new(topology, Loopback::Unshared(LINK), Some(0.5e9));
        let mut machine = Machine::new("test", 1, interconnect, MpiParameters::default(), FlowSharing::default());
        machine.packets = PacketSwitching { size: 1000, buffer: Some(1000), ..machine.packets };
        let all = (1..nodes).flat_map(|step| (0..nodes).map(move |from| (from, (from + step) % nodes)));
        let sent: Vec<Transfer> = all.map(|(from, to)| transfer(from, to, 16_000)).collect();
        let arrivals = crate::network::arrivals(&mut PacketNetwork::new(Rc::new(machine), 0), &sent);
        let last = arrivals.unwrap().into_iter().max().unwrap();
        // What leaves a node and what comes, at half a byte a nanosecond.
        let least = 2.0 * f64::from(nodes - 1) * 16_000.0 / 0.5e9;
        assert!(last.as_secs() >= least && last.as_secs() < 1.5 * least, "{last:?} {least}");
    }
}

/// Cut-through: latencies of all links, and the bytes over the bandwidth once, however many packets.
#[test]
fn a_message_alone_takes_latency_and_bytes_over_bandwidth() {
    for size in [100, 1000, 4096] {
        assert_eq!(ends(&mut crossbar(2, size), &[(7, transfer(0, 1, 10_000))]), [7 + 1_000_000 + 10_000_000]);
        assert_eq!(ends(&mut crossbar(2, size), &[(0, transfer(0, 1, 0))]), [1_000_000]);
        assert_eq!(ends(&mut crossbar(2, size), &[(0, transfer(0, 1, 1))]), [1_001_000]);
    }
    let packets = packets_of(1000);
    assert_eq!(ends(&mut chain(&[1e9; 5], packets), &[(0, transfer(0, 1, 10_000))]), [2_500_000 + 10_000_000]);
}

/// A slow link decides; before it nothing is gained, behind it a packet goes on as it comes.
#[test]
fn the_narrowest_link_decides() {
    let packets = packets_of(1000);
    let time = |bandwidths: &[f64]| ends(&mut chain(bandwidths, packets), &[(0, transfer(0, 1, 10_000))])[0];
    assert_eq!(time(&[2e9, 1e9, 4e9]), 1_500_000 + 10_000_000);
    assert_eq!(time(&[1e9, 4e9, 4e9]), 1_500_000 + 10_000_000);
}

/// Word of room comes back after the link's latency: with room for one packet, a link sends one in a round trip.
#[test]
fn small_buffers_throttle() {
    let one = PacketSwitching { size: 1000, buffer: Some(1000), ..PacketSwitching::default() };
    // Sent at 0; its head is there after 500 ns and leaves until 1500 ns, known after 2000 ns.
    let time = ends(&mut chain(&[1e9; 2], one), &[(0, transfer(0, 1, 5000))])[0];
    assert_eq!(time, 4 * 2_000_000 + 1_000_000 + 1_000_000);
    let two = PacketSwitching { buffer: Some(2000), ..one };
    let time = ends(&mut chain(&[1e9; 2], two), &[(0, transfer(0, 1, 5000))])[0];
    assert_eq!(time, 1_000_000 + 5_000_000);
}

#[test]
fn messages_of_a_node_take_turns_and_links_are_shared() {
    let both = [(0, transfer(0, 1, 40_000)), (0, transfer(0, 2, 40_000))];
    let times = ends(&mut crossbar(3, 1000), &both);
    assert!(times[0] >= 75_000_000 && times[1] == 81_000_000, "{times:?}");
    let incast: Vec<(u64, Transfer)> = (1..5).map(|from| (0, transfer(from, 0, 4000))).collect();
    let times = ends(&mut crossbar(5, 1000), &incast);
    assert_eq!(times.last(), Some(&(1_000_000 + 16_000_000)));
    assert!(times[0] >= 14_000_000, "all get the same share: {times:?}");
}

#[test]
fn factors_stretch_and_pace() {
    let slow = |meaning| {
        let sharing = FlowSharing { factor: meaning, ..FlowSharing::default() };
        let mut network = PacketNetwork::new(testing::crossbar(3, sharing), 0);
        let transfer = |to| Transfer { bandwidth_factor: 0.5, latency_factor: 3.0, ..transfer(0, to, 4096 * 10) };
        ends(&mut network, &[(0, transfer(1)), (0, transfer(2))])
    };
    // Bounded, both get what they may; as shares of the link, it carries twice the bytes.
    let times = slow(FactorMeaning::Bound);
    assert!(times.iter().all(|&time| time.abs_diff(3_000_000 + 81_920_000) <= 2 * 4_096_000), "{times:?}");
    let times = slow(FactorMeaning::Share);
    assert!(times[1].abs_diff(3_000_000 + 2 * 81_920_000) <= 4_096_000, "{times:?}");
    let quick = Transfer { latency: Some(Time::from_ps(250_000)), ..transfer(0, 1, 1000) };
    assert_eq!(ends(&mut crossbar(2, 4096), &[(0, quick)]), [250_000 + 1_000_000]);
    assert_eq!(ends(&mut crossbar(2, 4096), &[(0, transfer(1, 1, 25_000))]), [1_100_000], "inside a node");
}

#[test]
fn the_oldest_goes_first_where_it_should() {
    // Node 2's packet is older when it comes to the queue behind those of node 1.
    let links = vec![LINK, Link { latency: 5e-6, ..LINK }, LINK];
    let mut routes = vec![Vec::new(); 9];
    (routes[3], routes[6]) = (vec![0, 2], vec![1, 2]);
    let traffic = [(0, transfer(2, 0, 1000)), (100_000, transfer(1, 0, 20_000))];
    let last = |arbitration| {
        let packets = PacketSwitching { arbitration, ..packets_of(1000) };
        let tangle = Tangle { nodes: 3, links: links.clone(), routes: routes.clone() };
        ends(&mut PacketNetwork::new(machine(tangle, Routing::Fixed, packets), 0), &traffic)[0]
    };
    assert!(last(Arbitration::OldestFirst) <= last(Arbitration::FirstComeFirstServed));
}

fn dragonfly() -> Dragonfly {
    let links = DragonflyLinks { node: LINK, local: LINK, global: LINK };
    let shape = DragonflyShape {
        groups: 5,
        switches_per_group: 2,
        nodes_per_switch: 2,
        global_cables_per_switch: 2,
        arrangement: Arrangement::Absolute,
    };
    Dragonfly::new(shape, links, Duplex::Split).unwrap()
}

fn topology(kind: usize) -> Box<dyn Topology> {
    match kind {
        0 => Box::new(Torus::new(&[4, 5], true, LINK, Duplex::Split).unwrap()),
        1 => Box::new(dragonfly()),
        2 => Box::new(FatTree::new("2;4,4;1,2;1,2".parse().unwrap(), &[LINK; 2], Duplex::Split).unwrap()),
        3 => {
            let shape = HyperXShape { dimensions: vec![3, 3], cables: vec![1, 1], nodes_per_switch: 2 };
            Box::new(HyperX::new(shape, LINK, LINK, Duplex::Split).unwrap())
        }
        4 => Box::new(Hypercube::new(4, 1, LINK, Duplex::Split).unwrap()),
        5 => Box::new(SlimFly::new(3, 1, LINK, LINK, Duplex::Split).unwrap()),
        _ => Box::new(Torus::new(&[6], true, LINK, Duplex::Shared).unwrap()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whatever the network, the routing and the traffic, with buffers for a single packet: everything arrives, links carry
    /// what was sent, no message is faster than alone, and twice is the same.
    #[test]
    fn nothing_is_lost_and_nobody_waits_for_ever(
        kind in 0..7usize,
        routing in 0..8usize,
        limited: bool,
        few in 1u32..3,
        sends in prop::collection::vec((0u32..64, 0u32..64, 0u64..5000, 0u64..3_000_000), 1..200),
    ) {
        let topology = topology(kind);
        let words = Routing::words(&*topology);
        let routing = Routing::named(words[routing % words.len()], 1, &*topology).unwrap();
        let nodes = topology.nodes();
        let loopback = Loopback::Unshared(LINK);
        let limiter = limited.then_some(0.8e9);
        let interconnect = Interconnect::new(topology, loopback, limiter).routed(routing);
        let mut machine = Machine::new("test", 1, interconnect, MpiParameters::default(), FlowSharing::default());
        machine.packets = PacketSwitching { size: 512, buffer: Some(512 * few), injection: Some(few), ..machine.packets };
        let machine = Rc::new(machine);
        let first: Vec<(Time, Transfer)> = sends.iter()
            .map(|&(from, to, bytes, at)| (Time::from_ps(at), transfer(from % nodes, to % nodes, bytes)))
            .collect();
        let traffic = Traffic { first: first.clone(), then: Vec::new() };
        let mut network = PacketNetwork::new(machine.clone(), 1);
        let events = run(&mut network, &traffic);
        prop_assert_eq!(events.ends.len(), sends.len());
        prop_assert!(network.is_empty());
        prop_assert_eq!((network.packets.len(), network.ports.waiting_anywhere()), (0, 0));
        let sent: u64 = first.iter().filter(|(_, t)| t.from != t.to).map(|(_, t)| t.bytes).sum();
        prop_assert!(events.link_bytes.iter().sum::<f64>() >= sent as f64);
        for &(token, time) in &events.ends {
            let (at, transfer) = first[token as usize];
            let mut path = Path::default();
            machine.interconnect.path(transfer.from, transfer.to, &mut path);
            let alone = match routing.is_fixed() {
                true => path.latency + transfer.bytes as f64 / path.bandwidth,
                // Packets that take different ways pass each other, and a detour of a dragonfly over two global links may be
                // shorter than the way with one and a local link at each end.
                false => path.latency.min(LINK.latency),
            };
            let alone = at + Time::from_secs(alone);
            prop_assert!(time.as_ps() + 10 >= alone.as_ps(), "{token} {transfer:?} {at:?} {time:?} {alone:?}");
        }
        prop_assert_eq!(run(&mut PacketNetwork::new(machine, 1), &traffic), events);
    }
}
