use super::*;
use crate::topology::{
    Arrangement, Clos, ClosShape, Crossbar, Damaged, Dragonfly, DragonflyLinks, DragonflyPlus, DragonflyPlusShape,
    DragonflyShape, Duplex, FatTree, Gamma, Graph, HyperX, HyperXShape, Hypercube, Link, PlaneChoice, Planes, SlimFly,
    Torus,
};

const LINK: Link = Link { bandwidth: 12.5e9, latency: 1e-7 };

fn tree(shape: &str) -> Box<dyn Topology> {
    let shape: crate::topology::FatTreeShape = shape.parse().unwrap();
    let links = vec![LINK; shape.levels()];
    Box::new(FatTree::new(shape, &links, Duplex::Split).unwrap())
}

fn torus(dims: &[u32], wrap: bool) -> Box<dyn Topology> {
    Box::new(Torus::new(dims, wrap, LINK, Duplex::Split).unwrap())
}

fn cube(dimension: u32) -> Box<dyn Topology> {
    Box::new(Hypercube::new(dimension, 1, LINK, Duplex::Split).unwrap())
}

fn hyperx(dimensions: &[u32], nodes_per_switch: u32) -> Box<dyn Topology> {
    let cables = vec![1; dimensions.len()];
    let shape = HyperXShape { dimensions: dimensions.into(), cables, nodes_per_switch };
    Box::new(HyperX::new(shape, LINK, LINK, Duplex::Split).unwrap())
}

const KINDS: DragonflyLinks = DragonflyLinks { node: LINK, local: LINK, global: LINK };

fn dragonfly(groups: u32, switches_per_group: u32, global_cables_per_switch: u32) -> Box<dyn Topology> {
    let (nodes_per_switch, arrangement) = (4, Arrangement::Circulant);
    let shape = DragonflyShape { groups, switches_per_group, nodes_per_switch, global_cables_per_switch, arrangement };
    Box::new(Dragonfly::new(shape, KINDS, Duplex::Split).unwrap())
}

fn dragonfly_plus(groups: u32, leaves_per_group: u32, spines_per_group: u32) -> Box<dyn Topology> {
    let (nodes_per_leaf, global_cables_per_spine, arrangement) = (8, 8, Arrangement::Absolute);
    let shape = DragonflyPlusShape {
        groups,
        leaves_per_group,
        spines_per_group,
        nodes_per_leaf,
        global_cables_per_spine,
        arrangement,
    };
    Box::new(DragonflyPlus::new(shape, KINDS, Duplex::Split).unwrap())
}

fn clos(middle_switches: u32, nodes_per_switch: u32, edge_switches: u32) -> Box<dyn Topology> {
    Box::new(Clos::new(ClosShape { middle_switches, nodes_per_switch, edge_switches }, LINK, LINK).unwrap())
}

fn gamma(stages: u32) -> Box<dyn Topology> {
    Box::new(Gamma::new(stages, LINK, LINK).unwrap())
}

fn slim_fly(q: u32) -> Box<dyn Topology> {
    Box::new(SlimFly::new(q, 2, LINK, LINK, Duplex::Split).unwrap())
}

fn all() -> Vec<Box<dyn Topology>> {
    let hub = Some(Link { bandwidth: 5e9, latency: 0.0 });
    let graph = "node a<b> c\nswitch s\nlink a<b> -- s 1 GB/s 1 us\nlink c -- s 2 GB/s 1 us shared";
    let many = "node n[0-199]\nswitch s t\nlink n[0-99] -- s 1 GB/s 1 us\nlink n[100-199] -- t 1 GB/s 1 us\nlink s -- t 1 GB/s 1 us";
    vec![
        tree("1;4;1;1"),
        tree("2;16,32;1,16;1,1"),
        tree("2;20,320;1,8;1,2"),
        tree("3;4,4,4;1,4,2;1,1,1"),
        tree("3;32,48,40;2,40,60;1,1,2"),
        tree("2;300,2;1,4;1,1"),
        torus(&[5], true),
        torus(&[1], false),
        torus(&[24, 24], false),
        torus(&[100, 3], true),
        torus(&[4, 4, 4], true),
        torus(&[24, 12, 2, 3, 2], true),
        cube(1),
        cube(5),
        cube(13),
        hyperx(&[1], 1),
        hyperx(&[8], 4),
        hyperx(&[100], 9),
        hyperx(&[4, 4], 4),
        hyperx(&[16, 10, 8], 8),
        dragonfly(1, 1, 1),
        dragonfly(9, 4, 2),
        dragonfly(60, 32, 4),
        dragonfly_plus(5, 4, 4),
        dragonfly_plus(1, 1, 1),
        dragonfly_plus(40, 16, 16),
        slim_fly(5),
        slim_fly(13),
        slim_fly(8),
        clos(5, 3, 4),
        clos(1, 1, 1),
        clos(40, 20, 100),
        gamma(1),
        gamma(3),
        gamma(9),
        Box::new(Crossbar::new(1, LINK, Duplex::Split, None)),
        Box::new(Crossbar::new(32, LINK, Duplex::Shared, hub)),
        Box::new(Crossbar::new(6400, LINK, Duplex::Split, None)),
        Box::new(Graph::parse(graph).unwrap()),
        Box::new(Graph::parse(many).unwrap()),
    ]
}

