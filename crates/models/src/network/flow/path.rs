//! The links on the path of each flow, with the flow's place in their rosters.

/// A link on the path of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hop {
    /// Which link.
    pub link: u32,
    /// Kind of crossing (6 bits) and position in the link's roster (26 bits).
    place: u32,
}

const POSITION_BITS: u32 = 26;
const POSITION: u32 = (1 << POSITION_BITS) - 1;
/// A flow crosses a link fewer times than this, there as well as back.
const CROSSINGS: u32 = 8;
/// So many flows, at most, may cross a link at a time.
pub(super) const MOST_FLOWS: usize = 1 << POSITION_BITS;

impl Hop {
    #[inline]
    fn new(link: u32, there: u32, back: u32) -> Hop {
        assert!(there < CROSSINGS && back < CROSSINGS, "no route crosses a link {CROSSINGS} times");
        Hop { link, place: (there + back * CROSSINGS) << POSITION_BITS }
    }

    /// How often the message itself crosses the link.
    #[inline]
    fn there(self) -> u32 {
        (self.place >> POSITION_BITS) % CROSSINGS
    }

    /// How often its acknowledgements do.
    #[inline]
    fn back(self) -> u32 {
        (self.place >> POSITION_BITS) / CROSSINGS
    }

    /// The flow's position in the link's roster.
    #[inline]
    pub(super) fn position(self) -> usize {
        (self.place & POSITION) as usize
    }

    /// Moves the flow in the link's roster.
    #[inline]
    pub(super) fn set_position(&mut self, position: usize) {
        debug_assert!(position < MOST_FLOWS);
        self.place = (self.place & !POSITION) | position as u32;
    }
}

/// What a flow takes of a link for each byte per second of its rate.
#[derive(Debug)]
pub(super) struct Weights([f64; (CROSSINGS * CROSSINGS) as usize]);

impl Weights {
    /// Acknowledgements take `cross_traffic` for each byte of the message.
    pub(super) fn new(cross_traffic: f64) -> Weights {
        Weights(std::array::from_fn(|kind| {
            let (there, back) = (kind as u32 % CROSSINGS, kind as u32 / CROSSINGS);
            f64::from(there) + f64::from(back) * cross_traffic
        }))
    }

    /// Where it crosses the link so.
    #[inline]
    pub(super) fn of(&self, hop: Hop) -> f64 {
        self.0[(hop.place >> POSITION_BITS) as usize]
    }
}

/// Where the hops of a flow lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    start: u32,
    hops: u32,
}

impl Path {
    /// The number of its first hop.
    #[inline]
    pub(super) fn first(self) -> u32 {
        self.start
    }

    /// Number of links.
    #[inline]
    pub(super) fn len(self) -> u32 {
        self.hops
    }
}

/// The hops of all flows, in blocks that are used again for paths of the same length.
#[derive(Debug, Default)]
pub(super) struct Paths {
    hops: Vec<Hop>,
    /// Free blocks by length.
    free: Vec<Vec<u32>>,
}

impl Paths {
    /// Stores a path: the links there, then those back, each link once. `may_repeat` says whether one may come twice.
    #[inline]
    pub(super) fn insert(&mut self, there: &[u32], back: &[u32], may_repeat: bool) -> Path {
        let path = self.take(there.len() + back.len());
        let hops = self.of_mut(path);
        let (forth, acknowledged) = hops.split_at_mut(there.len());
        for (hop, &link) in forth.iter_mut().zip(there) {
            *hop = Hop::new(link, 1, 0);
        }
        for (hop, &link) in acknowledged.iter_mut().zip(back) {
            *hop = Hop::new(link, 0, 1);
        }
        let repeats = |at: usize| hops[..at].iter().any(|hop| hop.link == hops[at].link);
        if !may_repeat || !(0..hops.len()).any(repeats) {
            return path;
        }
        self.remove(path);
        self.insert_merged(there, back)
    }

