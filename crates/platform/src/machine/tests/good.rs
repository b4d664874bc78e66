use std::path::PathBuf;

use hpcast_units::{Bandwidth, Length, Power, Seconds};
use proptest::prelude::*;

use super::*;
use crate::interconnect::Loopback;
use crate::machine::{
    CableClass, CostTable, FactorMeaning, Figures, FlowSharing, Io, Machine, Network, Nodes, Part, PlaneFigures,
    RoutingWord, SwitchPrice, Wiring,
};
use crate::placement::{Allocation, Plan, Policy};
use crate::protocol::{Mode, MpiParameters, Piece, Piecewise, PollGrowth, Protocol};
use crate::switching::{Arbitration, PacketSwitching};
use crate::topology::{
    Arrangement, ClosShape, DragonflyLinks, DragonflyPlusShape, DragonflyShape, Duplex, FatTreeShape, HyperXShape,
    Link, ParallelCables, PlaneChoice, Ties,
};

/// Everything that a machine file can say.
const FULL: &str = r#"
name = "full"
description = "an example"
[nodes]
count = 510
sockets = 2
cores-per-socket = 16
memory = "192 GiB"
memory-bandwidth = "256 GB/s"
clock = "2.1 GHz"
flops = "1.9456 Tflop/s"
sustained-flops = "1.1 Tflop/s"
[network]
topology = "fat-tree"
shape = "2; 16,32; 1,8; 1,2"
routing = "d-mod-k"
levels = [{ bandwidth = "100 Gbit/s", latency = "90 ns" }, { bandwidth = "200 Gbit/s", latency = "0.1 us" }]
switch-ports = [32, 64]
duplex = "shared"
loopback = { bandwidth = "25 GB/s", latency = "0.1 us" }
limiter = "12.5 GB/s"
unused-ports = 2
[network.flow]
cross-traffic = 0.05
weight-s = "20537.14 B"
window = "4 MiB"
factor = "share"
[mpi]
eager-below = "64 kB"
detached-below = "64 KiB"
envelope = "16 B"
probe = "0.25 us"
test = "0.8 us"
poll-growth = "global"
reduce-per-byte = "0.1 ns"
[mpi.between]
send = [{ above = "0 B", base = "1 us", per-byte = "22.582693391522874 ps" }, { above = "8 kB", base = "2 us" }]
isend = "0.5 us"
receive = "0.7 us"
latency-factor = [{ above = "0 B", factor = 1 }, { above = "8000 B", factor = 1731.7102918851567 }]
bandwidth-factor = 0.95
[mpi.inside]
[placement]
policy = "random"
seed = 7
ranks-per-node = 33
oversubscribe = true
"#;

#[test]
fn everything_is_read() {
    let file = good(FULL);
    assert!(file.assumed.is_empty(), "{:?}", file.assumed);
    assert_eq!(file.nodes.cores(), 32);
    assert_eq!(file.network.limiter, Some(12.5e9));
    assert_eq!(file.sharing.weight_s, Some(20537.14));
    assert_eq!(file.mpi.poll_growth, PollGrowth::Global);
    assert_eq!(file.mpi.between.send.at(8001), Some(2e-6));
    assert_eq!(file.mpi.between.latency_factor.at(9000), Some(1731.7102918851567));
    assert_eq!(file.mpi.inside, Protocol::default());
    assert_eq!(file.plan.ranks_per_node, Some(33));
    let machine = file.build().unwrap();
    assert_eq!(machine.place(510 * 33).unwrap().ranks(), 510 * 33);
}

#[test]
fn what_was_assumed_is_listed() {
    let file = good(SMALL);
    for line in
        ["nodes.sockets = 1", "network.duplex = split", "mpi.eager-below = 64 KiB", "mpi.inside = as mpi.between"]
    {
        assert!(file.assumed.iter().any(|assumed| assumed == line), "{line} not in {:?}", file.assumed);
    }
    // What is written out in full leaves nothing to assume.
    assert!(good(&file.to_toml([])).assumed.is_empty());
}

