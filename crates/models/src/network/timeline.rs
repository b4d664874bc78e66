//! What crossed each link when.
//!
//! Time is cut into bins of equal length. When it has gone on beyond the last, the length doubles: nobody needs to know
//! beforehand how long a run takes, and memory is at most a kilobyte for each link that carries something.

use std::rc::Rc;

use hpcast_engine::Slab;
use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::Machine;
use hpcast_platform::topology::LinkId;
use hpcast_units::Time;

use super::{Along, Network, Occupied, Transfer, hand_on_coming};

/// How many bins there are, at most.
const BINS: usize = 128;
/// Their length at first, in picoseconds.
const SHORTEST: u64 = 1000;

/// Bytes that crossed each link, bin by bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Picoseconds of a bin.
    width: u64,
    /// The end of the last thing noted.
    end: Time,
    /// Empty for links that carried nothing.
    links: Vec<Option<Box<[f64; BINS]>>>,
}

impl Timeline {
    /// Of so many links that have carried nothing.
    pub fn new(links: u32) -> Timeline {
        Timeline { width: SHORTEST, end: Time::ZERO, links: vec![None; links as usize] }
    }

    /// Bytes cross a link, as many in any time between these two as in any other of the same length.
    pub fn add(&mut self, link: LinkId, from: Time, to: Time, bytes: f64) {
        if bytes == 0.0 {
            return;
        }
        self.make_room(to);
        let (from, to) = (from.as_ps(), to.as_ps().max(from.as_ps() + 1));
        let bins = self.links[link as usize].get_or_insert_with(|| Box::new([0.0; BINS]));
        let length = (to - from) as f64;
        for bin in from / self.width..=(to - 1) / self.width {
            let within = to.min((bin + 1) * self.width) - from.max(bin * self.width);
            // Something that takes no time at the very end belongs to the last bin.
            bins[(bin as usize).min(BINS - 1)] += bytes * within as f64 / length;
        }
    }

    /// Doubles the length of the bins until this time lies within.
    fn make_room(&mut self, end: Time) {
        self.end = self.end.max(end);
        while self.end.as_ps() > self.width.saturating_mul(BINS as u64) {
            self.width *= 2;
            for bins in self.links.iter_mut().flatten() {
                (0..BINS / 2).for_each(|bin| bins[bin] = bins[2 * bin] + bins[2 * bin + 1]);
                bins[BINS / 2..].fill(0.0);
            }
        }
    }

    /// Adds another run that began at this time.
    pub fn append(&mut self, other: &Timeline, start: Time) {
        self.make_room(start + other.end);
        let width = Time::from_ps(other.width);
        for (link, bins) in (0..).zip(&other.links) {
            let mut at = start;
            for &bytes in bins.iter().flat_map(|bins| bins.iter()) {
                // The last bin may reach beyond the end.
                let end = (at + width).min((start + other.end).max(at));
                self.add(link, at, end, bytes);
                at += width;
            }
        }
    }

    /// The length of a bin.
    pub fn width(&self) -> Time {
        Time::from_ps(self.width)
    }

    /// The end of what was noted.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Bins until the end.
    pub fn bins(&self) -> usize {
        (self.end.as_ps().div_ceil(self.width) as usize).min(BINS)
    }

    /// Bytes that crossed a link in each bin until the end; `None` if it carried nothing.
    pub fn link(&self, id: LinkId) -> Option<&[f64]> {
        self.links.get(id as usize)?.as_ref().map(|bins| &bins[..self.bins()])
    }
}

/// A network whose links are watched.
///
/// About once a bin it asks the model what is left of each message. What has moved since the last time is spread evenly over the
/// time between: no link carries more than it can. Models that do not know rates tell when messages were on the ports of
/// their two ends: bytes cross the links into the receiver while they are on its port, all others while they are on the sender's. Then
/// ports carry no more than they can; links between them may, since such models do not look at them.
pub struct Watched<N> {
    network: N,
    machine: Rc<Machine>,
    timeline: Timeline,
    messages: Slab<Seen>,
    /// The links of each message.
    links: Vec<Vec<LinkId>>,
    /// What has crossed each link since `since`, and which links that are; the time of the last look.
    crossed: Vec<f64>,
    touched: Vec<LinkId>,
    since: Time,
    path: Path,
    over: Vec<u32>,
    occupied: Vec<(u32, Occupied)>,
}

