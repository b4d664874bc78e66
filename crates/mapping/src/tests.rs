use hpcast_platform::machine::FlowSharing;
use hpcast_platform::protocol::{MpiParameters, PollGrowth, Protocol};
use hpcast_platform::topology::{Duplex, FatTree, Link, Topology, Torus};
use hpcast_platform::{Interconnect, Loopback, Machine};
use proptest::prelude::*;

use super::*;

const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

fn machine(topology: impl Topology + 'static, cores: u32) -> Machine {
    let mpi = MpiParameters {
        eager_below: 0,
        detached_below: 0,
        envelope: 0,
        between: Protocol::default(),
        inside: Protocol::default(),
        probe: 0.0,
        test: 0.0,
        poll_growth: PollGrowth::Off,
        reduce_per_byte: 0.0,
    };
    let interconnect = Interconnect::new(Box::new(topology), Loopback::Unshared(LINK), None);
    Machine::new("test", cores, interconnect, mpi, FlowSharing::default())
}

/// Leaves with so many nodes each, and as many leaves.
fn tree(size: u32, cores: u32) -> Machine {
    let shape = format!("2; {size},{size}; 1,2; 1,1").parse().unwrap();
    machine(FatTree::new(shape, &[LINK, LINK], Duplex::Split).unwrap(), cores)
}

/// Neighbours on a grid that is joined at its ends.
fn stencil(width: u32, height: u32) -> Traffic {
    let mut traffic = Traffic::new(width * height);
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let at = |x: u32, y: u32| x % width + y % height * width;
        for to in [at(x + 1, y), at(x + width - 1, y), at(x, y + 1), at(x, y + height - 1)] {
            traffic.add(at(x, y), to, Counts { messages: 1, bytes: 1000 });
        }
    }
    traffic
}

fn scattered(nodes: u32, per_node: u32, seed: u64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..nodes * per_node).map(|place| place / per_node).collect();
    Key::new(seed).purpose("test").shuffle(&mut all, 0);
    all
}

fn sorted(nodes: &[u32]) -> Vec<u32> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes
}

#[test]
fn a_stencil_finds_its_blocks() {
    let (machine, traffic) = (tree(4, 4), stencil(8, 8));
    let nodes = scattered(16, 4, 3);
    let mapping = map(&traffic, &nodes, &machine, 1);
    assert_eq!(sorted(&mapping.nodes), sorted(&nodes));
    // The best that four leaves can do: blocks of 4 x 4, of which each sends 16 messages to other leaves, over two links.
    assert_eq!(mapping.after.hop_bytes, 4 * 16 * 2 * 1000);
    assert!(mapping.before.hop_bytes > 2 * mapping.after.hop_bytes);
    assert!(mapping.after.busiest_seconds < mapping.before.busiest_seconds);
    assert!(!mapping.is_cut_short);
    assert_eq!(mapping, map(&traffic, &nodes, &machine, 1), "the same seed gives the same mapping");
}

#[test]
fn kinds_come_from_above() {
    let load = Load::of(&stencil(4, 4), &(0..16).collect::<Vec<_>>(), &tree(4, 1).interconnect);
    let names: Vec<&str> = load.kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names, ["level-2", "level-1"], "as reports call them");
    assert_eq!(load.kinds[0].bytes, load.hop_bytes);
    assert_eq!(load.between_nodes, Bytes::new(64 * 1000));
}

#[test]
fn nodes_that_pass_messages_on_count_every_link() {
    let torus = machine(Torus::with_cables(&[6, 6], &[1, 1], true, LINK, Duplex::Split).unwrap(), 1);
    let traffic = stencil(6, 6);
    let in_place: Vec<u32> = (0..36).collect();
    let best = Load::of(&traffic, &in_place, &torus.interconnect);
    assert_eq!(best.hop_bytes, 36 * 4 * 1000);
    assert_eq!(best.kinds.len(), 1);
    // What is best stays as it is.
    assert_eq!(map(&traffic, &in_place, &torus, 1).nodes, in_place);
    let mapping = map(&traffic, &scattered(36, 1, 1), &torus, 1);
    assert!(mapping.after.hop_bytes < mapping.before.hop_bytes * 6 / 10, "{:?}", mapping.after);
}

#[test]
fn nothing_to_gain_changes_nothing() {
    let machine = tree(2, 2);
    let nodes = scattered(4, 2, 1);
    assert_eq!(map(&Traffic::new(8), &nodes, &machine, 0).nodes, nodes);
    let one = Traffic::new(1);
    assert_eq!(map(&one, &[3], &machine, 0).nodes, [3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn never_worse_and_the_same_nodes(
        pairs in proptest::collection::vec((0u32..32, 0u32..32, 0u64..1 << 30), 0..150), seed in 0u64..100
    ) {
        let mut traffic = Traffic::new(32);
        for (from, to, bytes) in pairs {
            traffic.add(from, to, Counts { messages: 1, bytes });
        }
        let machine = tree(4, 2);
        let nodes = scattered(16, 2, seed);
        let mapping = map(&traffic, &nodes, &machine, seed);
        prop_assert_eq!(sorted(&mapping.nodes), sorted(&nodes));
        prop_assert!(mapping.after.cost() <= mapping.before.cost());
        let measured = Load::of(&traffic, &mapping.nodes, &machine.interconnect);
        prop_assert_eq!(measured, mapping.after);
    }
}

/// Prints how long a large mapping takes.
#[test]
#[ignore = "takes seconds when optimised, and a minute otherwise: `make test-slow` runs it"]
fn thousands_of_ranks_take_seconds() {
    let mut traffic = Traffic::new(4096);
    let random = Key::new(1).purpose("partners");
    for from in 0..4096 {
        for draw in 0..40 {
            // Partners are near in a hidden order.
            let to = (from + 1 + random.below(100, from, draw) as u32) % 4096;
            traffic.add(from, to, Counts { messages: 1, bytes: 1000 });
        }
    }
    let start = std::time::Instant::now();
    let mapping = map(&traffic, &scattered(256, 16, 1), &tree(16, 16), 1);
    println!("{:?}: {} -> {}", start.elapsed(), mapping.before.hop_bytes, mapping.after.hop_bytes);
    assert!(mapping.after.hop_bytes < mapping.before.hop_bytes / 2);
}