    #[cold]
    fn insert_merged(&mut self, there: &[u32], back: &[u32]) -> Path {
        let mut hops: Vec<Hop> = Vec::new();
        for (links, there, back) in [(there, 1, 0), (back, 0, 1)] {
            for &link in links {
                match hops.iter_mut().find(|hop| hop.link == link) {
                    Some(hop) => *hop = Hop::new(link, hop.there() + there, hop.back() + back),
                    None => hops.push(Hop::new(link, there, back)),
                }
            }
        }
        let path = self.take(hops.len());
        self.of_mut(path).copy_from_slice(&hops);
        path
    }

    /// Makes a path cross each link as often as it and its reverse do together; false if it crosses one too often. Nobody has
    /// a place in the rosters yet.
    #[inline]
    pub(super) fn double(&mut self, path: Path) -> bool {
        let hops = self.of_mut(path);
        let most = hops.iter().fold(0, |most, hop| u32::max(most, hop.there() + hop.back()));
        if most >= CROSSINGS {
            return false;
        }
        for hop in hops {
            hop.place = ((hop.there() + hop.back()) * (1 + CROSSINGS)) << POSITION_BITS;
        }
        true
    }

    /// A free block.
    #[inline]
    fn take(&mut self, len: usize) -> Path {
        let start = self.free.get_mut(len).and_then(Vec::pop).unwrap_or_else(|| {
            let start = self.hops.len();
            self.hops.resize(start + len, Hop::default());
            u32::try_from(start).expect("all flows together have fewer than 2^32 hops")
        });
        Path { start, hops: len as u32 }
    }

    /// Forgets a path.
    #[inline]
    pub(super) fn remove(&mut self, path: Path) {
        let len = path.hops as usize;
        if len >= self.free.len() {
            self.free.resize(len + 1, Vec::new());
        }
        self.free[len].push(path.start);
    }

    /// The hops of a path.
    #[inline]
    pub(super) fn of(&self, path: Path) -> &[Hop] {
        &self.hops[path.start as usize..][..path.hops as usize]
    }

    /// The hops of a path.
    #[inline]
    pub(super) fn of_mut(&mut self, path: Path) -> &mut [Hop] {
        &mut self.hops[path.start as usize..][..path.hops as usize]
    }

    /// A hop by its number.
    #[inline]
    pub(super) fn hop(&self, number: u32) -> Hop {
        self.hops[number as usize]
    }

    /// A hop by its number, to be changed.
    #[inline]
    pub(super) fn hop_mut(&mut self, number: u32) -> &mut Hop {
        &mut self.hops[number as usize]
    }

    /// The number of the hop of a path over that link.
    #[inline]
    pub(super) fn over(&self, path: Path, link: u32) -> u32 {
        let place = self.of(path).iter().position(|hop| hop.link == link);
        path.start + place.expect("the link is on the path") as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_link_appears_once_with_all_its_crossings() {
        let mut paths = Paths::default();
        let weights = Weights::new(0.05);
        let path = paths.insert(&[7, 3, 7], &[3, 9], true);
        let hops: Vec<(u32, u32, f64)> =
            paths.of(path).iter().map(|&hop| (hop.link, hop.there(), weights.of(hop))).collect();
        assert_eq!(hops, [(7, 2, 2.0), (3, 1, 1.05), (9, 0, 0.05)]);
    }

    #[test]
    fn blocks_are_used_again() {
        let mut paths = Paths::default();
        let (a, b) = (paths.insert(&[1, 2], &[], true), paths.insert(&[3, 4], &[], false));
        let last = paths.over(b, 4);
        paths.hop_mut(last).set_position(5);
        paths.remove(a);
        let c = paths.insert(&[5, 6], &[], false);
        assert_eq!(paths.hops.len(), 4);
        assert_eq!((paths.hop(last).position(), paths.of(c)[1].position()), (5, 0));
    }
}
