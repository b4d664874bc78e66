//! The fast model against the naive one, and closed forms.

use std::rc::Rc;

use hpcast_platform::machine::{FactorMeaning, FlowSharing, Machine};
use hpcast_platform::topology::{Crossbar, Duplex, Link};
use hpcast_units::Time;
use proptest::prelude::*;

use super::Flow;
use crate::network::reference::{Reference, Rule};
use crate::network::testing::{self, Tangle, Traffic, ends, transfer};
use crate::network::{Network, Transfer};

/// Runs both; the same transfers must end at the same times. And once more, for the same bytes.
fn compare(machine: &Rc<Machine>, traffic: &Traffic, patience: usize) {
    let run = || {
        let mut flow = Flow::new(machine.clone());
        flow.sharing.patience = patience;
        testing::run(&mut flow, traffic)
    };
    let fast = run();
    let slow = testing::run(&mut Reference::new(machine.clone(), Rule::MaxMin), traffic);
    testing::assert_same(&fast, &slow);
    assert_eq!(fast, run());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn equals_the_naive_model((machine, traffic) in testing::case()) {
        compare(&machine, &traffic, usize::MAX);
    }

    #[test]
    fn equals_the_naive_model_where_everything_is_solved_from_scratch((machine, traffic) in testing::case()) {
        compare(&machine, &traffic, 0);
    }

    #[test]
    fn equals_the_naive_model_where_many_flows_tie((machine, traffic) in testing::regular_case()) {
        compare(&machine, &traffic, usize::MAX);
    }

    #[test]
    fn equals_the_naive_model_where_many_flows_tie_from_scratch((machine, traffic) in testing::regular_case()) {
        compare(&machine, &traffic, 0);
    }
}

/// Links of 1 GB/s (1 byte a nanosecond) and 500 ns; two hops make 1 us.
fn crossbar(nodes: u32) -> Flow {
    Flow::new(testing::crossbar(nodes, FlowSharing::default()))
}

#[test]
fn a_flow_alone_takes_latency_and_bytes_over_bandwidth() {
    let double = Transfer { latency_factor: 2.0, bandwidth_factor: 0.5, ..transfer(0, 1, 1000) };
    assert_eq!(ends(&mut crossbar(2), &[(0, transfer(0, 1, 1000))]), [2_000_000]);
    assert_eq!(ends(&mut crossbar(2), &[(7, double)]), [4_000_007]);
    assert_eq!(ends(&mut crossbar(2), &[(0, transfer(0, 1, 0))]), [1_000_000]);
}

#[test]
fn inside_a_node_nobody_shares() {
    // 25 GB/s and 100 ns.
    let transfers = [(0, transfer(1, 1, 25_000)), (0, transfer(1, 1, 50_000)), (5, transfer(1, 1, 0))];
    assert_eq!(ends(&mut crossbar(2), &transfers), [1_100_000, 2_100_000, 100_005]);
}

#[test]
fn two_flows_on_one_link_get_half_of_it_each() {
    let transfers = [(0, transfer(0, 2, 1000)), (0, transfer(1, 2, 3000))];
    // Together until the short one ends after 2 us; the long one has 2000 bytes left then.
    assert_eq!(ends(&mut crossbar(3), &transfers), [3_000_000, 5_000_000]);
}

#[test]
fn incast_shares_the_last_link() {
    let transfers: Vec<(u64, Transfer)> = (0..20).map(|node| (0, transfer(node, 20, 1000))).collect();
    assert_eq!(ends(&mut crossbar(21), &transfers), vec![21_000_000; 20]);
}

#[test]
fn a_parking_lot() {
    // Node 0 sends over links 0, 1, 2; others over one link each: links 0 and 1 carry two flows, link 2 four.
    let links = vec![Link { bandwidth: 1e9, latency: 0.0 }; 3];
    let mut routes = vec![vec![0, 1, 2]; 25];
    (routes[6], routes[7], routes[8]) = (vec![0], vec![1], vec![2]);
    let machine = testing::machine(Tangle { nodes: 5, links, routes }, None, FlowSharing::default());
    let flow = |from, to, bytes| (0, transfer(from, to, bytes));
    let last = flow(1, 3, 1000);
    let transfers = [flow(0, 1, 1000), flow(1, 1, 0), flow(1, 2, 3000), last, last, last];
    // The long flow has a quarter of link 2, as the three others there; the one on link 1 has the other three quarters
    // of that, until all others end after 4 us.
    assert_eq!(ends(&mut Flow::new(machine), &transfers)[2..], [4_000_000; 4]);
}

