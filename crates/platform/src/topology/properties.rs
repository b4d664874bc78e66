//! What must hold for every topology.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

mod bisections;

const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };
/// Another kind, where kinds may differ.
const SLOW: Link = Link { bandwidth: 0.75e9, latency: 3e-6 };

fn index(topology: &dyn Topology, vertex: Vertex) -> usize {
    match vertex {
        Vertex::Node(node) => node as usize,
        Vertex::Switch(switch) => (topology.nodes() + switch) as usize,
    }
}

/// Each direction of each link: tail, head, link.
fn arcs(topology: &dyn Topology) -> Vec<(usize, usize, LinkId)> {
    let mut arcs = Vec::new();
    for id in 0..topology.links() {
        let (tail, head) = topology.ends(id);
        let (tail, head) = (index(topology, tail), index(topology, head));
        arcs.push((tail, head, id));
        if topology.is_shared(id) {
            arcs.push((head, tail, id));
        }
    }
    arcs
}

fn route(topology: &dyn Topology, from: u32, to: u32) -> Vec<LinkId> {
    let mut path = Path::default();
    path.clear();
    topology.route(from, to, &mut path);
    path.links
}

/// Links between a node and all vertices, found by a search that knows nothing but the ends of the links.
fn distances(topology: &dyn Topology, from: u32) -> Vec<u32> {
    let vertices = (topology.nodes() + topology.switches()) as usize;
    let mut heads = vec![Vec::new(); vertices];
    for (tail, head, _) in arcs(topology) {
        heads[tail].push(head);
    }
    let mut distances = vec![u32::MAX; vertices];
    distances[from as usize] = 0;
    let mut queue = VecDeque::from([from as usize]);
    while let Some(vertex) = queue.pop_front() {
        for &head in &heads[vertex] {
            if distances[head] == u32::MAX {
                distances[head] = distances[vertex] + 1;
                queue.push_back(head);
            }
        }
    }
    distances
}

/// A way is made of existing links that follow one another; its sums are those of the links.
fn check_way(topology: &dyn Topology, from: u32, to: u32, path: &Path) -> Result<(), TestCaseError> {
    let (mut at, mut latency, mut bandwidth) = (index(topology, Vertex::Node(from)), 0.0, f64::INFINITY);
    for &id in &path.links {
        prop_assert!(id < topology.links());
        let (tail, head) = topology.ends(id);
        let (tail, head) = (index(topology, tail), index(topology, head));
        at = if at == tail {
            head
        } else {
            prop_assert!(topology.is_shared(id) && at == head, "{from} -> {to}: {:?}", path.links);
            tail
        };
        latency += topology.link(id).latency;
        bandwidth = topology.link(id).bandwidth.min(bandwidth);
    }
    prop_assert_eq!(at, to as usize);
    prop_assert!((path.latency - latency).abs() <= 1e-12);
    prop_assert_eq!(path.bandwidth, bandwidth);
    Ok(())
}

/// Ways that routings may choose: those drawn and those with the least load are as short as the fixed one, detours arrive.
fn check_others(topology: &dyn Topology, from: u32, to: u32, shortest: Option<u32>) -> Result<(), TestCaseError> {
    let mut path = Path::default();
    for draw in [0, u64::MAX, 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(u64::from(from * 31 + to))] {
        let check = |path: &mut Path, find: &dyn Fn(&mut Path)| {
            path.clear();
            find(path);
            check_way(topology, from, to, path)
        };
        let load = |link: LinkId| link.wrapping_mul(7) % 5;
        check(&mut path, &|path| topology.detour(from, to, draw, path))?;
        prop_assert!(path.links.len() as u32 <= 2 * topology.diameter());
        let short: [&dyn Fn(&mut Path); 3] = [
            &|path| topology.any_route(from, to, draw, path),
            &|path| topology.least_loaded(from, to, draw, &load, path),
            &|path| topology.route_by_source(from, to, path),
        ];
        for find in short {
            check(&mut path, find)?;
            if let Some(shortest) = shortest {
                prop_assert_eq!(path.links.len() as u32, shortest, "{} -> {}", from, to);
            }
        }
    }
    Ok(())
}

/// Virtual channels that its fixed routes need, and its detours.
fn channels(topology: &dyn Topology) -> [usize; 2] {
    let needed = |path: &Path| {
        let orders: Vec<u32> = path.links.iter().map(|&link| topology.order(link)).collect();
        1 + orders.windows(2).filter(|pair| pair[1] <= pair[0]).count()
    };
    let mut most = [0; 2];
    for (from, to) in (0..topology.nodes()).flat_map(|from| (0..topology.nodes()).map(move |to| (from, to))) {
        let mut paths = [Path::default(), Path::default()];
        topology.route(from, to, &mut paths[0]);
        topology.detour(from, to, 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(u64::from(from * 31 + to)), &mut paths[1]);
        (0..2).for_each(|kind| most[kind] = most[kind].max(needed(&paths[kind])));
    }
    most
}