#[derive(Clone, Copy)]
struct Seen {
    token: u32,
    bytes: u64,
    /// Bytes that have been noted.
    noted: f64,
}

impl<N: Along> Watched<N> {
    /// Watches that network.
    pub fn new(machine: Rc<Machine>, mut network: N) -> Watched<N> {
        network.keep_occupied();
        Watched {
            network,
            timeline: Timeline::new(machine.interconnect.links()),
            messages: Slab::default(),
            links: Vec::new(),
            crossed: vec![0.0; machine.interconnect.links() as usize],
            touched: Vec::new(),
            since: Time::NEVER,
            machine,
            path: Path::default(),
            over: Vec::new(),
            occupied: Vec::new(),
        }
    }

    fn note(&mut self, at: Time, transfer: &Transfer, path: &Path) -> Transfer {
        let begin = at + transfer.travels(path.latency);
        let slot = self.messages.insert(Seen { token: transfer.token, bytes: transfer.bytes, noted: 0.0 });
        self.links.resize_with(self.links.len().max(slot as usize + 1), Vec::new);
        self.links[slot as usize].clone_from(&path.links);
        // Where nothing was under way, this is where the time between looks begins.
        self.since = self.since.min(begin);
        Transfer { token: slot, ..*transfer }
    }

    /// So many of a message's bytes have moved.
    fn move_on(&mut self, slot: u32, moved: f64) {
        let seen = &mut self.messages[slot];
        let more = moved.min(seen.bytes as f64) - seen.noted;
        if more <= 0.0 {
            return;
        }
        seen.noted += more;
        for &link in &self.links[slot as usize] {
            let crossed = &mut self.crossed[link as usize];
            if *crossed == 0.0 {
                self.touched.push(link);
            }
            *crossed += more;
        }
    }

    /// Asks what has moved, and notes it.
    fn look(&mut self, now: Time) {
        let mut moved = Vec::new();
        self.network.tell_left(&mut |slot, left| moved.push((slot, left)));
        for (slot, left) in moved {
            self.move_on(slot, (1.0 - left.clamp(0.0, 1.0)) * self.messages[slot].bytes as f64);
        }
        let since = self.since.min(now);
        for link in self.touched.drain(..) {
            self.timeline.add(link, since, now, std::mem::take(&mut self.crossed[link as usize]));
        }
        self.since = if self.messages.is_empty() { Time::NEVER } else { now };
    }
}

impl<N: Along> Watched<N> {
    /// Asks when the messages that have ended were on their ports, and notes it.
    fn note_occupied(&mut self) {
        let mut occupied = std::mem::take(&mut self.occupied);
        self.network.tell_occupied(&mut |slot, times| occupied.push((slot, times)));
        for (slot, times) in occupied.drain(..) {
            let (bytes, links) = (self.messages[slot].bytes as f64, &self.links[slot as usize]);
            // A limiter is the port, and the link before it leads there, too.
            let limited = links.last().is_some_and(|&link| link >= self.machine.interconnect.topology().links());
            let before = links.len().saturating_sub(if limited { 2 } else { 1 });
            for (at, &link) in links.iter().enumerate() {
                let (from, to) = if at < before { times.out } else { times.into };
                self.timeline.add(link, from, to, bytes);
            }
        }
        self.occupied = occupied;
    }
}

impl<N: Along> Along for Watched<N> {
    fn start_along(&mut self, at: Time, transfer: Transfer, path: &Path) {
        let transfer = self.note(at, &transfer, path);
        self.network.start_along(at, transfer, path);
    }
}

impl<N: Along> Network for Watched<N> {
    fn start(&mut self, at: Time, transfer: Transfer) {
        let mut path = std::mem::take(&mut self.path);
        self.machine.interconnect.path(transfer.from, transfer.to, &mut path);
        let transfer = self.note(at, &transfer, &path);
        self.path = path;
        self.network.start(at, transfer);
    }

    fn next_event(&mut self) -> Time {
        self.network.next_event()
    }

