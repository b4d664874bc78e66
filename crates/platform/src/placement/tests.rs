use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Diagnostics, Source};
use crate::topology::{Crossbar, Duplex, FatTree, Graph, Link, Topology, Torus};

const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

/// Topologies live as long as the tests.
fn on(topology: impl Topology + 'static, cores: u32) -> Site<'static> {
    let topology: &'static dyn Topology = Box::leak(Box::new(topology));
    Site::new(topology.nodes(), cores, topology)
}

fn site(nodes: u32, cores: u32) -> Site<'static> {
    on(Crossbar::new(nodes, LINK, Duplex::Split, None), cores)
}

/// Nodes of two switches, which are numbered in turn.
fn crossed() -> Site<'static> {
    let text = "node n[0-5]\nswitch a b\nlink n[0,2,4] -- a 1 GB/s 1 us\nlink n[1,3,5] -- b 1 GB/s 1 us\nlink a -- b 1 GB/s 1 us\n";
    on(Graph::parse(text).unwrap(), 2)
}

fn placed(plan: &Plan, ranks: u32, site: &Site<'_>) -> Vec<u32> {
    let placement = plan.place(ranks, site).unwrap();
    (0..ranks).map(|rank| placement.node(rank)).collect()
}

fn allocation(text: &str, site: &Site<'_>) -> Result<Vec<u32>, Diagnostics> {
    let allocation = Allocation::read(text, std::path::Path::new(""), 1, site)?;
    Ok(allocation.nodes(site).unwrap())
}

#[test]
fn switches_are_filled_or_dealt_over() {
    let site = crossed();
    let plan = |policy| Plan { policy, ..Plan::default() };
    assert_eq!(placed(&plan(Policy::BySwitch), 8, &site), [0, 0, 2, 2, 4, 4, 1, 1]);
    assert_eq!(placed(&plan(Policy::SpreadSwitches), 6, &site), [0, 1, 2, 0, 1, 2]);
    let one_each = Plan { ranks_per_node: Some(1), ..plan(Policy::SpreadSwitches) };
    assert_eq!(placed(&one_each, 5, &site), [0, 1, 2, 3, 4]);
    let tree = FatTree::new("2; 4,3; 1,2; 1,1".parse().unwrap(), &[LINK, LINK], Duplex::Split).unwrap();
    assert_eq!(placed(&one_each, 6, &on(tree, 1)), [0, 4, 8, 1, 5, 9]);
    // Nodes that hang on no switch are their own.
    let torus = || on(Torus::with_cables(&[3, 3], &[1, 1], true, LINK, Duplex::Split).unwrap(), 1);
    assert_eq!(placed(&plan(Policy::BySwitch), 4, &torus()), [0, 1, 2, 3]);
    assert_eq!(placed(&plan(Policy::SpreadSwitches), 4, &torus()), [0, 1, 2, 3]);
}

#[test]
fn allocations_are_lists_or_drawn() {
    let site = site(50, 2);
    assert_eq!(allocation("node[3-5,40],7", &site).unwrap(), [3, 4, 5, 40, 7]);
    assert_eq!(allocation("3-5,40 , node0007", &site).unwrap(), [3, 4, 5, 40, 7]);
    assert_eq!(allocation("9 # the last\n2", &site).unwrap(), [9, 2]);
    let drawn = allocation("random:10", &site).unwrap();
    assert!(drawn.len() == 10 && drawn.is_sorted_by(|a, b| a < b) && drawn != allocation("0-9", &site).unwrap());
    assert_eq!(allocation("holes:0", &site).unwrap().len(), 50);
    let named = crossed();
    assert_eq!(allocation("n[4-5],0", &named).unwrap(), [4, 5, 0]);
}

#[test]
fn policies_apply_to_the_nodes_of_the_allocation() {
    let site = crossed();
    let plan = |policy| {
        let allocation = Some(Allocation::Hosts("n[5,1-3]".into()));
        Plan { policy, allocation, ..Plan::default() }
    };
    assert_eq!(placed(&plan(Policy::Block), 5, &site), [5, 5, 1, 1, 2]);
    assert_eq!(placed(&plan(Policy::Cyclic), 4, &site), [5, 1, 5, 1]);
    assert_eq!(placed(&plan(Policy::BySwitch), 8, &site), [5, 5, 1, 1, 3, 3, 2, 2]);
    assert_eq!(placed(&plan(Policy::List(vec![3, 5])), 2, &site), [3, 5]);
    let outside = plan(Policy::List(vec![3, 0])).place(2, &site);
    assert_eq!(outside, Err(PlacementError::Outside { rank: 1, node: 0 }));
    let small = plan(Policy::Block).place(9, &site);
    assert_eq!(small, Err(PlacementError::SmallAllocation { ranks: 9, nodes: 4, per_node: 2 }));
}