/// Numbers of virtual channels that are known to be enough: none beside the first in trees, meshes, hypercubes and HyperX in
/// dimension order, one more for each ring around which a torus goes, two and three in a dragonfly (Kim et al. 2008).
#[test]
fn few_virtual_channels() {
    let torus = |wrap| Torus::new(&[5, 4, 6], wrap, LINK, Duplex::Split).unwrap();
    assert_eq!(channels(&torus(false))[0], 1);
    assert_eq!(channels(&torus(true))[0], 4);
    assert_eq!(channels(&Hypercube::new(4, 1, LINK, Duplex::Split).unwrap())[0], 1);
    let tree = FatTree::new("3;3,2,2;1,2,3;1,2,1".parse().unwrap(), &[LINK; 3], Duplex::Split).unwrap();
    assert_eq!(channels(&tree)[0], 1);
    let shape = HyperXShape { dimensions: vec![3, 4, 2], cables: vec![1, 2, 1], nodes_per_switch: 2 };
    assert_eq!(channels(&HyperX::new(shape, LINK, SLOW, Duplex::Split).unwrap()), [1, 2]);
    let links = DragonflyLinks { node: LINK, local: LINK, global: SLOW };
    let arrangement = Arrangement::Relative;
    let shape = DragonflyShape {
        groups: 9,
        switches_per_group: 4,
        nodes_per_switch: 2,
        global_cables_per_switch: 2,
        arrangement,
    };
    assert_eq!(channels(&Dragonfly::new(shape, links, Duplex::Split).unwrap()), [2, 3]);
}

/// Routes are made of existing links that follow one another, and are as short as can be; sums are those of the links;
/// the diameter is the longest.
pub fn check_routes(topology: &dyn Topology, minimal: bool) -> Result<(), TestCaseError> {
    let mut longest = 0;
    for from in 0..topology.nodes() {
        let distances = distances(topology, from);
        for to in 0..topology.nodes() {
            let mut path = Path::default();
            path.clear();
            topology.route(from, to, &mut path);
            check_way(topology, from, to, &path)?;
            if from != to {
                check_others(topology, from, to, minimal.then_some(distances[to as usize]))?;
                let mut once = path.links.clone();
                once.sort();
                once.dedup();
                prop_assert_eq!(once.len(), path.links.len(), "{} -> {} repeats a link", from, to);
                if !topology.may_repeat_links() {
                    let back = route(topology, to, from);
                    prop_assert!(
                        back.iter().all(|id| once.binary_search(id).is_err()),
                        "{} <-> {} repeat a link",
                        from,
                        to
                    );
                }
                longest = longest.max(path.links.len() as u32);
                if minimal {
                    prop_assert_eq!(path.links.len() as u32, distances[to as usize], "{} -> {}", from, to);
                }
            }
        }
    }
    prop_assert_eq!(topology.diameter(), longest);
    Ok(())
}

/// All links have different names, and shared cables halve their number.
fn check_links(topology: &dyn Topology, duplex: Duplex) -> Result<(), TestCaseError> {
    let mut names: Vec<_> = (0..topology.links()).map(|id| topology.link_name(id)).collect();
    names.sort();
    names.dedup();
    prop_assert_eq!(names.len() as u32, topology.links());
    let ways = if duplex == Duplex::Split { 2 } else { 1 };
    prop_assert_eq!(topology.links() as u64, ways * topology.cables());
    for id in 0..topology.links() {
        let (tail, head) = topology.ends(id);
        let name = topology.link_name(id);
        prop_assert!(name.starts_with(&topology.vertex_name(tail)), "{}", name);
        prop_assert!(name.contains(&format!("> {}", topology.vertex_name(head))), "{}", name);
    }
    Ok(())
}

/// Every switch has so many cables, those of nodes included, and every node so many.
fn check_degrees(topology: &dyn Topology, switch: impl Fn(u32) -> u64, node: u64) -> Result<(), TestCaseError> {
    let mut degrees = vec![0u64; (topology.nodes() + topology.switches()) as usize];
    arcs(topology).iter().for_each(|&(tail, ..)| degrees[tail] += 1);
    for (vertex, &degree) in degrees.iter().enumerate() {
        let expected = (vertex as u32).checked_sub(topology.nodes()).map_or(node, &switch);
        prop_assert_eq!(degree, expected, "vertex {} of {}", vertex, topology.describe());
    }
    let ways = if matches!(topology.structure(), Structure::Stages(_)) { 1 } else { 2 };
    prop_assert_eq!(degrees.iter().sum::<u64>(), ways * topology.cables());
    Ok(())
}

