//! Is what the solver keeps true? And is it max-min fair?

use super::cohort::Cohort;
use super::maxmin::{MaxMin, NOBODY, State};
use super::roster::Member;

fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale
}

impl MaxMin {
    /// Compares all sums with those made from scratch, and checks that every flow has a bottleneck.
    pub(super) fn audit(&self) {
        let links = self.board.links.len();
        let (mut taken, mut weight, mut pull) = (vec![0.0; links], vec![0.0; links], vec![0.0; links]);
        let (mut count, mut limited) = (vec![0; links], vec![0; links]);
        let mut spills = vec![0; links];
        self.audit_cohort(&mut weight);
        for (number, flow) in (0..).zip(&self.flows) {
            let home = match flow.state {
                State::Limited { link, .. } => Some(link),
                State::Bounded { .. } => None,
                State::Waiting { .. } | State::Ended => continue,
            };
            assert_eq!(self.homes[number as usize], home.unwrap_or(NOBODY));
            let level = self.level(flow);
            assert!(level <= flow.ceiling * (1.0 + 1e-9), "flow {number} exceeds its ceiling");
            for (place, &hop) in (flow.path.first()..).zip(self.paths.of(flow.path)) {
                let (at, part) = (hop.link as usize, self.weights.of(hop) * flow.share);
                let link = &self.board.links[at];
                assert_eq!(link.roster.members(&self.pool)[hop.position()], Member { flow: number, hop: place });
                count[at] += 1;
                weight[at] += part;
                if home == Some(hop.link) {
                    pull[at] += part;
                    limited[at] += 1;
                    spills[at] += flow.path.len() as usize - 1;
                    assert!(hop.position() < self.board.bottlenecks[link.bottleneck().unwrap()].limited as usize);
                } else {
                    taken[at] += part * level;
                    let highest = if link.bottleneck().is_some() { link.highest } else { f64::INFINITY };
                    assert!(level <= highest * (1.0 + 1e-9), "flow {number} is above the highest of {at}");
                }
                assert!(level <= link.level * (1.0 + 1e-9), "flow {number}, {level}, exceeds link {at}, {link:?}");
            }
        }
        for (at, link) in self.board.links.iter().enumerate() {
            assert!(!link.waits(), "link {at} still waits");
            assert_eq!(link.roster.len(), count[at]);
            assert!(close(link.taken, taken[at], link.capacity), "link {at} is passed by {}: {link:?}", taken[at]);
            assert!(close(link.weight, weight[at], weight[at]), "link {at} has weight {}: {link:?}", weight[at]);
            match link.bottleneck() {
                None => {
                    assert_eq!(limited[at], 0);
                    assert!(taken[at] <= link.capacity * (1.0 + 1e-9), "link {at} is overfull: {link:?}");
                }
                Some(number) => {
                    let bottleneck = &self.board.bottlenecks[number];
                    assert!(!bottleneck.listed || self.spills.of(number).len() == spills[at]);
                    assert_eq!((bottleneck.link as usize, bottleneck.limited), (at, limited[at]));
                    assert!(close(bottleneck.pull, pull[at], pull[at]), "pull {}: {bottleneck:?}", pull[at]);
                    let used = taken[at] + pull[at] * link.level;
                    assert!(close(used, link.capacity, link.capacity), "link {at} is not full: {link:?}");
                }
            }
        }
    }

    /// Is the level of the cohort fair to everybody? Adds what its flows weigh.
    fn audit_cohort(&self, weight: &mut [f64]) {
        let Cohort { members, level, .. } = &self.cohort;
        let flows = || members.iter().map(|&number| &self.flows[number as usize]);
        for flow in flows() {
            for &hop in self.paths.of(flow.path) {
                weight[hop.link as usize] += self.weights.of(hop) * flow.share;
            }
        }
        for flow in flows() {
            let mut is_limited = close(*level, flow.ceiling, *level);
            assert!(*level <= flow.ceiling * (1.0 + 1e-9), "the cohort's level {level} exceeds a ceiling: {flow:?}");
            for &hop in self.paths.of(flow.path) {
                let (used, capacity) = (weight[hop.link as usize] * level, self.board.link(hop.link).capacity);
                assert!(used <= capacity * (1.0 + 1e-9), "the cohort's level {level} overfills link {}", hop.link);
                is_limited |= close(used, capacity, capacity);
            }
            assert!(is_limited, "the cohort's level {level} is too low for {flow:?}");
        }
    }
}
