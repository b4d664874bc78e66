//! The ways between nodes, there and back, with a memory of those that were used last: programs send along the same ways
//! over and over, and to look a way up costs a tenth of finding it.

use hpcast_engine::prefetch;
use hpcast_platform::interconnect::{Interconnect, Path};
use hpcast_platform::topology::LinkId;

use super::Transfer;

/// Links, there and back, of a way that is remembered: longer ones are found each time.
const MOST_LINKS: usize = 16;
/// Ways that are remembered, at most: together they fit the second-level cache.
const MOST_WAYS: usize = 1 << 12;

/// A way and what its links add up to.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Way {
    from: u32,
    to: u32,
    /// Sum of the links' latencies, in seconds.
    pub latency: f64,
    /// Bandwidth of the narrowest link, in bytes per second.
    pub bandwidth: f64,
    /// Sum of 1/bandwidth over the links, in seconds per byte.
    pub inverse_bandwidth: f64,
    /// Sent along it since it is remembered.
    bytes: u64,
    /// Sent along the way back by [`Ways::go_back`].
    bytes_back: u64,
    /// It crosses links that others may cross, too: it leaves the node.
    pub is_shared: bool,
    /// The way back is known, leads elsewhere, and its links add up to the same.
    pub is_symmetric: bool,
    there: u8,
    back: u8,
    links: [LinkId; MOST_LINKS],
}

/// No node has this number.
const NOBODY: u32 = u32::MAX;

const UNKNOWN: Way = Way {
    from: NOBODY,
    to: NOBODY,
    latency: 0.0,
    bandwidth: 0.0,
    inverse_bandwidth: 0.0,
    bytes: 0,
    bytes_back: 0,
    is_shared: false,
    is_symmetric: false,
    there: 0,
    back: 0,
    links: [0; MOST_LINKS],
};

/// Finds ways, and remembers them by a number that it makes of both ends.
#[derive(Debug)]
pub(crate) struct Ways {
    known: Vec<Way>,
    /// 64 less the binary logarithm of how many are known.
    shift: u32,
    /// Where the current way is, if it is not too long.
    current: usize,
    there: Path,
    back: Path,
    with_back: bool,
    /// Bytes sent over each link along ways that were forgotten.
    crossed: Vec<f64>,
}

impl Ways {
    /// Between the nodes of that network; those back are wanted or not.
    pub(crate) fn new(interconnect: &Interconnect, with_back: bool) -> Ways {
        let nodes = interconnect.topology().nodes();
        let count = (8 * nodes as usize).next_power_of_two().clamp(64, MOST_WAYS);
        let (there, back) = (Path::default(), Path::default());
        // One more for ways that are too long: it is never found again.
        let known = vec![UNKNOWN; count + 1];
        Ways {
            known,
            shift: 64 - count.trailing_zeros(),
            current: count,
            there,
            back,
            with_back,
            crossed: vec![0.0; interconnect.links() as usize],
        }
    }