fn hyperx(axes: Vec<(u32, u32)>, nodes_per_switch: u32, duplex: Duplex) -> HyperX {
    let (dimensions, cables) = axes.into_iter().unzip();
    HyperX::new(HyperXShape { dimensions, cables, nodes_per_switch }, SLOW, LINK, duplex).unwrap()
}

fn used(topology: &dyn Topology) -> Vec<bool> {
    let mut used = vec![false; topology.links() as usize];
    for from in 0..topology.nodes() {
        for to in (0..topology.nodes()).filter(|&to| to != from) {
            route(topology, from, to).iter().for_each(|&id| used[id as usize] = true);
        }
    }
    used
}

fn duplex() -> impl Strategy<Value = Duplex> {
    prop_oneof![Just(Duplex::Split), Just(Duplex::Shared)]
}

fn shape() -> impl Strategy<Value = FatTreeShape> {
    let level = (1u32..4, 1u32..4, 1u32..4);
    proptest::collection::vec(level, 1..4).prop_map(|levels| FatTreeShape {
        down: levels.iter().map(|level| level.0).collect(),
        up: levels.iter().map(|level| level.1).collect(),
        parallel: levels.iter().map(|level| level.2).collect(),
    })
}

fn tree(shape: &FatTreeShape, duplex: Duplex) -> FatTree {
    FatTree::new(shape.clone(), &vec![LINK; shape.levels()], duplex).unwrap()
}

fn parse(shape: &str) -> FatTree {
    tree(&shape.parse().unwrap(), Duplex::Split)
}

/// Three kinds of links.
const KINDS: DragonflyLinks =
    DragonflyLinks { node: SLOW, local: LINK, global: Link { bandwidth: 2e9, latency: 5e-6 } };

fn arrangement() -> impl Strategy<Value = Arrangement> {
    use Arrangement::*;
    prop_oneof![Just(Absolute), Just(Relative), Just(Circulant), Just(PalmTree)]
}

/// Numbers of groups, of switches with global cables, and of these; there are enough for the groups.
fn groups() -> impl Strategy<Value = (u32, u32, u32)> {
    (1u32..5, 1u32..4).prop_flat_map(|(switches, cables)| (1..switches * cables + 2, Just(switches), Just(cables)))
}

/// Every two groups of `size` switches are joined by as many cables as the ports allow.
fn check_groups(topology: &dyn Topology, size: u32, ports: u32) -> Result<(), TestCaseError> {
    let groups = topology.switches() / size;
    let mut joined = vec![0; (groups * groups) as usize];
    for (tail, head, _) in arcs(topology) {
        if let (Some(tail), Some(head)) =
            (tail.checked_sub(topology.nodes() as usize), head.checked_sub(topology.nodes() as usize))
        {
            joined[tail / size as usize * groups as usize + head / size as usize] += 1;
        }
    }
    for from in 0..groups {
        for to in (0..groups).filter(|&to| to != from) {
            prop_assert_eq!(joined[(from * groups + to) as usize], ports / (groups - 1));
        }
    }
    Ok(())
}

/// Cables of each switch to other switches.
fn between_switches(topology: &dyn Topology) -> Vec<u32> {
    let mut degrees = vec![0; topology.switches() as usize];
    for (tail, head, _) in arcs(topology) {
        if tail.min(head) >= topology.nodes() as usize {
            degrees[tail - topology.nodes() as usize] += 1;
        }
    }
    degrees
}