    fn is_empty(&self) -> bool {
        self.network.is_empty()
    }

    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.network.advance(now, &mut self.over);
        let knows_rates = self.network.knows_rates();
        if !knows_rates {
            self.note_occupied();
        }
        for slot in std::mem::take(&mut self.over) {
            let Seen { token, bytes, .. } = self.messages[slot];
            ended.push(token);
            if knows_rates {
                self.move_on(slot, bytes as f64);
            }
            self.messages.remove(slot);
        }
        if self.messages.is_empty() || now >= self.since + self.timeline.width() {
            self.look(now);
        }
    }

    fn look_ahead(&mut self) {
        self.network.look_ahead();
    }

    fn coming(&mut self, tokens: &mut Vec<u32>) {
        let messages = &self.messages;
        hand_on_coming(&mut self.network, tokens, |slot| messages[slot].token);
    }

    fn link_bytes(&self) -> Vec<f64> {
        self.network.link_bytes()
    }

    fn timeline(&self) -> Option<&Timeline> {
        Some(&self.timeline)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::testing::{self, Traffic, run, transfer};
    use crate::network::{Circuit, Flow, Ideal, PacketNetwork};

    fn sum(timeline: &Timeline, link: LinkId) -> f64 {
        timeline.link(link).map_or(0.0, |bins| bins.iter().sum())
    }

    #[test]
    fn bytes_lie_where_they_belong() {
        let mut timeline = Timeline::new(2);
        timeline.add(0, Time::from_ps(500), Time::from_ps(2500), 400.0);
        assert_eq!(timeline.link(0).unwrap(), [100.0, 200.0, 100.0]);
        assert_eq!((timeline.link(1), timeline.bins()), (None, 3));
        // Beyond 128 bins they get twice as long.
        timeline.add(1, Time::from_ps(128_000), Time::from_ps(129_000), 7.0);
        assert_eq!((timeline.width().as_ps(), timeline.bins()), (2000, 65));
        assert_eq!(timeline.link(0).unwrap()[..3], [300.0, 100.0, 0.0]);
        assert_eq!(timeline.link(1).unwrap()[64], 7.0);
        // What takes no time.
        timeline.add(1, Time::from_ps(5), Time::from_ps(5), 3.0);
        assert_eq!(timeline.link(1).unwrap()[0], 3.0);
    }

    #[test]
    fn runs_follow_one_another() {
        let mut one = Timeline::new(1);
        one.add(0, Time::ZERO, Time::from_ps(3000), 300.0);
        let mut both = one.clone();
        both.append(&one, Time::from_ps(4000));
        assert_eq!(both.link(0).unwrap(), [100.0, 100.0, 100.0, 0.0, 100.0, 100.0, 100.0]);
        assert_eq!(both.end(), Time::from_ps(7000));
    }

    /// Sends from, to, bytes, when: in no bin does a link carry more than it can, and in all it carries what crosses it.
    fn loads_are_possible(
        machine: &Machine,
        mut network: impl Network,
        sends: &[(u32, u32, u64, u64)],
    ) -> Result<(), TestCaseError> {
        let mut carried = vec![0.0; machine.interconnect.links() as usize];
        let mut path = Path::default();
        for &(from, to, bytes, _) in sends {
            machine.interconnect.path(from, to, &mut path);
            path.links.iter().for_each(|&link| carried[link as usize] += bytes as f64);
        }
        let first = sends.iter().map(|&(from, to, bytes, at)| (Time::from_ps(at), transfer(from, to, bytes)));
        run(&mut network, &Traffic { first: first.collect(), then: Vec::new() });
        let timeline = network.timeline().unwrap();
        for (link, &bytes) in (0..).zip(&carried) {
            prop_assert!((sum(timeline, link) - bytes).abs() <= 1e-6 * bytes.max(1.0));
            let most = machine.interconnect.capacity(link) * timeline.width().as_secs();
            for &bytes in timeline.link(link).unwrap_or_default() {
                prop_assert!(bytes <= most * 1.0001 + 1.0, "{bytes} of {most}");
            }
        }
        Ok(())
    }

    proptest! {
        /// Where rates are known, no link carries more in any bin than it can.
        #[test]
        fn loads_stay_within_what_links_can(
            sends in prop::collection::vec((0u32..6, 0u32..6, 1u64..100_000, 0u64..10_000_000), 1..60),
        ) {
            let machine = testing::crossbar(6, Default::default());
            let flow = Watched::new(machine.clone(), Flow::new(machine.clone()));
            loads_are_possible(&machine, flow, &sends)?;
            let circuit = Watched::new(machine.clone(), Circuit::new(machine.clone()));
            loads_are_possible(&machine, circuit, &sends)?;
        }

        /// Nor does a port, where only ports are known. What stays in a node uses none.
        #[test]
        fn loads_of_ports_stay_within_what_they_can(
            sends in prop::collection::vec((0u32..6, 1u32..6, 1u64..100_000, 0u64..10_000_000), 1..60),
        ) {
            let machine = testing::crossbar(6, Default::default());
            let sends: Vec<_> =
                sends.into_iter().map(|(from, further, bytes, at)| (from, (from + further) % 6, bytes, at)).collect();
            let ideal = Watched::new(machine.clone(), Ideal::new(machine.clone()));
            loads_are_possible(&machine, ideal, &sends)?;
        }

        /// Whatever the model, links have carried in time what they have carried in all.
        #[test]
        fn sums_are_the_bytes_of_the_links(
            sends in prop::collection::vec((0u32..6, 0u32..6, 0u64..100_000, 0u64..10_000_000), 1..40),
        ) {
            let machine = testing::crossbar(6, Default::default());
            let first = sends.iter().map(|&(from, to, bytes, at)| (Time::from_ps(at), transfer(from, to, bytes)));
            let traffic = Traffic { first: first.collect(), then: Vec::new() };
            let flow = Watched::new(machine.clone(), Flow::new(machine.clone()));
            let packet = PacketNetwork::new(machine.clone(), 0).watched();
            let networks: [Box<dyn Network>; 2] = [Box::new(flow), Box::new(packet)];
            for mut network in networks {
                let events = run(&mut *network, &traffic);
                let timeline = network.timeline().unwrap();
                for (link, &bytes) in (0..).zip(&events.link_bytes) {
                    prop_assert!((sum(timeline, link) - bytes).abs() <= 1e-6 * bytes.max(1.0));
                    prop_assert!(timeline.end() <= events.ends.last().unwrap().1);
                }
            }
        }
    }

    /// Runs messages, and gives their ends, and how many were told of before. Links carry them while others are still to start: with nothing
    /// planned but ends of shared links, models do not look.
    fn foreseen(network: &mut impl Network, looks_ahead: bool) -> (Vec<(Time, u32)>, usize) {
        const MESSAGES: u32 = 4000;
        if looks_ahead {
            network.look_ahead();
        }
        for token in 0..MESSAGES {
            let (from, bytes) = (token * 7 % 64, 1000 + u64::from(token * 37 % 1009) * 10);
            let message = Transfer { token, ..transfer(from, (from + 1 + token * 11 % 63) % 64, bytes) };
            network.start(Time::from_ps(u64::from(token) * 300_000), message);
        }
        let (mut ends, mut over, mut coming) = (Vec::new(), Vec::new(), Vec::new());
        let mut told = vec![false; MESSAGES as usize];
        let mut foreseen = 0;
        while !network.is_empty() {
            let now = network.next_event();
            network.advance(now, &mut over);
            foreseen += over.iter().filter(|&&token| told[token as usize]).count();
            ends.extend(over.drain(..).map(|token| (now, token)));
            network.coming(&mut coming);
            coming.drain(..).for_each(|token| told[token as usize] = true);
        }
        assert_eq!(ends.len(), MESSAGES as usize);
        (ends, foreseen)
    }

    #[test]
    fn what_is_coming_is_told_before_and_changes_nothing() {
        fn compare<N: Network>(network: impl Fn() -> N) {
            let (plain, nothing) = foreseen(&mut network(), false);
            let (ahead, foreseen) = foreseen(&mut network(), true);
            assert_eq!((plain, nothing), (ahead.clone(), 0));
            assert!(foreseen > ahead.len() / 2, "{foreseen} of {}", ahead.len());
        }
        let machine = testing::crossbar(64, Default::default());
        compare(|| Flow::new(machine.clone()));
        compare(|| Ideal::new(machine.clone()));
        compare(|| Watched::new(machine.clone(), Flow::new(machine.clone())));
    }
}