#[test]
fn topologies_tell_how_many_nodes_they_have() {
    let torus = r#"
        name = "t"
        nodes.cores-per-socket = 1
        [network]
        topology = "mesh"
        dimensions = [4, 3, 2]
        bandwidth = "1 GB/s"
        latency = "1 us"
        loopback = { bandwidth = "10 GB/s", latency = "0 s" }
    "#;
    assert_eq!(good(torus).nodes.count, 24);
    let graph = r#"
        name = "g"
        nodes.cores-per-socket = 1
        network.topology = "graph"
        network.graph = """
node a b
link a -- b 1 GB/s 1 us
"""
    "#;
    let machine = good(graph).build().unwrap();
    assert_eq!((machine.nodes.count, machine.interconnect.links()), (2, 2));
}

fn network_of(lines: &str) -> MachineFile {
    good(&format!("name = \"n\"\nnodes.cores-per-socket = 1\n[network]\n{lines}\n"))
}

#[test]
fn cables_for_all_dimensions_or_for_each() {
    let loopback = "loopback = { bandwidth = \"10 GB/s\", latency = \"0 s\" }";
    let general = "bandwidth = \"1 GB/s\"\nlatency = \"1 us\"";
    let cables = |key: &str| {
        let file = network_of(&format!("topology = \"torus\"\ndimensions = [4, 3]\n{key}\n{general}\n{loopback}"));
        file.build().unwrap().interconnect.topology().cables()
    };
    assert_eq!([cables(""), cables("cables = 3"), cables("cables = [1, 2]")], [24, 72, 36]);
    let cube = network_of(&format!("topology = \"hypercube\"\ndimension = 5\n{general}\n{loopback}"));
    assert_eq!(Figures::of(&cube.build().unwrap()).cables, 80);
}

#[test]
fn kinds_of_links_are_general_unless_given() {
    let shape = "topology = \"hyperx\"\ndimensions = [4, 4]\nnodes-per-switch = 2";
    let general = "bandwidth = \"1 GB/s\"\nlatency = \"1 us\"";
    let fast = "{ bandwidth = \"2 GB/s\", latency = \"2 us\" }";
    let latency =
        |lines: &str| Figures::of(&network_of(&format!("{shape}\n{lines}")).build().unwrap()).worst_latency.get();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    close(latency(general), 4e-6);
    close(latency(&format!("{general}\nnode-link = {fast}")), 6e-6);
    close(latency(&format!("node-link = {fast}\nswitch-link = {fast}")), 8e-6);
    let mesh = network_of(&format!("topology = \"full-mesh\"\nswitches = 8\nnodes-per-switch = 2\n{general}"));
    assert_eq!(mesh.nodes.count, 16);
}

/// Switches that are not there have no links.
#[test]
fn missing_switches_have_no_links() {
    let tree =
        "topology = \"fat-tree\"\nshape = \"3; 4,4,4; 1,4,4; 1,1,1\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"";
    let figures = |line: &str| {
        let figures = Figures::of(&network_of(&format!("{tree}\n{line}")).build().unwrap());
        (u64::from(figures.links), figures.cables)
    };
    assert_eq!(figures(""), (384, 192));
    assert_eq!(figures("missing = 15"), (264, 132));
    assert_eq!(figures("missing = 15\nlimiter = \"1 GB/s\""), (264 + 64, 132));
}

#[test]
fn planes_and_damage() {
    let tree = "topology = \"fat-tree\"\nshape = \"2; 4,4; 1,2; 1,1\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"";
    let file = network_of(&format!("{tree}\nplanes = 2\nplane-choice = \"source\"\nfailed = [\"plane 1: core 1\"]"));
    assert_eq!(good(&file.to_toml([])).network, file.network);
    let figures = Figures::of(&file.build().unwrap());
    assert_eq!((figures.nodes, figures.switches, figures.cables), (16, 12, 48));
    // Three of four cables from each leaf are left.
    assert_eq!(figures.bisection_bandwidth.get(), 6e9);
    assert!(
        network_of(&format!("{tree}\nplanes = 2")).assumed.iter().any(|line| line == "network.plane-choice = pair")
    );
}

#[test]
fn figures_of_a_fat_tree() {
    let figures = Figures::of(&good(FULL).build().unwrap());
    assert_eq!((figures.nodes, figures.unused_ports, figures.cores), (510, 2, 16_320));
    assert_eq!((figures.switches, figures.cables, figures.diameter), (32 + 8, 512 + 32 * 16, 4));
    // Half of the nodes send with 12.5 GB/s each; the cables between switches could carry twice as much.
    assert_eq!(figures.bisection_bandwidth.human(), "3.2 TB/s");
    assert!((figures.worst_latency.get() - 380e-9).abs() < 1e-15);
    assert_eq!(figures.memory.unwrap().human(), "95.6 TiB");
    assert_eq!(figures.peak.unwrap().human(), "992 Tflop/s");
}