    /// Where a way is, if it is remembered.
    #[inline]
    fn place(&self, from: u32, to: u32) -> usize {
        let key = u64::from(from) << 32 | u64::from(to);
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Somebody will soon go from one node to another.
    #[inline]
    pub(crate) fn prefetch(&self, from: u32, to: u32) {
        prefetch(&self.known[self.place(from, to)]);
    }

    /// Goes from one node to another, with so many bytes.
    #[inline]
    pub(crate) fn go(&mut self, from: u32, to: u32, bytes: u64, interconnect: &Interconnect) -> &Way {
        self.current = self.place(from, to);
        let way = &self.known[self.current];
        if (way.from, way.to) != (from, to) {
            self.find(from, to, interconnect);
        }
        let way = &mut self.known[self.current];
        way.bytes += bytes;
        way
    }

    /// Goes back where it came from last, with so many bytes. The current way stays the same.
    #[inline]
    pub(crate) fn go_back(&mut self, bytes: u64) {
        self.known[self.current].bytes_back += bytes;
    }

    /// The current way.
    #[inline]
    pub(crate) fn current(&self) -> &Way {
        &self.known[self.current]
    }

    /// Goes along this way, with so many bytes. It is not remembered.
    pub(crate) fn go_along(&mut self, transfer: &Transfer, path: &Path, interconnect: &Interconnect) -> &Way {
        self.forget_long();
        self.there.clone_from(path);
        self.keep(transfer.from, transfer.to, interconnect, true);
        let way = &mut self.known[self.current];
        way.bytes = transfer.bytes;
        way
    }

    /// Bytes sent over each link.
    pub(crate) fn link_bytes(&self) -> Vec<f64> {
        let mut crossed = self.crossed.clone();
        for number in 0..self.known.len() {
            self.add_bytes(number, &mut crossed);
        }
        crossed
    }

    /// Adds what was sent along a way that is known.
    fn add_bytes(&self, number: usize, crossed: &mut [f64]) {
        let way = &self.known[number];
        let (there, back) = self.links(number);
        for (links, bytes) in [(there, way.bytes), (back, way.bytes_back)] {
            for &link in links {
                crossed[link as usize] += bytes as f64;
            }
        }
    }

    /// The links of a way that is known, there and back.
    #[inline]
    fn links(&self, number: usize) -> (&[LinkId], &[LinkId]) {
        // The last one stands for a way that is too long.
        if number == self.known.len() - 1 {
            return (&self.there.links, &self.back.links);
        }
        let way = &self.known[number];
        way.links[..usize::from(way.there) + usize::from(way.back)].split_at(usize::from(way.there))
    }

    fn find(&mut self, from: u32, to: u32, interconnect: &Interconnect) {
        self.forget(self.current);
        self.forget_long();
        interconnect.path(from, to, &mut self.there);
        self.keep(from, to, interconnect, false);
    }

    /// The way that is not remembered may become another one.
    fn forget_long(&mut self) {
        self.forget(self.known.len() - 1);
    }

    /// Links learn what was sent along a way.
    fn forget(&mut self, number: usize) {
        let way = &self.known[number];
        if (way.bytes, way.bytes_back) == (0, 0) {
            return;
        }
        let mut crossed = std::mem::take(&mut self.crossed);
        self.add_bytes(number, &mut crossed);
        (self.known[number].bytes, self.known[number].bytes_back) = (0, 0);
        self.crossed = crossed;
    }

    /// Makes the way there the current one; it is remembered unless it is long, or given by somebody else.
    fn keep(&mut self, from: u32, to: u32, interconnect: &Interconnect, is_given: bool) {
        self.back.links.clear();
        // Inside a node there are no links, and so no way back.
        if self.with_back && !self.there.links.is_empty() {
            interconnect.path(to, from, &mut self.back);
        }
        let (there, back) = (self.there.links.len(), self.back.links.len());
        let is_long = is_given || there + back > MOST_LINKS;
        if is_long {
            self.current = self.known.len() - 1;
        }
        let way = &mut self.known[self.current];
        (way.from, way.to, way.is_shared) = (from, to, there > 0);
        (way.latency, way.bandwidth) = (self.there.latency, self.there.bandwidth);
        way.inverse_bandwidth = self.there.inverse_bandwidth;
        let sums = |path: &Path| (path.latency, path.bandwidth, path.inverse_bandwidth);
        way.is_symmetric = back > 0 && from != to && !is_given && sums(&self.there) == sums(&self.back);
        if !is_long {
            (way.there, way.back) = (there as u8, back as u8);
            way.links[..there].copy_from_slice(&self.there.links);
            way.links[there..there + back].copy_from_slice(&self.back.links);
        }
    }

    /// The links of the current way; empty inside a node.
    #[inline]
    pub(crate) fn there(&self) -> &[LinkId] {
        self.links(self.current).0
    }

    /// The links of the current way back; empty where nobody wants them.
    #[inline]
    pub(crate) fn back(&self) -> &[LinkId] {
        self.links(self.current).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::testing::crossbar;
    use hpcast_platform::interconnect::Loopback;
    use hpcast_platform::topology::{Duplex, Link, Torus};
    use proptest::prelude::*;

    fn torus(nodes: u32) -> Interconnect {
        let link = Link { bandwidth: 1e9, latency: 1e-6 };
        let torus = Torus::new(&[nodes, 3], true, link, Duplex::Split).unwrap();
        Interconnect::new(Box::new(torus), Loopback::Unshared(link), None)
    }

    proptest! {
        #[test]
        fn are_those_of_the_interconnect_however_long_and_often(
            nodes in 2u32..60,
            pairs in prop::collection::vec((0u32..1000, 0u32..1000), 1..300),
        ) {
            let interconnect = torus(nodes);
            let mut ways = Ways::new(&interconnect, true);
            let (mut there, mut back) = (Path::default(), Path::default());
            for (from, to) in pairs {
                let (from, to) = (from % (3 * nodes), to % (3 * nodes));
                interconnect.path(from, to, &mut there);
                let way = *ways.go(from, to, 1, &interconnect);
                prop_assert_eq!((way.latency, way.bandwidth), (there.latency, there.bandwidth));
                prop_assert_eq!(way.inverse_bandwidth, there.inverse_bandwidth);
                prop_assert_eq!(ways.there(), &there.links[..]);
                interconnect.path(to, from, &mut back);
                prop_assert_eq!(ways.back(), if from == to { &[] } else { &back.links[..] });
            }
        }
    }

    #[test]
    fn there_is_no_way_back_where_nobody_wants_it() {
        let machine = crossbar(3, Default::default());
        let mut ways = Ways::new(&machine.interconnect, false);
        ways.go(0, 2, 1, &machine.interconnect);
        assert_eq!((ways.there().len(), ways.back().len()), (2, 0));
    }
}
