//! Which of the ways between two nodes a message takes.
//!
//! A topology knows ways: its own fixed one ([`Topology::route`]), others that are as short ([`Topology::any_route`]), and
//! detours ([`Topology::detour`]). A routing chooses among them, by the ends of the message, by chance, or by what waits at
//! the links at the moment when the message (or packet) starts.
//!
//! Sources: Valiant and Brebner, "Universal schemes for parallel communication" (STOC 1981); Singh, "Load-balanced routing
//! in interconnection networks" (PhD thesis, Stanford 2005), for UGAL; Kim, Dally, Scott and Abts, "Technology-driven,
//! highly-scalable dragonfly topology" (ISCA 2008), for UGAL-L and UGAL-G; Zahavi (2010) for D-mod-K.

use crate::interconnect::Path;
use crate::topology::{LinkId, Topology};

/// How ways are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// The topology's own way, one for each pair of nodes: D-mod-K, dimension order, shortest path.
    #[default]
    Fixed,
    /// S-mod-K: up a fat tree by the number of the source, where D-mod-K goes by that of the destination.
    Source,
    /// One of the shortest ways, chosen by a hash of both ends: each pair has one way (ECMP).
    Hashed,
    /// One of the shortest ways, drawn for each message.
    Random,
    /// The one of the shortest ways with the least load.
    LeastLoaded,
    /// By way of somewhere else, drawn for each message.
    Valiant,
    /// A short way, or a detour where less waits for its first link than the detour is longer (UGAL-L); `threshold`: so much
    /// in favour of the short way.
    UgalLocal {
        /// What waits, in packets or messages times links.
        threshold: u32,
    },
    /// A short way, or a detour where less waits along all of it (UGAL-G).
    UgalGlobal {
        /// What waits, in packets or messages.
        threshold: u32,
    },
}

/// Among how many ways chance looks for the one with the least load, where a topology has no better way to find it.
const CANDIDATES: u64 = 4;

/// What a topology's routing may be called, beside the word for its own.
const WORDS: [(&str, Routing); 7] = [
    ("s-mod-k", Routing::Source),
    ("ecmp", Routing::Hashed),
    ("random", Routing::Random),
    ("least-loaded", Routing::LeastLoaded),
    ("valiant", Routing::Valiant),
    ("ugal-l", Routing::UgalLocal { threshold: 0 }),
    ("ugal-g", Routing::UgalGlobal { threshold: 0 }),
];

/// What ways a topology has beside its fixed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// None.
    None,
    /// Others that are as short; detours make no sense.
    Shortest,
    /// Up paths of trees, all as short, by the number of the destination or of the source; detours make no sense.
    UpPaths,
    /// Others that are as short, perhaps, and detours.
    Detours,
}

/// A topology cannot be routed so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a network of this kind ({topology}) has no routing called \"{word}\": write one of {}", .known.join(", "))]
pub struct RoutingError {
    word: String,
    topology: String,
    known: Vec<&'static str>,
}

