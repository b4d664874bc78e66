//! Bisection bandwidths against all cuts of small networks.

use super::*;

/// The least that crosses any cut into halves, by trying all cuts.
fn brute_force(topology: &dyn Topology) -> f64 {
    let vertices = topology.nodes() + topology.switches();
    assert!(vertices <= 18, "{vertices} vertices are too many to try all cuts");
    let nodes = (1u32 << topology.nodes()) - 1;
    let arcs: Vec<_> = arcs(topology).iter().map(|&(a, b, id)| (a, b, topology.link(id).bandwidth)).collect();
    let halves = (0u32..1 << vertices).filter(|side| (side & nodes).count_ones() == topology.nodes() / 2);
    let across = |side: u32| {
        let crossing = arcs.iter().filter(|&&(a, b, _)| side >> a & 1 == 1 && side >> b & 1 == 0);
        crossing.map(|&(_, _, bandwidth)| bandwidth).sum::<f64>()
    };
    halves.map(across).fold(f64::INFINITY, f64::min)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.max(b)
}

#[test]
fn bisection_of_tori_and_meshes_is_the_worst_cut() {
    let cases: [&[u32]; 14] = [
        &[2],
        &[5],
        &[8],
        &[3, 3],
        &[2, 3],
        &[3, 4],
        &[4, 4],
        &[2, 2, 2],
        &[2, 3, 2],
        &[5, 3],
        &[2, 2, 4],
        &[2, 7],
        &[5, 2],
        &[3, 1, 5],
    ];
    for dims in cases {
        for wrap in [true, false] {
            let torus = Torus::new(dims, wrap, LINK, Duplex::Split).unwrap();
            let (formula, worst) = (torus.bisection_bandwidth(), brute_force(&torus));
            assert!(close(formula, worst), "{}: {formula} is not {worst}", torus.describe());
        }
    }
}

#[test]
fn bisection_of_fat_trees_is_the_worst_cut() {
    for (shape, bandwidths) in [
        ("1;6;1;1", vec![1.0]),
        ("1;5;2;1", vec![1.0]),
        ("2;4,2;1,2;1,1", vec![1.0, 1.0]),
        ("2;4,2;1,1;1,1", vec![1.0, 2.0]),
        ("2;2,4;1,2;1,2", vec![3.0, 1.0]),
        ("2;2,2;2,2;1,1", vec![1.0, 1.0]),
        ("2;2,3;1,2;1,1", vec![2.0, 1.0]),
        ("2;3,3;1,2;1,1", vec![1.0, 1.0]),
        ("2;4,3;1,1;1,1", vec![1.0, 1.5]),
        ("3;2,2,2;1,1,2;1,1,1", vec![1.0, 1.0, 1.0]),
    ] {
        let links: Vec<Link> = bandwidths.iter().map(|b| Link { bandwidth: b * 1e9, latency: 0.0 }).collect();
        let tree = FatTree::new(shape.parse().unwrap(), &links, Duplex::Split).unwrap();
        let (formula, worst) = (tree.bisection_bandwidth(), brute_force(&tree));
        assert!(close(formula, worst), "{shape}: {formula} is not {worst}");
    }
}

#[test]
fn bisection_of_crossbars_is_the_worst_cut() {
    for nodes in 1..9 {
        let crossbar = Crossbar::new(nodes, LINK, Duplex::Split, None);
        assert_eq!(crossbar.bisection_bandwidth(), brute_force(&crossbar));
    }
}

#[test]
fn bisection_of_hypercubes_is_the_worst_cut() {
    for (dimension, cables) in [(1, 1), (2, 3), (3, 1), (4, 2)] {
        let cube = Hypercube::new(dimension, cables, LINK, Duplex::Split).unwrap();
        assert_eq!(cube.bisection_bandwidth(), brute_force(&cube));
    }
}

#[test]
fn bisection_of_hyperx_networks_is_the_worst_cut() {
    let cases: [(&[(u32, u32)], u32); 13] = [
        (&[(1, 1)], 7),
        (&[(2, 1)], 5),
        (&[(2, 5)], 3),
        (&[(3, 1)], 3),
        (&[(3, 1)], 4),
        (&[(5, 2)], 2),
        (&[(7, 1)], 1),
        (&[(4, 1), (2, 1)], 1),
        (&[(4, 1), (2, 3)], 1),
        (&[(3, 1), (2, 1)], 2),
        (&[(3, 1), (2, 2)], 1),
        (&[(2, 1), (2, 1), (2, 1)], 1),
        (&[(3, 1), (3, 1)], 1),
    ];
    for (axes, nodes) in cases {
        let topology = hyperx(axes.to_vec(), nodes, Duplex::Split);
        let (formula, worst) = (topology.bisection_bandwidth(), brute_force(&topology));
        assert!(formula >= worst * (1.0 - 1e-9), "{}: {formula} is less than {worst}", topology.describe());
        if topology.bisection_is_exact() {
            assert!(close(formula, worst), "{}: {formula} is not {worst}", topology.describe());
        }
    }
}

