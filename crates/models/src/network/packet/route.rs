//! Ways of packets, with the virtual channel of each link. Packets of a message may share one.
//!
//! All ways lie in one list, each in a place of the same length, so that one look at memory finds a hop.

use hpcast_engine::prefetch;
use hpcast_platform::interconnect::Path;
use hpcast_platform::topology::{LinkId, Topology};

/// A link on a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hop {
    pub link: LinkId,
    /// Which of the kinds of links it is.
    pub kind: u16,
    /// The virtual channel of the buffer at its end, and whether nothing comes behind it: in 16 bits, so that eight hops fit
    /// a line of the cache.
    packed: u16,
}

/// The bit that says that nothing comes behind.
const LAST: u16 = 1 << 15;

impl Hop {
    /// The virtual channel of the buffer at its end.
    #[inline]
    pub fn channel(self) -> usize {
        usize::from(self.packed & !LAST)
    }

    /// Nothing comes behind it.
    #[inline]
    pub fn is_last(self) -> bool {
        self.packed & LAST != 0
    }
}

/// Hops that come into the cache together.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([Hop; HOPS]);

/// Hops in a line.
const HOPS: usize = 8;

/// The ways that are in use.
#[derive(Debug, Default)]
pub(super) struct Routes {
    /// Way n begins at n times the length of a place.
    lines: Vec<Line>,
    /// Of a place, in lines.
    length: usize,
    users: Vec<u32>,
    free: Vec<u32>,
}

impl Routes {
    /// Takes a way into use, for one user; returns its number and the channels that it needs.
    pub fn enter(&mut self, path: &Path, topology: &dyn Topology, kinds: impl Fn(LinkId) -> u16) -> (u32, u32) {
        self.make_long_enough(path.links.len());
        let number = self.free.pop().unwrap_or_else(|| {
            self.users.push(0);
            self.lines.resize(self.users.len() * self.length, Line::default());
            (self.users.len() - 1) as u32
        });
        self.users[number as usize] = 1;
        let place = &mut self.lines[number as usize * self.length..][..self.length];
        let mut hops = place.iter_mut().flat_map(|line| &mut line.0);
        let (mut channel, mut before) = (0u16, None);
        for (at, &link) in path.links.iter().enumerate() {
            // What surrounds a topology comes before all of its links: a limiter leads to any of them, and at the end of a way
            // it has a channel of its own, where nobody waits for room behind it.
            let order = if link < topology.links() { 1 + u64::from(topology.order(link)) } else { 0 };
            channel += before.is_some_and(|before| order <= before) as u16;
            before = Some(order);
            let last = if at + 1 == path.links.len() { LAST } else { 0 };
            *hops.next().expect("places are long enough") = Hop { link, kind: kinds(link), packed: channel | last };
        }
        (number, u32::from(channel) + 1)
    }

    /// Places have room for so many links: in a network, the longest way comes soon.
    fn make_long_enough(&mut self, links: usize) {
        let length = links.div_ceil(HOPS);
        if length <= self.length {
            return;
        }
        let mut lines = vec![Line::default(); self.users.len() * length];
        if self.length > 0 {
            for (new, old) in lines.chunks_mut(length).zip(self.lines.chunks(self.length)) {
                new[..self.length].copy_from_slice(old);
            }
        }
        (self.lines, self.length) = (lines, length);
    }

    /// One more uses it.
    pub fn join(&mut self, number: u32) {
        self.users[number as usize] += 1;
    }

    /// One less uses it.
    pub fn leave(&mut self, number: u32) {
        let users = &mut self.users[number as usize];
        *users -= 1;
        if *users == 0 {
            self.free.push(number);
        }
    }

    #[inline]
    pub fn hop(&self, number: u32, at: u32) -> Hop {
        let at = at as usize;
        self.lines[number as usize * self.length + at / HOPS].0[at % HOPS]
    }

    /// Asks for the memory of a way.
    #[inline]
    pub fn prefetch(&self, number: u32, at: u32) {
        if let Some(line) = self.lines.get(number as usize * self.length + at as usize / HOPS) {
            prefetch(line);
        }
    }
}