proptest! {
    #[test]
    fn dragonflies((groups, switches, cables) in groups(), nodes in 1u32..4, arrangement in arrangement(), duplex in duplex()) {
        let shape = DragonflyShape {
            groups,
            switches_per_group: switches,
            nodes_per_switch: nodes,
            global_cables_per_switch: cables,
            arrangement,
        };
        let topology = Dragonfly::new(shape, KINDS, duplex).unwrap();
        // Minimal within the hierarchy: two global cables may be shorter than local, global, local.
        check_routes(&topology, false)?;
        check_links(&topology, duplex)?;
        check_groups(&topology, switches, switches * cables)?;
        let full = groups > 1 && switches * cables % (groups - 1) == 0;
        for degree in between_switches(&topology) {
            prop_assert!(degree < switches + cables && (!full || degree == switches - 1 + cables));
        }
        if full {
            check_degrees(&topology, |_| (switches - 1 + cables + nodes) as u64, 1)?;
        }
    }

    #[test]
    fn dragonflies_plus((groups, spines, cables) in groups(), leaves in 1u32..4, nodes in 1u32..3, arrangement in arrangement(), duplex in duplex()) {
        let shape = DragonflyPlusShape {
            groups,
            leaves_per_group: leaves,
            spines_per_group: spines,
            nodes_per_leaf: nodes,
            global_cables_per_spine: cables,
            arrangement,
        };
        let topology = DragonflyPlus::new(shape, KINDS, duplex).unwrap();
        check_routes(&topology, true)?;
        check_links(&topology, duplex)?;
        check_groups(&topology, leaves + spines, spines * cables)?;
        if groups > 1 && spines * cables % (groups - 1) == 0 {
            let of_leaf = |switch| switch % (leaves + spines) < leaves;
            let degree = |switch| if of_leaf(switch) { spines + nodes } else { leaves + cables };
            check_degrees(&topology, |switch| degree(switch) as u64, 1)?;
        }
    }

    #[test]
    fn fat_trees(shape in shape(), duplex in duplex()) {
        let tree = tree(&shape, duplex);
        check_routes(&tree, true)?;
        check_links(&tree, duplex)?;
    }

    #[test]
    fn fat_trees_without_some_tops(shape in shape(), missing in 0u32..9, duplex in duplex()) {
        let tops = shape.tops(shape.levels());
        prop_assume!(tops > 1);
        let tree = tree(&shape, duplex).without(&[missing % tops]).unwrap();
        check_routes(&tree, true)?;
        prop_assert!(used(&tree).iter().zip(0..).all(|(used, id)| !used || !tree.is_missing(id)));
        let there = (0..tree.links()).filter(|&id| !tree.is_missing(id)).count() as u64;
        prop_assert_eq!(there, tree.cables() * if duplex == Duplex::Split { 2 } else { 1 });
    }

    #[test]
    fn tori_and_meshes(axes in proptest::collection::vec((1u32..6, 1u32..4), 1..4), wrap: bool, duplex in duplex()) {
        let (dims, cables): (Vec<u32>, Vec<u32>) = axes.into_iter().unzip();
        let torus = Torus::with_cables(&dims, &cables, wrap, LINK, duplex).unwrap();
        check_routes(&torus, true)?;
        check_links(&torus, duplex)?;
        if duplex == Duplex::Split && cables.iter().all(|&cables| cables == 1) {
            prop_assert!(used(&torus).iter().all(|&used| used));
        }
    }

    #[test]
    fn hypercubes(dimension in 1u32..7, cables in 1u32..4, duplex in duplex()) {
        let cube = Hypercube::new(dimension, cables, LINK, duplex).unwrap();
        check_routes(&cube, true)?;
        check_links(&cube, duplex)?;
        check_degrees(&cube, |_| 0, (dimension * cables) as u64)?;
        // A torus whose lines have two nodes is the same network, and goes the same ways.
        let torus = Torus::new(&vec![2; dimension as usize], true, LINK, Duplex::Split).unwrap();
        let one = Hypercube::new(dimension, 1, LINK, Duplex::Split).unwrap();
        let ends = |topology: &dyn Topology, from, to| {
            route(topology, from, to).into_iter().map(|id| topology.ends(id)).collect::<Vec<_>>()
        };
        for to in 0..one.nodes() {
            prop_assert_eq!(ends(&one, to / 3, to), ends(&torus, to / 3, to));
        }
    }

    #[test]
    fn hyperx_networks(axes in proptest::collection::vec((1u32..5, 1u32..4), 1..4), nodes in 1u32..3, duplex in duplex()) {
        let topology = hyperx(axes.clone(), nodes, duplex);
        // A node reaches itself over one shared link, which does not lead back in this sense.
        if topology.nodes() > 1 || duplex == Duplex::Split {
            check_routes(&topology, true)?;
        }
        check_links(&topology, duplex)?;
        let degree: u32 = axes.iter().map(|(size, cables)| (size - 1) * cables).sum();
        check_degrees(&topology, |_| (degree + nodes) as u64, 1)?;
        let single = hyperx(axes.iter().map(|&(size, _)| (size, 1)).collect(), nodes, Duplex::Split);
        prop_assert!(single.nodes() == 1 || used(&single).iter().all(|&used| used));
    }

    #[test]
    fn crossbars(nodes in 1u32..20, duplex in duplex()) {
        let crossbar = Crossbar::new(nodes, LINK, duplex, None);
        // A node reaches itself over one shared link, which does not lead back in this sense.
        if duplex == Duplex::Split {
            check_routes(&crossbar, true)?;
        }
        check_links(&crossbar, duplex)?;
    }

    /// There and back are as long, and on cables that are shared a return never needs other ones than the tree has.
    #[test]
    fn back_is_as_long_as_there(shape in shape(), a: u32, b: u32) {
        let tree = tree(&shape, Duplex::Split);
        let (a, b) = (a % tree.nodes(), b % tree.nodes());
        let (there, back) = (route(&tree, a, b), route(&tree, b, a));
        prop_assert_eq!(there.len(), back.len());
        let up = |route: &[LinkId]| route.iter().filter(|&&id| (id as u64) < tree.cables()).count();
        prop_assert_eq!(2 * up(&there), there.len(), "half up, half down");
        prop_assert_eq!(up(&there), up(&back));
    }
}