#[test]
fn planes_and_damage_are_told() {
    let planes = |count| Planes::new(tree("2;4,4;1,2;1,1"), count, PlaneChoice::Pair).unwrap();
    let topology = planes(2);
    let mut load = vec![0.1; topology.links() as usize];
    load[topology.links() as usize / 2] = 0.9;
    let picture = svg(&topology, "", Some(&load));
    check_xml(&picture);
    assert!(picture.contains("One of 2 equal planes is drawn, with the highest load of all."));
    assert!(picture.contains("busiest: node 0 -&gt; leaf 0, 90 %"), "of the second plane");

    let failed = ["core 1".to_string()];
    let picture = svg(&Damaged::new(tree("2;4,4;1,2;1,1"), &failed, 16).unwrap(), "", None);
    check_xml(&picture);
    assert!(picture.contains("Dashed in red: 8 of 48 links have failed or are missing."));
    assert_eq!(picture.matches(colour::FAILED).count(), 4);
    let picture = svg(&Damaged::new(Box::new(planes(2)), &["plane 1: core 1".to_string()], 16).unwrap(), "", None);
    check_xml(&picture);
    assert!(picture.contains("One of 2 equal planes is drawn."));
    assert!(picture.contains("Dashed in red: 8 of 48 links have failed or are missing, in one plane or another."));
    assert_eq!(picture.matches(colour::FAILED).count(), 4, "of the second plane");
}

#[test]
fn missing_switches_are_drawn_in_their_place() {
    let shape: crate::topology::FatTreeShape = "2;4,4;1,4;1,1".parse().unwrap();
    let pruned = FatTree::new(shape, &[LINK; 2], Duplex::Split).unwrap().without(&[1, 3]).unwrap();
    let picture = svg(&pruned, "", None);
    assert_eq!(picture.matches(colour::FAILED).count(), 8, "four cables of each switch, and none of a node");
    assert!(picture.contains(">4 core switches, 2 missing<"));
    assert!(!picture.contains("not drawn"), "all links, also those down");
}

/// Opening and closing tags match; enough to catch what escaping or a forgotten tag would break.
fn check_xml(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("every tag is closed");
        assert!(!text.contains('>'), "text is escaped: {text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
    }
    assert!(open.is_empty());
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "all numbers are numbers");
}

#[test]
fn pictures_are_whole_and_the_same_every_time() {
    assert!(svg(&*gamma(2), "", None).contains("(one way)"));
    for topology in all() {
        let load: Vec<f64> = (0..topology.links()).map(|id| (id % 11) as f64 / 10.0).collect();
        for load in [None, Some(&load[..])] {
            let picture = svg(&*topology, "A <title> & more", load);
            check_xml(&picture);
            assert_eq!(picture, svg(&*topology, "A <title> & more", load), "{}", topology.describe());
            assert!(picture.len() < 1_000_000, "{}: {} bytes", topology.describe(), picture.len());
        }
    }
}

#[test]
fn small_networks_are_drawn_whole() {
    for topology in [
        tree("3;4,4,4;1,4,2;1,1,1"),
        tree("2;16,32;1,16;1,1"),
        torus(&[4, 4, 4], true),
        torus(&[24, 24], false),
        cube(8),
        hyperx(&[16], 8),
        hyperx(&[8, 8], 8),
        dragonfly(9, 4, 2),
        dragonfly_plus(9, 4, 4),
        slim_fly(5),
        clos(5, 3, 4),
        gamma(5),
    ] {
        assert!(!svg(&*topology, "", None).contains("not drawn"), "{}", topology.describe());
    }
}

#[test]
fn large_networks_say_what_is_left_out() {
    let stampede = svg(&*tree("2;20,320;1,8;1,2"), "Stampede", None);
    assert!(stampede.contains(">320 leaf switches<"));
    assert!(stampede.contains(">286 more<"));
    assert!(stampede.contains("of 23,040 links are not drawn"));
    let flat = svg(&Crossbar::new(6400, LINK, Duplex::Split, None), "", None);
    assert!(flat.contains(">6,328 more<"));
    assert!(svg(&*cube(10), "", None).contains("Of 10 dimensions the first 8 are drawn"));
    let large = svg(&*hyperx(&[100, 40], 2), "", None);
    assert!(large.contains(">80 more<") && large.contains(">16 more<") && large.contains("links are not drawn"));
    assert!(svg(&*torus(&[4, 4, 4, 5], true), "", None).contains("Dimensions not drawn: 4 (size 5)"));
}

#[test]
fn load_is_shown_where_it_is() {
    let topology = torus(&[4, 4], true);
    let mut load = vec![0.0; topology.links() as usize];
    load[5] = 0.876;
    let picture = svg(&*topology, "", Some(&load));
    assert!(picture.contains(&format!("busiest: {}, 88 %", escape(&topology.link_name(5)))));
    let full = format!("stroke=\"{}\"", colour::of_load(0.875));
    assert_eq!(picture.matches(&full).count(), 1, "one cable has this colour");
    assert!(svg(&*topology, "", Some(&[])).contains("busiest"), "no loads are zero loads");
}

#[test]
fn what_is_not_drawn_is_counted_with_its_load() {
    let topology = Crossbar::new(500, LINK, Duplex::Split, None);
    let mut load = vec![0.1; 1000];
    load[300] = 0.5;
    assert!(
        svg(&topology, "", Some(&load))
            .contains("856 of 1,000 links are not drawn; the highest load among them is 50 %")
    );
}
