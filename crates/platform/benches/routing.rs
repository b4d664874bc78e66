//! Nanoseconds to route one message between random nodes: it is done for every message of a simulation.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use hpcast_platform::Path;
use hpcast_platform::topology::{
    Arrangement, Clos, ClosShape, Crossbar, Dragonfly, DragonflyLinks, DragonflyPlus, DragonflyPlusShape,
    DragonflyShape, Duplex, FatTree, Gamma, Graph, HyperX, HyperXShape, Hypercube, Link, SlimFly, Topology, Torus,
};

const LINK: Link = Link { bandwidth: 12.5e9, latency: 1e-7 };

/// Pairs of nodes that are the same in every run.
fn pairs(nodes: u32) -> Vec<(u32, u32)> {
    let mut lcg = 1u64;
    let mut next = || {
        lcg = lcg.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((lcg >> 33) % nodes as u64) as u32
    };
    (0..4096).map(|_| (next(), next())).collect()
}

fn tree(shape: &str) -> Box<dyn Topology> {
    let shape: hpcast_platform::topology::FatTreeShape = shape.parse().expect("a shape");
    let links = vec![LINK; shape.levels()];
    Box::new(FatTree::new(shape, &links, Duplex::Split).expect("a fat tree"))
}

fn torus(dims: &[u32], wrap: bool) -> Box<dyn Topology> {
    Box::new(Torus::new(dims, wrap, LINK, Duplex::Split).expect("a torus"))
}

fn hyperx(dimensions: &[u32], cables: &[u32], nodes_per_switch: u32) -> Box<dyn Topology> {
    let shape = HyperXShape { dimensions: dimensions.into(), cables: cables.into(), nodes_per_switch };
    Box::new(HyperX::new(shape, LINK, LINK, Duplex::Split).expect("a HyperX"))
}

const KINDS: DragonflyLinks = DragonflyLinks { node: LINK, local: LINK, global: LINK };

/// With a = 2 p = 2 h, which Kim et al. call balanced.
fn dragonfly(groups: u32, half: u32, arrangement: Arrangement) -> Box<dyn Topology> {
    let shape = DragonflyShape {
        groups,
        switches_per_group: 2 * half,
        nodes_per_switch: half,
        global_cables_per_switch: half,
        arrangement,
    };
    Box::new(Dragonfly::new(shape, KINDS, Duplex::Split).expect("a dragonfly"))
}

fn dragonfly_plus() -> Box<dyn Topology> {
    let shape = DragonflyPlusShape {
        groups: 40,
        leaves_per_group: 16,
        spines_per_group: 16,
        nodes_per_leaf: 16,
        global_cables_per_spine: 16,
        arrangement: Arrangement::Absolute,
    };
    Box::new(DragonflyPlus::new(shape, KINDS, Duplex::Split).expect("a dragonfly+"))
}

/// 32 switches of 16 nodes, each joined with 8 others.
fn graph() -> Box<dyn Topology> {
    let mut text = String::new();
    for switch in 0..32 {
        text += &format!("switch s{switch}\nnode n{switch}.[0-15]\n");
        text += &format!("link n{switch}.[0-15] -- s{switch} 12.5 GB/s 100 ns\n");
        for step in [1, 3, 7, 12] {
            text += &format!("link s{switch} -- s{} 12.5 GB/s 100 ns\n", (switch + step) % 32);
        }
    }
    Box::new(Graph::parse(&text).expect("a graph"))
}

const CLOS: ClosShape = ClosShape { middle_switches: 32, nodes_per_switch: 32, edge_switches: 320 };

fn routing(criterion: &mut Criterion) {
    let topologies: [(&str, Box<dyn Topology>); 21] = [
        ("crossbar 1024", Box::new(Crossbar::new(1024, LINK, Duplex::Split, None))),
        ("fat tree 2;16,32;1,16;1,1", tree("2;16,32;1,16;1,1")),
        ("fat tree 2;20,320;1,8;1,2", tree("2;20,320;1,8;1,2")),
        ("fat tree 3;16,16,16;1,16,16;1,1,1", tree("3;16,16,16;1,16,16;1,1,1")),
        ("torus 8x8x8", torus(&[8, 8, 8], true)),
        ("torus 24x24x24", torus(&[24, 24, 24], true)),
        ("mesh 24x24", torus(&[24, 24], false)),
        ("mesh 22x22x22, 2 cables", {
            Box::new(Torus::with_cables(&[22; 3], &[2; 3], false, LINK, Duplex::Split).expect("a mesh"))
        }),
        ("hypercube 13", Box::new(Hypercube::new(13, 1, LINK, Duplex::Split).expect("a hypercube"))),
        ("full mesh 100, 100 nodes each", hyperx(&[100], &[1], 100)),
        ("HyperX 10x10x10, 10 nodes each", hyperx(&[10; 3], &[1; 3], 10)),
        ("HyperX 32x32, 2 cables, 10 nodes each", hyperx(&[32; 2], &[2; 2], 10)),
        ("dragonfly 9702, absolute", dragonfly(99, 7, Arrangement::Absolute)),
        ("dragonfly 9702, circulant", dragonfly(99, 7, Arrangement::Circulant)),
        ("dragonfly 10240, 5 groups", dragonfly(5, 32, Arrangement::Relative)),
        ("dragonfly+ 10240", dragonfly_plus()),
        ("slim fly 10830", Box::new(SlimFly::new(19, 15, LINK, LINK, Duplex::Split).expect("a slim fly"))),
        ("slim fly 8192, q = 16", Box::new(SlimFly::new(16, 16, LINK, LINK, Duplex::Split).expect("a slim fly"))),
        ("Clos 10240", Box::new(Clos::new(CLOS, LINK, LINK).expect("a Clos network"))),
        ("gamma 8192", Box::new(Gamma::new(13, LINK, LINK).expect("a gamma network"))),
        ("graph of 512 nodes, 32 switches", graph()),
    ];
    let mut group = criterion.benchmark_group("route");
    for (name, topology) in topologies {
        let pairs = pairs(topology.nodes());
        let mut path = Path::default();
        let mut next = pairs.iter().cycle();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                if let Some(&(from, to)) = next.next() {
                    path.clear();
                    topology.route(black_box(from), black_box(to), &mut path);
                    black_box(&path);
                }
            })
        });
    }
    group.finish();
}

criterion_group!(benches, routing);
criterion_main!(benches);