/// The most messages that meet on a link, if each of these pairs sends one.
fn most_on_a_link(topology: &dyn Topology, pairs: impl Iterator<Item = (u32, u32)>) -> u32 {
    let mut crossing = vec![0; topology.links() as usize];
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        route(topology, from, to).into_iter().for_each(|id| crossing[id as usize] += 1);
    }
    // What nodes send into switches is the same for any number of cables.
    let between = |&id: &LinkId| {
        let (tail, head) = topology.ends(id);
        topology.switches() == 0 || matches!((tail, head), (Vertex::Switch(_), Vertex::Switch(_)))
    };
    (0..topology.links()).filter(between).map(|id| crossing[id as usize]).max().unwrap_or(0)
}

#[test]
fn two_cables_carry_twice_as_much() {
    type Make<'m> = &'m dyn Fn(u32) -> Box<dyn Topology>;
    let torus: Make = &|cables| Box::new(Torus::with_cables(&[8, 8], &[cables; 2], true, LINK, Duplex::Split).unwrap());
    let hyperx = |dimensions: &[u32], nodes_per_switch, cables| -> Box<dyn Topology> {
        let shape =
            HyperXShape { dimensions: dimensions.into(), cables: vec![cables; dimensions.len()], nodes_per_switch };
        Box::new(HyperX::new(shape, LINK, LINK, Duplex::Split).unwrap())
    };
    let full_mesh = |cables| hyperx(&[8], 4, cables);
    let cube: Make = &|cables| Box::new(Hypercube::new(6, cables, LINK, Duplex::Split).unwrap());
    let shift = |nodes: u32, by: u32| (0..nodes).map(move |node| (node, (node + by) % nodes));
    let all = |nodes: u32| (0..nodes).flat_map(move |from| (0..nodes).map(move |to| (from, to)));
    for (x, y) in [(2, 0), (3, 0), (4, 0), (0, 2), (0, 3), (0, 4), (2, 2), (3, 3)] {
        let shifted = move |node: u32| (node + x) % 8 + (node / 8 + y) % 8 * 8;
        let most = |cables| most_on_a_link(&*torus(cables), (0..64).map(|node| (node, shifted(node))));
        assert_eq!((most(1), most(2)), (most(1), most(1).div_ceil(2)), "torus, shift by ({x}, {y})");
    }
    for by in [4, 8, 12] {
        let most = |cables| most_on_a_link(&*full_mesh(cables), shift(32, by));
        assert_eq!((most(1), most(2), most(4)), (4, 2, 1), "full mesh, shift by {by}");
    }
    let everybody: [(&str, u32, Make); 4] = [
        ("torus", 64, torus),
        ("hypercube", 64, cube),
        ("full mesh", 32, &full_mesh),
        ("HyperX with a node a switch", 16, &|cables| hyperx(&[4, 4], 1, cables)),
    ];
    for (name, nodes, make) in everybody {
        let most = |cables| most_on_a_link(&*make(cables), all(nodes));
        assert_eq!((most(1), most(2)), (most(1), most(1).div_ceil(2)), "{name}, all to all");
    }
}

/// Also where ports are chosen by the same numbers as planes.
#[test]
fn two_planes_carry_twice_as_much() {
    let one = tree(&"2;8,4;1,4;1,1".parse().unwrap(), Duplex::Split);
    let all = || (0..32).flat_map(|from| (0..32).map(move |to| (from, to)));
    let shift = |by| (0..32).map(move |node| (node, (node + by) % 32));
    for choice in [PlaneChoice::Source, PlaneChoice::Destination] {
        let two = Planes::new(Box::new(one.clone()), 2, choice).unwrap();
        assert_eq!(most_on_a_link(&one, all()), 2 * most_on_a_link(&two, all()), "{choice:?}");
        for by in [8, 16] {
            assert_eq!(
                most_on_a_link(&one, shift(by)),
                2 * most_on_a_link(&two, shift(by)),
                "{choice:?}, shift by {by}"
            );
        }
    }
}