#[test]
fn a_graph_may_have_its_own_file() {
    let folder = std::env::temp_dir().join(format!("hpcast-machine-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let machine = folder.join("m.toml");
    let write = |graph: &str| {
        std::fs::write(folder.join("n.graph"), graph).unwrap();
        let text = "name = 'g'\nnodes.cores-per-socket = 1\nnetwork = { topology = 'graph', file = 'n.graph' }\n";
        std::fs::write(&machine, text).unwrap();
        Machine::load(&machine)
    };
    let loaded = write("node a b\nlink a -- b 1 GB/s 1 us\n").map(|machine| machine.nodes.count);
    let refused = write("node a b\nlnik a -- b 1 GB/s 1 us\n").unwrap_err().to_string();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(loaded, Ok(2));
    assert!(refused.contains("n.graph:2:1"), "{refused}");
}

/// The machine library: every file is good and complete, and written out again it says the same.
#[test]
fn the_machine_library_is_good() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../machines");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut read = 0;
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let file = MachineFile::load(path).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(file.assumed.is_empty(), "{}: {:?}", path.display(), file.assumed);
        assert_eq!(good(&file.to_toml([])), file, "{}", path.display());
        file.build().unwrap();
        read += 1;
    }
    assert!(read >= 6, "only {read} machines");
}

fn link() -> impl Strategy<Value = Link> {
    (1.0..1e15, 0.0..1.0).prop_map(|(bandwidth, latency)| Link { bandwidth, latency })
}

fn dragonfly() -> impl Strategy<Value = (Wiring, u32)> {
    use Arrangement::*;
    let arrangement = prop_oneof![Just(Absolute), Just(Relative), Just(Circulant), Just(PalmTree)];
    let links = (link(), link(), link()).prop_map(|(node, local, global)| DragonflyLinks { node, local, global });
    let numbers = (1u32..5, 1u32..5, 1u32..5, 1u32..5);
    (numbers, arrangement, links, any::<bool>()).prop_map(|((a, b, c, d), arrangement, links, plus)| {
        let groups = b * c + 1;
        if plus {
            let shape = DragonflyPlusShape {
                groups,
                leaves_per_group: a,
                spines_per_group: b,
                nodes_per_leaf: d,
                global_cables_per_spine: c,
                arrangement,
            };
            return (Wiring::DragonflyPlus { shape, links }, groups * a * d);
        }
        let (switches_per_group, global_cables_per_switch, nodes_per_switch) = (b, c, d);
        let shape =
            DragonflyShape { groups, switches_per_group, nodes_per_switch, global_cables_per_switch, arrangement };
        (Wiring::Dragonfly { shape, links }, groups * b * d)
    })
}