impl Routing {
    /// The words for the routings of a topology, its own first.
    pub fn words(topology: &dyn Topology) -> Vec<&'static str> {
        let mut words = vec![topology.fixed_routing()];
        words.extend(WORDS.iter().filter(|(_, routing)| routing.suits(topology.choice())).map(|&(word, _)| word));
        words
    }

    /// The routing of that name; a threshold matters to UGAL only.
    pub fn named(word: &str, threshold: u32, topology: &dyn Topology) -> Result<Routing, RoutingError> {
        if topology.is_fixed_routing(word) {
            return Ok(Routing::Fixed);
        }
        let suitable = |(name, routing): &&(&str, Routing)| *name == word && routing.suits(topology.choice());
        match WORDS.iter().find(suitable) {
            Some((_, Routing::UgalLocal { .. })) => Ok(Routing::UgalLocal { threshold }),
            Some((_, Routing::UgalGlobal { .. })) => Ok(Routing::UgalGlobal { threshold }),
            Some(&(_, routing)) => Ok(routing),
            None => {
                Err(RoutingError { word: word.into(), topology: topology.describe(), known: Routing::words(topology) })
            }
        }
    }

    /// Its name for such a topology.
    pub fn word(self, topology: &dyn Topology) -> &'static str {
        let is_alike = |other: &Routing| std::mem::discriminant(other) == std::mem::discriminant(&self);
        WORDS.iter().find(|(_, other)| is_alike(other)).map_or(topology.fixed_routing(), |(word, _)| word)
    }

    /// How much it favours short ways, if it is UGAL.
    pub fn threshold(self) -> Option<u32> {
        match self {
            Routing::UgalLocal { threshold } | Routing::UgalGlobal { threshold } => Some(threshold),
            _ => None,
        }
    }

    /// The same with another threshold, if it is UGAL.
    pub fn with_threshold(self, threshold: u32) -> Routing {
        match self {
            Routing::UgalLocal { .. } => Routing::UgalLocal { threshold },
            Routing::UgalGlobal { .. } => Routing::UgalGlobal { threshold },
            other => other,
        }
    }

    /// Its name for such a topology, with its threshold, for people.
    pub fn describe(self, topology: &dyn Topology) -> String {
        let word = self.word(topology);
        self.threshold().map_or(word.into(), |threshold| format!("{word} with threshold {threshold}"))
    }

    fn suits(self, choice: Choice) -> bool {
        match self {
            Routing::Fixed => true,
            Routing::Source => choice == Choice::UpPaths,
            Routing::Hashed | Routing::Random | Routing::LeastLoaded => choice != Choice::None,
            Routing::Valiant | Routing::UgalLocal { .. } | Routing::UgalGlobal { .. } => choice == Choice::Detours,
        }
    }

    /// Whether messages may take longer ways than they must.
    pub fn makes_detours(self) -> bool {
        matches!(self, Routing::Valiant | Routing::UgalLocal { .. } | Routing::UgalGlobal { .. })
    }

    /// Whether all messages between two nodes take the same way.
    pub fn is_fixed(self) -> bool {
        matches!(self, Routing::Fixed | Routing::Source | Routing::Hashed)
    }

    /// Whether the way depends on what is under way.
    pub fn looks_at_load(self) -> bool {
        matches!(self, Routing::LeastLoaded | Routing::UgalLocal { .. } | Routing::UgalGlobal { .. })
    }

    /// Appends the way of a message for which `draw` was drawn; `load` says what waits for a link, `spare` is reused.
    pub(crate) fn choose(self, topology: &dyn Topology, choosing: Choosing<'_>, path: &mut Path, spare: &mut Path) {
        let Choosing { from, to, draw, load } = choosing;
        match self {
            _ if from == to => topology.route(from, to, path),
            Routing::Fixed => topology.route(from, to, path),
            Routing::Source => topology.route_by_source(from, to, path),
            Routing::Hashed => topology.any_route(from, to, hash(from, to), path),
            Routing::Random => topology.any_route(from, to, draw, path),
            Routing::LeastLoaded => topology.least_loaded(from, to, draw, load, path),
            Routing::Valiant => topology.detour(from, to, draw, path),
            Routing::UgalLocal { threshold } | Routing::UgalGlobal { threshold } => {
                let before = path.mark();
                topology.any_route(from, to, draw, path);
                spare.clear();
                topology.detour(from, to, draw.rotate_left(32), spare);
                let (short, long) = (&path.links[before.links..], &spare.links[..]);
                let [short, long] = match self {
                    Routing::UgalGlobal { .. } => [short, long].map(|links| total(links, load)),
                    _ => first_loads(short, long, load),
                };
                if short > long + u64::from(threshold) {
                    path.go_back(before);
                    path.append(spare);
                }
            }
        }
    }
}

/// A message, and what its way is chosen by.
#[derive(Clone, Copy)]
pub struct Choosing<'a> {
    /// Where it starts.
    pub from: u32,
    /// Where it goes.
    pub to: u32,
    /// A number drawn for it.
    pub draw: u64,
    /// What waits for a link: packets, or messages under way.
    pub load: &'a dyn Fn(LinkId) -> u32,
}

/// What waits along a way.
pub(crate) fn total(links: &[LinkId], load: &dyn Fn(LinkId) -> u32) -> u64 {
    links.iter().map(|&link| u64::from(load(link))).sum()
}

/// What waits for the first links that differ, times the lengths of the ways; nothing where only the goal's own link is left of the
/// short way, which a detour crosses, too.
fn first_loads(short: &[LinkId], long: &[LinkId], load: &dyn Fn(LinkId) -> u32) -> [u64; 2] {
    match short.iter().zip(long).find(|(one, other)| one != other) {
        Some((one, _)) if short.last() == Some(one) && long.last() == Some(one) => [0, 0],
        Some((&one, &other)) => [u64::from(load(one)) * short.len() as u64, u64::from(load(other)) * long.len() as u64],
        None => [0, 0],
    }
}