/// Networks in one direction: all links have different names, and each leads from one stage to the next.
fn check_stages(topology: &dyn Topology) -> Result<(), TestCaseError> {
    let names: std::collections::BTreeSet<String> = (0..topology.links()).map(|id| topology.link_name(id)).collect();
    prop_assert_eq!(names.len() as u32, topology.links());
    prop_assert_eq!(u64::from(topology.links()), topology.cables());
    let Structure::Stages(sizes) = topology.structure() else { panic!("not of stages") };
    prop_assert_eq!(sizes.iter().sum::<u32>(), topology.switches());
    let stage = |switch: u32| {
        let mut first = 0;
        sizes.iter().position(|size| {
            first += size;
            switch < first
        })
    };
    for id in 0..topology.links() {
        match topology.ends(id) {
            (Vertex::Node(_), Vertex::Switch(switch)) => prop_assert_eq!(stage(switch), Some(0)),
            (Vertex::Switch(a), Vertex::Switch(b)) => prop_assert_eq!(stage(a).map(|a| a + 1), stage(b)),
            (Vertex::Switch(switch), _) => prop_assert_eq!(stage(switch), Some(sizes.len() - 1)),
            ends => prop_assert!(false, "{ends:?}"),
        }
    }
    prop_assert_eq!(channels(topology)[0], 1);
    Ok(())
}

proptest! {
    #[test]
    fn clos_networks(m in 1u32..6, n in 1u32..5, r in 1u32..5) {
        let shape = ClosShape { middle_switches: m, nodes_per_switch: n, edge_switches: r };
        let topology = Clos::new(shape, SLOW, LINK).unwrap();
        check_routes(&topology, true)?;
        check_stages(&topology)?;
        check_degrees(&topology, |switch| if switch < r { m } else if switch < r + m { r } else { n } as u64, 1)?;
    }
}

#[test]
fn gamma_networks() {
    for stages in 1..6 {
        let topology = Gamma::new(stages, SLOW, LINK).unwrap();
        check_routes(&topology, true).unwrap();
        check_stages(&topology).unwrap();
        let last = stages << stages;
        check_degrees(&topology, |switch| if switch < last { 3 } else { 1 }, 1).unwrap();
    }
}

/// Names of what may fail, one after the other, as long as the network is not cut.
fn damage(whole: &dyn Fn() -> Box<dyn Topology>, picks: &[u32]) -> Option<Damaged> {
    let topology = whole();
    let (switches, links, nodes) = (topology.switches(), topology.links(), topology.nodes());
    let mut names: Vec<String> = Vec::new();
    for &pick in picks {
        let name = match pick % 3 {
            0 if switches > 0 => topology.vertex_name(Vertex::Switch(pick / 3 % switches)),
            _ => topology.link_name(pick / 3 % links),
        };
        let with: Vec<String> = names.iter().cloned().chain([name]).collect();
        if Damaged::new(whole(), &with, nodes).is_ok() {
            names = with;
        }
    }
    Damaged::new(whole(), &names, nodes).ok().filter(|_| !names.is_empty())
}

