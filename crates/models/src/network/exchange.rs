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
