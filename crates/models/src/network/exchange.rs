//! Messages that start together: how long until each has arrived.

use hpcast_engine::random::Key;
use hpcast_platform::machine::Machine;
use hpcast_units::Time;

use super::pattern::{Destinations, Pattern};
use super::{Network, Transfer};

/// Messages of a pattern that all start at once: so many of every node, of so many bytes. What a node would send to itself
/// is left out.
pub fn messages(pattern: Pattern, machine: &Machine, each: u32, bytes: u64, seed: u64) -> Vec<Transfer> {
    let nodes = machine.nodes.count;
    let to = Destinations::new(pattern, machine.interconnect.topology(), nodes, Key::new(seed).purpose("traffic"));
    let all = (0..nodes).flat_map(|from| (0..each).map(move |index| (from, u64::from(index))));
    all.map(|(from, index)| message(from, to.of(from, index), bytes))
        .filter(|message| message.from != message.to)
        .collect()
}

/// A message that costs what its way takes.
pub fn message(from: u32, to: u32, bytes: u64) -> Transfer {
    Transfer { from, to, bytes, latency_factor: 1.0, latency: None, bandwidth_factor: 1.0, token: 0 }
}

/// Messages are under way, and nothing happens any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{messages} messages wait for each other for ever: a fault of the network model, please report it")]
pub struct Stuck {
    /// How many wait.
    pub messages: usize,
}

/// When each of these messages has arrived that start together in an empty network.
pub fn arrivals(network: &mut dyn Network, messages: &[Transfer]) -> Result<Vec<Time>, Stuck> {
    for (token, &message) in (0..).zip(messages) {
        network.start(Time::ZERO, Transfer { token, ..message });
    }
    let mut arrivals = vec![Time::ZERO; messages.len()];
    let (mut ended, mut arrived) = (Vec::new(), 0);
    while !network.is_empty() {
        let now = network.next_event();
        if now == Time::NEVER {
            return Err(Stuck { messages: messages.len() - arrived });
        }
        network.advance(now, &mut ended);
        arrived += ended.len();
        ended.drain(..).for_each(|token| arrivals[token as usize] = now);
    }
    Ok(arrivals)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::Flow;
    use crate::network::testing::{Traffic, crossbar, run, transfer};

    /// A network that forgets what it was told.
    struct Asleep;

    impl Network for Asleep {
        fn start(&mut self, _: Time, _: Transfer) {}
        fn next_event(&mut self) -> Time {
            Time::NEVER
        }
        fn is_empty(&self) -> bool {
            false
        }
        fn advance(&mut self, _: Time, _: &mut Vec<u32>) {}
        fn link_bytes(&self) -> Vec<f64> {
            Vec::new()
        }
    }

    #[test]
    fn whoever_waits_for_ever_is_told() {
        let machine = crossbar(6, Default::default());
        let messages = messages(Pattern::Shift(1), &machine, 2, 1000, 0);
        assert_eq!(arrivals(&mut Asleep, &messages), Err(Stuck { messages: 12 }));
    }

    /// Ports that no node hangs on send nothing and get nothing.
    #[test]
    fn only_nodes_that_are_there_take_part() {
        let mut machine = (*crossbar(64, Default::default())).clone();
        machine.nodes.count = 50;
        for pattern in ["uniform", "transpose", "shift:1", "opposite", "permutation", "adversary"] {
            let messages = messages(pattern.parse().unwrap(), &machine, 3, 1000, 0);
            assert!(messages.iter().all(|message| message.from < 50 && message.to < 50), "{pattern}");
            assert!(messages.len() <= 150 && messages.len() > 120, "{pattern}: {}", messages.len());
        }
    }

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
