//! How much a network carries: what simulated traffic gets, and what its links allow at most.

use hpcast_engine::Slab;
use hpcast_engine::agenda::Agenda;
use hpcast_engine::random::Key;
use hpcast_platform::interconnect::{Interconnect, Path};
use hpcast_platform::routing::Choosing;
use hpcast_units::Time;

use super::pattern::{Destinations, Pattern};
use super::{Network, Transfer};

/// Made-up traffic: every node sends messages at random times.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// Bytes of a message.
    pub bytes: u64,
    /// Bytes that every node sends in a second, on average.
    pub rate: f64,
    /// Messages that every node sends, on average, before what arrives is counted, and while it is.
    pub messages: u32,
    /// For all that is drawn.
    pub seed: u64,
}

/// What traffic got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Bytes that a node sent in a second while it was counted, on average.
    pub offered: f64,
    /// Bytes that arrived meanwhile, in a second and for a node.
    pub accepted: f64,
    /// The share of what it sent that arrived from the node that fared worst.
    pub worst: f64,
    /// Messages of a node that were counted, on average.
    pub messages: u32,
    /// What the messages that arrived meanwhile took, on average.
    pub latency: Time,
}

impl Throughput {
    /// Whether the network keeps up: otherwise ever more messages wait.
    pub fn is_stable(&self) -> bool {
        // Of one node's messages, chance decides how many are under way when counting begins and ends.
        let chance = (2.0 / f64::from(self.messages).sqrt()).max(0.05);
        self.accepted >= 0.98 * self.offered && self.worst >= 1.0 - chance
    }
}

/// Sends traffic through an empty network.
pub fn measure(network: &mut dyn Network, interconnect: &Interconnect, traffic: &Traffic) -> Throughput {
    let topology = interconnect.topology();
    let nodes = topology.nodes();
    let key = Key::new(traffic.seed);
    let to = Destinations::new(traffic.pattern, topology, key.purpose("traffic"));
    let gaps = key.purpose("gaps");
    let mean = traffic.bytes as f64 / traffic.rate;
    let warm = Time::from_secs(mean * f64::from(traffic.messages));
    let end = warm + warm;
    // Times between messages are exponentially distributed.
    let gap = |node: u32, index: u64| Time::from_secs(-mean * (1.0 - gaps.uniform(node, index)).ln());
    let mut agenda = Agenda::default();
    let mut sent = vec![0u64; nodes as usize];
    (0..nodes).for_each(|node| agenda.push(gap(node, 0), node));
    // Tokens are numbers of messages under way, whose starts these are.
    let mut starts: Slab<(Time, u32)> = Slab::default();
    let mut offered = vec![0u64; nodes as usize];
    let mut accepted = offered.clone();
    let (mut latencies, mut ended) = (0.0, Vec::new());
    loop {
        let now = agenda.next_time().min(network.next_event());
        if now > end {
            break;
        }
        let counts = now >= warm;
        while let Some(entry) = agenda.due(now) {
            let from = entry.slot();
            let index = &mut sent[from as usize];
            let to = to.of(from, *index);
            *index += 1;
            agenda.postpone(now + gap(from, *index));
            let (token, bytes) = (starts.insert((now, from)), traffic.bytes);
            let (latency_factor, bandwidth_factor) = (1.0, 1.0);
            network.start(now, Transfer { from, to, bytes, latency_factor, latency: None, bandwidth_factor, token });
            offered[from as usize] += u64::from(counts);
        }
        if network.next_event() <= now {
            network.advance(now, &mut ended);
        }
        for token in ended.drain(..) {
            if counts {
                let (start, from) = starts[token];
                accepted[from as usize] += 1;
                latencies += (now - start).as_secs();
            }
            starts.remove(token);
        }
    }
    let rate =
        |counts: &[u64]| counts.iter().sum::<u64>() as f64 * traffic.bytes as f64 / f64::from(nodes) / warm.as_secs();
    let latency = Time::from_secs(latencies / accepted.iter().sum::<u64>().max(1) as f64);
    let share = |(accepted, offered): (&u64, &u64)| *accepted as f64 / (*offered).max(1) as f64;
    let worst = accepted.iter().zip(&offered).map(share).fold(f64::INFINITY, f64::min);
    let messages = traffic.messages;
    Throughput { offered: rate(&offered), accepted: rate(&accepted), worst, messages, latency }
}

/// Steps of the search for the saturation.
const STEPS: u32 = 7;

/// The greatest rate at which a network keeps up with traffic, found by halving between nothing and `most`; `network` makes an
/// empty one. What the traffic's own rate is does not matter.
pub fn saturation(
    mut network: impl FnMut() -> Box<dyn Network>,
    interconnect: &Interconnect,
    traffic: &Traffic,
    most: f64,
) -> Throughput {
    let mut at = |rate: f64| measure(&mut *network(), interconnect, &Traffic { rate, ..*traffic });
    let mut best = at(most);
    if best.is_stable() {
        return best;
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        let found = at(middle);
        if found.is_stable() {
            (low, best) = (middle, found);
        } else {
            high = middle;
        }
    }
    best
}

/// Routes of uniform traffic that are looked at, at most; all of them if they are fewer.
const MOST_ROUTES: u64 = 4_000_000;

/// Bytes per second that every node can send at most if no link is to carry more than it can, however long buffers are: the
/// inverse of the greatest load of a link (Dally and Towles 2004, section 3.3). Ways that depend on the load are taken as if
/// there were none.
pub fn most_rate(interconnect: &Interconnect, pattern: Pattern, seed: u64) -> f64 {
    let topology = interconnect.topology();
    let nodes = topology.nodes();
    let to = Destinations::new(pattern, topology, Key::new(seed).purpose("traffic"));
    let draws = Key::new(seed).purpose("routing");
    let mut load = vec![0.0; interconnect.links() as usize];
    let (mut path, mut spare, mut index) = (Path::default(), Path::default(), 0);
    let mut add = |from: u32, to: u32, weight: f64, load: &mut [f64]| {
        index += 1;
        let choosing = Choosing { from, to, draw: draws.word(from, index), load: &|_| 0 };
        interconnect.choose(choosing, &mut path, &mut spare);
        path.links.iter().for_each(|&link| load[link as usize] += weight);
    };
    let is_fixed = interconnect.routing().is_fixed();
    for from in 0..nodes {
        match to.fixed(from) {
            Some(to) => {
                let repeats = if is_fixed { 1 } else { (MOST_ROUTES / u64::from(nodes)).clamp(1, 20_000) };
                (0..repeats).for_each(|_| add(from, to, 1.0 / repeats as f64, &mut load));
            }
            None => {
                let others = u64::from(nodes) - 1;
                let looked_at = others.min((MOST_ROUTES / u64::from(nodes)).max(1));
                let repeats = if is_fixed { 1 } else { (MOST_ROUTES / u64::from(nodes) / looked_at).max(1) };
                let weight = 1.0 / (looked_at * repeats) as f64;
                for number in 0..looked_at {
                    let step = if looked_at == others { number } else { draws.below(others, from, number) };
                    let goal = ((u64::from(from) + 1 + step) % u64::from(nodes)) as u32;
                    (0..repeats).for_each(|_| add(from, goal, weight, &mut load));
                }
            }
        }
    }
    let rates =
        (0..).zip(&load).filter(|(_, load)| **load > 0.0).map(|(link, load)| interconnect.capacity(link) / load);
    rates.fold(f64::INFINITY, f64::min)
}