/// Ways of all kinds cross nothing that failed.
fn check_damaged(topology: &Damaged) -> Result<(), TestCaseError> {
    check_routes(topology, false)?;
    let mut path = Path::default();
    for (from, to) in (0..topology.nodes()).flat_map(|from| (0..topology.nodes()).map(move |to| (from, to))) {
        let draw = 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(u64::from(from * 31 + to));
        let ways: [&dyn Fn(&mut Path); 5] = [
            &|path| topology.route(from, to, path),
            &|path| topology.route_by_source(from, to, path),
            &|path| topology.any_route(from, to, draw, path),
            &|path| topology.least_loaded(from, to, draw, &|_| 1, path),
            &|path| topology.detour(from, to, draw, path),
        ];
        for find in ways {
            path.clear();
            find(&mut path);
            prop_assert!(path.links.iter().all(|&id| !topology.is_failed(id)), "{from} -> {to}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn damaged_networks(kind in 0usize..7, planes in 1u32..3, picks in proptest::collection::vec(0u32..10_000, 1..5)) {
        let whole = move || -> Box<dyn Topology> {
            let one: Box<dyn Topology> = match kind {
                0 => Box::new(parse("2;3,3;1,3;1,1")),
                1 => Box::new(parse("2;2,3;1,2;1,2")),
                2 => Box::new(Torus::new(&[4, 3], true, LINK, Duplex::Split).unwrap()),
                3 => Box::new(hyperx(vec![(3, 1), (3, 2)], 2, Duplex::Split)),
                4 => Box::new(SlimFly::new(3, 1, LINK, SLOW, Duplex::Split).unwrap()),
                5 => Box::new(Gamma::new(3, LINK, SLOW).unwrap()),
                _ => Box::new(Torus::new(&[3, 3], true, LINK, Duplex::Shared).unwrap()),
            };
            match planes {
                1 => one,
                count => Box::new(Planes::new(one, count, PlaneChoice::Pair).unwrap()),
            }
        };
        if let Some(topology) = damage(&whole, &picks) {
            check_damaged(&topology)?;
        }
    }

    #[test]
    fn planes(count in 1u32..4, choice in 0usize..3, duplex in duplex()) {
        let choice = [PlaneChoice::Source, PlaneChoice::Destination, PlaneChoice::Pair][choice];
        let topology = Planes::new(Box::new(hyperx(vec![(3, 1), (2, 2)], 2, duplex)), count, choice).unwrap();
        check_routes(&topology, true)?;
        let names: std::collections::BTreeSet<String> = (0..topology.links()).map(|id| topology.link_name(id)).collect();
        prop_assert_eq!(names.len() as u32, topology.links());
        let one = hyperx(vec![(3, 1), (2, 2)], 2, duplex);
        prop_assert_eq!(channels(&topology)[0], channels(&one)[0], "planes need no more virtual channels");
    }
}

#[test]
fn slim_flies() {
    let cases =
        [(3, 2, -1), (4, 2, 0), (5, 2, 1), (7, 1, -1), (8, 1, 0), (9, 1, 1), (11, 1, -1), (13, 1, 1), (16, 1, 0)];
    for (q, nodes, delta) in cases {
        for duplex in [Duplex::Split, Duplex::Shared] {
            let topology = SlimFly::new(q, nodes, SLOW, LINK, duplex).unwrap();
            check_routes(&topology, true).unwrap();
            check_links(&topology, duplex).unwrap();
            assert_eq!(topology.switches(), 2 * q * q);
            let degree = (3 * q as i32 - delta) / 2;
            check_degrees(&topology, |_| degree as u64 + nodes as u64, 1).unwrap();
        }
    }
}

/// Zahavi 2010, theorem 1: on a full tree, D-mod-K never sends two messages of a shift permutation over one link.
/// SimGrid chooses among parallel cables down by source, which breaks the theorem there: see the last case.
#[test]
fn shifts_are_free_of_conflicts_on_full_trees() {
    let conflicts = |tree: &FatTree| {
        let mut conflicts = 0;
        for shift in 1..tree.nodes() {
            let mut load = vec![0u32; tree.links() as usize];
            for from in 0..tree.nodes() {
                for id in route(tree, from, (from + shift) % tree.nodes()) {
                    load[id as usize] += 1;
                    conflicts += (load[id as usize] > 1) as u32;
                }
            }
        }
        conflicts
    };
    for shape in
        ["1;12;1;1", "2;4,4;1,4;1,1", "2;4,8;1,4;1,1", "2;6,3;1,6;1,1", "3;4,4,4;1,4,4;1,1,1", "3;2,3,4;1,2,3;1,1,1"]
    {
        assert_eq!(conflicts(&parse(shape)), 0, "{shape}");
    }
    assert!(conflicts(&parse("2;4,4;1,2;1,1")) > 0, "half as many cables up cannot be free of conflicts");
    assert!(conflicts(&parse("2;4,4;1,2;1,2")) > 0, "parallel cables");
}

#[test]
fn all_links_of_balanced_trees_are_used() {
    for shape in ["2;4,4;1,4;1,1", "2;4,3;1,2;1,2", "3;4,4,4;1,4,2;1,1,1", "3;2,2,3;1,2,2;1,1,1"] {
        assert!(used(&parse(shape)).iter().all(|&used| used), "{shape}");
    }
}

/// A detour passes the switch of the node between, not the node: its own cable carries nothing for others, one link or two.
#[test]
fn detours_do_not_go_down_to_nodes() {
    for duplex in [Duplex::Split, Duplex::Shared] {
        let topologies: [Box<dyn Topology>; 2] =
            [Box::new(hyperx(vec![(7, 1)], 3, duplex)), Box::new(SlimFly::new(3, 2, LINK, SLOW, duplex).unwrap())];
        for topology in topologies {
            let mut path = Path::default();
            for number in 0..2000u64 {
                let (from, to) = ((number % 5) as u32, 5 + (number % 7) as u32);
                path.clear();
                topology.detour(from, to, number.wrapping_mul(0x9E37_79B9_7F4A_7C15), &mut path);
                let strangers = path.links.iter().filter(|&&id| {
                    let (tail, head) = topology.ends(id);
                    let is_stranger = |end| matches!(end, Vertex::Node(node) if node != from && node != to);
                    is_stranger(tail) || is_stranger(head)
                });
                assert_eq!(strangers.count(), 0, "{} {duplex:?}", topology.describe());
            }
        }
    }
}

/// A topology that differs from the defaults wherever it can.
#[derive(Debug)]
struct Odd(Torus);

impl Topology for Odd {
    fn describe(&self) -> String {
        "odd".into()
    }
    fn nodes(&self) -> u32 {
        self.0.nodes()
    }
    fn switches(&self) -> u32 {
        3
    }
    fn links(&self) -> u32 {
        self.0.links()
    }
    fn link(&self, _: LinkId) -> Link {
        SLOW
    }
    fn link_name(&self, id: LinkId) -> String {
        format!("odd {id}")
    }
    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        self.0.ends(id)
    }
    fn is_shared(&self, id: LinkId) -> bool {
        id.is_multiple_of(2)
    }
    fn is_unshared(&self, id: LinkId) -> bool {
        id.is_multiple_of(3)
    }
    fn nodes_pass_on(&self) -> bool {
        true
    }
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        self.0.route(from, to, path);
    }
    fn fixed_routing(&self) -> &'static str {
        "oddly"
    }
    fn choice(&self) -> Choice {
        Choice::Shortest
    }
    fn route_by_source(&self, from: u32, _: u32, path: &mut Path) {
        self.0.route(from, 1, path);
    }
    fn any_route(&self, from: u32, _: u32, _: u64, path: &mut Path) {
        self.0.route(from, 2, path);
    }
    fn least_loaded(&self, from: u32, _: u32, _: u64, load: &dyn Fn(LinkId) -> u32, path: &mut Path) {
        self.0.route(from, load(4), path);
    }
    fn detour(&self, from: u32, _: u32, _: u64, path: &mut Path) {
        self.0.route(from, 5, path);
    }
    fn order(&self, id: LinkId) -> u32 {
        100 - id
    }
    fn cables(&self) -> u64 {
        77
    }
    fn diameter(&self) -> u32 {
        4
    }
    fn vertex_name(&self, vertex: Vertex) -> String {
        format!("odd {vertex:?}")
    }
    fn link_kind(&self, id: LinkId) -> String {
        format!("kind {}", id % 2)
    }
    fn switch_kind(&self, switch: u32) -> String {
        format!("kind of switch {switch}")
    }
    fn missing_switches(&self) -> u32 {
        1
    }
    fn is_missing(&self, id: LinkId) -> bool {
        id == 6
    }
    fn is_failed(&self, id: LinkId) -> bool {
        id == 7
    }
    fn own_name(&self, node: u32) -> Option<&str> {
        (node == 1).then_some("number one")
    }
    fn structure(&self) -> Structure {
        Structure::Cube { dimension: 5 }
    }
}

