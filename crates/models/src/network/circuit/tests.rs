//! The fast model against the naive one, and closed forms.

use proptest::prelude::*;

use super::Circuit;
use crate::network::reference::{Reference, Rule};
use crate::network::testing::{self, transfer};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn equals_the_naive_model((machine, traffic) in testing::case()) {
        let fast = testing::run(&mut Circuit::new(machine.clone()), &traffic);
        let slow = testing::run(&mut Reference::new(machine.clone(), Rule::OldestFirst), &traffic);
        testing::assert_same(&fast, &slow);
        prop_assert_eq!(fast, testing::run(&mut Circuit::new(machine), &traffic));
    }
}

#[test]
fn the_younger_of_two_flows_waits_for_the_older() {
    let machine = testing::crossbar(3, Default::default());
    let ends = testing::ends(&mut Circuit::new(machine), &[(0, transfer(0, 2, 1000)), (1, transfer(1, 2, 1000))]);
    // 1 us of latency; then 1000 B at 1 GB/s, one after the other.
    assert_eq!(ends, [2_000_000, 3_000_000]);
}

#[test]
fn a_young_flow_uses_what_an_old_one_leaves() {
    // The old flow may use 40 % of its links only.
    let machine = testing::crossbar(3, Default::default());
    let slow = crate::network::Transfer { bandwidth_factor: 0.4, ..transfer(0, 2, 1000) };
    let ends = testing::ends(&mut Circuit::new(machine), &[(0, slow), (0, transfer(1, 2, 1200))]);
    // 400 B/us and 600 B/us.
    assert_eq!(ends, [3_500_000, 3_000_000]);
}
