//! Our routes are those of the real SimGrid, link by link: see simgrid_routes/README.md.

use hpcast_platform::topology::{Crossbar, Duplex, FatTree, Link, Ties, Topology, Torus};
use hpcast_platform::{LinkId, Path};

const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

fn topology(kind: &str, parameters: &str, policy: &str) -> Box<dyn Topology> {
    let duplex = match policy {
        "SPLITDUPLEX" => Duplex::Split,
        "SHARED" => Duplex::Shared,
        other => panic!("unknown policy {other}"),
    };
    let numbers = || parameters.split(',').map(|number| number.parse().unwrap()).collect::<Vec<u32>>();
    match kind {
        "FAT_TREE" => {
            Box::new(FatTree::new(parameters.parse().unwrap(), &[LINK; 4][..levels(parameters)], duplex).unwrap())
        }
        "TORUS" => Box::new(Torus::new(&numbers(), true, LINK, duplex).unwrap().breaking(Ties::Forward)),
        "FLAT" => Box::new(Crossbar::new(numbers()[0], LINK, duplex, None)),
        "BACKBONE" => Box::new(Crossbar::new(numbers()[0], LINK, duplex, Some(LINK))),
        other => panic!("unknown topology {other}"),
    }
}

fn levels(parameters: &str) -> usize {
    parameters.split(';').next().unwrap().parse().unwrap()
}

/// The number of links that occur, and the hash of all routes with links numbered as they first occur.
fn signature(topology: &dyn Topology) -> (u32, u64) {
    let mut numbers: Vec<Option<u32>> = vec![None; topology.links() as usize];
    let (mut count, mut hash) = (0, 0xcbf29ce484222325u64);
    let mut mix = |value: u32| {
        for byte in value.to_le_bytes() {
            hash = (hash ^ byte as u64).wrapping_mul(0x100000001b3);
        }
    };
    let mut path = Path::default();
    let mut add = |from: u64, to: u64| {
        path.clear();
        topology.route(from as u32, to as u32, &mut path);
        mix(path.links.len() as u32);
        for &id in &path.links {
            mix(*numbers[id as usize].get_or_insert_with(|| {
                count += 1;
                count - 1
            }));
        }
    };
    let nodes = topology.nodes() as u64;
    if nodes * nodes <= 400_000 {
        (0..nodes * nodes).for_each(|pair| add(pair / nodes, pair % nodes));
    } else {
        let mut lcg = 1u64;
        let mut next = || {
            lcg = lcg.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (lcg >> 33) % nodes
        };
        for _ in 0..400_000 {
            let from = next();
            add(from, next());
        }
    }
    (count, hash)
}

#[test]
fn routes_are_those_of_simgrid() {
    let mut wrong = Vec::new();
    for line in include_str!("simgrid_routes/golden.txt").lines() {
        let [kind, parameters, policy, links, hash] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("not a line of golden.txt: {line}");
        };
        let ours = signature(&*topology(kind, parameters, policy));
        if ours != (links.parse::<LinkId>().unwrap(), u64::from_str_radix(hash, 16).unwrap()) {
            wrong.push(format!("{line}: ours has {} links", ours.0));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