/// All that a topology says of itself, but for what a wrapper changes on purpose: its description, names of links and switches
/// (planes), figures of the whole (damage).
fn account(topology: &dyn Topology) -> Vec<String> {
    let mut account = vec![
        format!("{:?}", (topology.nodes(), topology.switches(), topology.links(), topology.missing_switches())),
        format!("{:?}", (topology.fixed_routing(), topology.choice(), topology.nodes_pass_on(), topology.cables())),
        format!("{:?}", (topology.structure(), topology.may_repeat_links())),
    ];
    account.extend((0..topology.switches()).map(|switch| topology.switch_kind(switch)));
    let node = |node| format!("{:?} {}", topology.own_name(node), topology.vertex_name(Vertex::Node(node)));
    account.extend((0..topology.nodes()).map(node));
    for id in 0..topology.links() {
        let is = [topology.is_shared(id), topology.is_unshared(id), topology.is_missing(id), topology.is_failed(id)];
        let facts = (topology.link(id), topology.ends(id), topology.order(id), topology.link_kind(id));
        account.push(format!("{is:?} {facts:?}"));
    }
    let ways: [&dyn Fn(&mut Path); 5] = [
        &|path| topology.route(0, 4, path),
        &|path| topology.route_by_source(0, 4, path),
        &|path| topology.any_route(0, 4, 9, path),
        &|path| topology.least_loaded(0, 4, 9, &|_| 3, path),
        &|path| topology.detour(0, 4, 9, path),
    ];
    for find in ways {
        let mut path = Path::default();
        path.clear();
        find(&mut path);
        account.push(format!("{:?}", path.links));
    }
    account
}

/// What a topology knows is not lost in planes, nor in damage.
#[test]
fn wrappers_pass_on_what_is_inside() {
    let odd = || Box::new(Odd(Torus::new(&[8], true, LINK, Duplex::Split).unwrap()));
    assert_eq!(account(&Planes::new(odd(), 1, PlaneChoice::Pair).unwrap()), account(&*odd()));
    let damaged = Damaged::new(odd(), &[], 8).unwrap();
    assert_eq!(account(&damaged), account(&*odd()));
    let planes = Planes::new(odd(), 2, PlaneChoice::Pair).unwrap();
    let damaged = Damaged::new(Box::new(planes), &[], 8).unwrap();
    assert_eq!(damaged.plane().map(|(one, count)| (one.describe(), count)), Some(("odd".into(), 2)));
}