/// Where no formula is known, the search must come near what trying all cuts finds.
#[test]
fn bisection_of_small_dragonflies_is_found() {
    for (groups, switches, nodes, cables) in [(3, 2, 1, 1), (2, 2, 2, 1), (4, 2, 1, 2), (3, 1, 3, 2), (3, 3, 1, 1)] {
        let shape = DragonflyShape {
            groups,
            switches_per_group: switches,
            nodes_per_switch: nodes,
            global_cables_per_switch: cables,
            arrangement: Arrangement::Relative,
        };
        let topology = Dragonfly::new(shape, KINDS, Duplex::Split).unwrap();
        let (found, worst) = (topology.bisection_bandwidth(), brute_force(&topology));
        assert!(!topology.bisection_is_exact());
        assert!(found >= worst * (1.0 - 1e-9), "{}: {found} is less than {worst}", topology.describe());
        assert!(found <= worst * 1.35, "{}: {found} is far from {worst}", topology.describe());
    }
}

#[test]
fn the_search_for_a_cut_finds_the_known_ones() {
    let shared = |dims: &[u32]| Torus::new(dims, true, LINK, Duplex::Shared).unwrap();
    let known: [&dyn Topology; 7] = [
        &parse("2;16,32;1,16;1,1"),
        &parse("2;20,32;1,8;1,2"),
        &parse("3;4,4,4;1,4,2;1,1,1"),
        &shared(&[4, 4, 4]),
        &shared(&[16, 3]),
        &Torus::new(&[12, 8], false, LINK, Duplex::Split).unwrap(),
        &Crossbar::new(32, LINK, Duplex::Split, None),
    ];
    for topology in known {
        let (found, exact) = (bisection::upper_bound(topology), topology.bisection_bandwidth());
        assert!(found >= exact * (1.0 - 1e-9), "{}: {found} is less than {exact}", topology.describe());
        assert!(found <= exact * 1.001, "{}: {found} is more than {exact}", topology.describe());
    }
}

#[test]
fn bisection_of_small_gamma_networks_is_the_worst_cut() {
    for stages in 1..3 {
        for (node, switch) in [(LINK, LINK), (LINK, SLOW), (LINK, Link { bandwidth: 0.1e9, ..LINK })] {
            let topology = Gamma::new(stages, node, switch).unwrap();
            let (found, worst) = (topology.bisection_bandwidth(), brute_force(&topology));
            assert!(close(found, worst), "{}: {found} is not {worst}", topology.describe());
        }
    }
}

/// The search looks at one direction, too: no more crosses than half of the nodes send.
#[test]
fn the_search_for_a_cut_knows_one_way_networks() {
    for stages in 1..7 {
        let half = f64::from(1u32 << (stages - 1));
        let topology = Gamma::new(stages, LINK, LINK).unwrap();
        let found = bisection::upper_bound(&topology);
        assert!(found <= half * LINK.bandwidth * (1.0 + 1e-9), "{}: {found}", topology.describe());
        if stages < 3 {
            assert!(found >= brute_force(&topology) * (1.0 - 1e-9), "{}: {found}", topology.describe());
        }
    }
    for (m, n, r) in [(2, 2, 2), (1, 3, 2), (4, 4, 8), (2, 8, 4), (9, 8, 16)] {
        let shape = ClosShape { middle_switches: m, nodes_per_switch: n, edge_switches: r };
        let topology = Clos::new(shape, LINK, LINK).unwrap();
        let (found, exact) = (bisection::upper_bound(&topology), topology.bisection_bandwidth());
        assert!(found >= exact * (1.0 - 1e-9), "{}: {found} is less than {exact}", topology.describe());
        assert!(found <= exact * 1.001, "{}: {found} is more than {exact}", topology.describe());
    }
}

#[test]
fn bisection_of_clos_networks_is_the_worst_cut() {
    for (m, n, r) in [(1, 1, 2), (2, 2, 2), (1, 2, 2), (3, 2, 2), (1, 3, 2), (2, 3, 2), (2, 2, 3), (1, 2, 3), (3, 1, 4)]
    {
        let shape = ClosShape { middle_switches: m, nodes_per_switch: n, edge_switches: r };
        for (node, switch) in [(LINK, LINK), (LINK, SLOW), (SLOW, LINK)] {
            let topology = Clos::new(shape, node, switch).unwrap();
            let (formula, worst) = (topology.bisection_bandwidth(), brute_force(&topology));
            assert!(close(formula, worst), "{}: {formula} is not {worst}", topology.describe());
        }
    }
}
