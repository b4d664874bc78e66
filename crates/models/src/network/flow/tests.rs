//! The fast model against the naive one, and closed forms.

use std::rc::Rc;

use hpcast_platform::machine::Machine;
use proptest::prelude::*;

use super::Flow;
use crate::network::reference::{Reference, Rule};
use crate::network::testing::{self, Traffic};

/// Runs both; the same transfers must end at the same times.
fn compare(machine: &Rc<Machine>, traffic: &Traffic) {
    let fast = testing::run(&mut Flow::new(machine.clone()), traffic);
    let slow = testing::run(&mut Reference::new(machine.clone(), Rule::MaxMin), traffic);
    testing::assert_same(&fast, &slow);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn equals_the_naive_model((machine, traffic) in testing::case()) {
        compare(&machine, &traffic);
    }
}