/// The best of several draws.
pub(crate) fn least_of_draws(topology: &(impl Topology + ?Sized), choosing: Choosing<'_>, path: &mut Path) {
    let Choosing { from, to, draw, load } = choosing;
    let mut candidate = Path::default();
    let number = |attempt: u64| draw.wrapping_add(attempt.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let cost = |attempt: &u64| {
        candidate.clear();
        topology.any_route(from, to, number(*attempt), &mut candidate);
        total(&candidate.links, load)
    };
    let best = (0..CANDIDATES).min_by_key(cost).unwrap_or(0);
    topology.any_route(from, to, number(best), path);
}

/// A number that depends on both ends.
pub(crate) fn hash(from: u32, to: u32) -> u64 {
    let mixed = (u64::from(from) << 32 | u64::from(to)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ mixed >> 32
}

/// One of `count`, drawn by the upper bits of a number; the rest of the draw serves the next.
#[inline]
pub(crate) fn draw_below(draw: &mut u64, count: u32) -> u32 {
    let product = u128::from(*draw) * u128::from(count);
    *draw = product as u64;
    (product >> 64) as u32
}

/// At most 32 numbers that are drawn in any order: as many dimensions as there are in which two nodes can differ.
#[derive(Default)]
pub(crate) struct Lots {
    numbers: [u32; 32],
    left: usize,
}

impl Lots {
    pub fn of(numbers: impl Iterator<Item = u32>) -> Lots {
        let mut lots = Lots::default();
        for (place, number) in lots.numbers.iter_mut().zip(numbers) {
            *place = number;
            lots.left += 1;
        }
        lots
    }

    /// One of those that are left.
    pub fn draw(&mut self, draw: &mut u64) -> Option<u32> {
        let last = self.left.checked_sub(1)?;
        let drawn = draw_below(draw, self.left as u32) as usize;
        self.numbers.swap(drawn, last);
        self.left = last;
        Some(self.numbers[last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Arrangement, Dragonfly, DragonflyLinks, DragonflyShape, Duplex, FatTree, Link};

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn dragonfly() -> Dragonfly {
        let shape = DragonflyShape {
            groups: 9,
            switches_per_group: 4,
            nodes_per_switch: 2,
            global_cables_per_switch: 2,
            arrangement: Arrangement::Absolute,
        };
        Dragonfly::new(shape, DragonflyLinks { node: LINK, local: LINK, global: LINK }, Duplex::Split).unwrap()
    }

    fn way(routing: Routing, from: u32, to: u32, load: &dyn Fn(LinkId) -> u32) -> Vec<LinkId> {
        let (mut path, mut spare) = (Path::default(), Path::default());
        path.clear();
        let choosing = Choosing { from, to, draw: 0x1234_5678_9ABC_DEF0, load };
        routing.choose(&dragonfly(), choosing, &mut path, &mut spare);
        path.links
    }

    /// An idle network has short ways. A loaded first link, beyond the node's own, makes UGAL-L go elsewhere; a loaded one
    /// farther away only UGAL-G; and the threshold keeps it.
    #[test]
    fn ugal_looks_where_it_should() {
        let short = way(Routing::Fixed, 0, 71, &|_| 0);
        for threshold in [0, 1000] {
            let (local, global) = (Routing::UgalLocal { threshold }, Routing::UgalGlobal { threshold });
            assert_eq!(way(local, 0, 71, &|_| 0), short);
            let near = |link: LinkId| 100 * (link == short[1]) as u32;
            assert_eq!(way(local, 0, 71, &near) == short, threshold == 1000);
            let far = |link: LinkId| 100 * (link == short[2]) as u32;
            assert_eq!(way(local, 0, 71, &far), short);
            assert_eq!(way(global, 0, 71, &far) == short, threshold == 1000);
        }
    }

    /// A node's own link cannot be avoided.
    #[test]
    fn neighbours_on_a_switch_need_no_detour() {
        let short = way(Routing::Fixed, 0, 1, &|_| 0);
        let crowded = |link: LinkId| 100 * (link == short[1]) as u32;
        assert_eq!(way(Routing::UgalLocal { threshold: 0 }, 0, 1, &crowded), short);
    }

    #[test]
    fn only_ugal_has_a_threshold() {
        let (local, fixed) = (Routing::UgalLocal { threshold: 0 }, Routing::Fixed);
        assert_eq!(local.with_threshold(3), Routing::UgalLocal { threshold: 3 });
        assert_eq!((fixed.with_threshold(3), fixed.threshold()), (fixed, None));
        assert_eq!(local.with_threshold(3).describe(&dragonfly()), "ugal-l with threshold 3");
        assert_eq!(fixed.describe(&dragonfly()), "minimal");
    }

    #[test]
    fn words_are_those_that_make_sense() {
        let tree = FatTree::new("2;2,2;1,2;1,1".parse().unwrap(), &[LINK; 2], Duplex::Split).unwrap();
        assert_eq!(Routing::words(&tree), ["d-mod-k", "s-mod-k", "ecmp", "random", "least-loaded"]);
        for word in Routing::words(&dragonfly()) {
            assert_eq!(Routing::named(word, 3, &dragonfly()).unwrap().word(&dragonfly()), word);
        }
        let error = Routing::named("valiant", 0, &tree).unwrap_err().to_string();
        assert!(error.contains("write one of d-mod-k, s-mod-k"), "{error}");
    }
}
