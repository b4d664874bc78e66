//! Messages that start together: how long until each has arrived.

use hpcast_engine::random::Key;
use hpcast_platform::topology::Topology;
use hpcast_units::Time;

use super::pattern::{Destinations, Pattern};
use super::{Network, Transfer};

/// Messages of a pattern that all start at once: so many of every node, of so many bytes. What a node would send to itself
/// is left out.
pub fn messages(pattern: Pattern, topology: &dyn Topology, each: u32, bytes: u64, seed: u64) -> Vec<Transfer> {
    let to = Destinations::new(pattern, topology, Key::new(seed).purpose("traffic"));
    let nodes = topology.nodes();
    let all = (0..nodes).flat_map(|from| (0..each).map(move |index| (from, u64::from(index))));
    all.map(|(from, index)| message(from, to.of(from, index), bytes))
        .filter(|message| message.from != message.to)
        .collect()
}

/// A message that costs what its way takes.
pub fn message(from: u32, to: u32, bytes: u64) -> Transfer {
    Transfer { from, to, bytes, latency_factor: 1.0, latency: None, bandwidth_factor: 1.0, token: 0 }
}

/// When each of these messages has arrived that start together in an empty network.
pub fn arrivals(network: &mut dyn Network, messages: &[Transfer]) -> Vec<Time> {
    for (token, &message) in (0..).zip(messages) {
        network.start(Time::ZERO, Transfer { token, ..message });
    }
    let mut arrivals = vec![Time::ZERO; messages.len()];
    let mut ended = Vec::new();
    while !network.is_empty() {
        let now = network.next_event();
        network.advance(now, &mut ended);
        ended.drain(..).for_each(|token| arrivals[token as usize] = now);
    }
    arrivals
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::Flow;
    use crate::network::testing::{Traffic, crossbar, run, transfer};

    proptest! {
        /// Streams, that is messages cut into pieces of which each gets a new share of the links, are flows: rates follow every
        /// change at once, so that a cut in the middle changes nothing. So there is no model of streams beside `flow`.
        #[test]
        fn pieces_of_a_message_arrive_with_it(
            sends in prop::collection::vec((0u32..6, 0u32..6, 1u64..50_000, 0u64..20_000_000), 1..30),
        ) {
            let whole: Vec<(Time, Transfer)> = sends.iter()
                .map(|&(from, to, half, at)| (Time::from_ps(at), transfer(from, (to + u32::from(to == from)) % 6, 2 * half)))
                .collect();
            let half = |(at, whole): (Time, Transfer)| (at, Transfer { bytes: whole.bytes / 2, ..whole });
            let rest = |(_, whole): (Time, Transfer)| {
                Some((Time::ZERO, Transfer { bytes: whole.bytes / 2, latency: Some(Time::ZERO), ..whole }))
            };
            let pieces = Traffic {
                first: whole.iter().copied().map(half).collect(),
                then: whole.iter().copied().map(rest).collect(),
            };
            let network = || Flow::new(crossbar(6, Default::default()));
            let ends = |traffic: &Traffic, is_counted: &dyn Fn(u32) -> Option<u32>| {
                let mut ends: Vec<(u32, Time)> = run(&mut network(), traffic).ends;
                ends.retain_mut(|(token, _)| is_counted(*token).map(|number| *token = number).is_some());
                ends.sort();
                ends
            };
            let whole = ends(&Traffic { first: whole, then: Vec::new() }, &Some);
            let pieces = ends(&pieces, &|token| token.checked_sub(1_000_000));
            prop_assert_eq!(whole.len(), pieces.len());
            for (&(_, one), &(_, other)) in whole.iter().zip(&pieces) {
                // Ends are rounded to picoseconds; a cut adds one.
                prop_assert!(one.as_ps().abs_diff(other.as_ps()) < 1000, "{one:?} {other:?}");
            }
        }
    }
}