#[test]
fn allocations_that_cannot_be_used() {
    let site = site(50, 2);
    for (text, part) in [
        ("node50", "there is no node `node50`"),
        ("nod[3-4]", "did you mean `node3`?"),
        ("3-5,node4", "node `node4` is listed twice"),
        ("5-3", "`5-3` is no range"),
        ("node[3-", "`node[3-` is no range"),
        ("0-2000000", "stands for more than"),
        (" , ", "no node is listed"),
        ("random:0", "write a number of nodes"),
        ("random:x", "write a number of nodes"),
        ("holes:1", "write the share"),
        ("holes:0.5:0", "write the mean number"),
        ("holes:0.9:2", "a mean of 9 or more"),
    ] {
        let message = allocation(text, &site).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
    let many = Allocation::Random { nodes: 51, seed: 1 }.nodes(&site);
    assert_eq!(many, Err(PlacementError::FewerNodes { asked: 51, nodes: 50 }));
}

#[test]
fn busy_nodes_have_their_share_and_their_length() {
    let (nodes, site) = (200_000, site(200_000, 1));
    let free = Allocation::Holes { share: 0.7, length: 12.0, seed: 5 }.nodes(&site).unwrap();
    let share = 1.0 - free.len() as f64 / f64::from(nodes);
    assert!((share - 0.7).abs() < 0.01, "{share}");
    let runs = free.windows(2).filter(|pair| pair[1] > pair[0] + 1).count() as f64;
    let length = (f64::from(nodes) - free.len() as f64) / runs;
    assert!((length - 12.0).abs() < 0.3, "{length}");
}

fn rank_file_of(text: &str) -> Result<Vec<u32>, String> {
    rank_file::read(&Source::new("places", text), &site(20, 4)).map_err(|problems| problems.to_string())
}

#[test]
fn rank_files_of_both_forms() {
    let ranked = "# mine\nrank 1=node3 slot=1:0-3\n\nrank 0 = 17 slot=*   # first\nrank 2=node04\n";
    assert_eq!(rank_file_of(ranked).unwrap(), [17, 3, 4]);
    assert_eq!(rank_file_of("node17\n 3 # second\n\nnode04").unwrap(), [17, 3, 4]);
    let written = rank_file::write(&["by hand".into()], &[17, 3, 17], &site(20, 4));
    assert_eq!(written, "# by hand\nrank 0=node17 slot=0\nrank 1=node3 slot=0\nrank 2=node17 slot=1\n");
    assert_eq!(rank_file_of(&written).unwrap(), [17, 3, 17]);
}

#[test]
fn rank_files_that_cannot_be_used() {
    for (text, parts) in [
        ("node1\nnod2\n", ["places:2:1", "did you mean `node2`?"]),
        ("rank 0=node1\nrank 0=node2\n", ["places:2:1", "rank 0 is placed twice"]),
        ("rank 0=node1\nrank 2=node2\n", ["rank 1 has no line", "place every rank"]),
        ("rank 0=node1\nrank 4=node2\n", ["rank 1 and 2 others", "place every rank"]),
        ("rank 0=node1\nnode2\n", ["places:2:1", "another form"]),
        ("rank 0=node1 slot=x\n", ["places:1:14", "`slot=x` is no slot"]),
        ("rank 0=node1 slot=0 again\n", ["places:1:21", "`again` is too much"]),
        ("rank zero=node1\n", ["places:1:6", "`zero` is no rank"]),
        ("rank 0 node1\n", ["places:1:1", "no `=`"]),
        ("rank 0=\n", ["places:1:1", "rank 0 has no node"]),
        ("node1 slots=2\n", ["places:1:7", "too much"]),
        ("# nothing\n", ["no rank is placed", "write a line for each rank"]),
    ] {
        let message = rank_file_of(text).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{text}: {message}");
    }
}

fn nodes(policy: Policy, ranks: u32) -> Vec<u32> {
    let placement = Plan { policy, ..Plan::default() }.place(ranks, &site(4, 2)).unwrap();
    (0..ranks).map(|rank| placement.node(rank)).collect()
}

#[test]
fn policies() {
    assert_eq!(nodes(Policy::Block, 5), [0, 0, 1, 1, 2]);
    assert_eq!(nodes(Policy::Cyclic, 5), [0, 1, 2, 0, 1]);
    assert_eq!(nodes(Policy::List(vec![3, 0, 3, 1]), 3), [3, 0, 3]);
    assert_eq!(nodes(Policy::Random { seed: 1 }, 8), nodes(Policy::Random { seed: 1 }, 8));
    assert_ne!(nodes(Policy::Random { seed: 1 }, 8), nodes(Policy::Random { seed: 2 }, 8));
}

#[test]
fn random_fills_a_full_machine_evenly() {
    let mut all = nodes(Policy::Random { seed: 7 }, 8);
    all.sort();
    assert_eq!(all, [0, 0, 1, 1, 2, 2, 3, 3]);
}

#[test]
fn random_draws_from_the_allocation_where_there_is_one() {
    let policy = Policy::Random { seed: 7 };
    let used = |allocation: Option<Allocation>| {
        let plan = Plan { policy: policy.clone(), allocation, ..Plan::default() };
        let placement = plan.place(8, &site(100, 2)).unwrap();
        (0..8).map(|rank| placement.node(rank)).collect::<std::collections::BTreeSet<u32>>()
    };
    let allocation = Allocation::Hosts("40-45,90".into());
    assert!(used(Some(allocation)).iter().all(|node| (40..46).contains(node) || *node == 90));
    assert!(used(None).iter().any(|node| *node < 40) && used(None).iter().any(|node| *node > 45));
}

/// Both ways to shuffle draw the same numbers.
#[test]
fn few_ranks_are_the_first_of_many() {
    let place = |ranks| {
        let placement =
            Plan { policy: Policy::Random { seed: 3 }, ..Plan::default() }.place(ranks, &site(100, 4)).unwrap();
        (0..10).map(|rank| placement.node(rank)).collect::<Vec<_>>()
    };
    assert_eq!(place(10), place(400));
    let huge =
        Plan { policy: Policy::Random { seed: 3 }, ..Plan::default() }.place(2, &site(100_000_000, 1000)).unwrap();
    assert_ne!(huge.node(0), huge.node(1));
}

#[test]
fn formulas_take_no_memory() {
    let placement = Plan { oversubscribe: true, ..Plan::default() }.place(1 << 24, &site(512, 1)).unwrap();
    assert_eq!(placement.node((1 << 24) - 1), 511);
    assert!(size_of::<Placement>() <= 40);
}

#[test]
fn what_does_not_fit_is_refused() {
    let plan = Plan::default();
    assert_eq!(plan.place(0, &site(4, 2)), Err(PlacementError::NoRanks));
    let error = plan.place(9, &site(4, 2)).unwrap_err();
    assert_eq!(error, PlacementError::TooMany { ranks: 9, nodes: 4, per_node: 2 });
    assert!(error.to_string().contains("oversubscription"), "{error}");
    let crowded = Plan { ranks_per_node: Some(3), ..Plan::default() };
    assert_eq!(crowded.place(4, &site(4, 2)), Err(PlacementError::Crowded { ranks: 3, cores: 2 }));
    assert_eq!(crowded.check(&site(4, 2)), Err(PlacementError::Crowded { ranks: 3, cores: 2 }));
    let list = Plan { policy: Policy::List(vec![0, 4]), ..Plan::default() };
    assert_eq!(list.place(1, &site(4, 2)).map(|placement| placement.node(0)), Ok(0));
    assert_eq!(list.place(2, &site(4, 2)), Err(PlacementError::NoSuchNode { rank: 1, node: 4, nodes: 4 }));
    assert_eq!(list.place(3, &site(4, 2)), Err(PlacementError::ShortList { listed: 2, ranks: 3 }));
    let crowd = Plan { policy: Policy::List(vec![1, 1, 1]), ..Plan::default() };
    assert_eq!(crowd.place(3, &site(4, 2)), Err(PlacementError::Crowded { ranks: 3, cores: 2 }));
    assert!(Plan { oversubscribe: true, ..crowd }.place(3, &site(4, 2)).is_ok());
}

proptest! {
    #[test]
    fn no_node_carries_more_than_its_share(
        ranks in 1u32..200, nodes in 1u32..40, cores in 1u32..8, seed: u64, kind in 0..5, oversubscribe: bool
    ) {
        let policy = [Policy::Block, Policy::Cyclic, Policy::Random { seed }, Policy::BySwitch, Policy::SpreadSwitches][kind as usize].clone();
        let plan = Plan { policy, oversubscribe, ..Plan::default() };
        let limit = if oversubscribe { cores.max(ranks.div_ceil(nodes)) } else { cores };
        match plan.place(ranks, &site(nodes, cores)) {
            Err(_) => prop_assert!(ranks > nodes * cores && !oversubscribe),
            Ok(placement) => {
                let mut load = vec![0; nodes as usize];
                (0..ranks).for_each(|rank| load[placement.node(rank) as usize] += 1);
                prop_assert!(load.iter().all(|ranks| *ranks <= limit));
            }
        }
    }

    #[test]
    fn rank_files_read_back(nodes in proptest::collection::vec(0u32..20, 1..100)) {
        let text = rank_file::write(&[], &nodes, &site(20, 4));
        prop_assert_eq!(rank_file_of(&text).unwrap(), nodes);
    }

    #[test]
    fn no_text_is_too_strange(text in "(rank|node|[0-9=:, \\[\\]#*\n-]){0,30}") {
        let _ = rank_file_of(&text);
        let _ = allocation(&text, &site(20, 4));
    }
}