fn wiring() -> impl Strategy<Value = (Wiring, u32)> {
    let crossbar = (link(), proptest::option::of(link()), 1u32..1000)
        .prop_map(|(link, backbone, nodes)| (Wiring::Crossbar { link, backbone }, nodes));
    let tree = (1usize..4).prop_flat_map(|levels| {
        let list = || proptest::collection::vec(1u32..5, levels);
        let links = proptest::collection::vec(link(), levels);
        (list(), list(), list(), links, any::<[bool; 3]>()).prop_map(
            |(down, up, parallel, levels, [ports, first, same])| {
                let shape = FatTreeShape { down, up, parallel };
                let nodes = shape.nodes();
                let switch_ports = ports.then(|| vec![100; shape.levels()]);
                let parallel_cables = match (first, same) {
                    (true, _) => ParallelCables::First,
                    (false, true) => ParallelCables::Same,
                    (false, false) => ParallelCables::All,
                };
                let missing = if first && shape.tops(shape.levels()) > 1 { vec![0] } else { vec![] };
                (Wiring::FatTree { shape, levels, switch_ports, parallel_cables, missing }, nodes)
            },
        )
    });
    let axes = || proptest::collection::vec((1u32..6, 1u32..4), 1..4);
    let torus = (axes(), any::<bool>(), any::<bool>(), link()).prop_map(|(axes, wrap, forward, link)| {
        let (dimensions, cables): (Vec<u32>, Vec<u32>) = axes.into_iter().unzip();
        let nodes = dimensions.iter().product();
        let ties = if wrap && forward { Ties::Forward } else { Ties::Alternate };
        (Wiring::Torus { dimensions, cables, wrap, ties, link }, nodes)
    });
    let cube = (1u32..9, 1u32..4, link())
        .prop_map(|(dimension, cables, link)| (Wiring::Hypercube { dimension, cables, link }, 1 << dimension));
    let hyperx = (axes(), 1u32..9, link(), link()).prop_map(|(axes, nodes_per_switch, node_link, switch_link)| {
        let (dimensions, cables): (Vec<u32>, Vec<u32>) = axes.into_iter().unzip();
        let nodes = dimensions.iter().product::<u32>() * nodes_per_switch;
        (Wiring::HyperX { shape: HyperXShape { dimensions, cables, nodes_per_switch }, node_link, switch_link }, nodes)
    });
    let graph = "[a-z]{1,5}(\t| )?#?[^\\x00-\\x08]{0,9}".prop_map(|comment| {
        let text = format!("node a b\n# {}\nlink a -- b 1 GB/s 1 us\n", comment.replace(['\n', '\r'], " "));
        (Wiring::Graph { file: None, text }, 2)
    });
    let staged = (1u32..6, 1u32..6, 1u32..6, link(), link(), any::<bool>()).prop_map(
        |(m, n, r, node_link, switch_link, is_clos)| {
            let shape = ClosShape { middle_switches: m, nodes_per_switch: n, edge_switches: r };
            match is_clos {
                true => (Wiring::Clos { shape, node_link, switch_link }, n * r),
                false => (Wiring::Gamma { dimension: m, node_link, switch_link }, 1 << m),
            }
        },
    );
    let slim_fly = (0usize..6, 1u32..5, link(), link()).prop_map(|(at, nodes_per_switch, node_link, switch_link)| {
        let q = [3, 4, 5, 7, 8, 9][at];
        (Wiring::SlimFly { q, nodes_per_switch, node_link, switch_link }, 2 * q * q * nodes_per_switch)
    });
    prop_oneof![crossbar, tree, torus, cube, hyperx, dragonfly(), slim_fly, staged, graph]
}

prop_compose! {
    fn network()((wiring, nodes) in wiring(), shared: bool, loopback in link(), limiter in proptest::option::of(1.0..1e12), threshold in proptest::option::of(0u32..9))
        -> (Network, u32) {
        let duplex = if shared && !wiring.knows_duplex() { Duplex::Shared } else { Duplex::Split };
        let word = match wiring {
            Wiring::Crossbar { .. } => "direct",
            Wiring::FatTree { .. } | Wiring::Clos { .. } | Wiring::Gamma { .. } | Wiring::Graph { .. } => "least-loaded",
            _ => "ugal-l",
        };
        let planes = threshold.map(|count| PlaneFigures { count: count % 3 + 1, choice: [PlaneChoice::Source, PlaneChoice::Pair][count as usize % 2] });
        // A file that says neither of the two says nothing.
        let routing = threshold.map(|threshold| RoutingWord { word: (threshold == 0 || shared).then(|| word.into()), threshold });
        (Network { wiring, duplex, loopback: Loopback::Unshared(loopback), limiter, unused_ports: 0, planes, failed: Vec::new(), routing }, nodes)
    }
}

fn piecewise() -> impl Strategy<Value = Piecewise> {
    let piece = (1e-9..10.0, 0.0..1e-6).prop_map(|(base, per_byte)| Piece { base, per_byte, ..Piece::default() });
    pieces(piece)
}

/// Pieces of which some are noisy.
fn overhead() -> impl Strategy<Value = Piecewise> {
    pieces((1e-9..10.0, 0.0..1e-6, 0.0..1.0, 0u8..3).prop_map(|(mean, per_byte, share, modes)| match modes {
        0 => Piece { base: mean, per_byte, ..Piece::default() },
        1 => Piece::noisy(0, per_byte, vec![Mode { share: 1.0, mean, deviation: share }]),
        _ => Piece::noisy(
            0,
            per_byte,
            vec![Mode { share, mean: 3.0 * mean, deviation: mean }, Mode { share: 1.0 - share, mean, deviation: 0.0 }],
        ),
    }))
}

