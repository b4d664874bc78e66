//! The links on the path of each flow, with the flow's place in their rosters.

/// A link on the path of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hop {
    /// Which link.
    pub link: u32,
    /// Kind of crossing (6 bits) and position in the link's roster (26 bits).
    place: u32,
}

const POSITION_BITS: u32 = 26;
const POSITION: u32 = (1 << POSITION_BITS) - 1;
/// A flow crosses a link fewer times than this, there as well as back.
const CROSSINGS: u32 = 8;

impl Hop {
    /// Crosses the link so many times there and so many times back.
    #[inline]
    pub(crate) fn new(link: u32, there: u32, back: u32) -> Hop {
        assert!(there < CROSSINGS && back < CROSSINGS, "a message crosses no link {CROSSINGS} times");
        Hop { link, place: (there + back * CROSSINGS) << POSITION_BITS }
    }

    /// How often the message itself crosses the link.
    #[inline]
    pub(crate) fn there(self) -> u32 {
        (self.place >> POSITION_BITS) % CROSSINGS
    }

    /// How often its acknowledgements do.
    #[inline]
    pub(crate) fn back(self) -> u32 {
        (self.place >> POSITION_BITS) / CROSSINGS
    }

    /// The flow's position in the link's roster.
    #[inline]
    pub(crate) fn position(self) -> usize {
        (self.place & POSITION) as usize
    }

    /// Moves the flow in the link's roster.
    #[inline]
    pub(crate) fn set_position(&mut self, position: usize) {
        assert!(position <= POSITION as usize, "fewer than 2^26 flows cross a link at a time");
        self.place = (self.place & !POSITION) | position as u32;
    }
}

/// What a flow takes of a link for each byte per second, by the kind of its hop.
#[derive(Debug)]
pub(crate) struct Weights([f64; (CROSSINGS * CROSSINGS) as usize]);

impl Weights {
    /// Acknowledgements take `cross_traffic` for each byte of the message.
    pub(crate) fn new(cross_traffic: f64) -> Weights {
        Weights(std::array::from_fn(|kind| {
            let (there, back) = (kind as u32 % CROSSINGS, kind as u32 / CROSSINGS);
            f64::from(there) + f64::from(back) * cross_traffic
        }))
    }

    /// Of this hop.
    #[inline]
    pub(crate) fn of(&self, hop: Hop) -> f64 {
        self.0[(hop.place >> POSITION_BITS) as usize]
    }
}

/// The hops of all flows, in blocks that are used again for paths of the same length.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    hops: Vec<Hop>,
    free: Vec<Vec<u32>>,
}

/// Where the hops of a flow lie.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Path {
    start: u32,
    hops: u32,
}

impl Paths {
    /// Stores a path: the links there, then those back, each link once.
    #[inline]
    pub(crate) fn insert(&mut self, there: &[u32], back: &[u32]) -> Path {
        let start = self.hops.len();
        self.merge(start, there, 1, 0);
        self.merge(start, back, 0, 1);
        let len = self.hops.len() - start;
        if self.free.len() <= len {
            self.free.resize(len + 1, Vec::new());
        }
        if let Some(reused) = self.free[len].pop() {
            self.hops.copy_within(start.., reused as usize);
            self.hops.truncate(start);
            return Path { start: reused, hops: len as u32 };
        }
        let start = u32::try_from(start).expect("all flows together have fewer than 2^32 hops");
        Path { start, hops: len as u32 }
    }

    #[inline]
    fn merge(&mut self, start: usize, links: &[u32], there: u32, back: u32) {
        for &link in links {
            match self.hops[start..].iter_mut().find(|hop| hop.link == link) {
                Some(hop) => *hop = Hop::new(link, hop.there() + there, hop.back() + back),
                None => self.hops.push(Hop::new(link, there, back)),
            }
        }
    }

    /// Forgets a path.
    #[inline]
    pub(crate) fn remove(&mut self, path: Path) {
        self.free[path.hops as usize].push(path.start);
    }

    /// The hops of a path.
    #[inline]
    pub(crate) fn of(&self, path: Path) -> &[Hop] {
        &self.hops[path.start as usize..][..path.hops as usize]
    }

    /// The hops of a path.
    #[inline]
    pub(crate) fn of_mut(&mut self, path: Path) -> &mut [Hop] {
        &mut self.hops[path.start as usize..][..path.hops as usize]
    }
}