#[test]
fn a_slow_flow_leaves_room_to_others() {
    let slow = Transfer { bandwidth_factor: 0.2, ..transfer(0, 3, 1000) };
    let transfers = [(0, slow), (0, transfer(1, 3, 2000)), (0, transfer(2, 3, 2000))];
    // 200 B/us, and 400 B/us for each of the others.
    assert_eq!(ends(&mut crossbar(4), &transfers), [6_000_000; 3]);
}

#[test]
fn a_factor_on_the_share_holds_under_contention_too() {
    let sharing = FlowSharing { factor: FactorMeaning::Share, ..FlowSharing::default() };
    let mut flow = Flow::new(testing::crossbar(3, sharing));
    let half = Transfer { bandwidth_factor: 0.5, ..transfer(0, 2, 1000) };
    // Both have half of the link, but the first makes only half of that of it.
    assert_eq!(ends(&mut flow, &[(0, half), (0, transfer(1, 2, 2000))]), [5_000_000; 2]);
}

#[test]
fn acknowledgements_take_their_share_of_the_way_back() {
    let sharing = FlowSharing { cross_traffic: 0.05, ..FlowSharing::default() };
    let mut flow = Flow::new(testing::crossbar(2, sharing));
    let alone = ends(&mut flow, &[(0, transfer(0, 1, 1000))]);
    assert_eq!(alone, [2_000_000]);
    let mut flow = Flow::new(testing::crossbar(2, sharing));
    // x + 0.05 x = 1.
    assert_eq!(ends(&mut flow, &[(0, transfer(0, 1, 1000)), (0, transfer(1, 0, 1000))]), [2_050_000; 2]);
}

#[test]
fn both_directions_of_a_shared_cable_are_one_link() {
    let link = Link { bandwidth: 1e9, latency: 5e-7 };
    let machine = |duplex| testing::machine(Crossbar::new(2, link, duplex, None), None, FlowSharing::default());
    let transfers = [(0, transfer(0, 1, 1000)), (0, transfer(1, 0, 1000))];
    assert_eq!(ends(&mut Flow::new(machine(Duplex::Split)), &transfers), [2_000_000; 2]);
    assert_eq!(ends(&mut Flow::new(machine(Duplex::Shared)), &transfers), [3_000_000; 2]);
}

#[test]
fn penalties_divide_a_link_in_inverse_proportion() {
    // The route from 0 has twice the latency of the one from 1, and no weight for bandwidth.
    let links = vec![Link { bandwidth: 1e9, latency: 1e-6 }, Link { bandwidth: 10e9, latency: 1e-6 }];
    let routes = vec![vec![], vec![], vec![0, 1], vec![], vec![], vec![0], vec![], vec![], vec![]];
    let sharing = FlowSharing { weight_s: Some(0.0), ..FlowSharing::default() };
    let machine = testing::machine(Tangle { nodes: 3, links, routes }, None, sharing);
    let one = Transfer { latency_factor: 0.5, ..transfer(0, 2, 1000) };
    // One third and two thirds.
    assert_eq!(ends(&mut Flow::new(machine), &[(0, one), (0, transfer(1, 2, 2000))]), [4_000_000; 2]);
}

#[test]
fn a_window_bounds_the_rate() {
    let sharing = FlowSharing { window: Some(1000.0), ..FlowSharing::default() };
    // 1000 B in two latencies of 1 us.
    assert_eq!(ends(&mut Flow::new(testing::crossbar(2, sharing)), &[(0, transfer(0, 1, 1000))]), [3_000_000]);
}

#[test]
fn what_ends_together_is_named_in_the_order_of_starts() {
    let mut network = crossbar(8);
    // Announced in this order; all end at 3 us.
    network.start(Time::from_ps(1_000_000), Transfer { token: 3, ..transfer(6, 7, 1000) });
    network.start(Time::ZERO, Transfer { token: 1, ..transfer(0, 4, 1000) });
    network.start(Time::from_ps(1_000_000), Transfer { token: 2, ..transfer(2, 3, 1000) });
    network.start(Time::ZERO, Transfer { token: 0, ..transfer(1, 4, 1000) });
    let mut ended = Vec::new();
    while ended.is_empty() {
        let now = network.next_event();
        network.advance(now, &mut ended);
    }
    assert_eq!(ended, [3, 1, 2, 0]);
    assert_eq!(network.next_event(), Time::NEVER);
}