fn pieces(piece: impl Strategy<Value = Piece>) -> impl Strategy<Value = Piecewise> {
    proptest::collection::btree_map(any::<u64>(), piece, 0..4)
        .prop_map(|pieces| Piecewise::new(pieces.into_iter().map(|(above, piece)| Piece { above, ..piece }).collect()))
}

prop_compose! {
    fn protocol()(send in overhead(), isend in overhead(), receive in overhead(), latency in overhead(),
                  latency_factor in piecewise(), bandwidth_factor in piecewise()) -> Protocol {
        Protocol { send, isend, receive, latency_factor, latency, bandwidth_factor }
    }
}

prop_compose! {
    fn mpi()(eager_below: u64, more in 0u64..1000, envelope: u64, between in protocol(), inside in protocol(),
             probe in 0.0..1.0, test in 0.0..1.0, growth in 0usize..3, reduce_per_byte in 0.0..1e-6) -> MpiParameters {
        let poll_growth = [PollGrowth::Off, PollGrowth::PerRank, PollGrowth::Global][growth];
        let detached_below = eager_below.saturating_add(more);
        MpiParameters { eager_below, detached_below, envelope, between, inside, probe, test, poll_growth, reduce_per_byte }
    }
}

/// A price table with everything, made of one number.
fn cost(number: f64) -> CostTable {
    let (power, length) = (Some(Power::new(number)), Length::new(number));
    CostTable {
        currency: "EUR".into(),
        node: Part { price: Some(number), power: None },
        port: Part { price: None, power },
        switches: vec![
            SwitchPrice { kind: Some("leaf \"x\"".into()), ports: None, price: number, power },
            SwitchPrice { kind: None, ports: Some(number as u32), price: 0.0, power: None },
        ],
        cables: vec![
            CableClass { class: "copper".into(), up_to: Some(length), price: number, per_metre: number },
            CableClass { class: "optical".into(), up_to: None, price: 0.0, per_metre: 0.0 },
        ],
        lengths: [("level-1".into(), length), ("a b".into(), length)].into(),
        energy_price: Some(number),
    }
}

prop_compose! {
    fn machine()(name in "\\PC{0,20}", description in proptest::option::of(".{0,20}"), (network, count) in network(),
                 mpi in mpi(), cores in 1u32..100, memory in proptest::option::of(1u64..), seed in 0u64..1 << 62,
                 policy in 0usize..6, allocation in 0usize..4, cross_traffic in 0.0..0.99, window in proptest::option::of(1.0..1e9), share: bool, buffer in proptest::option::of(4096u32..1 << 20))
        -> MachineFile {
        let nodes = Nodes { count, sockets: 2, cores_per_socket: cores, memory: memory.map(hpcast_units::Bytes::new), ..Nodes::default() };
        let policies = [Policy::Block, Policy::Cyclic, Policy::Random { seed }, Policy::BySwitch, Policy::SpreadSwitches];
        let policy = policies.get(policy).cloned().unwrap_or(Policy::List(vec![count - 1, 0]));
        let allocations = [
            Allocation::Hosts(format!("0-{}", count - 1)),
            Allocation::Random { nodes: count, seed },
            Allocation::Holes { share: 0.0, length: 2.5, seed },
        ];
        let allocation = allocations.get(allocation).cloned();
        let factor = if share { FactorMeaning::Share } else { FactorMeaning::Bound };
        let sharing = FlowSharing { cross_traffic, weight_s: window, window, factor };
        // On a single node, both ranks of the list are on it.
        let plan = Plan { policy, allocation, ranks_per_node: Some(cores), oversubscribe: share || count == 1 };
        let arbitration = if share { Arbitration::OldestFirst } else { Arbitration::FirstComeFirstServed };
        let packets = PacketSwitching { size: 4096, buffer, injection: Some(cores), arbitration };
        let io = Io { bandwidth: window.map(Bandwidth::new), node_bandwidth: None, latency: window.map(Seconds::new) };
        let cost = window.map(cost);
        MachineFile { name, description, nodes, network, sharing, packets, mpi, plan, io, cost, assumed: Vec::new() }
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(file in machine()) {
        prop_assert_eq!(file.check(), vec![]);
        let text = file.to_toml(["imported from somewhere", ""]);
        match parse(&text) {
            Ok(read) => prop_assert_eq!(read, file),
            Err(errors) => prop_assert!(false, "{}", errors),
        }
    }
}
