//! How much a network carries: what simulated traffic gets, and what its links allow at most.

use hpcast_engine::Slab;
use hpcast_engine::agenda::Agenda;
use hpcast_engine::random::Key;
use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::Machine;
use hpcast_platform::routing::Choosing;
use hpcast_platform::topology::Vertex;
use hpcast_units::Time;

use super::exchange::Stuck;
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
    /// Bytes that a node sends in a second, on average over all time.
    pub rate: f64,
    /// Bytes that a node sent in a second while it was counted, on average.
    pub offered: f64,
    /// Bytes that arrived meanwhile, in a second and for a node.
    pub accepted: f64,
    /// The share of what it sent that arrived from the node that fared worst.
    pub worst: f64,
    /// Messages of a node that were counted, on average, and of all nodes that were sent meanwhile.
    pub messages: u32,
    /// See `messages`.
    pub sent: u64,
    /// Messages under way when counting began, and when it ended.
    pub under_way: [u64; 2],
    /// What the messages that arrived meanwhile took, on average.
    pub latency: Time,
}

impl Throughput {
    /// Whether the network keeps up: otherwise ever more messages wait.
    pub fn is_stable(&self) -> bool {
        // Chance decides how many messages are under way when counting begins and ends: of all, and of one node's.
        let [first, last] = self.under_way.map(|count| count as f64);
        let all = (0.02 * self.sent as f64).max((first + last).sqrt());
        // The worst of many fares worse.
        let nodes = (self.sent as f64 / f64::from(self.messages)).max(8.0);
        let one = ((2.0 * nodes.ln()).sqrt() / f64::from(self.messages).sqrt()).max(0.05);
        last - first <= all && self.worst >= 1.0 - one
    }
}

/// Sends traffic through an empty network of that machine.
pub fn measure(network: &mut dyn Network, machine: &Machine, traffic: &Traffic) -> Result<Throughput, Stuck> {
    let nodes = machine.nodes.count;
    let key = Key::new(traffic.seed);
    let to = Destinations::new(traffic.pattern, machine.interconnect.topology(), nodes, key.purpose("traffic"));
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
    let mut under_way = None;
    loop {
        let next = network.next_event();
        if next == Time::NEVER && !network.is_empty() {
            return Err(Stuck { messages: starts.len() });
        }
        let now = agenda.next_time().min(next);
        if now > end {
            break;
        }
        let counts = now >= warm;
        if counts {
            under_way.get_or_insert(starts.len() as u64);
        }
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
    let under_way = [under_way.unwrap_or(0), starts.len() as u64];
    let (messages, sent) = (traffic.messages, offered.iter().sum());
    let (offered, accepted) = (rate(&offered), rate(&accepted));
    Ok(Throughput { rate: traffic.rate, offered, accepted, worst, messages, sent, under_way, latency })
}

/// Steps of the search for the saturation.
const STEPS: u32 = 7;
/// Leads to the seed of a second trial.
const OTHER_SEED: u64 = 1 << 63;

/// The greatest rate at which a network keeps up with traffic, found by halving between nothing and `most`; `network` makes an
/// empty one. `None` if it keeps up with nothing. What the traffic's own rate is does not matter.
pub fn saturation(
    mut network: impl FnMut() -> Box<dyn Network>,
    machine: &Machine,
    traffic: &Traffic,
    most: f64,
) -> Result<Option<Throughput>, Stuck> {
    // A trial may fail by chance, and all rates above would never be looked at: another one has to say so, too.
    let mut at = |rate: f64| {
        for seed in [traffic.seed, traffic.seed ^ OTHER_SEED] {
            let found = measure(&mut *network(), machine, &Traffic { rate, seed, ..*traffic })?;
            if found.is_stable() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    };
    let mut best = at(most)?;
    if best.is_some() {
        return Ok(best);
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        match at(middle)? {
            Some(found) => (low, best) = (middle, Some(found)),
            None => high = middle,
        }
    }
    Ok(best)
}

/// Bytes per second that the links of every node can take together, and its limiter, which carries what enters, too.
pub fn injection(machine: &Machine) -> f64 {
    let (topology, nodes) = (machine.interconnect.topology(), machine.nodes.count);
    let mut leaving = vec![0.0; nodes as usize];
    for id in 0..topology.links() {
        let (tail, head) = topology.ends(id);
        let other = if topology.is_shared(id) { Some(head) } else { None };
        for end in [Some(tail), other].into_iter().flatten() {
            if let Vertex::Node(node) = end
                && let Some(sum) = leaving.get_mut(node as usize)
            {
                *sum += topology.link(id).bandwidth;
            }
        }
    }
    let has_limiters = machine.interconnect.links() > topology.links();
    let limit = if has_limiters { 0.5 * machine.interconnect.capacity(topology.links()) } else { f64::INFINITY };
    leaving.into_iter().fold(limit, f64::min)
}

/// Routes of uniform traffic that are looked at, at most; all of them if they are fewer.
const MOST_ROUTES: u64 = 4_000_000;

/// Bytes per second that every node can send at most if no link is to carry more than it can, however long buffers are: the
/// inverse of the greatest load of a link (Dally and Towles 2004, section 3.3). Ways that depend on the load are taken as if
/// there were none.
pub fn most_rate(machine: &Machine, pattern: Pattern, seed: u64) -> f64 {
    let (interconnect, nodes) = (&machine.interconnect, machine.nodes.count);
    if nodes < 2 {
        return f64::INFINITY;
    }
    let to = Destinations::new(pattern, interconnect.topology(), nodes, Key::new(seed).purpose("traffic"));
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