#[test]
fn all_to_all_takes_as_long_as_the_links_need() {
    let nodes = 16;
    let mut transfers = Vec::new();
    for k in 1..nodes {
        transfers.extend((0..nodes).map(|i| (u64::from(k) * 100_000, transfer(i, (i + k) % nodes, 10_000))));
    }
    let ends = ends(&mut crossbar(nodes), &transfers);
    // 15 x 10 kB over each link, from the first start on.
    assert_eq!(ends.iter().max(), Some(&151_100_000));
}

#[test]
fn links_count_the_bytes_that_crossed_them() {
    let mut network = crossbar(3);
    ends(&mut network, &[(0, transfer(0, 2, 1000)), (0, transfer(1, 2, 500)), (0, transfer(1, 1, 7))]);
    assert_eq!(network.link_bytes(), [1000.0, 500.0, 0.0, 0.0, 0.0, 1500.0]);
}

#[test]
fn many_ends_leave_no_trace_in_the_sums() {
    // Shares that are no round numbers come and go; the link must be as good as new.
    let sharing = FlowSharing { cross_traffic: 0.05, weight_s: Some(8775.0), ..FlowSharing::default() };
    let mut network = Flow::new(testing::crossbar(5, sharing));
    let mut now = Time::ZERO;
    let mut ended = Vec::new();
    let mut running = 0;
    for i in 0..20_000u32 {
        let (from, to) = (i % 5, (i * 7 + 1 + i / 5) % 5);
        network.start(now, Transfer { token: i, ..transfer(from, to, 1 + u64::from(i * 37 % 5000)) });
        running += 1;
        while running > 8 {
            now = network.next_event();
            network.advance(now, &mut ended);
            running -= ended.drain(..).count();
        }
    }
    // The audit compares all sums with those made from scratch, after each of these events.
}

/// How many flows stand for these transfers, all of which start at the beginning.
fn flows(sharing: FlowSharing, transfers: &[Transfer]) -> usize {
    let mut network = Flow::new(testing::crossbar(4, sharing));
    transfers.iter().for_each(|&transfer| network.start(Time::ZERO, transfer));
    network.messages.len()
}

#[test]
fn a_message_and_its_like_the_other_way_are_one_flow() {
    let acknowledged = FlowSharing { cross_traffic: 0.05, ..FlowSharing::default() };
    let (there, back) = (transfer(0, 1, 1000), transfer(1, 0, 1000));
    assert_eq!(flows(acknowledged, &[there, back]), 1);
    // Each of two exchanges has its own, a third message has no twin, and inside a node there are none.
    assert_eq!(flows(acknowledged, &[there, back, there, back]), 2);
    assert_eq!(flows(acknowledged, &[there, back, there]), 2);
    assert_eq!(flows(acknowledged, &[transfer(2, 2, 1000), transfer(2, 2, 1000)]), 2);
    // Other sizes, times, rates and nodes, and links that only one of them crosses.
    assert_eq!(flows(acknowledged, &[there, transfer(1, 0, 1001)]), 2);
    assert_eq!(flows(acknowledged, &[there, Transfer { latency_factor: 2.0, ..back }]), 2);
    assert_eq!(flows(acknowledged, &[there, Transfer { bandwidth_factor: 0.5, ..back }]), 2);
    assert_eq!(flows(acknowledged, &[there, transfer(1, 2, 1000)]), 2);
    assert_eq!(flows(FlowSharing::default(), &[there, back]), 2);
}

#[test]
fn twins_take_as_long_as_each_of_them_would() {
    let acknowledged = FlowSharing { cross_traffic: 0.05, ..FlowSharing::default() };
    let run = |transfers: &[(u64, Transfer)]| ends(&mut Flow::new(testing::crossbar(4, acknowledged)), transfers);
    // 1,000 bytes, and acknowledgements of 50 of the other's, through links of a byte a nanosecond.
    let pair = [(0, transfer(0, 1, 1000)), (0, transfer(1, 0, 1000))];
    assert_eq!(run(&pair), [2_050_000, 2_050_000]);
    // A third one that starts in between keeps them apart: they go as three single flows do.
    let [first, second] = pair;
    let third = (0, transfer(2, 1, 1000));
    assert_eq!(run(&[first, second, third]), run(&[first, third, second]));
}
